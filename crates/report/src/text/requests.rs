//! What the device saw of each stage: the columns of `iostat -x`, for plans that
//! ask what becomes of writes on their way (`raw-vs-block`).

use super::look::Style;
use super::page::Page;
use super::words::rate;
use crate::classic::raw_vs_block;
use diskfacts_plan::units::show_size;
use diskfacts_record::Run;

pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let rows = raw_vs_block::rows(run);
    if rows.is_empty() {
        return;
    }
    page.heading("What the device saw, in the median trial of each stage");
    let longest = rows.iter().map(|(stage, _)| stage.len()).max();
    let column = longest.unwrap_or(0) + 2;
    for (stage, rates) in rows {
        let requests = rates.reads_and_writes();
        let size = requests.bytes_each().map_or_else(
            || "no requests".to_owned(),
            |bytes| format!("requests of {}", show_size(bytes.round() as u64)),
        );
        let wait = requests
            .wait_ms()
            .map_or_else(String::new, |ms| format!(", wait {} ms each", rate(ms)));
        page.labelled(
            2,
            (Style::Heading, stage),
            column,
            Style::Plain,
            &format!(
                "{}: {size}, {} requests/s, {} merges/s, queue depth {}{wait}, busy {:.0} %",
                rates.counted().name,
                rate(rates.per_s(requests.count)),
                rate(rates.per_s(requests.merges)),
                rate(rates.depth()),
                rates.busy() * 100.0
            ),
        );
    }
}
