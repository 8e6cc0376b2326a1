//! Which files does a command move? `mv` and `git mv` whose words say it by themselves: no
//! variable, no pattern, nothing that the shell would put in their place.

use std::path::Path;

use crate::format::edits::simple_commands;

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
    for command in simple_commands(command) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let Some(folder) = command.folder else {
            continue;
        };
        match &*words {
            _ if !command.is_plain => {}
            ["git", "-C", to, "mv", rest @ ..] => {
                let folder = Path::new(&*folder).join(to);
                found.extend(moved(&folder.to_string_lossy(), rest));
            }
            ["git", "mv", rest @ ..] | ["mv", rest @ ..] => found.extend(moved(&folder, rest)),
            _ => {}
        }
    }
    found
}

fn moved(folder: &str, words: &[&str]) -> Option<ShellMove> {
    let is_option = |word: &&&str| matches!(**word, "-f" | "-v" | "--");
    let options = words.iter().take_while(is_option).count();
    let (to, from) = words[options..].split_last()?;
    let is_plain = !from.is_empty() && words[options..].iter().all(|word| !word.starts_with('-'));
    is_plain.then(|| ShellMove {
        folder: folder.to_owned(),
        from: from.iter().map(|of| (*of).to_owned()).collect(),
        to: (*to).to_owned(),
    })
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
                "cd src && git mv a b && cd x && mv -- c d",
                &["src: a > b", "src/x: c > d"],
            ),
            // Where nothing was moved, the folder is the one before.
            ("cd src && git mv a b && cd x; mv -- c d", &["src: a > b"]),
            (
                "git -C /w/x mv a.rs b.rs c/\necho 'mv d e'",
                &["/w/x: a.rs + b.rs > c/"],
            ),
            ("mv a.rs \"$B\"; mv *.rs src; mv ~/a b; mv a{1,2} b", &[]),
            ("mv -t src a.rs; git mv -n a b", &[]),
            ("cd \"$(dirname x)\" && mv a b", &[]),
            (
                "(cd src && mv a b)\n(cd \"$X\"; mv e f)\nmv c d",
                &["src: a > b", ": c > d"],
            ),
            ("(cd a; b) || cd x; mv c d", &[]),
            ("mv a.rs", &[]),
            ("cat > x <<'EOF'\nmv a b\nEOF\nmv c d", &[": c > d"]),
            ("echo on | tee -a log; mv a b", &[": a > b"]),
            ("mv a \"b", &[]),
            ("rmv a b", &[]),
        ] {
            assert_eq!(said(command), moves, "{command}");
        }
    }
}
