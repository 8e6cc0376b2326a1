//! What has the system start the watcher at every login? A unit of systemd, or on macOS an agent of
//! launchd.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sessionary::{Config, RootOrigin};

use crate::again;
use crate::args::Global;
use crate::output::html::escaped;
use crate::places;

/// What it is called, in files and in commands.
const UNIT: &str = "sessionary-watch.service";
const AGENT: &str = "sessionary.watch";

/// Variables that say where things are, beside those that name roots.
const PLACES: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];

/// The file that the system reads.
pub struct Autostart {
    pub path: PathBuf,
    pub content: String,
}

/// Where the file is, or would be; `None` on systems that have none.
pub fn path() -> Option<PathBuf> {
    let around = places::surroundings();
    match env::consts::OS {
        "macos" => Some(
            around
                .home?
                .join("Library/LaunchAgents")
                .join(format!("{AGENT}.plist")),
        ),
        "linux" => Some(around.config_dir()?.join("systemd/user").join(UNIT)),
        _ => None,
    }
}

impl Autostart {
    /// Of a watcher that watches what this command would.
    pub fn new(global: &Global, config: &Config) -> io::Result<Option<Autostart>> {
        let Some(path) = path() else {
            return Ok(None);
        };
        let words = command_line(global, config)?;
        let variables = variables(config)?;
        let content = match env::consts::OS {
            "macos" => plist(&words, &variables),
            _ => unit(&words, &variables),
        };
        Ok(Some(Autostart { path, content }))
    }

    /// Whether another file is there: an older one of ours, or one that somebody has edited.
    pub fn replaces_another(&self) -> bool {
        fs::read(&self.path).is_ok_and(|there| there != self.content.as_bytes())
    }

    /// Write the file and have the system start what it names. `false`: the file is there, but the
    /// system would not.
    pub fn install(&self) -> io::Result<bool> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // What runs by an older file ends first.
        stop(&self.path);
        fs::write(&self.path, &self.content)?;
        Ok(match env::consts::OS {
            "macos" => done(
                "launchctl",
                &["load".as_ref(), "-w".as_ref(), self.path.as_ref()],
            ),
            _ => systemctl(&["daemon-reload"]) && systemctl(&["enable", "--now", UNIT]),
        })
    }
}

/// What a person types to start it.
pub fn by_hand(path: &Path) -> String {
    match env::consts::OS {
        "macos" => format!("launchctl load -w {}", path.display()),
        _ => format!("systemctl --user enable --now {UNIT}"),
    }
}

/// End what runs, and have the system start it no more. `false`: there was no such file.
pub fn remove() -> io::Result<bool> {
    let Some(path) = path().filter(|path| path.is_file()) else {
        return Ok(false);
    };
    stop(&path);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if env::consts::OS == "linux" {
        systemctl(&["daemon-reload"]);
    }
    Ok(true)
}

fn stop(path: &Path) {
    if path.is_file() {
        match env::consts::OS {
            "macos" => done(
                "launchctl",
                &["unload".as_ref(), "-w".as_ref(), path.as_ref()],
            ),
            _ => systemctl(&["disable", "--now", UNIT]),
        };
    }
}

fn systemctl(arguments: &[&str]) -> bool {
    let all = ["--user"].iter().chain(arguments).map(OsStr::new);
    done("systemctl", &all.collect::<Vec<_>>())
}

fn done(program: &str, arguments: &[&OsStr]) -> bool {
    let ran = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ran.is_ok_and(|status| status.success())
}

/// The watcher with all that was said of index and roots: nobody types it again.
fn command_line(global: &Global, config: &Config) -> io::Result<Vec<String>> {
    let mut words = vec![
        again::absolute(&again::program()?)?,
        "--index".into(),
        again::absolute(&config.index_dir)?,
    ];
    words.extend(again::sessions_meant(global, config)?);
    words.push("watch".into());
    Ok(words)
}

/// Variables by which roots were found: the system does not read a shell's settings.
fn variables(config: &Config) -> io::Result<Vec<(String, String)>> {
    let mut names: Vec<&str> = PLACES.to_vec();
    names.extend(config.roots.iter().filter_map(|root| match &root.why {
        RootOrigin::Variable(name) => Some(name.as_str()),
        _ => None,
    }));
    names.sort_unstable();
    names.dedup();
    let set = |name: &str| {
        let value = env::var_os(name)?;
        let is_relative = Path::new(&value).is_relative();
        // Relative ones mean nothing there, and another folder in the system's hands than here.
        if is_relative && PLACES.contains(&name) {
            return None;
        }
        let is_path = is_relative && !value.is_empty() && !is_expanded(&value);
        let value = match is_path {
            true => std::path::absolute(&value).map(PathBuf::into_os_string),
            false => Ok(value),
        };
        Some(
            value
                .and_then(again::text)
                .map(|value| (name.to_owned(), value)),
        )
    };
    names.into_iter().filter_map(set).collect()
}

/// Whether an agent reads more from a value than a path: `~/x`, `file:///x`.
fn is_expanded(value: &OsStr) -> bool {
    let bytes = value.as_encoded_bytes();
    bytes.starts_with(b"~") || bytes.starts_with(b"file:")
}

fn unit(words: &[String], variables: &[(String, String)]) -> String {
    let mut command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    if let Some(program) = command.first_mut() {
        // No variable is looked for in it, so a dollar is a dollar.
        *program = program.replace("$$", "$");
    }
    let mut text = String::from(
        "# Written by `sessionary watch --install`; `sessionary watch --uninstall` removes it.\n\
         [Unit]\n\
         Description=Keep the index of coding-agent sessions up to date\n\n\
         [Service]\n",
    );
    for (name, value) in variables {
        // There a dollar is a dollar.
        let assigned = quoted(&format!("{name}={value}")).replace("$$", "$");
        let _ = writeln!(text, "Environment={assigned}");
    }
    let _ = writeln!(text, "ExecStart={}", command.join(" "));
    text.push_str(
        "# It ends when its program is replaced: then the new one starts.\n\
         Restart=always\n\
         RestartSec=10\n\
         # If it cannot start it waits longer each time (systemd 254 or newer).\n\
         RestartSteps=5\n\
         RestartMaxDelaySec=300\n\
         Nice=5\n\
         NoNewPrivileges=yes\n\
         StandardOutput=null\n\n\
         [Install]\n\
         WantedBy=default.target\n",
    );
    text
}

/// One word of a line of systemd's.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            // A specifier, and a variable.
            '%' | '$' => text.extend([character, character]),
            '\n' => text.push_str("\\n"),
            _ => text.push(character),
        }
    }
    text + "\""
}

fn plist(words: &[String], variables: &[(String, String)]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- Written by `sessionary watch --install`; `sessionary watch --uninstall` removes it. -->\n\
         <plist version=\"1.0\">\n<dict>\n\
         \t<key>Label</key>\n\t<string>{AGENT}</string>\n\
         \t<key>ProgramArguments</key>\n\t<array>\n"
    );
    for word in words {
        let _ = writeln!(text, "\t\t<string>{}</string>", escaped(word));
    }
    text.push_str("\t</array>\n");
    if !variables.is_empty() {
        text.push_str("\t<key>EnvironmentVariables</key>\n\t<dict>\n");
        for (name, value) in variables {
            let _ = writeln!(
                text,
                "\t\t<key>{}</key>\n\t\t<string>{}</string>",
                escaped(name),
                escaped(value)
            );
        }
        text.push_str("\t</dict>\n");
    }
    text.push_str(
        "\t<key>RunAtLoad</key>\n\t<true/>\n\
         \t<key>KeepAlive</key>\n\t<true/>\n\
         \t<key>ProcessType</key>\n\t<string>Background</string>\n\
         \t<key>StandardOutPath</key>\n\t<string>/dev/null</string>\n\
         </dict>\n</plist>\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_systemd_and_launchd_read_them() {
        let words = ["/a b/$x/sessionary", "--root", "pi:/50%/$x=\"l\\\""].map(str::to_owned);
        let line = r#"ExecStart="/a b/$x/sessionary" "--root" "pi:/50%%/$$x=\"l\\\"""#;
        assert!(unit(&words, &[]).lines().any(|found| found == line));
        let variables = [("X".to_owned(), "a&<b>$".to_owned())];
        assert!(plist(&words, &variables).contains("<string>a&amp;&lt;b&gt;$</string>"));
        assert!(unit(&words, &variables).contains("\nEnvironment=\"X=a&<b>$\"\n"));
    }
}
