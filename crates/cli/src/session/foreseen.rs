//! How long what a plan does before its trials will take, said before it begins: it may
//! be hours, and `--time` does not bound it.

use diskfacts_plan::units::{show_duration, show_size, show_throughput};
use diskfacts_plan::{Precondition, Workload};

/// A sentence on all of it; `None` where nothing is done. The target has so many bytes,
/// and was filled at this rate, bytes per second, if it was.
pub(super) fn before_the_trials(
    works: &[Precondition],
    size_bytes: u64,
    filled_per_s: Option<f64>,
) -> Option<String> {
    if works.is_empty() {
        return None;
    }
    let rounds: Vec<Round> = works
        .iter()
        .map(|work| Round::of(&work.stage.workload, size_bytes))
        .collect();
    let each = works.iter().zip(&rounds).map(|(work, round)| {
        let (least, most) = (work.at_least(), work.at_most());
        let times = match (least, most) {
            (1, 1) => "1 round".to_owned(),
            (least, most) if least == most => format!("{least} rounds"),
            (least, most) => format!("{least} to {most} rounds"),
        };
        format!("{} ({times} of {})", work.stage.label(), round.words())
    });
    let each: Vec<String> = each.collect();
    let filled_per_s = filled_per_s.filter(|rate| *rate > 0.0);
    let needs_rate = rounds.iter().any(|round| round.time_ns.is_none());
    let total = |rounds_of: fn(&Precondition) -> u32| {
        let works = works.iter().zip(&rounds);
        let ns = works.map(|(work, round)| {
            let ns = round.ns(filled_per_s)?;
            Some(ns.saturating_mul(u64::from(rounds_of(work))))
        });
        ns.sum::<Option<u64>>()
    };
    let estimate = match (total(Precondition::at_least), total(Precondition::at_most)) {
        (Some(least), Some(most)) => {
            let (least, most) = (show_duration(least), show_duration(most));
            let range = if least == most {
                least
            } else {
                format!("{least} to {most}")
            };
            match filled_per_s.filter(|_| needs_rate) {
                Some(rate) => format!(
                    "that takes {range} at the {} at which the file was filled, and longer where \
                     writes are small or scattered",
                    show_throughput(rate)
                ),
                None => format!("that takes {range}"),
            }
        }
        _ => "how long that takes is not known before it is done".to_owned(),
    };
    Some(format!(
        "Before the trials: {}; {estimate}. --time does not bound it, Ctrl-C ends it.",
        each.join(", ")
    ))
}

/// What ends a round.
struct Round {
    /// Nanoseconds, if it ends with a time.
    time_ns: Option<u64>,
    /// Bytes, if it ends with an amount.
    bytes: Option<u64>,
}

impl Round {
    fn of(workload: &Workload, size_bytes: u64) -> Self {
        let left = size_bytes.saturating_sub(workload.offset);
        let span = workload.span.unwrap_or(left).min(left);
        let (stop, block) = (&workload.stop, workload.block_size.max(1));
        let amounts = [
            stop.bytes,
            stop.operations.map(|count| count.saturating_mul(block)),
            stop.fraction.map(|fraction| {
                (span / block / fraction.max(1))
                    .max(1)
                    .saturating_mul(block)
            }),
        ];
        Self {
            time_ns: stop.time_ns,
            bytes: amounts.into_iter().flatten().min(),
        }
    }

    fn words(&self) -> String {
        match (self.time_ns, self.bytes) {
            (Some(ns), Some(bytes)) => format!("{} or {}", show_size(bytes), show_duration(ns)),
            (Some(ns), None) => show_duration(ns),
            (None, bytes) => show_size(bytes.unwrap_or(0)),
        }
    }

    /// Nanoseconds that it takes, at most where it ends with a time.
    fn ns(&self, bytes_per_s: Option<f64>) -> Option<u64> {
        let by_amount = self.bytes.zip(bytes_per_s);
        // No round is so long that a float's nanoseconds matter.
        let by_amount = by_amount.map(|(bytes, rate)| (bytes as f64 / rate * 1e9) as u64);
        [self.time_ns, by_amount].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_plan::file;

    fn said(works: &str, size_bytes: u64, rate: Option<f64>) -> Option<String> {
        let stage = "[[stage]]\nname = \"read\"\noperation = \"read\"\n";
        let plan = file::parse(&format!("name = \"p\"\n{works}\n{stage}")).expect("a plan");
        before_the_trials(&plan.precondition, size_bytes, rate)
    }

    const FILL: &str = "[[precondition]]\nname = \"fill\"\noperation = \"write\"\n\
                        pattern = \"sequential\"\nblock_size = \"64KiB\"\nrounds = 2\n";
    const AGE: &str = "[[precondition]]\nname = \"age\"\noperation = \"write\"\n\
                       time = \"60s\"\nsteady = true\n";

    #[test]
    fn an_amount_is_estimated_by_the_rate_of_filling_and_a_time_by_itself() {
        assert_eq!(
            said(FILL, 1_000 << 20, Some(f64::from(100 << 20))).as_deref(),
            Some(
                "Before the trials: fill (2 rounds of 1000 MiB); that takes 20 s at the 104.9 MB/s at \
                 which the file was filled, and longer where writes are small or \
                 scattered. --time does not bound it, Ctrl-C ends it."
            )
        );
        assert_eq!(
            said(AGE, 1 << 30, None).as_deref(),
            Some(
                "Before the trials: age (5 to 25 rounds of 60 s); that takes 5 min to 25 min. \
                 --time does not bound it, Ctrl-C ends it."
            )
        );
    }

    #[test]
    fn of_a_device_that_was_not_filled_the_time_is_not_known_and_that_is_said() {
        let both = format!("{FILL}{AGE}");
        let said = said(&both, 1 << 40, None).expect("a sentence");
        assert!(
            said.contains("fill (2 rounds of 1 TiB), age (5 to 25 rounds of 60 s); how long that"),
            "{said}"
        );
    }

    #[test]
    fn a_plan_that_does_nothing_before_its_trials_says_nothing() {
        assert_eq!(said("", 1 << 30, None), None);
    }
}
