//! The program itself, built for a machine.

use super::machine::Machine;
use crate::metadata::target_folder;
use crate::project::{Project, WHOLE};
use std::path::PathBuf;

/// A program of more than this, without debug information, has taken up something that it does
/// not need.
const SIZE_MAX_BYTES: u64 = 15_000_000;

/// The separator of `CARGO_ENCODED_RUSTFLAGS`.
const UNIT_SEPARATOR: &str = "\u{1f}";

/// Builds the program; says where it is.
///
/// # Errors
/// When it does not build, or is too large.
pub(crate) fn binary(project: &Project, machine: &Machine) -> Result<PathBuf, String> {
    let arguments = [
        "build",
        "--locked",
        "--package=diskfacts",
        WHOLE,
        "--profile",
        "dist",
        "--target",
        machine.triple,
    ];
    let mut command = project.cargo(&arguments);
    let mut flags = without_paths(project);
    flags.extend(machine.link_arguments.iter().map(|&one| one.to_owned()));
    command
        .envs(machine.environment())
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(UNIT_SEPARATOR));
    let status = command
        .status()
        .map_err(|error| format!("starting cargo: {error}"))?;
    if !status.success() {
        return Err(format!("building for {} failed: see above", machine.triple));
    }
    let built = target_folder(project)?.join(machine.triple).join("dist");
    let binary = built.join("diskfacts");
    let bytes = super::size(&binary)?;
    if bytes > SIZE_MAX_BYTES {
        return Err(format!(
            "{} has {bytes} bytes, more than {SIZE_MAX_BYTES}: which dependency is it? (cargo \
             bloat --profile dist)",
            binary.display()
        ));
    }
    println!("dist: {} has {bytes} bytes", binary.display());
    Ok(binary)
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
