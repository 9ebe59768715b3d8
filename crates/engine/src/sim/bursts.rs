//! The single requests of a few moments of a simulated trial, as the observer of a real host
//! gives them.

use super::machine::OWN_STREAM;
use diskfacts_disk::host::Served;
use diskfacts_disk::request::Kind;
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::{BurstKeeper, BurstRequest, PackedBursts};

/// Requests of a trial as they are done, of which some are kept.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    /// Whether anybody asked for them.
    pub(super) whether: bool,
    keeper: BurstKeeper,
    /// When the window opened, ns.
    opened_ns: u64,
}

impl Bursts {
    /// The window opens.
    pub(super) fn open(&mut self, now_ns: u64) {
        self.keeper = BurstKeeper::default();
        self.opened_ns = now_ns;
    }

    /// The block layer has done a request.
    pub(super) fn served(&mut self, served: &Served) {
        // The beginning of what was under way when the window opened is seen by nobody.
        if served.queued_ns < self.opened_ns {
            return;
        }
        self.keeper.completed(BurstRequest {
            device: 0,
            operation: match served.kind {
                Kind::Read => RequestKind::Read,
                Kind::Write => RequestKind::Write,
                Kind::Flush => RequestKind::Flush,
                Kind::Trim => RequestKind::Discard,
            },
            offset_bytes: served.offset,
            bytes: served.len,
            queued_ns: Some(served.queued_ns),
            issued_ns: served.issued_ns,
            completed_ns: served.completed_ns,
            // The machine's own, those of write-back and of a neighbour are behind it.
            ours: Some(served.stream < OWN_STREAM),
            failed: served.failed,
        });
    }

    /// What was kept, of a disk of this name.
    pub(super) fn take(&mut self, disk: &str) -> Option<PackedBursts> {
        let keeper = std::mem::take(&mut self.keeper);
        let bursts = keeper.finish(self.opened_ns, vec![disk.to_owned()]);
        bursts.as_ref().map(PackedBursts::from)
    }
}
