//! Direct I/O was asked for and not done: the page cache was in the way.

use super::{Context, names};
use crate::layers::in_memory;
use crate::stages::Stage;
use crate::words::{edit_plan, list, shell, stage_list};
use diskfacts_plan::units::exact_size;
use diskfacts_record::{Confidence, DirectIo, Finding, Severity};

pub(super) const NAME: &str = "direct-refused";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let refused: Vec<_> = context
        .doing_io()
        .filter_map(|(stage, _)| {
            let reason = stage.trials.iter().find_map(|t| t.direct_refused())?;
            Some((stage, reason))
        })
        .collect();
    if refused.is_empty() {
        return Vec::new();
    }
    let stages = names(refused.iter().map(|(stage, _)| stage.name));
    let needs = context.run.target.direct;
    let mut evidence = reasons(&refused);
    // No alignment would make memory do direct I/O.
    if !in_memory(&context.run.stack) {
        evidence.push(alignment(needs));
    }
    let misaligned: Vec<String> = refused
        .iter()
        .filter_map(|(stage, _)| {
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
        headline: "direct I/O refused: went through the page cache".into(),
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

/// Each reason once, with what it was given for: the cells of a matrix often
/// share it.
fn reasons(refused: &[(&Stage<'_>, &str)]) -> Vec<String> {
    let given = names(refused.iter().map(|(_, reason)| *reason));
    let mut told = Vec::new();
    for reason in given {
        let of: Vec<&Stage<'_>> = refused
            .iter()
            .filter(|(_, other)| **other == reason)
            .map(|(stage, _)| *stage)
            .collect();
        let what = match of.as_slice() {
            [only] => only.label(),
            all => {
                let stages = names(all.iter().map(|stage| stage.name));
                let cells = if stages.len() < all.len() {
                    format!(" ({} cells)", all.len())
                } else {
                    String::new()
                };
                format!("{}{cells}", list(&stages))
            }
        };
        told.push(format!("{what}: {}.", reason.trim_end_matches('.')));
    }
    told
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
    if in_memory(&run.stack) {
        return "Name a folder or a file on a disk: memory has no direct I/O to measure.".into();
    }
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
    fn a_target_in_memory_that_refuses_is_said_to_refuse() {
        let mut run = testing::on(testing::memory_stack());
        assert!(!testing::rules_of(&crate::findings(&run)).contains(&NAME));
        refuse(&mut run, "random-read-qd1");
        run.target.direct = Some(DirectIo {
            memory_alignment_bytes: 512,
            offset_alignment_bytes: 16384,
        });
        let findings = crate::findings(&run);
        let finding = findings.iter().find(|f| f.rule == NAME).expect("a finding");
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
        let finding = found.iter().find(|f| f.rule == NAME).expect("a finding");
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
