//! Where could sessions be? Every place of every known agent, from an environment that the caller
//! hands in.
//!
//! The library never looks at the process's own variables or home folder: an [`Environment`] says
//! what they are. Only agents' settings files are read, and only when that is allowed.

use std::path::{Component, Path, PathBuf};

use crate::format::{AGENTS, Agent, FORMATS};
use crate::source::root::{RootOrigin, RootSpec};
use crate::stored_path::native;

mod environment;
mod foreign;
mod not_read;
mod of_new;
mod others;

pub use environment::Environment;
pub use foreign::foreign_roots;
pub use not_read::{NotRead, not_read};
pub use of_new::root_of_new;

/// Every place that is considered for every agent of [`AGENTS`], whether it exists or not.
///
/// ```
/// use sessionary::locations::{Environment, roots};
/// let roots = roots(&Environment {
///     home: Some("/home/ada".into()),
///     data_dir: Some("/home/ada/.local/share".into()),
///     var: &|_| None,
///     cwd: "/home/ada/code".into(),
///     read_settings: false,
/// });
/// assert!(roots.iter().any(|root| root.path.ends_with(".pi/agent/sessions")));
/// ```
pub fn roots(environment: &Environment<'_>) -> Vec<RootSpec> {
    let mut found = Vec::new();
    for agent in AGENTS {
        for root in agent_roots(agent, environment) {
            // A folder named twice is one root; the more usual layout was asked for first.
            if !found
                .iter()
                .any(|other: &RootSpec| other.is_same(&root, FORMATS))
            {
                found.push(root);
            }
        }
    }
    found
}

/// The folders that the settings of the project at `project` name, and those that agents keep in
/// it.
pub fn project_roots(environment: &Environment<'_>, project: &Path) -> Vec<RootSpec> {
    let there = Environment {
        cwd: project.to_path_buf(),
        ..environment.clone()
    };
    let of_agent = |agent| in_project(agent, &there, project);
    AGENTS.iter().flat_map(of_agent).collect()
}

/// What the settings of a project name, and what is kept in it.
fn in_project(agent: &Agent, environment: &Environment<'_>, project: &Path) -> Vec<RootSpec> {
    let named = agent
        .settings
        .and_then(|(_, relative)| settings_root(agent, environment, &project.join(relative)));
    let mut roots = Vec::from_iter(named);
    if agent.in_projects && environment.read_settings {
        let folder = project.join(agent.dir_default);
        let kept = agent.sessions.iter().map(|sessions| folder.join(sessions));
        let why = RootOrigin::Project(agent.dir_default.to_owned());
        let kept = kept.filter(|path| path.is_dir());
        roots.extend(kept.map(|path| root(agent, path, false, why.clone())));
    }
    roots
}

/// Expands a leading `~`, takes `file://` URLs, and makes the path absolute.
pub fn expand(path: &Path, environment: &Environment<'_>) -> PathBuf {
    let path = path
        .to_str()
        .and_then(file_url)
        .unwrap_or_else(|| path.to_path_buf());
    expand_tilde(&path, environment)
}

/// The sessions folder below the agent folder; that itself where sessions lie in it.
fn below(folder: &Path, sessions: &str) -> PathBuf {
    match sessions {
        "" => folder.to_path_buf(),
        sessions => folder.join(sessions),
    }
}

fn agent_roots(agent: &Agent, environment: &Environment<'_>) -> Vec<RootSpec> {
    let mut roots = Vec::new();
    let folder = agent_folder(agent, environment);
    if let Some((folder, why)) = &folder {
        let also = agent.dir_also.filter(|_| *why == RootOrigin::Default);
        let sessions = |folder: &Path| {
            let all = agent.sessions.iter();
            all.map(|sessions| below(folder, sessions))
                .collect::<Vec<_>>()
        };
        for path in sessions(folder) {
            roots.push(root(agent, path, false, why.clone()));
        }
        if let (Some((also, format)), Some(home)) = (also, &environment.home) {
            for path in sessions(&home.join(also)) {
                roots.push(RootSpec {
                    format: format.to_owned(),
                    ..root(agent, path, false, why.clone())
                });
            }
        }
    }
    if let (Some((_, why)), Some(home)) = (&folder, &environment.home)
        && *why == RootOrigin::Default
        && environment.read_settings
    {
        let before = agent.dirs_before.iter().map(|before| home.join(before));
        for folder in before.filter(|folder| folder.is_dir()) {
            let why = RootOrigin::EarlierName;
            let all = agent
                .sessions
                .iter()
                .map(|sessions| below(&folder, sessions));
            roots.extend(all.map(|path| root(agent, path, false, why.clone())));
        }
    }
    roots.extend(variable_roots(agent, environment));
    if let (Some((global, _)), Some((folder, _))) = (agent.settings, &folder) {
        roots.extend(settings_root(agent, environment, &folder.join(global)));
    }
    roots.extend(in_project(agent, environment, &environment.cwd));
    roots
}

/// The flat folders that variables name.
fn variable_roots(agent: &Agent, environment: &Environment<'_>) -> impl Iterator<Item = RootSpec> {
    agent.flat_variables.iter().filter_map(move |variable| {
        let value = (environment.var)(variable).filter(|value| !value.is_empty())?;
        let path = session_folder(agent, Path::new(&value), environment);
        Some(root(agent, path, true, variable_named(variable)))
    })
}

/// The folder below which the agent keeps everything, and what says so.
fn agent_folder(agent: &Agent, environment: &Environment<'_>) -> Option<(PathBuf, RootOrigin)> {
    let deciding = agent
        .dir_variables
        .iter()
        .find_map(|variable| Some((variable, (environment.var)(variable)?)));
    if let Some((variable, value)) = deciding
        && !value.is_empty()
    {
        return Some((
            agent_path(agent, Path::new(&value), environment),
            variable_named(variable),
        ));
    }
    if let Some((variable, below)) = agent.above_variable
        && let Some(value) = (environment.var)(variable).filter(|value| !value.is_empty())
    {
        return Some((
            agent_path(agent, Path::new(&value), environment).join(below),
            variable_named(variable),
        ));
    }
    let above = if agent.data_dir {
        environment.data_dir.as_ref()
    } else {
        environment.home.as_ref()
    };
    Some((above?.join(agent.dir_default), RootOrigin::Default))
}

fn variable_named(name: &str) -> RootOrigin {
    RootOrigin::Variable(name.to_owned())
}

fn settings_root(agent: &Agent, environment: &Environment<'_>, file: &Path) -> Option<RootSpec> {
    if !environment.read_settings {
        return None;
    }
    // Settings that cannot be read or parsed name no folder: the agent falls back to its default
    // too. Mostly there is none, and to ask for one costs less than to fail to open it.
    let bytes = file.exists().then(|| std::fs::read(file).ok())??;
    let settings: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let named = settings
        .get("sessionDir")?
        .as_str()
        .filter(|named| !named.is_empty())?;
    let path = session_folder(agent, Path::new(named), environment);
    Some(root(
        agent,
        path,
        true,
        RootOrigin::Setting(file.to_owned()),
    ))
}

fn root(agent: &Agent, path: PathBuf, flat: bool, why: RootOrigin) -> RootSpec {
    RootSpec {
        format: agent.format.to_owned(),
        flat,
        why,
        ..RootSpec::new(agent.name, native(path))
    }
}

fn agent_path(agent: &Agent, path: &Path, environment: &Environment<'_>) -> PathBuf {
    if agent.expands {
        expand_tilde(path, environment)
    } else {
        absolute(path, environment)
    }
}

fn session_folder(agent: &Agent, path: &Path, environment: &Environment<'_>) -> PathBuf {
    if agent.expands {
        expand(path, environment)
    } else {
        absolute(path, environment)
    }
}

fn expand_tilde(path: &Path, environment: &Environment<'_>) -> PathBuf {
    // Component by component, so that `~ada` and `~x/y` stay what they are.
    match (path.strip_prefix("~"), &environment.home) {
        (Ok(below), Some(home)) => absolute(&home.join(below), environment),
        _ => absolute(path, environment),
    }
}

/// Absolute, without `.` and doubled separators; `..` stays, for symlinks decide what it means.
fn absolute(path: &Path, environment: &Environment<'_>) -> PathBuf {
    let joined = environment.cwd.join(path);
    joined
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

/// The path that a `file://` URL names, as Node's `fileURLToPath` reads it, but for a `%` that
/// begins no escape: that stands for itself.
pub fn file_url(text: &str) -> Option<PathBuf> {
    let scheme = text
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file://"))?;
    let rest = &text[scheme.len()..];
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let slash = rest.find('/')?;
    let (host, path) = rest.split_at(slash);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = percent_decoded(path)?;
    // `file:///C:/x` names `C:/x`.
    let drive = path.as_bytes();
    let starts_with_drive = drive.len() > 2 && drive[1].is_ascii_alphabetic() && drive[2] == b':';
    Some(PathBuf::from(if cfg!(windows) && starts_with_drive {
        &path[1..]
    } else {
        &path
    }))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*first));
        rest = escaped.map_or(after, |_| &after[2..]);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// The roots with the given variables.
    fn all(variables: &[(&str, &str)], cwd: &Path, read_settings: bool) -> Vec<RootSpec> {
        let var = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        };
        let environment = Environment {
            home: Some("/home/ada".into()),
            data_dir: Some("/home/ada/.local/share".into()),
            var: &var,
            cwd: cwd.to_path_buf(),
            read_settings,
        };
        roots(&environment)
    }

    /// `agent path flat why`, one a line, with the given variables.
    fn places(variables: &[(&str, &str)], cwd: &Path, read_settings: bool) -> Vec<String> {
        all(variables, cwd, read_settings)
            .iter()
            .map(|root| {
                let layout = if root.flat { "flat" } else { "folders" };
                format!(
                    "{} {} {layout} {}",
                    root.agent,
                    root.path.display(),
                    root.why
                )
            })
            .collect()
    }

    fn of(agent: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let mut lines = places(variables, Path::new("/here"), false);
        lines.retain(|line| line.starts_with(agent));
        lines
    }

    #[test]
    #[cfg(unix)]
    fn defaults() {
        assert_eq!(
            places(&[], Path::new("/here"), false),
            [
                "pi /home/ada/.pi/agent/sessions folders default",
                "indusagi /home/ada/.indusagi/agent/sessions folders default",
                "indusagi /home/ada/.pindusagi/agent/sessions folders default",
                "clido /home/ada/.local/share/clido/sessions folders default",
                "agentuse /home/ada/.local/share/agentuse/project folders default",
                "claude /home/ada/.claude/projects folders default",
                "codex /home/ada/.codex/sessions folders default",
                "codex /home/ada/.codex/archived_sessions folders default",
                "copilot /home/ada/.copilot/session-state folders default",
                "cursor /home/ada/.cursor/projects folders default",
                "gemini /home/ada/.gemini/tmp folders default",
                "induscode /home/ada/.pindusagi/sessions folders default",
                "openclaw /home/ada/.openclaw/agents folders default",
                "opencode /home/ada/.local/share/opencode folders default",
                "qwen /home/ada/.qwen/projects folders default",
            ]
        );
    }

    #[test]
    #[cfg(unix)]
    fn codex_is_looked_for_in_projects_too() -> std::io::Result<()> {
        let project = tempfile::tempdir()?;
        let found = || {
            let all = all(&[("CODEX_HOME", "/x")], project.path(), true).into_iter();
            let codex = all.filter(|root| root.agent == "codex");
            codex.map(|root| root.path).collect::<Vec<_>>()
        };
        let own = ["/x/sessions", "/x/archived_sessions"].map(PathBuf::from);
        assert_eq!(found(), own);
        let sessions = project.path().join(".codex/sessions");
        std::fs::create_dir_all(&sessions)?;
        assert_eq!(found(), [&own[..], &[sessions]].concat());
        Ok(())
    }

    #[test]
    #[cfg(unix)]
    fn folders_of_earlier_names_are_looked_into() -> std::io::Result<()> {
        let home = tempfile::tempdir()?;
        let found = |state_dir: Option<&str>| {
            let environment = Environment {
                home: Some(home.path().to_path_buf()),
                data_dir: None,
                var: &|name| {
                    state_dir
                        .filter(|_| name == "OPENCLAW_STATE_DIR")
                        .map(OsString::from)
                },
                cwd: home.path().to_path_buf(),
                read_settings: true,
            };
            let all = roots(&environment).into_iter();
            let openclaw = all.filter(|root| root.agent == "openclaw");
            openclaw.map(|root| root.path).collect::<Vec<_>>()
        };
        let own = home.path().join(".openclaw/agents");
        assert_eq!(found(None), std::slice::from_ref(&own));
        std::fs::create_dir(home.path().join(".clawdbot"))?;
        assert_eq!(found(None), [own, home.path().join(".clawdbot/agents")]);
        assert_eq!(found(Some("~/x")), [home.path().join("x/agents")]);
        Ok(())
    }

    #[test]
    #[cfg(unix)]
    fn programs_of_one_name_have_dialects_and_share_folders() {
        let formats = |variables: &[(&str, &str)]| -> Vec<String> {
            let roots = all(variables, Path::new("/here"), false).into_iter();
            let roots = roots.filter(|root| ["pi", "indusagi"].contains(&&*root.agent));
            roots.map(|root| root.format).collect()
        };
        assert_eq!(formats(&[]), ["pi", "indusagi", "pindusagi"]);
        let shared = [("PI_CODING_AGENT_DIR", "/x"), ("INDUSAGI_AGENT_DIR", "/x")];
        assert_eq!(formats(&shared), ["pi"]);
    }

    #[test]
    #[cfg(unix)]
    fn agentuse_asks_one_variable_on_every_platform() {
        let agent = |value: &str| of("agentuse", &[("XDG_DATA_HOME", value)])[0].clone();
        assert_eq!(
            agent("/x"),
            "agentuse /x/agentuse/project folders $XDG_DATA_HOME"
        );
        assert_eq!(
            agent("~/x"),
            "agentuse /here/~/x/agentuse/project folders $XDG_DATA_HOME"
        );
        assert_eq!(
            agent(""),
            "agentuse /home/ada/.local/share/agentuse/project folders default"
        );
    }

    #[test]
    #[cfg(unix)]
    fn pi_variables_expand_the_tilde_and_take_urls() {
        assert_eq!(
            of("pi", &[("PI_CODING_AGENT_DIR", "~/x")]),
            ["pi /home/ada/x/sessions folders $PI_CODING_AGENT_DIR"]
        );
        assert_eq!(
            of("pi", &[("PI_CODING_AGENT_DIR", "")]),
            ["pi /home/ada/.pi/agent/sessions folders default"]
        );
        assert_eq!(
            of("pi", &[("PI_CODING_AGENT_DIR", "~")])[0],
            "pi /home/ada/sessions folders $PI_CODING_AGENT_DIR"
        );
        assert_eq!(
            of("pi", &[("PI_CODING_AGENT_DIR", "~bob/x")])[0],
            "pi /here/~bob/x/sessions folders $PI_CODING_AGENT_DIR"
        );
        for (value, path) in [
            ("~/flat", "/home/ada/flat"),
            ("flat", "/here/flat"),
            ("./flat/", "/here/flat"),
            ("file:///srv/a%20b", "/srv/a b"),
            ("file://localhost/srv", "/srv"),
            ("file:///srv/100%", "/srv/100%"),
            ("file://elsewhere/srv", "/here/file:/elsewhere/srv"),
        ] {
            assert_eq!(
                of("pi", &[("PI_CODING_AGENT_SESSION_DIR", value)]),
                [
                    "pi /home/ada/.pi/agent/sessions folders default".to_owned(),
                    format!("pi {path} flat $PI_CODING_AGENT_SESSION_DIR"),
                ]
            );
        }
    }

    #[test]
    #[cfg(unix)]
    fn indusagi_asks_its_variables_in_its_own_order() {
        let agent = |variables: &[(&str, &str)]| of("indusagi", variables)[0].clone();
        assert_eq!(
            agent(&[
                ("INDUSAGI_CODING_AGENT_DIR", "/b"),
                ("INDUSAGI_AGENT_DIR", "/a"),
                ("INDUSAGI_DIR", "/c")
            ]),
            "indusagi /a/sessions folders $INDUSAGI_AGENT_DIR"
        );
        assert_eq!(
            agent(&[("INDUSAGI_CODING_AGENT_DIR", "/b")]),
            "indusagi /b/sessions folders $INDUSAGI_CODING_AGENT_DIR"
        );
        // An empty first variable hides the second one.
        assert_eq!(
            agent(&[
                ("INDUSAGI_AGENT_DIR", ""),
                ("INDUSAGI_CODING_AGENT_DIR", "/b")
            ]),
            "indusagi /home/ada/.indusagi/agent/sessions folders default"
        );
        assert_eq!(
            agent(&[("INDUSAGI_DIR", "~/c")]),
            "indusagi /home/ada/c/agent/sessions folders $INDUSAGI_DIR"
        );
    }

    /// The Python program asks the same variable as indusagi, for the folder above.
    #[test]
    #[cfg(unix)]
    fn induscode_asks_its_variables_in_its_own_order() {
        let agent = |variables: &[(&str, &str)]| of("induscode", variables)[0].clone();
        assert_eq!(
            agent(&[("INDUSAGI_HOME", "~/home")]),
            "induscode /home/ada/home/sessions folders $INDUSAGI_HOME"
        );
        assert_eq!(
            agent(&[
                ("INDUSAGI_HOME", "/home"),
                ("INDUSAGI_CODING_AGENT_DIR", "dir")
            ]),
            "induscode /here/dir/sessions folders $INDUSAGI_CODING_AGENT_DIR"
        );
    }

    #[test]
    #[cfg(unix)]
    fn clido_expands_nothing() {
        assert_eq!(
            of(
                "clido",
                &[("CLIDO_DATA_DIR", "~/c"), ("CLIDO_SESSION_DIR", "/flat")]
            ),
            [
                "clido /here/~/c/sessions folders $CLIDO_DATA_DIR",
                "clido /flat flat $CLIDO_SESSION_DIR",
            ]
        );
    }

    #[test]
    #[cfg(unix)]
    fn settings_name_flat_folders() -> std::io::Result<()> {
        let project = tempfile::tempdir()?;
        let agent = tempfile::tempdir()?;
        std::fs::create_dir(project.path().join(".pi"))?;
        std::fs::write(
            project.path().join(".pi/settings.json"),
            r#"{"sessionDir":"mine"}"#,
        )?;
        std::fs::write(
            agent.path().join("settings.json"),
            r#"{"sessionDir":"~/all","theme":"dark"}"#,
        )?;
        let variables = [(
            "PI_CODING_AGENT_DIR",
            agent.path().to_str().unwrap_or_default(),
        )];
        let mut lines = places(&variables, project.path(), true);
        lines.retain(|line| line.starts_with("pi"));
        assert_eq!(
            lines,
            [
                format!(
                    "pi {}/sessions folders $PI_CODING_AGENT_DIR",
                    agent.path().display()
                ),
                format!(
                    "pi /home/ada/all flat sessionDir of {}/settings.json",
                    agent.path().display()
                ),
                format!(
                    "pi {0}/mine flat sessionDir of {0}/.pi/settings.json",
                    project.path().display()
                ),
            ]
        );
        // Settings that are no JSON name nothing.
        std::fs::write(agent.path().join("settings.json"), "{")?;
        std::fs::write(
            project.path().join(".pi/settings.json"),
            r#"{"sessionDir":7}"#,
        )?;
        lines = places(&variables, project.path(), true);
        lines.retain(|line| line.starts_with("pi"));
        assert_eq!(lines.len(), 1);
        Ok(())
    }

    #[test]
    fn a_folder_named_twice_is_one_root() {
        let lines = of(
            "pi",
            &[("PI_CODING_AGENT_SESSION_DIR", "~/.pi/agent/sessions")],
        );
        assert_eq!(lines.len(), 1, "{lines:?}");
    }
}
