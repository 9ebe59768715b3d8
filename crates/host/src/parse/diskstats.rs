//! `/proc/diskstats`, and `/sys/block/*/stat` which holds the same without the
//! three columns that name the device.
//!
//! Source: kernel, `Documentation/admin-guide/iostats.rst`, `block/genhd.c`.
//! Linux 2.6.25 to 4.17 have 11 counters, 4.18 added 4 for discards, 5.5 added
//! 2 for flushes. More may come: they are passed over. Before 2.6.25 partitions
//! had 4: reads, sectors read, writes, sectors written.

use super::{ParseError, lines};
use diskfacts_record::{BlockDevice, DeviceCounters};

/// A sector of these counters is always 512 bytes, whatever the device has.
pub const SECTOR_BYTES: u64 = 512;

/// The counters of a device since it appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Diskstats {
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Sectors read, 512 bytes each.
    pub read_sectors: u64,
    /// Milliseconds spent by all reads; modulo 2^32.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Sectors written, 512 bytes each.
    pub write_sectors: u64,
    /// Milliseconds spent by all writes; modulo 2^32.
    pub write_ms: u64,
    /// Operations in flight now; the one that is no counter.
    pub in_flight: u64,
    /// Milliseconds during which anything was in flight; modulo 2^32.
    pub busy_ms: u64,
    /// Milliseconds weighted by the number in flight; modulo 2^32.
    pub weighted_ms: u64,
    /// Discards; since Linux 4.18.
    pub discard: Option<Discards>,
    /// Flushes; since Linux 5.5.
    pub flush: Option<Flushes>,
}

/// Counters of discards (`TRIM`, `UNMAP`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Discards {
    /// Discards completed.
    pub count: u64,
    /// Discards merged into others.
    pub merges: u64,
    /// Sectors discarded, 512 bytes each.
    pub sectors: u64,
    /// Milliseconds spent by all discards; modulo 2^32.
    pub ms: u64,
}

/// Counters of flushes of the drive's write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flushes {
    /// Flushes completed. The kernel does not count them for partitions.
    pub count: u64,
    /// Milliseconds spent by all flushes; modulo 2^32.
    pub ms: u64,
}

/// One line of `/proc/diskstats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskstatsLine {
    /// Major device number.
    pub major: u32,
    /// Minor device number.
    pub minor: u32,
    /// Name in the kernel, `sda1` or `cciss/c0d0`.
    pub name: String,
    /// Its counters.
    pub stat: Diskstats,
    /// Whether only reads, writes and their sectors were counted, as for
    /// partitions before Linux 2.6.25; the other counters are 0 then, and mean
    /// nothing.
    pub requests_only: bool,
}

/// A counter went backwards by more than wrapping explains: the device was
/// removed and another one took its name in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its counter of {counter} fell from {before} to {after}: the device was removed and came back"
)]
pub struct CountersReset {
    /// Which counter.
    pub counter: &'static str,
    /// Its first value.
    pub before: u64,
    /// Its second value.
    pub after: u64,
}

/// Reads `/proc/diskstats`.
///
/// # Errors
/// When a line has fewer than 14 columns and not 7 (a partition before Linux
/// 2.6.25), or one of the known columns is no number.
pub fn parse_diskstats(bytes: &[u8]) -> Result<Vec<DiskstatsLine>, ParseError> {
    lines(bytes)
        .map(|(index, line)| parse_line(index, &line))
        .collect()
}

/// Reads `/sys/block/*/stat`.
///
/// # Errors
/// When there are fewer than 11 columns, or one of the known ones is no number.
pub fn parse_stat(bytes: &[u8]) -> Result<Diskstats, ParseError> {
    let (index, line, counted) = stat_line(bytes)?;
    if counted.requests_only {
        return Err(too_few(STAT, index, &line));
    }
    Ok(counted.stat)
}

/// Reads `/sys/block/*/*/stat`, where a partition before Linux 2.6.25 has four
/// counters; whether it has only these is said beside them.
///
/// # Errors
/// When there are fewer than 11 columns and not 4, or one of the known ones is no
/// number.
pub fn parse_any_stat(bytes: &[u8]) -> Result<(Diskstats, bool), ParseError> {
    stat_line(bytes).map(|(_, _, counted)| (counted.stat, counted.requests_only))
}

const STAT: &str = "stat";

fn stat_line(bytes: &[u8]) -> Result<(usize, String, Counted), ParseError> {
    let Some((index, line)) = lines(bytes).next() else {
        return Err(ParseError::at(STAT, 0, "a line of counters", ""));
    };
    let counted = parse_counters(STAT, index, &line, line.split_ascii_whitespace())?;
    Ok((index, line, counted))
}

/// The counters of a line, and whether it had only those of requests.
struct Counted {
    stat: Diskstats,
    requests_only: bool,
}

fn too_few(format: &'static str, index: usize, line: &str) -> ParseError {
    ParseError::at(format, index, "at least 11 counters", line)
}

fn parse_line(index: usize, line: &str) -> Result<DiskstatsLine, ParseError> {
    const FORMAT: &str = "diskstats";
    let wrong = |expected, found: &str| ParseError::at(FORMAT, index, expected, found);
    let mut columns = line.split_ascii_whitespace();
    let mut number = |expected| -> Result<u32, ParseError> {
        let text = columns.next().unwrap_or_default();
        text.parse().map_err(|_| wrong(expected, text))
    };
    let major = number("a major device number")?;
    let minor = number("a minor device number")?;
    let name = columns
        .next()
        .ok_or_else(|| wrong("the name of a device", line))?
        .to_owned();
    let counted = parse_counters(FORMAT, index, line, columns)?;
    Ok(DiskstatsLine {
        major,
        minor,
        name,
        stat: counted.stat,
        requests_only: counted.requests_only,
    })
}

fn parse_counters<'a>(
    format: &'static str,
    index: usize,
    line: &str,
    columns: impl Iterator<Item = &'a str>,
) -> Result<Counted, ParseError> {
    let mut values = [0_u64; 17];
    let mut known = 0;
    for (value, text) in values.iter_mut().zip(columns) {
        *value = text
            .parse()
            .map_err(|_| ParseError::at(format, index, "a counter", text))?;
        known += 1;
    }
    if known == 4 {
        let [reads, read_sectors, writes, write_sectors, ..] = values;
        return Ok(Counted {
            stat: Diskstats {
                reads,
                read_sectors,
                writes,
                write_sectors,
                ..Diskstats::default()
            },
            requests_only: true,
        });
    }
    if known < 11 {
        return Err(too_few(format, index, line));
    }
    let [
        reads,
        read_merges,
        read_sectors,
        read_ms,
        writes,
        write_merges,
        write_sectors,
        write_ms,
        in_flight,
        busy_ms,
        weighted_ms,
        discards,
        discard_merges,
        discard_sectors,
        discard_ms,
        flushes,
        flush_ms,
    ] = values;
    let stat = Diskstats {
        reads,
        read_merges,
        read_sectors,
        read_ms,
        writes,
        write_merges,
        write_sectors,
        write_ms,
        in_flight,
        busy_ms,
        weighted_ms,
        discard: (known >= 15).then_some(Discards {
            count: discards,
            merges: discard_merges,
            sectors: discard_sectors,
            ms: discard_ms,
        }),
        flush: (known >= 17).then_some(Flushes {
            count: flushes,
            ms: flush_ms,
        }),
    };
    Ok(Counted {
        stat,
        requests_only: false,
    })
}

impl Diskstats {
    /// What `device` did between two readings.
    ///
    /// The kernel keeps operations, merges and sectors as `unsigned long`, 32
    /// bits on a 32-bit kernel, and prints all times as `unsigned int`
    /// everywhere. So times wrap at 2^32 ms, which the weighted time of a
    /// device with 32 operations in flight reaches in a day and a half; a
    /// difference modulo 2^32 is right as long as the window is shorter than
    /// one lap. The wide counters are taken to have wrapped only when that
    /// makes a step of less than half a lap.
    ///
    /// # Errors
    /// [`CountersReset`] when a wide counter went backwards otherwise.
    pub fn between(
        device: &BlockDevice,
        before: &Self,
        after: &Self,
    ) -> Result<DeviceCounters, CountersReset> {
        Ok(DeviceCounters {
            name: device.name.clone(),
            leaf: device.is_leaf(),
            ..before.until(after)?
        })
    }

    /// The same for a device that the caller names.
    pub(crate) fn until(&self, after: &Self) -> Result<DeviceCounters, CountersReset> {
        let before = self;
        let bytes = |counter, before, after| {
            wide(counter, before, after).map(|sectors| sectors.saturating_mul(SECTOR_BYTES))
        };
        let discard = match (&before.discard, &after.discard) {
            (Some(before), Some(after)) => Some(Discards {
                count: wide("discards", before.count, after.count)?,
                merges: wide("discard merges", before.merges, after.merges)?,
                sectors: wide("sectors discarded", before.sectors, after.sectors)?,
                ms: milliseconds(before.ms, after.ms),
            }),
            _ => None,
        };
        let flush = match (&before.flush, &after.flush) {
            (Some(before), Some(after)) => Some(Flushes {
                count: wide("flushes", before.count, after.count)?,
                ms: milliseconds(before.ms, after.ms),
            }),
            _ => None,
        };
        Ok(DeviceCounters {
            name: String::new(),
            leaf: false,
            reads: wide("reads", before.reads, after.reads)?,
            read_merges: wide("read merges", before.read_merges, after.read_merges)?,
            read_bytes: bytes("sectors read", before.read_sectors, after.read_sectors)?,
            read_ms: milliseconds(before.read_ms, after.read_ms),
            writes: wide("writes", before.writes, after.writes)?,
            write_merges: wide("write merges", before.write_merges, after.write_merges)?,
            write_bytes: bytes("sectors written", before.write_sectors, after.write_sectors)?,
            write_ms: milliseconds(before.write_ms, after.write_ms),
            busy_ms: milliseconds(before.busy_ms, after.busy_ms),
            weighted_ms: milliseconds(before.weighted_ms, after.weighted_ms),
            discards: discard.map(|discard| discard.count),
            discard_merges: discard.map(|discard| discard.merges),
            discard_bytes: discard.map(|discard| discard.sectors.saturating_mul(SECTOR_BYTES)),
            discard_ms: discard.map(|discard| discard.ms),
            flushes: flush.map(|flush| flush.count),
            flush_ms: flush.map(|flush| flush.ms),
            in_flight_before: before.in_flight,
        })
    }

    /// A device that has just appeared, with the counters that this one has.
    #[must_use]
    pub fn at_its_start(&self) -> Self {
        Self {
            discard: self.discard.map(|_| Discards::default()),
            flush: self.flush.map(|_| Flushes::default()),
            ..Self::default()
        }
    }
}

/// The step of a counter that is printed with all its bits.
fn wide(counter: &'static str, before: u64, after: u64) -> Result<u64, CountersReset> {
    if let Some(step) = after.checked_sub(before) {
        return Ok(step);
    }
    let reset = CountersReset {
        counter,
        before,
        after,
    };
    let (Ok(first), Ok(second)) = (u32::try_from(before), u32::try_from(after)) else {
        return Err(reset);
    };
    let step = second.wrapping_sub(first);
    if step < 1 << 31 {
        Ok(u64::from(step))
    } else {
        Err(reset)
    }
}

/// The step of a time, which the kernel prints modulo 2^32.
fn milliseconds(before: u64, after: u64) -> u64 {
    // The low 32 bits are all the kernel gives: cutting is what wrapping means.
    u64::from((after as u32).wrapping_sub(before as u32))
}
