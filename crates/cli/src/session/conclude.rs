//! The last step: what follows from the trials, stored with them. The target is let go
//! of after that: a slow disk takes its time to close it.

use super::put_back::PutBack;
use super::{Ended, health};
use crate::exit::OrFail;
use crate::signals::Signals;
use diskfacts_facts::{explain, explain_document};
use diskfacts_record::Run;
use jiff::Timestamp;

impl PutBack {
    pub(super) fn conclude(self, uses: &[String], signals: &Signals) -> Ended {
        let (mut begun, how) = (self.0.begun, self.0.how);
        let mut run = begun.run;
        how.tell(&mut run, signals);
        // The target is still held, so that it is the same that was measured.
        health::look_again(&mut run);
        run.run.ended = Some(Timestamp::now().to_string());
        conclude(&mut run, uses);
        let not_stored = begun.store.finish(&run).or_failed().err();
        Ended {
            run,
            stopped: signals.came(),
            store: begun.store.path().to_owned(),
            not_stored,
        }
    }
}

/// What follows from a run: figures, findings, limits, and verdicts for the uses that
/// were asked for, or for all.
pub(crate) fn conclude(run: &mut Run, uses: &[String]) {
    explain(run).put_into(run);
    if !uses.is_empty() {
        run.verdicts
            .retain(|verdict| uses.contains(&verdict.profile));
    }
}

/// Works out what follows from the runs of a document, from each and from all
/// of them together.
pub(crate) fn conclude_document(runs: &mut [Run]) {
    let explained = explain_document(runs);
    for (run, explanation) in runs.iter_mut().zip(explained) {
        explanation.put_into(run);
    }
}
