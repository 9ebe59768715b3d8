//! `cargo xtask crate`: `directio` as it would be published, packed and used.
//!
//! Its own tests run in what was unpacked, and the first lines of its README in an
//! empty project: on this C library, and alone in an empty root folder, as a static
//! program of musl. Nothing is uploaded.

use crate::metadata::{Metadata, target_folder};
use crate::project::{Project, answers, has_target, output};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MUSL: &str = "x86_64-unknown-linux-musl";

/// Packs and uses it; says whether all went well.
///
/// # Errors
/// When the call is wrong; when a step cannot be made, or fails.
pub(crate) fn run(project: &Project, arguments: &[&str]) -> Result<bool, String> {
    if let [unknown, ..] = arguments {
        return Err(format!("cargo xtask crate takes no '{unknown}'"));
    }
    let packed = pack(project)?;
    let scratch = Scratch::new()?;
    let place = scratch.0.as_path();
    output(
        Command::new("tar")
            .arg("-xzf")
            .arg(&packed)
            .arg("-C")
            .arg(place),
    )?;
    let name = packed.file_stem().ok_or("the archive has no name")?;
    let unpacked = place.join(name);
    let built = target_folder(project)?.join("crate");

    println!("its tests, where it was unpacked");
    let cargo = |folder: &Path, arguments: &[&str]| {
        let mut command = project.cargo(arguments);
        command.current_dir(folder);
        command.env("CARGO_TARGET_DIR", &built);
        command
    };
    succeed(&mut cargo(&unpacked, &["test", "--all-features"]))?;

    println!("the first lines of its README, in an empty project");
    let lines = first_example(&read(&unpacked.join("README.md"))?)?.to_owned();
    let user = place.join("user");
    write(&user.join("src/main.rs"), &lines)?;
    let manifest = format!(
        "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ndirectio = {{ path = \"{}\" }}\n",
        unpacked.display()
    );
    write(&user.join("Cargo.toml"), &manifest)?;
    succeed(&mut cargo(&user, &["run"]))?;

    if !has_target(project, MUSL)? {
        println!("not in a root of its own: rustup target add {MUSL}");
        return Ok(true);
    }
    println!("the same, alone in an empty root");
    succeed(&mut cargo(&user, &["build", "--target", MUSL]))?;
    let root = place.join("root");
    fs::create_dir_all(root.join("tmp")).map_err(|error| format!("making a root: {error}"))?;
    let program = built.join(MUSL).join("debug/user");
    fs::copy(&program, root.join("user"))
        .map_err(|error| format!("copying {}: {error}", program.display()))?;
    let alone = |arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(&root).args(arguments);
        command
    };
    if !answers(Command::new("chroot").args(["/", "true"])) {
        println!("not in a root of its own: chroot needs root");
        return Ok(true);
    }
    succeed(&mut alone(&["/user"]))?;
    Ok(true)
}

/// Has cargo do all that it does before it uploads: the package is made of what its manifest says,
/// its dependencies are looked up in the registry, and what is in it is built.
///
/// # Errors
/// When cargo would not publish it, or the registry does not answer.
pub(crate) fn dry_run(project: &Project) -> Result<(), String> {
    let arguments = [
        "publish",
        "--dry-run",
        "--locked",
        "--package=directio",
        "--allow-dirty",
    ];
    succeed(&mut project.cargo(&arguments))
}

/// Makes the archive, of the sources as they are, and builds what is in it.
fn pack(project: &Project) -> Result<PathBuf, String> {
    let arguments = ["package", "--locked", "--package=directio", "--allow-dirty"];
    succeed(&mut project.cargo(&arguments))?;
    let metadata = Metadata::read(project)?;
    let mut ours = metadata.ours();
    let package = ours
        .find(|package| package.name == "directio")
        .ok_or("there is no package directio")?;
    let name = format!("package/directio-{}.crate", package.version);
    Ok(target_folder(project)?.join(name))
}

/// The first example that is Rust, as it stands there.
fn first_example(readme: &str) -> Result<&str, String> {
    let (_, rest) = readme
        .split_once("\n```rust\n")
        .ok_or("the README has no example")?;
    let (example, _) = rest
        .split_once("\n```")
        .ok_or("the README's first example has no end")?;
    Ok(example)
}

/// Runs a command that says itself what is wrong.
fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|error| format!("running {command:?}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?} ended with {status}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().ok_or("a file has a folder")?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("writing {}: {error}", path.display()))
}

/// A folder outside of the project, so that no manifest above is found; gone with
/// this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("directio-crate-{}", std::process::id()));
        fs::create_dir_all(&folder)
            .map_err(|error| format!("making {}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("removing {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::first_example;

    #[test]
    fn the_first_example_is_what_is_between_its_fences() {
        let readme =
            "# Title\n\n```toml\nx = 1\n```\n\n```rust\nfn main() {\n}\n```\n\n```rust\n```\n";
        assert_eq!(first_example(readme), Ok("fn main() {\n}"));
        assert!(first_example("# Title\n").is_err());
        assert!(first_example("a\n```rust\nfn main() {}\n").is_err());
    }
}
