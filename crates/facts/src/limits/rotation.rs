//! Each operation waits for the platter to come round: for whole revolutions when
//! what it follows has just gone by, for half of one on average when it may be
//! anywhere.

use super::experiment::at_least;
use super::spindle::{ALIKE, Spindle, Visit, arithmetic, revolutions, wait_ns, whole_wait};
use super::{Candidate, Standing, Subject};
use crate::revolution::Turns;
use crate::words::percent;
use diskfacts_plan::SyncMode;
use diskfacts_plan::units::{show_duration, three_digits};
use diskfacts_record::{Confidence, Experiment, Quantity, TargetKind};

pub(super) const NAME: &str = "rotation";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    whole(subject).or_else(|| half(subject))
}

/// Writes in order that wait for whole revolutions.
fn whole(subject: &Subject<'_>) -> Option<Candidate> {
    let each_ns = subject.each_ns()?;
    let found = whole_wait(subject).or_else(|| on_average(subject))?;
    let Turns {
        rpm,
        revolutions: n,
    } = found;
    let waits_ns = found.ns();
    let spindle = Spindle::of(subject);
    let share = (waits_ns / each_ns).min(1.0);
    let latency = &subject.figures.latency_ns;
    let mut evidence = vec![
        format!(
            "{}; {} writes a second are {} each.",
            arithmetic(rpm, wait_ns(subject, each_ns)),
            three_digits(1e9 / each_ns),
            show_duration(each_ns.round() as u64)
        ),
        "The place behind the last block has just gone by when the next is handed over, so it \
         has to come round."
            .to_owned(),
    ];
    if let Some((p50, p90)) = latency.p50.zip(latency.p90) {
        evidence.push(format!(
            "Half of the writes take up to {}, 90 % up to {}.",
            show_duration(p50),
            show_duration(p90)
        ));
    }
    evidence.push(spindle.source);
    let sure = spindle.known
        && subject.rotates() == Some(true)
        && (subject.run().target.kind == TargetKind::Simulated
            || subject.run().machine.virtualization.is_none());
    let block = subject.workload().block_size;
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!(
            "Each write waits for {} of a disk of {rpm} rpm: {} writes a second at most, however \
             small.",
            revolutions(n),
            three_digits(1e9 / waits_ns)
        ),
        evidence,
        share: Some(share),
        confidence: if sure {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "Another speed on the data sheet of the disk, or writes of twice the size \
                     that take twice as long."
            .into(),
        experiment: subject.experiment(
            "If it is the platter, writes of four times the size are as many a second, and each \
             moves four times the bytes; if it is the rate of bytes, there are a quarter as many.",
            &[
                ("as-it-was", subject.with(|_| {})),
                (
                    "four-times-the-block",
                    subject.with(|w| w.block_size = block * 4),
                ),
            ],
        )
        // By the bytes there would be a quarter as many.
        .decided_by(at_least(
            ("four-times-the-block", "as-it-was"),
            Quantity::Iops,
            0.5,
        )),
        remedy: "Let several commits share one sync, or write larger blocks: both come in one \
                 revolution. Else put what is synced on a device that does not turn."
            .into(),
    })
}

/// Where percentiles are not known or spread, the average may still be whole
/// revolutions: of writes that are made durable one by one.
fn on_average(subject: &Subject<'_>) -> Option<Turns> {
    let latency = &subject.figures.latency_ns;
    let durable = subject.workload().sync.each_write();
    let asked = durable && subject.only_writes() && subject.in_order();
    if !asked || subject.rotates() != Some(true) || !subject.reaches_device() {
        return None;
    }
    let spread = latency.p50.zip(latency.p90);
    if spread.is_some_and(|(p50, p90)| p90 as f64 > 2.0 * ALIKE * p50 as f64) {
        return None;
    }
    let wait_ns = wait_ns(subject, subject.each_ns()?);
    let known = Some(Spindle::of(subject)).filter(|spindle| spindle.known)?;
    known.whole(wait_ns)
}

/// Operations anywhere, which wait for half a revolution on average.
fn half(subject: &Subject<'_>) -> Option<Candidate> {
    // Of what a drive chooses the platter's part is not known.
    let visit = Visit::of(subject).filter(|visit| !visit.chosen)?;
    let share = visit.share(visit.rotation_ns);
    let turn_ns = visit.spindle.turn_ns();
    let rpm = visit.spindle.rpm;
    let on_average = format!(
        "{rpm} rpm is {} per revolution, and a place anywhere is half of one away on average: {} of \
         the {} that an operation takes, {}.",
        show_duration(turn_ns as u64),
        show_duration((0.5 * turn_ns) as u64),
        show_duration(visit.each_ns as u64),
        percent(share)
    );
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!(
            "{} of the time of an operation is waiting for the platter of a disk of {rpm} rpm to \
             come round.",
            percent(share)
        ),
        evidence: vec![on_average, visit.spindle.source.clone()],
        share: Some(share),
        confidence: if visit.spindle.known {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: format!(
            "A shortest wait of more than a few tenths of a millisecond, or another speed than \
             {rpm} rpm on the data sheet of the disk."
        ),
        experiment: spin(subject),
        remedy: "Give the drive more to choose from (a larger queue depth): it then does first \
                 what comes round first. Or put what is read at random on flash."
            .into(),
    })
}

/// Reads of the smallest span that no cache holds whole: the arm stands nearly still,
/// and the platter turns as before.
pub(super) fn spin(subject: &Subject<'_>) -> Experiment {
    let block = subject.workload().block_size.max(1);
    let span = (512_u64 << 20).min(subject.run().target.size_bytes) / block * block;
    subject.experiment(
        "What `near` keeps of the time of `anywhere` is rotation and transfer; what it loses was \
         the arm's movement. With 8 in flight the drive may choose, and both fall.",
        &[
            ("anywhere", subject.with(|w| w.sync = SyncMode::None)),
            (
                "near",
                subject.with(|w| {
                    w.sync = SyncMode::None;
                    w.span = Some(span.max(block));
                }),
            ),
            (
                "anywhere-qd8",
                subject.with(|w| {
                    w.sync = SyncMode::None;
                    w.queue_depth = 8;
                }),
            ),
        ],
    )
}
