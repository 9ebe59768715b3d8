//! Flash that is no faster than disks: the figure is not one of the flash.
//!
//! A page of flash is read in 0.02 to 0.1 ms (Grupp et al., "Characterizing Flash
//! Memory: Anomalies, Observations, and Applications", MICRO-42, 2009), and nothing
//! moves to get there, so even one operation at a time makes thousands a second. A
//! volume that is called flash and does some hundreds, as one of disks beside it
//! does, is held back by something that both share: the way to it, the filesystem,
//! one process that waits for each operation.

use crate::advise::{Advised, Dimension, Measured, Ratio, Test, advise, names_flash};
use crate::rules::prelude::*;
use crate::rules::{Part, Shared};
use crate::words::lines;

pub(super) const RULE: Rule = Rule {
    name: "flash-like-disks",
    needs: &[Document],
    confidence: Confidence::Likely,
    check: Check::Beside(check),
    ..Rule::WARNING
};

/// Operations per second that flash does at the least, one at a time: ten times as
/// slow as the slowest page.
const FLASH_MIN: f64 = 1000.0;
/// How much faster than disks flash may seem and still be like them.
const ALIKE: f64 = 1.5;
/// How near two rates are that are told as near.
const NEAR: f64 = 0.1;
/// How much another program must have got out of the same flash to be told.
const MORE: f64 = 1.2;

fn check(part: &Part<'_, '_>) -> Vec<Shared> {
    if !part.run().stages.iter().any(is_flash) {
        return Vec::new();
    }
    let Ok(advice) = advise(std::slice::from_ref(part.run().run), None) else {
        return Vec::new();
    };
    let found = advice.groups.iter().flat_map(|advised| {
        let options = &advised.group.options;
        let flash = (0..options.len()).filter(|i| options[*i].flash == Some(true));
        let flash: Vec<usize> = flash.collect();
        // With two volumes of flash it is not known which another program means.
        let alone = flash.len() == 1;
        flash.into_iter().filter_map(move |option| {
            let mut finding = finding(advised, option)?;
            let elsewhere = alone.then(|| elsewhere(part, advised, option)).flatten();
            let (others, said): (Vec<usize>, Vec<String>) = elsewhere.into_iter().unzip();
            finding.evidence.extend(said);
            Some((finding, others))
        })
    });
    found.collect()
}

fn is_flash(stage: &Stage<'_>) -> bool {
    stage.settings.values().any(|value| names_flash(value))
}

/// The finding on one option that is called flash, against the one of the others that
/// seeks fastest.
fn finding(advised: &Advised, flash: usize) -> Option<Found> {
    let group = &advised.group;
    let mut tests = group.tests.iter();
    let seeks = tests.find(|test| test.dimension == Dimension::Seeks)?;
    let of_flash = seeks.measured[flash].as_ref()?;
    let (disk, of_disk) = fastest(seeks, |option| group.options[option].flash.is_none())?;
    let times = Ratio::of(of_flash, of_disk);
    if of_flash.value >= FLASH_MIN || times.value > ALIKE {
        return None;
    }
    let [name, rival] = [flash, disk].map(|option| group.options[option].name.as_str());
    let [said, rivals] = [(flash, of_flash), (disk, of_disk)].map(|(option, measured)| {
        let rate = rate_digits(measured.value);
        format!("{rate}/s{}", in_lines(&seeks.lines[option]))
    });
    let mut evidence = vec![format!(
        "{}: {name} {said}, {rival} {rivals}; {} for each operation, where a page of flash takes \
         less than 100 us.",
        seeks.stage,
        show_duration((1e9 / of_flash.value) as u64),
    )];
    evidence.extend(streams_alike(advised, flash, disk));
    evidence.extend(more_is_possible(advised, flash, disk));
    let tests = [seeks].into_iter().chain(streams(advised));
    let stages = names(tests.map(|test| test.stage.as_str()));
    Some(
        RULE.claim(format!(
            "The figures of {name} are not those of flash: it seeks {} times as often as {rival}, \
             so what they share, and not their drives, limits both.",
            ratio(times.value)
        ))
        .headline("flash no faster than disks: something else limits both")
        .refuted_by(format!(
            "{name} is no flash; or it does no more than this with direct I/O, 32 operations in \
             flight, on the device itself."
        ))
        .remedy(format!(
            "Do not judge {name} by these figures. Measure the device without the filesystem: \
             `diskfacts measure /dev/md0 --stage random-read-qd32 --stage sequential-read`, with \
             the name of the device; if it is fast there, look at the link, the read-ahead \
             (`blockdev --getra`) and the filesystem."
        ))
        .stages(stages)
        .evidence(evidence),
    )
}

/// The option of these with the largest value.
fn fastest(test: &Test, of: impl Fn(usize) -> bool) -> Option<(usize, &Measured)> {
    let options = test.measured.iter().enumerate();
    options
        .filter(|(option, _)| of(*option))
        .filter_map(|(option, measured)| Some((option, measured.as_ref()?)))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
}

/// The sequential tests.
fn streams(advised: &Advised) -> impl Iterator<Item = &Test> {
    let tests = advised.group.tests.iter();
    tests.filter(|test| {
        matches!(
            test.dimension,
            Dimension::SequentialRead | Dimension::SequentialWrite | Dimension::Rewrite
        )
    })
}

/// In how many of the sequential tests both are near each other.
fn streams_alike(advised: &Advised, flash: usize, disk: usize) -> Option<String> {
    let both: Vec<(&Test, f64, f64)> = streams(advised)
        .filter_map(|test| {
            let [one, other] = [flash, disk].map(|option| test.measured[option].as_ref());
            Some((test, one?.value, other?.value))
        })
        .collect();
    let near = both.iter().filter(|(_, a, b)| (a / b - 1.0).abs() <= NEAR);
    let near = near.count();
    let said = both.iter().map(|(test, one, other)| {
        let [one, other] = [one, other].map(|rate| rate_digits(rate / 1e6));
        format!("{} {one} against {other} MB/s", test.stage)
    });
    (near > 0).then(|| {
        format!(
            "In order they are within {} of each other in {near} of {} tests: {}.",
            percent(NEAR),
            both.len(),
            list(said)
        )
    })
}

/// That another volume got more through the same computer.
fn more_is_possible(advised: &Advised, flash: usize, disk: usize) -> Option<String> {
    streams(advised).find_map(|test| {
        let of_flash = test.measured[flash].as_ref()?;
        let (best, most) = fastest(test, |option| option != flash && option != disk)?;
        (most.value > ALIKE * of_flash.value).then(|| {
            format!(
                "{} of {} does {} MB/s{}: processor, memory and bus of this computer give that \
                 much.",
                test.stage,
                advised.group.options[best].name,
                rate_digits(most.value / 1e6),
                in_lines(&test.lines[best]),
            )
        })
    })
}

/// What another program of the document got out of the same flash by sequential reads.
fn elsewhere(part: &Part<'_, '_>, advised: &Advised, flash: usize) -> Option<(usize, String)> {
    let is_read = |dimension| dimension == Dimension::SequentialRead;
    let read = streams(advised).find(|test| is_read(test.dimension))?;
    let here = read.measured[flash].as_ref()?.value;
    part.others().find_map(|(other, context)| {
        let mut named = context.each().filter(|(stage, _)| {
            Dimension::measured_by(stage).is_some_and(is_read) && is_flash(stage)
        });
        let ((stage, figures), None) = (named.next()?, named.next()) else {
            return None;
        };
        let there = figures.throughput_bytes_per_s.median;
        let said = format!(
            "{} reads {} MB/s from it ({}), {} times what {} does: the drives can do more.",
            stage.label(),
            rate_digits(there / 1e6),
            lines(stage.lines()),
            ratio(there / here),
            read.stage
        );
        (there > MORE * here).then_some((other, said))
    })
}
