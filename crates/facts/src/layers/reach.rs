//! How far the bytes of one direction came, level by level.

use super::answered::{Answered, answered};
use super::copies;
use super::counted::{Direction, below, by_server, count, roots, silent};
use super::whereabouts::remote;
use diskfacts_plan::{Pattern, Workload};
use diskfacts_record::evidence::Residency;
use diskfacts_record::{BlockDevice, DeviceKind, Evidence, Stack, Trial};

/// Share of the bytes that a process may have fetched for itself.
const OWN_CODE_SHARE: f64 = 0.02;

/// Least that a miss of the page cache fetches, on machines with the usual pages.
const PAGE_BYTES: u64 = 4096;

/// How far the bytes of one direction came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reach {
    /// Bytes that the engine issued and saw done.
    pub(crate) issued: u64,
    /// Bytes that this process caused at the block layer, where that is a
    /// witness.
    pub(crate) process: Option<u64>,
    /// Bytes that the devices right under the filesystem counted, or the
    /// device that is the target, or the client of its server.
    pub(crate) top: Option<u64>,
    /// Share of the issued bytes that went below the page cache of the target.
    past_target: Option<f64>,
    /// Share that was in the page cache for certain, when `past_target` is not
    /// known.
    cached_at_least: f64,
    /// The filesystem may move fewer bytes than the file holds.
    moves_fewer: bool,
    /// Loop devices on the way, from the top.
    pub(crate) loops: Vec<LoopStep>,
    /// Who answered by itself above the first of these, between one and the next, and
    /// under the last: one more than there are loop devices.
    pub(crate) answered: Vec<Option<Answered>>,
}

/// Where the issued bytes came to, as shares of them.
#[derive(Debug, Default)]
struct Fates<'a> {
    /// Kept by the page cache of backing files.
    kept: Vec<(&'a LoopStep, f64)>,
    /// Answered by devices above the disks.
    answered: Vec<(&'a Answered, f64)>,
    /// What reached the leaves, as far as it can be followed there.
    device: Option<f64>,
}

/// The loop devices that lie under equally many others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoopStep {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Bytes that they counted.
    pub(crate) above: Option<u64>,
    /// Bytes that the devices under their backing files counted.
    pub(crate) below: Option<u64>,
    /// Whether the page cache of their backing files is in the way: all say so.
    pub(crate) buffered: bool,
    /// Share that went on to the devices below.
    share: Option<f64>,
}

impl Reach {
    /// Of what a trial read, and of what it wrote.
    pub(crate) fn both(trial: &Trial, stack: &Stack) -> [Self; 2] {
        [Direction::Read, Direction::Write]
            .map(|direction| Self::of(direction, &trial.workload, &trial.evidence, stack))
    }

    pub(crate) fn of(
        direction: Direction,
        workload: &Workload,
        evidence: &Evidence,
        stack: &Stack,
    ) -> Self {
        let direct = evidence.engine.direct;
        let issued = direction.of(evidence.issued.read_bytes, evidence.issued.write_bytes);
        let nfs = evidence.nfs.is_some();
        let process = evidence.process_io.as_ref().and_then(|io| match direction {
            // Linux 5.18 to 6.2 do not charge what NFS reads through the page cache
            // (kernel commit 9c88ea00fef0).
            Direction::Read => (direct || !nfs).then_some(io.read_bytes),
            Direction::Write => direct.then_some(io.write_bytes),
        });
        // Without devices under it, a filesystem may count its traffic there or
        // not (FUSE and 9p do not): what is missing proves nothing.
        let blind = stack.devices.is_empty() && !nfs;
        let tops: Vec<&BlockDevice> = roots(stack).collect();
        // What the device counted for what ran beside can be told from the rest only
        // roughly: read-ahead is charged when it is sent, and counted when it came.
        let told_apart = evidence.beside.is_none() || process.is_none();
        let counted = (!blind && told_apart)
            .then(|| match by_server(direction, evidence) {
                Some(bytes) => Some(bytes),
                None => count(&tops, direction, evidence),
            })
            .flatten();
        let idle = !nfs && tops.iter().all(|d| silent(d, evidence));
        // What is drawn at random in less than a page fetches whole pages.
        let fetched_for = match (direction, workload.pattern) {
            (Direction::Read, Pattern::Random | Pattern::Zipf { .. } | Pattern::Stride { .. })
                if !direct =>
            {
                workload.block_size.max(1) as f64 / workload.block_size.max(PAGE_BYTES) as f64
            }
            _ => 1.0,
        };
        let share = |bytes: u64| (bytes as f64 * fetched_for / issued as f64).min(1.0);
        // A filesystem that keeps copies writes each byte as often, at the least.
        let times = direction.of(1, copies::of_filesystem(stack).least);
        let counted = counted.map(|bytes| bytes / times);
        let top = counted.filter(|_| {
            let process_is_enough = process.is_some_and(|bytes| share(bytes) >= 0.98);
            !(idle && process_is_enough)
        });
        let cached_at_least = match direction {
            Direction::Read if !direct => resident(workload, evidence),
            Direction::Write => still_dirty(evidence, issued),
            Direction::Read => 0.0,
        };
        let mut seen: Vec<f64> = Vec::new();
        seen.extend(top.map(share));
        seen.extend(process.filter(|bytes| !blind || *bytes > 0).map(share));
        // What NFS forgets because somebody else wrote is in memory again at the end.
        let residency_speaks = direction == Direction::Write || process.is_none() && !nfs;
        if residency_speaks && !seen.is_empty() {
            seen.push(1.0 - cached_at_least);
        }
        let past_target = (issued > 0)
            .then(|| seen.into_iter().reduce(f64::min))
            .flatten()
            .map(|past| {
                // A process also fetches its own code. When all of the span lay
                // in the page cache before and after, so little is not the span's.
                let little = past < OWN_CODE_SHARE && cached_at_least >= 1.0;
                if little { 0.0 } else { past }
            });
        Self {
            issued,
            process,
            top,
            past_target,
            cached_at_least,
            moves_fewer: blind || compresses(stack) || is_kept_on_disk(stack),
            loops: Vec::new(),
            answered: Vec::new(),
        }
        .down(direction, evidence, stack)
    }

    /// Follows the bytes from the devices right under the target to the leaves.
    fn down(mut self, direction: Direction, evidence: &Evidence, stack: &Stack) -> Self {
        let mut level: Vec<&BlockDevice> = roots(stack).collect();
        // Every round goes below one more loop device; a stack that contradicts
        // itself with a circle ends here too.
        // What is issued to loop devices' files is not counted.
        let mut issued = Some(self.issued);
        for _ in 0..=stack.devices.len() {
            self.answered
                .push(answered(direction, evidence, stack, &level, issued.take()));
            let loops = first_loops(&level, stack);
            if loops.is_empty() {
                break;
            }
            let below = below(&loops, stack);
            self.loops.push(step(direction, evidence, &loops, &below));
            level = below;
        }
        self
    }

    fn fates(&self) -> Fates<'_> {
        let mut fates = Fates::default();
        let Some(mut carried) = self.past_target else {
            return fates;
        };
        for (at, answered) in self.answered.iter().enumerate() {
            if let Some(answered) = answered {
                let own = carried * (1.0 - answered.share_below);
                fates.answered.push((answered, own));
                carried -= own;
            }
            let Some(step) = self.loops.get(at).filter(|_| carried > 0.0) else {
                break;
            };
            let Some(share) = step.share else {
                return fates;
            };
            if step.buffered {
                fates.kept.push((step, carried * (1.0 - share)));
            }
            carried *= share;
        }
        fates.device = Some(carried);
        fates
    }

    /// Share of the issued bytes that reached the leaves, as far as it can be
    /// followed there.
    pub(crate) fn device_share(&self) -> Option<f64> {
        self.fates().device
    }

    /// Share that devices above the disks answered by themselves.
    pub(crate) fn mapping_share(&self) -> f64 {
        self.fates().answered.iter().map(|(_, share)| share).sum()
    }

    /// Share that stayed in the page cache of the target.
    pub(crate) fn kept_by_target(&self) -> f64 {
        match self.past_target {
            Some(past) if !self.moves_fewer => 1.0 - past,
            Some(past) => self.cached_at_least.min(1.0 - past),
            None => self.cached_at_least,
        }
    }

    /// Share that stayed in the page cache of a loop device's backing file, for
    /// each step.
    pub(crate) fn kept_by_loops(&self) -> Vec<(&LoopStep, f64)> {
        self.fates().kept
    }

    /// Share that stayed in any page cache.
    pub(crate) fn page_cache_share(&self) -> f64 {
        self.kept_by_target() + self.kept_by_loops().iter().map(|(_, s)| s).sum::<f64>()
    }
}

/// Share of the span that lay in the page cache at a time.
pub(crate) fn cached_share(cached: &Residency) -> Option<f64> {
    let share = cached.cached_bytes as f64 / cached.span_bytes as f64;
    (cached.span_bytes > 0).then_some(share)
}

/// Share of the span that lay in the page cache before and after, where that
/// says something about the bytes issued: they were drawn evenly from the span,
/// or all of it was there.
fn resident(workload: &Workload, evidence: &Evidence) -> f64 {
    let share = |of: &Residency| cached_share(of).unwrap_or(0.0).min(1.0);
    let (Some(before), Some(after)) = (&evidence.residency_before, &evidence.residency_after)
    else {
        return 0.0;
    };
    let both = share(before).min(share(after));
    let passes = matches!(workload.pattern, Pattern::Sequential)
        && before.span_bytes > 0
        && evidence.issued.read_bytes >= before.span_bytes;
    let even = matches!(workload.pattern, Pattern::Random) || passes || both >= 0.999;
    if even { both } else { 0.0 }
}

/// Bytes of the span that were dirty before the trial: what an earlier one left
/// behind is written back in this one's window.
pub(crate) fn dirty_before(evidence: &Evidence) -> u64 {
    let before = evidence.residency_before.as_ref();
    before.and_then(|r| r.dirty_bytes).unwrap_or(0)
}

/// Share of the written bytes that were not written back in the end.
fn still_dirty(evidence: &Evidence, issued: u64) -> f64 {
    let after = evidence.residency_after.as_ref();
    match after.and_then(|r| r.dirty_bytes) {
        Some(after) if issued > 0 => {
            (after.saturating_sub(dirty_before(evidence)) as f64 / issued as f64).min(1.0)
        }
        _ => 0.0,
    }
}

/// Filesystems whose data are compressed, unless that was declined for all of it when they
/// were made, and that do not tell of which file they are (FIEMAP).
pub(crate) const COMPRESSED: [&str; 2] = ["squashfs", "cramfs"];

/// Whether the device may move fewer bytes than the file holds.
pub(crate) fn compresses(stack: &Stack) -> bool {
    stack.filesystem.as_ref().is_some_and(|filesystem| {
        filesystem.kind == "zfs"
            || COMPRESSED.contains(&filesystem.kind.as_str())
            || filesystem.options.iter().any(|option| {
                option.starts_with("compress")
                    && !option.ends_with("=no")
                    && !option.ends_with("=none")
            })
    })
}

/// Whether a network filesystem keeps what it read on a disk of this machine (`fsc`): what the
/// server did not send may have come from there.
fn is_kept_on_disk(stack: &Stack) -> bool {
    let options = stack.filesystem.iter().flat_map(|f| &f.options);
    remote(stack).is_some()
        && options
            .into_iter()
            .any(|option| option == "fsc" || option.starts_with("fsc="))
}

/// The nearest loop devices at or under these.
fn first_loops<'a>(from: &[&'a BlockDevice], stack: &'a Stack) -> Vec<&'a BlockDevice> {
    let mut loops: Vec<&BlockDevice> = Vec::new();
    let mut level = from.to_vec();
    for _ in 0..stack.devices.len() {
        let (found, others): (Vec<_>, Vec<_>) = level
            .into_iter()
            .partition(|device| device.kind == DeviceKind::Loop);
        for device in found {
            if !loops.iter().any(|known| known.name == device.name) {
                loops.push(device);
            }
        }
        level = below(&others, stack);
        if level.is_empty() {
            break;
        }
    }
    loops
}

fn step(
    direction: Direction,
    evidence: &Evidence,
    loops: &[&BlockDevice],
    under: &[&BlockDevice],
) -> LoopStep {
    let all_direct = loops.iter().all(|l| l.backing_direct == Some(true));
    let above = count(loops, direction, evidence);
    let (below, share) = if loops.iter().any(|l| l.below.is_empty()) {
        // The backing file lies on something without block devices. Past its
        // page cache, nothing that is known lies further down.
        (None, all_direct.then_some(1.0))
    } else {
        let below = count(under, direction, evidence);
        let share = above
            .zip(below)
            .and_then(|(above, below)| (above > 0).then(|| (below as f64 / above as f64).min(1.0)));
        (below, share)
    };
    LoopStep {
        names: loops.iter().map(|l| l.name.clone()).collect(),
        above,
        below,
        buffered: loops.iter().all(|l| l.backing_direct == Some(false)),
        share,
    }
}
