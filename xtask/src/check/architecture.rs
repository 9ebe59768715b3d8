//! Which of our crates may know which, as ARCHITECTURE.md draws it.

use super::Found;
use crate::metadata::{Metadata, Package};
use crate::project::{Project, output};

/// Every package of the workspace, and those of ours that it may depend on.
/// Tests may use any: that is how a disk is held against an engine.
const MAY_KNOW: [(&str, &[&str]); 19] = [
    ("directio", &[]),
    ("diskfacts-plan", &[]),
    ("diskfacts-record", &["diskfacts-plan"]),
    ("diskfacts-disk", &["diskfacts-plan"]),
    (
        "diskfacts-engine",
        &[
            "directio",
            "diskfacts-plan",
            "diskfacts-record",
            "diskfacts-disk",
        ],
    ),
    ("diskfacts-host", &["directio", "diskfacts-record"]),
    ("diskfacts-facts", &["diskfacts-record", "diskfacts-plan"]),
    ("diskfacts-store", &["diskfacts-record", "diskfacts-plan"]),
    (
        "diskfacts-fleet",
        &["diskfacts-record", "diskfacts-plan", "diskfacts-facts"],
    ),
    ("diskfacts-serve", &[]),
    ("diskfacts-gang", &[]),
    (
        "diskfacts-report",
        &[
            "diskfacts-record",
            "diskfacts-facts",
            "diskfacts-plan",
            "diskfacts-disk",
        ],
    ),
    (
        "diskfacts",
        &[
            "directio",
            "diskfacts-plan",
            "diskfacts-record",
            "diskfacts-disk",
            "diskfacts-engine",
            "diskfacts-host",
            "diskfacts-facts",
            "diskfacts-store",
            "diskfacts-fleet",
            "diskfacts-report",
            "diskfacts-serve",
            "diskfacts-gang",
        ],
    ),
    // The native half of the npm package.
    ("diskfacts-node", &["directio"]),
    // Nobody ships these; the tests of all crates use the first.
    ("diskfacts-testkit", &[]),
    ("diskfacts-bench", &["diskfacts-plan"]),
    // It knows the program from outside only.
    ("diskfacts-lab", &[]),
    ("diskfacts-fuzz-targets", FUZZED),
    ("xtask", &[]),
];

/// The crates that have parsers, and that whose statistics take what the files of a fleet hold.
const FUZZED: &[&str] = &[
    "directio",
    "diskfacts-plan",
    "diskfacts-record",
    "diskfacts-disk",
    "diskfacts-engine",
    "diskfacts-facts",
    "diskfacts-fleet",
    "diskfacts-gang",
    "diskfacts-host",
    "diskfacts-store",
    "diskfacts-report",
];

/// Crates without files, clock and environment.
const PURE: [&str; 4] = [
    "diskfacts-plan",
    "diskfacts-record",
    "diskfacts-disk",
    "diskfacts-facts",
];

/// What reaches the system: no dependency of a pure crate.
const IMPURE: [&str; 12] = [
    "chrono",
    "fastrand",
    "getrandom",
    "io-uring",
    "jiff",
    "libc",
    "nix",
    "procfs",
    "rand",
    "rustix",
    "tempfile",
    "windows-sys",
];

pub(super) fn check(project: &Project) -> Result<Found, String> {
    let metadata = Metadata::read(project)?;
    let mut problems = judge(&metadata);
    problems.extend(judge_plain(&tree_of_program(project)?));
    Ok(Found {
        problems,
        ..Found::default()
    })
}

/// What only the program's feature `fleet` may bring.
const OF_FLEET: [&str; 2] = ["diskfacts-fleet", "parquet"];

/// All packages that the program without features is built from, a line each.
fn tree_of_program(project: &Project) -> Result<String, String> {
    let arguments = [
        "tree",
        "--locked",
        "--package",
        "diskfacts",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    output(&mut project.cargo(&arguments))
}

/// A program without features has not one package of those that a feature brings.
fn judge_plain(tree: &str) -> Vec<String> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let found = names.filter(|name| OF_FLEET.contains(name));
    let problem = |name| {
        format!(
            "a diskfacts without features is built with {name}: only the feature fleet may bring it"
        )
    };
    found.map(problem).collect()
}

fn judge(metadata: &Metadata) -> Vec<String> {
    let ours: Vec<&str> = metadata.ours().map(|package| &*package.name).collect();
    metadata
        .ours()
        .flat_map(|package| judge_package(package, &ours))
        .collect()
}

fn judge_package(package: &Package, ours: &[&str]) -> Vec<String> {
    let name = &*package.name;
    let Some((_, may_know)) = MAY_KNOW.iter().find(|(of, _)| *of == name) else {
        return vec![format!(
            "{name} is new: say in xtask/src/check/architecture.rs which crates it may know"
        )];
    };
    let mut problems = Vec::new();
    for dependency in package.dependencies.iter().filter(|d| !d.only_for_tests) {
        let on = &*dependency.name;
        if ours.contains(&on) && !may_know.contains(&on) {
            let remedy = if on == "diskfacts-testkit" {
                "it is for [dev-dependencies] only"
            } else {
                "move what is shared to a crate that both may know"
            };
            problems.push(format!("{name} must not depend on {on}: {remedy}"));
        }
        if PURE.contains(&name) && IMPURE.contains(&on) {
            problems.push(format!(
                "{name} is pure and must not depend on {on}: take what it would read as a parameter"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    #[test]
    fn what_a_feature_brings_is_in_no_program_without_it() {
        assert!(
            judge_plain("diskfacts v0.1.0 (/x)\nclap v4.6.7\nparquet-like v1.0.0\n").is_empty()
        );
        let found =
            judge_plain("diskfacts v0.1.0 (/x)\ndiskfacts-fleet v0.1.0 (/x)\nparquet v60.1.0\n");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    fn workspace(packages: &[(&str, &[(&str, bool)])]) -> Metadata {
        let packages = packages
            .iter()
            .map(|(name, dependencies)| Package {
                name: (*name).to_owned(),
                ours: true,
                dependencies: dependencies
                    .iter()
                    .map(|(on, only_for_tests)| Dependency {
                        name: (*on).to_owned(),
                        only_for_tests: *only_for_tests,
                    })
                    .collect(),
                ..Package::default()
            })
            .collect();
        Metadata { packages }
    }

    #[test]
    fn a_dependency_against_the_direction_is_found() {
        let problems = judge(&workspace(&[
            ("diskfacts-plan", &[("diskfacts-record", false)]),
            ("diskfacts-record", &[("diskfacts-plan", false)]),
        ]));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("diskfacts-plan must not depend on diskfacts-record"));
    }

    #[test]
    fn tests_may_use_any_crate_of_ours_and_only_tests_the_kit() {
        let kit = ("diskfacts-testkit", &[][..]);
        let in_tests = ("directio", &[("diskfacts-testkit", true)][..]);
        assert_eq!(judge(&workspace(&[kit, in_tests])), Vec::<String>::new());
        let shipped = ("directio", &[("diskfacts-testkit", false)][..]);
        let problems = judge(&workspace(&[kit, shipped]));
        assert!(problems[0].contains("dev-dependencies"), "{problems:?}");
    }

    #[test]
    fn a_pure_crate_that_reaches_the_system_is_found() {
        let problems = judge(&workspace(&[("diskfacts-facts", &[("rustix", false)])]));
        assert_eq!(problems.len(), 1);
        assert_eq!(
            judge(&workspace(&[("directio", &[("rustix", false)])])),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        assert!(judge(&workspace(&[("diskfacts-new", &[])]))[0].contains("is new"));
    }
}
