//! How is a command written so that a shell reads the very words that are meant?

use super::text::acts;

/// For a POSIX shell: what needs no quotes has none.
pub fn posix(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.:@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for character in word.chars() {
        match character {
            '\'' => quoted.push_str(r"'\''"),
            // What a terminal would act on is spelt out. A line feed would be lost that way, and
            // does no harm.
            c if c != '\n' && acts(c) => {
                quoted.push_str("'\"$(printf '");
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
                quoted.push_str("')\"'");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// For PowerShell, which takes typographic quotes for quotes too.
pub fn powershell(word: &str) -> String {
    let mut quoted = String::from("'");
    for character in word.chars() {
        if matches!(character, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(character);
        }
        match acts(character) {
            true => quoted.push_str(&format!("'+[char]{}+'", u32::from(character))),
            false => quoted.push(character),
        }
    }
    quoted.push('\'');
    match quoted.contains("'+[char]") {
        true => format!("({quoted})"),
        false => quoted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_powershell() {
        assert_eq!(powershell(r"C:\a b\it's"), r"'C:\a b\it''s'");
        assert_eq!(powershell("a\u{2019}b"), "'a\u{2019}\u{2019}b'");
        assert_eq!(powershell("a\u{1b}b"), "('a'+[char]27+'b')");
    }

    #[test]
    #[cfg(unix)]
    fn a_shell_reads_every_word_as_it_is() -> std::io::Result<()> {
        let words = [
            "",
            "plain",
            "~/x",
            "a b",
            "it's",
            "'",
            "''",
            "$HOME",
            "`id`",
            "\\",
            "\\'",
            "!!",
            "*",
            "-n",
            "a\nb\n",
            "\n",
            "\t",
            "a\u{1b}[31mb",
            "\u{202e}x",
            "日本 é",
            "\"",
            "#",
            "&& true",
            "a;b",
            "\u{7f}",
            "\r",
        ];
        let quoted: Vec<String> = words.iter().map(|word| posix(word)).collect();
        for (word, quoted) in words.iter().zip(&quoted) {
            assert!(!quoted.chars().any(|c| c != '\n' && acts(c)), "{word:?}");
        }
        let line = format!("printf '%s\\0' {}", quoted.join(" "));
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .output()?;
        let read = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            read.split('\0').collect::<Vec<_>>(),
            [&words[..], &[""]].concat()
        );
        assert_eq!(posix("/a/b-c.jsonl"), "/a/b-c.jsonl");
        Ok(())
    }
}
