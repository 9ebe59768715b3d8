//! The program itself, built for a machine.

use super::machine::Machine;
use crate::metadata::target_folder;
use crate::project::{Project, WHOLE};
use std::path::PathBuf;

/// The separator of `CARGO_ENCODED_RUSTFLAGS`.
const UNIT_SEPARATOR: &str = "\u{1f}";

/// What is to be quick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// The program, which is given away.
    OfProgram,
    /// Building it, only to see that it can be packaged.
    OfBuilding,
}

/// Builds the program; says where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn binary(
    project: &Project,
    machine: &Machine,
    speed: Speed,
) -> Result<PathBuf, String> {
    let (profile, folder) = match speed {
        Speed::OfProgram => ("dist", "dist"),
        Speed::OfBuilding => ("dev", "debug"),
    };
    let arguments = [
        "build",
        "--locked",
        "--package=diskfacts",
        WHOLE,
        "--profile",
        profile,
        "--target",
        machine.triple,
    ];
    let mut command = project.cargo(&arguments);
    command
        .envs(machine.environment())
        .env("CARGO_INCREMENTAL", "0")
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            without_paths(project).join(UNIT_SEPARATOR),
        );
    if speed == Speed::OfBuilding {
        // As it is packaged; its symbols would be most of the package.
        command
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .env("CARGO_PROFILE_DEV_STRIP", "symbols");
    }
    let status = command
        .status()
        .map_err(|error| format!("starting cargo: {error}"))?;
    if !status.success() {
        return Err(format!("building for {} failed: see above", machine.triple));
    }
    let built = target_folder(project)?.join(machine.triple).join(folder);
    Ok(built.join("diskfacts"))
}

/// Panics name the file they come from: where the sources lay is nobody's business, and is not
/// the same twice.
fn without_paths(project: &Project) -> Vec<String> {
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cargo = home("CARGO_HOME").or_else(|| home("HOME").map(|home| home.join(".cargo")));
    let project = Some((project.root.clone(), "diskfacts"));
    let folders = project
        .into_iter()
        .chain(cargo.map(|cargo| (cargo, "cargo")));
    folders
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
        .collect()
}
