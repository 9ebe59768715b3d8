//! All that is known of a run is somewhere under `--explain`, and what stages share in the parts
//! that it leads to: what is compared are facts, the numbers, names and sentences of the record,
//! wherever and in whatever words they stand.

use crate::fixtures;
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::{self, rate_digits, show_duration, show_size};
use diskfacts_record::{Run, StageFigures, TestOutcome, TestedClaim, Trial};
use diskfacts_report::text::{self, Closing, Look};
use std::collections::BTreeMap;

/// So wide that tables show all of their columns.
const LOOK: Look = Look {
    width: 200,
    colour: false,
    unicode: true,
};

fn runs() -> Vec<(&'static str, Run)> {
    let mut runs = vec![
        ("healthy", fixtures::healthy()),
        ("failing", fixtures::failing()),
        ("interrupted", fixtures::interrupted()),
        ("killed", fixtures::killed()),
        ("varied", fixtures::varied()),
        ("rare", fixtures::rare()),
        ("tmpfs", fixtures::tmpfs()),
        ("held back", fixtures::held_back()),
        ("write matrix", fixtures::write_matrix()),
        ("tuned", fixtures::tuned()),
        ("zones", fixtures::zones()),
        ("stride", fixtures::stride()),
        ("streams", fixtures::streams()),
    ];
    for (_, run) in &mut runs {
        let explanation = diskfacts_facts::explain(run);
        run.findings.extend(explanation.findings);
        run.limits = explanation.limits;
        run.verdicts = explanation.verdicts;
    }
    let mut tested = runs[0].1.clone();
    let explained = tested
        .limits
        .iter_mut()
        .find(|stage| !stage.limits.is_empty());
    let explained = explained.expect("a stage that is explained");
    let limiter = explained.limits[0].limiter.clone();
    explained.tested = [
        (limiter, TestOutcome::Held),
        ("seek".to_owned(), TestOutcome::Refuted),
    ]
    .map(|(limiter, outcome)| TestedClaim {
        claim: format!("It is {limiter}."),
        evidence: format!("Measured once more: 17 of {limiter}."),
        limiter,
        outcome,
    })
    .to_vec();
    runs.push(("tested", tested));
    runs
}

/// Without line breaks, columns and the commas of large numbers.
fn plain(text: &str) -> String {
    // A long command goes on behind a backslash.
    let text = text.replace(" \\\n", "\n");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace("\u{b5}s", "us");
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<usize>| {
        let letter = at.and_then(|at| letters.get(at));
        letter.is_some_and(char::is_ascii_digit)
    };
    let kept = letters.iter().enumerate().filter(|(at, letter)| {
        let between = is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        **letter != ',' || !between
    });
    kept.map(|(_, letter)| *letter).collect()
}

/// The facts of a run, each as a piece of text that has to stand somewhere.
fn facts(run: &Run) -> Vec<String> {
    let mut facts: Vec<String> = vec![run.run.id.clone(), run.target.path.clone()];
    facts.extend(run.run.command.iter().cloned());
    facts.extend(run.run.notes.iter().cloned());
    facts.extend(run.machine.host.iter().cloned());
    facts.extend(run.machine.kernel.iter().cloned());
    facts.extend(run.machine.cpu_model.iter().cloned());
    facts.push(run.plan.name.clone());
    for leaf in run.stack.leaves() {
        facts.extend(leaf.model.iter().cloned());
        facts.extend(leaf.size_bytes.map(show_size));
        facts.extend(leaf.scheduler.iter().cloned());
        facts.extend(leaf.write_cache.iter().map(|cache| cache.replace(' ', "-")));
    }
    for unseen in &run.stack.unseen {
        facts.extend([unseen.what.clone(), unseen.why.clone()]);
    }
    for trial in &run.trials {
        for unseen in &trial.evidence.unseen {
            facts.extend([unseen.what.clone(), unseen.why.clone()]);
        }
    }
    for figures in &run.figures {
        facts.push(figures.stage.clone());
        // A block size stands there as people read it.
        facts.extend(figures.settings.iter().map(|(name, value)| match &**name {
            "block_size" => show_size(units::parse_size(value).expect(value)),
            _ => value.clone(),
        }));
        facts.extend(of_figures(run, figures));
    }
    for finding in &run.findings {
        facts.extend([
            finding.rule.clone(),
            finding.claim.clone(),
            finding.refuted_by.clone(),
            finding.remedy.clone(),
        ]);
        facts.extend(finding.stages.iter().cloned());
        facts.extend(finding.evidence.iter().cloned());
    }
    for stage in &run.limits {
        facts.extend(stage.limits.first().map(|first| first.limiter.clone()));
        let tests = stage.tested.iter();
        let refuted = tests.filter(|test| test.outcome == TestOutcome::Refuted);
        facts.extend(refuted.map(|test| test.evidence.clone()));
    }
    facts.extend(of_effects(run));
    for verdict in &run.verdicts {
        facts.extend([verdict.profile.clone(), verdict.needed.clone()]);
        facts.push(verdict.source.clone());
        // The words of what was needed are not said again.
        let measured = verdict.measured.as_deref().unwrap_or_default().split(' ');
        let shared = verdict.needed.split(' ').zip(measured.clone());
        let shared = shared.take_while(|(needed, seen)| needed == seen).count();
        facts.push(measured.skip(shared).collect::<Vec<_>>().join(" "));
    }
    facts
}

/// What stages with the same limit share, of which `--explain` tells some: all of it has to
/// stand in the part that is named.
fn of_claims(run: &Run) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for stage in &run.limits {
        for limit in &stage.limits {
            let mut of_limit = vec![
                limit.claim.clone(),
                limit.refuted_by.clone(),
                limit.experiment.question.clone(),
                limit.experiment.command.clone(),
                limit.remedy.clone(),
            ];
            of_limit.extend(limit.evidence.iter().cloned());
            if let Some(gain) = &limit.gain {
                let ends = [gain.times, gain.interval[0], gain.interval[1]];
                of_limit.extend(ends.map(units::three_digits));
                of_limit.push(gain.with.clone());
            }
            let tested = stage.tested.iter();
            let tested = tested.filter(|test| test.limiter == limit.limiter);
            of_limit.extend(tested.map(|test| test.evidence.clone()));
            facts.extend(
                of_limit
                    .into_iter()
                    .map(|fact| (limit.limiter.clone(), fact)),
            );
        }
    }
    for verdict in &run.verdicts {
        facts.push((verdict.profile.clone(), verdict.source.clone()));
    }
    facts
}

/// What is told of a stage by itself: who served its bytes, what it cost, where its time went, how
/// sure its figures are.
fn of_stage(run: &Run, figures: &StageFigures) -> Vec<String> {
    let mut facts = Vec::new();
    if figures.iops.trials > 0 {
        let layers = &figures.layers;
        let shares = [
            (layers.page_cache, "page cache"),
            (layers.mapping, "mapping, no disk"),
            (layers.server, "server, memory or disk"),
            (layers.drive_cache, "drive cache"),
            (layers.media, "media"),
        ];
        let shares = shares.into_iter().filter(|(share, _)| *share >= 0.0005);
        facts.extend(shares.map(|(share, name)| format!("{name} {}", percent(share))));
        let cpu = figures.cpu_user_ns_per_io.zip(figures.cpu_system_ns_per_io);
        let cpu = cpu.map(|(user, system)| show_duration((user + system).round() as u64));
        facts.extend(cpu.map(|time| format!("CPU {time}/IO")));
    }
    if let Some([low, high]) = figures.iops.ci95 {
        facts.push(format!(
            "{} to {} IOPS",
            rate_digits(low),
            rate_digits(high)
        ));
    }
    if let Some(ends) = figures.throughput_bytes_per_s.ci95 {
        let [low, high] = ends.map(|end| rate_digits(end / 1e6));
        facts.push(format!("{low} to {high} MB/s"));
    }
    let latency = &figures.latency_ci95_ns;
    for (name, ends) in [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("p99.99", latency.p99_99),
    ] {
        let ends = ends.map(|ends| ends.map(show_duration));
        facts.extend(ends.map(|[low, high]| format!("{name} {low} to {high}")));
    }
    // What the disk itself knows stands in place of what the host saw; `--budget` has that.
    let truth = of_truth(run, figures);
    facts.extend(if truth.is_empty() {
        of_budget(figures)
    } else {
        truth
    });
    facts
}

/// Where the time of the requests went in a simulated disk, which knows it; the parts of a
/// hundredth and more.
fn of_truth(run: &Run, figures: &StageFigures) -> Vec<String> {
    let is_of_it =
        |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    let trials = run.trials.iter().filter(is_of_it);
    let known = trials.filter_map(|trial| trial.evidence.truth.as_ref()?.time.as_ref());
    let known: Vec<_> = known.collect();
    let [only] = known.as_slice() else {
        return Vec::new();
    };
    let named = only.named().into_iter();
    let named = named.filter(|(_, ns)| *ns as f64 >= 0.01 * only.total_ns() as f64);
    let each = |ns: u64| show_duration(ns / only.operations);
    named
        .map(|(name, ns)| format!("{name} {}", each(ns)))
        .collect()
}

/// Where the time of a stage went as the host saw it, the parts of a hundredth and more.
fn of_budget(figures: &StageFigures) -> Vec<String> {
    let Some(budget) = &figures.budget else {
        return Vec::new();
    };
    let slowest = budget.slowest.as_ref();
    let slowest = slowest.map(|slowest| (slowest.latency_ns, &slowest.parts));
    let mut facts = Vec::new();
    for (latency_ns, parts) in std::iter::once((budget.latency_ns, &budget.parts)).chain(slowest) {
        let time = |ns: f64| show_duration(ns.round() as u64);
        facts.push(format!("mean {}", time(latency_ns)));
        for part in parts
            .iter()
            .filter(|part| part.mean_ns >= 0.01 * latency_ns)
        {
            let share = percent(part.mean_ns / latency_ns);
            facts.push(format!("{} ({share})", time(part.mean_ns)));
        }
    }
    facts
}

/// A share as it is printed: `77 %`, with a digit more where it is small or nearly all.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    let is_plain = value >= 9.95 && !(99.05..99.95).contains(&value);
    let text = format!("{value:.*}", usize::from(!is_plain));
    format!("{} %", text.trim_end_matches(".0"))
}

/// What varied settings do, and which are best: the ratios, each with its interval.
fn of_effects(run: &Run) -> Vec<String> {
    let digits = |ratio: f64| match ratio {
        small if small < 9.995 => format!("{small:.2}"),
        large => rate_digits(large),
    };
    let between = |ratio: f64, [low, high]: [f64; 2]| {
        format!("{} ({} to {})", digits(ratio), digits(low), digits(high))
    };
    let mut facts = Vec::new();
    for effects in &run.effects {
        for effect in &effects.main_effects {
            facts.push(effect.axis.clone());
            if effect.beyond_noise {
                let levels = effect.levels.iter();
                facts.extend(levels.map(|level| {
                    format!("{} with {}", between(level.ratio, level.ci95), level.value)
                }));
            }
        }
        for pair in effects.interactions.iter().filter(|pair| pair.beyond_noise) {
            facts.push(between(pair.largest.ratio, pair.largest.ci95));
        }
        for answer in &effects.answers {
            if let (Some(best), Some(against)) = (&answer.best, &answer.against) {
                facts.push(between(against.ratio, against.interval));
                facts.extend(best.iter().map(|(name, value)| format!("{name}={value}")));
            }
        }
        facts.extend(effects.unknown.iter().cloned());
    }
    facts
}

/// The numbers of a stage; of the cell of a matrix those that its table has.
fn of_figures(run: &Run, figures: &StageFigures) -> Vec<String> {
    let mut trials = run
        .trials
        .iter()
        .filter(|trial| trial.stage == figures.stage);
    let refused = trials.any(|trial| trial.direct_refused().is_some());
    if figures.iops.trials == 0 || refused {
        return Vec::new();
    }
    let is_cell = !figures.settings.is_empty();
    let latency = &figures.latency_ns;
    let mut numbers = vec![rate_digits(figures.throughput_bytes_per_s.median / 1e6)];
    // Where something is chosen the table is one of rates.
    let is_pivoted = run
        .effects
        .iter()
        .any(|effects| effects.stage == figures.stage);
    if !is_pivoted {
        numbers.extend(latency.p50.map(show_duration));
        numbers.extend(latency.p99.map(show_duration));
    }
    if !is_cell {
        numbers.push(format!("{} IOPS", rate_digits(figures.iops.median)));
        numbers.extend(latency.p99_9.map(show_duration));
        numbers.extend(latency.max.map(show_duration));
    }
    numbers
}

#[test]
fn every_fact_of_a_run_stands_in_what_explain_prints() {
    for (name, run) in runs() {
        let closing = Closing {
            show: "diskfacts show last".into(),
            ..Closing::default()
        };
        let shown = plain(&text::run(&run, &closing, &LOOK));
        let facts = facts(&run);
        assert!(facts.len() > 20, "{name}: {facts:?}");
        let missing: Vec<&String> = facts
            .iter()
            .filter(|fact| !shown.contains(&plain(fact)))
            .collect();
        assert!(missing.is_empty(), "{name} lacks {missing:?}");
        let mut shown = BTreeMap::new();
        for (part, fact) in of_claims(&run) {
            let shown = shown.entry(part).or_insert_with_key(|part| {
                let shown = text::claim(&run, part, "diskfacts show last", &LOOK);
                plain(&shown.unwrap_or_else(|why| panic!("{name}, {part}: {why}")))
            });
            assert!(
                shown.contains(&plain(&fact)),
                "{name} lacks {fact}: {shown}"
            );
        }
        let budgets = plain(&text::budgets(&run, &LOOK));
        for figures in &run.figures {
            let label = stage_label(&figures.stage, &figures.settings);
            let part = text::StagePart {
                name: &label,
                trial: None,
            };
            let shown = text::stage(&run, part, "diskfacts show last", &LOOK);
            let shown = plain(&shown.unwrap_or_else(|why| panic!("{name}, {label}: {why}")));
            for fact in of_stage(&run, figures) {
                assert!(
                    shown.contains(&plain(&fact)),
                    "{name}, {label} lacks {fact}: {shown}"
                );
            }
            for fact in of_budget(figures) {
                assert!(
                    budgets.contains(&plain(&fact)),
                    "{name}, {label} lacks {fact}"
                );
            }
        }
    }
}
