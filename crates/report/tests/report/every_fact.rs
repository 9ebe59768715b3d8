//! All that is known of a run is somewhere under `--explain`, and what stages share in the parts
//! that it leads to: what is compared are facts, the numbers, names and sentences of the record,
//! wherever and in whatever words they stand.

use crate::fixtures;
use diskfacts_plan::units::{self, rate_digits, show_duration, show_size};
use diskfacts_record::{Run, StageFigures};
use diskfacts_report::text::{self, Closing, Look};

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
    runs
}

/// Without line breaks, columns and the commas of large numbers.
fn plain(text: &str) -> String {
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
    for stage in run.limits.iter().filter(|stage| !stage.limits.is_empty()) {
        facts.push(stage.limits[0].limiter.clone());
    }
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
fn shared(run: &Run) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for stage in &run.limits {
        for limit in &stage.limits {
            facts.push((limit.limiter.clone(), limit.claim.clone()));
        }
    }
    for verdict in &run.verdicts {
        facts.push((verdict.profile.clone(), verdict.source.clone()));
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
        for (part, fact) in self::shared(&run) {
            let shown = text::claim(&run, &part, "diskfacts show last", &LOOK);
            let shown = shown.unwrap_or_else(|why| panic!("{name}, {part}: {why}"));
            assert!(
                plain(&shown).contains(&plain(&fact)),
                "{name}, {part} lacks {fact}"
            );
        }
    }
}
