//! Operations failed: counted, with what came back and where it began.

use super::prelude::*;
use crate::operation_errors::{Errors, excluded_trials, failed_operations};
use crate::words::{is_copy, smartctl};

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

fn failed(facts: &StageFacts<'_>) -> Option<Seen> {
    let operations = failed_operations(facts);
    unless(operations == 0)?;
    let mut lines: Vec<String> = Errors::of(facts.stage).iter().map(Errors::said).collect();
    if lines.is_empty() {
        let failed = count(operations, "operation");
        lines.push(format!("{failed} failed; what came back was not recorded."));
    }
    Some((operations as f64, lines))
}

fn failures(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let run = context.run;
    let gone: Vec<&str> = run.gone().map(|device| device.name.as_str()).collect();
    let lines = gone.iter();
    let lines = lines.map(|name| format!("{name} was gone when the run ended."));
    let operations = shown.facts().map(failed_operations);
    let failed = count(operations.fold(0, u64::saturating_add), "operation");
    let first = run.trials.iter().flat_map(|t| &t.evidence.errors).next();
    let first = first.map_or_else(String::new, |error| format!(": {}", error.message));
    let stages: Vec<_> = shown.facts().map(|of| Errors::of(of.stage)).collect();
    let kinds: Vec<i32> = stages.iter().flatten().map(|of| of.first.errno).collect();
    let is_check = |of: &Errors<'_>| of.first.operation == "check";
    let mut each = stages.iter();
    let only_checks = each.all(|of| !of.is_empty() && of.iter().all(is_check));
    RULE.claim(format!(
        "{failed} failed in {}; {}.",
        shown.list(),
        figures_of(run, shown)
    ))
    .headline(format!("{failed} failed{first}"))
    .evidence(lines)
    .case_if(only_checks, "checks")
    .remedy(remedy(run, &gone, &kinds))
    .planted(run, "[[faults.weak_sector]]")
}

/// What the figures of these stages are of.
fn figures_of(run: &Run, shown: &Shown<'_>) -> String {
    if is_copy(run) {
        return "the figures are of those that succeeded".to_owned();
    }
    let excluded = match shown
        .facts()
        .map(|of| excluded_trials(of.stage))
        .sum::<usize>()
    {
        1 => "1 trial with errors is excluded from the results".to_owned(),
        many => format!("{many} trials with errors are excluded from the results"),
    };
    let without = shown.facts().filter(|facts| !facts.stage.is_sound());
    let without: Vec<&str> = without.map(|facts| facts.stage.name).collect();
    match without.len() {
        0 => excluded,
        some if some < shown.stages.len() => {
            let without = stage_list(&names(without));
            format!("{excluded}, and {without} has no figure")
        }
        _ => format!("{excluded}, and there is no figure"),
    }
}

fn remedy(run: &Run, gone: &[&str], kinds: &[i32]) -> String {
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
    use diskfacts_record::evidence::ErrorCount;
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
