//! What was measured, what it is good for, and how much of the figures can be trusted.

use super::super::heading;
use super::super::look::Style;
use super::super::marks::{Marks, is_doubt};
use super::super::page::Page;
use super::super::words::{add_once, count, list};
use diskfacts_record::{Finding, Outcome, Run, TargetKind, Verdict};

/// Where the values of the rows begin.
const COLUMN: usize = 10;
/// Doubtful stages that are named one by one; of more the rows say which.
const NAMED: usize = 3;
const TOO_FEW_TRIALS: &str = "too few trials";

pub(super) fn write(page: &mut Page<'_>, run: &Run, marks: &Marks<'_>) {
    page.paragraph(0, Style::Heading, &measured(run));
    for leaf in heading::leaves(run) {
        page.paragraph(2, Style::Plain, &leaf);
    }
    for (style, label, uses) in judged(run, marks) {
        page.labelled(0, (style, label), COLUMN, Style::Plain, &uses);
    }
    for (i, answer) in run.findings.iter().enumerate() {
        if is_answer(answer) {
            let text = format!("{} [{}]", answer.headline, i + 1);
            page.labelled(0, (Style::Good, "Best"), COLUMN, Style::Plain, &text);
        }
    }
    if let Some((style, trust)) = trust(run, marks) {
        page.labelled(0, (style, "Trust"), COLUMN, Style::Plain, &trust);
    }
}

/// Whether a finding is what the plan was measured for: which of the ways to write to choose.
pub(crate) fn is_answer(finding: &Finding) -> bool {
    finding.rule == "write-choice" && !finding.headline.is_empty()
}

/// The target, with what lies under it.
pub(crate) fn measured(run: &Run) -> String {
    match (&run.run.source, run.target.kind) {
        (Some(source), _) => format!("Imported: {}", heading::source(source)),
        (None, TargetKind::Simulated | TargetKind::Stream | TargetKind::Imported) => {
            heading::target(run)
        }
        (None, TargetKind::Folder | TargetKind::File | TargetKind::Device | TargetKind::Loop) => {
            format!("{}: {}", run.target.given, heading::stack(&run.stack))
        }
    }
}

/// Whether the plan measures nothing that any use needs, and no use was asked for: then all are
/// unknown, and nobody wants to know.
fn is_of_no_use(run: &Run) -> bool {
    let mut names: Vec<&str> = Vec::new();
    for verdict in &run.verdicts {
        add_once(&mut names, verdict.profile.as_str());
    }
    names.len() == diskfacts_facts::uses().len()
        && run
            .verdicts
            .iter()
            .filter_map(|verdict| verdict.stage.as_deref())
            .all(|stage| !is_measured(run, stage))
}

fn is_measured(run: &Run, stage: &str) -> bool {
    run.figures.iter().any(|figures| figures.stage == stage)
}

/// The uses by what they come to, those that it is good for first.
pub(crate) fn judged(
    run: &Run,
    marks: &Marks<'_>,
) -> impl Iterator<Item = (Style, &'static str, String)> {
    [
        ("Good for", Style::Good, Outcome::Pass),
        ("Marginal", Style::Doubtful, Outcome::Close),
        ("Not for", Style::Bad, Outcome::Fail),
        ("Unknown", Style::Plain, Outcome::Unmeasured),
    ]
    .into_iter()
    .filter(|(.., outcome)| *outcome != Outcome::Unmeasured || !is_of_no_use(run))
    .map(|(label, style, outcome)| (style, label, uses(run, outcome, marks).join("; ")))
    .filter(|(.., uses)| !uses.is_empty())
}

/// What a use comes to: one requirement that is missed decides, then one that is close, then
/// one that is not known.
fn outcome(verdicts: &[&Verdict]) -> Outcome {
    let has = |outcome| verdicts.iter().any(|verdict| verdict.outcome == outcome);
    let worst = [Outcome::Fail, Outcome::Close, Outcome::Unmeasured];
    worst
        .into_iter()
        .find(|outcome| has(*outcome))
        .unwrap_or(Outcome::Pass)
}

/// The uses of one outcome; those that are decided by the same figure together, with it:
/// `kafka, video (sequential-write 86 < 262, 221 MB/s)`. Of what is good the doubts are named.
fn uses(run: &Run, wanted: Outcome, marks: &Marks<'_>) -> Vec<String> {
    // Where all have, that is said of all.
    let all_have = run
        .figures
        .iter()
        .all(|figures| marks.has_too_few_trials(figures));
    let has_too_few = |stage: &str| {
        let mut figures = run.figures.iter();
        !all_have
            && figures.any(|figures| figures.stage == stage && marks.has_too_few_trials(figures))
    };
    let said = |verdict: &Verdict, stage: &str| match wanted {
        Outcome::Unmeasured => format!("{stage}: {}", why_unknown(run, verdict, stage)),
        // What is good is so by all of its stages: those are named that may not hold it.
        Outcome::Pass if has_too_few(stage) => format!("too few trials of {stage}"),
        Outcome::Pass => match doubts_of(run, stage).as_slice() {
            [] => String::new(),
            numbers => format!("see {}", list(numbers)),
        },
        Outcome::Close | Outcome::Fail => {
            let (figure, _) = apart(&verdict.in_short);
            format!("{stage} {figure}").trim_end().to_owned()
        }
    };
    // Uses of which no stage was measured that they wait for, and these.
    let (mut waiting, mut left_out): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut names: Vec<&str> = Vec::new();
    for verdict in &run.verdicts {
        add_once(&mut names, verdict.profile.as_str());
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for name in names {
        let of_use = run
            .verdicts
            .iter()
            .filter(|verdict| verdict.profile == name);
        let of_use: Vec<&Verdict> = of_use.collect();
        if outcome(&of_use) != wanted {
            continue;
        }
        let mut stages: Vec<String> = Vec::new();
        let deciding = of_use.iter().filter(|verdict| verdict.outcome == wanted);
        let deciding = deciding.filter_map(|verdict| Some((verdict, verdict.stage.as_deref()?)));
        let mut told: Vec<&str> = Vec::new();
        let mut limit = "";
        for (verdict, stage) in deciding {
            if !told.contains(&stage) {
                add_once(&mut stages, said(verdict, stage));
                told.push(stage);
            }
            // By how much one requirement is missed is enough to know that it is.
            if matches!(wanted, Outcome::Close | Outcome::Fail) {
                (_, limit) = apart(&verdict.in_short);
                break;
            }
        }
        if wanted == Outcome::Unmeasured && !told.iter().any(|stage| is_measured(run, stage)) {
            waiting.push(name);
            for stage in told {
                add_once(&mut left_out, stage);
            }
            continue;
        }
        stages.retain(|why| !why.is_empty());
        match groups.iter_mut().find(|group| group.stages == stages) {
            Some(group) => {
                group.names.push(name);
                add_once(&mut group.limits, limit);
            }
            None => groups.push(Group {
                stages,
                limits: vec![limit],
                names: vec![name],
            }),
        }
    }
    let waiting = (!waiting.is_empty()).then(|| {
        let (uses, stages) = (waiting.join(", "), left_out.join(", "));
        format!("{uses} (not measured: {stages})")
    });
    let said = groups.iter().map(Group::said);
    said.chain(waiting).collect()
}

/// Uses that are decided by the same.
struct Group<'a> {
    /// The stages, with the figure of one that is missed, or what is doubtful of them.
    stages: Vec<String>,
    /// What each use needs of that figure, with the unit.
    limits: Vec<&'a str>,
    names: Vec<&'a str>,
}

impl Group<'_> {
    fn said(&self) -> String {
        let names = self.names.join(", ");
        if self.stages.is_empty() {
            return names;
        }
        // The unit once, where it is one.
        let unit = |limit: &str| limit.split_once(' ').map(|(_, unit)| unit.to_owned());
        let (last, others) = self
            .limits
            .split_last()
            .map_or(("", &[][..]), |(last, others)| (*last, others));
        let others = others.iter().map(|limit| match limit.split_once(' ') {
            Some((number, _)) if unit(limit) == unit(last) => number,
            _ => limit,
        });
        let limits: Vec<&str> = others.chain([last]).collect();
        let why = format!("{} {}", self.stages.join(", "), limits.join(", "));
        format!("{names} ({})", why.trim_end())
    }
}

/// `86 <` and `262 MB/s` of `86 < 262 MB/s`.
fn apart(in_short: &str) -> (&str, &str) {
    let signs = [" < ", " > ", " ~ "];
    let found = signs
        .iter()
        .find_map(|sign| in_short.rfind(sign).map(|at| at + sign.len()));
    let (figure, limit) = in_short.split_at(found.unwrap_or(in_short.len()));
    (figure.trim_end(), limit)
}

/// Why a requirement could not be judged, in few words.
fn why_unknown(run: &Run, verdict: &Verdict, stage: &str) -> String {
    if !is_measured(run, stage) {
        return "not measured".to_owned();
    }
    let numbers = doubts_of(run, stage);
    match (&verdict.measured, numbers.is_empty()) {
        (None, _) => "too few operations".to_owned(),
        (Some(_), false) => format!("see {}", list(&numbers)),
        (Some(_), true) => "not certain".to_owned(),
    }
}

/// The numbers of the doubts about a stage.
fn doubts_of(run: &Run, stage: &str) -> Vec<String> {
    let numbered = run.findings.iter().enumerate();
    let about = numbered.filter(|(_, finding)| {
        is_doubt(finding) && finding.stages.iter().any(|named| named == stage)
    });
    about.map(|(i, _)| (i + 1).to_string()).collect()
}

/// Of how many stages nothing says that they do not mean what they seem to mean.
pub(crate) fn trust(run: &Run, marks: &Marks<'_>) -> Option<(Style, String)> {
    let mut stages: Vec<&str> = Vec::new();
    let mut too_few: Vec<&str> = Vec::new();
    for figures in &run.figures {
        add_once(&mut stages, figures.stage.as_str());
        if marks.has_too_few_trials(figures) {
            add_once(&mut too_few, figures.stage.as_str());
        }
    }
    if stages.is_empty() {
        return None;
    }
    let numbered = run.findings.iter().enumerate();
    let doubts: Vec<_> = numbered.filter(|(_, finding)| is_doubt(finding)).collect();
    let of_all: Vec<String> = doubts
        .iter()
        .filter(|(_, finding)| finding.stages.is_empty())
        .map(|(i, _)| (i + 1).to_string())
        .collect();
    if !of_all.is_empty() {
        let text = format!("none of the figures without a look at {}", list(&of_all));
        return Some((Style::Bad, text));
    }
    // Those with the same reason together.
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for stage in &stages {
        let numbers = doubts_of(run, stage);
        let why = match (too_few.contains(stage), numbers.is_empty()) {
            (true, _) => TOO_FEW_TRIALS.to_owned(),
            (false, true) => continue,
            (false, false) => format!("see {}", list(&numbers)),
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, named)) => named.push(stage),
            None => reasons.push((why, vec![stage])),
        }
    }
    let few = reasons.iter().map(|(_, named)| named.len()).sum::<usize>();
    let doubtful = reasons
        .iter()
        .map(|(why, named)| format!("{} ({why})", named.join(", ")));
    let doubtful: Vec<String> = doubtful.collect();
    let doubtful = doubtful.join("; ");
    let all = count(stages.len() as u64, "stage");
    Some(match (few, stages.len()) {
        (0, 1) => (Style::Good, "no warnings".to_owned()),
        (0, _) => (Style::Good, format!("all {all}")),
        (few, of) if few == of => {
            let why = match reasons.as_slice() {
                [(why, _)] => format!(": {why}"),
                _ if of <= NAMED => format!(": {doubtful}"),
                _ => String::new(),
            };
            (Style::Bad, format!("no stage{why}"))
        }
        (few, of) if few <= NAMED => (
            Style::Doubtful,
            format!("{} of {all}; not {doubtful}", of - few),
        ),
        (few, of) => (
            Style::Doubtful,
            format!("{} of {all}; not those with a !", of - few),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_that_miss_by_the_same_figure_stand_together() {
        assert_eq!(apart("86 < 262 MB/s"), ("86 <", "262 MB/s"));
        assert_eq!(apart(""), ("", ""));
        let group = |limits| Group {
            stages: vec!["log-write p99 12 ms >".into()],
            limits,
            names: vec!["etcd", "db"],
        };
        let said = group(vec!["10 ms", "5 ms"]).said();
        assert_eq!(said, "etcd, db (log-write p99 12 ms > 10, 5 ms)");
        let said = group(vec!["10 ms", "500 us"]).said();
        assert_eq!(said, "etcd, db (log-write p99 12 ms > 10 ms, 500 us)");
    }
}
