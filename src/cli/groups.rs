//! Which commands belong together? The list in `sessionary --help`, by what people want to do.

use clap::Command;

/// Every command once, the most frequent first.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Every day",
        &["pick", "list", "search", "show", "tree", "resume"],
    ),
    (
        "Reading",
        &[
            "context", "export", "blame", "log", "commit", "report", "secrets", "sql",
        ],
    ),
    (
        "Writing",
        &[
            "new", "append", "name", "label", "branch", "fork", "migrate", "delete",
        ],
    ),
    (
        "The index",
        &[
            "sync", "watch", "status", "roots", "archive", "verify", "rebuild",
        ],
    ),
    ("Other programs", &["serve", "mcp", "setup", "skill"]),
    (
        "Setup",
        &[
            "init",
            "team",
            "completions",
            "config",
            "clean",
            "man",
            HELP,
        ],
    ),
];

/// clap's own command, which is there only when all others are.
const HELP: &str = "help";

/// The command with a help that lists its subcommands in groups, which clap has no notion of.
pub fn in_groups(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut list = String::new();
    for (heading, names) in GROUPS {
        list.push_str(&format!("{header}{heading}:{header:#}\n"));
        for name in names {
            let (called, about) = line(&command, name);
            let room = " ".repeat(WIDEST.saturating_sub(called.len()));
            list.push_str(&format!("  {literal}{called}{literal:#}{room}  {about}\n"));
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\
        {header}Options for every command:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// As wide as the longest name.
const WIDEST: usize = "completions".len();

/// What a command is called, and what it does.
fn line(command: &Command, name: &str) -> (String, String) {
    match command.find_subcommand(name) {
        Some(found) => {
            let names = found.get_name_and_visible_aliases().join(", ");
            let about = found.get_about().map(ToString::to_string);
            (names, about.unwrap_or_default())
        }
        None => (name.to_owned(), "Explain a command".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_in_one_group_once() {
        let mut command = Cli::command();
        command.build();
        let mut there: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
        there.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, there);
        assert!(
            listed
                .iter()
                .all(|name| line(&command, name).0.len() <= WIDEST)
        );
    }
}
