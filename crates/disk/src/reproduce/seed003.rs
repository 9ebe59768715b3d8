//! Seed 003: writes of 4 KiB to 32 MiB, with and without synchronisation.
//!
//! The document's program writes 128 MiB from the start of the device; the
//! synchronous modes write fewer blocks, min(size / 32, 128 MiB / size).

use super::setting::Setting;
use super::table::{MATRIX, Row, Table};
use super::{Cell, Gate, median};
use crate::host::{Host, HostParameters};
use crate::profile::{self, Profile};
use crate::request::Request;

const PROFILE: &str = "hdd-7200-sync";
const TOTAL: u64 = 128 << 20;
const MIB: f64 = 1_048_576.0;
/// What write-back sends at a time; the figures do not depend on it.
const WRITE_BACK: u64 = 512 << 10;

/// How a write is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// A flush behind each write (fsync, fdatasync).
    Flush,
    /// Force unit access (`O_SYNC`, `O_DSYNC`).
    Fua,
}

/// Rate of durable writes of `size`, bytes/s.
pub(super) fn synchronous(
    disk: &Profile,
    setting: &Setting<'_>,
    size: u64,
    durability: Durability,
) -> f64 {
    let count = (size / 32).min(TOTAL / size);
    let mut runner = setting.run_on(profile::build_disk(disk, setting.seed));
    for index in 0..count {
        let write = Request::write(0, index * size, size);
        match durability {
            Durability::Flush => {
                runner.run(&write);
                runner.run(&Request::flush(0));
            }
            Durability::Fua => {
                runner.run(&write.fua());
            }
        }
    }
    (count * size) as f64 / runner.seconds()
}

/// Rates of direct writes without and with a flush behind the last, bytes/s.
fn direct(setting: &Setting<'_>, size: u64) -> (f64, f64) {
    let mut runner = setting.disk(PROFILE);
    for index in 0..TOTAL / size {
        runner.run(&Request::write(0, index * size, size));
    }
    let direct = TOTAL as f64 / runner.seconds();
    runner.run(&Request::flush(0));
    (direct, TOTAL as f64 / runner.seconds())
}

/// Rate of buffered writes with a flush behind the last, bytes/s. Copying to
/// the page cache overlaps with writing back, whatever the block size.
fn buffered_then_flushed(setting: &Setting<'_>) -> f64 {
    let mut runner = setting.disk(PROFILE);
    let requests =
        (0..TOTAL / WRITE_BACK).map(|index| Request::write(index, index * WRITE_BACK, WRITE_BACK));
    runner.run_deep(32, requests);
    runner.run(&Request::flush(0));
    TOTAL as f64 / runner.seconds()
}

/// Rate of buffered writes that stay in the page cache, bytes/s.
fn buffered(setting: &Setting<'_>, size: u64) -> f64 {
    let device = profile::build_disk(&setting.profile(PROFILE), setting.seed);
    let host = HostParameters::linux();
    let mut runner = setting.run_on(Box::new(Host::new(host, device)));
    for index in 0..TOTAL / size {
        runner.run(&Request::write(0, index * size, size).buffered());
    }
    TOTAL as f64 / runner.seconds()
}

fn class(row: &Row<'_>) -> &'static str {
    match (row.text("sync"), row.text("direct")) {
        ("BUFFERED", _) => "buffered",
        ("O_DIRECT_ONLY", _) => "direct",
        ("AMORTIZED_FDATASYNC" | "AMORTIZED_FSYNC", "1") => "direct, one flush at the end",
        ("AMORTIZED_FDATASYNC" | "AMORTIZED_FSYNC", _) => "buffered, one flush at the end",
        _ => "synchronous",
    }
}

pub(super) fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let table = Table::new(MATRIX.text);
    let disk = setting.profile(PROFILE);
    let mut sizes: Vec<u64> = table.rows().map(|row| row.whole("bs")).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at_end = buffered_then_flushed(setting);
    let mut cells = Vec::new();
    for size in sizes {
        let (direct, direct_flushed) = direct(setting, size);
        let synchronous = synchronous(&disk, setting, size, Durability::Flush);
        for (name, gate, reason, simulated) in [
            ("synchronous", Some(Gate::G1), None, synchronous),
            ("direct", Some(Gate::G2), None, direct),
            (
                "direct, one flush at the end",
                Some(Gate::G2),
                None,
                direct_flushed,
            ),
            (
                "buffered, one flush at the end",
                Some(Gate::G2),
                None,
                at_end,
            ),
            (
                "buffered",
                None,
                Some("copies in the host's memory, not the disk: the model has two rates"),
                buffered(setting, size),
            ),
        ] {
            let of_class = || {
                table
                    .rows()
                    .filter(|row| row.whole("bs") == size && class(row) == name)
            };
            cells.push(Cell {
                seed: 3,
                table: MATRIX.name,
                rows: of_class().map(|row| row.number).collect(),
                lines: of_class().map(|row| row.line()).collect(),
                what: match name.split_once(", ") {
                    Some((mode, end)) => format!("{mode} writes of {} KiB, {end}", size >> 10),
                    None => format!("{name} writes of {} KiB", size >> 10),
                },
                unit: "MiB/s",
                measured: median(of_class().filter_map(|row| row.figure("MiBps")).collect()),
                simulated: Some(simulated / MIB),
                gate,
                reason,
            });
        }
    }
    cells
}
