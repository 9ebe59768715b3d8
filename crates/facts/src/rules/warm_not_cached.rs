//! A stage that reads from memory had to read from the device: its figure is
//! not one of the page cache.

use super::{Context, names};
use crate::words::{edit_plan, percent, stage_list};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::{exact_size, show_size};
use diskfacts_record::{Confidence, Finding, Run, Severity, Trial};

pub(super) const NAME: &str = "warm-not-cached";

/// What could not be done, as the session names it.
pub(crate) const WARMING: &str = "warm page cache";

/// Share that came from the device from which on it is a finding.
const SHARE: f64 = 0.02;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    let mut span = 0;
    let mut failed = false;
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let Some(share) = figures.layers.device else {
            continue;
        };
        if workload.cache != CacheMode::Warm || workload.operation.writes() || share <= SHARE {
            continue;
        }
        most = most.max(share);
        span = span.max(workload.span.unwrap_or(context.run.target.size_bytes));
        stages.push(stage.name);
        evidence.push(format!(
            "{}: of {} read, {} were fetched from the device.",
            stage.label(),
            show_size(stage.sum(|t| t.bytes)),
            percent(share)
        ));
        let mut unseen = stage.trials.iter().flat_map(|t| &t.evidence.unseen);
        if let Some(warming) = unseen.find(|unseen| unseen.what == WARMING) {
            failed = true;
            evidence.push(format!(
                "{}: warming the page cache was not done: {}.",
                stage.label(),
                warming.why.trim_end_matches('.')
            ));
        }
        let fewest = stage
            .trials
            .iter()
            .filter_map(|t| t.evidence.residency_after)
            .filter(|r| r.span_bytes > 0)
            .map(|r| r.cached_bytes as f64 / r.span_bytes as f64)
            .fold(1.0, f64::min);
        if fewest < 1.0 - SHARE {
            evidence.push(format!(
                "{}: after a trial as little as {} of its span was in the page cache.",
                stage.label(),
                percent(fewest)
            ));
        }
        let evicted = stage
            .trials
            .iter()
            .filter_map(|t| t.evidence.residency_after?.evicted_bytes)
            .max();
        if let Some(evicted) = evicted.filter(|bytes| *bytes > 0) {
            evidence.push(format!(
                "{}: up to {} of its span had been taken out of the page cache because memory \
                 was short, and were not read in again.",
                stage.label(),
                show_size(evicted)
            ));
        }
    }
    evidence.extend(limited(context.run));
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let quarter = exact_size((span / 4).max(1 << 20));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: format!(
            "up to {} came from the device, not from memory",
            percent(most)
        ),
        claim: format!(
            "Up to {} of the bytes of {} came from the device: the page cache did not keep what \
             had been read into it.",
            percent(most),
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "A trial in which this process fetches nothing from block devices.".into(),
        remedy: if failed {
            "Reading into the page cache failed, so this says nothing of memory. Type `dmesg --ctime \
             --level=err,warn | tail -n 30` for what the kernel says about it."
                .into()
        } else {
            format!(
                "Memory was short, or was taken back by the hypervisor or a cgroup limit: `free -h` \
             shows what is available. {}",
                edit_plan(
                    context.run,
                    &format!("set span = \"{quarter}\" in this stage")
                )
            )
        },
        stages,
    }]
}

/// A limit on memory.
pub(crate) struct GroupLimit<'a> {
    pub(crate) bytes: u64,
    /// The control group that has it.
    pub(crate) folder: &'a str,
}

/// The lowest limit on the memory of this process's control group, where it has one.
pub(crate) fn group_limit<'a>(
    trials: impl IntoIterator<Item = &'a &'a Trial>,
) -> Option<GroupLimit<'a>> {
    let limits = trials.into_iter().filter_map(|trial| {
        let memory = trial.evidence.control_group.as_ref()?.memory.as_ref()?;
        let lowest = memory.limit_bytes.into_iter().chain(memory.high_bytes);
        Some(GroupLimit {
            bytes: lowest.min()?,
            folder: &memory.limited_by,
        })
    });
    limits.min_by_key(|limit| limit.bytes)
}

fn limited(run: &Run) -> Option<String> {
    let trials: Vec<&Trial> = run.trials.iter().collect();
    let limit = group_limit(&trials)?;
    Some(format!(
        "A control group of this process limits its memory, its part of the page cache among it, \
         to {}: {}.",
        show_size(limit.bytes),
        limit.folder
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::evidence::{ControlGroup, GroupMemory, Unseen};

    fn fetched(run: &mut diskfacts_record::Run, percent: u64) {
        each(run, "cached-random-read", |trial| {
            let bytes = trial.bytes * percent / 100;
            trial.evidence.process_io.as_mut().unwrap().read_bytes = bytes;
            for device in &mut trial.evidence.devices {
                device.read_bytes = bytes;
            }
            trial
                .evidence
                .residency_after
                .as_mut()
                .unwrap()
                .cached_bytes = 200 << 20;
        });
    }

    #[test]
    fn a_cache_that_was_taken_away_is_found() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        let finding = only(&run, NAME);
        assert!(finding.claim.contains("30 %"), "{finding:?}");
        assert!(
            finding.evidence[1].contains("78 % of its span"),
            "{finding:?}"
        );
        assert!(finding.remedy.contains("span = \"64MiB\""), "{finding:?}");
    }

    #[test]
    fn what_took_it_away_is_evidence() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        each(&mut run, "cached-random-read", |trial| {
            let after = trial.evidence.residency_after.as_mut().unwrap();
            after.evicted_bytes = Some(50 << 20);
            trial.evidence.control_group = Some(ControlGroup {
                memory: Some(GroupMemory {
                    limit_bytes: Some(1 << 30),
                    high_bytes: Some(256 << 20),
                    limited_by: "/sys/fs/cgroup/a.slice".into(),
                    ..GroupMemory::default()
                }),
                ..ControlGroup::default()
            });
        });
        let evidence = only(&run, NAME).evidence;
        assert!(evidence[2].contains("up to 50 MiB"), "{evidence:?}");
        assert!(
            evidence[3].contains("to 256 MiB: /sys/fs/cgroup/a.slice"),
            "{evidence:?}"
        );
    }

    #[test]
    fn warming_that_failed_is_not_blamed_on_memory() {
        let mut run = testing::healthy();
        fetched(&mut run, 30);
        each(&mut run, "cached-random-read", |trial| {
            trial.evidence.unseen.push(Unseen {
                what: WARMING.into(),
                why: "reading the span beforehand failed: Input/output error (os error 5)".into(),
            });
        });
        let finding = only(&run, NAME);
        assert!(
            finding.evidence[1].contains("Input/output error"),
            "{finding:?}"
        );
        assert!(!finding.remedy.contains("Memory was short"), "{finding:?}");
        assert!(finding.remedy.contains("dmesg"), "{finding:?}");
    }

    #[test]
    fn a_page_or_two_are_left_alone() {
        let mut run = testing::healthy();
        fetched(&mut run, 1);
        testing::silent(&run);
    }
}
