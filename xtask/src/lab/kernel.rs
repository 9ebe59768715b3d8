//! The kernels that guests boot: Debian's own packages, unpacked and not
//! installed.

use crate::project::output;
use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many builds of a series are tried before it is given up: the lists of
/// packages may be older than what the mirror still has.
const TRIES: usize = 3;

/// A kernel that lies unpacked in the lab's folder.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    /// As `uname -r` has it: `6.1.0-50-amd64`.
    pub(super) version: String,
    /// Its first two numbers.
    pub(super) series: (u64, u64),
    /// What QEMU boots.
    pub(super) image: PathBuf,
    /// Where its `lib/modules` is.
    pub(super) tree: PathBuf,
}

/// A package with a kernel, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    package: String,
    version: String,
    /// All numbers of its version, to tell the newest.
    numbers: Vec<u64>,
}

impl Named {
    /// `linux-image-6.1.0-50-amd64`; no other flavour than the plain one.
    fn parse(package: &str) -> Option<Self> {
        let version = package.strip_prefix("linux-image-")?;
        let plain = version.strip_suffix("-amd64")?;
        let numbers: Vec<u64> = plain
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|part| part.parse().ok())
            .collect();
        let flavoured = plain.contains("cloud") || plain.contains("rt");
        (!flavoured && plain.starts_with(|c: char| c.is_ascii_digit()) && numbers.len() >= 2).then(
            || Self {
                package: package.to_owned(),
                version: version.to_owned(),
                numbers,
            },
        )
    }

    fn series(&self) -> (u64, u64) {
        (self.numbers[0], self.numbers[1])
    }
}

/// The oldest and the newest series that can be had, the oldest first: from the
/// lab's folder, else by apt.
///
/// # Errors
/// When no kernel can be had; then what is missing.
pub(super) fn find(folder: &Path) -> Result<Vec<Kernel>, String> {
    let packages = folder.join("packages");
    fs::create_dir_all(&packages).map_err(|e| format!("making {}: {e}", packages.display()))?;
    let kept = kept(&packages)?;
    let offered = offered();
    let mut known: Vec<Named> = kept.iter().map(|(named, _)| named.clone()).collect();
    known.extend(offered.clone().unwrap_or_default());
    let mut series: Vec<(u64, u64)> = known.iter().map(Named::series).collect();
    series.sort_unstable();
    series.dedup();
    let chosen = match series.as_slice() {
        [] => return Err(offered.err().unwrap_or_else(|| NO_KERNEL.to_owned())),
        [only] => vec![*only],
        [oldest, .., newest] => vec![*oldest, *newest],
    };
    let mut kernels = Vec::new();
    let mut why = Vec::new();
    for series in chosen {
        match of_series(
            folder,
            series,
            &kept,
            offered.as_deref().unwrap_or_default(),
        ) {
            Ok(kernel) => kernels.push(kernel),
            Err(error) => why.push(error),
        }
    }
    if kernels.is_empty() {
        return Err(why.join("; "));
    }
    for missing in why {
        println!("lab: {missing}");
    }
    Ok(kernels)
}

const NO_KERNEL: &str =
    "a kernel package: apt knows no linux-image-*-amd64 (Debian; apt-get update)";

fn of_series(
    folder: &Path,
    series: (u64, u64),
    kept: &[(Named, PathBuf)],
    offered: &[Named],
) -> Result<Kernel, String> {
    let newest_kept = kept
        .iter()
        .filter(|(named, _)| named.series() == series)
        .max_by_key(|(named, _)| named.numbers.clone());
    if let Some((named, package)) = newest_kept {
        return unpack(folder, named, package);
    }
    let mut builds: Vec<&Named> = offered.iter().filter(|n| n.series() == series).collect();
    builds.sort_by_key(|named| Reverse(named.numbers.clone()));
    let mut why = String::new();
    for named in builds.into_iter().take(TRIES) {
        match download(&folder.join("packages"), named) {
            Ok(package) => return unpack(folder, named, &package),
            Err(error) => why = error,
        }
    }
    Err(format!(
        "a kernel {}.{}: apt-get download fails: {why}",
        series.0, series.1
    ))
}

/// The packages that were fetched before.
fn kept(packages: &Path) -> Result<Vec<(Named, PathBuf)>, String> {
    let entries = fs::read_dir(packages).map_err(|e| format!("{}: {e}", packages.display()))?;
    Ok(entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let package = name.strip_suffix(".deb")?.split('_').next()?;
            Some((Named::parse(package)?, entry.path()))
        })
        .collect())
}

/// What apt knows.
fn offered() -> Result<Vec<Named>, String> {
    let search = ["search", "--names-only", "^linux-image-[0-9].*-amd64$"];
    let listed = output(Command::new("apt-cache").args(search))
        .map_err(|error| format!("a kernel package, which apt fetches on Debian: {error}"))?;
    let names = listed.lines().filter_map(|line| line.split(' ').next());
    Ok(names.filter_map(Named::parse).collect())
}

fn download(packages: &Path, named: &Named) -> Result<PathBuf, String> {
    println!("lab: fetching {}", named.package);
    output(
        Command::new("apt-get")
            .args([
                "-q",
                "-o",
                "Acquire::Retries=2",
                "-o",
                "Acquire::http::Timeout=30",
                "-o",
                "APT::Sandbox::User=root",
            ])
            .args(["download", &named.package])
            .current_dir(packages),
    )?;
    let found = kept(packages)?.into_iter().find(|(kept, _)| kept == named);
    let (_, path) = found.ok_or_else(|| format!("apt-get left no {}", named.package))?;
    Ok(path)
}

/// Unpacks a package beside the others, whole or not at all.
fn unpack(folder: &Path, named: &Named, package: &Path) -> Result<Kernel, String> {
    let tree = folder.join("kernels").join(&named.version);
    let image = tree.join("boot").join(format!("vmlinuz-{}", named.version));
    if !image.is_file() {
        println!("lab: unpacking {}", named.package);
        let partial = folder
            .join("kernels")
            .join(format!("{}.partial", named.version));
        drop(fs::remove_dir_all(&partial));
        fs::create_dir_all(&partial).map_err(|e| format!("making {}: {e}", partial.display()))?;
        output(Command::new("dpkg").arg("-x").args([package, &partial]))?;
        // Where newer packages have it, for depmod and for us.
        if !partial.join("lib").exists() {
            symlink("usr/lib", partial.join("lib")).map_err(|e| format!("linking lib: {e}"))?;
        }
        // Which module needs which; the package leaves that to its installation.
        output(
            Command::new("depmod")
                .arg("-b")
                .arg(&partial)
                .arg(&named.version),
        )?;
        fs::rename(&partial, &tree).map_err(|e| format!("renaming {}: {e}", partial.display()))?;
    }
    Ok(Kernel {
        version: named.version.clone(),
        series: named.series(),
        image,
        tree,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_kernels_are_taken_and_the_newest_is_known_by_its_numbers() {
        let names = [
            "linux-image-6.1.0-9-amd64",
            "linux-image-6.1.0-50-amd64",
            "linux-image-6.12.111+deb12-amd64",
        ];
        let numbers = names.map(|name| Named::parse(name).expect(name).numbers);
        assert!(numbers.is_sorted(), "{numbers:?}");
        for other in [
            "linux-image-amd64",
            "linux-image-6.1.0-50-amd64-dbg",
            "linux-image-6.1.0-50-amd64-unsigned",
            "linux-image-6.1.0-50-cloud-amd64",
            "linux-image-6.12.111+deb12-rt-amd64",
        ] {
            assert_eq!(Named::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_series_is_the_first_two_numbers() {
        let named = Named::parse("linux-image-6.12.111+deb12-amd64").expect("a kernel");
        assert_eq!(named.series(), (6, 12));
        assert_eq!(named.version, "6.12.111+deb12-amd64");
    }
}
