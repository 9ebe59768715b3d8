//! Where the time of a stage's operations went, in a line.

use super::look::Look;
use super::words::percent;
use diskfacts_record::{Budget, Spent};

/// Parts below this share of the whole are left out; what is unexplained never is.
const SHARE_MIN: f64 = 0.01;

/// `81.2 us, of which device 62.1 us (77 %), kernel 15.1 us (19 %), unexplained 4 us (5 %)`.
pub(super) fn line(budget: &Budget, look: &Look) -> String {
    let time = |ns: f64| look.duration(ns.round() as u64);
    let mut parts: Vec<_> = budget
        .parts
        .iter()
        .filter(|one| {
            one.part == Spent::Unexplained || one.mean_ns >= SHARE_MIN * budget.latency_ns
        })
        .collect();
    parts.sort_by(|a, b| {
        let last = |part| part == Spent::Unexplained;
        let by_size = || b.mean_ns.total_cmp(&a.mean_ns);
        last(a.part).cmp(&last(b.part)).then_with(by_size)
    });
    let parts: Vec<String> = parts
        .into_iter()
        .map(|one| {
            let share = percent(one.mean_ns / budget.latency_ns);
            format!("{} {} ({share})", words(one.part), time(one.mean_ns))
        })
        .collect();
    format!(
        "mean {}, of which {}",
        time(budget.latency_ns),
        parts.join(", ")
    )
}

/// What a part is called in a sentence.
fn words(part: Spent) -> &'static str {
    match part {
        Spent::Processor => "no processor free",
        Spent::Cache => "page cache",
        Spent::Dirty => "dirty pages",
        Spent::Admission => "held back",
        Spent::BlockLayer => "scheduler and device",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::BudgetPart;

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
        };
        let look = Look {
            width: 80,
            colour: false,
            unicode: false,
        };
        assert_eq!(
            line(&budget, &look),
            "mean 80 us, of which device 60 us (75 %), kernel 19 us (24 %), unexplained 300 ns \
             (0.4 %)"
        );
    }
}
