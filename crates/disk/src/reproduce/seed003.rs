//! Seed 003: writes of 4 KiB to 32 MiB, with and without synchronisation.
//!
//! The document's program writes 128 MiB from the start of the device; the
//! synchronous modes write fewer blocks, min(size / 32, 128 MiB / size).

use super::setting::Setting;
use super::table::{MATRIX, Row, Table};
use super::{Cell, Gate, median};
use crate::profile::Profile;
use crate::request::Request;

const PROFILE: &str = "hdd-7200-sync";
const TOTAL: u64 = 128 << 20;
const MIB: f64 = 1_048_576.0;

/// How a write is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// A flush behind each direct write (fsync, fdatasync).
    Flush,
    /// Force unit access of direct writes (`O_SYNC`, `O_DSYNC`).
    Fua,
    /// An fsync behind each write through the page cache. The kernel copies the
    /// whole write before its write-back begins (`generic_perform_write`,
    /// mm/filemap.c), and so does the host.
    Fsync,
}

/// Rate of durable writes of `size`, bytes/s.
pub(super) fn synchronous(
    disk: &Profile,
    setting: &Setting<'_>,
    size: u64,
    durability: Durability,
) -> f64 {
    let count = (size / 32).min(TOTAL / size);
    let mut runner = setting.computer_of(disk);
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
            Durability::Fsync => {
                runner.run(&write.buffered());
                runner.run(&Request::flush(0).buffered());
            }
        }
    }
    (count * size) as f64 / runner.seconds()
}

/// Median over the modes of the document: 8 through the page cache and 4 direct.
fn median_of_modes(disk: &Profile, setting: &Setting<'_>, size: u64) -> f64 {
    let mut rates = vec![synchronous(disk, setting, size, Durability::Fsync); 8];
    rates.extend([synchronous(disk, setting, size, Durability::Flush); 2]);
    rates.extend([synchronous(disk, setting, size, Durability::Fua); 2]);
    median(rates)
}

/// Rates of direct writes without and with a flush behind the last, bytes/s.
fn direct(setting: &Setting<'_>, size: u64) -> (f64, f64) {
    let mut runner = setting.computer(PROFILE);
    for index in 0..TOTAL / size {
        runner.run(&Request::write(0, index * size, size));
    }
    let direct = TOTAL as f64 / runner.seconds();
    runner.run(&Request::flush(0));
    (direct, TOTAL as f64 / runner.seconds())
}

/// Rates of buffered writes without and with an fsync behind the last, bytes/s.
fn buffered(setting: &Setting<'_>, size: u64) -> (f64, f64) {
    let mut runner = setting.computer(PROFILE);
    for index in 0..TOTAL / size {
        runner.run(&Request::write(0, index * size, size).buffered());
    }
    let buffered = TOTAL as f64 / runner.seconds();
    runner.run(&Request::flush(0).buffered());
    (buffered, TOTAL as f64 / runner.seconds())
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
    let mut cells = Vec::new();
    for size in sizes {
        let (direct, direct_flushed) = direct(setting, size);
        let (buffered, buffered_synced) = buffered(setting, size);
        let synchronous = median_of_modes(&disk, setting, size);
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
                buffered_synced,
            ),
            (
                "buffered",
                None,
                Some("copies in the host's memory, not the disk: the model has two rates"),
                buffered,
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
