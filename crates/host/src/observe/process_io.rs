//! What the kernel charged to this process.

use super::Observer;
use super::file::FileObserver;
use super::window::Window;
use crate::parse::process_io::parse_process_io;
use crate::roots::Roots;
use diskfacts_record::Evidence;
use diskfacts_record::evidence::ProcessIo;

/// Observes `/proc/self/io`. It is opened here; whether that worked is said by
/// [`Observer::stop`].
pub fn process_io(roots: &Roots) -> impl Observer + use<> {
    FileObserver {
        name: "process_io",
        window: Window::open(&roots.proc.join("self/io")),
        parse: parse_process_io,
        put: |before, after, evidence: &mut Evidence| {
            evidence.process_io = Some(difference(before, after));
            Ok(())
        },
        hint: "",
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
