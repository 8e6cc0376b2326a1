//! When are keys and tokens left out of what is printed, and was any?

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

use sessionary::format::terminal::seen;
use sessionary::redact;
pub use sessionary::redact::MARK;
use sessionary::settings::Redact;

use crate::agents;

/// As it stands in the configuration file.
pub fn name(when: Redact) -> &'static str {
    match when {
        Redact::Never => "never",
        Redact::NotATerminal => "not-a-terminal",
        Redact::Always => "always",
    }
}

/// Whether what goes to standard output now is redacted.
pub fn now(when: Redact) -> bool {
    match when {
        Redact::Never => false,
        Redact::NotATerminal => !io::stdout().is_terminal() || agents::runs_this(),
        Redact::Always => true,
    }
}

/// Something was left out.
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Whether anything was left out so far.
pub fn left_out() -> bool {
    LEFT_OUT.load(Ordering::Relaxed)
}

/// The text with [`MARK`] in place of its secrets; `None` when there are none.
pub fn redacted(text: &str) -> Option<String> {
    let redacted = redact::redacted(text)?;
    LEFT_OUT.store(true, Ordering::Relaxed);
    Some(redacted)
}

/// As [`redacted`], with as many lines as before.
pub fn redacted_by_line(text: &str) -> Option<String> {
    let redacted = redact::redacted_by_line(text)?;
    LEFT_OUT.store(true, Ordering::Relaxed);
    Some(redacted)
}

thread_local! {
    /// What [`noting`] has found on this thread.
    static FOUND: RefCell<Vec<FoundSecret>> = const { RefCell::new(Vec::new()) };
}

/// A secret that was found, without its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FoundSecret {
    /// The name of the rule that found it.
    pub rule: &'static str,
    /// A hash of the value, by which this process knows it again.
    value: u64,
}

/// As [`redacted`], for what is not shown: [`found`] gives what was found.
pub fn noting(text: &str) -> Option<String> {
    FOUND.with_borrow_mut(|found| {
        redact::masked(text, |secret| {
            let mut hasher = DefaultHasher::new();
            seen(text[secret.range.clone()].into()).hash(&mut hasher);
            found.push(FoundSecret {
                rule: secret.rule,
                value: hasher.finish(),
            });
        })
    })
}

/// The secrets that [`noting`] has masked since this was asked last.
pub fn found() -> Vec<FoundSecret> {
    FOUND.take()
}
