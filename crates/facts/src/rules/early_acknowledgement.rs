//! Whether the drive's write cache answers before the medium has the data.
//!
//! From outside this shows in one way only: direct writes come back sooner than
//! the medium can have them. How soon that is, a rotating disk tells by its
//! revolutions; else the writes with a sync tell it, which have to wait for the
//! medium if the drive obeys. Where a sync costs nothing, two drives look the
//! same: one whose cache survives a power cut, and one that does not obey.

use super::prelude::*;
use crate::layers::all_leaves;
use crate::revolution::turn_ns;
use crate::write_matrix::SyncCost;

pub(super) const RULE: Rule = Rule {
    name: "early-acknowledgement",
    needs: &[NoDocument, Drives],
    confidence: Possible,
    check: Check::One(check),
    ..Rule::NOTE
};

/// Share of a revolution below which a write cannot have waited for its place:
/// on average it would wait for half of one, and behind the block before it for
/// nearly a whole one.
const OF_A_REVOLUTION: f64 = 0.5;
/// A write with a sync takes so many times as long: the plain one was answered
/// before the medium had it.
const TIMES: f64 = 2.0;
/// Up to here a sync costs nothing.
const FREE: f64 = 1.25;

fn check(context: &Context<'_>) -> Option<Found> {
    let run = context.run;
    let cost = SyncCost::of(context.matrix.as_ref()?)?;
    let revolution = context
        .revolution()
        .filter(|found| cost.plain_ns < OF_A_REVOLUTION * turn_ns(found.rpm));
    let plain = duration(cost.plain_ns);
    let too_soon = revolution.as_ref().map(|found| {
        format!(
            "At {} revolutions per minute one takes {}: a disk that waited for its medium could \
             not answer in {plain}.",
            found.rpm,
            duration(turn_ns(found.rpm))
        )
    });
    let says = ["write back", "write through"];
    let says = says.into_iter().find(|says| all_leaves(&run.stack, says));
    let disks = device_list(run.stack.leaves());
    let kernel = says.map_or_else(
        || "What kind of write cache the disk has is not known.".into(),
        |says| format!("The kernel says `{says}` for the write cache of {disks}."),
    );
    let found = |claim: &str| {
        RULE.claim(claim)
            .stages(names(cost.stages()))
            .evidence([cost.said()])
            .evidence(too_soon)
            .evidence([kernel])
    };
    let volatile = says == Some("write back");
    let early = cost.times >= TIMES && says != Some("write through");
    if early || revolution.is_some() {
        // What a sync adds may be the filesystem's journal, where there is one.
        let by_revolution = revolution.is_some_and(|of| of.is_sure(run));
        let sure = by_revolution || (volatile && run.stack.filesystem.is_none());
        return Some(
            found(
                "The drive acknowledges direct writes from its cache, before its medium has them; \
                 only those with a sync wait for it.",
            )
            .headline("direct writes are acknowledged from the drive's cache")
            .confidence(likely_if(sure))
            .remedy(switch_off(run)),
        );
    }
    let of_profile = "`protected` of its write cache or lying_flush of [faults]";
    (cost.times <= FREE && volatile).then(|| {
        found(
            "A sync costs nothing here: either the drive's cache survives a power cut, or the \
             drive, or what emulates it, acknowledges a flush before the medium has the data.",
        )
        .headline("a sync costs nothing: protected cache, or ignored flush")
        .remedy(
            "Look for power-loss protection in the data sheet, or for the cache mode of the \
             virtual disk; only pulling the plug tells for sure.",
        )
        .planted(run, of_profile)
    })
}

fn switch_off(run: &Run) -> String {
    let sync = "Sync what must survive a power cut: O_DIRECT alone does not.";
    let rotates = run.stack.leaves().any(|leaf| leaf.rotational == Some(true));
    match edit_profile(run, "set enabled = false under [hdd.write_cache]") {
        Some(edit) if rotates => {
            let edit = lower_first(&edit);
            format!("{sync} To do without the drive's cache, {edit}")
        }
        Some(_) => sync.into(),
        None => format!(
            "{sync} Where the drive's cache is to be off, `hdparm -W 0` or `sdparm --clear WCE` \
             does it."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, seed_run, wobble};

    fn run(times: f64, write_cache: Option<&str>) -> Run {
        let mut run = matrix_run(|mode, size| {
            let factor = if mode.sync.each_write() { times } else { 1.0 };
            size as f64 / (80e3 * factor) * 1e9 * wobble(mode, size, 0.02)
        });
        run.stack.filesystem = None;
        for device in &mut run.stack.devices {
            device.write_cache = write_cache.map(str::to_owned);
        }
        run
    }

    #[test]
    fn slow_syncs_on_a_volatile_cache_show_that_it_answers_early() {
        let finding = of_rule(&run(15.0, Some("write back")), RULE.name).unwrap();
        assert!(finding.claim.contains("before its medium"), "{finding:#?}");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.evidence[0].contains("15 times"), "{finding:#?}");
        // A filesystem adds a journal to a sync, and that may be all.
        let mut on_a_filesystem = run(15.0, Some("write back"));
        on_a_filesystem.stack.filesystem = Some(diskfacts_record::Filesystem::default());
        let finding = of_rule(&on_a_filesystem, RULE.name).unwrap();
        assert_eq!(finding.confidence, Confidence::Possible);
        let finding = of_rule(&run(15.0, None), RULE.name).unwrap();
        assert_eq!(finding.confidence, Confidence::Possible);
    }

    #[test]
    fn syncs_that_cost_nothing_have_two_explanations() {
        let finding = of_rule(&run(1.05, Some("write back")), RULE.name).unwrap();
        assert!(finding.claim.contains("costs nothing"), "{finding:#?}");
        assert_eq!(finding.confidence, Confidence::Possible);
    }

    #[test]
    fn direct_writes_that_stay_in_a_page_cache_below_show_nothing_of_a_drive() {
        let mut run = run(15.0, Some("write back"));
        for trial in &mut run.trials {
            trial.layers = crate::testing::cached();
        }
        assert!(of_rule(&run, RULE.name).is_none());
    }

    #[test]
    fn a_drive_without_a_volatile_cache_is_believed() {
        assert!(of_rule(&run(15.0, Some("write through")), RULE.name).is_none());
        assert!(of_rule(&run(1.05, Some("write through")), RULE.name).is_none());
        // Neither free nor dear: nothing follows.
        assert!(of_rule(&run(1.5, Some("write back")), RULE.name).is_none());
    }

    #[test]
    fn the_disk_of_the_benchmark_answers_in_less_than_half_a_revolution() {
        let finding = of_rule(&seed_run(), RULE.name).unwrap();
        assert!(finding.claim.contains("before its medium"), "{finding:#?}");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.evidence[1].contains("8.33 ms"), "{finding:#?}");
        // Even where the disk says that it has no such cache.
        let mut denied = seed_run();
        denied.stack.devices[0].write_cache = Some("write through".into());
        assert!(of_rule(&denied, RULE.name).is_some());
    }
}
