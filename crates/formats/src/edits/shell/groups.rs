//! Into which file goes what `{ …; } > FILE` prints? Where it is not certain, into none.

use super::{End, SimpleCommand};

/// Of more programs none is told: groups around them have more, too.
const MOST: usize = 100;

/// Tells the programs of such groups the files that their output goes to.
pub(super) fn share_files(commands: &mut [SimpleCommand]) {
    // What a function prints goes where it is called. Another group may begin where none is
    // known to.
    if commands
        .iter()
        .any(|command| command.names_function || may_hide_group(command))
    {
        return;
    }
    let mut begun = Vec::new();
    for at in 0..commands.len() {
        let leading = commands[at].leading();
        let (is_end, begins) = (
            leading.first().is_some_and(|word| word == "}"),
            leading.iter().filter(|word| *word == "{").count(),
        );
        let from = if is_end { begun.pop() } else { None };
        begun.extend(std::iter::repeat_n(at, begins));
        let (inner, behind) = commands.split_at_mut(at);
        let (Some(from), [end, ..]) = (from, behind) else {
            continue;
        };
        let Some(group) = inner.get_mut(from..) else {
            continue;
        };
        if group.len() > MOST || !end.is_redirected && end.end != End::Pipe {
            continue;
        }
        let prints = |command: &SimpleCommand| !command.is_redirected && command.end != End::Pipe;
        let is_certain = end.words == ["}"] && group.iter().any(prints) && is_simple(group);
        for command in group {
            if is_certain && prints(command) {
                command.writes.clone_from(&end.writes);
            }
            // For the groups around this one.
            command.is_redirected = true;
        }
    }
}

/// Whether a group may begin behind what a program seems to be: a pattern of `case`, `coproc`, the
/// name of a function.
fn may_hide_group(command: &SimpleCommand) -> bool {
    let program = command.program();
    let may_begin = !command.is_plain
        || program
            .first()
            .is_some_and(|of| matches!(&**of, "coproc" | "function"));
    may_begin && program.iter().any(|word| word == "{")
}

/// Whether what programs print goes where that of all of them goes, unless it is said of them
/// alone, and whether they run in the folder in which the first one runs.
fn is_simple(group: &[SimpleCommand]) -> bool {
    let folder = group.first().map(|command| &command.folder);
    group.iter().all(|command| {
        let is_around = |word: &String| matches!(&**word, "done" | "fi" | "esac");
        let ends = command.words.first().is_some_and(is_around);
        let is_taken = command.is_redirected || command.end == End::Pipe;
        let is_exec = |words: &[String]| words.first().is_some_and(|of| of == "exec");
        // A bracket behind `{` is not read as one around programs.
        let is_read = command.is_plain || command.leading().is_empty();
        is_read
            && Some(&command.folder) == folder
            && (command.opens, command.closes) == (0, 0)
            && !(ends && is_taken)
            && !command.may_run().any(is_exec)
    })
}

#[cfg(test)]
mod tests {
    use super::super::simple_commands;

    fn filled(command: &str) -> Vec<String> {
        let all = simple_commands(command);
        let fills = all.iter().filter_map(|command| command.fills());
        let said = fills.map(|(files, of)| format!("{}={}", files.join(","), of.text));
        said.collect()
    }

    #[test]
    fn what_a_group_prints_goes_into_its_file() {
        for (command, expected) in [
            ("{ echo a; echo b; } > f", &["f=a\n", "f=b\n"][..]),
            ("{ cat <<E\na\nE\necho b\n} >> f 2>&1", &["f=a\n", "f=b\n"]),
            ("{ echo a; { echo b; }; } > f", &["f=a\n", "f=b\n"]),
            (
                "{ echo a > g; echo b | sort; echo c; } > f",
                &["g=a\n", "f=c\n"],
            ),
            ("{ echo a; { echo b; } > g; } > f", &["f=a\n", "g=b\n"]),
            ("cd x && { echo a; cd y; } > f; echo b", &["f=a\n"]),
            // It goes elsewhere.
            ("{ echo a >&2; echo b > \"$B\"; } > f", &[]),
            ("{ { echo a; } | sort; } > f", &[]),
            ("{ { echo a; } > \"$B\"; } > f", &[]),
            ("{ echo a; } > \"$B\"; echo b; { echo c; } 2> f", &[]),
            ("{ echo a; } | tee f", &[]),
            // It may.
            ("{ cd x; echo a; } > f", &[]),
            ("{ (echo a; echo b) | sort; } > f", &[]),
            ("{ (echo a; echo b; echo c) > g; } > f", &["g=c\n"]),
            ("{ for x in y; do echo a; done | sort; } > f", &[]),
            ("{ exec > g; echo a; } > f", &[]),
            ("f() { echo a; } > f; f", &[]),
            // Another group may begin where none is known to.
            ("{ echo a; case $x in a) { echo b; } > g;; esac; } > f", &[]),
            ("{ echo a; case x in a) { echo b; } > g;; esac; } > f", &[]),
            ("{ echo a; case x in (a) { echo b; } > g;; esac; } > f", &[]),
            ("{ echo a; coproc { echo b; } > g; } > f", &[]),
            ("{ echo a; coproc x { echo b; } > g; } > f", &[]),
            ("{ echo a; function x { echo b; } > g; } > f", &[]),
            ("{ echo a; for ((;;)) { echo b; } > g; } > f", &[]),
            (
                "{ echo '{'; echo a; echo '}'; } > f",
                &["f={\n", "f=a\n", "f=}\n"],
            ),
        ] {
            assert_eq!(filled(command), expected, "{command}");
        }
    }

    #[test]
    fn what_a_subshell_prints_goes_into_its_file() {
        for (command, expected) in [
            ("(echo a) > f", &["f=a\n"][..]),
            ("(cd x; echo a > f)", &["f=a\n"]),
            ("(echo a > g) > f", &["g=a\n"]),
            ("(echo a > \"$B\") > f", &[]),
            // It is `f`, and not `x/f`.
            ("(cd x; echo a) > f", &[]),
            ("((cd x && echo a)) > f", &[]),
            ("(echo a; (cd x; echo b)) > f", &[]),
        ] {
            assert_eq!(filled(command), expected, "{command}");
        }
    }

    #[test]
    fn groups_in_groups_take_no_time() {
        let deep = "{ ".repeat(50_000) + "a" + &"; } > b".repeat(50_000);
        assert_eq!(simple_commands(&deep).len(), 50_001);
    }
}
