//! Where may a test end the process, or make a step of the commit protocol fail? At these names;
//! only with the feature `failpoints`, otherwise they are nothing at all. `tests/failpoints.rs`
//! visits every one.

use std::io;

/// The step of that name begins. A test may end the process here, or have the step fail with an
/// error number.
///
/// # Errors
/// That error.
#[cfg(feature = "failpoints")]
pub fn reach(name: &str) -> io::Result<()> {
    let number = |number: Option<String>| number.and_then(|n| n.parse().ok()).unwrap_or(5);
    match fail::eval(name, number) {
        Some(number) => Err(io::Error::from_raw_os_error(number)),
        None => Ok(()),
    }
}

#[cfg(not(feature = "failpoints"))]
#[inline(always)]
#[allow(clippy::unnecessary_wraps)]
pub fn reach(_: &str) -> io::Result<()> {
    Ok(())
}
