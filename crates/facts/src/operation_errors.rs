//! Operations that failed, by what failed and how.

use crate::prelude::{StageFacts, count, join, show_size};
use crate::stages::Stage;
use diskfacts_record::Trial;
use diskfacts_record::evidence::ErrorCount;

/// Failures of a stage of one operation with one number of the system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errors<'a> {
    /// The first of them.
    pub(crate) first: &'a ErrorCount,
    /// How many operations failed so.
    pub(crate) count: u64,
    /// The lowest and the highest place, bytes, where they differ; `None` too where one trial
    /// does not know its ends.
    pub(crate) ends: Option<(u64, u64)>,
}

impl<'a> Errors<'a> {
    /// Those of a stage.
    pub(crate) fn of(stage: &Stage<'a>) -> Vec<Self> {
        let mut errors = Vec::new();
        for error in stage.all_trials().flat_map(|t| &t.evidence.errors) {
            join(&mut errors, (&error.operation, error.errno), error);
        }
        errors.iter().map(|(_, of)| Self::alike(of)).collect()
    }

    fn alike(of: &[&'a ErrorCount]) -> Self {
        let low = of.iter().map(|error| error.lowest_offset);
        let low = low.reduce(|a, b| Some(a?.min(b?))).flatten();
        let high = of.iter().map(|error| error.highest_offset);
        let high = high.reduce(|a, b| Some(a?.max(b?))).flatten();
        let each = of.iter().map(|error| error.count);
        Self {
            first: of[0],
            count: each.fold(0, u64::saturating_add),
            ends: low.zip(high).filter(|(low, high)| low < high),
        }
    }

    /// What came back each time, and where.
    pub(crate) fn said(&self) -> String {
        let (error, times) = (self.first, count(self.count, "time"));
        let (operation, errno, message) = (&error.operation, error.errno, &error.message);
        let byte = |at: u64| format!("byte {at} ({})", show_size(at));
        let place = if *operation == ErrorCount::WRITE_BACK {
            "after the operations had returned: what lay in the page cache was lost".to_owned()
        } else if error.of_files() {
            format!("first at file {}", error.first_offset)
        } else if let Some((low, high)) = self.ends {
            format!("between {} and {}", byte(low), byte(high))
        } else {
            format!("first at {}", byte(error.first_offset))
        };
        if operation == "check" {
            format!("a check found a wrong value {times}; the first: {message}.")
        } else if errno == 0 {
            format!("{operation} ended short {times}, {place}.")
        } else {
            // The system's words may end with the number once more.
            let message = message.trim_end_matches(&format!(" (os error {errno})"));
            format!("{operation} failed {times} with error {errno} ({message}), {place}.")
        }
    }
}

/// How many operations of a stage failed.
pub(crate) fn failed_operations(facts: &StageFacts<'_>) -> u64 {
    let counted = Errors::of(facts.stage).iter().map(|of| of.count).sum();
    facts.figures.errors.max(counted)
}

/// Trials with errors that are in no figure of their stage; where it has none, all of them.
pub(crate) fn excluded_trials(stage: &Stage<'_>) -> usize {
    let unsound = stage.trials.iter().filter(|_| !stage.is_sound());
    let left_out = stage.failed.iter().chain(unsound);
    let with_errors = |trial: &&&Trial| trial.errors > 0;
    left_out.filter(with_errors).count()
}
