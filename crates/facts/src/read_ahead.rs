//! What follows from the decisions of the kernel's read-ahead: windows at their
//! limit, pages that nobody used, streams that break each other's pattern.
//!
//! The rules of the same names say it of the stages of a run, `diskfacts readahead`
//! of what it watched.

use crate::layers::remote;
use crate::rules::Rule;
use crate::rules::found::Found;
use crate::words::{count, list, percent, set_attribute};
use diskfacts_plan::units::show_size;
use diskfacts_record::evidence::{ReadAhead, ReadAheadCounts, ReadAheadPattern as Pattern};
use diskfacts_record::{BlockDevice, Confidence, Finding, Stack};

/// Read-ahead has grown to its limit, and that is small.
pub(crate) const LIMIT: Rule = Rule {
    name: "read-ahead-limit",
    confidence: Confidence::Likely,
    ..Rule::WARNING
};

/// What was read ahead was not used.
pub(crate) const UNUSED: Rule = Rule {
    name: "read-ahead-unused",
    ..LIMIT
};

/// Read-ahead loses the pattern of a stream.
pub(crate) const PATTERN: Rule = Rule {
    name: "read-ahead-pattern",
    ..LIMIT
};

/// A window below this is small for anything that turns or lies behind a network:
/// while a disk turns once, 8 ms at 7200 rpm, some 1 MB passes under its heads.
pub(crate) const SMALL: f64 = 524_288.0;
/// Windows that there must be at least to speak of them.
pub(crate) const WINDOWS_MIN: u64 = 8;
/// Share of the decisions that must be those of reading in order.
pub(crate) const IN_ORDER: f64 = 0.8;
/// Share of the windows that must be as large as the limit lets them be: the first of
/// a stream are smaller.
const AT_LIMIT: f64 = 0.8;
/// Share of the pages that must be unused to be worth a word.
const UNUSED_SHARE: f64 = 0.25;
/// And so many bytes of them.
const UNUSED_BYTES: u64 = 1 << 20;
/// Windows that are under way for each stream when the watching ends: the one that is
/// read and the next. Nobody has come for them yet, and that is no waste.
const UNDER_WAY: u64 = 2;
/// Decisions that must have lost their window, and their share.
const LOST_MIN: u64 = 8;
const LOST_SHARE: f64 = 0.1;

/// Sums over the tables of some trials, or of one watching.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    page_bytes: u64,
    /// The limit of all of them; `None` when they had several.
    limit: Option<u64>,
    all: ReadAheadCounts,
    continued: ReadAheadCounts,
    random: u64,
    mapped: u64,
    windows: u64,
    at_limit: u64,
    added: u64,
    unused: u64,
    under_way: u64,
    dropped: u64,
    mapped_only: u64,
    broken: u64,
    scattered: u64,
    lost: u64,
}

impl Sums {
    /// Of these tables; each was of so many streams. `None` without any, or when they
    /// are of machines with pages of different size.
    pub fn of<'a>(tables: impl IntoIterator<Item = &'a ReadAhead>, streams: u64) -> Option<Self> {
        let tables: Vec<&ReadAhead> = tables.into_iter().collect();
        let first = tables.first()?;
        let all_same = |of: fn(&ReadAhead) -> Option<u64>| {
            let mut tables = tables.iter();
            tables.all(|table| of(table) == of(first))
        };
        if !all_same(|table| Some(table.page_bytes)) {
            return None;
        }
        let sum = |of: &dyn Fn(&ReadAhead) -> u64| tables.iter().map(|table| of(table)).sum();
        let counts = |of: fn(&ReadAhead) -> ReadAheadCounts| {
            let none = ReadAheadCounts::default();
            tables.iter().fold(none, |sum, table| sum.plus(&of(table)))
        };
        let one_limit = all_same(|table| table.limit_pages);
        Some(Self {
            page_bytes: first.page_bytes,
            limit: first.limit_pages.filter(|_| one_limit),
            all: counts(|table| table.all),
            continued: counts(|table| {
                let subsequent = table.row(Pattern::Subsequent);
                subsequent.plus(&table.row(Pattern::Marker))
            }),
            random: sum(&|table| table.row(Pattern::Random).count),
            mapped: sum(&|table| table.row(Pattern::Mmap).count),
            windows: sum(&ReadAhead::windows),
            at_limit: sum(&|table| table.at_limit().unwrap_or(0)),
            added: sum(&|table| table.pages.added),
            unused: sum(&|table| table.pages.unused()),
            under_way: sum(&|table| {
                let limit = table.limit_pages.unwrap_or(0);
                let under_way = UNDER_WAY * limit * streams.max(1);
                table.pages.left_unused.min(under_way)
            }),
            dropped: sum(&|table| table.pages.dropped_unused),
            mapped_only: sum(&|table| table.pages.mapped_only),
            broken: sum(&|table| table.broken),
            scattered: sum(&|table| table.scattered),
            lost: sum(&|table| table.cost.map_or(0, |cost| cost.lost)),
        })
    }

    fn size(&self, pages: u64) -> String {
        show_size(pages.saturating_mul(self.page_bytes))
    }

    /// Bytes of the limit, when the windows of reading in order stay at it.
    pub fn at_limit_bytes(&self) -> Option<u64> {
        let limit = self.limit.filter(|limit| *limit > 0)?;
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let stays = self.windows >= WINDOWS_MIN
            && share(self.continued.count, self.all.count) >= IN_ORDER
            && share(self.at_limit, self.windows) >= AT_LIMIT;
        stays.then(|| limit.saturating_mul(self.page_bytes))
    }
}

/// The first disk that rotates by what its driver says, where that is to be believed: what a
/// hypervisor or a server shows as a disk may be anything.
fn said_to_turn(stack: &Stack) -> Option<&BlockDevice> {
    let mut leaves = stack.leaves();
    leaves.find(|leaf| leaf.rotational == Some(true) && leaf.virtual_by.is_none())
}

/// A rotating disk, or what lies behind a network: a small window costs it a revolution, or a
/// round trip.
fn slow_way(stack: &Stack, turning: Option<&BlockDevice>) -> Option<String> {
    if let Some(disk) = turning {
        return Some(format!(
            "{} turns: about 1 MiB passes under its heads in a revolution.",
            disk.name
        ));
    }
    let filesystem = remote(stack)?;
    Some(format!(
        "{} lies behind a network: each window waits for its way.",
        filesystem.mount_point
    ))
}

/// How to set the window: on the topmost whole device, because its setting decides.
pub(crate) fn set_window(stack: &Stack, kib: u64) -> String {
    set_attribute(stack.top(), "queue/read_ahead_kb", &kib.to_string())
}

/// That windows stay at a limit of this size.
pub(crate) fn stay_at(size: &str) -> Found {
    LIMIT
        .claim(format!(
            "Read-ahead works and is too small: its windows stay at {size}, the limit that is set."
        ))
        .headline(format!("read-ahead window stays at its limit, {size}"))
}

/// What [`LIMIT`] says: windows in a row at the limit, on what is slow to begin, as the disk
/// that rotates, if one does.
pub(crate) fn limit(sums: &Sums, stack: &Stack, turning: Option<&BlockDevice>) -> Option<Found> {
    let bytes = sums
        .at_limit_bytes()
        .filter(|bytes| (*bytes as f64) < SMALL)?;
    let why = slow_way(stack, turning)?;
    Some(stay_at(&show_size(bytes)).evidence([
            format!(
                "{} of {} decisions continue a stream (subsequent, marker); {} of {} windows are \
                 as large as the limit lets them be.",
                sums.continued.count, sums.all.count, sums.at_limit, sums.windows
            ),
            why,
        ]).remedy(format!("{}, and measure again.", set_window(stack, 1024))))
}

/// What [`UNUSED`] says: pages that were read ahead, and that nobody asked for.
pub(crate) fn unused(sums: &Sums, stack: &Stack) -> Option<Found> {
    let wasted = sums.unused.saturating_sub(sums.under_way);
    let share = wasted as f64 / sums.added.max(1) as f64;
    if share < UNUSED_SHARE || wasted.saturating_mul(sums.page_bytes) < UNUSED_BYTES {
        return None;
    }
    let mut evidence = vec![format!(
        "{} entered the page cache by decisions of read-ahead; {} of it was asked for by nobody: \
         {} was dropped again before, {} still lay there at the end.",
        sums.size(sums.added),
        sums.size(sums.unused),
        sums.size(sums.dropped),
        sums.size(sums.unused - sums.dropped)
    )];
    if sums.under_way > 0 {
        evidence.push(format!(
            "{} of that may be windows on their way to a reader, and is not counted.",
            sums.size(sums.under_way)
        ));
    }
    if sums.mapped_only > 0 {
        evidence.push(format!(
            "It may be more: {} was mapped along with a page that was touched, and counts as used.",
            sums.size(sums.mapped_only)
        ));
    }
    if sums.lost > 0 {
        evidence.push(format!(
            "It may be less: the kernel dropped {}, so that uses are missing.",
            count(sums.lost, "event")
        ));
    }
    let mapped = sums.mapped * 2 > sums.all.count;
    let advice = if mapped {
        "a mapped file that is read here and there wants `madvise(MADV_RANDOM)`"
    } else {
        "a file that is read in short runs here and there wants \
         `posix_fadvise(POSIX_FADV_RANDOM)`"
    };
    evidence.push(format!(
        "{} of {} decisions were made for a page that somebody waited for, {} of them anywhere \
         in the file.",
        sums.all.sync_count, sums.all.count, sums.random
    ));
    Some(UNUSED.claim(format!(
            "{} of what read-ahead brought was not used: the device read {} for nobody.",
            percent(share),
            sums.size(wasted)
        )).headline(format!("{} of what was read ahead was not used", percent(share))).evidence(evidence).confidence(if sums.lost > 0 {
            Confidence::Possible
        } else {
            Confidence::Likely
        }).remedy(format!(
            "In the program, {advice}; for all programs, {}, and compare what the device reads.",
            crate::words::lower_first(&set_window(stack, 16))
        )))
}

/// What [`PATTERN`] says: reading in order that lost its window, to another stream
/// through the same descriptor or by going on through another one.
pub(crate) fn pattern(sums: &Sums) -> Option<Found> {
    let lost = sums.broken + sums.scattered;
    if lost < LOST_MIN || (lost as f64) < LOST_SHARE * sums.all.count as f64 {
        return None;
    }
    let of_all = |n: u64| format!("{n} of {} decisions", sums.all.count);
    let mut evidence = Vec::new();
    let mut causes = Vec::new();
    if sums.broken > 0 {
        causes.push("several streams read through one descriptor");
        evidence.push(format!(
            "{} went on in order and found that another stream had read through the same \
             descriptor: the kernel keeps one window for each.",
            of_all(sums.broken)
        ));
    }
    if sums.scattered > 0 {
        causes.push("one stream goes on through several descriptors");
        evidence.push(format!(
            "{} went on in order through another descriptor than the read before: that one knows \
             nothing of the window.",
            of_all(sums.scattered)
        ));
    }
    evidence.push(format!(
        "Somebody waited for the pages of {}.",
        of_all(sums.all.sync_count)
    ));
    Some(
        PATTERN
            .claim(format!("Read-ahead loses the pattern: {}.", list(&causes)))
            .headline("read-ahead loses the pattern of the streams")
            .evidence(evidence),
    )
}

/// Everything that follows from one table; `streams` read at the same time.
pub fn told(table: &ReadAhead, streams: u64, stack: &Stack) -> Vec<Finding> {
    let Some(sums) = Sums::of([table], streams) else {
        return Vec::new();
    };
    let limit = limit(&sums, stack, said_to_turn(stack));
    let found = [
        (PATTERN, pattern(&sums)),
        (LIMIT, limit),
        (UNUSED, unused(&sums, stack)),
    ];
    let said = found.into_iter();
    said.filter_map(|(row, found)| Some(row.finding(found?)))
        .collect()
}

/// What to try where windows stay at a limit of which nothing else is known: on flash
/// a small window may do, or not.
pub fn next(table: &ReadAhead, stack: &Stack) -> Option<String> {
    let sums = Sums::of([table], 1)?;
    let bytes = sums.at_limit_bytes()?;
    if slow_way(stack, said_to_turn(stack)).is_some() || (bytes as f64) >= SMALL {
        return None;
    }
    Some(format!(
        "The windows stay at the limit, {}. Whether larger ones are faster here, only a \
         measurement tells. {}, and time the same reads again, uncached.",
        show_size(bytes),
        set_window(stack, 1024)
    ))
}
