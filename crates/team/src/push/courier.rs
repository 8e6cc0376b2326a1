//! Who brings things to the store? A thread of its own, while the next ones are made.

use std::sync::mpsc::{self, SyncSender};
use std::{panic, thread};

use crate::error::Error;
use crate::store::Store;

/// Things that wait while one is brought.
const WAITING: usize = 1;

type Errand<'a> = Box<dyn FnOnce(&mut dyn Store) -> Result<(), Error> + Send + 'a>;

/// Brings things to the store in the order in which they are given to it, until one fails.
pub(super) struct Courier<'a>(SyncSender<Errand<'a>>);

impl<'a> Courier<'a> {
    /// Have this done, at some time.
    pub fn later(
        &self,
        errand: impl FnOnce(&mut dyn Store) -> Result<(), Error> + Send + 'a,
    ) -> Result<(), Error> {
        self.0.send(Box::new(errand)).map_err(|_| has_stopped())
    }

    /// Have this done after all that was given before, and wait for the answer.
    pub fn ask<T: Send + 'a>(
        &self,
        question: impl FnOnce(&mut dyn Store) -> Result<T, Error> + Send + 'a,
    ) -> Result<T, Error> {
        let (answer, told) = mpsc::channel();
        self.later(move |store| {
            // Who has asked waits.
            let _ = answer.send(question(store)?);
            Ok(())
        })?;
        told.recv().map_err(|_| has_stopped())
    }
}

/// Do this with a courier. What failed on the way is the error.
pub(super) fn with_courier<'a, T>(
    store: &'a mut (dyn Store + Send),
    work: impl FnOnce(Courier<'a>) -> Result<T, Error>,
) -> Result<T, Error> {
    thread::scope(|scope| {
        let (errands, given) = mpsc::sync_channel::<Errand<'a>>(WAITING);
        let bring = move || {
            let mut errands = given.into_iter();
            errands.try_for_each(|errand| errand(&mut *store))
        };
        let brought = thread::Builder::new().spawn_scoped(scope, bring);
        let brought = brought.map_err(|why| {
            Error::refused(
                format!("no thread can be started: {why}"),
                "try again when fewer programs run",
            )
        })?;
        let worked = work(Courier(errands));
        match brought.join() {
            Ok(brought) => brought.and(worked),
            Err(panicked) => panic::resume_unwind(panicked),
        }
    })
}

/// Said to who goes on giving; why it has stopped is said in the end.
fn has_stopped() -> Error {
    Error::refused("the store takes nothing more", "try again")
}
