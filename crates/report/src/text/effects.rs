//! What varied settings do, which are best, and what makes them permanent.

use super::look::Style;
use super::page::Page;
use super::pivot::said;
use super::words::{count, list};
use crate::permanent;
use diskfacts_plan::units::rate_digits;
use diskfacts_record::effects::{Answer, Chosen, Interaction, MainEffect, StageEffects};
use diskfacts_record::{Run, TargetKind};

/// Where the texts of a block begin.
const COLUMN: usize = 4;
/// Settings that are as good, conditions and interactions that are told.
const AS_GOOD: usize = 3;
const UNDER: usize = 12;
const TOGETHER: usize = 5;

/// Nothing for a run without a matrix that was measured often enough.
pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let tested = |effects: &&StageEffects| !effects.main_effects.is_empty();
    answers(page, run, Length::Whole);
    if run.effects.iter().any(|effects| tested(&effects)) {
        page.heading(
            "What each setting does: times the mean of its values, averaged over the others",
        );
        for effects in run.effects.iter().filter(tested) {
            what_each_does(page, effects);
        }
    }
}

/// How much is told of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// The best over all conditions, and how many are as good.
    Brief,
    /// Under each condition too, and which are as good.
    Whole,
}

/// Which settings are best, and what makes them permanent.
pub(super) fn answers(page: &mut Page<'_>, run: &Run, length: Length) {
    if run.effects.iter().all(|effects| effects.answers.is_empty()) {
        return;
    }
    page.heading("Which settings are best");
    // Those of which nothing else is to be said stand in one line.
    let (alike, told): (Vec<&StageEffects>, Vec<&StageEffects>) = run
        .effects
        .iter()
        .filter(|effects| !effects.answers.is_empty())
        .partition(|effects| is_no_difference(effects));
    for effects in told {
        of_stage(page, run, effects, length);
    }
    if !alike.is_empty() {
        let names: Vec<&str> = alike.iter().map(|effects| effects.stage.as_str()).collect();
        let title = format!("{}:", list(&names));
        let text = "no difference beyond noise.";
        page.titled(0, (Style::Heading, &title), COLUMN, Style::Plain, text);
    }
}

/// Whether there is one answer, without conditions, that nothing differs.
fn is_no_difference(effects: &StageEffects) -> bool {
    let mut answers = effects.answers.iter();
    effects.answers.len() == 1 && answers.all(|answer| answer.outcome == Chosen::NoDifference)
}

fn of_stage(page: &mut Page<'_>, run: &Run, effects: &StageEffects, length: Length) {
    let Some((overall, each)) = effects.answers.split_first() else {
        return;
    };
    let title = format!("{}:", effects.stage);
    let text = over_all(overall, each.len(), length);
    page.titled(0, (Style::Heading, &title), COLUMN, Style::Plain, &text);
    // On the first page they are drawn.
    let each = match length {
        Length::Brief => &[],
        Length::Whole => each,
    };
    for answer in each.iter().take(UNDER) {
        let text = format!("{}: {}", said(&answer.under), sentence(answer, length));
        page.labelled(2, (Style::Plain, "-"), COLUMN - 2, Style::Plain, &text);
    }
    if each.len() > UNDER {
        let more = count((each.len() - UNDER) as u64, "more condition");
        page.paragraph(
            COLUMN,
            Style::Plain,
            &format!("{more}: --json has them all."),
        );
    }
    make_permanent(page, run, effects, overall);
}

/// `over 3 conditions: scheduler=bfq: 1.8 (1.7 to 1.9) times ...`; of so many conditions.
pub(crate) fn over_all(overall: &Answer, conditions: usize, length: Length) -> String {
    let over = match conditions {
        0 => String::new(),
        many if overall.left_out == 0 => {
            format!("over {}: ", count(many as u64, "condition"))
        }
        many => format!(
            "over {} of {many} conditions (cells of the others are missing): ",
            overall.over
        ),
    };
    format!("{over}{}", sentence(overall, length))
}

/// `scheduler=bfq: 1.8 (1.7 to 1.9) times what is in force (scheduler=none).`
pub(crate) fn sentence(answer: &Answer, length: Length) -> String {
    match (answer.outcome, &answer.best, &answer.against) {
        (Chosen::NoDifference, ..) => "no difference beyond noise.".to_owned(),
        (Chosen::Better, Some(best), Some(against)) => {
            let what = if against.in_force {
                "what is in force"
            } else {
                "the slowest"
            };
            format!(
                "{}: {} times {what} ({}).{}",
                said(best),
                between(against.ratio, against.interval),
                said(&against.settings),
                as_good(answer, length)
            )
        }
        (Chosen::InForceIsBest, Some(best), Some(against)) => format!(
            "nothing beats what is in force ({}), which does {} times the slowest ({}).{}",
            said(best),
            between(against.ratio, against.interval),
            said(&against.settings),
            as_good(answer, length)
        ),
        _ => "not known: cells are missing.".to_owned(),
    }
}

/// `1.80 (1.72 to 1.89)`.
fn between(ratio: f64, [low, high]: [f64; 2]) -> String {
    format!("{} ({} to {})", digits(ratio), digits(low), digits(high))
}

fn digits(ratio: f64) -> String {
    if ratio < 9.995 {
        format!("{ratio:.2}")
    } else {
        rate_digits(ratio)
    }
}

fn as_good(answer: &Answer, length: Length) -> String {
    let many = answer.as_good.len() as u64;
    if length == Length::Brief && many > 0 {
        return format!(
            " {} as good.",
            if many == 1 {
                "One other is".to_owned()
            } else {
                format!("{many} others are")
            }
        );
    }
    let mut named: Vec<String> = answer.as_good.iter().take(AS_GOOD).map(said).collect();
    let more = answer.as_good.len().saturating_sub(AS_GOOD) as u64;
    if more > 0 {
        named.push(format!("{more} more"));
    }
    if named.is_empty() {
        return String::new();
    }
    format!(" Not told apart from it: {}.", named.join("; "))
}

/// What makes the best settings permanent.
pub(crate) enum Permanent {
    /// They are of a simulated host.
    Simulated,
    /// Lines to type and to keep, each under what they are for, and notes.
    Lines {
        of: Vec<(&'static str, Vec<String>)>,
        notes: Vec<String>,
    },
}

/// `None` where nothing is better than what is in force, and where it is no setting of the
/// kernel.
pub(crate) fn made_permanent(
    run: &Run,
    effects: &StageEffects,
    answer: &Answer,
) -> Option<Permanent> {
    let best = answer
        .best
        .as_ref()
        .filter(|_| answer.outcome == Chosen::Better)?;
    let holds = |stage: &&diskfacts_plan::Stage| {
        stage.name == effects.stage
            && best
                .iter()
                .all(|(name, value)| stage.settings.get(name) == Some(value))
    };
    let stage = run.plan.stages.iter().find(holds)?;
    if stage.kernel.is_empty() {
        return None;
    }
    if run.target.kind == TargetKind::Simulated {
        return Some(Permanent::Simulated);
    }
    let ways = permanent::ways(&stage.kernel, &run.stack);
    let mut of = vec![
        ("At once, as root:", ways.now),
        (
            "And for good, in /etc/udev/rules.d/60-diskfacts.rules:",
            ways.udev,
        ),
        (
            "And for good, in /etc/sysctl.d/60-diskfacts.conf:",
            ways.sysctl,
        ),
    ];
    of.retain(|(_, lines)| !lines.is_empty());
    Some(Permanent::Lines {
        of,
        notes: ways.notes,
    })
}

/// What is said where nothing can be made permanent.
pub(crate) const SIMULATED: &str = "A simulated host has no files to make that permanent in.";

fn make_permanent(page: &mut Page<'_>, run: &Run, effects: &StageEffects, answer: &Answer) {
    match made_permanent(run, effects, answer) {
        None => {}
        Some(Permanent::Simulated) => page.paragraph(COLUMN, Style::Minor, SIMULATED),
        Some(Permanent::Lines { of, notes }) => {
            for (what, lines) in of {
                page.paragraph(COLUMN, Style::Plain, what);
                for line in lines {
                    page.verbatim((Style::Plain, ""), COLUMN + 2, &line);
                }
            }
            for note in notes {
                page.paragraph(COLUMN, Style::Plain, &note);
            }
        }
    }
}

fn what_each_does(page: &mut Page<'_>, effects: &StageEffects) {
    page.paragraph(0, Style::Heading, &format!("{}:", effects.stage));
    let (some, none): (Vec<&MainEffect>, Vec<&MainEffect>) = effects
        .main_effects
        .iter()
        .partition(|effect| effect.beyond_noise);
    for effect in some {
        let levels: Vec<String> = effect
            .levels
            .iter()
            .map(|level| format!("{} with {}", between(level.ratio, level.ci95), level.value))
            .collect();
        let text = format!("{}.", levels.join("; "));
        let name = format!("{}:", effect.axis);
        page.titled(COLUMN, (Style::Plain, &name), COLUMN, Style::Plain, &text);
    }
    if !none.is_empty() {
        let names: Vec<&str> = none.iter().map(|effect| effect.axis.as_str()).collect();
        let text = format!("No effect beyond noise: {}.", list(&names));
        page.paragraph(COLUMN, Style::Plain, &text);
    }
    let mut together: Vec<&Interaction> = effects
        .interactions
        .iter()
        .filter(|pair| pair.beyond_noise)
        .collect();
    let size = |pair: &&Interaction| pair.largest.ratio.ln().abs();
    together.sort_by(|a, b| size(b).total_cmp(&size(a)));
    for pair in together.iter().take(TOGETHER) {
        let [first, second] = &pair.axes;
        let [a, b] = &pair.largest.values;
        let text = format!(
            "{first} and {second} interact: {a} with {b} does {} times the product of their \
             effects.",
            between(pair.largest.ratio, pair.largest.ci95),
        );
        page.paragraph(COLUMN, Style::Plain, &text);
    }
    if together.is_empty() && !effects.interactions.is_empty() {
        let text = "No two of them interact beyond noise.";
        page.paragraph(COLUMN, Style::Plain, text);
    } else if together.len() > TOGETHER {
        let more = count((together.len() - TOGETHER) as u64, "more pair");
        page.paragraph(
            COLUMN,
            Style::Plain,
            &format!("{more}: --json has them all."),
        );
    }
    let left_out = effects
        .main_effects
        .iter()
        .any(|effect| effect.left_out > 0);
    if left_out || effects.interactions.iter().any(|pair| pair.left_out > 0) {
        let text = "Cells are missing: combinations that lack one are left out of the averages.";
        page.paragraph(COLUMN, Style::Doubtful, text);
    }
    for why in &effects.unknown {
        page.paragraph(COLUMN, Style::Doubtful, why);
    }
}
