//! What devices and servers counted, and which devices lie right under a target.

use diskfacts_record::{BlockDevice, DeviceCounters, DeviceKind, Evidence, Run, Stack};

/// Which of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Those read.
    Read,
    /// Those written.
    Write,
}

impl Direction {
    /// That of both which goes this way.
    pub(super) fn of<T>(self, read: T, written: T) -> T {
        match self {
            Self::Read => read,
            Self::Write => written,
        }
    }
}

/// The devices that these stand on, each once.
pub(crate) fn below<'a>(devices: &[&BlockDevice], stack: &'a Stack) -> Vec<&'a BlockDevice> {
    let mut found: Vec<&BlockDevice> = Vec::new();
    for name in devices.iter().flat_map(|device| &device.below) {
        if let Some(device) = stack.device(name)
            && !found.iter().any(|known| known.name == device.name)
        {
            found.push(device);
        }
    }
    found
}

/// The devices that no other device of the stack stands on: right under the
/// filesystem (several, if it spans several), or the target itself.
pub(crate) fn roots(stack: &Stack) -> impl Iterator<Item = &BlockDevice> {
    stack.devices.iter().filter(|device| {
        !stack
            .devices
            .iter()
            .any(|other| other.below.contains(&device.name))
    })
}

/// What a device counted; `None` where it did not, or says that it does not and its
/// counters stood still.
pub(crate) fn counters<'a>(
    device: &BlockDevice,
    evidence: &'a Evidence,
) -> Option<&'a DeviceCounters> {
    let counted = evidence.device(&device.name)?;
    // Flushes are counted whatever `queue/iostats` says.
    let moved = counted.reads > 0 || counted.writes > 0;
    (moved || device.counts_io != Some(false)).then_some(counted)
}

/// The devices whose counters stood still all the time because they were told to, by their names;
/// a partition is counted with its disk.
pub(crate) fn uncounted(run: &Run) -> Vec<&BlockDevice> {
    let still = |device: &BlockDevice| {
        let mut trials = run.trials.iter();
        trials.all(|trial| counters(device, &trial.evidence).is_none())
    };
    let devices = roots(&run.stack).chain(run.stack.leaves());
    let mut silent: Vec<&BlockDevice> = devices
        .filter(|device| device.counts_io == Some(false))
        .filter(|device| device.kind != DeviceKind::Partition && still(device))
        .collect();
    silent.sort_by(|a, b| a.name.cmp(&b.name));
    silent.dedup_by(|a, b| a.name == b.name);
    silent
}

/// Bytes that all of these devices counted, less what was to run beside the
/// trial; `None` when one did not count, or when it is not known what ran beside.
pub(crate) fn count(
    devices: &[&BlockDevice],
    direction: Direction,
    evidence: &Evidence,
) -> Option<u64> {
    let beside = by_beside(direction, evidence)?;
    let counted = devices.iter().try_fold(0, |sum: u64, device| {
        let counted = counters(device, evidence)?;
        Some(sum.saturating_add(direction.of(counted.read_bytes, counted.write_bytes)))
    })?;
    Some(counted.saturating_sub(beside))
}

/// Bytes that the server of an NFS mount sent or took, less what was to run beside the trial;
/// `None` of other filesystems, or when it is not known what ran beside.
pub(crate) fn by_server(direction: Direction, evidence: &Evidence) -> Option<u64> {
    let nfs = evidence.nfs.as_ref()?;
    let counted = direction.of(nfs.server_read_bytes, nfs.server_write_bytes);
    Some(counted.saturating_sub(by_beside(direction, evidence)?))
}

/// Bytes that what was to run beside the trial caused; `None` when that is not known.
fn by_beside(direction: Direction, evidence: &Evidence) -> Option<u64> {
    let Some(beside) = &evidence.beside else {
        return Some(0);
    };
    let caused = beside.process_io.as_ref()?;
    Some(direction.of(caused.read_bytes, caused.write_bytes))
}

/// Whether the device counted nothing at all.
pub(super) fn silent(device: &BlockDevice, evidence: &Evidence) -> bool {
    counters(device, evidence).is_none_or(|c| {
        (c.reads, c.writes, c.read_bytes, c.write_bytes, c.busy_ms) == (0, 0, 0, 0, 0)
    })
}
