//! What is set, by what, and in which file?

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use sessionary::model::SCHEMA_VERSION;
use sessionary::settings::{self, KEYS, Settings, Written};

use crate::args::Global;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::places;
use crate::redact;

/// Show the settings and where each comes from
#[derive(Debug, Args)]
#[command(
    name = "config",
    after_help = "A flag overrides a variable, a variable overrides the file, the file overrides the default.\n\
    The whole file, with each key at its default, but for `timezone`:\n\n  \
    index = \"~/.cache/sessionary\"  # $SESSIONARY_INDEX_DIR, --index\n  \
    roots = []                     # as --root takes them: [\"pi:~/backup/sessions=laptop\"]\n  \
    exclude = []                   # globs: [\"~/code/secret\", \"**/*.draft.jsonl\", \"private\"]\n  \
    follow_links = false           # --follow-links\n  \
    background = true              # index words after an answer, or in the background; not with $CI\n  \
    redact = \"not-a-terminal\"      # or \"never\", \"always\"; --reveal\n  \
    pager = true                   # show long output in $SESSIONARY_PAGER, $PAGER or less; --no-pager\n  \
    timezone = \"Europe/Berlin\"     # by default $TZ, else what the system is set to; --utc\n  \
    team.auto = false              # `watch` pushes what `sessionary team share` names\n\n\
    A session is left out when its working directory or its file matches one of `exclude`; a glob \
    without a separator matches a name anywhere, and a match covers everything below it. What was stored of it is \
    wiped. These rules are stored in the index and hold for every program that opens it.\n\
    Folders in `index` and `roots` may be relative to the file.\n\n\
    A symbolic link in a session folder is followed if it leads into a session folder of the same agent; \
    with `follow_links`, wherever it leads. `status` counts the links that are not followed.\n\n\
    `redact` says when keys and tokens are redacted in what list, search, tree, show and context print: \
    by default when a program, a file or an agent gets it. `show --raw` and `sql` never redact.\n\n\
    With `pager`, what is longer than the terminal is shown in a pager: the shell command in $SESSIONARY_PAGER or \
    $PAGER, else less. An empty one, or `cat`, means none.\n\n\
    `timezone` is the time zone of printed times, and of days in filters and reports: a name, a POSIX rule, or the \
    path of a zone's file. It overrides $TZ, which is for every program. Times in JSON are in UTC always.\n\n\
    Examples:\n  \
    sessionary config              as `config show`\n  \
    sessionary config show --json\n  \
    sessionary config path"
)]
pub struct ConfigArgs {
    #[command(subcommand)]
    what: Option<ConfigCommand>,
}

/// The questions.
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every value and its source
    Show,
    /// Print where the file is, or would be
    Path,
}

/// What `config show --json` and, without settings, `config path --json` print.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<&'a Settings>,
}

pub fn run(args: &ConfigArgs, global: &Global, screen: &Screen) -> Result<Outcome, Failure> {
    match args.what {
        Some(ConfigCommand::Path) => {
            let path = settings::path(&places::surroundings()).ok_or_else(|| {
                Failure::usage("there is no home folder, so there is no configuration file")
            })?;
            match screen.json {
                true => screen.json(&Answer {
                    schema_version: SCHEMA_VERSION,
                    file: Some(path),
                    settings: None,
                })?,
                false => screen.print(&format!("{}\n", path.display()))?,
            }
        }
        Some(ConfigCommand::Show) | None => {
            let settings = places::settings(global)?;
            places::check(global, &settings)?;
            screen.take(&settings);
            if screen.json {
                screen.json(&Answer {
                    schema_version: SCHEMA_VERSION,
                    file: settings::path(&places::surroundings()),
                    settings: Some(&settings),
                })?;
            } else {
                screen.print(&printed(&settings, screen))?;
            }
        }
    }
    Ok(Outcome::Yes)
}

fn printed(settings: &Settings, screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::text("KEY"),
        Column::long("VALUE"),
        Column::text("SOURCE"),
        Column::long("WHAT FOR"),
    ]);
    let list = |values: &[Written]| match values {
        [] => "(none)".to_owned(),
        some => {
            let texts: Vec<&str> = some.iter().map(|written| &*written.text).collect();
            texts.join(", ")
        }
    };
    for &(key, what_for) in KEYS {
        let (value, source) = match key {
            "index" => (screen.path(&settings.index.value), settings.index.source),
            "roots" => (list(&settings.roots.value), settings.roots.source),
            "exclude" => (list(&settings.exclude.value), settings.exclude.source),
            "follow_links" => (
                settings.follow_links.value.to_string(),
                settings.follow_links.source,
            ),
            "redact" => (
                redact::name(settings.redact.value).to_owned(),
                settings.redact.source,
            ),
            "pager" => (settings.pager.value.to_string(), settings.pager.source),
            "timezone" => (
                settings.timezone.value.name().to_owned(),
                settings.timezone.source,
            ),
            "team.auto" => (
                settings.team_auto.value.to_string(),
                settings.team_auto.source,
            ),
            _ => (
                settings.background.value.to_string(),
                settings.background.source,
            ),
        };
        table.row(vec![
            (Tone::Name, key.to_owned()),
            (Tone::Plain, screen.with_paths(&value)),
            (Tone::Quiet, source.to_owned()),
            (Tone::Quiet, what_for.to_owned()),
        ]);
    }
    table.render(screen.style, screen.width)
}
