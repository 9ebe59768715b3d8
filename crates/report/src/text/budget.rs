//! Where the time of a stage's operations went, a line for all of them and one for the slowest.

use super::look::{Look, Style};
use super::names::Names;
use super::page::Page;
use super::parts;
use super::stages;
use super::words::percent;
use diskfacts_record::{Budget, BudgetPart, Run, Spent};

/// Parts below this share of the whole are left out; what is unexplained never is.
const SHARE_MIN: f64 = 0.01;

/// `mean 81.2 us, of which device 62.1 us (77 %), kernel 15.1 us (19 %), unexplained 4 us (5 %)`;
/// behind it the same of the slowest hundredth, where it is known.
pub(crate) fn lines(budget: &Budget, look: &Look) -> Vec<String> {
    let all = divided(budget.latency_ns, &budget.parts, look);
    let slowest = budget.slowest.as_ref().map(|slowest| {
        let divided = divided(slowest.latency_ns, &slowest.parts, look);
        format!("slowest 1 %: {divided}")
    });
    [Some(all), slowest].into_iter().flatten().collect()
}

/// Longest name beside which a bar stands.
const NAME: usize = 24;
/// Columns of a mean latency.
const MEAN: usize = 8;
/// The longest bar.
const BAR: usize = 60;

/// Each stage as a bar of letters, one for each part of the time, and its parts below it.
pub(super) fn bars(page: &mut Page<'_>, run: &Run) {
    let known = |figures: &&diskfacts_record::StageFigures| {
        figures.budget.is_some() || parts::of_stage(run, figures, page.look).is_some()
    };
    let known: Vec<_> = run.figures.iter().filter(known).collect();
    let names = known.iter().map(|figures| stages::name(figures));
    let names = Names::of(names, NAME, page.look);
    let taken = names.width + MEAN + 6;
    let room = page.look.columns().saturating_sub(taken).min(BAR);
    for (place, figures) in known.iter().enumerate() {
        let Some(budget) = &figures.budget else {
            names.write(page, place, Style::Heading, "");
            stages::spent(page, run, 4, figures);
            continue;
        };
        let mean = page.look.duration(budget.latency_ns.round() as u64);
        let row = format!("  {mean:>MEAN$}  [{}]", bar(budget, room));
        names.write(page, place, Style::Heading, &row);
        for line in lines(budget, page.look) {
            page.paragraph(4, Style::Plain, &line);
        }
    }
}

/// `DDDDDDDDDDDDDKKKK?`: each part has its share of the width; what has less than half a
/// column is not seen.
fn bar(budget: &Budget, width: usize) -> String {
    let mut bar = String::new();
    let mut until = 0.0;
    for part in &budget.parts {
        until += part.mean_ns.max(0.0);
        let end = (until / budget.latency_ns * width as f64).round() as usize;
        let missing = end.min(width).saturating_sub(bar.chars().count());
        bar.extend(std::iter::repeat_n(initial(part.part), missing));
    }
    bar
}

/// The letter of a part in a bar.
pub(crate) fn initial(part: Spent) -> char {
    match part {
        Spent::Due => 't',
        Spent::User => 'U',
        Spent::Kernel => 'K',
        Spent::Processor => 'P',
        Spent::Cache => 'C',
        Spent::Dirty => 'W',
        Spent::Journal => 'J',
        Spent::Blocked => 'L',
        Spent::Admission => 'H',
        Spent::Mapping => 'M',
        Spent::Scheduler => 'S',
        Spent::BlockLayer => 'B',
        Spent::Device => 'D',
        Spent::Flush => 'F',
        Spent::Client => 'Q',
        Spent::Server => 'N',
        Spent::Completion => 'c',
        Spent::Unexplained => '?',
    }
}

fn divided(latency_ns: f64, parts: &[BudgetPart], look: &Look) -> String {
    let time = |ns: f64| look.duration(ns.round() as u64);
    let mut parts: Vec<_> = parts
        .iter()
        .filter(|one| one.part == Spent::Unexplained || one.mean_ns >= SHARE_MIN * latency_ns)
        .collect();
    parts.sort_by(|a, b| {
        let last = |part| part == Spent::Unexplained;
        let by_size = || b.mean_ns.total_cmp(&a.mean_ns);
        last(a.part).cmp(&last(b.part)).then_with(by_size)
    });
    let parts: Vec<String> = parts
        .into_iter()
        .map(|one| {
            let share = percent(one.mean_ns / latency_ns);
            format!("{} {} ({share})", words(one.part), time(one.mean_ns))
        })
        .collect();
    format!("mean {}, of which {}", time(latency_ns), parts.join(", "))
}

/// What a part is called in a sentence.
pub(crate) fn words(part: Spent) -> &'static str {
    match part {
        Spent::Processor => "no processor free",
        Spent::Cache => "page cache",
        Spent::Dirty => "dirty pages",
        Spent::Admission => "held back",
        Spent::BlockLayer => "scheduler and device",
        Spent::Client => "queue of the NFS client",
        Spent::Server => "network and server",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::SlowestBudget;

    #[test]
    fn the_largest_comes_first_what_is_small_is_left_out_and_what_is_not_known_never() {
        let part = |part, mean_ns| BudgetPart {
            part,
            mean_ns,
            range_ns: [mean_ns, mean_ns],
            source: String::new(),
        };
        let budget = Budget {
            latency_ns: 80_000.0,
            parts: vec![
                part(Spent::Kernel, 19_000.0),
                part(Spent::Scheduler, 700.0),
                part(Spent::Device, 60_000.0),
                part(Spent::Unexplained, 300.0),
            ],
            slowest: Some(SlowestBudget {
                latency_ns: 2_000_000.0,
                parts: vec![
                    part(Spent::Scheduler, 1_900_000.0),
                    part(Spent::Device, 100_000.0),
                    part(Spent::Unexplained, 0.0),
                ],
            }),
        };
        let look = Look {
            width: 80,
            colour: false,
            unicode: false,
        };
        assert_eq!(
            lines(&budget, &look),
            [
                "mean 80 us, of which device 60 us (75 %), kernel 19 us (24 %), unexplained 300 \
                 ns (0.4 %)",
                "slowest 1 %: mean 2 ms, of which scheduler 1.9 ms (95 %), device 100 us (5 %), \
                 unexplained 0 ns (0 %)",
            ]
        );
    }
}
