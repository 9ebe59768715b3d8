//! What limited each stage: the first explanation with its arithmetic, how sure it is,
//! what would settle it and what to do; the others in a line each.
//!
//! Stages with the same first explanation are one block, because a survey has a dozen
//! stages and one disk.

use super::cells::{self, Cell};
use super::findings::confidence;
use super::look::Style;
use super::marks::{Limiting, limiting};
use super::page::Page;
use super::words::list;
use super::wrap::columns;
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Gain, GainBasis, Limit, StageLimits, TestOutcome};
use std::cmp::Reverse;

/// Where the texts of a block begin.
const COLUMN: usize = 16;
/// Claims of a block that are told: those that most of its stages have in common come first.
const CLAIMS: usize = 4;
/// Lines of arithmetic, and further explanations.
const LINES: usize = 3;
/// Stages that are not named again where something holds of them all.
const MANY: usize = 4;
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
        one(page, show, block, Length::Clearest);
    }
    for text in refuted(limits).into_iter().chain(unexplained(limits)) {
        page.blank();
        page.paragraph(0, Style::Plain, &text);
    }
}

/// What is said of a limiter, in the order in which it is asked for.
pub(crate) enum Told {
    /// A text; the label stands before the first of several.
    Text(&'static str, String),
    /// A command to type, cut where a shell lets it go on in a further line.
    Command(Vec<String>),
}

/// How much is told of a limiter of several stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// What most of its stages have in common, with the arithmetic of the clearest.
    Clearest,
    /// All claims, with the arithmetic of the clearest.
    Claims,
    /// All that is known of each of its stages.
    Whole,
}

/// One limiter with its stages.
pub(super) fn one(page: &mut Page<'_>, show: &str, block: &Limiting<'_>, length: Length) {
    let title = format!("{}:", block.limiter);
    let stages = stages(block);
    page.titled(0, (Style::Heading, &title), 4, Style::Heading, &stages);
    for told in told(block, show, length) {
        match told {
            Told::Text(label, text) => {
                page.labelled(4, (Style::Plain, label), COLUMN - 4, Style::Plain, &text);
            }
            Told::Command(parts) => command(page, &parts),
        }
    }
}

/// The stages that a limiter is said of: their names while they are few.
pub(crate) fn stages(block: &Limiting<'_>) -> String {
    let cells: Vec<Cell<'_>> = block.stages.iter().map(|(stage, _)| cell(stage)).collect();
    few(&cells)
}

/// What is said of a limiter. `show` is the command that shows the run.
pub(crate) fn told(block: &Limiting<'_>, show: &str, length: Length) -> Vec<Told> {
    let (stage, limit) = block.clearest();
    let claims = match length {
        Length::Clearest => CLAIMS,
        Length::Claims | Length::Whole => usize::MAX,
    };
    // Of the clearest alone, or what differs from stage to stage with the stages.
    let of = |texts: fn(&Limit) -> Vec<String>| match length {
        Length::Whole => of_each(block, texts),
        Length::Clearest | Length::Claims => texts(limit),
    };
    let mut all = Vec::new();
    let mut rows = |label: &'static str, texts: Vec<String>| {
        for (i, text) in texts.into_iter().enumerate() {
            all.push(Told::Text(if i == 0 { label } else { "" }, text));
        }
    };
    if block.stages.len() == 1 {
        rows("Claim", vec![limit.claim.clone()]);
    } else {
        rows("Claim", alike(block, claims));
    }
    let mut arithmetic = of(|limit| limit.evidence.clone());
    if length != Length::Whole {
        arithmetic.truncate(LINES);
    }
    rows("Arithmetic", arithmetic);
    rows("Gain", of(|limit| limit.gain.iter().map(gain).collect()));
    rows(
        "How sure",
        of(|limit| vec![confidence(limit.confidence).to_owned()]),
    );
    if length == Length::Whole {
        rows("Refuted by", of(|limit| vec![limit.refuted_by.clone()]));
    }
    rows("Tested", tests(block).into_iter().take(claims).collect());
    rows(
        "Settle",
        of(|limit| vec![limit.experiment.question.clone()]),
    );
    if limit.experiment.plan.is_some() && !show.is_empty() {
        let mut asked = options(show);
        let name = quoted(&label(stage));
        asked.push(format!("--settle {name}"));
        asked.push("> settle.toml".into());
        all.push(Told::Command(asked));
    }
    let mut commands = vec![&limit.experiment.command];
    if length == Length::Whole {
        for (_, other) in &block.stages {
            if !commands.contains(&&other.experiment.command) {
                commands.push(&other.experiment.command);
            }
        }
    }
    let commands = commands.into_iter().map(|command| options(command));
    all.extend(commands.map(Told::Command));
    let mut rows = |label: &'static str, texts: Vec<String>| {
        for (i, text) in texts.into_iter().enumerate() {
            all.push(Told::Text(if i == 0 { label } else { "" }, text));
        }
    };
    rows("What to do", of(|limit| vec![limit.remedy.clone()]));
    rows("Also", further(block));
    all
}

/// What is said of the stages of a block, once each; with the stages where it is not said of all.
fn of_each(block: &Limiting<'_>, texts: fn(&Limit) -> Vec<String>) -> Vec<String> {
    let mut different: Vec<(String, Vec<Cell<'_>>)> = Vec::new();
    for (stage, limit) in &block.stages {
        for text in texts(limit) {
            match different.iter_mut().find(|(known, _)| *known == text) {
                Some((_, stages)) => stages.push(cell(stage)),
                None => different.push((text, vec![cell(stage)])),
            }
        }
    }
    let told = different.into_iter().map(|(text, stages)| {
        if stages.len() >= block.stages.len() {
            text
        } else {
            format!("{}: {text}", all(&stages))
        }
    });
    told.collect()
}

/// So many different claims of a block, each with the stages that it is said of: what most of
/// them have in common first.
fn alike(block: &Limiting<'_>, most: usize) -> Vec<String> {
    let mut claims: Vec<(&str, Vec<Cell<'_>>)> = Vec::new();
    for (stage, limit) in &block.stages {
        match claims.iter_mut().find(|(claim, _)| *claim == limit.claim) {
            Some((_, stages)) => stages.push(cell(stage)),
            None => claims.push((&limit.claim, vec![cell(stage)])),
        }
    }
    claims.sort_by_key(|(_, stages)| Reverse(stages.len()));
    let more: usize = claims
        .iter()
        .skip(most)
        .map(|(_, stages)| stages.len())
        .sum();
    let more = (more > 0).then(|| format!("And {more} more like these."));
    let told = claims.iter().take(most);
    let told = told.map(|(claim, stages)| format!("{}: {claim}", all(stages)));
    told.chain(more).collect()
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

/// What was the first explanation until its test, a paragraph each.
pub(crate) fn refuted(limits: &[StageLimits]) -> Vec<String> {
    let all = limits.iter().flat_map(|stage| {
        let tests = stage.tested.iter();
        let refuted = tests.filter(|test| test.outcome == TestOutcome::Refuted);
        refuted.map(move |test| {
            let (limiter, label) = (&test.limiter, label(stage));
            format!("Refuted: {limiter} of {label}. {}", test.evidence)
        })
    });
    all.collect()
}

/// Of which stages nothing is said, and that it is not.
pub(crate) fn unexplained(limits: &[StageLimits]) -> Option<String> {
    let unknown: Vec<Cell<'_>> = limits
        .iter()
        .filter(|stage| stage.limits.is_empty())
        .map(cell)
        .collect();
    let stages = few(&unknown);
    let said = || format!("The evidence does not say what limited {stages}.");
    (!unknown.is_empty()).then(said)
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
fn further(block: &Limiting<'_>) -> Vec<String> {
    let mut others: Vec<(&Limit, Vec<Cell<'_>>)> = Vec::new();
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
                Some((_, stages)) => stages.push(cell(stage)),
                None => others.push((limit, vec![cell(stage)])),
            }
        }
    }
    let several = block.stages.len() > 1;
    let others = others.iter().take(FURTHER).map(|(limit, stages)| {
        if stages.len() == block.stages.len() && stages.len() >= MANY {
            format!("{} (of all these): {}", limit.limiter, limit.claim)
        } else if several {
            format!("{} ({}): {}", limit.limiter, few(stages), limit.claim)
        } else {
            format!("{}: {}", limit.limiter, limit.claim)
        }
    });
    others.collect()
}

fn label(stage: &StageLimits) -> String {
    stage_label(&stage.stage, &stage.settings)
}

fn cell(stage: &StageLimits) -> Cell<'_> {
    (&stage.stage, &stage.settings)
}

/// All of these stages.
fn all(cells: &[Cell<'_>]) -> String {
    list(&cells::together(cells))
}

/// Characters in which stages are told, at most: one line of a page and a half.
const FEW: usize = 120;

/// Stages while they are told in few words, else how many cells of each.
fn few(cells: &[Cell<'_>]) -> String {
    let told = all(cells);
    if columns(&told) <= FEW {
        return told;
    }
    let mut numbers: Vec<(&str, usize)> = Vec::new();
    for (stage, settings) in cells {
        match numbers.iter_mut().find(|(name, _)| name == stage) {
            Some((_, number)) if !settings.is_empty() => *number += 1,
            Some(_) => {}
            None => numbers.push((stage, usize::from(!settings.is_empty()))),
        }
    }
    let told = numbers.iter().map(|(stage, number)| match number {
        0 => (*stage).to_owned(),
        1 => format!("1 cell of {stage}"),
        number => format!("{number} cells of {stage}"),
    });
    list(&told.collect::<Vec<_>>())
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

#[cfg(test)]
mod tests {
    use super::super::look::Look;
    use super::*;
    use diskfacts_record::{Confidence, Experiment, TestedClaim};
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
