//! Direct I/O was asked for and not done: the page cache was in the way.

use super::{Context, names};
use crate::layers::in_memory;
use crate::words::{edit_plan, list, shell, stage_list};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::exact_size;
use diskfacts_record::{Confidence, DirectIo, Finding, Severity};

pub(super) const NAME: &str = "direct-refused";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    // Of a target in memory another rule says all there is to say.
    if in_memory(&context.run.stack) {
        return Vec::new();
    }
    let refused: Vec<_> = context
        .doing_io()
        .filter(|(stage, _)| {
            stage.workload().cache == CacheMode::Direct
                && stage.trials.iter().any(|t| !t.evidence.engine.direct)
        })
        .map(|(stage, _)| stage)
        .collect();
    if refused.is_empty() {
        return Vec::new();
    }
    let stages = names(refused.iter().map(|stage| stage.name));
    let needs = context.run.target.direct;
    let mut evidence = Vec::new();
    for stage in &refused {
        let reason = stage
            .trials
            .iter()
            .find_map(|t| t.evidence.engine.direct_refused.as_deref());
        let reason = reason.unwrap_or("no reason was recorded");
        evidence.push(format!(
            "{}: {}.",
            stage.label(),
            reason.trim_end_matches('.')
        ));
    }
    evidence.push(alignment(needs));
    let misaligned: Vec<String> = refused
        .iter()
        .filter_map(|stage| {
            let multiple = u64::from(needs?.offset_alignment_bytes);
            let size = stage.workload().block_size;
            (multiple > 0 && !size.is_multiple_of(multiple)).then(|| {
                format!(
                    "block_size = \"{}\" in {}",
                    exact_size(size.next_multiple_of(multiple)),
                    stage.name
                )
            })
        })
        .collect();
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "Direct I/O was refused in {}: the figures went through the page cache.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "An open of the target with O_DIRECT and an aligned read that succeed.".into(),
        remedy: remedy(context, needs, &misaligned),
        stages,
    }]
}

fn alignment(needs: Option<DirectIo>) -> String {
    match needs {
        None => "The kernel does not tell what direct I/O needs here (statx DIOALIGN, since Linux \
                 6.1)."
            .into(),
        Some(d) if d.offset_alignment_bytes == 0 => {
            "The kernel says that this target has no direct I/O (statx DIOALIGN is 0).".into()
        }
        Some(d) => format!(
            "Direct I/O needs offsets and lengths that are multiples of {} bytes and buffers \
             aligned to {} bytes (statx DIOALIGN).",
            d.offset_alignment_bytes, d.memory_alignment_bytes
        ),
    }
}

fn remedy(context: &Context<'_>, needs: Option<DirectIo>, misaligned: &[String]) -> String {
    let run = context.run;
    if !misaligned.is_empty() {
        return edit_plan(run, &format!("set {}", list(misaligned)));
    }
    match run.stack.top() {
        Some(top) if needs.is_none_or(|d| d.offset_alignment_bytes == 0) => format!(
            "Type `diskfacts measure {}` as root to read the device without the filesystem \
             (nothing is written).",
            shell(&top.path)
        ),
        _ => format!(
            "Type `diskfacts devices {}` for what the target needs.",
            shell(&run.target.given)
        ),
    }
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
        let finding = only(&run, NAME);
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
        let remedy = only(&run, NAME).remedy;
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
        let finding = only(&run, NAME);
        assert_eq!(finding.stages, ["random-read-qd1", "sequential-write"]);
        assert!(finding.remedy.contains("/dev/vda1"), "{finding:?}");
    }

    #[test]
    fn buffered_stages_do_not_ask_for_it() {
        testing::silent(&testing::healthy());
    }
}
