//! The sixth step: settings are put back, and what is not as it was is a failure of the
//! run. What ends a run before it gets here puts them back when [`Held`](super::reserve::Held)
//! is dropped, and what kills it leaves that to the watchdog.

use super::io_weight;
use super::measure::Tried;

/// A run that has changed nothing any more.
pub(super) struct PutBack(pub(super) Tried);

impl Tried {
    pub(super) fn put_back(mut self) -> PutBack {
        io_weight::leave(&self.begun.run.plan);
        let (notes, not_put_back) = self.begun.held.settings.end();
        self.begun.run.run.notes.extend(notes);
        self.how.broken = self.how.broken.or(not_put_back);
        PutBack(self)
    }
}
