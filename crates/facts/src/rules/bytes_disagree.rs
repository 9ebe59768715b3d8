//! The devices moved more or fewer bytes than were issued, by more than 2 %,
//! for a reason that is not the page cache and not the I/O of others.
//!
//! More: read-ahead fetched what was not asked for; the filesystem wrote its
//! journal beside the data; a RAID wrote copies or parity. Fewer: compression,
//! or holes below a loop device.

use super::prelude::*;
use crate::holes;
use crate::journal::beyond_own;
use crate::layers::answered::may_count_twice;
use crate::layers::copies;
use crate::layers::counted::{Direction, below, count, roots};
use crate::layers::reach::{Reach, compresses};
use diskfacts_record::Evidence;

pub(super) const RULE: Rule = Rule {
    name: "bytes-disagree",
    needs: &[NoDocument, Blocks, NotWarm, NotInMemory],
    check: Check::Stages(&[
        StageCheck(answered, by_mapping),
        StageCheck(counted_fewer, fewer),
        StageCheck(fetched_more, fetched),
        StageCheck(committed_more, committed),
        StageCheck(moved_more, copied),
    ]),
    ..Rule::NOTE
};

/// Fetched over issued from which on read-ahead is more than a note: a third of
/// what was fetched was in vain.
const WASTE: f64 = 1.5;

/// Devices that answered by themselves, and bytes that came in at them and that went on below.
fn answering(facts: &StageFacts<'_>) -> (Vec<String>, [u64; 2]) {
    let stack = &facts.run().stack;
    let reaches = facts.trials().iter().flat_map(|t| Reach::both(t, stack));
    let mut by: Vec<String> = Vec::new();
    let (mut above, mut below) = (0_u64, 0_u64);
    for answered in reaches.flat_map(|reach| reach.answered).flatten() {
        above = above.saturating_add(answered.above);
        below = below.saturating_add(answered.below);
        by.extend(answered.names);
    }
    (names(by.iter().map(String::as_str)), [above, below])
}

/// A device above the disks answered by itself: bytes came in at it that no disk moved.
fn answered(facts: &StageFacts<'_>) -> Option<Seen> {
    let share = facts.figures.layers.mapping;
    unless(share <= SERVED_FROM_CACHE)?;
    let (by, bytes) = answering(facts);
    let [above, below] = bytes.map(show_size);
    let (at, names) = (device_list(roots(&facts.run().stack)), list(&by));
    let line = format!("{above} came in at {at}, {below} went on below {names}.");
    Some(Seen::line(share, line))
}

fn by_mapping(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by: Vec<String> = shown.facts().flat_map(|facts| answering(facts).0).collect();
    let by = list(names(by.iter().map(String::as_str)));
    let (stages, most) = (shown.list(), percent(shown.most()));
    let given = shell(&context.run.target.given);
    let claim = if shown.least() > 1.0 - SERVED_FROM_CACHE {
        format!("{stages}: answered by {by}; no disk took part.")
    } else {
        format!(
            "{stages}: up to {most} of the bytes were answered by {by}; no disk took part in these."
        )
    };
    RULE.claim(claim)
        .severity(Severity::Warning)
        .headline("answered by a mapping: no disk took part")
        .confidence(Certain)
        .case("mapping")
        .remedy(format!(
            "Write all of the target first: a thin volume has nothing to read where nothing was \
             written. `dmsetup table` (as root) and `diskfacts devices {given}` show which \
             mappings there are; one of type `zero`, or `flakey` that drops writes, stores nothing."
        ))
}

/// The device moved fewer bytes, and no page cache explains it.
fn counted_fewer(facts: &StageFacts<'_>) -> Option<Seen> {
    let layers = facts.figures.layers;
    let lost = 1.0 - layers.device? - layers.page_cache - layers.mapping;
    let workload = facts.workload();
    let by_holes = holes::explain(&facts.run().target, workload, lost);
    unless(!workload.operation.writes() && by_holes)?;
    let issued = show_size(facts.stage.sum(|t| t.bytes));
    let counted = percent(1.0 - lost);
    let line = format!("{issued} issued, of which the devices counted {counted}.");
    let is_lost = lost > SERVED_FROM_CACHE && layers.page_cache <= SERVED_FROM_CACHE;
    is_lost.then(|| Seen::line(1.0 - lost, line))
}

fn fewer(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let run = context.run;
    let least = percent(shown.least());
    let given = shell(&run.target.given);
    RULE.claim(format!(
        "In {} the devices counted only {least} of the bytes issued, and no page cache explains \
         the rest.",
        shown.list()
    ))
    .severity(Severity::Warning)
    .headline(format!("the devices counted {least} of the bytes"))
    .confidence(Possible)
    .case("fewer")
    .remedy(if compresses(&run.stack) {
        format!(
            "The filesystem compresses; measure a folder, for which diskfacts makes a file that \
             cannot be compressed, or look at the extents with `filefrag -v {given}`."
        )
    } else {
        format!(
            "Look for holes in the backing file with `filefrag -v`, and at the stack with \
             `diskfacts devices {given}`."
        )
    })
}

/// Read-ahead, or other reads of this process.
fn fetched_more(facts: &StageFacts<'_>) -> Option<Seen> {
    let (stage, stack) = (facts.stage, &facts.run().stack);
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let issued = stage.sum(|t| t.evidence.issued.read_bytes);
    let counted = stage.known(|t| read(&tops, stack, &t.evidence));
    let process = stage.known(|t| t.evidence.process_io.map(|io| io.read_bytes))?;
    // Both witnesses must see it: the device alone may count the I/O of others.
    let fetched = counted.map_or(process, |device| device.min(process));
    let begun = windows(facts).saturating_mul(stage.trials.len() as u64);
    let times = fetched as f64 / issued as f64;
    let beyond = fetched.saturating_sub(begun) as f64 / issued as f64;
    let [all, got] = [issued, fetched].map(show_size);
    let each = ratio(times);
    let line = format!("{all} read, {got} fetched, {each} bytes for each byte asked for.");
    (issued > 0 && beyond > 1.0 + SERVED_FROM_CACHE).then(|| Seen::line(times, line))
}

fn fetched(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let stack = &context.run.stack;
    let most = ratio(shown.most());
    let edit = edit_profile(context.run, "set read_ahead = \"0B\" under [host]");
    RULE.claim(format!(
        "In {} up to {most} bytes were fetched for each byte asked for: read-ahead, or other \
         reads of this process.",
        shown.list()
    ))
    .severity(warning_if(shown.most() > WASTE))
    .headline(format!("{most} bytes fetched for each asked for"))
    .case("fetched")
    .remedy(match (edit, stack.top()) {
        (Some(edit), _) => format!("If reads are random, {}", lower_first(&edit)),
        (None, Some(top)) => {
            let path = shell(&top.path);
            format!(
                "If reads are random, type `blockdev --setra 0 {path}` as root and measure again; \
                 `blockdev --getra {path}` shows what to put back."
            )
        }
        (None, None) => edit_plan(context.run, "set cache = \"direct\" in this stage"),
    })
}

/// Bytes that the devices read. One that may count what it cuts twice is held against what
/// went on below it.
fn read(tops: &[&BlockDevice], stack: &Stack, evidence: &Evidence) -> Option<u64> {
    let counted = count(tops, Direction::Read, evidence)?;
    if !tops.iter().all(|top| may_count_twice(top)) {
        return Some(counted);
    }
    let on = count(&below(tops, stack), Direction::Read, evidence);
    let on = on.filter(|bytes| *bytes > 0);
    Some(on.map_or(counted, |on| on.min(counted)))
}

/// Bytes that a trial may fetch beyond its end: a window of read-ahead that is
/// being read, and the next one that is asked for meanwhile.
fn windows(facts: &StageFacts<'_>) -> u64 {
    let windows = roots(facts.stack()).filter_map(|top| top.read_ahead_bytes);
    2 * windows.max().unwrap_or(0)
}

/// Writes of the filesystem for its own needs.
fn committed_more(facts: &StageFacts<'_>) -> Option<Seen> {
    let stack = &facts.run().stack;
    let issued = facts.stage.sum(|t| t.evidence.issued.write_bytes);
    // A trial of which it is not known is no evidence for the others.
    let added = facts
        .stage
        .known(|t| Some(beyond_own(t, stack)?.journal_bytes))?;
    let times = 1.0 + added as f64 / issued as f64;
    let ([own, more], each) = ([issued, added].map(show_size), ratio(times));
    let line = format!(
        "{own} written, and {more} more by the device, which grow with the syncs: {each} bytes \
         for each byte written."
    );
    (issued > 0 && times > 1.0 + SERVED_FROM_CACHE).then(|| Seen::line(times, line))
}

fn committed(_: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = ratio(shown.most());
    RULE.claim(format!(
        "In {} the device wrote up to {most} bytes for each byte written: the filesystem adds its \
         journal and metadata to each sync.",
        shown.list()
    ))
    .headline(format!("{most} bytes written for each: the journal"))
    .case("committed")
}

/// A RAID, a mapping or a filesystem moves more than it was given.
fn moved_more(facts: &StageFacts<'_>) -> Option<Seen> {
    let (stack, stage) = (&facts.run().stack, facts.stage);
    let both = [by_devices(stack, stage), by_filesystem(stack, stage)];
    let both = both.into_iter().flatten();
    let both = both.filter(|(times, _)| *times > 1.0 + SERVED_FROM_CACHE);
    let (times, lines): (Vec<f64>, Vec<String>) = both.unzip();
    Some(Seen::lines(times.into_iter().reduce(f64::max)?, lines))
}

fn copied(_: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = ratio(shown.most());
    RULE.claim(format!(
        "In {} the disks moved up to {most} times the bytes of the volume: copies or parity.",
        shown.list()
    ))
    .headline(format!("I/O amplified {most} times: copies or parity"))
    .case("copied")
}

/// Bytes on the disks for each byte of a RAID or mapping.
fn by_devices(stack: &Stack, stage: &Stage<'_>) -> Option<(f64, String)> {
    let has = |kind| stack.devices.iter().any(|d| d.kind == kind);
    let multiplies = has(DeviceKind::SoftwareRaid) || has(DeviceKind::DeviceMapper);
    if !multiplies || has(DeviceKind::Loop) {
        return None;
    }
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let leaves: Vec<&BlockDevice> = stack.leaves().collect();
    let both = |devices: &[&BlockDevice]| {
        stage.known(|t| {
            let read = count(devices, Direction::Read, &t.evidence)?;
            Some(read.saturating_add(count(devices, Direction::Write, &t.evidence)?))
        })
    };
    let (above, below) = (both(&tops)?, both(&leaves)?);
    let times = below as f64 / above as f64;
    let line = format!(
        "{} on {}, {} on {} together, {} bytes for each byte.",
        show_size(above),
        device_list(tops),
        show_size(below),
        device_list(leaves),
        ratio(times)
    );
    (above > 0).then_some((times, line))
}

/// Bytes on the disks for each byte that was written to a filesystem that keeps copies.
fn by_filesystem(stack: &Stack, stage: &Stage<'_>) -> Option<(f64, String)> {
    let filesystem = stack.filesystem.as_ref()?;
    let copies = copies::of_filesystem(stack).most?;
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let issued = stage.sum(|t| t.evidence.issued.write_bytes);
    let counted = stage.known(|t| count(&tops, Direction::Write, &t.evidence))?;
    let line = format!(
        "{} written, {} on the disks together; {} keeps {copies} copies of data ({}).",
        show_size(issued),
        show_size(counted),
        filesystem.kind,
        list(&filesystem.data_profiles)
    );
    (issued > 0 && copies > 1).then_some((counted as f64 / issued as f64, line))
}

#[cfg(test)]
mod tests;
