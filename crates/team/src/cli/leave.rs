//! How is all of it removed from this machine?

use clap::Args;
use sessionary::with_causes;
use sessionary_team::Error;
use sessionary_team::push::{self, TakenBack};

use crate::context::Context;
use crate::output::{Outcome, print};
use crate::revoke::say_taken_back;

/// Take everything of this machine back, and remove all that this program has written here
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team leave\n  \
    sessionary team leave --keep   also where the store cannot be reached\n\n\
    Removed are the settings and the copies of other machines' sessions, from the index too; sessions of this machine are \
    not touched.")]
pub struct Leave {
    /// Leave what is shared in the store, from which it cannot be taken back later
    #[arg(long)]
    keep: bool,
}

pub fn run(args: &Leave, context: &Context) -> Result<Outcome, Error> {
    let lock = context.lock()?;
    let settings = context.settings()?;
    let back = match args.keep {
        true => TakenBack::default(),
        false => {
            let mut store = context.store(&settings.store)?;
            push::take_back(&mut *store, &settings, false, |_| true)?
        }
    };
    if !back.problems.is_empty() {
        // Without the settings nothing could be taken back any more.
        return say_taken_back(&back, false, context);
    }
    // The settings go last: what was cut off before, another `leave` ends.
    context.data.remove_copies()?;
    context
        .forget_other_machines()
        .map_err(|error| still_known(error, args.keep))?;
    context.data.remove(lock)?;
    let outcome = say_taken_back(&back, false, context)?;
    if !context.json {
        print("The settings and the copies of other machines' sessions are removed.")?;
    }
    Ok(outcome)
}

/// The index still holds what the copies said.
fn still_known(error: Error, keep: bool) -> Error {
    let leave = match keep {
        true => "leave --keep",
        false => "leave",
    };
    let why = with_causes(&error);
    Error::refused(
        format!("what the index has read of other machines' sessions is there still: {why}"),
        format!("`sessionary team {leave}` again removes it, and the settings"),
    )
}
