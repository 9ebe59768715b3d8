//! How fast a disk turns, and which waits are its revolutions.

use super::StageFacts;
use crate::prelude::*;
use crate::revolution::{SPEEDS, Spindle, Turns, turn_ns, whole};
use crate::stages::one_value;

/// How near a wait must be to whole revolutions: drives keep their speed within 0.5 %, a
/// percentile is known to 0.4 %. To it comes what the time of the bytes may be off.
const NEAR: f64 = 0.01;
/// Tracks further in hold half as much as the outer ones, so the time of a write's bytes,
/// by the best rate of the run, may be off by half of it.
const BYTES_OFF: f64 = 0.5;
/// The most by which a wait may be off and still be told from others; so much is the mean of
/// writes of which one in thirty waits once more.
const NEAR_MAX: f64 = 0.03;
/// The speed that is taken where none was seen: the most common one by far.
const ASSUMED: u32 = 7200;
/// From so many bytes on a single write is mostly its bytes, on any disk.
const LONE: u64 = 4 << 20;
/// Where no stream was measured, small blocks take little beside a revolution; bytes/s.
const STREAM: f64 = 150e6;
/// Waits of whole revolutions are alike: their 90th percentile over the median.
const ALIKE: f64 = 1.15;

impl Spindle {
    /// That of the disks below a stage: as they state it, else as the waits of the run show it.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Self {
        let assumed = || Self {
            rpm: ASSUMED,
            known: false,
            source: format!(
                "No stage shows how fast the disk turns; {ASSUMED} rpm, the most common speed, is \
                 assumed."
            ),
        };
        let found = || {
            stated(facts)
                .or_else(|| shown(facts))
                .unwrap_or_else(assumed)
        };
        facts.context.spindle.get_or_init(found).clone()
    }
}

/// As each of the disks below states it.
fn stated(facts: &StageFacts<'_>) -> Option<Spindle> {
    let rpm = one_value(facts.leaves().map(|leaf| leaf.rpm))??;
    Some(Spindle {
        rpm,
        known: true,
        source: format!("The disk states {rpm} rpm."),
    })
}

/// The speed whose revolutions the waits of the most stages are.
fn shown(facts: &StageFacts<'_>) -> Option<Spindle> {
    let of = |one: StageFacts<'_>| {
        let turns = whole_waits(&one, &SPEEDS);
        (!turns.is_empty()).then(|| (turns, one.workload().block_size, one.stage.label()))
    };
    let all: Vec<(Vec<Turns>, u64, String)> = facts.all().filter_map(of).collect();
    // The stages that agree on a speed, and how many sizes of blocks these have.
    let agree = |rpm: u32| {
        let of_speed = |turns: &[Turns]| turns.iter().any(|turns| turns.rpm == rpm);
        let agree = all.iter().filter(|(turns, ..)| of_speed(turns));
        let (mut sizes, names): (Vec<u64>, Vec<&str>) = agree
            .map(|(_, block, stage)| (*block, stage.as_str()))
            .unzip();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes.len(), names)
    };
    // Of speeds that fit as many the one that needs the fewest revolutions.
    let mut candidates = all.iter().flat_map(|(turns, ..)| turns).copied();
    let mut best = candidates.next()?;
    for turns in candidates {
        if agree(turns.rpm).0 > agree(best.rpm).0 {
            best = turns;
        }
    }
    let rpm = best.rpm;
    let (sizes, names) = agree(rpm);
    let (known, writes) = (sizes > 1, list(&names));
    Some(Spindle {
        rpm,
        known,
        source: if known {
            format!(
                "The writes of {writes}, of blocks of several sizes, take whole revolutions of a \
                 disk of {rpm} rpm beside their bytes."
            )
        } else {
            let turns = revolutions(best.revolutions);
            format!(
                "The writes of {writes} take {turns} of a disk of {rpm} rpm; a wait of another \
                 kind may be as long, and no other size of block shows it."
            )
        },
    })
}

/// `a whole revolution`, `2 revolutions`.
pub(crate) fn revolutions(number: u32) -> String {
    match number {
        1 => "a whole revolution".to_owned(),
        several => format!("{several} whole revolutions"),
    }
}

/// `7200 rpm is 8.33 ms per revolution`, and how many of these a time is.
pub(crate) fn arithmetic(rpm: u32, ns: f64) -> String {
    let turn_ns = turn_ns(rpm);
    let ([turn, wait], turns) = ([turn_ns, ns].map(duration), ratio(ns / turn_ns));
    format!("{rpm} rpm is {turn} per revolution; {wait} is {turns} of them")
}

/// The best rate of a stage in order that is not served from memory, bytes/s: what
/// the bytes of an operation take at least.
pub(crate) fn stream_rate(facts: &StageFacts<'_>) -> Option<f64> {
    let of = |one: StageFacts<'_>| {
        // One write at a time may wait for the platter between two of them.
        let alone =
            one.only_writes() && one.outstanding() <= 1.0 && one.workload().block_size < LONE;
        (one.in_order() && !alone).then(|| one.flow()).flatten()
    };
    let all = || facts.all().filter_map(of).reduce(f64::max);
    *facts.context.stream_rate.get_or_init(all)
}

/// What the bytes of an operation take at that rate, ns.
pub(crate) fn transfer_ns(facts: &StageFacts<'_>) -> f64 {
    facts.workload().block_size as f64 / stream_rate(facts).unwrap_or(STREAM) * 1e9
}

/// What is left of an operation that takes so long without the time of its bytes, ns.
pub(crate) fn wait_ns(facts: &StageFacts<'_>, ns: f64) -> f64 {
    ns - transfer_ns(facts)
}

/// The wait of an ordered small write for the platter to come round; `None` where
/// writes are no such, or their waits are no whole revolutions of this disk.
pub(crate) fn whole_wait(facts: &StageFacts<'_>) -> Option<Turns> {
    let spindle = Spindle::of(facts);
    whole_waits(facts, &[spindle.rpm]).first().copied()
}

/// Where percentiles are not known or spread, the average may still be whole
/// revolutions: of writes that are made durable one by one.
pub(crate) fn whole_on_average(facts: &StageFacts<'_>) -> Option<Turns> {
    let asked = facts.syncs_each() && facts.only_writes() && facts.in_order();
    let spread = facts.is_even(2.0 * ALIKE) == Some(false);
    unless(!asked || facts.rotates() != Some(true) || !facts.reaches_device() || spread)?;
    let wait_ns = wait_ns(facts, facts.each_ns()?);
    let known = Some(Spindle::of(facts)).filter(|spindle| spindle.known)?;
    known.whole(wait_ns)
}

/// The whole revolutions of these speeds that the ordered small writes of a stage wait.
fn whole_waits(facts: &StageFacts<'_>, speeds: &[u32]) -> Vec<Turns> {
    let small = (1..=1 << 20).contains(&facts.workload().block_size);
    let waits = facts.only_writes() && facts.in_order() && facts.outstanding() <= 1.0;
    if facts.rotates() == Some(false) || !small || !waits || !facts.reaches_device() {
        return Vec::new();
    }
    let p50_ns = facts.figures.latency_ns.p50.map(|p50| p50 as f64);
    let alike = facts.is_even(ALIKE).unwrap_or(true);
    let Some(typical_ns) = p50_ns.or_else(|| facts.each_ns()).filter(|_| alike) else {
        return Vec::new();
    };
    let wait_ns = wait_ns(facts, typical_ns);
    let bytes_off = BYTES_OFF * (typical_ns - wait_ns) / wait_ns;
    let near = if p50_ns.is_some() {
        (NEAR + bytes_off.max(0.0)).min(NEAR_MAX)
    } else {
        NEAR_MAX
    };
    whole(speeds, wait_ns, near)
}
