//! Seed 000: strided and sequential reads and writes of a 16 GiB file or
//! partition.
//!
//! Two things the document does not say are taken as it is most likely: where
//! the file and the partition lie (`[layout]` of the profile), and that the skip of
//! `fixed:false` is drawn at random with the printed mean ([`Skip`]), as the pattern
//! of the plan `stride` draws it.

use super::setting::Setting;
use super::table::{DD, Row, STRIDED, Table};
use super::{Cell, Gate};
use crate::profile::Measured;
use crate::request::{Kind, Request};
use diskfacts_plan::pattern::{Range, Steps};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Operation, Pattern};
use std::fmt;

const PROFILE: &str = "hdd-7200-1tb";
/// Size of the file and of the part of the partition that is used.
const SPAN: u64 = 1 << 34;
const BLOCK: u64 = 4096;
/// Requests of the kernel's read-ahead and write-back.
const WINDOW: u64 = 128 << 10;
const WRITE_BACK: u64 = 512 << 10;

/// What was read and written. Where it lies is in the profile's `[layout]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The partition on the inner half.
    Raw,
    /// A file on the used ext4 at the rim.
    Ext,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raw => "raw partition",
            Self::Ext => "file on ext4",
        })
    }
}

impl Place {
    /// What of the disk it is.
    fn measured(self) -> Measured {
        match self {
            Self::Raw => Measured::Partition,
            Self::Ext => Measured::File,
        }
    }
}

/// A request past the page cache.
fn request(kind: Kind, at: u64, len: u64) -> Request {
    let mut request = Request::read(0, at, len);
    request.kind = kind;
    request
}

/// How the place of the next block is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skip {
    /// Each skip is drawn, with the printed mean.
    Random,
    /// Always the skip, and one block further on after each pass.
    Fixed,
}

/// A row of strided operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stride {
    /// Line of the document.
    pub(super) line: u32,
    pub(super) place: Place,
    /// Mean distance from block to block, blocks.
    pub(super) skip_blocks: u64,
    /// Operations.
    pub(super) count: u64,
}

/// Mean time of the operations of a row, s. `is_modified` writes each block
/// back after reading it.
pub(super) fn strided(
    setting: &Setting<'_>,
    row: &Stride,
    skip: Skip,
    kind: Kind,
    is_modified: bool,
) -> f64 {
    let mut runner = setting.computer_on(PROFILE, row.place.measured());
    let range = Range {
        start: 0,
        block_size: BLOCK,
        count: SPAN / BLOCK,
    };
    let pattern = Pattern::Stride {
        skip_blocks: row.skip_blocks,
        fixed: skip == Skip::Fixed,
        from_start: false,
    };
    let seed = Rng::for_part(setting.seed, row.skip_blocks).next_u64();
    let mut steps = Steps::new(Operation::Read, pattern, range, seed, 0, 1);
    for _ in 0..row.count {
        let at = steps.next_step().offset;
        runner.run(&request(kind, at, BLOCK));
        if is_modified {
            runner.run(&request(Kind::Write, at, BLOCK));
        }
    }
    runner.seconds() / row.count as f64
}

/// The rows of strided reads that a gate limits (its lines are 52 to 72).
pub(super) fn strided_reads() -> Vec<Stride> {
    Table::new(STRIDED.text)
        .rows()
        .filter(|row| GATED.contains(&row.line()))
        .filter_map(|row| stride_of(&row))
        .collect()
}

/// Lines of strided reads with a random skip.
const GATED: std::ops::RangeInclusive<u32> = 52..=72;

fn stride_of(row: &Row<'_>) -> Option<Stride> {
    Some(Stride {
        line: row.line(),
        place: place_of(row)?,
        skip_blocks: row.whole("skip_blocks"),
        count: row.whole("n_ops"),
    })
}

/// A sequential pass over the first bytes of a file or partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pass {
    place: Place,
    kind: Kind,
    /// Bytes of each request.
    len: u64,
    /// Bytes of all.
    bytes: u64,
}

/// Sequential passes and their rates, bytes/s. Many rows are of the same one,
/// which is run once.
struct Passes<'s> {
    setting: &'s Setting<'s>,
    done: Vec<(Pass, f64)>,
}

impl Passes<'_> {
    fn rate(&mut self, pass: Pass) -> f64 {
        if let Some((_, rate)) = self.done.iter().find(|(known, _)| *known == pass) {
            return *rate;
        }
        let mut runner = self.setting.computer_on(PROFILE, pass.place.measured());
        for at in (0..pass.bytes).step_by(pass.len as usize) {
            runner.run(&request(pass.kind, at, pass.len));
        }
        let rate = pass.bytes as f64 / runner.seconds();
        self.done.push((pass, rate));
        rate
    }
}

fn place_of(row: &Row<'_>) -> Option<Place> {
    match (row.text("target"), row.text("note")) {
        ("ext", "/data/raw") => Some(Place::Raw),
        ("raw" | "/dev/sdb2" | "/dev/raw" | "/dev/raw/raw1" | "/data/raw/lytles/t2_0.mmap", _) => {
            Some(Place::Raw)
        }
        ("ext" | "/data/users" | "/data/user/lytles/t2_0.mmap", _) => Some(Place::Ext),
        _ => None,
    }
}

/// Mean time of the operations of a strided line as it is printed, ms.
pub(super) fn strided_as_printed(setting: &Setting<'_>, line: u32) -> Option<f64> {
    let table = Table::new(STRIDED.text);
    let row = table.rows().find(|row| row.line() == line)?;
    let seconds = strided(setting, &stride_of(&row)?, Skip::Random, Kind::Read, false);
    Some(1e3 * seconds)
}

/// The lines whose rates are 16 times those of their neighbours.
pub(super) const LABELLED_16_TIMES: std::ops::RangeInclusive<u32> = 45..=48;

pub(super) fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let mut passes = Passes {
        setting,
        done: Vec::new(),
    };
    let mut cells: Vec<Cell> = Table::new(STRIDED.text)
        .rows()
        .filter_map(|row| strided_cell(setting, &mut passes, &row))
        .collect();
    let table = Table::new(DD.text);
    cells.extend(table.rows().map(|row| dd_cell(&mut passes, &row)));
    cells.sort_by(|a, b| a.lines.cmp(&b.lines));
    cells
}

fn strided_cell(setting: &Setting<'_>, passes: &mut Passes<'_>, row: &Row<'_>) -> Option<Cell> {
    if row.whole("skip_blocks") <= 1 {
        return Some(full_cell(passes, row));
    }
    let line = row.line();
    let skip_blocks = row.whole("skip_blocks");
    // Lines 3 to 5 are of another machine's disk.
    let mut stride = stride_of(row);
    let mut measured = row.figure("ms_per_op")?;
    let op = row.text("op");
    let (gate, reason) = match (op, line) {
        ("read", line) if LABELLED_16_TIMES.contains(&line) => (Some(Gate::G7), None),
        ("read", line) if GATED.contains(&line) => (Some(Gate::G4), None),
        ("read", _) => (
            None,
            Some("'fixed' and 'not fixed' took the same time: the flag's meaning is open"),
        ),
        ("modify", _) => (
            None,
            Some("the order of the host's write-back is not known"),
        ),
        _ => (
            None,
            Some("how much of the writes was still in a cache at the end is not known"),
        ),
    };
    let mut what = format!(
        "{} {} of 4 KiB every {} KiB",
        row.text("target"),
        match op {
            "modify" => "reads and rewrites".to_owned(),
            _ => format!("{op}s"),
        },
        skip_blocks * 4
    );
    if gate == Some(Gate::G7) {
        // As the gate asks: 1/1024 of the file in place of the printed 1/64.
        if let Some(stride) = &mut stride {
            stride.count /= 16;
        }
        measured *= 16.0;
        what.push_str(", taken as 1/1024");
    }
    let kind = if op == "write" {
        Kind::Write
    } else {
        Kind::Read
    };
    let is_known = stride.is_some();
    let simulated =
        stride.map(|stride| 1e3 * strided(setting, &stride, Skip::Random, kind, op == "modify"));
    Some(Cell {
        seed: 0,
        table: STRIDED.name,
        rows: vec![row.number],
        lines: vec![line],
        what: what.trim().to_owned(),
        unit: "ms/op",
        measured,
        simulated,
        gate,
        reason: if is_known {
            reason
        } else {
            Some("another machine with another disk, of which the document says nothing")
        },
    })
}

fn full_cell(passes: &mut Passes<'_>, row: &Row<'_>) -> Cell {
    let place = place_of(row).unwrap_or(Place::Ext);
    let is_read = row.text("op") == "read";
    let bytes = SPAN / row.whole("fraction_denom").max(1);
    let len = row
        .whole("bs")
        .max(if is_read { WINDOW } else { WRITE_BACK });
    let kind = if is_read { Kind::Read } else { Kind::Write };
    let pass = Pass {
        place,
        kind,
        len,
        bytes,
    };
    Cell {
        seed: 0,
        table: STRIDED.name,
        rows: vec![row.number],
        lines: vec![row.line()],
        what: format!(
            "{} sequential {}s of {} GiB",
            row.text("target"),
            row.text("op"),
            bytes >> 30
        ),
        unit: "MiB/s",
        measured: row.figure("calc_real").unwrap_or(f64::NAN),
        simulated: Some(passes.rate(pass) / 1_048_576.0),
        gate: is_read.then_some(Gate::G5),
        reason: (!is_read).then_some("through the page cache, with what it still held at the end"),
    }
}

fn dd_cell(passes: &mut Passes<'_>, row: &Row<'_>) -> Cell {
    let place = place_of(row).unwrap_or(Place::Raw);
    let is_read = row.text("op") == "read";
    let is_direct = row.whole("direct") == 1;
    let block = match row.text("bs") {
        "1M" => 1 << 20,
        "256k" => 256 << 10,
        "64k" => 64 << 10,
        "32k" => 32 << 10,
        "16k" => 16 << 10,
        // Not given: by the time per block it was 4 KiB, and not dd's 512.
        _ => BLOCK,
    };
    let kind = if is_read { Kind::Read } else { Kind::Write };
    let len = match (is_direct, is_read) {
        (true, _) => block,
        (false, true) => block.max(WINDOW),
        (false, false) => block.max(WRITE_BACK),
    };
    // Small blocks come to their steady rate at once.
    let bytes = if len < 64 << 10 {
        256 << 20
    } else {
        row.whole("bytes")
    };
    let gate = match (is_read, is_direct, block) {
        (true, true, small) if small < 64 << 10 => Some(Gate::G6),
        (true, _, _) => Some(Gate::G5),
        (false, ..) => None,
    };
    let mode = if is_direct { "direct" } else { "buffered" };
    let pass = Pass {
        place,
        kind,
        len,
        bytes,
    };
    Cell {
        seed: 0,
        table: DD.name,
        rows: vec![row.number],
        lines: vec![row.line()],
        what: format!(
            "dd {} {mode} {} of {} KiB",
            row.text("target"),
            if is_read { "read" } else { "write" },
            block >> 10
        ),
        unit: "MB/s",
        measured: row.figure("calc_MBps_1e6").unwrap_or(f64::NAN),
        simulated: Some(passes.rate(pass) / 1e6),
        gate,
        reason: gate
            .is_none()
            .then_some("a write: what the host and the filesystem add is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile;

    #[test]
    fn the_file_lies_on_the_disk_without_overlap() {
        let layout = profile(PROFILE).unwrap().layout.unwrap();
        let mut extents: Vec<(u64, u64)> = (0..SPAN / layout.group)
            .map(|group| layout.of_file(group * layout.group))
            .map(|start| (start, start + layout.group))
            .collect();
        extents.sort_unstable();
        assert!(extents.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        let partition = layout.of_partition(0);
        assert!(extents.iter().all(|(_, end)| *end < partition));
    }
}
