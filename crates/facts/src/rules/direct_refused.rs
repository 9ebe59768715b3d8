//! Direct I/O was asked for and not done: the page cache was in the way.

use super::prelude::*;
use crate::direct_refused::{DirectRefused, alignment};
use crate::layers::in_memory;
use diskfacts_record::DirectIo;

pub(super) const RULE: Rule = Rule {
    name: "direct-refused",
    check: Check::One(check),
    ..Rule::WARNING
};

fn check(context: &Context<'_>) -> Option<Found> {
    let refused = DirectRefused::of(context)?;
    let needs = context.run.target.direct;
    // No alignment would make memory do direct I/O.
    let alignment = (!in_memory(&context.run.stack)).then(|| alignment(needs));
    let stages = names(refused.stages.iter().map(|stage| stage.name));
    Some(
        RULE.claim(format!(
            "Direct I/O was refused in {}: the figures went through the page cache.",
            stage_list(&stages)
        ))
        .headline("direct I/O refused: went through the page cache")
        .remedy(remedy(context.run, needs, &refused))
        .stages(stages)
        .evidence(refused.said())
        .evidence(alignment),
    )
}

fn remedy(run: &Run, needs: Option<DirectIo>, refused: &DirectRefused<'_, '_>) -> String {
    if in_memory(&run.stack) {
        return "Name a folder or a file on a disk: memory has no direct I/O to measure.".into();
    }
    let multiple = needs.map_or(0, |needs| u64::from(needs.offset_alignment_bytes));
    let set = refused
        .aligned(multiple)
        .map(|(size, stage)| format!("block_size = \"{}\" in {stage}", exact_size(size)));
    let set = if_any(list(set), |set| edit_plan(run, &format!("set {set}")));
    set.unwrap_or_else(|| match run.stack.top() {
        Some(top) if multiple == 0 => format!(
            "Type `diskfacts measure {}` as root to read the device without the filesystem \
             (nothing is written).",
            shell(&top.path)
        ),
        _ => format!(
            "Type `diskfacts devices {}` for what the target needs.",
            shell(&run.target.given)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    fn refuse(run: &mut diskfacts_record::Run, stage: &str) {
        each(run, stage, |trial| {
            trial.evidence.engine.direct = false;
            trial.evidence.engine.direct_refused =
                Some("open with O_DIRECT gave EINVAL (22, Invalid argument)".into());
        });
    }

    #[test]
    fn the_reason_and_the_needed_alignment_are_told() {
        let mut run = testing::healthy();
        refuse(&mut run, "random-read-qd1");
        run.target.direct = Some(DirectIo {
            memory_alignment_bytes: 512,
            offset_alignment_bytes: 16384,
        });
        let finding = only(&run, RULE.name);
        assert_eq!(
            finding.evidence,
            [
                "random-read-qd1: open with O_DIRECT gave EINVAL (22, Invalid argument).",
                "Direct I/O needs offsets and lengths that are multiples of 16384 bytes and \
                 buffers aligned to 512 bytes (statx DIOALIGN).",
            ]
        );
        assert!(
            finding
                .remedy
                .contains("block_size = \"16KiB\" in random-read-qd1"),
            "{finding:?}"
        );
    }

    #[test]
    fn blocks_that_are_aligned_are_not_told_to_change() {
        let mut run = testing::healthy();
        refuse(&mut run, "random-read-qd1");
        run.target.direct = Some(DirectIo {
            memory_alignment_bytes: 512,
            offset_alignment_bytes: 512,
        });
        let remedy = only(&run, RULE.name).remedy;
        assert_eq!(
            remedy,
            "Type `diskfacts devices /srv/data` for what the target needs."
        );
    }

    #[test]
    fn a_filesystem_without_direct_io_sends_to_the_device() {
        let mut run = testing::healthy();
        refuse(&mut run, "random-read-qd1");
        refuse(&mut run, "sequential-write");
        run.target.direct = Some(DirectIo {
            memory_alignment_bytes: 0,
            offset_alignment_bytes: 0,
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.stages, ["random-read-qd1", "sequential-write"]);
        assert!(finding.remedy.contains("/dev/vda1"), "{finding:?}");
    }

    #[test]
    fn a_target_in_memory_that_refuses_is_said_to_refuse() {
        let mut run = testing::on(testing::memory_stack());
        assert!(!testing::rules_of(&crate::findings(&run)).contains(&RULE.name));
        refuse(&mut run, "random-read-qd1");
        run.target.direct = Some(DirectIo {
            memory_alignment_bytes: 512,
            offset_alignment_bytes: 16384,
        });
        let findings = crate::findings(&run);
        let finding = findings
            .iter()
            .find(|f| f.rule == RULE.name)
            .expect("a finding");
        assert_eq!(finding.stages, ["random-read-qd1"]);
        assert_eq!(finding.evidence.len(), 1, "{finding:?}");
        assert!(finding.evidence[0].contains("EINVAL"), "{finding:?}");
        assert!(
            finding
                .remedy
                .starts_with("Name a folder or a file on a disk"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_reason_that_the_cells_of_a_matrix_share_is_told_once() {
        let mut run = testing::matrix_run(|_, _| 1e8);
        refuse(&mut run, "streaming");
        let found = crate::findings(&run);
        let finding = found
            .iter()
            .find(|f| f.rule == RULE.name)
            .expect("a finding");
        // Three direct modes at 14 sizes.
        assert_eq!(
            finding.evidence[0],
            "streaming (42 cells): open with O_DIRECT gave EINVAL (22, Invalid argument)."
        );
        assert_eq!(finding.evidence.len(), 2, "{finding:?}");
    }

    #[test]
    fn buffered_stages_do_not_ask_for_it() {
        testing::silent(&testing::healthy());
    }
}
