//! Why a page cannot be shown.

use crate::exit::{Exit, Failure};
use diskfacts_serve::Status;
use diskfacts_store::Error;

/// What is said in the place of a page.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: Status,
    pub(super) title: &'static str,
    /// Paragraphs.
    pub(super) said: Vec<String>,
}

impl Problem {
    pub(super) fn not_found(said: impl Into<String>) -> Self {
        Self {
            status: Status::NotFound,
            title: "Not found",
            said: vec![said.into()],
        }
    }

    pub(super) fn wrong(said: impl Into<String>) -> Self {
        Self {
            status: Status::Wrong,
            title: "That cannot be asked so",
            said: vec![said.into()],
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self {
            status: Status::Failed,
            title: "The runs cannot be read",
            said: lines(&failure),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let is_of_run = matches!(
            error,
            Error::UnknownRun { .. } | Error::AmbiguousRun { .. } | Error::Empty { .. }
        );
        let failure = Failure::of(Exit::Failed, error);
        if is_of_run {
            Self {
                status: Status::NotFound,
                title: "No such run",
                said: lines(&failure),
            }
        } else {
            failure.into()
        }
    }
}

fn lines(failure: &Failure) -> Vec<String> {
    failure
        .sentence()
        .lines()
        .map(|line| line.trim().to_owned())
        .collect()
}
