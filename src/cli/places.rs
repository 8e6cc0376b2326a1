//! Where is the index, and which roots are read? From settings, flags and this process's environment.

use std::env;
use std::path::Path;
use std::sync::Arc;

use sessionary::format::{AGENTS, FORMATS};
use sessionary::locations::{self, Environment};
use sessionary::{Config, Exclude, RootSpec, Rules};

use crate::args::Global;
use crate::failure::Failure;
use crate::settings::{self, Settings};

/// The configuration that flags, environment and the configuration file ask for.
pub fn config(global: &Global, settings: Settings) -> Result<Config, Failure> {
    let cwd = env::current_dir().unwrap_or_default();
    let var = |name: &str| env::var_os(name);
    let environment = Environment {
        home: dirs::home_dir(),
        data_dir: dirs::data_dir(),
        var: &var,
        cwd,
        read_settings: true,
    };
    let finds_index = settings.index.source == "default";
    if let Some(home) = environment
        .home
        .as_deref()
        .filter(|home| !home.is_absolute())
        && (finds_index || !global.no_default_roots)
    {
        let message = format!(
            "HOME is not an absolute path: {:?}",
            home.display().to_string()
        );
        return Err(Failure::usage(message)
            .hint("everything below it would be another folder in every directory; set HOME to an absolute path"));
    }
    let mut roots = if global.no_default_roots {
        Vec::new()
    } else {
        locations::roots(&environment)
    };
    let configured = settings.roots.value.iter().map(|text| (text, "config"));
    let typed = global.roots.iter().map(|text| (text, "--root"));
    // What the file names starts at the file, wherever the command runs.
    let at_file = Environment {
        home: environment.home.clone(),
        data_dir: environment.data_dir.clone(),
        cwd: settings::folder().unwrap_or_else(|| environment.cwd.clone()),
        ..environment
    };
    for (text, why) in configured.filter(|_| !global.no_default_roots).chain(typed) {
        let place = if why == "config" {
            &at_file
        } else {
            &environment
        };
        let root = parse_root(text, why, place)?;
        // A place named by hand keeps the label given there.
        roots.retain(|other| other.path != root.path || other.format != root.format);
        roots.push(root);
    }
    let mut config = Config::new(settings.index.value, roots);
    config.rules = Rules::set(
        exclude(&settings.exclude.value)?,
        settings.follow_links.value,
    );
    config.background = settings.background.value;
    if !global.no_default_roots {
        config.project_roots = Some(Arc::new(roots_of_project));
    }
    Ok(config)
}

/// Globs of the configuration file; `~` is the home folder.
fn exclude(globs: &[String]) -> Result<Exclude, Failure> {
    let wrong = |what: String| Failure::usage(format!("exclude of the configuration file: {what}"));
    let expanded: Vec<String> = globs
        .iter()
        .map(|glob| {
            let glob = settings::expanded(Path::new(glob)).display().to_string();
            if cfg!(windows) {
                glob.replace('\\', "/")
            } else {
                glob
            }
        })
        .collect();
    // Every path that is asked about is absolute.
    let never = |glob: &&String| {
        let glob = glob.trim_end_matches('/');
        let begins_anywhere = glob.starts_with(['*', '?', '[', '{']);
        glob.contains('/') && !begins_anywhere && !Path::new(glob).is_absolute()
    };
    if let Some(glob) = expanded.iter().find(never) {
        return Err(wrong(format!(
            "{glob}: no path begins so, it would leave nothing out"
        ))
        .hint(format!(
            "~/{glob} is below your home folder, **/{glob} anywhere"
        )));
    }
    Exclude::new(&expanded).map_err(|bad| {
        wrong(bad.to_string()).hint("for example exclude = [\"~/code/secret\", \"*.draft.jsonl\"]")
    })
}

/// The folders that the agents' settings in a project name.
fn roots_of_project(project: &Path) -> Vec<RootSpec> {
    if !project.is_absolute() {
        return Vec::new();
    }
    let environment = Environment {
        home: dirs::home_dir(),
        data_dir: dirs::data_dir(),
        var: &|name| env::var_os(name),
        cwd: project.to_path_buf(),
        read_settings: true,
    };
    locations::project_roots(&environment, project)
}

/// Reads `FORMAT:DIR[=LABEL]`.
fn parse_root(text: &str, why: &str, environment: &Environment<'_>) -> Result<RootSpec, Failure> {
    let example = "for example --root pi:~/backup/sessions=laptop";
    let Some((name, place)) = text
        .split_once(':')
        .filter(|(name, place)| !name.is_empty() && !place.is_empty())
    else {
        return Err(Failure::usage(format!("{why} {text}: not FORMAT:DIR")).hint(example));
    };
    let (agent, format) = match AGENTS.iter().find(|agent| agent.name == name) {
        Some(agent) => (agent.name, agent.format),
        None => match FORMATS.iter().find(|format| format.name() == name) {
            Some(format) => (format.name(), format.name()),
            None => {
                return Err(Failure::usage(format!(
                    "{why} {text}: no format or agent is called `{name}`"
                ))
                .hint(format!("known are {}", known_names().join(", "))));
            }
        },
    };
    let whole = locations::expand(Path::new(place), environment);
    let (path, label) = match place.rsplit_once('=') {
        // A folder may have `=` in its name.
        Some((dir, label)) if !dir.is_empty() && !label.is_empty() && !whole.exists() => (
            locations::expand(Path::new(dir), environment),
            Some(label.to_owned()),
        ),
        _ => (whole, None),
    };
    Ok(RootSpec {
        agent: agent.to_owned(),
        format: format.to_owned(),
        path,
        label,
        flat: false,
        why: why.to_owned(),
    })
}

/// Names that `--root` and `--agent` take.
pub fn known_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    for format in FORMATS {
        if !names.contains(&format.name()) {
            names.push(format.name());
        }
    }
    names
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RootSpec, Failure> {
        let environment = Environment {
            home: Some("/home/ada".into()),
            data_dir: None,
            var: &|_| None,
            cwd: "/here".into(),
            read_settings: false,
        };
        parse_root(text, "--root", &environment)
    }

    #[test]
    fn roots_on_the_command_line() {
        let said = |text: &str| {
            parse(text).map_or_else(
                |_| "refused".to_owned(),
                |root| {
                    format!(
                        "{} {} {} {:?}",
                        root.agent,
                        root.format,
                        root.path.display(),
                        root.label
                    )
                },
            )
        };
        assert_eq!(said("pi:~/b=laptop"), r#"pi pi /home/ada/b Some("laptop")"#);
        assert_eq!(said("indusagi:/b"), "indusagi pi /b None");
        assert_eq!(said("clido:b/c"), "clido clido /here/b/c None");
        assert_eq!(said("pi:/b="), "pi pi /b= None");
        for refused in ["/b", "pi", "pi:", ":/b", "vim:/b"] {
            assert_eq!(said(refused), "refused", "{refused}");
        }
    }
}
