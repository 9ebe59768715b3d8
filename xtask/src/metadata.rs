//! What `cargo metadata` knows of the packages and their dependencies.

use crate::project::{Project, output};
use serde_json::Value;
use std::path::PathBuf;

/// The packages of the workspace and everything they are built from.
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One version of a package.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// It belongs to this workspace.
    pub(crate) ours: bool,
    /// Where it comes from; `None` for a folder on this machine.
    pub(crate) source: Option<String>,
    /// Where its manifest lies.
    pub(crate) folder: PathBuf,
    /// An SPDX expression.
    pub(crate) licence: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// That a package names another in its manifest.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Only for its own tests and benchmarks.
    pub(crate) only_for_tests: bool,
}

/// Where cargo puts what it builds.
///
/// # Errors
/// When cargo cannot say.
pub(crate) fn target_folder(project: &Project) -> Result<PathBuf, String> {
    let arguments = ["metadata", "--format-version=1", "--locked", "--no-deps"];
    let json: Value = serde_json::from_str(&output(&mut project.cargo(&arguments))?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let folder = text(&json, "target_directory");
    folder
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target_directory".to_owned())
}

impl Metadata {
    /// Asks cargo about the workspace of the project, for all features and all
    /// systems.
    ///
    /// # Errors
    /// When cargo cannot say, or says something unexpected.
    pub(crate) fn read(project: &Project) -> Result<Self, String> {
        Self::of_manifest(project, "Cargo.toml")
    }

    /// As [`read`](Self::read), of a workspace that stands apart.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn of_manifest(project: &Project, manifest: &str) -> Result<Self, String> {
        let arguments = [
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
            "--manifest-path",
            manifest,
        ];
        let text = output(&mut project.cargo(&arguments))?;
        Self::parse(&text).ok_or_else(|| "cargo metadata has an unknown form".to_owned())
    }

    fn parse(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
        let members: Vec<&str> = array(&json, "workspace_members")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let packages = array(&json, "packages")?
            .iter()
            .map(|package| Package::parse(package, &members))
            .collect::<Option<_>>()?;
        Some(Self { packages })
    }

    /// The packages of the workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.ours)
    }

    /// The packages of others.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !package.ours)
    }
}

impl Package {
    fn parse(json: &Value, members: &[&str]) -> Option<Self> {
        Some(Self {
            name: text(json, "name")?,
            version: text(json, "version")?,
            ours: members.contains(&json["id"].as_str()?),
            source: text(json, "source"),
            folder: PathBuf::from(text(json, "manifest_path")?)
                .parent()?
                .to_owned(),
            licence: text(json, "license"),
            dependencies: array(json, "dependencies")?
                .iter()
                .map(|dependency| {
                    Some(Dependency {
                        name: text(dependency, "name")?,
                        only_for_tests: dependency["kind"] == "dev",
                    })
                })
                .collect::<Option<_>>()?,
        })
    }
}

fn text(json: &Value, key: &str) -> Option<String> {
    json[key].as_str().map(str::to_owned)
}

fn array<'a>(json: &'a Value, key: &str) -> Option<&'a Vec<Value>> {
    json[key].as_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_their_dependencies_are_read() {
        let metadata = Metadata::parse(
            r#"{
                "packages": [
                    {"name": "directio", "version": "0.1.0", "id": "ours", "source": null,
                     "manifest_path": "/x/direct/Cargo.toml",
                     "license": "MIT OR Apache-2.0", "dependencies": [
                        {"name": "libc", "kind": null},
                        {"name": "proptest", "kind": "dev"}]},
                    {"name": "libc", "version": "0.2.1", "id": "theirs",
                     "source": "registry+somewhere", "manifest_path": "/y/Cargo.toml",
                     "license": null, "dependencies": []}
                ],
                "workspace_members": ["ours"]
            }"#,
        )
        .expect("cargo's own form");
        let ours: Vec<&str> = metadata.ours().map(|package| &*package.name).collect();
        assert_eq!(ours, ["directio"]);
        let dependencies: Vec<(&str, bool)> = metadata.packages[0]
            .dependencies
            .iter()
            .map(|dependency| (&*dependency.name, dependency.only_for_tests))
            .collect();
        assert_eq!(dependencies, [("libc", false), ("proptest", true)]);
        assert_eq!(metadata.packages[1].licence, None);
    }

    #[test]
    fn another_form_is_refused() {
        assert!(Metadata::parse("{}").is_none());
        assert!(Metadata::parse("no json").is_none());
    }
}
