//! The list of simulated disks, and what was filled in for one of them.

use super::look::{Look, Style};
use super::page::Page;
use super::words::count;
use super::wrap::columns;
use diskfacts_disk::profile::{Drive, Filled, Profile, RaidParameters};
use diskfacts_disk::reproduce::seed_of;
use diskfacts_plan::units::show_size;

/// Each profile with what it stands for, what it is, and the seed that
/// measured it.
pub fn profiles(profiles: &[Profile], look: &Look) -> String {
    let mut page = Page::new(look);
    let longest = profiles.iter().map(|profile| columns(&profile.name));
    let column = longest.max().unwrap_or(0).min(look.columns() / 3) + 2;
    for profile in profiles {
        page.labelled(
            0,
            (Style::Heading, &profile.name),
            column,
            Style::Plain,
            &profile.about,
        );
        page.paragraph(column, Style::Minor, &kind(profile));
    }
    page.finish()
}

/// What a profile is, in a line.
fn kind(profile: &Profile) -> String {
    let (drive, drives) = match &profile.drive {
        Drive::Hdd(hdd) => {
            let rpm = 60e9 / hdd.revolution_ns as f64;
            (format!("hard disk at {rpm:.0} rpm"), "hard disks")
        }
        Drive::Ssd(ssd) => {
            let dies = ssd.channels * ssd.dies_per_channel;
            (
                format!("flash drive of {}", count(dies, "die")),
                "flash drives",
            )
        }
    };
    let what = match profile.raid {
        None => drive,
        Some(RaidParameters { level, members, .. }) => {
            format!("RAID-{} of {members} {drives}", level.number())
        }
    };
    let mut words = vec![what, format!(", {}", show_size(profile.capacity()))];
    if profile.network.is_some() {
        words.push(", behind a network".to_owned());
    }
    if profile.host.is_some() {
        words.push(", below a host".to_owned());
    }
    if let Some(seed) = seed_of(&profile.name) {
        words.push(format!("; seed {seed:03}"));
    }
    words.concat()
}

/// What a checked profile is, and what was taken for the keys that it leaves
/// out: lines of TOML comments, to stand below its text.
pub fn filled(profile: &Profile, filled: &[Filled], look: &Look) -> String {
    let narrow = Look {
        width: look.columns() - 2,
        ..*look
    };
    let mut page = Page::new(&narrow);
    page.paragraph(0, Style::Plain, &format!("Checked: {}.", kind(profile)));
    if filled.is_empty() {
        page.paragraph(0, Style::Plain, "Every key is given.");
    } else {
        page.paragraph(
            0,
            Style::Plain,
            "Not given, and taken as if these lines stood in their tables:",
        );
    }
    for Filled { table, key, value } in filled {
        page.line(&format!("{table} {key} = {value}"));
    }
    let text = page.finish();
    let lines = text.lines().map(|line| format!("# {line}\n"));
    lines.collect::<Vec<_>>().concat()
}
