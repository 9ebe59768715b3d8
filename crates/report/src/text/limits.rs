//! What limited each stage: the first explanation with its arithmetic, how sure it is,
//! what would settle it and what to do; the others in a line each.
//!
//! Stages with the same first explanation are one block, because a survey has a dozen
//! stages and one disk.

use super::look::Style;
use super::marks::{Limiting, limiting};
use super::page::Page;
use super::words::{add_once, list};
use super::wrap::columns;
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Confidence, Gain, GainBasis, Limit, StageLimits, TestOutcome};

/// Where the texts of a block begin.
const COLUMN: usize = 16;
/// Claims of a block that are told; a matrix has more stages that are alike.
const CLAIMS: usize = 4;
/// Lines of arithmetic, and further explanations.
const LINES: usize = 3;
const FURTHER: usize = 3;

/// Nothing for a run of which nothing is explained. `show` is the command that shows it
/// again.
pub(crate) fn write(page: &mut Page<'_>, show: &str, limits: &[StageLimits]) {
    let blocks = limiting(limits);
    if blocks.is_empty() {
        return;
    }
    page.heading("What limited it");
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        one(page, show, block, CLAIMS);
    }
    refuted(page, limits);
    let unknown: Vec<String> = limits
        .iter()
        .filter(|stage| stage.limits.is_empty())
        .map(label)
        .collect();
    if !unknown.is_empty() {
        page.blank();
        let text = format!("The evidence does not say what limited {}.", few(&unknown));
        page.paragraph(0, Style::Plain, &text);
    }
}

/// One limiter with its stages, of which so many claims are told.
pub(super) fn one(page: &mut Page<'_>, show: &str, block: &Limiting<'_>, claims: usize) {
    let (stage, limit) = block.clearest();
    let names: Vec<String> = block.stages.iter().map(|(stage, _)| label(stage)).collect();
    let title = format!("{}:", block.limiter);
    page.titled(0, (Style::Heading, &title), 4, Style::Heading, &few(&names));
    let row = |page: &mut Page<'_>, label: &str, text: &str| {
        page.labelled(4, (Style::Plain, label), COLUMN - 4, Style::Plain, text);
    };
    if block.stages.len() == 1 {
        row(page, "Claim", &limit.claim);
    } else {
        let shown = block.stages.iter().take(claims);
        for (i, (stage, limit)) in shown.enumerate() {
            let claim = format!("{}: {}", label(stage), limit.claim);
            row(page, if i == 0 { "Claim" } else { "" }, &claim);
        }
        let more = block.stages.len().saturating_sub(claims);
        if more > 0 {
            row(page, "", &format!("And {more} more like these."));
        }
    }
    for (i, line) in limit.evidence.iter().take(LINES).enumerate() {
        row(page, if i == 0 { "Arithmetic" } else { "" }, line);
    }
    if let Some(text) = limit.gain.as_ref().map(gain) {
        row(page, "Gain", &text);
    }
    row(page, "How sure", confidence(limit.confidence));
    for (i, test) in tests(block).iter().take(claims).enumerate() {
        row(page, if i == 0 { "Tested" } else { "" }, test);
    }
    row(page, "Settle", &limit.experiment.question);
    if limit.experiment.plan.is_some() {
        let mut asked = options(show);
        let name = quoted(&label(stage));
        asked.push(format!("--settle {name}"));
        asked.push("> settle.toml".into());
        command(page, &asked);
    }
    command(page, &options(&limit.experiment.command));
    row(page, "What to do", &limit.remedy);
    further(page, block);
}

/// What came of the tests of a block's claims, each with its stage where there are several.
fn tests(block: &Limiting<'_>) -> Vec<String> {
    let several = block.stages.len() > 1;
    let all = block.stages.iter().flat_map(|(stage, _)| {
        let own = stage.tested.iter();
        let own = own.filter(|test| test.limiter == block.limiter);
        own.map(move |test| (*stage, test))
    });
    all.filter_map(|(stage, test)| {
        let what = match test.outcome {
            TestOutcome::Held => "held",
            TestOutcome::Undecided => "undecided",
            // Not among the explanations any more.
            TestOutcome::Refuted => return None,
        };
        let of = if several {
            format!("{}, ", label(stage))
        } else {
            String::new()
        };
        Some(format!("{of}{what}: {}", test.evidence))
    })
    .collect()
}

/// What was the first explanation until its test.
fn refuted(page: &mut Page<'_>, limits: &[StageLimits]) {
    for stage in limits {
        let tests = stage.tested.iter();
        for test in tests.filter(|test| test.outcome == TestOutcome::Refuted) {
            page.blank();
            let (limiter, label) = (&test.limiter, label(stage));
            let text = format!("Refuted: {limiter} of {label}. {}", test.evidence);
            page.paragraph(0, Style::Plain, &text);
        }
    }
}

/// As a shell takes it: a name as it is, one with its settings in quotes.
fn quoted(label: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if label.chars().all(plain) {
        label.to_owned()
    } else {
        format!("'{}'", label.replace('\'', "'\\''"))
    }
}

/// A command before each of its options. What stands in quotes is not to be broken, so
/// one with quotes is left whole.
fn options(command: &str) -> Vec<String> {
    if command.contains(['\'', '"']) {
        return vec![command.to_owned()];
    }
    let parts = command.split(" --").enumerate();
    let part = |(i, part): (usize, &str)| match i {
        0 => part.to_owned(),
        _ => format!("--{part}"),
    };
    parts.map(part).collect()
}

/// A command to type: what does not fit into a line goes on behind a backslash, as a
/// shell takes it.
fn command(page: &mut Page<'_>, parts: &[String]) {
    // The backslash and the blank before it.
    let room = page.look.columns().saturating_sub(COLUMN + 2);
    let mut line = String::new();
    for part in parts {
        if line.is_empty() {
            line.clone_from(part);
        } else if columns(&line) + 1 + columns(part) <= room {
            line = format!("{line} {part}");
        } else {
            verbatim(page, &format!("{line} \\"));
            line = format!("  {part}");
        }
    }
    verbatim(page, &line);
}

fn verbatim(page: &mut Page<'_>, command: &str) {
    page.verbatim((Style::Plain, ""), COLUMN, command);
}

/// What else holds of these stages: each explanation once, with its stages.
fn further(page: &mut Page<'_>, block: &Limiting<'_>) {
    let mut others: Vec<(&Limit, Vec<String>)> = Vec::new();
    for (stage, _) in &block.stages {
        for limit in stage
            .limits
            .iter()
            .filter(|one| one.limiter != block.limiter)
        {
            let known = others
                .iter_mut()
                .find(|(other, _)| other.limiter == limit.limiter);
            match known {
                Some((_, stages)) => add_once(stages, label(stage)),
                None => others.push((limit, vec![label(stage)])),
            }
        }
    }
    let several = block.stages.len() > 1;
    for (i, (limit, stages)) in others.iter().take(FURTHER).enumerate() {
        let text = if several {
            format!("{} ({}): {}", limit.limiter, few(stages), limit.claim)
        } else {
            format!("{}: {}", limit.limiter, limit.claim)
        };
        let label = if i == 0 { "Also" } else { "" };
        page.labelled(4, (Style::Plain, label), COLUMN - 4, Style::Plain, &text);
    }
}

fn label(stage: &StageLimits) -> String {
    stage_label(&stage.stage, &stage.settings)
}

/// Names while they are few, else the first and how many.
fn few(names: &[String]) -> String {
    const FEW: usize = 6;
    if names.len() <= FEW {
        list(names)
    } else {
        format!(
            "{} and {} more stages",
            names[..2].join(", "),
            names.len() - 2
        )
    }
}

/// `3.73 times the rate with 32 in flight (random-read-qd32): measured, 3.5 to 3.9 at 99 %`.
fn gain(gain: &Gain) -> String {
    let [times, low, high] = [gain.times, gain.interval[0], gain.interval[1]].map(three_digits);
    match gain.basis {
        GainBasis::Measured => format!(
            "{times} times the rate {}: measured, {low} to {high} at 99 %",
            gain.with
        ),
        GainBasis::Predicted => format!(
            "at most {times} times the rate {}, {low} to {high} as the trials differ: predicted \
             by its share of the time",
            gain.with
        ),
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "certain: counted, not inferred",
        Confidence::Likely => "likely: the best explanation of what was seen",
        Confidence::Possible => "possible: one explanation among several",
    }
}

#[cfg(test)]
mod tests {
    use super::super::look::Look;
    use super::*;
    use diskfacts_record::{Experiment, TestedClaim};
    use std::collections::BTreeMap;

    fn limit(limiter: &str, share: f64) -> Limit {
        Limit {
            limiter: limiter.into(),
            claim: format!("It is {limiter}."),
            evidence: vec![format!("{share} is the share.")],
            share: Some(share),
            gain: Some(Gain {
                times: 1.0 / (1.0 - share),
                interval: [1.0, 12.34],
                basis: GainBasis::Predicted,
                with: "without it".into(),
            }),
            confidence: Confidence::Likely,
            refuted_by: "Nothing.".into(),
            experiment: Experiment {
                question: "Is it?".into(),
                command: "diskfacts measure /srv --plan settle.toml".into(),
                plan: Some("name = \"settle\"".into()),
                prediction: None,
            },
            remedy: "Wait.".into(),
        }
    }

    fn stage(name: &str, limits: Vec<Limit>) -> StageLimits {
        StageLimits {
            stage: name.into(),
            settings: BTreeMap::new(),
            limits,
            tested: Vec::new(),
        }
    }

    fn text(limits: &[StageLimits]) -> String {
        let look = Look {
            width: 80,
            colour: false,
            unicode: false,
        };
        let mut page = Page::new(&look);
        write(&mut page, "diskfacts show 20261121-041250-208d", limits);
        page.finish()
    }

    #[test]
    fn stages_with_the_same_first_limit_are_one_block_with_the_clearest_arithmetic() {
        let said = text(&[
            stage("a", vec![limit("rotation", 0.5), limit("seek", 0.4)]),
            stage("b", vec![limit("media-rate", 1.0)]),
            stage("c", vec![limit("rotation", 0.9), limit("seek", 0.1)]),
            stage("d", Vec::new()),
        ]);
        assert_eq!(said.matches("rotation: a and c").count(), 1, "{said}");
        assert!(
            said.contains("0.9 is the share.") && !said.contains("0.5 is"),
            "{said}"
        );
        assert!(said.contains(" --settle c > settle.toml\n"), "{said}");
        assert!(said.contains("seek (a and c): It is seek."), "{said}");
        assert!(said.contains("media-rate: b"), "{said}");
        assert!(said.contains("does not say what limited d."), "{said}");
        assert!(said.lines().all(|line| line.len() <= 80), "{said}");
    }

    #[test]
    fn what_was_tested_stands_with_its_claim_and_what_was_refuted_behind_all() {
        let test = |limiter: &str, outcome| TestedClaim {
            limiter: limiter.into(),
            claim: format!("It is {limiter}."),
            outcome,
            evidence: format!("Figures of {limiter}."),
        };
        let mut tested = stage("a", vec![limit("seek", 0.9)]);
        tested.tested = vec![
            test("rotation", TestOutcome::Refuted),
            test("seek", TestOutcome::Held),
            test("stall", TestOutcome::Undecided),
        ];
        let said = text(&[tested]);
        assert!(
            said.contains("Tested      held: Figures of seek."),
            "{said}"
        );
        assert!(
            said.contains("\n\nRefuted: rotation of a. Figures of rotation."),
            "{said}"
        );
        assert!(!said.contains("stall"), "{said}");
    }

    #[test]
    fn a_long_command_goes_on_behind_a_backslash_and_a_quoted_one_is_whole() {
        let mut long = limit("rotation", 0.5);
        long.experiment.command += " --size 16MiB --store a/place/somewhere/runs.db";
        let said = text(&[stage("a", vec![long.clone()])]);
        let broken = "                diskfacts measure /srv --plan settle.toml --size 16MiB \\\n                  \
                      --store a/place/somewhere/runs.db\n";
        assert!(said.contains(broken), "{said}");
        long.experiment.command = long.experiment.command.replace("/srv", "'/srv --x'");
        let said = text(&[stage("a", vec![long.clone()])]);
        assert!(
            said.contains(&format!("{}\n", long.experiment.command)),
            "{said}"
        );
    }

    #[test]
    fn a_run_of_which_nothing_is_explained_has_no_section() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[stage("a", Vec::new())]), "");
    }
}
