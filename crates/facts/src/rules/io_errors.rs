//! Operations failed: counted, with what came back and where it began.

use super::prelude::*;
use crate::words::{is_copy, smartctl};
use diskfacts_record::evidence::ErrorCount;

pub(super) const RULE: Rule = Rule {
    name: "io-errors",
    severity: Severity::Error,
    check: Check::Stages(&[StageCheck(failed, failures)]),
    ..Rule::WARNING
};

/// Linux: no space left on device.
const ENOSPC: i32 = 28;
/// Linux: what the block layer answers where sectors cannot be read or written
/// (`BLK_STS_MEDIUM` in `block/blk-core.c`).
const ENODATA: i32 = 61;
/// Linux: the device is gone, or was never there; the same of its address.
const GONE: [i32; 2] = [19, 6];
/// Linux: invalid argument, which misaligned direct I/O gets.
const EINVAL: i32 = 22;

/// The errors of the trials of a stage by what failed and how.
fn errors<'a>(stage: &Stage<'a>) -> Vec<Vec<&'a ErrorCount>> {
    let mut errors = Vec::new();
    for error in stage.all_trials().flat_map(|t| &t.evidence.errors) {
        join(&mut errors, (&error.operation, error.errno), error);
    }
    errors.into_iter().map(|(_, of)| of).collect()
}

/// How many operations of a stage failed.
fn operations(facts: &StageFacts<'_>) -> u64 {
    let counted = errors(facts.stage).iter().map(|of| times(of)).sum();
    facts.figures.errors.max(counted)
}

fn failed(facts: &StageFacts<'_>) -> Option<Seen> {
    let operations = operations(facts);
    unless(operations == 0)?;
    let mut lines: Vec<String> = errors(facts.stage).iter().map(|of| said(of)).collect();
    if lines.is_empty() {
        let failed = count(operations, "operation");
        lines.push(format!("{failed} failed; what came back was not recorded."));
    }
    Some(Seen::lines(operations as f64, lines))
}

fn failures(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let gone = gone(context);
    let lines = gone.iter();
    let lines = lines.map(|name| format!("{name} was gone when the run ended."));
    let operations = shown.facts().map(operations);
    let failed = count(operations.fold(0, u64::saturating_add), "operation");
    let mut all = context.run.trials.iter().flat_map(|t| &t.evidence.errors);
    let first = all.next().map(|error| format!(": {}", error.message));
    let of_stages: Vec<_> = shown.facts().map(|facts| errors(facts.stage)).collect();
    let all = of_stages.iter().flatten().flatten();
    let kinds: Vec<i32> = all.map(|error| error.errno).collect();
    let is_check = |of: &Vec<&ErrorCount>| of[0].operation == "check";
    let mut each = of_stages.iter();
    let only_checks = each.all(|of| !of.is_empty() && of.iter().all(is_check));
    RULE.claim(format!(
        "{failed} failed in {}; {}.",
        shown.list(),
        figures_of(context, shown)
    ))
    .headline(format!("{failed} failed{}", first.unwrap_or_default()))
    .evidence(lines)
    .case_if(only_checks, "checks")
    .remedy(remedy(context, &gone, &kinds))
}

/// How many times.
fn times(errors: &[&ErrorCount]) -> u64 {
    let each = errors.iter().map(|error| error.count);
    each.fold(0, u64::saturating_add)
}

/// What the figures of these stages are of.
fn figures_of(context: &Context<'_>, shown: &Shown<'_>) -> String {
    if is_copy(context.run) {
        return "the figures are of those that succeeded".to_owned();
    }
    let stages = || shown.facts().map(|facts| facts.stage);
    let unsound = || stages().filter(|stage| !stage.is_sound());
    let left_out = stages().flat_map(|stage| &stage.failed);
    let left_out = left_out.chain(unsound().flat_map(|stage| &stage.trials));
    let with_errors = |trial: &&&Trial| trial.errors > 0;
    let excluded = match left_out.filter(with_errors).count() as u64 {
        1 => "1 trial with errors is excluded from the results".to_owned(),
        many => format!("{many} trials with errors are excluded from the results"),
    };
    match unsound().count() {
        0 => excluded,
        some if some < shown.stages.len() => {
            let without = names(unsound().map(|stage| stage.name));
            format!("{excluded}, and {} has no figure", stage_list(&without))
        }
        _ => format!("{excluded}, and there is no figure"),
    }
}

/// What came back each time, and where.
fn said(errors: &[&ErrorCount]) -> String {
    let error = errors[0];
    let times = count(times(errors), "time");
    let byte = |at: u64| format!("byte {at} ({})", show_size(at));
    // Where one trial does not know its ends, they are not known.
    let low = errors.iter().map(|error| error.lowest_offset);
    let low = low.reduce(|a, b| Some(a?.min(b?))).flatten();
    let high = errors.iter().map(|error| error.highest_offset);
    let high = high.reduce(|a, b| Some(a?.max(b?))).flatten();
    let place = if error.operation == ErrorCount::WRITE_BACK {
        "after the operations had returned: what lay in the page cache was lost".to_owned()
    } else if error.of_files() {
        format!("first at file {}", error.first_offset)
    } else if let Some((low, high)) = low.zip(high).filter(|(low, high)| low < high) {
        format!("between {} and {}", byte(low), byte(high))
    } else {
        format!("first at {}", byte(error.first_offset))
    };
    let (operation, errno) = (&error.operation, error.errno);
    if operation == "check" {
        let message = &error.message;
        format!("a check found a wrong value {times}; the first: {message}.")
    } else if errno == 0 {
        format!("{operation} ended short {times}, {place}.")
    } else {
        // The system's words may end with the number once more.
        let number = format!(" (os error {errno})");
        let message = error.message.trim_end_matches(&number);
        format!("{operation} failed {times} with error {errno} ({message}), {place}.")
    }
}

/// The devices that went away while the run measured them.
fn gone<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let gone = context.run.gone();
    gone.map(|device| device.name.as_str()).collect()
}

fn remedy(context: &Context<'_>, gone: &[&str], kinds: &[i32]) -> String {
    let run = context.run;
    if let Some(planted) = planted(run, "[[faults.weak_sector]]") {
        return format!("{planted}.");
    }
    let mut steps = vec![
        "Type `dmesg --ctime --level=err,warn | tail -n 30` for what the kernel \
                          says about it"
            .to_owned(),
    ];
    let leaves = run.stack.leaves();
    let disks = smartctl(leaves.filter(|leaf| !gone.contains(&leaf.name.as_str())));
    steps.extend(if_any(disks, |disks| {
        format!("{disks} for the health of the disk")
    }));
    let devices = || run.stack.devices.iter();
    steps.extend(devices().filter_map(|device| {
        let file = shell(device.backing_file.as_ref()?);
        let name = &device.name;
        Some(format!(
            "`ls -ls {file}` to see whether the file behind {name} was cut short"
        ))
    }));
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
        let thin = devices().filter(|device| device.targets.iter().any(|of| of == "thin"));
        steps.extend(thin.map(|thin| {
            let name = &thin.name;
            format!("`lvs` to see whether the pool under the thin volume {name} is full")
        }));
        let half = exact_size((run.target.size_bytes / 2).max(1 << 20));
        steps.push(if is_copy(run) {
            "free some space, or copy less with count=".to_owned()
        } else {
            let smaller = measure_with(run, "--size", &half);
            format!("free some space, or take a smaller file with `{smaller}`")
        });
    }
    if kinds.contains(&EINVAL) {
        let given = shell(&run.target.given);
        steps.push(format!(
            "`diskfacts devices {given}` for the alignment that direct I/O needs"
        ));
    }
    format!("{}.", steps.join("; "))
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
        let claim = only(&run, RULE.name).claim;
        assert!(
            claim.ends_with("2 trials with errors are excluded from the results."),
            "{claim}"
        );
        each(&mut run, "mixed-70-30", |trial| trial.errors = 1);
        let claim = only(&run, RULE.name).claim;
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
        let finding = only(&run, RULE.name);
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
        let there = only(&run, RULE.name);
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
        let gone = findings.iter().find(|finding| finding.rule == RULE.name);
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
        let finding = only(&run, RULE.name);
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
            only(&run, RULE.name).remedy,
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
        let finding = only(&run, RULE.name);
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
        let remedy = only(&run, RULE.name).remedy;
        assert!(remedy.contains("--size 512MiB"), "{remedy}");
        assert!(remedy.contains("`df -i`"), "{remedy}");
        assert!(!remedy.contains("thin"), "{remedy}");
        run.stack.devices[0].targets = vec!["thin".to_owned()];
        let remedy = only(&run, RULE.name).remedy;
        assert!(
            remedy.contains("the pool under the thin volume"),
            "{remedy}"
        );
    }

    #[test]
    fn errors_that_were_only_counted_are_still_told() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-read", |trial| trial.errors = 1);
        assert!(only(&run, RULE.name).evidence[0].contains("5 operations failed"));
    }
}
