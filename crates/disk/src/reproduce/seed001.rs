//! Seed 001: one reader and two readers of an array behind a network.
//!
//! `dd bs=64K` reads from the first tenth of the array while, in the dual rows,
//! another one reads from the last tenth. What reaches the array at a time is a
//! window of the server's read-ahead, or the client's request if that is larger. It
//! passes through the page cache of the client, as in a run of the plan `streams`.
//!
//! How far the two spindles have turned against each other decides how long the
//! slower member of a visit keeps the other waiting: with windows of 4 MiB one
//! reader gets 74 to 80 MB/s. It is not the same throughout a run of the
//! document, which reads 5.2 GB in a minute or more: two motors that differ by
//! 0.013 % pass through a whole revolution of difference in 7600. So its three
//! runs agree within 0.5 % (lines 363 to 365), and so the simulated figure is the
//! mean over that difference.

use super::setting::Setting;
use super::table::{LOCAL, READ_AHEAD, Row, STREAMS, Table};
use super::{Cell, Gate, mean};
use crate::host::read_ahead::{Pages, Window};
use crate::host::{BlockParameters, Host, Scheduler};
use crate::network::Network;
use crate::profile::{self, Drive, Profile};
use crate::request::Request;

const PROFILE: &str = "hdd-7200-md-raid0x2";
const READ: u64 = 64 << 10;

/// Largest request of the block layer to a member, bytes: Linux's default of
/// `max_sectors_kb`.
const REQUEST_MAX: u64 = 512 << 10;

/// Differences between the two spindles that the mean is taken over, evenly
/// spread over a revolution. With 32 the gated figures move by less than 0.5 %,
/// those of the fair scheduler by less than 3 %.
const DIFFERENCES: u64 = 8;

/// Rate of the first reader, bytes/s: the mean over the difference between the
/// spindles.
fn rate(setting: &Setting<'_>, window: u64, is_dual: bool, scheduler: Scheduler) -> f64 {
    let profile = setting.profile(PROFILE);
    let revolution_ns = match &profile.drive {
        Drive::Hdd(hdd) => hdd.revolution_ns,
        Drive::Ssd(_) => 0,
    };
    let rates: Vec<f64> = (0..DIFFERENCES)
        .map(|part| part * revolution_ns / DIFFERENCES)
        .map(|apart_ns| rate_at(setting, &profile, apart_ns, window, is_dual, scheduler))
        .collect();
    mean(&rates)
}

/// Rate of the first reader while one spindle is `apart_ns` further against the
/// other than chance has put it, bytes/s.
fn rate_at(
    setting: &Setting<'_>,
    profile: &Profile,
    apart_ns: u64,
    window: u64,
    is_dual: bool,
    scheduler: Scheduler,
) -> f64 {
    let mut network = profile.network.expect("a setting without one is refused");
    network.server_window = window;
    // Linux schedules at the members, each by itself, and not at the array.
    let (queue, visits) = match scheduler {
        Scheduler::Fair { .. } => {
            let queue = BlockParameters {
                scheduler,
                max_request: REQUEST_MAX,
                depth: 1,
            };
            // Enough for some turns of both.
            (Some(queue), 300)
        }
        // The members take one request at a time, in order: with one request
        // of each reader that is what the deadline scheduler comes to.
        Scheduler::Noop | Scheduler::Deadline { .. } => (None, 60),
    };
    let array = profile::build_disk_behind(profile, setting.seed, queue, apart_ns);
    let capacity = array.capacity();
    let server = Network::new(network, array);
    let client = Host::new(profile.host_or_default(), Box::new(server));
    let mut runner = setting.run_on(Box::new(client));
    let mut first = sequence(0);
    let mut second = sequence(capacity / 10 * 9 / READ * READ);
    let visit = window.max(network.client_request);
    let count = visits * visit / READ;
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
        let request = Request::read(0, next, READ).buffered();
        next += READ;
        request
    }
}

pub(super) fn cells(setting: &Setting<'_>) -> Vec<Cell> {
    let table = Table::new(STREAMS.text);
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
    let mut cells: Vec<Cell> = keys
        .into_iter()
        .map(|wanted| {
            let rows: Vec<Row<'_>> = table
                .rows()
                .filter(|row| key(row) == wanted && row.figure("MBps_1e6").is_some())
                .collect();
            cell(setting, &rows)
        })
        .collect();
    cells.extend(
        Table::new(LOCAL.text)
            .rows()
            .map(|row| local(setting, &row)),
    );
    cells.push(traced());
    cells
}

/// `dd` of the array on the server itself.
fn local(setting: &Setting<'_>, row: &Row<'_>) -> Cell {
    const BLOCK: u64 = 1 << 20;
    let mut runner = setting.disk(PROFILE);
    let bytes = 1000 * BLOCK;
    for at in (0..bytes).step_by(BLOCK as usize) {
        runner.run(&Request::read(0, at, BLOCK));
    }
    Cell {
        seed: 1,
        table: LOCAL.name,
        rows: vec![row.number],
        lines: vec![row.line()],
        what: "the array on the server itself, read in sequence".to_owned(),
        unit: "MB/s",
        measured: row.figure("calc_MBps_1e6").unwrap_or(f64::NAN),
        simulated: Some(bytes as f64 / runner.seconds() / 1e6),
        gate: None,
        reason: Some("the profile's rate was fitted to it"),
    }
}

/// The windows that the kernel traced, and how many of them the host's
/// read-ahead gives, going from each line to the next.
fn traced() -> Cell {
    let table = Table::new(READ_AHEAD.text);
    let mut window = Window::default();
    let mut given = 0;
    for row in table.rows() {
        let (asked, first) = (row.whole("req_off_pages"), row.whole("ra_start"));
        let (size, ahead) = (row.whole("ra_size"), row.whole("ra_async_size"));
        if row.number == 0 {
            // What went before is not in the trace: a window that ends where
            // the first traced one begins.
            window = Window::steady(first - size, size);
        }
        let pages = window.reached(asked, asked + row.whole("req_pages"), size);
        let end = first + size;
        given += u32::from(pages == Some(Pages { first, end }) && size == ahead);
    }
    let rows = || table.rows();
    Cell {
        seed: 1,
        table: READ_AHEAD.name,
        rows: rows().map(|row| row.number).collect(),
        lines: rows().map(|row| row.line()).collect(),
        what: "read-ahead windows as the kernel traced them".to_owned(),
        unit: "windows",
        measured: rows().count() as f64,
        simulated: Some(f64::from(given)),
        gate: None,
        reason: Some("the kernel's rules of read-ahead: no disk takes part in them"),
    }
}

fn cell(setting: &Setting<'_>, rows: &[Row<'_>]) -> Cell {
    let row = &rows[0];
    let measured: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.figure("MBps_1e6"))
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
        (true, true, _) if is_same => (
            Some(Gate::G9),
            Some(
                "the fair schedulers of the two members, out of step; and at 128 KiB the network \
                 overlapped more than the model's (line 164: one reader at 102 MB/s)",
            ),
        ),
        (true, true, _) => (
            Some(Gate::G9),
            Some(
                "a turn for each window; why context read-ahead of 128 and 512 KiB lost one idle \
                 time of 8 ms more per visit is not known",
            ),
        ),
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
        table: STREAMS.name,
        rows: rows.iter().map(|row| row.number).collect(),
        lines: rows.iter().map(Row::line).collect(),
        what: format!(
            "{}, {}, {} read-ahead {window_kib} KiB, {}",
            if is_dual { "two readers" } else { "one reader" },
            row.text("scheduler"),
            row.text("ra_algorithm"),
            if is_same {
                "one context"
            } else {
                "many contexts"
            },
        ),
        unit: "MB/s",
        measured: mean(&measured),
        simulated: Some(rate(setting, window_kib << 10, is_dual, scheduler) / 1e6),
        gate,
        reason,
    }
}
