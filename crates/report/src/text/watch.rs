//! The reports of `diskfacts watch`: what the block layer does with the requests of
//! some devices, part after part, and all of it at the end.

use super::look::{Look, Style};
use super::page::Page;
use super::words::{count, grouped, list, percent, rate};
use diskfacts_plan::units::{show_size, three_digits};
use diskfacts_record::evidence::{
    BlockLayer, Bucket, DeviceRequests, OperationRequests, RequestKind,
};
use diskfacts_record::{Latency, Unseen};

/// Columns of the table: they make 80.
const NAME: usize = 8;
const PER_S: usize = 8;
const RATE: usize = 7;
const SIZE: usize = 9;
const TIME: usize = 8;
/// Rows of a histogram at most; more are gathered into powers of two.
const ROWS: usize = 20;
/// Columns before a bar.
const LABEL: usize = 22;
const NUMBER: usize = 12;
/// Sizes that are told by themselves.
const SIZES: usize = 5;

/// What is watched, and what is not seen of it: said once, at the beginning.
pub fn watch_opening(devices: &[String], unseen: &[Unseen], look: &Look) -> String {
    let mut page = Page::new(look);
    page.paragraph(
        0,
        Style::Plain,
        &format!("Requests of {}; Ctrl-C ends it.", list(devices)),
    );
    for Unseen { what, why } in unseen {
        page.paragraph(0, Style::Minor, &format!("Not seen, {what}: {why}."));
    }
    page.finish()
}

/// One report, of a part that ended at `at`, a time of day.
pub fn watch_part(layer: &BlockLayer, at: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    page.blank();
    let length = look.duration(layer.window_ns);
    page.paragraph(0, Style::Heading, &format!("{at}, in {length}:"));
    lost(&mut page, layer);
    devices(&mut page, layer);
    page.finish()
}

/// All of it: the same figures, and the distributions.
pub fn watch_total(layer: &BlockLayer, look: &Look) -> String {
    let mut page = Page::new(look);
    page.blank();
    let length = look.duration(layer.window_ns);
    page.paragraph(0, Style::Heading, &format!("All of it, in {length}:"));
    lost(&mut page, layer);
    devices(&mut page, layer);
    for device in &layer.devices {
        for operation in &device.operations {
            distributions(&mut page, device, operation);
        }
        seeks(&mut page, device);
    }
    let share = layer.reader_cpu_ns as f64 / layer.window_ns.max(1) as f64;
    page.blank();
    page.paragraph(
        0,
        Style::Minor,
        &format!(
            "{} were read, at the cost of {} of a processor.",
            count(layer.events, "event"),
            percent(share)
        ),
    );
    page.finish()
}

/// The devices of a part, and what they did.
pub(super) fn table(layer: &BlockLayer, look: &Look) -> String {
    let mut page = Page::new(look);
    lost(&mut page, layer);
    devices(&mut page, layer);
    page.finish()
}

fn lost(page: &mut Page<'_>, layer: &BlockLayer) {
    if layer.lost_events > 0 {
        page.paragraph(
            0,
            Style::Doubtful,
            &format!(
                "{} were lost, because they came faster than they were read: counts are too \
                 small, and the number in flight is not known.",
                count(layer.lost_events, "event")
            ),
        );
    }
}

fn devices(page: &mut Page<'_>, layer: &BlockLayer) {
    let busy = |device: &&DeviceRequests| !device.operations.is_empty();
    let (busy, idle): (Vec<_>, Vec<_>) = layer.devices.iter().partition(busy);
    if !busy.is_empty() {
        heading(page);
    }
    let seconds = layer.window_ns as f64 / 1e9;
    for device in busy {
        page.paragraph(0, Style::Plain, &depth(device));
        for operation in &device.operations {
            row(page, operation, seconds);
        }
        for operation in &device.operations {
            besides(page, operation);
        }
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|device| &*device.name).collect();
        page.paragraph(0, Style::Plain, &format!("Did nothing: {}.", list(&names)));
    }
}

fn heading(page: &mut Page<'_>) {
    let before = NAME + PER_S + RATE + SIZE;
    let three = TIME * 3;
    page.line(&format!(
        "{:before$}{:>three$}{:>three$}",
        "", "queued", "at the device"
    ));
    let times = format!("{:>TIME$}{:>TIME$}{:>TIME$}", "p50", "p99", "max");
    page.line(&format!(
        "{:NAME$}{:>PER_S$}{:>RATE$}{:>SIZE$}{times}{times}",
        "", "per s", "MB/s", "size"
    ));
}

/// `loop0, 3.91 at the device, 8 at most, 12 % in order:`
fn depth(device: &DeviceRequests) -> String {
    let mut parts = vec![device.name.clone()];
    if let (Some(mean), Some(most)) = (device.in_flight_mean, device.in_flight_max) {
        parts.push(format!("{} at the device", three_digits(mean)));
        parts.push(format!("{most} at most"));
    }
    if let Some(share) = device.seeks.in_order_share() {
        parts.push(format!("{} in order", percent(share)));
    }
    format!("{}:", parts.join(", "))
}

fn word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "reads",
        RequestKind::Write => "writes",
        RequestKind::Discard => "discards",
        RequestKind::Flush => "flushes",
        RequestKind::Other => "others",
    }
}

fn row(page: &mut Page<'_>, operation: &OperationRequests, seconds: f64) {
    let bytes = operation.bytes;
    let (size, moved) = if operation.issued > 0 && bytes > 0 {
        (
            short_size(bytes / operation.issued),
            three_digits(bytes as f64 / 1e6 / seconds),
        )
    } else {
        (String::new(), String::new())
    };
    let times = |of: &Latency| {
        [of.p50, of.p99, of.max]
            .map(|ns| {
                let text = ns.map_or_else(|| "-".to_owned(), |ns| short_time(ns, page.look));
                format!("{text:>TIME$}")
            })
            .concat()
    };
    let line = format!(
        "{:NAME$}{:>PER_S$}{moved:>RATE$}{size:>SIZE$}{}{}",
        word(operation.operation),
        rate(operation.issued as f64 / seconds),
        times(&operation.queued_ns),
        times(&operation.device_ns)
    );
    page.line(&line);
}

/// A mean size that fits into its column: `64.5 KiB`, and `456 KiB` for `456.3 KiB`.
fn short_size(bytes: u64) -> String {
    let text = show_size(bytes);
    if text.len() < SIZE {
        return text;
    }
    let parts = text.split_once(' ');
    let parts = parts.and_then(|(value, unit)| Some((value.parse::<f64>().ok()?, unit)));
    parts.map_or(text.clone(), |(value, unit)| format!("{value:.0} {unit}"))
}

/// A time that fits into its column: `8.33 ms`, and `750 s` for `12.5 min`.
fn short_time(ns: u64, look: &Look) -> String {
    let text = look.duration(ns);
    if text.chars().count() < TIME {
        text
    } else {
        format!("{} s", (ns as f64 / 1e9).round())
    }
}

/// What no column has room for.
fn besides(page: &mut Page<'_>, operation: &OperationRequests) {
    let OperationRequests {
        issued,
        completed,
        readahead,
        metadata,
        errors,
        back_merges,
        front_merges,
        request_merges,
        requeues,
        unfinished,
        ..
    } = *operation;
    let number = |n: u64| grouped(&n.to_string());
    let mut said = Vec::new();
    if back_merges + front_merges > 0 {
        said.push(format!(
            "{} of I/O joined to them",
            count(back_merges + front_merges, "piece")
        ));
    }
    if request_merges > 0 {
        said.push(format!("{} joined to another", number(request_merges)));
    }
    if requeues > 0 {
        said.push(format!("{} came back from the device", number(requeues)));
    }
    if errors > 0 {
        said.push(format!("{} failed", number(errors)));
    }
    if readahead > 0 {
        said.push(format!("{} ahead of the reader", number(readahead)));
    }
    if metadata > 0 {
        said.push(format!("{} of the filesystem's own", number(metadata)));
    }
    if issued == 0 && completed == 0 && unfinished > 0 {
        said.push(format!(
            "none issued and none done, {} at the device",
            number(unfinished)
        ));
    }
    if !said.is_empty() {
        let style = if errors > 0 {
            Style::Doubtful
        } else {
            Style::Plain
        };
        let said = format!("{}: {}.", word(operation.operation), said.join(", "));
        page.paragraph(2, style, &said);
    }
}

fn distributions(page: &mut Page<'_>, device: &DeviceRequests, operation: &OperationRequests) {
    let of = format!("{} of {}", word(operation.operation), device.name);
    for (what, buckets) in [
        ("at the device", &operation.device_histogram),
        ("queued", &operation.queued_histogram),
    ] {
        if buckets.is_empty() {
            continue;
        }
        page.heading(&format!("Time {what}, {of}"));
        histogram(page, buckets);
    }
    if let Some(sizes) = sizes(&operation.sizes) {
        page.blank();
        page.paragraph(0, Style::Plain, &format!("Sizes of {of}: {sizes}."));
    }
}

fn histogram(page: &mut Page<'_>, buckets: &[Bucket]) {
    let rows = if buckets.len() > ROWS {
        in_powers_of_two(buckets)
    } else {
        buckets.to_vec()
    };
    let all: u64 = rows.iter().map(|row| row.count).sum();
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1).max(1);
    let room = page.look.columns().saturating_sub(LABEL + NUMBER + 9);
    for row in rows {
        let label = format!(
            "{} to {}",
            page.look.duration(row.from),
            page.look.duration(row.to.saturating_add(1))
        );
        // One at least, so that no row looks empty.
        let bar = "#".repeat((room as u64 * row.count).div_ceil(most) as usize);
        let number = grouped(&row.count.to_string());
        let share = percent(row.count as f64 / all as f64);
        page.line(&format!("{label:>LABEL$}{number:>NUMBER$}{share:>8} {bar}"));
    }
}

/// The same counts in powers of two.
fn in_powers_of_two(buckets: &[Bucket]) -> Vec<Bucket> {
    let mut rows: Vec<Bucket> = Vec::new();
    for bucket in buckets {
        let from = bucket.from.checked_ilog2().map_or(0, |log| 1 << log);
        match rows.last_mut() {
            Some(last) if last.from == from => last.count += bucket.count,
            _ => rows.push(Bucket {
                from,
                to: from + from.saturating_sub(1),
                count: bucket.count,
            }),
        }
    }
    rows
}

/// `4 KiB 90 %, 64 KiB 10 %`, the most frequent ones first.
fn sizes(buckets: &[Bucket]) -> Option<String> {
    let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let mut often = buckets.to_vec();
    often.sort_by_key(|bucket| std::cmp::Reverse(bucket.count));
    // A flush has none.
    often.retain(|bucket| bucket.to > 0);
    let share = |number: u64| percent(number as f64 / all as f64);
    let mut said: Vec<String> = often
        .iter()
        .take(SIZES)
        .map(|bucket| {
            let size = if bucket.from == bucket.to {
                show_size(bucket.from)
            } else {
                format!("{} to {}", show_size(bucket.from), show_size(bucket.to))
            };
            format!("{size} {}", share(bucket.count))
        })
        .collect();
    let others: u64 = often.iter().skip(SIZES).map(|bucket| bucket.count).sum();
    if others > 0 {
        said.push(format!("others {}", share(others)));
    }
    (!said.is_empty()).then(|| said.join(", "))
}

fn seeks(page: &mut Page<'_>, device: &DeviceRequests) {
    let seeks = &device.seeks;
    let Some(share) = seeks.in_order_share() else {
        return;
    };
    let mut said = vec![format!(
        "{} began where the one before ended",
        percent(share)
    )];
    for (number, distance, way) in [
        (seeks.forward, seeks.forward_p50_sectors, "farther on"),
        (seeks.backward, seeks.backward_p50_sectors, "before it"),
    ] {
        if let Some(sectors) = distance {
            said.push(format!(
                "{} lay {way}, half of them by more than {}",
                grouped(&number.to_string()),
                show_size(sectors.saturating_mul(512))
            ));
        }
    }
    page.blank();
    page.paragraph(
        0,
        Style::Plain,
        &format!("Requests of {}: {}.", device.name, said.join("; ")),
    );
}
