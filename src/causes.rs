//! What does an error say, with all that caused it?

use std::error::Error;

/// What an error says, and after it all that caused it, each after a colon: an [`Error`] of this
/// library names what was touched, and its [`source`](Error::source) says what was wrong there.
pub fn with_causes(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said += ": ";
        said += &error.to_string();
        cause = error.source();
    }
    said
}
