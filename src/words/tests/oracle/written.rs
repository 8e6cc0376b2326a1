//! What is asked of a text as it is written, which no words tell?

use crate::model::Expr;

/// Whether a text begins with these characters; white space stands for any.
fn begins_with(text: &[char], part: &[char], same: &dyn Fn(char, char) -> bool) -> bool {
    let blanks = |text: &[char]| text.iter().take_while(|c| c.is_whitespace()).count();
    match (part, text) {
        ([], _) => true,
        ([blank, ..], _) if blank.is_whitespace() => {
            let rest = &text[blanks(text)..];
            rest.len() < text.len() && begins_with(rest, &part[blanks(part)..], same)
        }
        ([a, part @ ..], [b, text @ ..]) => same(*a, *b) && begins_with(text, part, same),
        _ => false,
    }
}

/// Whether a piece of text holds what only the text tells.
pub fn in_text(expr: &Expr, text: &str) -> bool {
    match expr {
        Expr::Substring(part) => {
            let (text, part): (Vec<char>, Vec<char>) =
                (text.chars().collect(), part.chars().collect());
            let same = |a: char, b: char| {
                if a.is_ascii() && b.is_ascii() {
                    return a.eq_ignore_ascii_case(&b);
                }
                let lower = |c: char| c.to_lowercase().collect::<String>();
                let upper = |c: char| c.to_uppercase().collect::<String>();
                // No language-neutral folding takes the dotless i for a case of another.
                let dotless = a == 'ı' || b == 'ı';
                a == b
                    || !dotless && lower(a) == lower(b) && lower(a).chars().count() == 1
                    || !dotless && upper(a) == upper(b) && upper(a).chars().count() == 1
            };
            (0..=text.len()).any(|at| begins_with(&text[at..], &part, &same))
        }
        Expr::Regex(pattern) => regex::RegexBuilder::new(pattern)
            .multi_line(true)
            .crlf(true)
            .build()
            .is_ok_and(|regex| regex.is_match(text)),
        _ => panic!("more than the text tells of {expr:?}"),
    }
}
