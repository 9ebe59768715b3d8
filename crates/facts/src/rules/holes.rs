//! The file has parts without data: holes, or extents that were allocated and
//! never written. Reading them gives zeros without any I/O, as fast as memory,
//! so a read figure over them is not one of the device.

use super::prelude::*;
use crate::holes::{empty_share, evidence, may_be_read, path};

pub(super) const RULE: Rule = Rule {
    name: "holes",
    needs: &[NoDocument, Blocks],
    case: "finding",
    check: Check::Stages(&[StageCheck(may_meet_them, not_of_the_device)]),
    ..Rule::WARNING
};

fn may_meet_them(facts: &StageFacts<'_>) -> Option<Seen> {
    let (target, workload) = (&facts.run().target, facts.workload());
    let share = empty_share(target).filter(|share| *share > SERVED_FROM_CACHE)?;
    let reads = workload.operation.reads();
    let may = reads && may_be_read(target, workload, &facts.figures.layers);
    may.then(|| (share, Vec::new()))
}

fn not_of_the_device(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let (share, path) = (percent(shown.most()), shell(path(context.run)));
    let one = shown.stages.len() == 1;
    let looks = if one { "looks" } else { "look" };
    RULE.claim(format!(
        "{share} of the file has no data of its own: reading that part is not I/O, and {} {looks} \
         faster than the device.",
        shown.list()
    ))
    .headline(format!(
        "{share} of the file is holes: not read from the device"
    ))
    .evidence(evidence(&context.run.target))
    .remedy(format!(
        "Measure a file that was written in full: `cp --sparse=never {path} {path}.full`, then \
         `diskfacts measure {path}.full`; or give the folder, and diskfacts makes and fills a file \
         of its own.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::{ExtentMethod, Extents, TargetKind};

    fn with(hole_bytes: u64, unwritten_bytes: Option<u64>) -> diskfacts_record::Run {
        let mut run = testing::healthy();
        run.target.kind = TargetKind::File;
        run.trials
            .retain(|t| t.workload.operation == diskfacts_plan::Operation::Read);
        run.target.extents = Some(Extents {
            span_bytes: 1 << 30,
            hole_bytes,
            unwritten_bytes,
            shared_bytes: Some(0),
            encoded_bytes: Some(0),
            inline_bytes: Some(0),
            extents: Some(9),
            method: ExtentMethod::Fiemap,
        });
        run
    }

    #[test]
    fn holes_and_unwritten_extents_count_together() {
        let run = with(256 << 20, Some(256 << 20));
        let finding = only(&run, RULE.name);
        assert!(finding.claim.starts_with("50 % of the file"), "{finding:?}");
        assert_eq!(finding.evidence[0], "FIEMAP: of 1 GiB, 256 MiB are holes.");
        assert!(finding.remedy.contains("--sparse=never"), "{finding:?}");
    }

    #[test]
    fn the_file_behind_a_loop_device_is_the_one_to_fill() {
        let mut run = with(1 << 30, Some(0));
        run.target.kind = TargetKind::Device;
        run.stack = testing::loop_stack(Some(true));
        let behind = "/srv/an image";
        run.stack.devices[0].backing_file = Some(behind.into());
        let finding = testing::of_rule(&run, RULE.name).expect("the finding");
        let copied = format!("cp --sparse=never '{behind}'");
        assert!(finding.remedy.contains(&copied), "{finding:?}");
    }

    #[test]
    fn reads_that_missed_the_device_are_laid_to_them_alone() {
        let mut run = with(512 << 20, Some(0));
        each(&mut run, "random-read-qd1", |trial| {
            trial.evidence.process_io.as_mut().unwrap().read_bytes /= 2;
            for device in &mut trial.evidence.devices {
                device.read_bytes /= 2;
            }
        });
        only(&run, RULE.name);
    }

    #[test]
    fn what_they_cannot_explain_is_still_laid_to_the_cache() {
        let mut run = with(100 << 20, Some(0));
        each(&mut run, "random-read-qd1", |trial| {
            trial.evidence.process_io.as_mut().unwrap().read_bytes = 0;
            for device in &mut trial.evidence.devices {
                device.read_bytes = 0;
            }
        });
        let found = crate::findings(&run);
        assert_eq!(testing::rules_of(&found), ["holes", "served-from-cache"]);
    }

    #[test]
    fn a_small_hole_explains_nothing_even_where_it_is_not_known_to_lie() {
        let mut run = with(10 << 20, Some(0));
        each(&mut run, "random-read-qd1", |trial| {
            trial.workload.span = Some(64 << 20);
            trial.evidence.process_io.as_mut().unwrap().read_bytes /= 2;
            for device in &mut trial.evidence.devices {
                device.read_bytes /= 2;
            }
        });
        only(&run, "served-from-cache");
        // A large one may.
        run.target.extents.as_mut().unwrap().hole_bytes = 64 << 20;
        only(&run, RULE.name);
    }

    #[test]
    fn a_full_file_and_a_small_hole_are_left_alone() {
        testing::silent(&with(0, Some(0)));
        testing::silent(&with(20 << 20, Some(0)));
    }
}
