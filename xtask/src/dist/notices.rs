//! The licences of all that is in the program: ours, and those of the crates that are linked into
//! it, of Rust's standard library and of the C libraries. Most of them ask for their text to be
//! given along.

use super::machine::Machine;
use crate::metadata::{Metadata, Package};
use crate::project::{Project, output};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// How the names of files with a licence begin, in capitals.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

/// The C library, which Rust links from its own copy.
const MUSL: &str = include_str!("musl-copyright.txt");

/// Everything, as one text.
///
/// # Errors
/// When cargo cannot say what is linked, or a licence cannot be read.
pub(super) fn text(
    project: &Project,
    metadata: &Metadata,
    machine: &Machine,
) -> Result<String, String> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))
    };
    let mut text =
        "diskfacts is under the MIT licence or the Apache licence, version 2.0, at your \
                    choice.\nOn Debian the latter is /usr/share/common-licenses/Apache-2.0.\n\n"
            .to_owned();
    text.push_str(&read(&project.root.join("LICENSE-MIT"))?);
    text.push_str(
        "\nThe program contains what follows. SQLite is in the public domain. Rust's standard \
         library\nis under the MIT licence or the Apache licence, version 2.0: Copyright (c) The \
         Rust Project\nDevelopers.\n\n",
    );
    text.push_str(MUSL);
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in linked(project, metadata, machine)? {
        let licence = package.licence.as_deref().unwrap_or("no licence");
        let _ = writeln!(text, "{} {}: {licence}", package.name, package.version);
        for found in licences(package)? {
            by_text
                .entry(brief(&read(&found)?))
                .or_default()
                .push(package.name.clone());
        }
    }
    for (licence, packages) in by_text {
        let line = "-".repeat(72);
        let _ = write!(
            text,
            "\n{line}\n{}\n{line}\n\n{}\n",
            packages.join(", "),
            licence
        );
    }
    Ok(text)
}

/// The text of a licence. That of Apache is long, and everybody who has the program has it
/// already; who holds the copyright stays.
fn brief(text: &str) -> String {
    let apache = text.contains("Apache License")
        && text.contains("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION");
    if !apache {
        return text.trim().to_owned();
    }
    let mut brief = "The Apache licence, version 2.0: LICENSE-APACHE, or \
                     /usr/share/common-licenses/Apache-2.0."
        .to_owned();
    let of_somebody = |line: &&str| line.starts_with("Copyright") && !line.contains("[yyyy]");
    for line in text.lines().map(str::trim).filter(of_somebody) {
        brief.push('\n');
        brief.push_str(line);
    }
    brief
}

/// The crates of others whose code is in the program.
fn linked<'a>(
    project: &Project,
    metadata: &'a Metadata,
    machine: &Machine,
) -> Result<Vec<&'a Package>, String> {
    let arguments = [
        "tree",
        "--locked",
        "--package=diskfacts",
        "--edges=normal",
        "--prefix=none",
    ];
    let mut tree = project.cargo(&arguments);
    tree.args(["--format={p}", "--target", machine.triple]);
    let tree = output(&mut tree)?;
    let named = named(&tree);
    let packages = metadata.foreign();
    let linked = packages.filter(|one| named.contains(&(&*one.name, &*one.version)));
    Ok(linked.collect())
}

/// Name and version in lines of `cargo tree`: `libc v0.2.1`, `serde v1.0.1 (*)`. What a procedural
/// macro is built from runs in the compiler, and its lines are those behind it; other crates that
/// it shares are named at another place, too.
fn named(tree: &str) -> Vec<(&str, &str)> {
    let lines = tree.lines().filter(|line| !line.contains("(proc-macro)"));
    let pairs = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?.strip_prefix('v')?))
    });
    pairs.collect()
}

/// The files with its licence, sorted.
fn licences(package: &Package) -> Result<Vec<std::path::PathBuf>, String> {
    let folder = &package.folder;
    let said = |error| format!("reading {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        if path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_apache_licence_stays_whose_copyright_it_is() {
        let text = "Apache License\nTERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION\n\
                    ...\n   Copyright [yyyy] [name]\n   Copyright 2020 Somebody\n";
        let brief = brief(text);
        assert!(
            brief.ends_with("Apache-2.0.\nCopyright 2020 Somebody"),
            "{brief}"
        );
        assert_eq!(super::brief("MIT\n\n"), "MIT");
    }

    #[test]
    fn crates_are_read_from_the_lines_of_cargo_tree_and_macros_are_not_linked() {
        let tree = "diskfacts v0.1.0 (/x)\nlibc v0.2.1\nserde_derive v1.0.1 (proc-macro)\n\
                    serde v1.0.1 (*)\n\n";
        let wanted = [
            ("diskfacts", "0.1.0"),
            ("libc", "0.2.1"),
            ("serde", "1.0.1"),
        ];
        assert_eq!(named(tree), wanted);
    }
}
