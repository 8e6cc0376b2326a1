//! How fast is indexing? Run by hand: `cargo nextest run --run-ignored only words::tests::speed --no-capture`.

use std::time::Instant;

use rand::{Rng, SeedableRng};

use super::index::doc;
use super::overlaid;
use crate::model::{Class, Expr};
use crate::words::tokenizer::Segmenter;
use crate::words::{Doc, Order, Prefilter, Scope, Words, WordsWriter, search};

#[test]
#[ignore = "measures, tests nothing"]
fn indexing() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let vocabulary: Vec<String> = (0..60_000)
        .map(|number| {
            let stem: String = (0..random.random_range(2..9))
                .map(|_| random.random_range('a'..='z'))
                .collect();
            match number % 10 {
                0 => format!("get_{stem}"),
                1 => format!("{stem}Of{}", stem.to_uppercase()),
                2 => format!("src/{stem}.rs"),
                3 => format!("{}", number * 37),
                _ => stem,
            }
        })
        .collect();
    let texts: Vec<String> = (0..4000)
        .map(|_| {
            let mut text = String::new();
            for _ in 0..random.random_range(50..1200) {
                let rank = random.random::<f64>().powi(4);
                text.push_str(&vocabulary[(rank * vocabulary.len() as f64) as usize]);
                text.push(if random.random_ratio(1, 12) {
                    '\n'
                } else {
                    ' '
                });
            }
            text
        })
        .collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let report = |what: &str, start: Instant, bytes: usize| {
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{what}: {:.0} MB in {seconds:.2} s, {:.0} MB/s",
            bytes as f64 / 1e6,
            bytes as f64 / 1e6 / seconds
        );
    };

    let start = Instant::now();
    let mut segmenter = Segmenter::default();
    let mut count = 0u64;
    for text in &texts {
        segmenter.run(text, |token| count += token.text.len() as u64);
    }
    report(&format!("segment ({count})"), start, bytes);

    for class in [Class::Prose, Class::Output] {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let mut writer = WordsWriter::open(dir.path(), 150_000_000, 2).unwrap();
        let docs = texts.iter().enumerate();
        writer
            .add(docs.map(|(key, text)| doc(key as u64, class, key as i64, &[text])))
            .unwrap();
        writer.commit("1").unwrap();
        writer.close().unwrap();
        report(&format!("index {class:?} on disk"), start, bytes);
        let size: u64 = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        println!("  index : text = {:.3}", size as f64 / bytes as f64);
        let words = Words::open(dir.path()).unwrap();
        for query in ["get_foo", "of", "src/a.rs"] {
            let start = Instant::now();
            let expr = Expr::Word(query.into());
            let answer = search(
                Some(&words),
                None,
                Some(&expr),
                &Scope::default(),
                Order::Ranked,
                20,
            )
            .unwrap();
            println!(
                "  {query}: {} in {:.2} ms",
                answer.total,
                start.elapsed().as_secs_f64() * 1e3
            );
        }
    }

    let docs: Vec<Doc> = texts
        .iter()
        .enumerate()
        .map(|(key, text)| doc(key as u64, Class::Prose, 0, &[text]))
        .collect();
    for query in ["get_foo", "of", "nowhereToBeFound"] {
        let start = Instant::now();
        let (expr, scope) = (Expr::Word(query.into()), Scope::default());
        let total = overlaid(&docs, Some(&expr), &scope, |overlay| {
            search(None, Some(overlay), Some(&expr), &scope, Order::Ranked, 20)
                .unwrap()
                .total
        });
        report(&format!("overlay for {query} ({total})"), start, bytes);
    }

    let filter = Prefilter::new(Some(&Expr::Word("nowhereToBeFound".into())));
    let start = Instant::now();
    let passed = texts
        .iter()
        .filter(|text| filter.may_match(text.as_bytes()))
        .count();
    report(&format!("prefilter ({passed} pass)"), start, bytes);
}
