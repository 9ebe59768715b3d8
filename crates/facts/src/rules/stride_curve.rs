//! Where a disk stops streaming and starts seeking.
//!
//! Blocks are visited at rising distances. While a disk streams, what lies
//! between two blocks passes under its heads, so the time per operation grows in
//! proportion to the distance: the span goes by at the rate of sequential
//! access. From some distance on it is quicker to seek, and the time hardly
//! grows. Their crossing is streaming rate times seek time.
//!
//! The time is that of the whole trial over its operations, because a write
//! through the page cache takes its time in the sync at the end.
//!
//! A device that does not turn has no such stretch: from the shortest skip on, an
//! operation takes the same time at any distance, and nothing is said.

use super::prelude::*;
use super::too_few_trials::TRIALS;
use crate::stats::median_of;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "stride-curve",
    needs: &[Drives],
    check: Check::Several(check),
    ..Rule::NOTE
};

/// The span goes by at no more than this many times the sequential rate: it
/// streams. Sequential rates of one disk differ by less between its zones' ends
/// of a span.
const STREAMS: f64 = 1.25;
/// Fewest distances, beside that of sequential access, on each side.
const EACH_SIDE: usize = 2;
/// A pass with fewer visits than this is mostly the jump back to its beginning.
const VISITS_PER_PASS: u64 = 4;
/// A seek takes at least this long on anything that turns, ns: half a revolution
/// at 15 000 rpm is 2 ms, a step to the next track a good part of one.
const SEEK_NS_MIN: f64 = 500_000.0;

/// One distance.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Bytes from the beginning of one block to that of the next.
    distance: u64,
    skip_blocks: u64,
    /// Nanoseconds of one operation, in the median of the trials.
    ns: f64,
    trials: usize,
}

impl Point {
    /// At which the span goes by, bytes per second.
    fn span_rate(self) -> f64 {
        self.distance as f64 / self.ns * 1e9
    }
}

/// What makes points one curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Curve<'a> {
    stage: &'a str,
    /// Where, as the document of an imported run says.
    place: [Option<&'a str>; 3],
    operation: Operation,
    block_size: u64,
}

/// What a curve shows.
struct Crossing {
    /// The rate of sequential access, bytes per second.
    rate: f64,
    /// The last distance at which it streams, and the first at which it seeks.
    last: Point,
    first: Point,
    /// The longest distance.
    longest: Point,
}

impl Crossing {
    /// Where both take the same time, to two binary digits: they are all that it is known to.
    fn size(&self) -> String {
        let bytes = (self.rate * self.first.ns / 1e9) as u64;
        let step = (bytes.next_power_of_two() / 8).max(1);
        show_size(bytes.next_multiple_of(step))
    }
}

fn check(context: &Context<'_>) -> Vec<Found> {
    let findings = curves(context).into_iter().filter_map(|(curve, points)| {
        let points = points_of(points, context.is_imported());
        let crossing = crossing(&points)?;
        let enough = points.iter().all(|point| point.trials >= TRIALS);
        Some(finding(&curve, &crossing, enough))
    });
    findings.collect()
}

/// The settings of an imported line that say where its blocks lie.
fn place<'a>(
    context: &Context<'_>,
    settings: &'a BTreeMap<String, String>,
) -> [Option<&'a str>; 3] {
    let imported = context.is_imported();
    ["place", "at", "heading"]
        .map(|name| settings.get(name).filter(|_| imported).map(String::as_str))
}

fn curves<'a>(context: &Context<'a>) -> Vec<(Curve<'a>, Vec<Point>)> {
    let mut curves = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            continue;
        };
        let iops = figures.iops.median;
        let one_at_a_time = workload.outstanding() == 1 && workload.rate.is_none();
        let blocks = workload.blocks_on(context.run.target.size_bytes);
        let roomy = skip_blocks.saturating_mul(VISITS_PER_PASS) <= blocks;
        if figures.errors > 0 || !iops.is_finite() || iops <= 0.0 || !one_at_a_time || !roomy {
            continue;
        }
        let curve = Curve {
            stage: stage.name,
            place: place(context, stage.settings),
            operation: workload.operation,
            block_size: workload.block_size,
        };
        let point = Point {
            distance: skip_blocks.saturating_mul(workload.block_size),
            skip_blocks,
            ns: 1e9 / iops,
            trials: stage.trials.len(),
        };
        join(&mut curves, curve, point);
    }
    curves
}

/// The points by rising distance. A document may have several lines of a distance, as of
/// other parts of the span: what agrees is one point, its median; what does not stays apart,
/// and is then no curve.
fn points_of(mut points: Vec<Point>, imported: bool) -> Vec<Point> {
    points.sort_by_key(|point| point.distance);
    if !imported {
        return points;
    }
    let same = points.chunk_by(|a, b| a.distance == b.distance);
    let joined = same.flat_map(|group| {
        let times = || group.iter().map(|point| point.ns);
        let least = times().fold(f64::INFINITY, f64::min);
        match median_of(times()) {
            Some(ns) if times().all(|ns| ns <= least * STREAMS) => vec![Point {
                ns,
                trials: group.iter().map(|point| point.trials).sum(),
                ..group[0]
            }],
            _ => group.to_vec(),
        }
    });
    joined.collect()
}

fn crossing(points: &[Point]) -> Option<Crossing> {
    let (sequential, rest) = points.split_first()?;
    let twice = |pair: &[Point]| pair[0].distance == pair[1].distance;
    if sequential.skip_blocks != 1 || rest.windows(2).any(twice) {
        // The same under other kernel settings is another curve.
        return None;
    }
    let rate = sequential.span_rate();
    let streams = |point: &Point| point.span_rate() <= rate * STREAMS;
    let streaming = rest.iter().take_while(|point| streams(point)).count();
    let (streaming, seeking) = rest.split_at(streaming);
    let enough = streaming.len() >= EACH_SIDE && seeking.len() >= EACH_SIDE;
    if !enough || seeking.iter().any(streams) {
        return None;
    }
    let first = seeking[0];
    (first.ns >= SEEK_NS_MIN).then(|| Crossing {
        rate,
        last: streaming[streaming.len() - 1],
        first,
        longest: seeking[seeking.len() - 1],
    })
}

fn finding(curve: &Curve<'_>, found: &Crossing, enough: bool) -> Found {
    let [first, last, longest] = [&found.first, &found.last, &found.longest];
    let what = match curve.operation {
        Operation::Read => "Reads",
        Operation::Write => "Writes",
        Operation::Mixed { .. } => "Reads and writes",
        Operation::Modify { .. } => "Modifications",
        Operation::Create | Operation::Stat | Operation::Delete => "Files",
    };
    let place: Vec<&str> = curve.place.iter().flatten().copied().collect();
    let place = if_any(place.join(", "), |place| format!(" ({place})")).unwrap_or_default();
    let [at_first, at_last, at_longest] = [first, last, longest].map(|p| show_size(p.distance));
    let (seek, crossing) = (duration(first.ns), found.size());
    let evidence = vec![
        format!(
            "Streaming: {} in order, and {} of the span where one block of {} is done.",
            show_throughput(found.rate),
            show_throughput(last.span_rate()),
            last.skip_blocks
        ),
        format!(
            "Seeking: {seek} per operation at {at_first}, {} at {at_longest}, while the distance \
             grew {} times.",
            duration(longest.ns),
            longest.distance / first.distance
        ),
        format!("Streaming rate times seek time: both take the same time at {crossing}."),
        format!(
            "At {at_longest} an operation does {} of the sequential rate.",
            percent(curve.block_size as f64 / longest.ns * 1e9 / found.rate)
        ),
    ];
    RULE.claim(format!(
        "{what} of {} at a distance{place} stream up to {at_last} and seek from {at_first} on: \
             there, going past what lies between takes as long as a seek, {seek}.",
        show_size(curve.block_size)
    ))
    .headline(format!(
        "streams up to strides of {at_last}, seeks from {at_first}"
    ))
    .confidence(likely_if(enough))
    .refuted_by(format!(
        "A repeat in which an operation at {} takes less than {} of what it takes at \
             {at_last}: then it seeks instead of reading through.",
        show_size(last.distance / 2),
        percent(0.4)
    ))
    .remedy(remedy(curve.operation, &crossing))
    .stages(vec![curve.stage.to_owned()])
    .evidence(evidence)
}

fn remedy(operation: Operation, crossing: &str) -> String {
    let together = "keep what is used together within that distance";
    match operation {
        Operation::Read => format!(
            "Read what lies less than {crossing} apart in one piece, and throw away what is not \
             needed; {together}."
        ),
        // What lies between cannot be thrown away when it is written.
        Operation::Write => format!(
            "Gather writes, and write them by rising place: up to {crossing} apart, many in a row \
             cost less than as many seeks; {together}."
        ),
        Operation::Mixed { .. } | Operation::Modify { .. } => format!(
            "Do operations by rising place: up to {crossing} apart, many in a row cost less than \
             as many seeks; {together}."
        ),
        Operation::Create | Operation::Stat | Operation::Delete => {
            format!("Up to {crossing} apart there is no seek; {together}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, of_rule};
    use diskfacts_record::Run;

    /// The plan `stride` on a disk whose operations take so long at a distance.
    fn run(ns: impl Fn(u64) -> f64) -> Run {
        let mut plan = diskfacts_plan::builtin::plan("stride").expect("it is built in");
        plan.trials = 3;
        plan.stages.retain(|stage| stage.settings["what"] == "read");
        let mut run = testing::run_of(plan, testing::stack());
        run.target.size_bytes = 16 << 30;
        for trial in &mut run.trials {
            let Pattern::Stride { skip_blocks, .. } = trial.workload.pattern else {
                panic!("a strided stage");
            };
            trial.iops = 1e9 / ns(skip_blocks * 4096);
        }
        run
    }

    /// 120 MB/s, and seeks of 6 ms.
    fn turning(distance: u64) -> f64 {
        let streaming = distance as f64 / 120e6 * 1e9;
        streaming.min(6e6 + (distance as f64).sqrt() * 10.0)
    }

    #[test]
    fn the_distance_is_found_at_which_seeking_is_quicker() {
        let finding = of_rule(&run(turning), RULE.name).expect("it speaks");
        assert_eq!(
            finding.claim,
            "Reads of 4 KiB at a distance stream up to 512 KiB and seek from 1 MiB on: there, \
             going past what lies between takes as long as a seek, 6.01 ms."
        );
        assert!(finding.evidence[0].contains("120.0 MB/s"), "{finding:?}");
        // 120 MB/s times 6.01 ms are 721 kB, 704 KiB.
        assert!(finding.evidence[2].ends_with("at 768 KiB."), "{finding:?}");
        assert_eq!(finding.confidence, Confidence::Likely);
        assert!(finding.remedy.starts_with("Read what"), "{finding:?}");
    }

    #[test]
    fn who_writes_is_not_told_to_read() {
        for operation in [
            Operation::Write,
            Operation::Mixed { read_percent: 50 },
            Operation::Modify { percent: 50 },
        ] {
            let mut run = run(turning);
            for trial in &mut run.trials {
                trial.workload.operation = operation;
            }
            let finding = of_rule(&run, RULE.name).expect("it speaks");
            let remedy = &finding.remedy;
            assert!(remedy.contains("by rising place"), "{remedy}");
            assert!(!remedy.contains("Read"), "{remedy}");
        }
    }

    #[test]
    fn it_is_silent_where_nothing_turns_and_where_nothing_seeks() {
        assert_eq!(of_rule(&run(|_| 100e3), RULE.name), None);
        assert_eq!(of_rule(&run(|distance| distance as f64), RULE.name), None);
        // A step from one regime to the next and back is no crossing.
        let odd = |distance: u64| {
            if distance == 64 << 20 {
                distance as f64 / 120e6 * 1e9
            } else {
                turning(distance)
            }
        };
        assert_eq!(of_rule(&run(odd), RULE.name), None);
    }

    #[test]
    fn a_short_target_has_too_few_distances() {
        let mut short = run(turning);
        short.target.size_bytes = 4 << 20;
        assert_eq!(of_rule(&short, RULE.name), None);
    }

    #[test]
    fn failed_operations_and_queues_are_no_curve() {
        let mut failed = run(turning);
        failed.trials.iter_mut().for_each(|trial| trial.errors = 1);
        assert_eq!(of_rule(&failed, RULE.name), None);
        let mut deep = run(turning);
        deep.trials
            .iter_mut()
            .for_each(|trial| trial.workload.queue_depth = 8);
        assert_eq!(of_rule(&deep, RULE.name), None);
    }
}
