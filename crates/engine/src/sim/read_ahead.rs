//! What the simulated host's read-ahead decided, as the observer of a real one
//! gives it.

use super::machine::Machine;
use diskfacts_disk::host::{Rule, Told};
use diskfacts_record::Unseen;
use diskfacts_record::evidence::{
    ReadAhead, ReadAheadCounts, ReadAheadPages, ReadAheadPattern as Pattern, ReadAheadRow,
    WindowSize,
};
use std::collections::BTreeMap;

/// Bytes of a page of the simulated host.
const PAGE: u64 = 4096;

/// Rows that it never fills, and why.
const NOT_TOLD: [Pattern; 7] = [
    Pattern::Marker,
    Pattern::Trail,
    Pattern::Reverse,
    Pattern::Stride,
    Pattern::Thrash,
    Pattern::Mmap,
    Pattern::Fadvise,
];

/// The table; `None` when nobody asked to be told.
pub(super) fn evidence(machine: &Machine) -> Option<ReadAhead> {
    let (told, used) = machine.host.read_ahead_told()?;
    let end = machine.host.parameters().read_ahead;
    let device_pages = diskfacts_disk::Device::capacity(&machine.host).div_ceil(PAGE);
    let nothing = ReadAheadCounts {
        eof_count: Some(0),
        ..ReadAheadCounts::default()
    };
    let mut rows: BTreeMap<Pattern, ReadAheadCounts> = Pattern::ALL
        .into_iter()
        .filter(|pattern| !NOT_TOLD.contains(pattern))
        .map(|pattern| (pattern, nothing))
        .collect();
    let mut all = nothing;
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    for decision in told {
        let pattern = pattern(decision.rule);
        let one = counts(decision, device_pages);
        all = all.plus(&one);
        if let Some(row) = rows.get_mut(&pattern) {
            *row = row.plus(&one);
        }
        if pattern.in_order() {
            *sizes.entry(one.size_pages).or_default() += 1;
        }
    }
    // Pages that a write had read are used too, and no decision brought them.
    let used = used.min(all.actual_pages);
    let count = |of: fn(&Told) -> bool| told.iter().filter(|told| of(told)).count() as u64;
    let broken = count(|told| told.broken);
    Some(ReadAhead {
        page_bytes: PAGE,
        rows: rows
            .into_iter()
            .map(|(pattern, counts)| ReadAheadRow { pattern, counts })
            .collect(),
        all,
        not_told: NOT_TOLD.map(not_told).into(),
        undecided: 0,
        without_window: 0,
        limit_pages: (!told.is_empty()).then_some(end / PAGE),
        sizes: sizes
            .into_iter()
            .map(|(pages, count)| WindowSize { pages, count })
            .collect(),
        pages: ReadAheadPages {
            added: all.actual_pages,
            used,
            mapped_only: 0,
            dropped_unused: 0,
            left_unused: all.actual_pages - used,
        },
        broken,
        shared_descriptors: u64::from(broken > 0),
        scattered: 0,
        late: count(|told| told.late),
        ..ReadAhead::default()
    })
}

fn not_told(pattern: Pattern) -> Unseen {
    Unseen {
        what: pattern.word().to_owned(),
        why: "the simulated host has no such rule".to_owned(),
    }
}

fn pattern(rule: Rule) -> Pattern {
    match rule {
        Rule::Off => Pattern::None,
        Rule::Initial0 => Pattern::Initial0,
        Rule::Initial => Pattern::Initial,
        Rule::Subsequent => Pattern::Subsequent,
        Rule::Oversize => Pattern::Oversize,
        Rule::Random => Pattern::Random,
    }
}

fn counts(decision: &Told, device_pages: u64) -> ReadAheadCounts {
    let window = decision.window;
    let size = window.end - window.first;
    let asked = decision.request.first;
    let waits = window.first <= asked && asked < window.end;
    ReadAheadCounts {
        count: 1,
        sync_count: u64::from(decision.actual > 0 && waits),
        eof_count: Some(u64::from(
            decision.actual < size && window.end > device_pages,
        )),
        size_pages: size,
        async_pages: decision.behind_mark.min(size),
        actual_pages: decision.actual,
    }
}
