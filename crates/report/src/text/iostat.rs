//! A report of `diskfacts iostat` for people: the busy devices in a table, and
//! beneath it in sentences what the columns of `iostat` leave out.

use super::look::{Look, Style};
use super::page::Page;
use super::words::{count, grouped, list, percent, rate};
use diskfacts_facts::device_rates::{DeviceRates, Kind};
use diskfacts_plan::units::{show_size, three_digits};
use diskfacts_record::{Activity, BlockDevice, Change, ChangeKind, CpuActivity, Stack};

/// Columns of the table behind the name: of reads and writes each, then both.
const PER_S: usize = 8;
const SIZE: usize = 10;
const WAIT: usize = 8;
const QUEUE: usize = 8;
const BUSY: usize = 7;
/// Discards and flushes that come less often than this are not told: since a
/// system started, every disk had some.
const SELDOM_PER_S: f64 = 0.05;
/// Columns of the name, unless one is longer.
const NAME: usize = 12;

/// One report. `stack` says which device stands on which; it is told where it is
/// given, once is enough. The processors are told when `cpu`.
pub fn iostat(activity: &Activity, stack: Option<&Stack>, cpu: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    page.paragraph(0, Style::Heading, &window(activity, cpu, look));
    for change in &activity.changes {
        page.paragraph(0, Style::Doubtful, &changed(change));
    }
    let (idle, busy): (Vec<DeviceRates<'_>>, Vec<_>) = activity
        .devices
        .iter()
        .filter_map(|device| DeviceRates::new(&device.counted, activity.centiseconds as f64))
        .partition(did_nothing);
    table(&mut page, &busy);
    let idle: Vec<&str> = idle.iter().map(|rates| &*rates.counted().name).collect();
    if !idle.is_empty() {
        page.paragraph(0, Style::Plain, &format!("Did nothing: {}.", list(&idle)));
    }
    if let Some(stack) = stack {
        for line in counted_again(stack, &busy) {
            page.paragraph(0, Style::Plain, &line);
        }
    }
    for line in without_columns(&busy, look) {
        page.paragraph(0, Style::Plain, &line);
    }
    for line in busy.iter().flat_map(where_they_mislead) {
        page.paragraph(0, Style::Plain, &line);
    }
    page.finish()
}

fn did_nothing(rates: &DeviceRates<'_>) -> bool {
    let counted = rates.counted();
    let transfers = rates.transfers().count + rates.flushes().count;
    transfers == 0 && counted.weighted_ms == 0 && counted.busy_ms == 0
}

/// The interval, and what the processors did in it.
fn window(activity: &Activity, cpu: bool, look: &Look) -> String {
    let window = if activity.since_start {
        format!(
            "Since the system started, {} ago",
            long(activity.centiseconds / 100)
        )
    } else {
        format!(
            "In {}",
            look.duration(activity.centiseconds.saturating_mul(10_000_000))
        )
    };
    if !cpu {
        return format!("{window}:");
    }
    let CpuActivity {
        user,
        nice,
        system,
        iowait,
        steal,
        idle,
        total,
    } = activity.cpu;
    let share = |ticks: u64| percent(ticks as f64 / total as f64);
    let mut parts = vec![
        format!("{} in programs", share(user + nice)),
        format!("{} in the kernel", share(system)),
        format!("{} idle while a task waited for I/O", share(iowait)),
        format!("{} idle", share(idle)),
    ];
    if steal > 0 {
        parts.push(format!("{} taken by the hypervisor", share(steal)));
    }
    format!("{window}. Processors: {}.", parts.join(", "))
}

/// A time as long as systems run: `12.5 min`, `7 h`, `12 days`.
fn long(seconds: u64) -> String {
    let value = seconds as f64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", three_digits(value / 60.0)),
        7_200..172_800 => format!("{} h", three_digits(value / 3_600.0)),
        _ => format!("{} days", three_digits(value / 86_400.0)),
    }
}

fn changed(change: &Change) -> String {
    let device = &change.device;
    match change.what {
        ChangeKind::Appeared => {
            format!("{device} appeared: its figures are those since then.")
        }
        ChangeKind::Vanished => format!("{device} is gone."),
        ChangeKind::Replaced {
            counter,
            before,
            after,
        } => format!(
            "{device} was removed, and it or another device came under its name: its counter of \
             {counter} fell from {} to {}. Its figures are those since then.",
            grouped(&before.to_string()),
            grouped(&after.to_string())
        ),
    }
}

fn table(page: &mut Page<'_>, busy: &[DeviceRates<'_>]) {
    if busy.is_empty() {
        return;
    }
    let names = busy.iter().map(|rates| rates.counted().name.len());
    let name = names.max().unwrap_or(0).max(NAME);
    let half = PER_S + SIZE + WAIT;
    page.line(&format!(
        "{:name$}{:>half$}{:>half$}",
        "", "reads", "writes"
    ));
    let of_kind = format!("{:>PER_S$}{:>SIZE$}{:>WAIT$}", "per s", "size", "wait");
    page.line(&format!(
        "{:name$}{of_kind}{of_kind}{:>QUEUE$}{:>BUSY$}",
        "device", "queue", "busy"
    ));
    for rates in busy {
        let device = page.look.clean(&rates.counted().name).into_owned();
        let line = format!(
            "{device:name$}{}{}{:>QUEUE$}{:>BUSY$}",
            of(rates, rates.reads(), page.look),
            of(rates, rates.writes(), page.look),
            rate(rates.depth()),
            percent((rates.util_percent() / 100.0).min(1.0)),
        );
        page.line(&line);
    }
}

fn of(rates: &DeviceRates<'_>, kind: Kind, look: &Look) -> String {
    if kind.count == 0 {
        return format!("{:>PER_S$}{:>SIZE$}{:>WAIT$}", "0", "-", "-");
    }
    let size = show_size((kind.kib_each() * 1024.0).round() as u64);
    format!(
        "{:>PER_S$}{size:>SIZE$}{:>WAIT$}",
        rate(rates.per_s(kind.count)),
        wait(kind, look)
    )
}

/// The kernel counts whole milliseconds: less in all is not known to be nothing.
fn wait(kind: Kind, look: &Look) -> String {
    if kind.ms == 0 {
        return "< 1 ms".to_owned();
    }
    look.duration((kind.await_ms() * 1e6).round() as u64)
}

/// Which devices of the table stand on others of it.
fn counted_again(stack: &Stack, busy: &[DeviceRates<'_>]) -> Vec<String> {
    let mut groups: Vec<(&[String], Vec<&str>)> = Vec::new();
    let upper = busy
        .iter()
        .filter_map(|rates| stack.device(&rates.counted().name))
        .filter(|device| !device.is_leaf());
    for BlockDevice { name, below, .. } in upper {
        match groups.iter_mut().find(|(on, _)| on == below) {
            Some((_, names)) => names.push(name),
            None => groups.push((below, vec![name])),
        }
    }
    let line = |(below, names): (&[String], Vec<&str>)| {
        format!(
            "{} {} on {}: what reaches it is counted there again, so the rows do not add up.",
            list(&names),
            if names.len() == 1 { "stands" } else { "stand" },
            list(below)
        )
    };
    groups.into_iter().map(line).collect()
}

/// What devices did that has no column.
fn without_columns(busy: &[DeviceRates<'_>], look: &Look) -> Vec<String> {
    let told = |of: &dyn Fn(&DeviceRates<'_>) -> (Kind, String)| {
        let mut rows = Vec::new();
        for rates in busy {
            let (kind, each) = of(rates);
            let per_s = rates.per_s(kind.count);
            if per_s >= SELDOM_PER_S {
                rows.push(format!("{} {} ({each})", rates.counted().name, rate(per_s)));
            }
        }
        list(&rows)
    };
    let discards = told(&|rates| {
        let kind = rates.discards();
        (kind, show_size((kind.kib_each() * 1024.0).round() as u64))
    });
    let flushes = told(&|rates| (rates.flushes(), wait(rates.flushes(), look)));
    let mut lines = Vec::new();
    if !discards.is_empty() {
        lines.push(format!("Discards per s, and their size: {discards}."));
    }
    if !flushes.is_empty() {
        lines.push(format!("Flushes per s, and their wait: {flushes}."));
    }
    lines
}

/// Where the columns of a device mislead.
fn where_they_mislead(rates: &DeviceRates<'_>) -> Vec<String> {
    let device = &rates.counted().name;
    let mut lines = Vec::new();
    if let Some(law) = rates.little_disagrees() {
        lines.push(format!(
            "{device}: a queue of {} was counted, but rates and waits make {} (Little's law): \
             requests began before the interval or ended after it, or this kernel samples the \
             queue.",
            rate(law.depth),
            rate(law.expected)
        ));
    }
    if let Some(most) = rates.busy_percent_at_most() {
        lines.push(format!(
            "{device} was busy {} of the time at most, by its queue: the kernel counts each \
             clock tick in which anything happened as busy.",
            percent(most / 100.0)
        ));
    }
    let in_flight = rates.counted().in_flight_before;
    if rates.transfers().count == 0 && in_flight > 0 {
        lines.push(format!(
            "{device} completed nothing; {} had begun before.",
            count(in_flight, "operation")
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::{DeviceActivity, DeviceCounters};

    fn activity(counted: DeviceCounters) -> Activity {
        Activity {
            centiseconds: 100,
            cpu: CpuActivity {
                user: 50,
                idle: 150,
                total: 200,
                ..CpuActivity::default()
            },
            devices: vec![
                DeviceActivity {
                    counted,
                    requests_only: false,
                },
                DeviceActivity {
                    counted: DeviceCounters {
                        name: "sdb".into(),
                        ..DeviceCounters::default()
                    },
                    requests_only: false,
                },
            ],
            ..Activity::default()
        }
    }

    fn page(activity: &Activity) -> String {
        let page = iostat(activity, None, true, &Look::default());
        let widest = page.lines().map(str::len).max();
        assert!(widest <= Some(80), "{page}");
        page
    }

    /// The page in one line: where its lines are broken depends on the words.
    fn said(activity: &Activity) -> String {
        page(activity).replace('\n', " ")
    }

    #[test]
    fn a_busy_device_is_a_row_and_an_idle_one_a_word() {
        let page = page(&activity(DeviceCounters {
            name: "sda".into(),
            reads: 1000,
            read_bytes: 1000 << 16,
            read_ms: 500,
            busy_ms: 400,
            weighted_ms: 506,
            flushes: Some(12),
            flush_ms: Some(6),
            ..DeviceCounters::default()
        }));
        assert_eq!(
            page,
            "\
In 1 s. Processors: 25 % in programs, 0 % in the kernel, 0 % idle while a task
waited for I/O, 75 % idle.
                                 reads                    writes
device         per s      size    wait   per s      size    wait   queue   busy
sda             1000    64 KiB  500 us       0         -       -    0.51   40 %
Did nothing: sdb.
Flushes per s, and their wait: sda 12.0 (500 us).
"
        );
    }

    #[test]
    fn where_the_columns_mislead_it_is_said() {
        let counted = DeviceCounters {
            name: "sda".into(),
            writes: 115,
            write_bytes: 115 << 19,
            write_ms: 152_421,
            busy_ms: 1000,
            weighted_ms: 140_860,
            ..DeviceCounters::default()
        };
        let text = said(&activity(counted));
        assert!(
            text.contains("a queue of 140.9 was counted, but rates and waits make 152.4"),
            "{text}"
        );
        let counted = DeviceCounters {
            name: "sda".into(),
            reads: 2000,
            read_ms: 120,
            busy_ms: 900,
            weighted_ms: 120,
            ..DeviceCounters::default()
        };
        let text = said(&activity(counted));
        assert!(
            text.contains("sda was busy 12 % of the time at most"),
            "{text}"
        );
        let counted = DeviceCounters {
            name: "sda".into(),
            busy_ms: 1000,
            in_flight_before: 3,
            ..DeviceCounters::default()
        };
        let text = said(&activity(counted));
        assert!(
            text.contains("sda completed nothing; 3 operations had begun before."),
            "{text}"
        );
    }

    #[test]
    fn what_came_went_or_was_replaced_stands_before_the_table() {
        let mut activity = activity(DeviceCounters::default());
        let change = |device: &str, what| Change {
            device: device.into(),
            what,
        };
        activity.changes = vec![
            change("sdc", ChangeKind::Appeared),
            change("sdd", ChangeKind::Vanished),
            change(
                "sde",
                ChangeKind::Replaced {
                    counter: "reads",
                    before: 123_456,
                    after: 7,
                },
            ),
        ];
        let text = said(&activity);
        assert!(
            text.contains("sdc appeared: its figures are those since then. sdd is gone. "),
            "{text}"
        );
        assert!(
            text.contains("its counter of reads fell from 123,456 to 7."),
            "{text}"
        );
    }

    #[test]
    fn a_system_runs_for_days() {
        for (seconds, text) in [
            (59, "59 s"),
            (750, "12.5 min"),
            (25_200, "7 h"),
            (1_036_800, "12 days"),
        ] {
            assert_eq!(long(seconds), text);
        }
    }
}
