//! Which other endings may an English word have? Asked only when the word itself finds too little.
//!
//! `s`, `es`, `ed` and `ing`, with what spelling does to the letters before them. Forms that no
//! language has do no harm: nothing holds them.

/// A stem has this many letters at least.
const SHORTEST: usize = 3;

/// The other forms of a word of ASCII letters; none of any other word.
pub(in crate::query) fn forms(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut forms: Vec<String> = Vec::new();
    for stem in stems(&word) {
        let open = stem.strip_suffix('e');
        let soft = stem
            .strip_suffix('y')
            .filter(|rest| ends_in_consonant(rest));
        let hissing = ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| stem.ends_with(end));
        forms.extend(match (soft, hissing) {
            (Some(rest), _) => [format!("{rest}ies"), format!("{rest}ied")],
            (None, true) => [format!("{stem}es"), format!("{stem}ed")],
            (None, false) => [format!("{stem}s"), format!("{}ed", open.unwrap_or(&stem))],
        });
        forms.push(format!("{}ing", open.unwrap_or(&stem)));
        if let Some(last) = doubled(&stem) {
            forms.extend(["ed", "ing"].map(|end| format!("{stem}{last}{end}")));
        }
        forms.push(stem);
    }
    forms.sort_unstable();
    forms.dedup();
    forms.retain(|form| *form != word);
    forms
}

/// What a word may be a form of: itself, and what is left without its ending.
fn stems(word: &str) -> Vec<String> {
    let mut stems = vec![word.to_owned()];
    let mut add = |stem: String| {
        if stem.len() >= SHORTEST {
            stems.push(stem);
        }
    };
    if let Some(rest) = ["ies", "ied"].iter().find_map(|end| word.strip_suffix(end)) {
        add(format!("{rest}y"));
    } else if let Some(rest) = ["ing", "ed"].iter().find_map(|end| word.strip_suffix(end)) {
        let [.., before, last] = rest.as_bytes() else {
            return stems;
        };
        match before == last {
            true => add(rest[..rest.len() - 1].to_owned()),
            false => add(format!("{rest}e")),
        }
        add(rest.to_owned());
    } else if let Some(rest) = word
        .strip_suffix('s')
        .filter(|rest| !rest.ends_with(['s', 'u', 'i']))
    {
        if let Some(rest) = rest.strip_suffix('e') {
            add(rest.to_owned());
        }
        add(rest.to_owned());
    }
    stems
}

fn ends_in_consonant(word: &str) -> bool {
    word.ends_with(|last: char| !"aeiou".contains(last))
}

/// The last letter, where it is doubled before an ending (`stop`, `stopped`).
fn doubled(stem: &str) -> Option<char> {
    let mut letters = stem.chars().rev();
    let (last, vowel, before) = (letters.next()?, letters.next()?, letters.next()?);
    let is_vowel = |letter: char| "aeiou".contains(letter);
    (!is_vowel(last) && !"wxy".contains(last) && is_vowel(vowel) && !is_vowel(before))
        .then_some(last)
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn endings_of_english() {
        for (word, others) in [
            (
                "reinstall",
                &["reinstalls", "reinstalled", "reinstalling"][..],
            ),
            ("reinstalling", &["reinstall", "reinstalled", "reinstalls"]),
            ("cache", &["caches", "cached", "caching"]),
            ("cached", &["cache", "caches", "caching"]),
            ("retry", &["retries", "retried", "retrying"]),
            ("retries", &["retry", "retried", "retrying"]),
            ("stop", &["stopped", "stopping", "stops"]),
            ("stopped", &["stop", "stopping", "stops"]),
            ("crash", &["crashes", "crashed", "crashing"]),
            ("crashes", &["crash", "crashed", "crashing"]),
            ("images", &["image"]),
        ] {
            let forms = forms(word);
            for other in others {
                assert!(
                    forms.iter().any(|form| form == other),
                    "{word}: no {other} in {forms:?}"
                );
            }
            assert!(!forms.iter().any(|form| form == word), "{word}");
        }
        for word in ["naïve", "日本", "a1"] {
            assert!(forms(word).is_empty(), "{word}");
        }
        assert!(!forms("access").contains(&"acces".to_owned()));
    }
}
