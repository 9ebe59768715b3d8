//! What the kernel charged to the threads of what runs beside a trial.

use super::Observer;
use super::process_io::difference;
use super::window::Window;
use crate::parse::process_io::parse_process_io;
use crate::roots::Roots;
use diskfacts_record::evidence::{Beside, ProcessIo};
use diskfacts_record::{Evidence, Unseen};

/// Observes `/proc/self/task/TID/io` of some threads, and takes what they caused
/// out of what was charged to the process.
pub struct BesideObserver {
    windows: Vec<Window>,
}

impl BesideObserver {
    /// Opens the file of each of these threads, which must be running.
    pub fn new(roots: &Roots, threads: &[u32]) -> Self {
        let path = |thread: &u32| roots.proc.join(format!("self/task/{thread}/io"));
        Self {
            windows: threads.iter().map(|t| Window::open(&path(t))).collect(),
        }
    }
}

impl Observer for BesideObserver {
    fn name(&self) -> &'static str {
        "beside"
    }

    fn start(&mut self) {
        for window in &mut self.windows {
            window.start();
        }
    }

    fn halt(&mut self) {
        for window in self.windows.iter_mut().rev() {
            window.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let mut sum = ProcessIo::default();
        for window in &mut self.windows {
            match window.parse(parse_process_io) {
                Ok((before, after)) => add(&mut sum, &difference(&before, &after)),
                Err(why) => {
                    // Nobody can say any more who caused what.
                    evidence.process_io = None;
                    evidence.unseen.push(Unseen {
                        what: self.name().to_owned(),
                        why,
                    });
                    return;
                }
            }
        }
        if let Some(own) = &mut evidence.process_io {
            *own = difference(&sum, own);
        }
        evidence.beside = Some(Beside {
            process_io: Some(sum),
            ..Beside::default()
        });
    }
}

fn add(sum: &mut ProcessIo, more: &ProcessIo) {
    sum.rchar += more.rchar;
    sum.wchar += more.wchar;
    sum.read_bytes += more.read_bytes;
    sum.write_bytes += more.write_bytes;
    sum.cancelled_write_bytes += more.cancelled_write_bytes;
}
