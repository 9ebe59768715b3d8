//! The machines that packages are made for.

use crate::project::{Project, has_target, is_there};

/// A kind of machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// As Linux has it: `uname -m`.
    pub(crate) name: &'static str,
    /// As Rust has it: linked statically, so that it runs on every distribution.
    pub(crate) triple: &'static str,
    /// As Debian has it.
    pub(super) deb: &'static str,
    /// C compilers for it, for `SQLite`, the first of which is taken that is there.
    compilers: &'static [Compiler],
    /// What its linker is told. Addresses that are only moved when the program is loaded stand in a
    /// bitmap (`DT_RELR`, which musl reads since 1.2.4): three hundred kB less.
    pub(super) link_arguments: &'static [&'static str],
}

/// A C compiler, and how to have it.
#[derive(Debug, PartialEq, Eq)]
struct Compiler {
    program: &'static str,
    /// What it is told to compile for this machine.
    arguments: &'static [&'static str],
    /// What build scripts would tell it is left out, and this said instead: zig does not know
    /// the names that Rust has for machines.
    instead: Option<&'static str>,
    package: &'static str,
}

/// Every machine.
const MACHINES: [Machine; 2] = [
    Machine {
        name: "x86_64",
        triple: "x86_64-unknown-linux-musl",
        deb: "amd64",
        compilers: &[
            Compiler {
                program: "x86_64-linux-musl-gcc",
                arguments: &[],
                instead: None,
                package: "apt-get install musl-tools",
            },
            Compiler {
                program: "musl-gcc",
                arguments: &[],
                instead: None,
                package: "apt-get install musl-tools",
            },
        ],
        link_arguments: &["-Clink-arg=-Wl,-z,pack-relative-relocs"],
    },
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-linux-musl",
        deb: "arm64",
        compilers: &[
            Compiler {
                program: "aarch64-linux-musl-gcc",
                arguments: &[],
                instead: None,
                package: "a musl toolchain, as https://musl.cc has it",
            },
            Compiler {
                program: "zig",
                arguments: &["cc", "-target", "aarch64-linux-musl"],
                instead: Some("-O3 -fPIC -ffunction-sections -fdata-sections"),
                package: "zig, as https://ziglang.org has it",
            },
        ],
        // Not tried there, where the linker is zig's or the toolchain's own.
        link_arguments: &[],
    },
];

/// The machine that this runs on.
///
/// # Errors
/// When no packages are made for it.
pub(crate) fn here() -> Result<&'static Machine, String> {
    let here = std::env::consts::ARCH;
    let native = MACHINES.iter().find(|machine| machine.name == here);
    native.ok_or_else(|| format!("no packages are made for {here}"))
}

/// The machine that this runs on, which prints the manual pages, then the other ones that are
/// named.
///
/// # Errors
/// When a name is unknown, or nothing is made for the machine that this runs on.
pub(super) fn chosen(wanted: &[&str]) -> Result<Vec<&'static Machine>, String> {
    let native = here()?;
    let others = crate::choose(&MACHINES, |machine| machine.name, wanted)?;
    let others = others
        .into_iter()
        .filter(|other| !wanted.is_empty() && *other != native);
    Ok(std::iter::once(native).chain(others).collect())
}

impl Machine {
    /// What it cannot be built without, and how to have it.
    ///
    /// # Errors
    /// When rustc cannot be asked.
    pub(crate) fn missing(&self, project: &Project) -> Result<Vec<String>, String> {
        let mut missing = Vec::new();
        if !has_target(project, self.triple)? {
            let triple = self.triple;
            missing.push(format!("Rust for {triple}: rustup target add {triple}"));
        }
        if self.compiler().is_none() {
            let of: Vec<String> = self
                .compilers
                .iter()
                .map(|one| format!("{} ({})", one.program, one.package))
                .collect();
            missing.push(format!(
                "a C compiler for {}: {}",
                self.name,
                of.join(" or ")
            ));
        }
        Ok(missing)
    }

    fn compiler(&self) -> Option<&'static Compiler> {
        self.compilers.iter().find(|one| is_there(one.program))
    }

    /// What cargo and the build scripts take the compiler and the linker from.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let triple = self.triple.replace('-', "_");
        let mut environment = Vec::new();
        if let Some(compiler) = self.compiler() {
            let words = std::iter::once(&compiler.program).chain(compiler.arguments);
            let words: Vec<&str> = words.copied().collect();
            environment.push((format!("CC_{triple}"), words.join(" ")));
            if let Some(flags) = compiler.instead {
                environment.push(("CRATE_CC_NO_DEFAULTS".to_owned(), "1".to_owned()));
                environment.push((format!("CFLAGS_{triple}"), flags.to_owned()));
            }
        }
        if self.name != std::env::consts::ARCH {
            // Rust brings the start-up code and the C library of musl along, and a linker.
            let linker = format!("CARGO_TARGET_{}_LINKER", triple.to_uppercase());
            environment.push((linker, "rust-lld".to_owned()));
        }
        environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_first_and_those_that_are_named_follow() {
        let names = |wanted: &[&str]| {
            chosen(wanted).map(|all| all.iter().map(|one| one.name).collect::<Vec<_>>())
        };
        let here = std::env::consts::ARCH;
        assert_eq!(names(&[]), Ok(vec![here]));
        assert_eq!(names(&[here]), Ok(vec![here]));
        let all = names(&["x86_64", "aarch64"]).expect("known");
        assert_eq!((all.len(), all[0]), (2, here));
        let error = names(&["vax"]).expect_err("unknown");
        assert!(error.contains("x86_64, aarch64"), "{error}");
    }
}
