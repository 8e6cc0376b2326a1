//! Which commands make a commit, and what do they say of it?

use crate::format::edits::{End, SimpleCommand, simple_commands};

/// So deep a command is looked for within another one.
const MOST_DEPTH: usize = 3;

/// What git prints the name of a commit for that it makes.
pub(super) const COMMITTING: [&str; 4] = ["commit", "cherry-pick", "revert", "rebase"];

/// Whether a command runs `git commit`, or what else makes a commit and says so.
pub(super) fn commits(command: &str) -> bool {
    any_commits(&simple_commands(command), MOST_DEPTH)
}

/// A shell that is given a script, or `$( … )`, may run it.
fn any_commits(commands: &[SimpleCommand], depth: usize) -> bool {
    commands.iter().any(|command| {
        let script = command.script().filter(|_| depth > 0);
        command.of_git().is_some_and(|of| COMMITTING.contains(&of))
            || any_commits(command.substituted(), depth)
            || script.is_some_and(|script| any_commits(&simple_commands(script), depth - 1))
    })
}

/// What git does without showing names of commits at the beginning of lines.
const NAMELESS: [&str; 7] = ["add", "commit", "config", "diff", "push", "rm", "status"];

/// What neither moves `HEAD` nor prints more than it is given.
const QUIET: [&str; 4] = ["cd", "echo", "printf", "true"];

/// Whether a command shows the commit right after it has made one, in the same folder, and no
/// other: `git commit -q -m x && git log -1 --oneline`. Behind `;` it may be an earlier one. What
/// other programs print is not known: one may come before only where the command succeeds with the
/// commit and with what shows it.
pub(super) fn shows_commit(command: &str) -> bool {
    // In which folder it was made.
    let (mut made, mut is_shown) = (None, false);
    let (mut was_made, mut has_others, mut hides_failure) = (false, false, false);
    let mut before = End::Next;
    for command in simple_commands(command) {
        let folder = command.folder.clone();
        let is_made = made.is_some() && made == folder;
        let is_head = shows_head(&command);
        let shows_others = |of: &str| !is_head && !NAMELESS.contains(&of);
        if is_head && !is_made || command.of_git().is_some_and(shows_others) {
            return false;
        }
        let is_quiet = command.given_to(&QUIET).is_some();
        let is_quiet = is_quiet || before == End::Pipe && is_filter(&command);
        // What git is given by others before is not printed.
        let is_git = command.of_git().is_some();
        let is_other = !is_quiet && !is_git || command.substitutes() && (was_made || !is_git);
        if was_made && is_other {
            return false;
        }
        has_others |= is_other;
        is_shown |= is_head;
        if makes_commit(&command) {
            made = folder;
            was_made = true;
        }
        let is_hidden = is_head && (command.end == End::Pipe || !command.writes.is_empty());
        let is_alone = !matches!(command.end, End::And | End::Pipe | End::Last);
        hides_failure |= was_made && (is_hidden || is_alone);
        made = made.filter(|_| command.end == End::And);
        before = command.end;
    }
    is_shown && !(has_others && hides_failure)
}

/// Whether a program prints nothing but lines of its input.
fn is_filter(command: &SimpleCommand) -> bool {
    let given = command.given_to(&["cat", "head", "tail", "wc"]);
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_how = |word: &String| word.starts_with('-') || is_number(word);
    given.is_some_and(|given| given.iter().all(is_how))
}

/// Whether a program makes a commit in the folder in which it runs, if it succeeds.
fn makes_commit(command: &SimpleCommand) -> bool {
    // With these git commits nothing. It takes the beginnings of names, too.
    const TRIES: [&str; 6] = [
        "--dry-run",
        "--help",
        "--long",
        "--null",
        "--porcelain",
        "--short",
    ];
    let is_tried = |word: &String| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            long.len() > 1 && TRIES.iter().any(|of| of.starts_with(word.as_str()))
        }
        Some(short) => {
            let mut signs = short.chars().take_while(|sign| !"mFCctuS".contains(*sign));
            signs.any(|sign| matches!(sign, 'h' | 'z'))
        }
        None => false,
    };
    // For these it is the same commit in the same folder.
    const SAME: [&str; 3] = ["commit.gpgsign=", "user.email=", "user.name="];
    let is_turned = command.words.iter().any(|word| word == "!");
    let mut given = command.given_to(&["git"]).unwrap_or_default();
    while let [option, set, behind @ ..] = given
        && option == "-c"
        && SAME
            .iter()
            .any(|of| set.to_ascii_lowercase().starts_with(of))
    {
        given = behind;
    }
    let is_commit = given.first().is_some_and(|of| of == "commit");
    is_commit && !is_turned && !is_elsewhere(command) && !given.iter().any(is_tried)
}

/// Whether a variable before the program may name another repository: `GIT_DIR=x git log`.
fn is_elsewhere(command: &SimpleCommand) -> bool {
    const HERE: [&str; 4] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_EDITOR=", "GIT_PAGER="];
    command
        .words
        .iter()
        .any(|word| word.starts_with("GIT_") && !HERE.iter().any(|here| word.starts_with(here)))
}

/// Whether a format of `git log` begins with the commit's name, so that what else it shows stands
/// behind that.
fn begins_with_name(format: &str) -> bool {
    const NAMED: [&str; 5] = ["full", "fuller", "medium", "oneline", "short"];
    let own = format.strip_prefix("format:");
    let own = own.or_else(|| format.strip_prefix("tformat:"));
    let own = own.unwrap_or(format);
    let behind = own.strip_prefix("%h").or_else(|| own.strip_prefix("%H"));
    let is_name = |rest: &str| rest.is_empty() || rest.starts_with(' ') || rest.starts_with("%n");
    NAMED.contains(&format) || behind.is_some_and(is_name)
}

/// Whether a command shows the commit that is checked out, and no other.
fn shows_head(command: &SimpleCommand) -> bool {
    const HOW: [&str; 8] = [
        "-1",
        "-n1",
        "--abbrev-commit",
        "--max-count=1",
        "--no-decorate",
        "--oneline",
        "--short",
        "--stat",
    ];
    let given = command.given_to(&["git"]).unwrap_or_default();
    let words: Vec<&str> = given.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["--no-pager"]).unwrap_or(&words);
    let is_how = |word: &&str| {
        let format = word.strip_prefix("--format=");
        let format = format.or_else(|| word.strip_prefix("--pretty="));
        format.is_some_and(begins_with_name) || HOW.contains(word)
    };
    let is_one = |word: &&str| matches!(*word, "-1" | "-n1" | "--max-count=1");
    if is_elsewhere(command) {
        return false;
    }
    match words {
        ["log", given @ ..] => given.iter().all(is_how) && given.iter().any(is_one),
        ["rev-parse", given @ .., "HEAD"] => given.iter().all(is_how),
        _ => false,
    }
}

/// Whether a text names this commit as `git log` and `git rev-parse` do, on a line, and no line
/// another one.
pub(super) fn shows(text: &str, commit: &str, subject: &str) -> bool {
    let is_name = |name: &str| {
        (7..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let lines = text.lines().map(|line| {
        let line = line.strip_prefix("commit ").unwrap_or(line).trim_end();
        line.split_once(' ').unwrap_or((line, ""))
    });
    let mut named = lines.filter(|(name, _)| is_name(name)).peekable();
    let is_it = |(name, rest): (&str, &str)| {
        commit.starts_with(name) && (rest.is_empty() || rest.starts_with(subject.trim()))
    };
    named.peek().is_some() && named.all(is_it)
}

/// Whether a line says that this commit was made: `[main 1a2b3c4] What changed`.
pub(super) fn names_commit(text: &str, commit: &str, subject: &str) -> bool {
    text.lines().any(|line| {
        let said = line
            .strip_prefix('[')
            .and_then(|said| said.split_once("] "));
        let Some((said, rest)) = said else {
            return false;
        };
        let name = said.rsplit_once(' ').map_or("", |(_, name)| name);
        name.len() >= 7 && commit.starts_with(name) && rest.starts_with(subject.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_commands_commit_and_what_they_are_told() {
        for (command, is) in [
            ("git add -A && git commit -m 'a b'", true),
            (
                "cd x; GIT_AUTHOR_NAME=y git -C z -c a=b --no-pager commit --amend",
                true,
            ),
            (
                "git commit -m \"$(cat <<'EOF'\nIt's \"done\"\nEOF\n)\"",
                true,
            ),
            ("timeout 60 /usr/bin/git commit -m x", true),
            ("bash -c \"git add -A && git commit -m x\"", true),
            ("sudo -u ada git commit -m x", true),
            ("git cherry-pick 0123456 && git push", true),
            ("git revert --no-edit HEAD", true),
            ("out=$(git commit -m x); echo \"$out\"", true),
            ("echo \"$(cd y && git commit -m \"$(cat z)\")\"", true),
            ("bash -c 'cat <(git commit -m x)'", true),
            ("GIT_EDITOR=true git rebase --continue", true),
            ("sessionary search git commit", false),
            ("echo git commit", false),
            ("echo '$(git commit)'", false),
            ("echo \\$(git commit)", false),
            ("out=$(git log -1 commit)", false),
            ("git log -1 --format='[%h] %s' # last commit", false),
            ("sessionary search 'git commit'", false),
            ("git commit-tree x; git log commit", false),
            ("git log --grep revert", false),
        ] {
            assert_eq!(commits(command), is, "{command}");
        }
        for (text, is) in [
            ("hook\n[main 0123456] What changed\n 1 file", true),
            ("[main (root-commit) 0123456] What changed", true),
            ("[detached HEAD 0123456] What changed", true),
            ("[0123456] What changed", false),
            ("… [main 0123456] What changed", false),
            ("[main 0123456] Something else", false),
            ("[main 0123457] What changed", false),
        ] {
            assert_eq!(
                names_commit(text, "0123456789", "What changed"),
                is,
                "{text}"
            );
        }
    }

    /// Real: KuzniAI/opencode-entire-plugin, 0/full.jsonl (Claude Code 2.1.284).
    #[test]
    fn which_commands_show_what_they_committed() {
        for (command, is) in [
            (
                "git add -A && git commit -q -m x && git log --oneline -1 && git status --short",
                true,
            ),
            (
                "git commit -qm x >/dev/null && git push && git log -1 --format='%h %s'",
                true,
            ),
            (
                "cd x; git commit -q -m x && git rev-parse --short HEAD",
                true,
            ),
            (
                "git -c user.name=x -c user.email=x@y commit -qm z && git log -1 --oneline",
                true,
            ),
            (
                "git -c core.worktree=y commit -q -m x && git log -1 --oneline",
                false,
            ),
            (
                "git -c user.name=x -C y commit -qm z && git log -1 --oneline",
                false,
            ),
            // An earlier one, if nothing was committed; others; another one.
            ("git commit -q -m x; git log --oneline -1", false),
            ("git commit -q -m x || true && git log --oneline -1", false),
            ("git commit -q -m x && git log --oneline -5", false),
            ("git commit -q -m x && git log --oneline", false),
            ("git commit -q -m x && git log --oneline -1 --all", false),
            ("git -C y commit -q -m x && git log --oneline -1", false),
            ("git commit -q -m x && git -C y log --oneline -1", false),
            ("git commit -q -m x && cd y && git log --oneline -1", false),
            ("git commit -q -m x && git log --oneline -1 main", false),
            ("git commit -q -m x && git rev-parse HEAD main", false),
            ("git log --oneline -1 && git commit -q -m x", false),
            (
                "git commit -q -m x && git log -1 && git log --oneline -9",
                false,
            ),
            ("! git commit -q -m x && git log --oneline -1", false),
        ] {
            assert_eq!(shows_commit(command), is, "{command}");
        }
        for (text, is) in [
            ("hook\n0123456 What changed\n M a.rs", true),
            ("0123456\n", true),
            ("commit 0123456789\nAuthor: Ada", true),
            ("012345 What changed", false),
            ("0123457 What changed", false),
            ("0123456 Something else", false),
            ("see 0123456 What changed", false),
            ("abc1234 Next\n0123456", false),
            ("abc1234 Next\n M a.rs\n0123456 What changed", false),
            ("0123456 What changed\n\ndeadbee Next", false),
        ] {
            assert_eq!(shows(text, "0123456789", "What changed"), is, "{text}");
        }
    }

    #[test]
    fn what_only_tries_or_may_show_another_commit_shows_none() {
        for (command, is) in [
            (
                "git commit -q -m x && git log -1 --format='%h %s%n%b'",
                true,
            ),
            ("git commit -q -m x && git log -1 --pretty=format:%H", true),
            (
                "GIT_EDITOR=true git commit -q && git log -1 --oneline",
                true,
            ),
            ("npm test; git commit -q -m x && git log -1 --oneline", true),
            ("git commit -qm x && git log -1 --oneline; echo $?", true),
            (
                "git commit -qm \"$(cat x)\" && git log -1 --oneline; true",
                true,
            ),
            (
                "git commit -qm x && git log -1 --oneline && git status | head -5",
                true,
            ),
            // Nothing is committed.
            ("git commit --dry-run -q && git log -1 --oneline", false),
            ("git commit --dry && git rev-parse --short HEAD", false),
            ("git commit -q --short && git log -1 --oneline", false),
            ("git commit -qz && git log -1 --oneline", false),
            ("git commit -h && git log -1 --oneline", false),
            // Its parents are shown.
            ("git commit -q -m x && git log -1 --format=%p", false),
            ("git commit -q -m x && git log -1 --pretty='%P %h'", false),
            (
                "git commit -q -m x && git log -1 --format='%h-%s%n%P'",
                false,
            ),
            // Another one may be checked out, or shown.
            (
                "git commit -q -m x && gh pr checkout 5 && git log -1 --oneline",
                false,
            ),
            (
                "git commit -qm x && bash -c 'git pull' && git log -1 --oneline",
                false,
            ),
            (
                "git commit -q -m x && ./release.sh && git log -1 --oneline",
                false,
            ),
            (
                "git commit -qm x && echo $(git pull) && git log -1 --oneline",
                false,
            ),
            (
                "git commit -qm x && GIT_DIR=/y/.git git log -1 --oneline",
                false,
            ),
            (
                "GIT_DIR=/y/.git git commit -qm x && git log -1 --oneline",
                false,
            ),
            (
                "git commit -q -m x && cat NOTES && git log -1 --oneline",
                false,
            ),
            (
                "git commit -q -m x && git log -1 --oneline; cat NOTES",
                false,
            ),
            (
                "git commit -q -m x && git log -1 --oneline; echo `cat NOTES`",
                false,
            ),
            (
                "cat NOTES; git commit -qm x && git log -1 --oneline; git status",
                false,
            ),
            (
                "cat NOTES; git commit -qm x && git log -1 --stat | tail -1",
                false,
            ),
            (
                "git commit -qm x && git log -1 --oneline && git status | head N",
                false,
            ),
        ] {
            assert_eq!(shows_commit(command), is, "{command}");
        }
    }
}
