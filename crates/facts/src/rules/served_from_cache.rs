//! Bytes that were meant to reach a device were served by the memory of this
//! host: the figure is one of the page cache ([`kept_in_memory`](crate::kept_in_memory)).
//!
//! That buffered I/O stays in the page cache is a note.

use super::prelude::*;
use crate::kept_in_memory::{Cause, Kept, by_cause, evidence, largest_trial};

pub(super) const RULE: Rule = Rule {
    name: "served-from-cache",
    check: Check::Several(check),
    ..Rule::WARNING
};

fn check(context: &Context<'_>) -> Vec<Found> {
    let causes = by_cause(context).into_iter();
    causes
        .map(|(cause, kept)| finding(context.run, &cause, &kept))
        .collect()
}

/// `37 % of the bytes`, or `between 5 % and 40 % of the bytes`.
fn shares(kept: &[Kept<'_, '_>]) -> String {
    let low = kept.iter().map(|(_, share)| *share).fold(1.0, f64::min);
    let high = kept.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let (low, high) = (percent(low), percent(high));
    if low == high {
        format!("{low} of the bytes")
    } else {
        format!("Between {low} and {high} of the bytes")
    }
}

fn finding(run: &Run, cause: &Cause, kept: &[Kept<'_, '_>]) -> Found {
    let stages = names(kept.iter().map(|(stage, _)| stage.name));
    let shares = shares(kept);
    let subject = format!("{shares} of {}", stage_list(&stages));
    let shares = lower_first(&shares);
    let lines = kept.iter().flat_map(|one| evidence(run, cause, *one));
    let found = RULE.claim("").stages(stages).evidence(lines);
    match cause {
        Cause::Memory => of_memory(run, found),
        Cause::Loop(names) => behind_loop(run, names, &subject, found)
            .headline(format!("memory behind the loop device: {shares}")),
        Cause::DirectIgnored => found
            .said(format!(
                "{subject} did not reach a device, though the file was opened past the page \
                 cache: the filesystem served them from memory."
            ))
            .headline(format!("memory, though direct: {shares}"))
            .confidence(Likely)
            .case("direct")
            .remedy(match run.stack.top() {
                Some(top) => format!(
                    "Type `diskfacts measure {}` as root to read the device without the \
                     filesystem (nothing is written), and compare.",
                    shell(&top.path)
                ),
                None => format!(
                    "Type `diskfacts devices {}` for what lies under it, and measure that.",
                    shell(&run.target.given)
                ),
            }),
        Cause::ReadAgain => found
            .said(format!(
                "{subject} came from the page cache, because a trial read blocks of its span more \
                 than once, and only the first time was cold."
            ))
            .headline(format!("memory, read more than once: {shares}"))
            .case("read-twice")
            .remedy(read_once(run, kept)),
        Cause::NotDropped => not_cold(run, &shares, found).said(format!(
            "{subject} came from the page cache: the span had been dropped from it and was back \
             before the trial."
        )),
        Cause::NotCold => not_cold(run, &shares, found)
            .said(format!(
                "{subject} came from the page cache, though it held nothing of the span before \
                 the trial: somebody else read the file meanwhile."
            ))
            .confidence(Possible),
        Cause::Rewritten => found
            .said(format!(
                "{subject} never left the page cache: the blocks were written again before the \
                 sync at the end."
            ))
            .severity(Severity::Note)
            .headline(format!("overwritten in memory before the sync: {shares}"))
            .confidence(Likely)
            .case("synced")
            .remedy(edit_stages(
                run,
                "set sync = \"fdatasync\" or cache = \"direct\" in this stage",
            )),
        Cause::SyncKept => found
            .said(format!(
                "{subject} were not counted by the device, though every write was synced: the \
                 figure is not one of durable writes."
            ))
            .headline(format!("synced, yet not counted by the device: {shares}"))
            .confidence(Likely)
            .case("synced")
            .remedy(format!(
                "Type `diskfacts devices {}` and look for a filesystem or a loop device that does \
                 not pass syncs on (mount options `nobarrier`, `volatile`).",
                shell(&run.target.given)
            )),
        Cause::Buffered => {
            let and_device = when(!shares.starts_with("100 %"), || " and device together");
            found
                .said(format!(
                    "{subject} stayed in the page cache, as buffered I/O does: the figure is one \
                     of memory{and_device}."
                ))
                .severity(Severity::Note)
                .headline(format!("from the page cache: {shares}"))
                .remedy(edit_stages(
                    run,
                    "set cache = \"direct\" in this stage for the device alone",
                ))
        }
    }
}

fn of_memory(run: &Run, found: Found) -> Found {
    let what = run.stack.filesystem.as_ref().map_or_else(
        || "memory".to_owned(),
        |f| format!("{} on {}", f.kind, f.mount_point),
    );
    found
        .said(format!(
            "The target lies in memory ({what}): these figures are not of a disk."
        ))
        .headline("the target lies in memory, not on a disk")
        .case("memory")
}

fn behind_loop(run: &Run, loops: &[String], subject: &str, found: Found) -> Found {
    let commands = loops.iter();
    let commands = commands.map(|name| format!("`losetup --direct-io=on /dev/{name}`"));
    found
        .said(format!(
            "{subject} stayed in the page cache of the file behind {}: the figure is one of \
             memory, not of a disk.",
            list(loops)
        ))
        .case("loop")
        .remedy(format!(
            "Type {} as root, then `{}`.",
            list(commands),
            measure(run)
        ))
}

fn not_cold(run: &Run, shares: &str, found: Found) -> Found {
    found
        .headline(format!("memory, though cold: {shares}"))
        .case("not-cold")
        .remedy(format!(
            "Stop what else uses the file (`fuser -v {}` names it), or measure past the page \
             cache: {}",
            shell(&run.target.path),
            edit_stages(run, "set cache = \"direct\" in this stage")
        ))
}

/// So that no trial reads a block twice.
fn read_once(run: &Run, kept: &[Kept<'_, '_>]) -> String {
    if run.target.kind == TargetKind::Folder {
        let read = kept.iter().map(|(stage, _)| largest_trial(stage)).max();
        let read = read.unwrap_or(0);
        let enough = exact_size(read.checked_next_power_of_two().unwrap_or(read));
        let command = measure_with(run, "--size", &enough);
        format!("Type `{command}`, so that a trial ends before its span does.")
    } else {
        let span = exact_size(run.target.size_bytes);
        edit_plan(run, &format!("set bytes = \"{span}\" in this stage"))
    }
}

#[cfg(test)]
mod tests;
