//! The stage lies in a slower zone of the disk.

use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::Workload;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_record::{Confidence, TargetKind};

pub(super) const NAME: &str = "zone";

/// How much slower a place has to be, of the fastest: trials of a stream differ by one
/// or two percent, neighbouring zones by as much.
const SLOWER: f64 = 0.08;
/// From this share of a disk on a place is an inner one, and how much slower it is there
/// at least on disks of constant areal density with an inner radius of about half the
/// outer one: sqrt(1 - 0.5 x) at x = 0.4 is 0.89.
const INNER: f64 = 0.4;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if subject.rotates() == Some(false) || !subject.flows() {
        return None;
    }
    compared(subject).or_else(|| by_place(subject))
}

fn candidate(
    subject: &Subject<'_>,
    (claim, evidence): (String, Vec<String>),
    loss: Option<f64>,
) -> Candidate {
    Candidate {
        // What another place would do is a prediction where none was measured.
        standing: loss.map_or(Standing::Beside, |_| Standing::Cause),
        claim,
        evidence,
        share: loss,
        confidence: if loss.is_some() {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "The same rate at the beginning of the disk.".into(),
        experiment: subject.built_in(
            "If it is the zone, the rates of the plan fall from the first position to the last, and \
             the one at this place is the one of this stage.",
            "zones",
        ),
        remedy: "Put what is streamed at the beginning of the disk: the first partition is on its \
                 outer tracks. Compare volumes at the same place of the disk only."
            .into(),
    }
}

/// Another stage of the same kind is faster at another place.
fn compared(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let rate = subject.rate()?;
    let like = |other: &Workload| {
        other.operation == workload.operation
            && other.pattern == workload.pattern
            && other.cache == workload.cache
            && other.sync == workload.sync
            && other.offset != workload.offset
    };
    let fastest = subject
        .others()
        .filter(|other| like(other.workload()) && other.flows())
        .filter_map(|other| Some((other.rate()?, other)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (best, other) = fastest;
    let loss = 1.0 - rate / best;
    // The outer tracks come first.
    if loss < SLOWER || other.workload().offset > workload.offset {
        return None;
    }
    let evidence = vec![
        format!(
            "At {} of the target {} moves {}, and at {} this stage {}: {} / {} - 1 is {} more.",
            show_size(other.workload().offset),
            other.stage.label(),
            show_throughput(best),
            show_size(workload.offset),
            show_throughput(rate),
            show_throughput(best),
            show_throughput(rate),
            percent(best / rate - 1.0)
        ),
        "Outer tracks are longer and hold more, and the disk turns at one speed.".into(),
    ];
    let claim = format!(
        "{} is the rate of an inner zone: the same disk is {} faster further out.",
        show_throughput(rate),
        percent(best / rate - 1.0)
    );
    Some(candidate(subject, (claim, evidence), Some(loss)))
}

/// The stage lies far inside, as the disk counts its blocks from the rim.
fn by_place(subject: &Subject<'_>) -> Option<Candidate> {
    let run = subject.run();
    let on_disk = matches!(run.target.kind, TargetKind::Device | TargetKind::Simulated);
    let leaf = subject.context.turning().next()?;
    let size = leaf.size_bytes.filter(|size| *size > 0)? as f64;
    if !on_disk || subject.leaves().count() > 1 {
        return None;
    }
    let partition: u64 = run
        .stack
        .devices
        .iter()
        .filter_map(|device| device.start_bytes)
        .sum();
    let place = (partition + subject.workload().offset) as f64 / size;
    if !(INNER..=1.0).contains(&place) {
        return None;
    }
    // Constant areal density, k between 0.5 and 0.78 on the disks that were measured.
    let of_rim = (1.0 - 0.5 * place).sqrt();
    let evidence = vec![format!(
        "It begins at {} of the disk, counted from its outer tracks; what the disk does at its \
         beginning was not measured.",
        percent(place)
    )];
    let claim = format!(
        "The stage lies in an inner zone, where disks of constant areal density stream about {} of \
         what they do at their beginning.",
        percent(of_rim)
    );
    Some(candidate(subject, (claim, evidence), None))
}
