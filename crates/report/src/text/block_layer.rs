//! What the block layer did with the requests of each stage, in the first trial that
//! was followed.

use super::look::Style;
use super::page::Page;
use super::words::{count, grouped, percent, rate};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::evidence::{BlockLayer, DeviceRequests, OperationRequests, RequestKind};
use diskfacts_record::{Latency, Run, StageFigures};

/// Stages that are shown; the cells of a large matrix are in the document only.
const STAGES_MAX: usize = 16;

/// Kinds of requests that are fewer than this share of a device's are left out.
const SHARE_MIN: f64 = 0.01;

/// Nothing where no trial was followed.
pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    if run.figures.len() > STAGES_MAX {
        return;
    }
    let followed = run.figures.iter().filter_map(|figures| {
        let label = stage_label(&figures.stage, &figures.settings);
        let layer = first(run, figures)?;
        let lines: Vec<(&str, String)> = {
            let devices = layer.devices.iter();
            devices
                .flat_map(|device| lines(device, is_whole(layer)))
                .collect()
        };
        (!lines.is_empty()).then_some((label, in_part(layer), lines))
    });
    let followed: Vec<_> = followed.collect();
    if followed.is_empty() {
        return;
    }
    page.heading("What the block layer did, in the first trial of each stage");
    for (label, in_part, lines) in followed {
        page.paragraph(2, Style::Heading, &label);
        if let Some(in_part) = in_part {
            page.paragraph(4, Style::Plain, &in_part);
        }
        for (device, line) in lines {
            let column = device.len() + 1;
            page.labelled(4, (Style::Plain, device), column, Style::Plain, &line);
        }
    }
    page.paragraph(
        2,
        Style::Minor,
        "Of all who use the device, not of this run alone. Queued is the time until a request was \
         given to the device, at the device the time until it was done: median, and 99th \
         percentile. Requests are counted after merging; in order \
         are those that begin where the one before ended.",
    );
}

fn first<'a>(run: &'a Run, figures: &StageFigures) -> Option<&'a BlockLayer> {
    let mut trials = run
        .trials
        .iter()
        .filter(|trial| trial.stage == figures.stage && trial.settings == figures.settings);
    trials.find_map(|trial| trial.evidence.block_layer.as_ref())
}

/// Whether requests were followed all the time.
fn is_whole(layer: &BlockLayer) -> bool {
    layer.followed_ns >= layer.window_ns
}

/// What figures are of, where requests were not followed all the time.
fn in_part(layer: &BlockLayer) -> Option<String> {
    if is_whole(layer) {
        return None;
    }
    let share = layer.followed_ns as f64 / layer.window_ns.max(1) as f64;
    Some(format!(
        "Followed for {} of the trial, in {}, because requests were many: this is what was \
         seen then.",
        percent(share),
        count(layer.bursts, "burst")
    ))
}

/// A line for each kind of request, and one for the device, each with its name.
fn lines(device: &DeviceRequests, is_whole: bool) -> Vec<(&str, String)> {
    let all: u64 = device.operations.iter().map(|kind| kind.issued).sum();
    let worth =
        |kind: &&OperationRequests| kind.issued > 0 && kind.issued as f64 >= SHARE_MIN * all as f64;
    let mut lines: Vec<(&str, String)> = device
        .operations
        .iter()
        .filter(worth)
        .map(|kind| (&*device.name, requests(kind)))
        .collect();
    if !lines.is_empty() {
        lines.push((&*device.name, whole(device, is_whole)));
    }
    lines
}

fn requests(kind: &OperationRequests) -> String {
    let names = match kind.operation {
        RequestKind::Read => ["read", "reads"],
        RequestKind::Write => ["write", "writes"],
        RequestKind::Discard => ["discard", "discards"],
        RequestKind::Flush => ["flush", "flushes"],
        RequestKind::Other => ["other request", "other requests"],
    };
    let name = names[usize::from(kind.issued != 1)];
    let many = number(kind.issued);
    let mut parts = vec![format!("{many} {name}{}", sizes(kind))];
    parts.extend(times("queued", &kind.queued_ns));
    parts.extend(times("at the device", &kind.device_ns));
    let odd = [
        (kind.requeues, "given back by the device"),
        (kind.errors, "failed"),
        (kind.readahead, "read ahead"),
    ];
    let odd = odd.iter().filter(|(many, _)| *many > 0);
    parts.extend(odd.map(|(many, what)| format!("{} {what}", number(*many))));
    parts.join(", ")
}

/// `15,408`.
fn number(n: u64) -> String {
    grouped(&n.to_string())
}

/// ` of 4 KiB`, ` of 4 KiB to 1 MiB (mean 128 KiB)`.
fn sizes(kind: &OperationRequests) -> String {
    match &kind.sizes[..] {
        // A flush has none.
        _ if kind.bytes == 0 => String::new(),
        [one] if one.from == one.to => format!(" of {}", show_size(one.from)),
        [first, .., last] => format!(
            " of {} to {} (mean {})",
            show_size(first.from),
            show_size(last.to),
            show_size(kind.bytes / kind.issued.max(1) / 512 * 512)
        ),
        _ => String::new(),
    }
}

/// `queued 47.7 us (p99 96.5 us)`; nothing of no times.
fn times(what: &str, latency: &Latency) -> Option<String> {
    let middle = latency.p50?;
    let p99 = latency.p99.map_or_else(
        || " (p99 n/a)".to_owned(),
        |p99| format!(" (p99 {})", show_duration(p99)),
    );
    Some(format!("{what} {}{p99}", show_duration(middle)))
}

fn whole(device: &DeviceRequests, is_whole: bool) -> String {
    let of = |figure: fn(&OperationRequests) -> u64| -> u64 {
        device.operations.iter().map(figure).sum()
    };
    let merged = of(|kind| kind.back_merges + kind.front_merges + kind.request_merges);
    let mut parts = Vec::new();
    if let (Some(mean), Some(most)) = (device.in_flight_mean, device.in_flight_max) {
        parts.push(format!("in flight {} (at most {most})", rate(mean)));
    }
    if let Some(share) = device.seeks.in_order_share() {
        parts.push(format!("in order {}", percent(share)));
    }
    parts.push(format!("merged {}", number(merged)));
    let unfinished = of(|kind| kind.unfinished);
    if unfinished > 0 {
        let under_way = count(unfinished, "request");
        let what = if is_whole { "the trial" } else { "a burst" };
        parts.push(format!("{under_way} not done when {what} ended"));
    }
    parts.join(", ")
}
