//! Which roots are read, and what is left out of them?

use std::path::Path;
use std::sync::Arc;

use super::file::{EXAMPLE_OF_EXCLUDE, EXAMPLE_OF_ROOTS, Written};
use super::{
    BadSetting, Flags, Settings, Surroundings, THIS_TIME, expanded, folder, without_variable,
};
use crate::config::Config;
use crate::config::each_once;
use crate::config::lasting;
use crate::config::{FollowLinks, Rules};
use crate::format::{AGENTS, FORMATS};
use crate::locations::{self, Environment, foreign_roots};
use crate::source::exclude::Exclude;
use crate::source::root::{RootOrigin, RootSpec};

impl Settings {
    /// What these settings ask for: the index, and every place that is to be looked at. What is to
    /// be left out is said [at first](Rules::at_first); it is for the command to [set](Rules::set)
    /// it.
    ///
    /// # Errors
    /// When a root or a glob cannot be read, or the home folder is no absolute path.
    pub fn config(&self, surroundings: &Surroundings, flags: &Flags) -> Result<Config, BadSetting> {
        let finds_index = self.index.source == "default";
        if let Some(home) = surroundings.home.as_deref()
            && !home.is_absolute()
            && (finds_index || !flags.no_default_roots)
        {
            let home = home.display().to_string();
            let what = format!("HOME is not an absolute path: {home:?}");
            return Err(BadSetting::new(what)
                .hint("everything below it would be a different folder in each directory; set HOME to an absolute path"));
        }
        let index_dir = surroundings.cwd.join(&self.index.value);
        let roots = each_once(&self.roots(surroundings, flags)?, FORMATS);
        let mut config = Config::new(index_dir, roots);
        let data = surroundings.data_dir();
        config.archive_dir = data.map(|data| data.join("sessionary").join("archive"));
        let exclude = exclude(surroundings, &self.exclude.value)?;
        config.rules = match self.follow_links.source {
            THIS_TIME => Rules::at_first(exclude, FollowLinks::WithinRoots).following_links(),
            _ => Rules::at_first(exclude, FollowLinks::of(self.follow_links.value)),
        };
        config.background = self.background.value;
        config.zone = self.timezone.value.clone();
        config.home = surroundings.home.clone();
        if !flags.no_default_roots {
            let surroundings = surroundings.clone();
            config.project_roots = Some(Arc::new(move |project| {
                roots_of_project(&surroundings, project)
            }));
        }
        Ok(config)
    }

    fn roots(
        &self,
        surroundings: &Surroundings,
        flags: &Flags,
    ) -> Result<Vec<RootSpec>, BadSetting> {
        let cwd = &surroundings.cwd;
        let mut roots = Vec::new();
        if !flags.no_default_roots {
            roots = surroundings.ask(cwd, locations::roots);
            let data = surroundings.data_dir();
            let team = data.map(|data| data.join("sessionary").join("team"));
            roots.extend(team.iter().flat_map(|team| foreign_roots(team)));
            // Relative paths in the file start at its folder, wherever the command runs.
            let at_file = folder(surroundings).unwrap_or_else(|| cwd.clone());
            for written in &self.roots.value {
                let root =
                    surroundings.ask(&at_file, |environment| root_of_file(written, environment))?;
                add(&mut roots, root);
            }
        }
        for text in &flags.roots {
            let root = surroundings.ask(cwd, |environment| {
                let wrong = |what: &str| BadSetting::new(format!("--root {text}: {what}"));
                let example = "--root pi:~/backup/sessions=laptop";
                parse_root(text, RootOrigin::Flag, environment)
                    .map_err(|bad| bad.said(wrong, example))
            })?;
            add(&mut roots, root);
        }
        Ok(roots)
    }
}

/// Add a root that is named by hand. A folder that is named twice keeps its first name and its
/// machine, and takes the last label.
fn add(roots: &mut Vec<RootSpec>, mut root: RootSpec) {
    if let Some(at) = roots.iter().position(|other| other.is_same(&root, FORMATS)) {
        let before = roots.remove(at);
        (root.path, root.host) = (before.path, before.host);
    }
    roots.push(root);
}

/// Globs of the configuration file; `~` is the home folder.
fn exclude(surroundings: &Surroundings, written: &[Written]) -> Result<Exclude, BadSetting> {
    let globs = written.iter().map(|written| {
        let glob = expanded(surroundings, Path::new(&written.text));
        let glob = glob.display().to_string();
        match cfg!(windows) {
            true => glob.replace('\\', "/"),
            false => glob,
        }
    });
    let globs: Vec<String> = globs.collect();
    for (glob, written) in globs.iter().zip(written) {
        if begins_nowhere(glob) {
            let what = format!("{glob}: no path starts like this, so it would exclude nothing");
            let hint = without_variable(glob).unwrap_or_else(|| {
                format!("~/{glob} is below your home folder, **/{glob} anywhere")
            });
            return Err(written.wrong("exclude", &what).hint(hint));
        }
    }
    Exclude::new(&globs).map_err(|bad| {
        let is_bad = |glob: &String| Exclude::new(&[glob]).is_err();
        let at = globs.iter().position(is_bad).unwrap_or_default();
        let wrong = written[at].wrong("exclude", &bad.to_string());
        wrong.hint(format!("for example {EXAMPLE_OF_EXCLUDE}"))
    })
}

/// Whether no path matches this glob: every path that is asked about is absolute.
fn begins_nowhere(glob: &str) -> bool {
    let glob = glob.trim_end_matches('/');
    let begins_anywhere = glob.starts_with(['*', '?', '[', '{']);
    glob.contains('/') && !begins_anywhere && !Path::new(glob).is_absolute()
}

/// The folders that the agents' settings in a project name.
fn roots_of_project(surroundings: &Surroundings, project: &Path) -> Vec<RootSpec> {
    match project.is_absolute() {
        true => surroundings.ask(project, |environment| {
            locations::project_roots(environment, project)
        }),
        false => Vec::new(),
    }
}

/// A root that the file names.
fn root_of_file(written: &Written, environment: &Environment<'_>) -> Result<RootSpec, BadSetting> {
    let text = &written.text;
    let wrong = |what: &str| written.wrong("roots", &format!("{text}: {what}"));
    let place = text.split_once(':').map_or("", |(_, place)| place);
    if let Some(hint) = without_variable(place) {
        return Err(wrong("the folder begins with a variable").hint(hint));
    }
    parse_root(text, RootOrigin::File, environment).map_err(|bad| bad.said(wrong, EXAMPLE_OF_ROOTS))
}

/// Why a text names no root.
#[derive(Debug)]
enum BadRoot {
    /// It is not `FORMAT:DIR`.
    Shape,
    /// Nothing has this name.
    Name(String),
}

impl BadRoot {
    /// As `wrong` says where it stands, with an example of what may stand there.
    fn said(&self, wrong: impl Fn(&str) -> BadSetting, example: &str) -> BadSetting {
        match self {
            Self::Shape => wrong("not FORMAT:DIR").hint(format!("for example {example}")),
            Self::Name(name) => wrong(&format!("no format or agent is called `{name}`"))
                .hint(format!("known names: {}", known_names().join(", "))),
        }
    }
}

/// Reads `FORMAT:DIR[=LABEL]`.
fn parse_root(
    text: &str,
    why: RootOrigin,
    environment: &Environment<'_>,
) -> Result<RootSpec, BadRoot> {
    let Some((name, place)) = text
        .split_once(':')
        .filter(|(name, place)| !name.is_empty() && !place.is_empty())
    else {
        return Err(BadRoot::Shape);
    };
    let Some(root) = RootSpec::named(name, place) else {
        return Err(BadRoot::Name(name.to_owned()));
    };
    let expand = |place: &str| lasting(&locations::expand(Path::new(place), environment));
    let whole = expand(place);
    let (path, label) = match place.rsplit_once('=') {
        // A folder may have `=` in its name.
        Some((dir, label)) if !dir.is_empty() && !label.is_empty() && !whole.exists() => {
            (expand(dir), Some(label.to_owned()))
        }
        _ => (whole, None),
    };
    Ok(RootSpec {
        path,
        label,
        why,
        ..root
    })
}

/// Names that `--root` and `--agent` take. (`--root` takes those of dialects too.)
pub fn known_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    for format in FORMATS.iter().map(|format| format.about()) {
        if !names.contains(&format.family) {
            names.push(format.name);
        }
    }
    names
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn one_folder_is_one_root_whatever_its_names() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", real.join("link")).unwrap();
        let at = |name: &str| format!("{}/{name}", real.display());
        let mut roots = Vec::new();
        for text in [
            "a=first",
            "a/",
            "a/b/..",
            "link",
            "./a/./",
            "link/../a",
            "link=last",
        ] {
            add(&mut roots, parse(&format!("pi:{}", at(text))).unwrap());
        }
        let [root] = &roots[..] else {
            panic!("{roots:?}");
        };
        assert_eq!(root.path, real.join("a"));
        assert_eq!(root.label.as_deref(), Some("last"));
        // Copies of another machine's sessions stay that.
        roots[0].host = Some("desk".to_owned());
        add(&mut roots, parse(&format!("pi:{}", at("a"))).unwrap());
        assert_eq!(roots[0].host.as_deref(), Some("desk"));
        // Of another agent's format it is another.
        add(&mut roots, parse(&format!("clido:{}", at("a"))).unwrap());
        assert_eq!(roots.len(), 2);
        // One that is not there yet keeps its name.
        let missing = parse(&format!("pi:{}", at("a/../missing"))).unwrap();
        assert_eq!(missing.path, real.join("a/../missing"));
    }

    fn parse(text: &str) -> Result<RootSpec, BadRoot> {
        let environment = Environment {
            home: Some("/home/ada".into()),
            data_dir: None,
            var: &|_| None,
            cwd: "/here".into(),
            read_settings: false,
        };
        parse_root(text, RootOrigin::Flag, &environment)
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
        assert_eq!(said("indusagi:/b"), "indusagi indusagi /b None");
        assert_eq!(said("pindusagi:/b"), "indusagi pindusagi /b None");
        assert_eq!(said("clido:b/c"), "clido clido /here/b/c None");
        assert_eq!(said("pi:/b="), "pi pi /b= None");
        for refused in ["/b", "pi", "pi:", ":/b", "vim:/b"] {
            assert_eq!(said(refused), "refused", "{refused}");
        }
    }
}
