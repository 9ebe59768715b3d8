//! `cargo xtask dist`: what people install. For each machine a static program, as an archive, a
//! Debian package and an RPM, with manual pages, completions and licences; and the sums of all.
//!
//! Packages are written by the tools of those who read them, `dpkg-deb` and `rpmbuild`. The same
//! commit gives the same bytes: every time in them is `SOURCE_DATE_EPOCH`, or the commit's.

mod archive;
mod build;
mod deb;
mod machine;
mod notices;
mod rpm;
mod stage;

pub(crate) use build::binary;
pub(crate) use machine::{Machine, here};

use crate::metadata::{Metadata, target_folder};
use crate::project::{Project, is_there, output};
use stage::{Contents, Layout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

pub(crate) const USAGE: &str =
    "  cargo xtask dist [MACHINE...]  make the packages in target/packages, for this
                                 machine and for these: x86_64, aarch64
";

/// What packages say of it in a line.
const SUMMARY: &str = "get the facts about your storage";

/// What they say below it.
const DESCRIPTION: &str = "\
diskfacts measures a folder, a file, a block device or a simulated disk, and
watches the kernel and the device while it does. It says which layer served the
bytes, what limits each stage, and whether the figures can be trusted, with the
evidence for each claim.";

/// What stands in every package.
pub(super) struct About {
    /// `0.1.0`.
    pub(super) version: String,
    /// Who made the commit, `Name <address>`: packages have to name somebody.
    pub(super) maintainer: String,
    /// Seconds since 1970, of everything.
    pub(super) epoch: u64,
}

impl About {
    /// # Errors
    /// When git cannot say, or `SOURCE_DATE_EPOCH` is no number of seconds.
    pub(super) fn of(project: &Project, metadata: &Metadata) -> Result<Self, String> {
        let log = |format: &str| {
            let arguments = ["log", "-1", &format!("--format={format}")];
            output(&mut project.command("git", &arguments)).map(|text| text.trim().to_owned())
        };
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => log("%ct")?,
        };
        let epoch = epoch
            .parse()
            .map_err(|error| format!("SOURCE_DATE_EPOCH is '{epoch}': {error}"))?;
        let diskfacts = metadata.ours().find(|package| package.name == "diskfacts");
        let version = diskfacts.map(|package| package.version.clone());
        Ok(Self {
            version: version.ok_or("there is no package diskfacts")?,
            maintainer: log("%an <%ae>")?,
            epoch,
        })
    }

    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.epoch)
    }

    /// A program, told that it is then.
    pub(super) fn then(&self, mut command: Command) -> Command {
        command.env("SOURCE_DATE_EPOCH", self.epoch.to_string());
        // Names are sorted and numbers written as everywhere.
        command.env("LC_ALL", "C").env("TZ", "UTC");
        command
    }
}

/// Makes the packages; says where they are.
///
/// # Errors
/// When a tool is missing, then with what to install; when one fails; when the program is too
/// large.
pub(crate) fn run(project: &Project, wanted: &[&str]) -> Result<bool, String> {
    let machines = machine::chosen(wanted)?;
    let mut missing: Vec<String> = tools_missing();
    for machine in &machines {
        missing.extend(machine.missing(project)?);
    }
    if !missing.is_empty() {
        return Err(format!("what is missing: {}", missing.join("; ")));
    }
    let mut binaries = Vec::new();
    for machine in machines {
        println!("dist: building for {}", machine.triple);
        let binary = binary(project, machine)?;
        binaries.push((machine, binary));
    }
    let folder = target_folder(project)?.join("packages");
    for file in packages(project, &binaries, &folder)? {
        println!("{}", file.display());
    }
    Ok(true)
}

/// Programs that make packages, and are not there.
pub(crate) fn tools_missing() -> Vec<String> {
    let tools = [
        ("dpkg-deb", "dpkg"),
        ("rpmbuild", "rpm"),
        ("tar", "tar"),
        ("gzip", "gzip"),
        ("sha256sum", "coreutils"),
        ("md5sum", "coreutils"),
    ];
    let lacks = tools.iter().filter(|(tool, _)| !is_there(tool));
    lacks
        .map(|(tool, package)| format!("{tool}: apt-get install {package}"))
        .collect()
}

/// Makes the packages of built programs in an empty folder, and the sums; the first program must
/// run here, for it prints the manual pages.
///
/// # Errors
/// When a tool fails, or a file cannot be read or written.
pub(crate) fn packages(
    project: &Project,
    binaries: &[(&Machine, PathBuf)],
    folder: &Path,
) -> Result<Vec<PathBuf>, String> {
    let metadata = Metadata::read(project)?;
    let about = About::of(project, &metadata)?;
    empty(folder)?;
    let work = folder.join("work");
    let pages = work.join("man");
    let (_, native) = binaries.first().ok_or("there is no program to package")?;
    let print = Command::new(native);
    output(about.then(print).args(["man", "--quiet"]).arg(&pages))?;
    let mut made = Vec::new();
    for (machine, binary) in binaries {
        let notices = notices::text(project, &metadata, machine)?;
        let contents = Contents {
            binary,
            pages: &pages,
            notices: &notices,
        };
        let staged = |name: &str, layout: &Layout| {
            let root = work.join(format!("{}-{name}", machine.name));
            stage::stage(project, &contents, layout, &root).map(|()| root)
        };
        let name = archive::name(&about, machine);
        let tree = staged("archive", &Layout::archive(&name))?;
        made.push(archive::make(&about, &tree, &name, folder)?);
        let tree = staged("deb", &Layout::debian())?;
        made.push(deb::make(&about, machine, &tree, folder)?);
        let tree = staged("rpm", &Layout::fedora())?;
        made.push(rpm::make(&about, machine, &tree, &work, folder)?);
    }
    fs::remove_dir_all(&work).map_err(|error| format!("removing {}: {error}", work.display()))?;
    made.push(sums(folder, &made)?);
    Ok(made)
}

/// `SHA256SUMS`, as `sha256sum --check` reads it.
fn sums(folder: &Path, files: &[PathBuf]) -> Result<PathBuf, String> {
    let mut command = Command::new("sha256sum");
    let names = files.iter().filter_map(|file| file.file_name());
    let text = output(command.args(names).current_dir(folder))?;
    let path = folder.join("SHA256SUMS");
    write(&path, text.as_bytes())?;
    Ok(path)
}

fn empty(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .map_err(|error| format!("removing {}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|error| format!("making {}: {error}", folder.display()))
}

fn size(file: &Path) -> Result<u64, String> {
    fs::metadata(file)
        .map(|metadata| metadata.len())
        .map_err(|error| format!("reading {}: {error}", file.display()))
}

/// Writes a file, and the folders that it lies in.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let said = |error| format!("writing {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(said)?;
    }
    fs::write(path, bytes).map_err(said)
}
