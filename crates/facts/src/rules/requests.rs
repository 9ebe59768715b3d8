//! The same sequential writes through the page cache and directly: what the
//! device saw of them. Through the cache the kernel merges them into large
//! requests and keeps many on their way behind one writer; with direct I/O each
//! write is a request, and the next one waits for it, so that the figure is one
//! of latency (seed 004).

use super::{Context, names};
use crate::device_rates::DeviceRates;
use crate::stages::Stage;
use crate::stats;
use crate::words::{edit_plan, ratio, ratio_of};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{CacheMode, On, Operation, Pattern, SyncMode, Workload};
use diskfacts_record::{Confidence, Finding, Severity};

pub(crate) const NAME: &str = "writes-merged";

/// Requests must be so many times as large as the writes to be called merged.
const TIMES: f64 = 2.0;
/// What a request may be larger or smaller than a write and still be one.
pub(crate) const NEAR: f64 = 0.1;
/// On average at most so many requests are on their way behind a writer that
/// waits for each.
pub(crate) const ONE: f64 = 1.1;

/// The medians over the trials of a stage.
#[derive(Debug, Clone, Copy)]
struct Seen {
    bytes: f64,
    merges_per_request: f64,
    depth: f64,
    wait_ms: f64,
}

impl Seen {
    fn of(stage: &Stage<'_>) -> Option<Self> {
        let trials = stage.trials.iter();
        let rates: Option<Vec<DeviceRates<'_>>> =
            trials.map(|trial| DeviceRates::topmost(trial)).collect();
        let rates = rates?;
        let median = |of: &dyn Fn(&DeviceRates<'_>) -> Option<f64>| {
            let values: Option<Vec<f64>> = rates.iter().map(of).collect();
            stats::median(&stats::finite_sorted(&values?))
        };
        Some(Self {
            bytes: median(&|rates| rates.reads_and_writes().bytes_each())?,
            merges_per_request: median(&|rates| {
                let writes = rates.writes();
                Some(writes.merges as f64 / writes.count as f64)
            })?,
            depth: median(&|rates| Some(rates.depth()))?,
            wait_ms: median(&|rates| rates.reads_and_writes().wait_ms())?,
        })
    }
}

/// One writer, block after block, that syncs at its end at most, on the target
/// itself; not a cell of a matrix.
fn is_one_writer(stage: &Stage<'_>) -> bool {
    let workload = stage.workload();
    stage.settings.is_empty()
        && workload.operation == Operation::Write
        && workload.pattern == Pattern::Sequential
        && workload.outstanding() == 1
        && (workload.sync == SyncMode::None || workload.sync.at_end())
        && workload.rate.is_none()
        && workload.copy.is_none()
        && workload.on == On::Target
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let stages = || {
        context
            .doing_io()
            .map(|(stage, _)| stage)
            .filter(|stage| is_one_writer(stage))
    };
    let direct = |workload: &Workload| workload.cache == CacheMode::Direct;
    let mut findings = Vec::new();
    for buffered in stages().filter(|stage| !direct(stage.workload())) {
        let same = |stage: &&Stage<'_>| {
            direct(stage.workload())
                && stage.workload().block_size == buffered.workload().block_size
                && stage.trials.iter().all(|t| t.direct_refused().is_none())
        };
        if let Some(raw) = stages().find(same) {
            findings.extend(finding(context, buffered, raw));
        }
    }
    findings
}

/// Whether the block layer counted merges: the page cache may hand it large
/// requests as they are.
fn has_merges(seen: &Seen) -> bool {
    seen.merges_per_request > 0.0
}

fn finding(context: &Context<'_>, buffered: &Stage<'_>, raw: &Stage<'_>) -> Option<Finding> {
    let (merged, single) = (Seen::of(buffered)?, Seen::of(raw)?);
    let block = buffered.workload().block_size;
    let times = |seen: &Seen| seen.bytes / block as f64;
    let one_by_one = (times(&single) - 1.0).abs() < NEAR && single.depth < ONE;
    if times(&merged) < TIMES || !one_by_one {
        return None;
    }
    let size = |bytes: f64| show_size(bytes.round() as u64);
    let counted = |seen: &Seen| {
        if has_merges(seen) {
            format!("{} merges counted for each", ratio(seen.merges_per_request))
        } else {
            "no merges counted".to_owned()
        }
    };
    let line = |stage: &Stage<'_>, seen: &Seen| {
        format!(
            "{}: requests of {} ({} in each, {}), {} on their way, {} ms each.",
            stage.name,
            size(seen.bytes),
            ratio_of(times(seen), "write", "writes"),
            counted(seen),
            ratio(seen.depth),
            ratio(seen.wait_ms)
        )
    };
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!(
            "through the page cache: requests of {}, {} in flight",
            size(merged.bytes),
            ratio(merged.depth)
        ),
        claim: format!(
            "Through the page cache the kernel {} writes of {} {} requests of {}, with {} on \
             their way behind one writer; with direct I/O each write is one request, so {} \
             measures the latency of a write.",
            if has_merges(&merged) {
                "merged"
            } else {
                "sent"
            },
            show_size(block),
            if has_merges(&merged) { "into" } else { "as" },
            size(merged.bytes),
            ratio(merged.depth),
            raw.name
        ),
        evidence: vec![line(buffered, &merged), line(raw, &single)],
        confidence: Confidence::Certain,
        refuted_by: "Requests of the same size and depth for both, as `iostat -x 1` shows them."
            .into(),
        remedy: format!(
            "Direct writes need larger blocks or several at once to be as fast. {}",
            edit_plan(
                context.run,
                &format!(
                    "set block_size = \"1MiB\" or queue_depth = 8 in {}",
                    raw.name
                )
            )
        ),
        stages: names([buffered.name, raw.name]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_plan::builtin;
    use diskfacts_record::Run;

    /// `block` in requests of so many writes, with this depth; `raw` one by one.
    fn run(merged: u64, depth: u64) -> Run {
        let mut plan = builtin::plan("raw-vs-block").unwrap();
        plan.stages.retain(|stage| stage.workload.on == On::Target);
        let mut run = testing::run_of(plan, testing::stack());
        for (stage, merged, depth) in [("block", merged, depth), ("raw", 1, 1)] {
            testing::each(&mut run, stage, |trial| {
                let ms = (trial.seconds * 1e3) as u64;
                for device in &mut trial.evidence.devices {
                    device.writes = 1000;
                    device.write_merges = 1000 * (merged - 1);
                    device.write_bytes = 1000 * merged * (16 << 10);
                    device.weighted_ms = depth * ms;
                    device.write_ms = depth * ms;
                }
            });
        }
        run
    }

    #[test]
    fn merged_and_single_requests_are_told_apart() {
        let finding = of_rule(&run(32, 140), NAME).unwrap();
        assert!(
            finding
                .claim
                .contains("merged writes of 16 KiB into requests of 512 KiB, with 140"),
            "{finding:#?}"
        );
        assert!(
            finding.evidence[0].contains("32 writes in each, 31 merges"),
            "{finding:#?}"
        );
        assert_eq!(finding.stages, ["block", "raw"]);
        // Large folios go down as they are.
        let mut whole = run(32, 140);
        testing::each(&mut whole, "block", |trial| {
            for device in &mut trial.evidence.devices {
                device.write_merges = 0;
            }
        });
        let finding = of_rule(&whole, NAME).unwrap();
        assert!(
            finding
                .claim
                .contains("sent writes of 16 KiB as requests of 512 KiB"),
            "{finding:#?}"
        );
        assert!(
            finding.evidence[0].contains("32 writes in each, no merges counted"),
            "{finding:#?}"
        );
    }

    #[test]
    fn what_is_not_merged_or_not_one_by_one_is_left_alone() {
        assert!(of_rule(&run(1, 1), NAME).is_none());
        let mut deep = run(32, 140);
        testing::each(&mut deep, "raw", |trial| {
            for device in &mut trial.evidence.devices {
                device.weighted_ms *= 4;
            }
        });
        assert!(of_rule(&deep, NAME).is_none());
        let mut blind = run(32, 140);
        testing::each(&mut blind, "raw", |trial| trial.evidence.devices.clear());
        assert!(of_rule(&blind, NAME).is_none());
    }
}
