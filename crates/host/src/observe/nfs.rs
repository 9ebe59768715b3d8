//! What the client of an NFS mount counted.

use super::Observer;
use super::window::Window;
use crate::parse::mountstats::parse_mountstats;
use crate::roots::Roots;
use diskfacts_record::evidence::{NfsCalls, NfsMount};
use diskfacts_record::{Evidence, Stack, Unseen};

/// Room beyond the length of the file when it was first read: counters grow by digits, and
/// others mount something.
const SPARE: usize = 64 << 10;

/// Observes the section of the target's mount in `/proc/self/mountstats`.
pub struct NfsObserver {
    mount: Option<(String, Window)>,
}

impl NfsObserver {
    /// Opens the file where the target lies on NFS; of other filesystems nothing is observed.
    pub fn new(roots: &Roots, stack: &Stack) -> Self {
        let filesystem = stack.filesystem.as_ref();
        let nfs = filesystem.filter(|f| matches!(f.kind.as_str(), "nfs" | "nfs4"));
        let mount = nfs.map(|nfs| {
            let path = roots.proc.join("self/mountstats");
            // A file that cannot be read is said to be so by the window.
            let len = std::fs::read(&path).map_or(0, |all| all.len());
            let window = Window::open_in_pieces(&path, len + SPARE);
            (nfs.mount_point.clone(), window)
        });
        Self { mount }
    }
}

impl Observer for NfsObserver {
    fn name(&self) -> &'static str {
        "nfs"
    }

    fn start(&mut self) {
        if let Some((_, window)) = &mut self.mount {
            window.start();
        }
    }

    fn halt(&mut self) {
        if let Some((_, window)) = &mut self.mount {
            window.halt();
        }
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let Some((mount_point, window)) = &self.mount else {
            return;
        };
        let counted = window.parse(|bytes| parse_mountstats(bytes, mount_point));
        let counted = counted.and_then(|readings| match readings {
            (Some(before), Some(after)) => Ok(difference(&before, &after)),
            _ => Err(format!(
                "/proc/self/mountstats has no NFS that is mounted at {mount_point}: was it \
                 unmounted, or mounted in another namespace? `findmnt {mount_point}` shows what is"
            )),
        });
        match counted {
            Ok(counted) => evidence.nfs = Some(counted),
            Err(why) => evidence.unseen.push(Unseen {
                what: self.name().to_owned(),
                why,
            }),
        }
    }
}

/// These counters are 64 bits wide and never fall, as long as it is the same mount.
fn difference(before: &NfsMount, after: &NfsMount) -> NfsMount {
    let since = |of: fn(&NfsMount) -> u64| of(after).saturating_sub(of(before));
    let calls = |of: fn(&NfsMount) -> Option<NfsCalls>| {
        let (before, after) = (of(before).unwrap_or_default(), of(after)?);
        let since = |of: fn(&NfsCalls) -> u64| of(&after).saturating_sub(of(&before));
        Some(NfsCalls {
            calls: since(|c| c.calls),
            sent: since(|c| c.sent),
            timeouts: since(|c| c.timeouts),
            queued_ns: since(|c| c.queued_ns),
            round_trip_ns: since(|c| c.round_trip_ns),
            total_ns: since(|c| c.total_ns),
        })
    };
    NfsMount {
        cached_read_bytes: since(|m| m.cached_read_bytes),
        cached_write_bytes: since(|m| m.cached_write_bytes),
        direct_read_bytes: since(|m| m.direct_read_bytes),
        direct_write_bytes: since(|m| m.direct_write_bytes),
        server_read_bytes: since(|m| m.server_read_bytes),
        server_write_bytes: since(|m| m.server_write_bytes),
        reads: calls(|m| m.reads),
        writes: calls(|m| m.writes),
        commits: calls(|m| m.commits),
    }
}
