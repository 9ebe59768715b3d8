//! How a runner of tests ended.

use super::outcome::Outcome;
use crate::stream::Ended;

/// How a program ended, as far as it matters to its tests.
pub(super) struct Exit {
    pub(super) success: bool,
    /// `exit status: 101`, for people.
    pub(super) text: String,
    pub(super) left_something_running: bool,
    pub(super) was_stuck: bool,
}

impl Exit {
    pub(super) fn of(ended: &Ended) -> Self {
        Self {
            success: ended.status.is_some_and(|status| status.success()),
            text: ended
                .status
                .map_or("its end was not seen".to_owned(), |status| {
                    status.to_string()
                }),
            left_something_running: ended.left_something_running,
            was_stuck: ended.was_stuck,
        }
    }

    /// What is wrong with this end of `program` beside the failures that its
    /// output told: it ended badly without naming one, or it ran nothing, or
    /// something that it started lives on.
    pub(super) fn judge(&self, program: &str, outcome: &mut Outcome) {
        let failed = &mut outcome.failed;
        if !self.success && failed.is_empty() {
            failed.push(format!("{program} did not get to the end ({})", self.text));
        }
        if self.success && outcome.passed == 0 && outcome.skipped.is_empty() && failed.is_empty() {
            failed.push(format!("{program} ran no test"));
        }
        if self.was_stuck {
            failed.push(format!(
                "{program}: a test hung, and was ended; its threads are shown above"
            ));
        }
        if self.left_something_running {
            failed.push(format!(
                "{program}: a test left a process running that holds its output open"
            ));
        }
    }
}
