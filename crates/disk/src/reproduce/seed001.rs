//! Seed 001: one reader and two readers of an array behind a network.
//!
//! `dd bs=64K` reads from the first tenth of the array while, in the dual rows,
//! another one reads from the last tenth. What reaches the array at a time is a
//! window of the server's read-ahead, or the client's request if that is larger.

use super::runner::Runner;
use super::table::{Row, Table};
use super::{Cell, Gate, mean, named};
use crate::device::Device;
use crate::host::{BlockParameters, BlockQueue, Scheduler};
use crate::network::Network;
use crate::profile;
use crate::request::Request;

const STREAMS: &str = include_str!("../../data/001_streams.csv");
const READ: u64 = 64 << 10;

/// Rate of the first reader, bytes/s.
fn rate(seed: u64, window: u64, is_dual: bool, scheduler: Scheduler) -> f64 {
    let profile = named("hdd-7200-md-raid0x2");
    let mut network = profile.network.expect("the profile has a network");
    network.server_window = window;
    let array = profile::build_disk(&profile, seed);
    let capacity = array.capacity();
    let array: Box<dyn Device> = match scheduler {
        Scheduler::Fair { .. } => Box::new(BlockQueue::new(
            BlockParameters {
                scheduler,
                max_request: window.max(network.client_request),
                depth: 1,
            },
            array,
        )),
        // The members take one request at a time, in order: with one request
        // of each reader that is what the deadline scheduler comes to.
        Scheduler::Noop | Scheduler::Deadline { .. } => array,
    };
    let mut runner = Runner::new(Box::new(Network::new(network, array)));
    let mut first = sequence(0);
    let mut second = sequence(capacity / 10 * 9 / READ * READ);
    let visit = window.max(network.client_request);
    let count = 300 * visit / READ;
    let bytes = if is_dual {
        runner.run_side_by_side(&mut [&mut first, &mut second], count)
    } else {
        runner.run_side_by_side(&mut [&mut first], count)
    };
    bytes as f64 / runner.seconds()
}

fn sequence(start: u64) -> impl FnMut() -> Request {
    let mut next = start;
    move || {
        let request = Request::read(0, next, READ);
        next += READ;
        request
    }
}

pub(super) fn cells(seed: u64) -> Vec<Cell> {
    let table = Table::new(STREAMS);
    let key = |row: &Row<'_>| {
        (
            row.text("block").to_owned(),
            row.text("scheduler").to_owned(),
            row.whole("ra_KiB"),
            row.text("mode").to_owned(),
        )
    };
    let mut keys = Vec::new();
    for row in table.rows() {
        let key = key(&row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|wanted| {
            let rows: Vec<Row<'_>> = table.rows().filter(|row| key(row) == wanted).collect();
            cell(seed, &rows)
        })
        .collect()
}

fn cell(seed: u64, rows: &[Row<'_>]) -> Cell {
    let row = &rows[0];
    let measured: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.number("MBps_1e6"))
        .collect();
    let window_kib = row.whole("ra_KiB");
    let is_dual = row.text("mode") == "dual";
    let is_cfq = row.text("scheduler") == "cfq";
    let is_same = row.text("io_context") == "same";
    let is_vanilla = row.text("ra_algorithm") == "vanilla";
    let (gate, reason) = match (is_dual, is_cfq, window_kib) {
        (true, false, 128..=2048) => (Some(Gate::G8), None),
        (true, false, _) => (
            Some(Gate::G9),
            Some("several windows per visit: the host's scheduler"),
        ),
        (true, true, _) => (Some(Gate::G9), Some("the host's fair scheduler decides")),
        (false, false, _) if is_vanilla => (Some(Gate::G10), None),
        (false, false, _) => (
            None,
            Some("context read-ahead keeps several windows in flight"),
        ),
        (false, true, _) => (
            None,
            Some("anticipation and pipelining of the host's fair scheduler"),
        ),
    };
    // One context: the scheduler sees two streams and gives each its turn. Many
    // contexts: the window that comes next is of a thread it has not seen, and
    // no turn lasts longer than a window.
    let scheduler = if is_cfq && is_same {
        Scheduler::cfq()
    } else {
        Scheduler::Noop
    };
    Cell {
        seed: 1,
        lines: rows.iter().map(Row::line).collect(),
        what: format!(
            "{} of {}, {}, {} read-ahead of {window_kib} KiB, {} context",
            if is_dual {
                "first reader"
            } else {
                "one reader"
            },
            if is_dual { "two" } else { "one" },
            row.text("scheduler"),
            row.text("ra_algorithm"),
            row.text("io_context"),
        ),
        unit: "MB/s",
        measured: mean(&measured),
        simulated: Some(rate(seed, window_kib << 10, is_dual, scheduler) / 1e6),
        gate,
        reason,
    }
}
