//! Each write pays for a flush of the drive's cache.

use super::experiment::without;
use super::{Candidate, Standing, Subject, positioning, rotation};
use crate::words::{percent, ratio_of};
use diskfacts_plan::SyncMode;
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "flush-per-write";

/// Flushes for each write from which on it is each that pays: some kernels and
/// filesystems let two syncs share one.
const EACH: f64 = 0.5;
/// With more than that of them for each write, on a disk that turns, the arm goes between
/// the data and a journal: the flushes are what it takes, and not why.
const SEVERAL: f64 = 1.5;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let sync = subject.workload().sync;
    if !sync.each_write() || !subject.workload().operation.writes() || !subject.moves_blocks() {
        return None;
    }
    let latency_ns = subject.latency_ns()?;
    let (cost_ns, mut evidence, confidence) = counted(subject).or_else(|| compared(subject))?;
    let share = (cost_ns / latency_ns).min(1.0);
    evidence.push(format!(
        "Of the {} that a write and its sync take, {} are the flush: {}.",
        show_duration(latency_ns.round() as u64),
        show_duration(cost_ns.round() as u64),
        percent(share)
    ));
    // On a platter the flush is a wait for the platter, which says more.
    let several = subject.rotates() == Some(true)
        && subject
            .flushes()
            .is_some_and(|(_, for_each)| for_each > SEVERAL);
    let turning =
        rotation::check(subject).is_some() || positioning::check(subject).is_some() || several;
    if turning {
        evidence.push(
            "On a disk that turns a flush takes as long as the platter needs to come round; \
             without the syncs the cache would take the writes."
                .into(),
        );
    }
    Some(Candidate {
        standing: if turning {
            Standing::Beside
        } else {
            Standing::cause(share)
        },
        claim: format!(
            "Each write waits for a flush of the drive's cache: {} of its time.",
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence,
        refuted_by: "Writes without a sync that take as long.".into(),
        experiment: subject.experiment(
            "Without a sync a write takes what it does without the flush; with one sync at the end \
             all of them share one.",
            &[
                ("as-it-was", subject.with(|_| {})),
                ("no-sync", subject.with(|w| w.sync = SyncMode::None)),
                (
                    "one-sync-at-the-end",
                    subject.with(|w| w.sync = SyncMode::FdatasyncAtEnd),
                ),
            ],
        )
        .decided_by(without(("no-sync", "as-it-was"), Quantity::Iops, share)),
        remedy: "Let several commits share one sync (group commit), or use a drive whose cache \
                 survives a power cut: it answers a flush at once."
            .into(),
    })
}

/// By what the devices counted.
fn counted(subject: &Subject<'_>) -> Option<(f64, Vec<String>, Confidence)> {
    let (mean_ns, for_each) = subject.flushes()?;
    let ours = subject
        .trials()
        .iter()
        .map(|t| (t.evidence.issued.syncs, t.ops));
    let (syncs, ops) = ours.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let cost_ns = mean_ns * for_each;
    (for_each >= EACH && cost_ns > 0.0).then(|| {
        let line = format!(
            "The device counted {} for each write ({syncs} syncs of {ops} writes), {} each.",
            ratio_of(for_each, "flush", "flushes"),
            show_duration(mean_ns.round() as u64)
        );
        (cost_ns, vec![line], Confidence::Certain)
    })
}

/// By a stage that writes the same without syncs.
fn compared(subject: &Subject<'_>) -> Option<(f64, Vec<String>, Confidence)> {
    let workload = subject.workload();
    let without = subject.others().find(|other| {
        let like = other.workload();
        like.operation == workload.operation
            && like.pattern == workload.pattern
            && like.block_size == workload.block_size
            && like.cache == workload.cache
            && like.outstanding() == workload.outstanding()
            && like.sync == SyncMode::None
    })?;
    // A device without a volatile cache is sent no flush, so there is none to pay.
    let volatile = subject
        .leaves()
        .any(|leaf| leaf.write_cache.as_deref() == Some("write back"));
    let (mine, theirs) = (subject.latency_ns()?, without.latency_ns()?);
    (volatile && mine > 2.0 * theirs).then(|| {
        let line = format!(
            "The same writes without a sync take {} ({}).",
            show_duration(theirs.round() as u64),
            without.stage.label()
        );
        (mine - theirs, vec![line], Confidence::Likely)
    })
}
