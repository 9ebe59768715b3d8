//! What the thread that waits for the streams of a trial sees meanwhile. It waits for no
//! device, and looks each hundredth of a second.

use crate::asleep::Sleepers;
use crate::clock::Clock;
use crate::pauses::{Pauses, TICK};
use diskfacts_record::evidence::EngineEvidence;
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError};

/// The looks of the calling thread.
pub(crate) struct Lookout {
    pauses: Pauses,
    sleepers: Sleepers,
}

impl Lookout {
    /// At the streams of these numbers of the kernel, from now on.
    pub(crate) fn new(clock: Clock, streams: &[u32]) -> Self {
        Self {
            pauses: Pauses::new(clock),
            sleepers: Sleepers::new(streams),
        }
    }

    /// Receives, and looks meanwhile.
    ///
    /// # Errors
    /// When nobody is left who could send.
    pub(crate) fn receive<T>(&mut self, inbox: &Receiver<T>) -> Result<T, RecvError> {
        loop {
            let from = self.pauses.now();
            let received = inbox.recv_timeout(TICK);
            self.pauses.look(from);
            match received {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) => self.sleepers.look(),
                Err(RecvTimeoutError::Disconnected) => return Err(RecvError),
            }
        }
    }

    /// Puts what was seen into the evidence, with the time counted from `started`, a tick.
    pub(crate) fn tell(self, started: u64, evidence: &mut EngineEvidence) {
        evidence.pauses = self.pauses.since(started);
        evidence.asleep = self.sleepers.seen();
    }
}
