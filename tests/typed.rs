//! What does a program show to somebody who types? On a terminal that `script` makes.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{env, fs, thread};

use crate::sandbox::Sandbox;

/// Nothing takes so long: what has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program on a terminal.
pub struct Typed {
    script: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl Typed {
    /// Starts it with these arguments, our command beside it on the path; `None` where it is
    /// missing, or what makes a terminal.
    pub fn at(home: &Sandbox, program: &str, arguments: &str) -> Option<Self> {
        let own = Path::new(env!("CARGO_BIN_EXE_sessionary"));
        let own = own.parent().expect("a folder").display();
        let path = env::var("PATH").unwrap_or_default();
        let path = format!("{}:{own}:{path}", home.home.join("bin").display());
        let has = |name: &str| env::split_paths(&path).any(|at| at.join(name).is_file());
        if !has("script") || !has(program) {
            eprintln!("SKIPPED: there is no {program}, or no `script`");
            return None;
        }
        let mut script = Command::new("script")
            .args(["-qfec", &format!("{program} {arguments}"), "/dev/null"])
            .env_clear()
            .env("HOME", &home.home)
            .env("PATH", path)
            .env("CLIDO_DATA_DIR", home.home.join("clido"))
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm")
            .current_dir(&home.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let (tell, shown) = channel();
        let mut out = script.stdout.take().expect("its output");
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut bytes) {
                if tell.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = script.stdin.take().expect("its input");
        Some(Self {
            script,
            keys,
            shown,
            text: String::new(),
        })
    }

    /// Types this, and forgets what was shown before.
    pub fn types(&mut self, keys: &str) {
        self.text.clear();
        self.keys.write_all(keys.as_bytes()).expect("it reads");
        self.keys.flush().expect("it reads");
    }

    /// Waits until this is shown, and gives all that was since the last keys.
    pub fn shows(&mut self, wanted: &str) -> &str {
        while !self.text.contains(wanted) {
            let more = self.shown.recv_timeout(PATIENCE);
            let more = more.unwrap_or_else(|_| panic!("no {wanted:?} in {:?}", self.text));
            self.text.push_str(&String::from_utf8_lossy(&more));
        }
        &self.text
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Waits until something is so.
pub fn until<T>(what: &str, mut is_so: impl FnMut() -> Option<T>) -> T {
    let pause = Duration::from_millis(20);
    let tries = PATIENCE.as_millis() / pause.as_millis();
    for _ in 0..tries {
        if let Some(found) = is_so() {
            return found;
        }
        thread::sleep(pause);
    }
    panic!("{what}");
}

/// An agent that says where it was started, and with what.
pub fn agent(home: &Sandbox) {
    let agent = home.write("bin/pi", "#!/bin/sh\necho \"agent in $PWD: $*\"\n");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("it may run");
}
