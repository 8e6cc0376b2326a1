//! Which threads share the work? One for each core, made when they are first needed; fewer where
//! the system gives no more.

use std::sync::OnceLock;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// `None`: no thread can be started, so callers do their work themselves.
pub fn pool() -> Option<&'static ThreadPool> {
    // Not rayon's own, which panics where a thread is lacking.
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let made = POOL.get_or_init(|| {
        let cores = available_parallelism().map_or(1, usize::from);
        let fewer = std::iter::successors(Some(cores / 2), |threads| Some(threads / 2));
        // 0: as many as rayon would make.
        let mut sizes = std::iter::once(0).chain(fewer.take_while(|threads| *threads > 0));
        sizes.find_map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().ok())
    });
    made.as_ref()
}

/// How many share the work.
pub fn count() -> usize {
    pool().map_or(1, ThreadPool::current_num_threads)
}
