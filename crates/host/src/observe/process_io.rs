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
    /// Of threads that are not part of what is measured.
    others: Vec<Window>,
}

impl ProcessIoObserver {
    /// Opens the file; whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots) -> Self {
        Self::without(roots, &[])
    }

    /// The same without what is charged to some threads of this process, which must run
    /// until the window is closed.
    pub fn without(roots: &Roots, threads: &[u32]) -> Self {
        let path = |thread: &u32| roots.proc.join(format!("self/task/{thread}/io"));
        Self {
            window: Window::open(&roots.proc.join("self/io")),
            others: threads.iter().map(|t| Window::open(&path(t))).collect(),
        }
    }

    fn difference(&self) -> Result<ProcessIo, String> {
        let (before, after) = self.window.parse(parse_process_io)?;
        let mut own = difference(&before, &after);
        for other in &self.others {
            let (before, after) = other.parse(parse_process_io)?;
            own = difference(&difference(&before, &after), &own);
        }
        Ok(own)
    }
}

impl Observer for ProcessIoObserver {
    fn name(&self) -> &'static str {
        super::PROCESS_IO
    }

    fn start(&mut self) {
        for other in &mut self.others {
            other.start();
        }
        self.window.start();
    }

    fn halt(&mut self) {
        self.window.halt();
        for other in &mut self.others {
            other.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        match self.difference() {
            Ok(own) => evidence.process_io = Some(own),
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
