//! What the kernel charged to this process.

use super::Observer;
use super::window::Window;
use crate::parse::process_io::parse_process_io;
use crate::roots::Roots;
use diskfacts_record::evidence::ProcessIo;
use diskfacts_record::{Evidence, Unseen};

/// Observes `/proc/self/io`.
pub struct ProcessIoObserver {
    window: Window,
}

impl ProcessIoObserver {
    /// Opens the file; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self {
            window: Window::open(&roots.proc.join("self/io")),
        }
    }
}

impl Observer for ProcessIoObserver {
    fn name(&self) -> &'static str {
        "process_io"
    }

    fn start(&mut self) {
        self.window.start();
    }

    fn halt(&mut self) {
        self.window.halt();
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        match self.window.parse(parse_process_io) {
            Ok((before, after)) => evidence.process_io = Some(difference(&before, &after)),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}

/// These counters are 64 bits wide and never fall.
pub(super) fn difference(before: &ProcessIo, after: &ProcessIo) -> ProcessIo {
    ProcessIo {
        rchar: after.rchar.saturating_sub(before.rchar),
        wchar: after.wchar.saturating_sub(before.wchar),
        read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
        write_bytes: after.write_bytes.saturating_sub(before.write_bytes),
        cancelled_write_bytes: after
            .cancelled_write_bytes
            .saturating_sub(before.cancelled_write_bytes),
    }
}
