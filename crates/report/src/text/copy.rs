//! What dd would have said of a copy, and what that figure hides: how much lay
//! only in the page cache when its clock stopped, and what the final flush took.

use super::look::Style;
use super::page::Page;
use super::words::{grouped, percent, rate};
use crate::formats::dd::Summary;
use diskfacts_plan::dd::{Copying, End, FinalSync};
use diskfacts_plan::units::show_size;
use diskfacts_record::evidence::{Copied, Records};
use diskfacts_record::{Run, TargetKind, Trial};

/// Where the values of the rows begin.
const COLUMN: usize = 13;

pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    for trial in &run.trials {
        let parts = (&trial.workload.copy, &trial.evidence.copy);
        if let (Some(copying), Some(copied)) = parts {
            let stream = run.target.kind == TargetKind::Stream;
            of_trial(page, trial, copying, copied, stream);
        }
    }
}

fn of_trial(page: &mut Page<'_>, trial: &Trial, copying: &Copying, copied: &Copied, stream: bool) {
    page.heading("What dd says of this, and what it hides");
    let mut row = |label: &str, text: &str| {
        page.labelled(2, (Style::Heading, label), COLUMN, Style::Plain, text);
    };
    // Seconds of a copy are far below what a float holds exactly.
    let seconds_ns = (trial.seconds * 1e9).round() as u64;
    row(
        "dd's line",
        &Summary::of(copied.write_bytes, seconds_ns).to_string(),
    );
    let records = |records: Records| format!("{}+{}", records.full, records.partial);
    row(
        "Records",
        &format!(
            "{} in, {} out (whole blocks + shorter ones)",
            records(copied.records_in),
            records(copied.records_out)
        ),
    );
    match copying.measured {
        // What lies on no disk has neither a page cache nor anything to flush.
        _ if stream => {}
        End::Input => row("Read from", &served(trial)),
        End::Output => {
            row("Page cache", &in_memory(trial, copying, copied));
            if let Some((flush, with_it)) = flushed(page, trial, copied) {
                page.labelled(
                    2,
                    (Style::Heading, "Final flush"),
                    COLUMN,
                    Style::Plain,
                    &flush,
                );
                page.labelled(
                    2,
                    (Style::Heading, "With it"),
                    COLUMN,
                    Style::Plain,
                    &with_it,
                );
            }
        }
    }
}

/// Who the bytes of an input came from.
fn served(trial: &Trial) -> String {
    let layers = &trial.layers;
    match layers.device {
        _ if layers.page_cache > 0.0005 => format!(
            "{} of the bytes came from the page cache, the memory of this machine, and not from \
             a disk",
            percent(layers.page_cache)
        ),
        _ if layers.server > 0.0005 => format!(
            "{} of the bytes came from the server, and whether from its memory or its disks cannot \
             be told from here",
            percent(layers.server)
        ),
        Some(_) => "all bytes came from the device, none from the page cache".to_owned(),
        None => "which memory or device the bytes came from could not be observed".to_owned(),
    }
}

/// How much of the output lay in memory when dd's clock stopped.
fn in_memory(trial: &Trial, copying: &Copying, copied: &Copied) -> String {
    let all = show_size(copied.write_bytes);
    let dirty = copied
        .dirty_bytes
        .map(|dirty| dirty.min(copied.write_bytes));
    match dirty {
        Some(0) if copying.dd.final_sync != FinalSync::None => format!(
            "nothing was still dirty: dd's own time covers the sync that conv= asks for, {}",
            trial
                .evidence
                .issued
                .final_sync_ns
                .map_or_else(|| "of unknown length".to_owned(), seconds)
        ),
        Some(0) => "nothing was still dirty when dd's clock stopped".to_owned(),
        Some(dirty) => format!(
            "{} of {all} ({}) still dirty when dd's clock stopped",
            show_size(dirty),
            percent(dirty as f64 / copied.write_bytes as f64)
        ),
        None => "how much was still dirty is not known: this kernel does not tell which pages are \
                 dirty (cachestat, Linux 6.5)"
            .to_owned(),
    }
}

/// What the flush took, and the rate with it.
fn flushed(page: &Page<'_>, trial: &Trial, copied: &Copied) -> Option<(String, String)> {
    let flush_ns = copied.flush_ns?;
    let flush = format!(
        "{} more until the device had all of it",
        page.look.duration(flush_ns)
    );
    let total = trial.seconds + flush_ns as f64 / 1e9;
    if total <= 0.0 || trial.seconds <= 0.0 {
        return Some((flush, "nothing was copied".to_owned()));
    }
    let bytes = copied.write_bytes as f64;
    let with_it = format!(
        "{} MB/s instead of {} MB/s",
        rate(bytes / total / 1e6),
        rate(bytes / trial.seconds / 1e6)
    );
    Some((flush, with_it))
}

fn seconds(ns: u64) -> String {
    format!("{} ms", grouped(&(ns / 1_000_000).to_string()))
}
