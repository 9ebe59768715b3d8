//! Seed 002: bonnie++ and hdparm on three arrays.
//!
//! Block reads and writes go through the host of the profile, page cache,
//! read-ahead, write-back and the filesystem's limit included; what the disks
//! and the limits explain is the rewrite.

use super::setting::Setting;
use super::table::{BONNIE, HDPARM, Row, Table};
use super::{Cell, Gate};
use crate::profile;
use crate::request::Request;
use diskfacts_plan::rng::Rng;

const FITTED: Option<&str> = Some("the profile's rate was fitted to it");
const PROCESSOR: Option<&str> = Some("one call per byte: the processor, not the disk");

const CHUNK: u64 = 8 << 10;
/// Bytes that are read and written: several times what may be dirty.
const FILE: u64 = 3 << 30;
/// Bytes that seeks go over.
const SEEK_SPAN: u64 = 48 << 30;
const SEEKERS: usize = 5;
/// What hdparm reads at a time, and for how long, s.
const HDPARM_PIECE: u64 = 2 << 20;
const HDPARM_S: f64 = 3.0;

struct Volume {
    read: f64,
    write: f64,
    rewrite: f64,
    seeks: f64,
    /// `hdparm -t`: from the beginning on, in pieces of 2 MiB, for three seconds.
    timing: f64,
}

fn profile_of(volume: &str) -> &'static str {
    match volume {
        "Raid6" | "8*4Tbytes" => "raid6x8",
        "Raid10" | "4*2Tbytes" => "raid10x4",
        _ => "ssd-raid1",
    }
}

fn run(name: &str, setting: &Setting<'_>) -> Volume {
    let profile = setting.profile(name);
    let host = || setting.run_on(profile::build(&profile, setting.seed));
    let mut reader = host();
    for at in (0..FILE).step_by(CHUNK as usize) {
        reader.run(&Request::read(0, at, CHUNK).buffered());
    }
    let mut writer = host();
    for at in (0..FILE).step_by(CHUNK as usize) {
        writer.run(&Request::write(0, at, CHUNK).buffered());
    }
    writer.run(&Request::flush(0).buffered());
    let mut rewriter = host();
    for at in (0..FILE).step_by(CHUNK as usize) {
        rewriter.run(&Request::read(0, at, CHUNK).buffered());
        rewriter.run(&Request::write(0, at, CHUNK).buffered());
    }
    rewriter.run(&Request::flush(0).buffered());
    let mut timer = host();
    let mut reached = 0;
    while timer.seconds() < HDPARM_S {
        timer.run(&Request::read(0, reached, HDPARM_PIECE).buffered());
        reached += HDPARM_PIECE;
    }
    let mut seeker = setting.disk(name);
    let mut rng = Rng::new(setting.seed);
    let count = 4000;
    // One seek in ten writes back what it read.
    let requests = (0..count).flat_map(|index| {
        let at = rng.below(SEEK_SPAN / CHUNK) * CHUNK;
        let read = Request::read(2 * index, at, CHUNK);
        let write = Request::write(2 * index + 1, at, CHUNK);
        std::iter::once(read).chain((index % 10 == 0).then_some(write))
    });
    seeker.run_deep(SEEKERS, requests.collect::<Vec<_>>());
    Volume {
        read: FILE as f64 / reader.seconds(),
        write: FILE as f64 / writer.seconds(),
        rewrite: FILE as f64 / rewriter.seconds(),
        seeks: f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seeker.seconds(),
        timing: reached as f64 / timer.seconds(),
    }
}

pub(super) fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for names in ["Raid6", "Raid10", "Raid1 SSD"] {
        let volume = run(profile_of(names), setting);
        let table = Table::new(BONNIE.text);
        for row in table.rows().filter(|row| row.text("volume") == names) {
            cells.extend(bonnie_cells(&row, &volume));
        }
        let hdparm = Table::new(HDPARM.text);
        for row in hdparm
            .rows()
            .filter(|row| profile_of(row.text("volume")) == profile_of(names))
        {
            cells.push(Cell {
                seed: 2,
                table: HDPARM.name,
                rows: vec![row.number],
                lines: vec![row.line()],
                what: format!("{names}: hdparm -t"),
                unit: "MiB/s",
                measured: row.figure("MBps").unwrap_or(f64::NAN),
                simulated: Some(volume.timing / 1_048_576.0),
                gate: None,
                reason: Some(
                    "hdparm and bonnie++ disagree on every volume; fitted to bonnie++, through a \
                     filesystem, and the host copies a piece when all of it has come",
                ),
            });
        }
    }
    cells
}

fn bonnie_cells(row: &Row<'_>, volume: &Volume) -> Vec<Cell> {
    let name = row.text("volume");
    let cell = |what: &str, column: &str, simulated: Option<f64>, gate, reason| {
        let is_rate = column != "seeks_ps";
        let scale = if is_rate { 1024.0 / 1e6 } else { 1.0 };
        Cell {
            seed: 2,
            table: BONNIE.name,
            rows: vec![row.number],
            lines: vec![row.line()],
            what: format!("{name}: {what}"),
            unit: if is_rate { "MB/s" } else { "seeks/s" },
            measured: row.figure(column).unwrap_or(f64::NAN) * scale,
            simulated: simulated.map(|value| if is_rate { value / 1e6 } else { value }),
            gate,
            reason,
        }
    };
    // Each byte is read and written by one thread that waits for both.
    let in_turn = 1.0 / (1.0 / volume.read + 1.0 / volume.write);
    vec![
        cell("block read", "getblk_Kps", Some(volume.read), None, FITTED),
        cell(
            "block write",
            "putblk_Kps",
            Some(volume.write),
            None,
            FITTED,
        ),
        cell(
            "rewrite, reading and writing in turn",
            "rewrite_Kps",
            Some(in_turn),
            Some(Gate::G11),
            None,
        ),
        cell(
            "rewrite, with the host's read-ahead and write-back side by side",
            "rewrite_Kps",
            Some(volume.rewrite),
            None,
            Some("how far they overlap depends on the kernel of 2013"),
        ),
        cell(
            "seeks of 5 processes",
            "seeks_ps",
            Some(volume.seeks),
            None,
            Some("memory, filesystem and processor take part: not a figure of the disks"),
        ),
        cell("character write", "putc_Kps", None, None, PROCESSOR),
        cell("character read", "getc_Kps", None, None, PROCESSOR),
    ]
}
