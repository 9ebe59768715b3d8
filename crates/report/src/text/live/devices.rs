//! What devices do: a row for each, and of `diskfacts iostat --live` the whole screen.

use super::super::look::{Look, Style};
use super::super::words::{list, percent, rate};
use super::super::wrap::{columns, cut};
use super::layout::{Wanted, rows};
use super::line::Line;
use super::{Course, View};
use diskfacts_facts::device_rates::{DeviceRates, Kind};
use diskfacts_plan::units::three_digits;
use diskfacts_record::{CpuActivity, DeviceCounters};

/// Longest name of a device.
const NAME: usize = 16;

/// What a device does.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceNow {
    /// What it counted.
    pub counted: DeviceCounters,
    /// Hundredths of a second in which it did; more than 0.
    pub centiseconds: u64,
    /// Requests that it has at this moment, everybody's; absent where it does not tell.
    pub in_flight: Option<u64>,
    /// The last time that its requests were followed.
    pub followed: Option<Followed>,
}

/// Where the requests of a device spent their time, in the median of the most frequent
/// kind; from trace events, that is as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// From being made to being given to the device, nanoseconds.
    pub queued_ns: u64,
    /// From there to completion, nanoseconds.
    pub device_ns: u64,
}

/// A column: its head, and what stands in it.
type Column = (
    &'static str,
    fn(&DeviceNow, &DeviceRates<'_>, &Look) -> String,
);

/// Those that matter most first; what has no room is left out from the end.
const COLUMNS: [Column; 10] = [
    ("reads/s", |_, of, _| rate(of.per_s(of.reads().count))),
    ("writes/s", |_, of, _| rate(of.per_s(of.writes().count))),
    ("MB/s", |_, of, _| {
        three_digits(of.per_s(of.reads_and_writes().bytes) / 1e6)
    }),
    ("wait", |_, of, look| wait(of.reads_and_writes(), look)),
    ("in flight", |now, _, _| {
        now.in_flight.map_or_else(String::new, |n| n.to_string())
    }),
    ("busy", |_, of, _| {
        percent((of.util_percent() / 100.0).min(1.0))
    }),
    ("mean queue", |_, of, _| rate(of.depth())),
    ("queued", |now, _, look| {
        let of = now.followed.map(|followed| followed.queued_ns);
        of.map_or_else(String::new, |ns| look.duration(ns))
    }),
    ("at the device", |now, _, look| {
        let of = now.followed.map(|followed| followed.device_ns);
        of.map_or_else(String::new, |ns| look.duration(ns))
    }),
    ("flushes/s", |_, of, _| match of.flushes().count {
        0 => String::new(),
        count => rate(of.per_s(count)),
    }),
];

/// The kernel counts whole milliseconds: less in all is not known to be nothing.
fn wait(kind: Kind, look: &Look) -> String {
    match kind.wait_ms() {
        None => String::new(),
        Some(_) if kind.ms == 0 => "< 1 ms".to_owned(),
        Some(ms) => look.duration((ms * 1e6).round() as u64),
    }
}

/// A heading and a row for each device that did something; the others by name.
pub(super) fn lines(devices: &[DeviceNow], look: &Look, width: usize) -> Vec<Line> {
    let of = |now: &DeviceNow| now.counted.name.clone();
    let (idle, busy): (Vec<&DeviceNow>, Vec<&DeviceNow>) =
        devices.iter().partition(|now| did_nothing(now));
    let rates: Vec<DeviceRates<'_>> = busy
        .iter()
        .filter_map(|now| DeviceRates::new(&now.counted, now.centiseconds as f64))
        .collect();
    let names: Vec<String> = busy
        .iter()
        .map(|now| cut(&look.clean(&of(now)), NAME))
        .collect();
    let name = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let name = name.max("Devices".len());
    let mut head = format!("{:name$}", "Devices");
    let mut rows = names
        .iter()
        .map(|text| format!("{text}{:1$}", "", name - columns(text)))
        .collect::<Vec<_>>();
    for (title, cell) in COLUMNS {
        let cells: Vec<String> = busy
            .iter()
            .zip(&rates)
            .map(|(now, rates)| cell(now, rates, look))
            .collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        // Wide enough for most figures, so that it does not jump from look to look.
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        let wide = widest.max(title.len()).max(7) + 2;
        if columns(&head) + wide > width {
            break;
        }
        head.push_str(&" ".repeat(wide - title.len()));
        head.push_str(title);
        for (row, cell) in rows.iter_mut().zip(&cells) {
            row.push_str(&" ".repeat(wide - columns(cell)));
            row.push_str(cell);
        }
    }
    let mut lines = vec![Line::of(Style::Heading, &head)];
    lines.extend(rows.iter().map(|row| Line::plain(row)));
    if !idle.is_empty() {
        let idle: Vec<String> = idle.into_iter().map(of).collect();
        let text = format!("idle: {}", list(&idle));
        lines.push(Line::of(Style::Minor, &text));
    }
    lines
}

fn did_nothing(now: &DeviceNow) -> bool {
    let counted = &now.counted;
    let flushes = counted.flushes.unwrap_or(0) + counted.discards.unwrap_or(0);
    let sums = [counted.reads, counted.writes, flushes, counted.weighted_ms];
    sums.iter().all(|sum| *sum == 0) && now.in_flight.unwrap_or(0) == 0
}

/// The screen of `diskfacts iostat --live`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DevicesView {
    /// What is shown: `all disks`, or names.
    pub what: String,
    /// How long it goes on yet, or since when: what stands at the right.
    pub at: String,
    /// The processors; left out where nobody wants them.
    pub cpu: Option<CpuActivity>,
    /// What each device did in the last interval.
    pub devices: Vec<DeviceNow>,
    /// What each did in the intervals before: operations per second.
    pub courses: Vec<(String, Course)>,
}

/// Rows of the course of one device: its rate, and what it is of.
const COURSE: usize = 3;

impl View for DevicesView {
    fn title(&self) -> (String, String) {
        (format!("diskfacts iostat: {}", self.what), self.at.clone())
    }

    fn body(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let table = lines(&self.devices, look, width);
        let cpu = self.cpu.map(processors);
        let courses = self.courses.iter();
        let drawn: Vec<Line> = courses
            .filter(|(_, course)| course.last().is_some())
            .flat_map(|(name, course)| {
                let title = Line::of(Style::Heading, &format!("{name}: operations per second"));
                let mut lines = vec![Line::default(), title];
                lines.extend(course.lines(look, width, COURSE).into_iter().take(1));
                lines
            })
            .collect();
        let parts = [
            Wanted::all_of(usize::from(cpu.is_some()), 1),
            Wanted::all_of(table.len(), 2),
            Wanted::all_of(drawn.len(), COURSE),
        ];
        let [for_cpu, for_table, for_courses] = rows(height, parts);
        let cpu = cpu.into_iter().take(for_cpu);
        let table = table.into_iter().take(for_table);
        cpu.chain(table)
            .chain(drawn.into_iter().take(for_courses))
            .collect()
    }

    fn quits(&self) -> &'static str {
        "ends"
    }

    fn help(&self) -> &'static [&'static str] {
        &[
            "Devices: requests completed per second, what they moved, and their mean wait from \
             being queued to being done, over the last interval. In flight: requests that the \
             device has at this moment. Mean queue: requests under way in the mean of the interval, \
             those in the queue included. Busy: share of the time in which it had any.",
            "The bars are the operations per second of each interval, each device on a scale of \
             its own.",
        ]
    }
}

/// `Processors: 12 % in programs, 3 % in the kernel, 20 % waiting for I/O, 65 % idle`.
fn processors(cpu: CpuActivity) -> Line {
    let share = |ticks: u64| percent(ticks as f64 / cpu.total.max(1) as f64);
    Line::plain(&format!(
        "Processors: {} in programs, {} in the kernel, {} waiting for I/O, {} idle",
        share(cpu.user + cpu.nice),
        share(cpu.system),
        share(cpu.iowait),
        share(cpu.idle)
    ))
}
