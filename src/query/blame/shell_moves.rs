//! Which files does a command move? `mv` and `git mv` whose words say it by themselves: no
//! variable, no pattern, nothing that the shell would put in their place.

/// What one `mv` moves where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellMove {
    /// The folder that `cd` or `-C` named before; relative to that in which the command ran.
    pub folder: String,
    /// Files and folders.
    pub from: Vec<String>,
    /// A name, or a folder.
    pub to: String,
}

/// The moves of a command, in its order.
pub(super) fn shell_moves(command: &str) -> Vec<ShellMove> {
    let mut found = Vec::new();
    let mut folder = String::new();
    for (words, is_plain) in simple_commands(command) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match &*words {
            ["cd", to] if is_plain && *to != "-" => folder = joined(&folder, to),
            // Where it goes nobody knows.
            ["cd" | "pushd" | "popd", ..] => break,
            _ if !is_plain => {}
            ["git", "-C", to, "mv", rest @ ..] => found.extend(moved(joined(&folder, to), rest)),
            ["git", "mv", rest @ ..] | ["mv", rest @ ..] => {
                found.extend(moved(folder.clone(), rest));
            }
            _ => {}
        }
    }
    found
}

fn joined(folder: &str, to: &str) -> String {
    match folder {
        "" => to.to_owned(),
        _ if to.starts_with('/') => to.to_owned(),
        folder => format!("{folder}/{to}"),
    }
}

fn moved(folder: String, words: &[&str]) -> Option<ShellMove> {
    let is_option = |word: &&&str| matches!(**word, "-f" | "-v" | "--");
    let options = words.iter().take_while(is_option).count();
    let (to, from) = words[options..].split_last()?;
    let is_plain = !from.is_empty() && words[options..].iter().all(|word| !word.starts_with('-'));
    is_plain.then(|| ShellMove {
        folder,
        from: from.iter().map(|of| (*of).to_owned()).collect(),
        to: (*to).to_owned(),
    })
}

/// The words of each simple command, and whether they are all: the shell puts nothing in the place
/// of any. What is behind a document that stands in the command is not read.
fn simple_commands(command: &str) -> Vec<(Vec<String>, bool)> {
    let mut commands = Vec::new();
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut is_plain = true;
    let mut signs = command.chars().peekable();
    let mut quote = None;
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = signs.next();
                is_plain &= escaped.is_some_and(|sign| sign != '\n');
                word.get_or_insert_default().extend(escaped);
            }
            (None | Some('"'), '$' | '`') => is_plain = false,
            (None, '<') if signs.peek() == Some(&'<') => return commands,
            (None, '*' | '?' | '[' | '{' | '~' | '(' | ')' | '<' | '>' | '#' | '!') => {
                is_plain = false;
            }
            (None, '\n' | ';' | '&' | '|') => {
                words.extend(word.take());
                let ended = std::mem::take(&mut words);
                commands.push((ended, is_plain));
                is_plain = true;
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    commands.push((words, is_plain && quote.is_none()));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(command: &str) -> Vec<String> {
        let moves = shell_moves(command).into_iter();
        let said = moves.map(|of| format!("{}: {} > {}", of.folder, of.from.join(" + "), of.to));
        said.collect()
    }

    #[test]
    fn what_a_command_moves() {
        for (command, moves) in [
            ("mv a.rs b.rs", &[": a.rs > b.rs"][..]),
            ("git mv -f 'a b.rs' \"c\"d.rs", &[": a b.rs > cd.rs"]),
            (
                "cd src && git mv a b && cd x; mv -- c d",
                &["src: a > b", "src/x: c > d"],
            ),
            (
                "git -C /w/x mv a.rs b.rs c/\necho 'mv d e'",
                &["/w/x: a.rs + b.rs > c/"],
            ),
            ("mv a.rs \"$B\"; mv *.rs src; mv ~/a b; mv a{1,2} b", &[]),
            ("mv -t src a.rs; git mv -n a b", &[]),
            ("cd \"$(dirname x)\" && mv a b", &[]),
            ("mv a.rs", &[]),
            ("cat > x <<'EOF'\nmv a b\nEOF\nmv c d", &[]),
            ("mv a \"b", &[]),
            ("rmv a b", &[]),
        ] {
            assert_eq!(said(command), moves, "{command}");
        }
    }
}
