//! Bytes that were meant to reach a device were served by the memory of this
//! host: the figure is one of the page cache.
//!
//! Counted: see the module that works out the layers. What is missing is then
//! laid to one cause, the most specific that the evidence allows. Stages that
//! are meant to be cached are left out; that buffered I/O stays in the page
//! cache is a note. Shares up to 2 % are left to rounding, to pages that were
//! read for other reasons and to I/O under way when a window closed.

mod cause;
mod evidence;

use super::prelude::*;
use cause::{Buffered, Cause, Cold};

pub(super) const RULE: Rule = Rule {
    name: "served-from-cache",
    check: Check::Several(check),
    ..Rule::WARNING
};

/// A stage, and the share of its bytes that stayed in memory.
type Case<'c, 'a> = (&'c Stage<'a>, f64);

fn check(context: &Context<'_>) -> Vec<Found> {
    let shares = context
        .doing_io()
        .map(|(stage, figures)| (stage, figures.layers.page_cache));
    let mut causes = Vec::new();
    for (stage, share) in shares.filter(|(_, share)| *share > SERVED_FROM_CACHE) {
        if let Some(cause) = cause::of(context, stage, share) {
            join(&mut causes, cause, (stage, share));
        }
    }
    let each = causes.iter();
    each.map(|(cause, cases)| finding(context, cause, cases))
        .collect()
}

/// `37 % of the bytes`, or `between 5 % and 40 % of the bytes`.
fn shares(cases: &[Case<'_, '_>]) -> String {
    let low = cases.iter().map(|(_, share)| *share).fold(1.0, f64::min);
    let high = cases.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let (low, high) = (percent(low), percent(high));
    if low == high {
        format!("{low} of the bytes")
    } else {
        format!("Between {low} and {high} of the bytes")
    }
}

fn finding(context: &Context<'_>, cause: &Cause, cases: &[Case<'_, '_>]) -> Found {
    let run = context.run;
    let stages = names(cases.iter().map(|(stage, _)| stage.name));
    let shares = shares(cases);
    let subject = format!("{shares} of {}", stage_list(&stages));
    let shares = lower_first(&shares);
    let evidence = cases
        .iter()
        .flat_map(|(stage, share)| evidence::of(context, cause, stage, *share));
    let base = RULE.claim("").stages(stages).evidence(evidence);
    match cause {
        Cause::Cold(why) => cold(run, *why, cases, [&shares, &subject], base),
        Cause::Buffered(why) => buffered(run, *why, [&shares, &subject], base),
        Cause::Memory => {
            let what = run.stack.filesystem.as_ref().map_or_else(
                || "memory".to_owned(),
                |f| format!("{} on {}", f.kind, f.mount_point),
            );
            base.said(format!(
                "The target lies in memory ({what}): these figures are not of a disk."
            ))
            .headline("the target lies in memory, not on a disk")
            .case("memory")
        }
        Cause::Loop(names) => {
            let commands = names
                .iter()
                .map(|name| format!("`losetup --direct-io=on /dev/{name}`"));
            base.said(format!(
                "{subject} stayed in the page cache of the file behind {}: the figure is one \
                     of memory, not of a disk.",
                list(names)
            ))
            .headline(format!("memory behind the loop device: {shares}"))
            .case("loop")
            .remedy(format!(
                "Type {} as root, then `{}`.",
                list(commands),
                measure(run)
            ))
        }
        Cause::DirectIgnored => base
            .said(format!(
                "{subject} did not reach a device, though the file was opened past the page \
                 cache: the filesystem served them from memory."
            ))
            .headline(format!("memory, though direct: {shares}"))
            .confidence(Confidence::Likely)
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
    }
}

/// Of stages that were to begin with an empty page cache.
fn cold(
    run: &Run,
    why: Cold,
    cases: &[Case<'_, '_>],
    [shares, subject]: [&str; 2],
    base: Found,
) -> Found {
    if why == Cold::ReadAgain {
        let read = cases
            .iter()
            .map(|(stage, _)| evidence::largest_trial(stage));
        let read = read.max().unwrap_or(0);
        let enough = exact_size(read.checked_next_power_of_two().unwrap_or(read));
        return base
            .said(format!(
                "{subject} came from the page cache, because a trial read blocks of its span more \
                 than once, and only the first time was cold."
            ))
            .headline(format!("memory, read more than once: {shares}"))
            .case("read-twice")
            .remedy(if run.target.kind == TargetKind::Folder {
                format!(
                    "Type `{}`, so that a trial ends before its span does.",
                    measure_with(run, "--size", &enough)
                )
            } else {
                let span = exact_size(run.target.size_bytes);
                edit_plan(run, &format!("set bytes = \"{span}\" in this stage"))
            });
    }
    let (though, confidence) = if why == Cold::NotDropped {
        (
            ": the span had been dropped from it and was back before the trial",
            Confidence::Certain,
        )
    } else {
        (
            ", though it held nothing of the span before the trial: somebody else read the file \
             meanwhile",
            Confidence::Possible,
        )
    };
    base.said(format!("{subject} came from the page cache{though}."))
        .headline(format!("memory, though cold: {shares}"))
        .confidence(confidence)
        .case("not-cold")
        .remedy(format!(
            "Stop what else uses the file (`fuser -v {}` names it), or measure past the page \
             cache: {}",
            shell(&run.target.path),
            edit_stages(run, "set cache = \"direct\" in this stage")
        ))
}

/// Of stages that go through the page cache.
fn buffered(run: &Run, why: Buffered, [shares, subject]: [&str; 2], base: Found) -> Found {
    if why == Buffered::AsItDoes {
        let all = subject.starts_with("100 %");
        let and_device = when(!all, || " and device together");
        return base
            .said(format!(
                "{subject} stayed in the page cache, as buffered I/O does: the figure is one of \
                 memory{and_device}."
            ))
            .severity(Severity::Note)
            .headline(format!("from the page cache: {shares}"))
            .remedy(edit_stages(
                run,
                "set cache = \"direct\" in this stage for the device alone",
            ));
    }
    let synced = base.confidence(Confidence::Likely).case("synced");
    if why == Buffered::Rewritten {
        return synced
            .said(format!(
                "{subject} never left the page cache: the blocks were written again before the \
                 sync at the end."
            ))
            .severity(Severity::Note)
            .headline(format!("overwritten in memory before the sync: {shares}"))
            .remedy(edit_stages(
                run,
                "set sync = \"fdatasync\" or cache = \"direct\" in this stage",
            ));
    }
    synced
        .said(format!(
            "{subject} were not counted by the device, though every write was synced: the figure \
             is not one of durable writes."
        ))
        .headline(format!("synced, yet not counted by the device: {shares}"))
        .remedy(format!(
            "Type `diskfacts devices {}` and look for a filesystem or a loop device that does not \
             pass syncs on (mount options `nobarrier`, `volatile`).",
            shell(&run.target.given)
        ))
}

#[cfg(test)]
mod tests;
