//! Volumes that are each best at something else.

use crate::advise::{Advised, Dimension, Ranking, advise, firsts, show};
use crate::rules::prelude::*;
use crate::words::lines_behind;

pub(super) const RULE: Rule = Rule {
    name: "volume-choice",
    needs: &[Document],
    check: Check::Several(check),
    ..Rule::NOTE
};

/// Settings that name a volume.
const VOLUMES: [&str; 4] = ["machine", "volume", "layout", "target"];

fn check(context: &Context<'_>) -> Vec<Found> {
    let is_volume = |key: &String| VOLUMES.contains(&key.as_str());
    let mut keys = context.stages.iter().flat_map(|s| s.settings.keys());
    if !keys.any(is_volume) {
        return Vec::new();
    }
    let Ok(advice) = advise(std::slice::from_ref(context.run), None) else {
        return Vec::new();
    };
    let of_volumes = advice.groups.iter().filter(|advised| {
        let mut options = advised.group.options.iter();
        options.all(|option| option.settings.keys().all(is_volume))
    });
    of_volumes
        .filter_map(|advised| finding(context, advised))
        .collect()
}

fn finding(context: &Context<'_>, advised: &Advised) -> Option<Found> {
    let options = &advised.group.options;
    let told: Vec<&(Dimension, Ranking)> = advised
        .dimensions
        .iter()
        // A cost of the others, and none of its own.
        .filter(|(dimension, _)| *dimension != Dimension::Cpu)
        .filter(|(_, ranking)| firsts(ranking).len() < ranking.ranked.len())
        .collect();
    // Which options share the first place, and in which dimensions.
    let mut best: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
    for (dimension, ranking) in &told {
        let mut first: Vec<usize> = firsts(ranking).iter().map(|ranked| ranked.option).collect();
        first.sort_unstable();
        join(&mut best, first, dimension.name());
    }
    let always_first = |option: usize| best.iter().all(|(first, _)| first.contains(&option));
    if best.len() < 2 || (0..options.len()).any(always_first) {
        return None;
    }
    let said = best.iter().map(|(first, dimensions)| {
        let names = first.iter().map(|i| &options[*i].name);
        format!("{} for {}", list(names), list(dimensions))
    });
    let tests = advised.group.tests.iter();
    let stages = tests.filter(|test| told.iter().any(|(d, _)| *d == test.dimension));
    let evidence = told
        .iter()
        .filter_map(|(dimension, ranking)| sentence(advised, *dimension, ranking));
    Some(
        RULE.claim(format!(
            "None of {} volumes is the best at all of this: {}.",
            options.len(),
            said.collect::<Vec<_>>().join("; ")
        ))
        .headline("no volume is the best at everything")
        .remedy(format!(
            "Take the volume by what it is for; `diskfacts advise {} --weights \
             seq-read=1,seeks=1` ranks them for a mix of yours.",
            context.run.run.id
        ))
        .stages(names(stages.map(|test| test.stage.as_str())))
        .evidence(evidence),
    )
}

/// `seq-read: Raid6 620.7 MB/s (612.8 to 628.6; lines 38 and 39), Raid10 ...`
fn sentence(advised: &Advised, dimension: Dimension, ranking: &Ranking) -> Option<String> {
    let group = &advised.group;
    let mut tests = group.tests.iter();
    let test = tests.find(|test| test.dimension == dimension)?;
    let parts = ranking.ranked.iter().filter_map(|ranked| {
        let measured = test.measured[ranked.option].as_ref()?;
        let [value, low, high] =
            [measured.value, measured.low, measured.high].map(|v| show(v, test.unit));
        let name = &group.options[ranked.option].name;
        let lines = lines_behind("; ", &test.lines[ranked.option]);
        Some(format!("{name} {value} ({low} to {high}{lines})"))
    });
    Some(format!("{dimension} ({}): {}.", test.stage, list(parts)))
}
