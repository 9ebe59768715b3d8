//! The same sequential writes through the page cache and directly: what the
//! device saw of them. Through the cache the kernel merges them into large
//! requests and keeps many on their way behind one writer; with direct I/O each
//! write is a request, and the next one waits for it, so that the figure is one
//! of latency (seed 004).

use super::prelude::*;
use crate::device_requests::DeviceRequests;
use diskfacts_plan::On;

pub(crate) const RULE: Rule = Rule {
    name: "writes-merged",
    confidence: Confidence::Certain,
    check: Check::Several(check),
    ..Rule::NOTE
};

/// Requests must be so many times as large as the writes to be called merged.
const TIMES: f64 = 2.0;
/// What a request may be larger or smaller than a write and still be one.
pub(crate) const NEAR: f64 = 0.1;
/// On average at most so many requests are on their way behind a writer that
/// waits for each.
pub(crate) const ONE: f64 = 1.1;

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

fn check(context: &Context<'_>) -> Vec<Found> {
    let stages = context.doing_io().map(|(stage, _)| stage);
    let (raw, buffered): (Vec<_>, Vec<_>) = stages
        .filter(|stage| is_one_writer(stage))
        .partition(|stage| stage.workload().cache == CacheMode::Direct);
    let found = buffered.into_iter().filter_map(|buffered| {
        let same = |stage: &&&Stage<'_>| {
            stage.workload().block_size == buffered.workload().block_size
                && stage.trials.iter().all(|t| t.direct_refused().is_none())
        };
        finding(context.run, buffered, raw.iter().find(same)?)
    });
    found.collect()
}

fn finding(run: &Run, buffered: &Stage<'_>, raw: &Stage<'_>) -> Option<Found> {
    let [merged, single] = [DeviceRequests::of(buffered)?, DeviceRequests::of(raw)?];
    let block = buffered.workload().block_size;
    let [times, alone] = [merged, single].map(|seen| seen.bytes / block as f64);
    let one_by_one = (alone - 1.0).abs() < NEAR && single.depth < ONE;
    unless(times < TIMES || !one_by_one)?;
    let (size, depth, name) = (size(merged.bytes), ratio(merged.depth), raw.name);
    let are_merged = merged.merges_per_request > 0.0;
    let sent = if are_merged { "merged" } else { "sent" };
    let into = if are_merged { "into" } else { "as" };
    let other = format!("set block_size = \"1MiB\" or queue_depth = 8 in {name}");
    Some(
        RULE.claim(format!(
            "Through the page cache the kernel {sent} writes of {} {into} requests of {size}, \
             with {depth} on their way behind one writer; with direct I/O each write is one \
             request, so {name} measures the latency of a write.",
            show_size(block)
        ))
        .headline(format!(
            "through the page cache: requests of {size}, {depth} in flight"
        ))
        .remedy(format!(
            "Direct writes need larger blocks or several at once to be as fast. {}",
            edit_plan(run, &other)
        ))
        .stages(names([buffered.name, name]))
        .evidence([merged.said(buffered), single.said(raw)]),
    )
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
        let finding = of_rule(&run(32, 140), RULE.name).unwrap();
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
        let finding = of_rule(&whole, RULE.name).unwrap();
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
        assert!(of_rule(&run(1, 1), RULE.name).is_none());
        let mut deep = run(32, 140);
        testing::each(&mut deep, "raw", |trial| {
            for device in &mut trial.evidence.devices {
                device.weighted_ms *= 4;
            }
        });
        assert!(of_rule(&deep, RULE.name).is_none());
        let mut blind = run(32, 140);
        testing::each(&mut blind, "raw", |trial| trial.evidence.devices.clear());
        assert!(of_rule(&blind, RULE.name).is_none());
    }
}
