//! How is work shared by all cores? The results come in the order in which the work was given.

use std::panic::resume_unwind;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// The result of each piece of work, made on threads of its own. A shared pool could deadlock: this
/// caller would wait for the pool's other work, and that for the session's lock held here.
pub(super) fn on_every_core<T: Send, R: Send>(
    work: Vec<T>,
    each: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    // For one piece no thread is worth starting.
    if work.len() < 2 {
        return work.into_iter().map(each).collect();
    }
    let most = work.len().min(*CORES);
    let work = Mutex::new(work.into_iter().enumerate());
    let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
    let rest = || -> Vec<(usize, R)> {
        let taken = std::iter::from_fn(next);
        taken.map(|(at, piece)| (at, each(piece))).collect()
    };
    let mut done = scope(|scope| {
        let others: Vec<_> = (1..most)
            .map_while(|_| Builder::new().spawn_scoped(scope, rest).ok())
            .collect();
        let mut done = rest();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, done)| done).collect()
}
