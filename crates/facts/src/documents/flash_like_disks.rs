//! Flash that is no faster than disks: the figure is not one of the flash.
//!
//! A page of flash is read in 0.02 to 0.1 ms (Grupp et al., "Characterizing Flash
//! Memory: Anomalies, Observations, and Applications", MICRO-42, 2009), and nothing
//! moves to get there, so even one operation at a time makes thousands a second. A
//! volume that is called flash and does some hundreds, as one of disks beside it
//! does, is held back by something that both share: the way to it, the filesystem,
//! one process that waits for each operation.

use super::{Part, Shared};
use crate::advise::{Advised, Dimension, Ratio, Test, advise, names_flash};
use crate::rules::names;
use crate::words::{lines, list, percent, ratio};
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "flash-like-disks";

/// Operations per second that flash does at the least, one at a time: ten times as
/// slow as the slowest page.
const FLASH_MIN: f64 = 1000.0;
/// How much faster than disks flash may seem and still be like them.
const ALIKE: f64 = 1.5;
/// How near two rates are that are told as near.
const NEAR: f64 = 0.1;
/// How much another program must have got out of the same flash to be told.
const MORE: f64 = 1.2;

pub(super) fn slow_flash(part: &Part<'_, '_>) -> Vec<Shared> {
    let mut stages = part.run.stages.iter();
    if !stages.any(|stage| stage.settings.values().any(|value| names_flash(value))) {
        return Vec::new();
    }
    let Ok(advice) = advise(std::slice::from_ref(part.run.run), None) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for advised in &advice.groups {
        let options = advised.group.options.iter().enumerate();
        let flash = options.filter(|(_, option)| option.flash == Some(true));
        for (option, _) in flash {
            if let Some(mut finding) = alike(advised, option) {
                let mut others = Vec::new();
                if let Some((other, said)) = elsewhere(part, advised, option) {
                    finding.evidence.push(said);
                    others.push(other);
                }
                found.push((finding, others));
            }
        }
    }
    found
}

/// The finding on one option that is called flash, against the one of the others that
/// seeks fastest.
fn alike(advised: &Advised, flash: usize) -> Option<Finding> {
    let group = &advised.group;
    let seeks = group
        .tests
        .iter()
        .find(|test| test.dimension == Dimension::Seeks)?;
    let of_flash = seeks.measured[flash].as_ref()?;
    let (disk, of_disk) = seeks
        .measured
        .iter()
        .enumerate()
        .filter(|(option, _)| group.options[*option].flash.is_none())
        .filter_map(|(option, measured)| Some((option, measured.as_ref()?)))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let times = Ratio::of(of_flash, of_disk);
    if of_flash.value >= FLASH_MIN || times.value > ALIKE {
        return None;
    }
    let [name, rival] = [flash, disk].map(|option| group.options[option].name.as_str());
    let each_ns = (1e9 / of_flash.value) as u64;
    let mut evidence = vec![format!(
        "{}: {name} {}/s{}, {rival} {}/s{}; {} for each operation, where a page of flash takes \
         less than 100 us.",
        seeks.stage,
        rate_digits(of_flash.value),
        at(seeks, flash),
        rate_digits(of_disk.value),
        at(seeks, disk),
        show_duration(each_ns),
    )];
    evidence.extend(in_order(advised, flash, disk));
    evidence.extend(more_is_possible(advised, flash, disk));
    let mut stages = vec![seeks.stage.as_str()];
    stages.extend(streams(advised).map(|test| test.stage.as_str()));
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "The figures of {name} are not those of flash: it seeks {} times as often as {rival}, \
             so what they share, and not their drives, limits both.",
            ratio(times.value)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: format!(
            "{name} is no flash; or it does no more than this with direct I/O, 32 operations in \
             flight, on the device itself."
        ),
        remedy: format!(
            "Do not judge {name} by these figures. Measure the device without the filesystem: \
             `diskfacts measure /dev/md0 --stage random-read-qd32 --stage sequential-read`, with \
             the name of the device; if it is fast there, look at the link, the read-ahead \
             (`blockdev --getra`) and the filesystem."
        ),
        stages: names(stages),
    })
}

fn at(test: &Test, option: usize) -> String {
    let numbers = &test.lines[option];
    if numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", lines(numbers))
    }
}

/// The tests in order.
fn streams(advised: &Advised) -> impl Iterator<Item = &Test> {
    let tests = advised.group.tests.iter();
    tests.filter(|test| {
        matches!(
            test.dimension,
            Dimension::SequentialRead | Dimension::SequentialWrite | Dimension::Rewrite
        )
    })
}

/// How near both are in order.
fn in_order(advised: &Advised, flash: usize, disk: usize) -> Option<String> {
    let mut near = 0;
    let mut said = Vec::new();
    for test in streams(advised) {
        if let (Some(one), Some(other)) = (&test.measured[flash], &test.measured[disk]) {
            let times = one.value / other.value;
            near += usize::from((times - 1.0).abs() <= NEAR);
            said.push(format!(
                "{} {} against {} MB/s",
                test.stage,
                rate_digits(one.value / 1e6),
                rate_digits(other.value / 1e6)
            ));
        }
    }
    (near > 0).then(|| {
        format!(
            "In order they are within {} of each other in {near} of {} tests: {}.",
            percent(NEAR),
            said.len(),
            list(&said)
        )
    })
}

/// That another volume got more through the same computer.
fn more_is_possible(advised: &Advised, flash: usize, disk: usize) -> Option<String> {
    streams(advised).find_map(|test| {
        let of_flash = test.measured[flash].as_ref()?;
        let others = test.measured.iter().enumerate();
        let (best, most) = others
            .filter(|(option, _)| *option != flash && *option != disk)
            .filter_map(|(option, measured)| Some((option, measured.as_ref()?)))
            .max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
        (most.value > ALIKE * of_flash.value).then(|| {
            format!(
                "{} of {} does {} MB/s{}: processor, memory and bus of this computer give that \
                 much.",
                test.stage,
                advised.group.options[best].name,
                rate_digits(most.value / 1e6),
                at(test, best),
            )
        })
    })
}

/// What another program of the document got out of the same flash, reading in order.
fn elsewhere(part: &Part<'_, '_>, advised: &Advised, flash: usize) -> Option<(usize, String)> {
    // With two volumes of flash it is not known which is meant.
    let options = advised.group.options.iter();
    if options.filter(|option| option.flash.is_some()).count() > 1 {
        return None;
    }
    let read = streams(advised).find(|test| test.dimension == Dimension::SequentialRead)?;
    let here = read.measured[flash].as_ref()?;
    for (other, context) in part.others() {
        let mut named = context.each().filter(|(stage, _)| {
            Dimension::measured_by(stage) == Some(Dimension::SequentialRead)
                && stage.settings.values().any(|value| names_flash(value))
        });
        let (Some((stage, figures)), None) = (named.next(), named.next()) else {
            continue;
        };
        let there = figures.throughput_bytes_per_s.median;
        if there > MORE * here.value {
            let numbers: Vec<u64> = stage.trials.iter().filter_map(|t| t.line).collect();
            return Some((
                other,
                format!(
                    "{} reads {} MB/s from it ({}), {} times what {} does: the drives can do more.",
                    stage.label(),
                    rate_digits(there / 1e6),
                    lines(&numbers),
                    ratio(there / here.value),
                    read.stage
                ),
            ));
        }
    }
    None
}
