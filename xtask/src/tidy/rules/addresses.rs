//! What people get the project from names only addresses that exist: the project has no home
//! yet, and an address of one is invented. Until it has, it is "a checkout of this repository".

use super::text::lines_with;
use crate::project::has_extension;
use crate::tidy::{File, Violation};

/// Hosts that are there, and that a README or a manifest may name: a new one is looked at first.
const HOSTS: [&str; 11] = [
    "developer.apple.com",
    "docs.kernel.org",
    "docs.rs",
    "learn.microsoft.com",
    "man.freebsd.org",
    "man7.org",
    "nodejs.org",
    "reproducible-builds.org",
    "rustup.rs",
    "v8.github.io",
    "www.usenix.org",
];

/// How an address of a repository begins, beside those of pages.
const REPOSITORIES: [&str; 5] = ["git clone", "git@", "git://", "git+", "ssh://"];

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| is_named_by(&file.path)) {
        let violation = |line, what| Violation {
            rule: "invented-address",
            path: file.path.clone(),
            line,
            what,
            weight: 1,
        };
        for begins in REPOSITORIES {
            let lines = lines_with(&file.text, begins);
            let what =
                format!("{begins}: there is no such place; 'in a checkout of this repository'");
            violations.extend(lines.map(|line| violation(line, what.clone())));
        }
        for (line, host) in hosts(&file.text) {
            if !HOSTS.contains(&host) {
                let what = format!(
                    "{host}: does it exist? Add it to HOSTS in xtask/src/tidy/rules/addresses.rs"
                );
                violations.push(violation(line, what));
            }
        }
    }
    violations
}

/// Files that lie in packages or lead to them: each README, manifests, and what packages are
/// made by, which has the musl toolchains' hosts in its errors only.
fn is_named_by(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // What others have published lies here as it is.
    if path.split('/').any(|folder| folder == "documents") {
        return false;
    }
    matches!(name, "Cargo.toml" | "package.json")
        || (name.starts_with("README") && has_extension(name, "md"))
        || [
            "xtask/src/dist/deb.rs",
            "xtask/src/dist/rpm.rs",
            "xtask/src/dist/stage.rs",
        ]
        .contains(&path)
}

/// The hosts of addresses of pages, with their lines from 1.
fn hosts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(at, line)| {
        line.split("://").skip(1).map(move |rest| {
            let end = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-');
            (at + 1, rest.split(end).next().unwrap_or_default())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn an_address_of_a_home_that_is_not_there_is_found() {
        for (path, text) in [
            (
                "README.md",
                "First:\ngit clone https://rustup.rs/diskfacts\n",
            ),
            (
                "node/README.md",
                "\nhttps://github.com/diskfacts/diskfacts\n",
            ),
            (
                "crates/direct/Cargo.toml",
                "\nrepository = \"https://diskfacts.example\"\n",
            ),
            ("node/package.json", "{\n  \"repository\": \"git+x\"\n}\n"),
            (
                "xtask/src/dist/deb.rs",
                "\nHomepage: http://diskfacts.org/\n",
            ),
        ] {
            assert_eq!(
                found(find, &[(path, text)]),
                [(path.to_owned(), 2)],
                "{text}"
            );
        }
    }

    #[test]
    fn an_address_that_is_there_and_files_that_nobody_installs_are_not() {
        for (path, text) in [
            (
                "README.md",
                "[rustup](https://rustup.rs), or https://docs.rs/x.\n",
            ),
            ("docs/method.md", "https://anything.example\n"),
            (
                "crates/a/tests/documents/README.md",
                "git clone https://x.example\n",
            ),
        ] {
            assert_eq!(found(find, &[(path, text)]), [], "{text}");
        }
    }
}
