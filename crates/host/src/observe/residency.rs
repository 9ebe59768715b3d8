//! The page cache of a span before and after.

use super::Observer;
use crate::error::Error;
use crate::residency::residency;
use diskfacts_record::evidence::Residency;
use diskfacts_record::{Evidence, Unseen};
use std::fs::File;
use std::io;

/// Observes how much of a span lies in the page cache.
pub struct ResidencyObserver {
    file: io::Result<File>,
    offset: u64,
    len: u64,
    before: Option<Result<Residency, Error>>,
    after: Option<Result<Residency, Error>>,
}

impl ResidencyObserver {
    /// Watches `len` bytes from `offset` of `file`.
    pub fn new(file: &File, offset: u64, len: u64) -> Self {
        Self {
            file: file.try_clone(),
            offset,
            len,
            before: None,
            after: None,
        }
    }

    fn look(&self) -> Option<Result<Residency, Error>> {
        let file = self.file.as_ref().ok()?;
        Some(residency(file, self.offset, self.len))
    }
}

impl Observer for ResidencyObserver {
    fn name(&self) -> &'static str {
        "residency"
    }

    fn start(&mut self) {
        self.after = None;
        self.before = self.look();
    }

    fn halt(&mut self) {
        if self.after.is_none() {
            self.after = self.look();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        if let Err(error) = &self.file {
            evidence.unseen.push(Unseen {
                what: "residency".to_owned(),
                why: format!("the file could not be opened twice: {error}"),
            });
        }
        let mut put = |when: &str, reading: Option<Result<Residency, Error>>| match reading? {
            Ok(residency) => Some(residency),
            Err(error) => {
                evidence.unseen.push(Unseen {
                    what: format!("residency {when} the trial"),
                    why: error.to_string(),
                });
                None
            }
        };
        let before = put("before", self.before.take());
        let after = put("after", self.after.take());
        evidence.residency_before = before;
        evidence.residency_after = after;
    }
}
