//! What the tests of this crate share.

use directio::Error;

/// Takes a result out, or fails the test with the whole error.
pub(crate) trait OrFail {
    /// What is in an `Ok`.
    type Value;

    /// The value, or a panic at the caller's line.
    fn or_fail(self) -> Self::Value;
}

impl<T, E: Into<Error>> OrFail for Result<T, E> {
    type Value = T;

    #[track_caller]
    fn or_fail(self) -> T {
        match self {
            Ok(value) => value,
            Err(error) => panic!("{:#}", error.into()),
        }
    }
}
