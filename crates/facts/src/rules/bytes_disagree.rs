//! The devices moved more or fewer bytes than were issued, by more than 2 %,
//! for a reason that is not the page cache and not the I/O of others
//! ([`moved`](crate::stage_facts::moved)).

use super::prelude::*;
use crate::holes;
use crate::layers::counted::roots;
use crate::layers::reach::compresses;
use crate::stage_facts::moved;

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

/// A device above the disks answered by itself: bytes came in at it that no disk moved.
fn answered(facts: &StageFacts<'_>) -> Option<Seen> {
    let share = facts.figures.layers.mapping;
    unless(share <= SERVED_FROM_CACHE)?;
    let (by, bytes) = moved::answered(facts);
    let [above, below] = bytes.map(show_size);
    let (at, names) = (device_list(roots(&facts.run().stack)), list(&by));
    let line = format!("{above} came in at {at}, {below} went on below {names}.");
    Some((share, vec![line]))
}

fn by_mapping(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let by: Vec<String> = shown.facts().flat_map(|of| moved::answered(of).0).collect();
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
    let lost = moved::lost(facts).filter(|lost| *lost > SERVED_FROM_CACHE)?;
    let workload = facts.workload();
    let by_holes = holes::explain(&facts.run().target, workload, lost);
    unless(!workload.operation.writes() && by_holes)?;
    unless(facts.memory_share() > SERVED_FROM_CACHE)?;
    let issued = show_size(facts.stage.sum(|t| t.bytes));
    let counted = percent(1.0 - lost);
    let line = format!("{issued} issued, of which the devices counted {counted}.");
    Some((1.0 - lost, vec![line]))
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
    let moved = moved::fetched(facts)?;
    let lasting = moved.below.saturating_sub(moved::beyond_ends(facts));
    let beyond = lasting as f64 / moved.above as f64;
    let [all, got] = [moved.above, moved.below].map(show_size);
    let each = ratio(moved.times());
    let line = format!("{all} read, {got} fetched, {each} bytes for each byte asked for.");
    (beyond > 1.0 + SERVED_FROM_CACHE).then(|| (moved.times(), vec![line]))
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

/// Writes of the filesystem for its own needs.
fn committed_more(facts: &StageFacts<'_>) -> Option<Seen> {
    let added = moved::added_by_journal(facts)?;
    let times = 1.0 + added.times();
    let ([own, more], each) = ([added.above, added.below].map(show_size), ratio(times));
    let line = format!(
        "{own} written, and {more} more by the device, which grow with the syncs: {each} bytes \
         for each byte written."
    );
    (times > 1.0 + SERVED_FROM_CACHE).then(|| (times, vec![line]))
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
    let both = [moved::below_array(facts), moved::below_filesystem(facts)];
    let both = both.into_iter().flatten();
    let both = both.filter(|(times, _)| *times > 1.0 + SERVED_FROM_CACHE);
    let (times, lines): (Vec<f64>, Vec<String>) = both.unzip();
    Some((times.into_iter().reduce(f64::max)?, lines))
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

#[cfg(test)]
mod tests;
