//! Is a push or pull that was killed at any moment made up for by the next one?
//!
//! `SESSIONARY_TEAM_KILLS` says how often they are killed, `SESSIONARY_TEAM_SEED` where the random
//! moments begin.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::machine::{BOAT, Folder, Machine, tree};

/// A number that somebody may set.
pub fn number(variable: &str, or: u64) -> u64 {
    env::var(variable)
        .ok()
        .and_then(|of| of.parse().ok())
        .unwrap_or(or)
}

/// Random moments, the same ones each time.
pub fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(number("SESSIONARY_TEAM_SEED", 23))
}

/// A machine on which sessions come, grow, are rewritten and go.
pub struct Writer {
    pub machine: Machine,
    sessions: Vec<PathBuf>,
    written: usize,
}

impl Writer {
    pub fn of(machine: Machine) -> Writer {
        Writer {
            machine,
            sessions: Vec::new(),
            written: 0,
        }
    }

    pub fn step(&mut self, random: &mut ChaCha8Rng) {
        let text = "word ".repeat(1 << random.random_range(0..14));
        match random.random_range(0..8) {
            0 | 1 if self.sessions.len() < 12 => {
                self.written += 1;
                let id = format!("s{}", self.written);
                self.sessions
                    .push(self.machine.write_session(BOAT, &id, &[&text, "answer"]));
            }
            2 if !self.sessions.is_empty() => {
                let at = random.random_range(0..self.sessions.len());
                let header = fs::read_to_string(&self.sessions[at]).unwrap();
                let header = header.lines().next().unwrap().to_owned() + "\n";
                fs::write(&self.sessions[at], header).unwrap();
                self.machine.say(&self.sessions[at], &text);
            }
            3 if self.sessions.len() > 4 => {
                let path = self
                    .sessions
                    .swap_remove(random.random_range(0..self.sessions.len()));
                fs::remove_file(path).unwrap();
            }
            _ if !self.sessions.is_empty() => {
                let at = random.random_range(0..self.sessions.len());
                self.machine.say(&self.sessions[at], &text);
            }
            _ => {}
        }
    }

    /// Its files, as they are below the root of pi.
    pub fn files(&self) -> Vec<Vec<u8>> {
        let files = tree(&self.machine.home().join(".pi/agent/sessions"));
        files.into_values().collect()
    }
}

/// Run a verb, and end it with SIGKILL at a random moment; whether it was still running.
pub fn kill(machine: &Machine, verb: &[&str], within: Duration, random: &mut ChaCha8Rng) -> bool {
    let mut command = machine.command(verb);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    sleep(within.mul_f64(random.random_range(0.0..1.0)));
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

/// How long a verb takes that has something to do.
fn duration(machine: &Machine, verb: &[&str]) -> Duration {
    let start = Instant::now();
    machine.json(verb);
    start.elapsed()
}

#[test]
fn kills_leave_no_difference() {
    let folder = Folder::new();
    let sharing = |name: &str| Machine::sharing(name, &folder.address());
    kill_often(&sharing, &|| tree(folder.path()).into_keys().collect());
}

/// Push and pull are killed at random moments while sessions come, grow and go; now and then both
/// run to their end, and then all is equal. `names` says what is in the store.
pub fn kill_often(sharing: &dyn Fn(&str) -> Machine, names: &dyn Fn() -> Vec<String>) {
    let kills = number("SESSIONARY_TEAM_KILLS", 200);
    let mut random = seeded();
    let reader = sharing("reader");
    let mut writer = Writer::of(sharing("writer"));
    for _ in 0..20 {
        writer.step(&mut random);
    }
    let mut push_takes = duration(&writer.machine, &["push", "--prune"]);
    let mut pull_takes = duration(&reader, &["pull"]);
    let mut killed = 0;
    while killed < kills {
        for _ in 0..random.random_range(1..4) {
            writer.step(&mut random);
        }
        let (machine, verb, takes) = match random.random_bool(0.5) {
            true => (&writer.machine, &["push", "--prune"][..], &mut push_takes),
            false => {
                writer.machine.json(&["push", "--prune"]);
                (&reader, &["pull"][..], &mut pull_takes)
            }
        };
        // One that was done before counts for nothing, and the next moment is earlier.
        if !kill(machine, verb, *takes, &mut random) {
            *takes = takes.mul_f64(0.9);
            continue;
        }
        *takes = takes.mul_f64(1.05);
        killed += 1;
        if killed % 5 == 0 || killed == kills {
            writer.machine.json(&["push", "--prune"]);
            reader.json(&["pull"]);
            let copies: Vec<Vec<u8>> = reader.copies().into_values().collect();
            assert!(copies == writer.files(), "after {killed} kills");
            assert_eq!(writer.machine.json(&["push", "--prune"])["sent_blocks"], 0);
            let names = names();
            assert!(
                !names.iter().any(|name| name.contains(".unfinished-")),
                "{names:?}"
            );
        }
    }
}
