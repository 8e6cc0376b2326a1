use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ratatui::style::Modifier;
use serde_json::json;
use sessionary::model::acts;

use super::*;
use crate::picker::previewer::found::highlighter;
use crate::picker::previewer::found::tests::hit;

fn entry(role: &str, text: Vec<(Class, &[&str])>) -> ShownEntry {
    let shown = json!({
        "id": "e", "line": 1, "start": 0, "end": 0, "kind": "message", "role": role,
        "time": "2026-01-05T09:00:00.000Z", "is_error": false, "text": text,
    });
    let mut shown: ShownEntry = serde_json::from_value(shown).expect("an entry");
    shown.ordinal = Some(7);
    shown
}

fn look(width: usize, query: &str, hits: Vec<Hit>) -> Look {
    Look {
        palette: Palette::new(true),
        zone: Zone::UTC,
        width,
        highlighter: highlighter(query, &hits),
        hits,
    }
}

/// The lines below the head, `[so]` what stands out.
fn written(block: &Block) -> String {
    let matched = Palette::new(true).matched();
    let lines = block.lines.iter().map(|line| {
        let spans = line.spans.iter().map(|span| match span.style.bg {
            bg if bg == matched.bg => format!("[{}]", span.content),
            _ => span.content.to_string(),
        });
        spans.collect::<String>()
    });
    let lines: Vec<String> = lines.skip(1).collect();
    lines.join("\n").trim_end().to_owned()
}

fn head(entry: &ShownEntry, look: &Look) -> String {
    block(0, entry, look).lines[0].to_string()
}

#[test]
fn a_head_says_who_when_and_what_is_to_be_known() {
    let plain = look(80, "", Vec::new());
    let mut said = entry("user", vec![(Class::Prose, &["hi"])]);
    assert_eq!(head(&said, &plain), "── user · 2026-01-05 09:00");
    let india = Look {
        zone: Zone::named("Asia/Kolkata").expect("it is known"),
        ..look(80, "", Vec::new())
    };
    (said.label, said.is_error) = (Some("to\u{1b}do".to_owned()), true);
    assert_eq!(
        head(&said, &india),
        "── user · 2026-01-05 14:30 · [to␛do] · error"
    );
    let mut found = hit("e", "prose", "[hi]");
    found.place = Some(BranchPlace::Abandoned);
    let abandoned = look(80, "hi", vec![found.clone()]);
    let ran = entry("toolResult", vec![(Class::Output, &["bash", "ok"])]);
    assert_eq!(
        head(&ran, &abandoned),
        "── toolResult · bash · 2026-01-05 09:00 · abandoned"
    );
    found.place = Some(BranchPlace::Compacted);
    found.entry = "other".to_owned();
    let elsewhere = look(80, "hi", vec![found]);
    assert!(!head(&ran, &elsewhere).contains("compaction"));
    // What a tool is called is told once, and may be what was looked for.
    let of_tool = block(0, &ran, &look(80, "bash", Vec::new()));
    assert_eq!(written(&of_tool), "│ ok");
    assert_eq!(of_tool.matches, [0]);
}

#[test]
fn a_setting_is_one_line() {
    let mut set = entry("", vec![(Class::Prose, &["anthropic", "claude"])]);
    (set.kind, set.role) = ("model_change".to_owned(), None);
    let block = block(3, &set, &look(80, "claude", Vec::new()));
    assert_eq!(
        block.lines[0].to_string(),
        "── model_change anthropic/claude"
    );
    assert_eq!((block.lines.len(), block.position, block.place), (2, 3, 7));
}

#[test]
fn output_is_folded_around_its_matches() {
    let lines: Vec<String> = (1..=60).map(|line| format!("line {line}")).collect();
    let text = lines.join("\n");
    let ran = entry("toolResult", vec![(Class::Output, &["bash", &text])]);
    let folded = "│ line 1\n│ line 2\n│ line 3\n│ line 4\n│ line 5\n│ line 6\n│ … ";
    let unasked = block(0, &ran, &look(40, "", Vec::new()));
    assert_eq!(written(&unasked), format!("{folded}54 lines more"));
    assert_eq!((unasked.best, unasked.matches.len()), (None, 0));
    let asked = block(0, &ran, &look(40, "\"line 42\"", Vec::new()));
    assert_eq!(
        written(&asked),
        format!("{folded}34 lines more\n│ line 41\n│ [line 42]\n│ line 43\n│ … 17 lines more")
    );
    assert_eq!((asked.best, &*asked.matches), (Some(9), &[9][..]));
}

#[test]
fn not_even_the_last_of_many_matches_is_folded_away_when_it_is_the_one_found() {
    let mut text = "an error\n\n\n\n\n".repeat(2 * MOST_MATCHES);
    text.push_str("the error of all errors\n");
    text.push_str(&"more\n".repeat(50));
    let ran = entry("toolResult", vec![(Class::Output, &["bash", &text])]);
    let found = hit("e", "output", "the [error] of all errors");
    let block = block(0, &ran, &look(40, "error", vec![found]));
    let best = block.best.map(|best| block.lines[best].to_string());
    assert_eq!(best.as_deref(), Some("│ the error of all errors"));
    assert_eq!(block.matches.len(), MOST_MATCHES + 1);
}

#[test]
fn the_match_that_was_shown_in_the_list_is_looked_at_first() {
    let said = entry(
        "assistant",
        vec![
            (Class::Output, &["bash", "grep needle"]),
            (Class::Prose, &["a needle", "hay\n\nthis needle is it"]),
        ],
    );
    let best = |class: &str, snippet: &str| {
        let look = look(40, "needle", vec![hit("e", class, snippet)]);
        let block = block(0, &said, &look);
        block.best.map(|best| block.lines[best].to_string())
    };
    let it = best("prose", "hay this [needle] is it");
    assert_eq!(it.as_deref(), Some("this needle is it"));
    // What cannot be found again is at least of that class.
    let first = best("prose", "a changed [needle] was here");
    assert_eq!(first.as_deref(), Some("a needle"));
    let ran = best("output", "grep [needle]");
    assert_eq!(ran.as_deref(), Some("│ grep needle"));
}

#[test]
fn a_match_goes_on_over_the_end_of_a_line() {
    let said = entry("user", vec![(Class::Prose, &["one alpha beta gamma two"])]);
    let block = block(0, &said, &look(12, "\"alpha beta gamma\"", Vec::new()));
    assert_eq!(
        written(&block),
        "2026-01-05\n09:00\none [alpha]\n[beta gamma]\ntwo"
    );
    // It is one, and begins there.
    assert_eq!(block.matches, [3]);
}

#[test]
fn markdown_keeps_its_signs_and_code_its_lines() {
    let text = "# Plan\n\nIt is **bold** and `code`.\n\n```sh\nls   -la    /a/long/path\n```\n\n- one two three four\n";
    let said = entry("assistant", vec![(Class::Prose, &[text])]);
    let answer = block(0, &said, &look(16, "", Vec::new()));
    assert_eq!(
        written(&answer),
        "2026-01-05 09:00\n# Plan\n\nIt is **bold**\nand `code`.\n\n```sh\nls   -la    /a/l\nong/path\n```\n\n- one two three\n  four"
    );
    let of = |block: &Block, text: &str| {
        let spans = block.lines.iter().flat_map(|line| &line.spans);
        let mut found = spans.filter(|span| span.content == text);
        found.next().map(|span| span.style)
    };
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let palette = Palette::new(true);
    for (text, style) in [
        ("Plan", palette.strong()),
        ("bold", bold),
        ("**", palette.quiet()),
        ("`code`", palette.name()),
        ("ong/path", Style::new()),
    ] {
        assert_eq!(of(&answer, text), Some(style), "{text}");
    }
    // What a person types is not meant so.
    let typed = entry("user", vec![(Class::Prose, &["__init__ and *all*"])]);
    let typed = block(0, &typed, &look(40, "", Vec::new()));
    assert_eq!(of(&typed, "__init__ and *all*"), Some(Style::new()));
}

#[test]
fn a_line_without_end_is_cut_and_its_match_is_not() {
    let text = format!("{} needle {}", "x".repeat(50_000), "y".repeat(50_000));
    let ran = entry("toolResult", vec![(Class::Output, &["bash", &text])]);
    let block = block(0, &ran, &look(50, "needle", Vec::new()));
    assert!(block.lines.len() < 60, "{}", block.lines.len());
    assert!(written(&block).contains("[needle]"));
    assert_eq!(written(&block).matches(" KB more").count(), 2);
}

/// Text of any script and of anything that acts.
fn any_text(random: &mut StdRng) -> String {
    let parts = [
        "needle",
        "a",
        " ",
        "  ",
        "\n",
        "\t",
        "日本語",
        "。",
        "שלום",
        "مرحبا",
        "e\u{301}",
        "👍🏽",
        "❤️",
        "👩‍💻",
        "\u{1b}[31m",
        "\u{1b}]0;x\u{7}",
        "\u{202e}",
        "\u{9b}",
        "\r",
        "`",
        "**",
        "```\n",
        "- ",
        "| ",
        "# ",
        "https://a.b/c?d=e",
        "\u{200b}",
        "\u{ad}",
        "ﷺ",
        "\u{0}",
    ];
    let number = random.random_range(0..60);
    let parts = (0..number).map(|_| parts[random.random_range(0..parts.len())]);
    parts.collect()
}

#[test]
fn whatever_is_said_fits_does_nothing_and_is_found() {
    let mut random = StdRng::seed_from_u64(20);
    let mut found = 0;
    for round in 0..3_000 {
        let width = 10 + round % 40;
        let roles = ["user", "assistant", "toolResult"];
        let class = [Class::Prose, Class::Output][round % 2];
        let texts = [any_text(&mut random), any_text(&mut random)];
        let pieces = [&*texts[0], &*texts[1]];
        let said = entry(roles[round % 3], vec![(class, &pieces)]);
        let look = look(width, "needle", Vec::new());
        let block = block(0, &said, &look);
        for line in &block.lines {
            let text = line.to_string();
            assert!(line.width() <= width, "{text:?} in {width}: {texts:?}");
            assert!(!text.chars().any(acts), "{text:?}: {texts:?}");
        }
        let is_found = texts.iter().any(|text| text.contains("needle"));
        found += usize::from(is_found && !block.matches.is_empty());
        assert_eq!(
            has_match(&said, &look),
            !block.matches.is_empty(),
            "{texts:?}"
        );
        let bg = look.palette.matched().bg;
        for line in &block.matches {
            let mut spans = block.lines[*line].spans.iter();
            assert!(spans.any(|span| span.style.bg == bg), "{texts:?}");
        }
    }
    assert!(found > 500, "{found}");
}
