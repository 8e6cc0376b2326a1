//! In which folder does an agent itself begin a session?

use crate::format::Agent;
use crate::source::root::RootSpec;

use super::{Environment, agent_folder, agent_roots, settings_root, variable_roots};

/// The folder for a session that this agent begins in the [current directory](Environment::cwd) and
/// keeps in files of this format: the one that a variable names, or else the directory's settings,
/// or else the agent's own settings, or else its usual one. (pi 0.87.1, clido)
///
/// ```
/// use sessionary::format::agent_called;
/// use sessionary::locations::{Environment, root_of_new};
/// let environment = Environment {
///     home: Some("/home/ada".into()),
///     data_dir: None,
///     var: &|name| (name == "PI_CODING_AGENT_SESSION_DIR").then(|| "~/all".into()),
///     cwd: "/home/ada/code".into(),
///     read_settings: false,
/// };
/// let root = agent_called("pi").and_then(|pi| root_of_new(pi, "pi", &environment));
/// assert!(root.is_some_and(|root| root.flat && root.path.ends_with("ada/all")));
/// ```
pub fn root_of_new(agent: &Agent, format: &str, environment: &Environment<'_>) -> Option<RootSpec> {
    // Another program of that name asks none of these.
    let named = (agent.format == format).then(|| named(agent, environment));
    let usual = || {
        let mut roots = agent_roots(agent, environment).into_iter();
        roots.find(|root| root.format == format && !root.flat)
    };
    named.flatten().or_else(usual)
}

/// The one folder for all directories that the user has named.
fn named(agent: &Agent, environment: &Environment<'_>) -> Option<RootSpec> {
    if let Some(root) = variable_roots(agent, environment).next() {
        return Some(root);
    }
    let (own, of_directory) = agent.settings?;
    let of_directory = environment.cwd.join(of_directory);
    settings_root(agent, environment, &of_directory).or_else(|| {
        let (folder, _) = agent_folder(agent, environment)?;
        settings_root(agent, environment, &folder.join(own))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use crate::format::agent_called;

    use super::*;

    #[test]
    fn each_place_gives_way_to_the_one_before_it() -> std::io::Result<()> {
        let place = tempfile::tempdir()?;
        let (home, project) = (place.path().join("home"), place.path().join("project"));
        fs::create_dir_all(home.join(".pi/agent"))?;
        fs::create_dir_all(project.join(".pi"))?;
        let found = |agent: &str, format: &str, variables: &[(&str, &str)]| {
            let is = |name: &str| variables.iter().find(|(known, _)| *known == name);
            let environment = Environment {
                home: Some(home.clone()),
                data_dir: Some("/data".into()),
                var: &|name| is(name).map(|(_, value)| value.into()),
                cwd: project.clone(),
                read_settings: true,
            };
            let root = root_of_new(agent_called(agent)?, format, &environment)?;
            let path = root.path.display().to_string();
            let path = path.replace(&home.display().to_string(), "HOME");
            let path = path.replace(&project.display().to_string(), "HERE");
            Some(format!(
                "{path} {}",
                if root.flat { "flat" } else { "folders" }
            ))
        };
        let pi = |variables: &[(&str, &str)]| found("pi", "pi", variables).unwrap_or_default();
        assert_eq!(pi(&[]), "HOME/.pi/agent/sessions folders");
        let settings = home.join(".pi/agent/settings.json");
        fs::write(settings, r#"{"sessionDir":"~/all"}"#)?;
        assert_eq!(pi(&[]), "HOME/all flat");
        let settings = project.join(".pi/settings.json");
        fs::write(settings, r#"{"sessionDir":"mine"}"#)?;
        assert_eq!(pi(&[]), "HERE/mine flat");
        let variable = [("PI_CODING_AGENT_SESSION_DIR", "/var")];
        assert_eq!(pi(&variable), "/var flat");

        let clido = |variables: &[(&str, &str)]| found("clido", "clido", variables);
        assert_eq!(clido(&[]).as_deref(), Some("/data/clido/sessions folders"));
        let variable = [("CLIDO_SESSION_DIR", "/var")];
        assert_eq!(clido(&variable).as_deref(), Some("/var flat"));
        // Programs of one name look in places of their own.
        let variable = [("INDUSAGI_CODING_AGENT_SESSION_DIR", "/var")];
        let indusagi = |format| found("indusagi", format, &variable).unwrap_or_default();
        assert_eq!(indusagi("indusagi"), "/var flat");
        let own = "HOME/.pindusagi/agent/sessions folders";
        assert_eq!(indusagi("pindusagi"), own);
        Ok(())
    }
}
