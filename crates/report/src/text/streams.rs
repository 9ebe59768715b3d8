//! What each of several streams got, and what ran beside.

use super::look::Style;
use super::page::Page;
use super::pivot;
use super::words::rate;
use diskfacts_facts::stats::{fairness, median};
use diskfacts_facts::streams::stream_rates;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Run, StageFigures, Trial};

/// Nothing where all stages had one stream, and nothing beside it.
pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let said: Vec<(String, Vec<String>)> = run
        .figures
        .iter()
        // Where settings are chosen between there are many cells, and this is of each.
        .filter(|figures| pivot::effects_of(run, figures).is_none())
        .map(|figures| {
            let label = stage_label(&figures.stage, &figures.settings);
            (label, sentences(run, figures))
        })
        .filter(|(_, sentences)| !sentences.is_empty())
        .collect();
    if said.is_empty() {
        return;
    }
    page.heading("Streams, and what ran beside them");
    for (label, sentences) in said {
        page.paragraph(0, Style::Plain, &format!("{label}:"));
        page.paragraph(4, Style::Plain, &sentences.join(" "));
    }
}

fn sentences(run: &Run, figures: &StageFigures) -> Vec<String> {
    let trials: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|t| t.stage == figures.stage && t.settings == figures.settings)
        .collect();
    let mut said = Vec::new();
    let each = stream_rates(&trials);
    let streams = each.len();
    if streams > 1 {
        let (least, most) = each.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), rate| {
            (l.min(*rate), m.max(*rate))
        });
        let fair = fairness(&each).map_or_else(String::new, |index| {
            format!(", fairness {index:.2} (1 is even)")
        });
        said.push(format!(
            "{streams} streams, from {} to {} each{fair}.",
            throughput(least),
            throughput(most)
        ));
    }
    let beside: Vec<_> = trials
        .iter()
        .filter_map(|trial| trial.evidence.beside.as_ref())
        .collect();
    let rates: Vec<f64> = beside.iter().map(|b| b.throughput_bytes_per_s).collect();
    if let Some(middle) = median(&rates) {
        let total = middle + figures.throughput_bytes_per_s.median;
        let died = beside.iter().filter(|b| b.ended_early.is_some()).count();
        let died = if died == 0 {
            String::new()
        } else {
            format!(" In {died} of {} trials it ended early.", beside.len())
        };
        said.push(format!(
            "Beside it {}, {} together.{died}",
            throughput(middle),
            throughput(total)
        ));
    }
    said
}

/// `146.2 MB/s`.
fn throughput(bytes_per_s: f64) -> String {
    format!("{} MB/s", rate(bytes_per_s / 1e6))
}
