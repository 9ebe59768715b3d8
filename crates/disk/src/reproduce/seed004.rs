//! Seed 004: single-stream dd writes on raw and block devices.

use super::setting::Setting;
use super::table::{IOSTAT_LINUX, IOSTAT_SOLARIS, TEXT, Table};
use super::{Cell, Gate};
use crate::profile::{Drive, Profile};
use crate::request::Request;

/// Bytes of each write.
pub(super) const BLOCK: u64 = 16 << 10;

/// The disk with its write cache on or off.
pub(super) fn disk(setting: &Setting<'_>, enabled: bool) -> Profile {
    let mut profile = setting.profile("hdd-10k");
    if let Drive::Hdd(hdd) = &mut profile.drive {
        hdd.write_cache.enabled = enabled;
    }
    profile
}

/// Rate of `count` raw writes of 16 KiB, bytes/s.
pub(super) fn raw_writes(profile: &Profile, setting: &Setting<'_>, count: u64) -> f64 {
    let mut runner = setting.computer_of(profile);
    for index in 0..count {
        runner.run(&Request::write(0, index * BLOCK, BLOCK));
    }
    (count * BLOCK) as f64 / runner.seconds()
}

/// Rate of 1 GiB through the page cache with an fsync at its end, bytes/s: what the
/// page cache takes in is then a part of the time, as it is of the document's 10 GiB.
fn block_device_writes(profile: &Profile, setting: &Setting<'_>) -> f64 {
    let mut runner = setting.computer_of(profile);
    let count = (1 << 30) / BLOCK;
    for index in 0..count {
        runner.run(&Request::write(0, index * BLOCK, BLOCK).buffered());
    }
    runner.run(&Request::flush(0).buffered());
    (count * BLOCK) as f64 / runner.seconds()
}

pub(super) fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    const OTHER_DISK: &str = "iostat rows are of other disks, as the author says: nothing to run";
    let mut cells = Vec::new();
    for row in Table::new(TEXT.text).rows() {
        let Some(measured) = row.figure("MBps") else {
            continue;
        };
        let (simulated, gate, reason) = match (row.text("device"), row.text("cache")) {
            ("2.5in 10K internal", "write-cache on") => (
                Some(raw_writes(&disk(setting, true), setting, 20_000)),
                Some(Gate::G12),
                None,
            ),
            ("2.5in 10K internal", "write-cache off") => (
                Some(raw_writes(&disk(setting, false), setting, 2_000)),
                Some(Gate::G12),
                None,
            ),
            ("2.5in 10K internal", _) => (
                Some(block_device_writes(&disk(setting, true), setting)),
                None,
                Some("the host's write-back decides, of which the document says nothing"),
            ),
            (_, "tweaked") => (
                None,
                None,
                Some("which storage settings were changed is not said"),
            ),
            _ => (
                Some(raw_writes(&setting.profile("san-entry"), setting, 20_000)),
                None,
                Some("one figure, to which the profile was fitted"),
            ),
        };
        cells.push(Cell {
            seed: 4,
            table: TEXT.name,
            rows: vec![row.number],
            lines: vec![row.line()],
            what: format!(
                "{}: {} {}",
                row.text("device"),
                row.text("path"),
                row.text("cache")
            )
            .trim()
            .to_owned(),
            unit: "MB/s",
            measured,
            simulated: simulated.map(|rate| rate / 1e6),
            gate,
            reason,
        });
    }
    for (table, column, system) in [
        (IOSTAT_LINUX, "w_s", "Linux"),
        (IOSTAT_SOLARIS, "w_s", "Solaris"),
    ] {
        for row in Table::new(table.text).rows() {
            cells.push(Cell {
                seed: 4,
                table: table.name,
                rows: vec![row.number],
                lines: vec![row.line()],
                what: format!("{system} iostat of {}", row.text("device")),
                unit: "writes/s",
                measured: row.figure(column).unwrap_or(f64::NAN),
                simulated: None,
                gate: None,
                reason: Some(OTHER_DISK),
            });
        }
    }
    cells
}
