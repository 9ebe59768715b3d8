//! Other people's crates: under which licences, from where, in how many
//! versions. The licences we accept stand in `deny.toml`, which cargo-deny
//! reads too.

mod spdx;

use super::Found;
use crate::metadata::{Metadata, Package};
use crate::project::Project;
use std::collections::BTreeMap;
use std::fs;

/// Workspaces that stand apart, each with a lock file of its own.
const APART: [&str; 1] = ["bench/runtimes/Cargo.toml"];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let file = project.root.join("deny.toml");
    let text = fs::read_to_string(&file)
        .map_err(|error| format!("reading {}: {error}", file.display()))?;
    let accepted = accepted(&text)?;
    let metadata = Metadata::read(project)?;
    let foreign: Vec<&Package> = metadata.foreign().collect();
    let mut found = Found {
        problems: judge_all(&foreign, &accepted),
        notes: in_several_versions(&foreign),
        missing: None,
    };
    for manifest in APART {
        let apart = Metadata::of_manifest(project, manifest)?;
        // It builds on crates of the project, which lie here.
        let foreign = apart
            .foreign()
            .filter(|package| {
                package.source.is_some() || !package.folder.starts_with(&project.root)
            })
            .collect::<Vec<_>>();
        let problems = judge_all(&foreign, &accepted);
        let named = problems
            .into_iter()
            .map(|problem| format!("{manifest}: {problem}"));
        found.problems.extend(named);
    }
    Ok(found)
}

fn judge_all(foreign: &[&Package], accepted: &[&str]) -> Vec<String> {
    let judged = foreign
        .iter()
        .filter_map(|package| judge(package, accepted));
    judged.collect()
}

/// The strings in the array `allow` of the table `[licenses]`, one per line.
fn accepted(deny: &str) -> Result<Vec<&str>, String> {
    let (_, table) = deny
        .split_once("\n[licenses]\n")
        .ok_or("deny.toml has no [licenses]")?;
    let (_, array) = table
        .split_once("\nallow = [\n")
        .ok_or("[licenses] in deny.toml has no allow = [ with a line for each licence")?;
    let (array, _) = array
        .split_once(']')
        .ok_or("allow in deny.toml has no end")?;
    Ok(array
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_matches([',', '"']))
        .collect())
}

fn judge(package: &Package, accepted: &[&str]) -> Option<String> {
    let name = format!("{} {}", package.name, package.version);
    match package.source.as_deref() {
        Some(source) if source.starts_with("registry+") && source.ends_with("/crates.io-index") => {
        }
        Some(source) => {
            return Some(format!(
                "{name} comes from {source}: take it from crates.io"
            ));
        }
        None => return Some(format!("{name} comes from a folder outside the workspace")),
    }
    let Some(licence) = &package.licence else {
        return Some(format!("{name} names no licence: use another crate"));
    };
    match spdx::allows(licence, &|id| accepted.contains(&id)) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} is under {licence}: use another crate, or accept the licence in deny.toml"
        )),
        Err(why) => Some(format!("{name} has the licence '{licence}': {why}")),
    }
}

/// A crate built twice costs time and size; often it cannot be helped.
fn in_several_versions(foreign: &[&Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in foreign {
        versions
            .entry(&package.name)
            .or_default()
            .push(&package.version);
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| {
            format!(
                "{name} is there {} times: {}",
                versions.len(),
                versions.join(", ")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTED: [&str; 2] = ["MIT", "Apache-2.0"];

    fn package(licence: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: "crate".to_owned(),
            version: "1.0.0".to_owned(),
            source: source.map(str::to_owned),
            licence: licence.map(str::to_owned),
            ..Package::default()
        }
    }

    const REGISTRY: Option<&str> = Some("registry+https://somewhere/crates.io-index");

    #[test]
    fn an_accepted_licence_is_fine_and_another_is_found() {
        let judged = |licence| judge(&package(licence, REGISTRY), &ACCEPTED);
        assert_eq!(judged(Some("MIT OR GPL-3.0-only")), None);
        assert!(judged(Some("GPL-3.0-only")).is_some_and(|p| p.contains("GPL")));
        assert!(judged(None).is_some_and(|p| p.contains("names no licence")));
        assert!(judged(Some("MIT OR")).is_some());
    }

    #[test]
    fn another_source_than_the_registry_is_found() {
        let judged = |source| judge(&package(Some("MIT"), source), &ACCEPTED);
        assert!(judged(Some("git+https://somewhere/crate")).is_some());
        assert!(judged(Some("registry+https://somewhere/else")).is_some());
        assert!(judged(None).is_some());
    }

    #[test]
    fn two_versions_of_one_crate_are_noted() {
        let (one, mut two) = (package(None, None), package(None, None));
        two.version = "2.0.0".to_owned();
        assert_eq!(
            in_several_versions(&[&one, &two]),
            ["crate is there 2 times: 1.0.0, 2.0.0"]
        );
        assert_eq!(in_several_versions(&[&one]), Vec::<String>::new());
    }

    #[test]
    fn the_accepted_licences_are_read_from_the_file_of_cargo_deny() {
        let text = "[graph]\n\n[licenses]\nconfidence-threshold = 0.9\nallow = [\n    \
                    # everyone's\n    \"MIT\", # again\n    \"ISC\",\n]\n\n[bans]\n";
        assert_eq!(accepted(text), Ok(vec!["MIT", "ISC"]));
        assert!(accepted("[bans]\n").is_err());
    }
}
