//! Operations failed: counted, with what came back and where it began.

use super::{Context, names};
use crate::simulated::planted;
use crate::words::{count, is_copy, list, measure_with, shell, stage_list};
use diskfacts_plan::units::{exact_size, show_size};
use diskfacts_record::evidence::ErrorCount;
use diskfacts_record::{Confidence, Finding, Severity, Trial};

pub(super) const NAME: &str = "io-errors";

/// Linux: no space left on device.
const ENOSPC: i32 = 28;
/// Linux: what the block layer answers where sectors cannot be read or written
/// (`BLK_STS_MEDIUM` in `block/blk-core.c`).
const ENODATA: i32 = 61;
/// Linux: the device is gone, or was never there; the same of its address.
const GONE: [i32; 2] = [19, 6];
/// Linux: invalid argument, which misaligned direct I/O gets.
const EINVAL: i32 = 22;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut failed = 0_u64;
    let mut kinds: Vec<i32> = Vec::new();
    let mut only_checks = true;
    let (mut excluded, mut without) = (0_u64, Vec::new());
    for (stage, figures) in context.each() {
        let mut errors: Vec<ErrorCount> = Vec::new();
        for error in stage.all_trials().flat_map(|t| &t.evidence.errors) {
            let same =
                |e: &&mut ErrorCount| (&e.operation, e.errno) == (&error.operation, error.errno);
            match errors.iter_mut().find(same) {
                Some(known) => add(known, error),
                None => errors.push(error.clone()),
            }
        }
        let counted = errors.iter().map(|e| e.count).fold(0, u64::saturating_add);
        let here = figures.errors.max(counted);
        if here == 0 {
            continue;
        }
        failed = failed.saturating_add(here);
        stages.push(stage.name);
        let with_errors = |trials: &[&Trial]| trials.iter().filter(|t| t.errors > 0).count();
        excluded += with_errors(&stage.failed) as u64;
        if !stage.is_sound() {
            excluded += with_errors(&stage.trials) as u64;
            without.push(stage.name);
        }
        evidence.extend(errors.iter().map(|error| said(&stage.label(), error)));
        if errors.is_empty() {
            evidence.push(format!(
                "{}: {} failed; what came back was not recorded.",
                stage.label(),
                count(here, "operation")
            ));
        }
        kinds.extend(errors.iter().map(|e| e.errno));
        only_checks &= !errors.is_empty() && errors.iter().all(|e| e.operation == "check");
    }
    if failed == 0 {
        return Vec::new();
    }
    evidence.extend(
        gone(context)
            .iter()
            .map(|name| format!("{name} was gone when the run ended.")),
    );
    let stages = names(stages);
    let figures = if is_copy(context.run) {
        "the figures are of those that succeeded".to_owned()
    } else if without.is_empty() {
        format!("{} excluded from the results", with_errors(excluded))
    } else {
        format!(
            "{} excluded from the results, and {} no figure",
            with_errors(excluded),
            if without.len() < stages.len() {
                format!("{} has", stage_list(&names(without)))
            } else {
                "there is".to_owned()
            }
        )
    };
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Error,
        headline: format!(
            "{} failed{}",
            count(failed, "operation"),
            first_error(context)
        ),
        claim: format!(
            "{} failed in {}; {figures}.",
            count(failed, "operation"),
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: if only_checks {
            "A second run in which the same bytes are right: then they went wrong on the way, or \
             somebody else wrote them."
        } else {
            "The kernel returned these errors; nothing refutes them. A second run without errors \
             would show that they come and go."
        }
        .into(),
        remedy: remedy(context, &kinds),
        stages,
    }]
}

/// `1 trial with errors is`, `3 trials with errors are`.
fn with_errors(trials: u64) -> String {
    let verb = if trials == 1 { "is" } else { "are" };
    format!("{} with errors {verb}", count(trials, "trial"))
}

/// Counts the same error of another trial.
fn add(known: &mut ErrorCount, error: &ErrorCount) {
    known.count = known.count.saturating_add(error.count);
    let ends = |a: Option<u64>, b: Option<u64>, of: fn(u64, u64) -> u64| Some(of(a?, b?));
    known.lowest_offset = ends(known.lowest_offset, error.lowest_offset, u64::min);
    known.highest_offset = ends(known.highest_offset, error.highest_offset, u64::max);
}

fn said(stage: &str, error: &ErrorCount) -> String {
    let times = count(error.count, "time");
    let place = if error.operation == ErrorCount::WRITE_BACK {
        "after the operations had returned: what lay in the page cache was lost".to_owned()
    } else if error.of_files() {
        format!("first at file {}", error.first_offset)
    } else if let Some((low, high)) = error
        .lowest_offset
        .zip(error.highest_offset)
        .filter(|(low, high)| low < high)
    {
        format!(
            "between byte {low} ({}) and byte {high} ({})",
            show_size(low),
            show_size(high)
        )
    } else {
        format!(
            "first at byte {} ({})",
            error.first_offset,
            show_size(error.first_offset)
        )
    };
    if error.operation == "check" {
        format!(
            "{stage}: a check found a wrong value {times}; the first: {}.",
            error.message
        )
    } else if error.errno == 0 {
        format!("{stage}: {} ended short {times}, {place}.", error.operation)
    } else {
        // The system's words may end with the number once more.
        let number = format!(" (os error {})", error.errno);
        let message = error.message.trim_end_matches(&number);
        format!(
            "{stage}: {} failed {times} with error {} ({message}), {place}.",
            error.operation, error.errno
        )
    }
}

/// The devices that went away while the run measured them.
fn gone<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let gone = context.run.gone();
    gone.map(|device| device.name.as_str()).collect()
}

fn remedy(context: &Context<'_>, kinds: &[i32]) -> String {
    if let Some(planted) = planted(context.run, "[[faults.weak_sector]]") {
        return format!("{planted}.");
    }
    let mut steps = vec![
        "Type `dmesg --ctime --level=err,warn | tail -n 30` for what the kernel \
                          says about it"
            .to_owned(),
    ];
    let gone = gone(context);
    let disks: Vec<String> = context
        .run
        .stack
        .leaves()
        .filter(|leaf| leaf.backing_file.is_none() && !gone.contains(&leaf.name.as_str()))
        .map(|leaf| format!("`smartctl -a {}`", shell(&leaf.path)))
        .collect();
    if !disks.is_empty() {
        steps.push(format!("{} for the health of the disk", list(&disks)));
    }
    for device in &context.run.stack.devices {
        if let Some(file) = &device.backing_file {
            steps.push(format!(
                "`ls -ls {}` to see whether the file behind {} was cut short",
                shell(file),
                device.name
            ));
        }
    }
    if kinds.contains(&ENODATA) {
        steps.push(
            "what lies in these sectors is lost unless a copy exists: save the rest of the disk \
             first, and replace it"
                .to_owned(),
        );
    }
    if !gone.is_empty() || kinds.iter().any(|kind| GONE.contains(kind)) {
        steps.push("`lsblk` to see whether the device is still there".to_owned());
    }
    if kinds.contains(&ENOSPC) {
        steps.push("`df -h` and `df -i` for the room and the inodes that are left".to_owned());
        let devices = context.run.stack.devices.iter();
        for thin in devices.filter(|device| device.targets.iter().any(|of| of == "thin")) {
            steps.push(format!(
                "`lvs` to see whether the pool under the thin volume {} is full",
                thin.name
            ));
        }
        let half = exact_size((context.run.target.size_bytes / 2).max(1 << 20));
        steps.push(if is_copy(context.run) {
            "free some space, or copy less with count=".to_owned()
        } else {
            format!(
                "free some space, or take a smaller file with `{}`",
                measure_with(context.run, "--size", &half)
            )
        });
    }
    if kinds.contains(&EINVAL) {
        steps.push(format!(
            "`diskfacts devices {}` for the alignment that direct I/O needs",
            shell(&context.run.target.given)
        ));
    }
    format!("{}.", steps.join("; "))
}

/// `: No space left on device`, of the first that failed.
fn first_error(context: &Context<'_>) -> String {
    let mut trials = context.run.trials.iter();
    let first = trials.find_map(|trial| trial.evidence.errors.first());
    first.map_or_else(String::new, |error| format!(": {}", error.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::{HealthAfter, ImpairedAfter, Impairment, ImpairmentKind};

    fn error(errno: i32, message: &str, count: u64) -> ErrorCount {
        ErrorCount {
            operation: "read".into(),
            errno,
            message: message.into(),
            count,
            first_offset: 1 << 20,
            lowest_offset: None,
            highest_offset: None,
        }
    }

    #[test]
    fn trials_with_errors_are_excluded_and_that_is_said() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            trial.errors = u64::from(trial.number > 3);
        });
        let claim = only(&run, NAME).claim;
        assert!(
            claim.ends_with("2 trials with errors are excluded from the results."),
            "{claim}"
        );
        each(&mut run, "mixed-70-30", |trial| trial.errors = 1);
        let claim = only(&run, NAME).claim;
        assert!(
            claim.ends_with(
                "7 trials with errors are excluded from the results, and mixed-70-30 has no figure."
            ),
            "{claim}"
        );
    }

    #[test]
    fn the_lowest_and_the_highest_place_of_all_trials_are_told() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.errors = 1;
            let at = u64::from(trial.number) << 20;
            trial.evidence.errors = vec![ErrorCount {
                lowest_offset: Some(at),
                highest_offset: Some(at + 4096),
                ..error(ENODATA, "ENODATA, medium error", 1)
            }];
        });
        let finding = only(&run, NAME);
        assert_eq!(
            finding.evidence,
            [
                "random-read-qd32: read failed 5 times with error 61 (ENODATA, medium error), \
                 between byte 1048576 (1 MiB) and byte 5246976 (5 MiB)."
            ]
        );
        assert!(
            finding.remedy.contains("save the rest of the disk"),
            "{finding:?}"
        );
        assert!(!finding.remedy.contains("lsblk"), "{finding:?}");
    }

    /// A disk of NVM Express that is taken away has no byte left, and no error of its own.
    #[test]
    fn reads_that_end_short_on_a_device_that_went_away_say_so_and_ask_not_for_its_health() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.errors = 1;
            trial.evidence.errors = vec![error(0, "moved fewer bytes than asked", 1)];
        });
        let there = only(&run, NAME);
        assert!(there.remedy.contains("smartctl"), "{there:?}");
        assert!(!there.remedy.contains("lsblk"), "{there:?}");
        let disk = run.stack.leaves().next().expect("a disk").name.clone();
        let found = Impairment {
            kind: ImpairmentKind::Gone,
            what: "its size is 0 bytes".into(),
            source: "size is 0".into(),
        };
        let impaired = vec![ImpairedAfter {
            name: disk.clone(),
            found,
        }];
        run.health_after = Some(HealthAfter {
            impaired,
            unseen: Vec::new(),
        });
        let findings = crate::findings(&run);
        assert_eq!(findings[0].rule, "degraded", "{findings:#?}");
        assert_eq!(findings[0].severity, Severity::Error);
        assert_eq!(
            findings[0].claim,
            format!("{disk} was gone when the run ended, and not when it began.")
        );
        let gone = findings.iter().find(|finding| finding.rule == NAME);
        let gone = gone.expect("the errors");
        let last = gone.evidence.last().expect("what was seen");
        assert_eq!(*last, format!("{disk} was gone when the run ended."));
        assert!(!gone.remedy.contains("smartctl"), "{gone:?}");
        assert!(gone.remedy.contains("lsblk"), "{gone:?}");
    }

    #[test]
    fn errors_are_listed_with_number_count_and_place() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.errors = 3;
            trial.evidence.errors = vec![
                error(5, "Input/output error (os error 5)", 2),
                error(0, "short transfer", 1),
            ];
        });
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.stages, ["random-read-qd32"]);
        assert!(
            finding.claim.starts_with("15 operations failed"),
            "{finding:?}"
        );
        assert_eq!(
            finding.evidence,
            [
                "random-read-qd32: read failed 10 times with error 5 (Input/output error), first \
                 at byte 1048576 (1 MiB).",
                "random-read-qd32: read ended short 5 times, first at byte 1048576 (1 MiB).",
            ]
        );
        assert!(
            finding.remedy.contains("smartctl -a /dev/vda`"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_simulated_disk_is_asked_for_its_profile_and_the_kernel_for_nothing() {
        let mut run = testing::healthy();
        run.target.kind = diskfacts_record::TargetKind::Simulated;
        run.target.given = "sim:my disk.toml".into();
        each(&mut run, "sequential-read", |trial| trial.errors = 1);
        assert_eq!(
            only(&run, NAME).remedy,
            "The disk is simulated: `diskfacts sim 'my disk.toml'` prints its profile, where \
             [[faults.weak_sector]] would be the cause."
        );
    }

    #[test]
    fn a_wrong_value_is_no_error_of_the_kernel() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            trial.errors = 1;
            trial.evidence.errors = vec![ErrorCount {
                operation: "check".into(),
                ..error(0, "the 8 bytes at 600 are 1 and should be 2", 1)
            }];
        });
        let finding = only(&run, NAME);
        assert_eq!(
            finding.evidence,
            [
                "random-read-qd1: a check found a wrong value 5 times; the first: the 8 bytes at \
                 600 are 1 and should be 2."
            ]
        );
        assert!(
            finding.refuted_by.contains("went wrong on the way"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_full_filesystem_is_told_to_take_less() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-write", |trial| {
            trial.errors = 1;
            trial.evidence.errors = vec![error(ENOSPC, "No space left on device", 1)];
        });
        let remedy = only(&run, NAME).remedy;
        assert!(remedy.contains("--size 512MiB"), "{remedy}");
        assert!(remedy.contains("`df -i`"), "{remedy}");
        assert!(!remedy.contains("thin"), "{remedy}");
        run.stack.devices[0].targets = vec!["thin".to_owned()];
        let remedy = only(&run, NAME).remedy;
        assert!(
            remedy.contains("the pool under the thin volume"),
            "{remedy}"
        );
    }

    #[test]
    fn errors_that_were_only_counted_are_still_told() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-read", |trial| trial.errors = 1);
        assert!(only(&run, NAME).evidence[0].contains("5 operations failed"));
    }
}
