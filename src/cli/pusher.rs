//! Who sends what has changed, where the user lets `watch` do that? `sessionary-team push`, one at
//! a time, on a thread that nobody waits for.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::command::team;
use crate::output::text::plain_line;

/// Between two pushes passes so much time, or as much as the last one took: what is written without
/// a pause keeps no more than half of a core busy.
const PAUSE: Duration = Duration::from_millis(250);

/// Pushes when it is told to, until it is dropped. A push that is under way then runs to its end.
pub struct Pusher(SyncSender<()>);

impl Pusher {
    /// With this program. Each line that it says goes to `talk`, once until it says another.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(program: Command, talk: impl Fn(&str) + Send + 'static) -> io::Result<Pusher> {
        // What changes during a push needs one more, however much that is.
        let (tell, told) = sync_channel(1);
        let push = move || push_when_told(program, &told, talk);
        Builder::new().name("pusher".to_owned()).spawn(push)?;
        Ok(Pusher(tell))
    }

    /// Something may be there to be sent.
    pub fn push(&self) {
        let _ = self.0.try_send(());
    }
}

fn push_when_told(mut program: Command, told: &Receiver<()>, talk: impl Fn(&str)) {
    program.arg("push").stdin(Stdio::null());
    program.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut said = Vec::new();
    while told.recv().is_ok() {
        let began = Instant::now();
        let says = said_by(&mut program);
        if says != said {
            says.iter().for_each(|line| talk(line));
            said = says;
        }
        sleep(began.elapsed().max(PAUSE));
    }
}

/// What a push said, or why there was none.
fn said_by(program: &mut Command) -> Vec<String> {
    match program.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            said.lines().map(plain_line).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let missing = team::missing();
            let what = format!("`team.auto` is set, but {}", missing.message());
            let hints = missing.hints().iter().map(|hint| format!("hint: {hint}"));
            std::iter::once(what).chain(hints).collect()
        }
        Err(error) => vec![format!("sessionary-team: {error}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_program_is_missing_it_is_said_where_it_comes_from() {
        let said = said_by(&mut Command::new("/nowhere/sessionary-team")).join("\n");
        let begins = "`team.auto` is set, but sessionary-team is neither beside";
        assert!(said.starts_with(begins), "{said}");
        assert!(
            said.contains("\nhint: `pip install sessionary-team`"),
            "{said}"
        );
    }
}
