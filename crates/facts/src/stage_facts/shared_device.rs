//! What others did with the devices of a stage while it ran.

use super::{Need, StageFacts};
use crate::layers::counted::{Direction, count, roots};
use crate::neighbours;
use crate::others::{MATTER_BYTES, MATTERS, Others, by_others};
use crate::prelude::*;
use crate::words::device_list;

/// The device work of others beside that of a stage, where theirs is worth a word.
#[derive(Debug, Clone)]
pub(crate) struct SharedDevice {
    /// The devices on which others were seen: those right under the target, or those at the bottom
    /// where only these counted more.
    pub(crate) names: String,
    /// Share of the device's work that was theirs.
    pub(crate) of_work: f64,
    /// Share of the time that they account for: while the device had nothing to do, nobody was in
    /// the way there. `None` where that was not counted.
    pub(crate) share: Option<f64>,
    /// By which figures, each a sentence.
    pub(crate) evidence: Vec<String>,
}

/// What has to be so for bytes beyond the stage's own to be those of others.
const NEEDS: &[Need] = &[
    Need::NoDocument,
    Need::Blocks,
    Need::NotInMemory,
    Need::NotWarm,
    Need::Alone,
];

impl SharedDevice {
    /// `None` where others did not move enough to matter.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        unless(!Need::are_met(NEEDS, facts))?;
        let (trials, stack) = (facts.trials().iter(), &facts.run().stack);
        let each: Vec<Others> = trials.map(|trial| by_others(trial, stack)).collect();
        let others: u64 = each.iter().map(|others| others.bytes()).sum();
        let own = facts.stage.sum(|trial| trial.bytes);
        let is_much =
            others as f64 >= MATTERS * own as f64 && others / each.len() as u64 >= MATTER_BYTES;
        unless(own == 0 || !is_much)?;
        let above = |one: &Others| one.read.saturating_add(one.written) > one.beside;
        let names = if each.iter().any(above) {
            device_list(roots(facts.stack()))
        } else {
            device_list(facts.stack().leaves())
        };
        let by_bytes = others as f64 / (others + own) as f64;
        let by_requests = by_requests(facts);
        // A rotating disk takes as long for a small request as for a large one; flash takes
        // time for both, its commands and its bytes.
        let of_work = match (facts.rotates(), by_requests) {
            (Some(true), Some(by_requests)) => by_requests,
            (Some(false), Some(by_requests)) => f64::midpoint(by_bytes, by_requests),
            _ => by_bytes,
        };
        let busy = busiest_s(facts).map(|busy_s| busy_s / facts.seconds());
        let share = busy.map(|busy| of_work * busy.min(1.0));
        let [moved, more] = [own, others].map(show_size);
        let bytes = format!(
            "{moved} were moved by the stage, and {more} more by others: {} of the bytes.",
            percent(by_bytes)
        );
        let at_work = busy.zip(share).filter(|(busy, _)| *busy < 0.99);
        let at_work = at_work.map(|(busy, share)| {
            let [busy, share] = [busy, share].map(percent);
            format!(
                "The device was at work in {busy} of the time, so others account for {share} of it."
            )
        });
        let requests = by_requests.map(|share| {
            let share = percent(share);
            format!("{share} of the requests that the device completed were not the stage's.")
        });
        let who = neighbours::on_storage(facts.trials());
        let evidence = [Some(bytes), at_work, who, requests];
        Some(Self {
            names,
            of_work,
            share,
            evidence: evidence.into_iter().flatten().collect(),
        })
    }
}

/// Seconds for which the busiest device of the stack had something to do, of whatever layer:
/// what a loop device holds up need not reach the disk. `None` where nothing was counted.
fn busiest_s(facts: &StageFacts<'_>) -> Option<f64> {
    let of_leaves = facts.device_work()?.busy_s;
    let devices = facts.stack().devices.iter();
    let each = devices.filter_map(|device| Some(facts.work_of(&device.name)?.busy_s));
    Some(each.fold(of_leaves, f64::max))
}

/// Share of the requests of the devices under the filesystem that were not the
/// stage's, where each of its operations is one request; `None` where that is not
/// known.
fn by_requests(facts: &StageFacts<'_>) -> Option<f64> {
    let tops: Vec<&BlockDevice> = roots(facts.stack()).collect();
    let largest = tops.iter().filter_map(|device| device.max_request_bytes);
    let workload = facts.workload();
    let is_one = workload.block_size <= largest.min()? && !workload.sync.each_write();
    unless(!is_one || facts.direct() != Some(true))?;
    // The devices must have counted at all.
    count(&tops, Direction::Read, &facts.trials().first()?.evidence)?;
    let counted = facts.counted_by(&tops);
    let counted: u64 = counted.map(|device| device.reads + device.writes).sum();
    let own = |trial: &Trial| trial.evidence.issued.reads + trial.evidence.issued.writes;
    let own = facts.stage.sum(own);
    (counted > own).then(|| (counted - own) as f64 / counted as f64)
}

/// Discards (trim) of the devices right under the target, which no workload asks for: sums over
/// the trials.
#[derive(Debug, Clone)]
pub(crate) struct Discards {
    /// The devices, by their names.
    pub(crate) names: String,
    pub(crate) number: u64,
    /// Time of all of them, ns.
    pub(crate) total_ns: f64,
    /// Share of the time of all requests, reads and writes too; not a number where there were none.
    pub(crate) share: f64,
}

impl Discards {
    /// `None` where they were not counted, or the filesystem itself discards what is deleted.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let filesystem = facts.run().stack.filesystem.as_ref();
        let mut options = filesystem.into_iter().flat_map(|one| &one.options);
        unless(options.any(|of| of.starts_with("discard")))?;
        let tops: Vec<&BlockDevice> = roots(facts.stack()).collect();
        let (mut number, mut discard_ms, mut all_ms) = (0, 0, 0);
        for one in facts.counted_by(&tops) {
            number += one.discards?;
            discard_ms += one.discard_ms?;
            all_ms += one.discard_ms? + one.read_ms + one.write_ms;
        }
        Some(Self {
            names: device_list(tops),
            number,
            total_ns: discard_ms as f64 * 1e6,
            share: discard_ms as f64 / all_ms as f64,
        })
    }
}
