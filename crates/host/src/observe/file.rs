//! One file of the kernel, read at both ends of the window.

use super::Observer;
use super::window::Window;
use crate::parse::ParseError;
use diskfacts_record::{Evidence, Unseen};

/// Observes one file.
pub(super) struct FileObserver<T> {
    /// What it observes, as [`Unseen`] names it.
    pub(super) name: &'static str,
    pub(super) window: Window,
    pub(super) parse: fn(&[u8]) -> Result<T, ParseError>,
    /// Puts the two readings, the earlier one first, into the evidence, or says why
    /// something is not to be had from them.
    pub(super) put: fn(&T, &T, &mut Evidence) -> Result<(), String>,
    /// Added to the reason why nothing was seen: since when the kernel has the file.
    pub(super) hint: &'static str,
}

impl<T> Observer for FileObserver<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn start(&mut self) {
        self.window.start();
    }

    fn halt(&mut self) {
        self.window.halt();
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let seen = self.window.parse(self.parse);
        let put = seen.and_then(|(before, after)| (self.put)(&before, &after, evidence));
        if let Err(why) = put {
            evidence.unseen.push(Unseen {
                what: self.name.to_owned(),
                why: format!("{why}{}", self.hint),
            });
        }
    }
}
