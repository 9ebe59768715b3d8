//! The Debian package in a root of its own, in which is only what every Debian has, `man` and
//! the completion of bash.

use super::{Found, Made, Not, expect, needs, needs_root};
use crate::project::output;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the package lies in the root.
const PACKAGE: &str = "tmp/diskfacts.deb";

/// What dpkg, man-db and ldconfig note of every package, and what those who use it put there.
const NOT_LOOKED_AT: [&str; 8] = [
    "./proc",
    "./sys",
    "./dev",
    "./tmp",
    "./run",
    "./var/cache",
    "./var/lib/dpkg",
    "./var/log",
];

/// Completes the stage of a stored run as bash does when Tab is pressed: it loads the script by
/// the name of the command, and calls what that declares.
const COMPLETE: &str = r#"
source /usr/share/bash-completion/bash_completion
# The loader has another name since 2.12, and says by its status that it loaded something.
_comp_load diskfacts 2>/dev/null || _completion_loader diskfacts
complete -p diskfacts
# Without a terminal there is none.
compopt() { :; }
COMP_LINE='diskfacts show --stage sequential-r' COMP_POINT=35
_diskfacts
printf 'offered: %s\n' "${COMPREPLY[@]}"
"#;

/// Installs, uses and removes it, in this order.
pub(super) fn test(made: &Made, judge: &mut impl FnMut(&str, Found)) {
    let mut root = None;
    let mut before = String::new();
    let installed = Root::new(made).and_then(|new| {
        before = new.files()?;
        let said = new.run("dpkg --install /tmp/diskfacts.deb && diskfacts --version")?;
        expect(&said, "diskfacts ")?;
        root = Some(new);
        Ok(())
    });
    judge(
        "the Debian package is installed where nothing else is",
        installed,
    );
    let Some(root) = root else { return };
    judge("`man` shows its pages", manual(&root));
    judge("it measures a file", measured(&root));
    judge("bash completes a stage of the stored run", completed(&root));
    judge("removed it leaves nothing", removed(&root, &before));
}

fn manual(root: &Root) -> Found {
    let shown = root.run("MANWIDTH=80 man diskfacts | cat; man diskfacts-runs-delete | cat")?;
    expect(&shown, "diskfacts - get the facts about your storage")?;
    expect(&shown, "EXIT STATUS")?;
    expect(&shown, "diskfacts-runs-delete - ")?;
    Ok(())
}

fn measured(root: &Root) -> Found {
    let said = root.run(
        "head -c 16777216 /dev/urandom >/tmp/file && diskfacts measure /tmp/file --time 1s --stage \
         sequential-read --quiet && diskfacts runs",
    )?;
    expect(&said, "sequential-read")?;
    expect(&said, "complete")?;
    Ok(())
}

fn completed(root: &Root) -> Found {
    fs::write(root.folder.join("tmp/complete.bash"), COMPLETE)
        .map_err(|error| format!("writing a script: {error}"))?;
    let said = root.run("bash --norc /tmp/complete.bash")?;
    expect(&said, "-F _diskfacts diskfacts")?;
    expect(&said, "offered: sequential-read\n")?;
    Ok(())
}

fn removed(root: &Root, before: &str) -> Found {
    root.run("dpkg --purge diskfacts")?;
    let after = root.files()?;
    let left: Vec<&str> = after
        .lines()
        .filter(|file| !before.lines().any(|was| was == *file))
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(Not::Passed(format!("left behind: {}", left.join(", "))))
}

/// A Debian of its own, which is gone with this value.
struct Root {
    folder: PathBuf,
}

impl Root {
    fn new(made: &Made) -> Result<Self, Not> {
        needs_root()?;
        needs("mmdebstrap", "mmdebstrap")?;
        needs("unshare", "util-linux")?;
        let suite = suite()?;
        let root = Self {
            folder: made.folder.join("root"),
        };
        let mut bootstrap = Command::new("mmdebstrap");
        bootstrap
            .args(["--quiet", "--mode=root", "--variant=essential"])
            .args(["--include=man-db,bash-completion", &suite])
            .arg(&root.folder);
        // A mirror that does not answer is a failure: a test that is skipped there would look as
        // if there were no Debian here.
        output(&mut bootstrap)?;
        let package = root.folder.join(PACKAGE);
        fs::copy(made.ending(".deb")?, &package)
            .map_err(|error| format!("copying to {}: {error}", package.display()))?;
        Ok(root)
    }

    /// What a script prints in the root, which is a mount of its own meanwhile, so that it is
    /// known where files lie, with a `/proc` and a `/sys`. All mounts are gone with it.
    fn run(&self, script: &str) -> Result<String, String> {
        let inside = "mount --bind \"$0\" \"$0\"; mount -t proc proc \"$0/proc\"; mount -t sysfs sysfs \"$0/sys\"; \
                      exec chroot \"$0\" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
                      HOME=/tmp/home LC_ALL=C.UTF-8 /bin/sh -ec \"$1\"";
        let mut apart = Command::new("unshare");
        apart
            .args([
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "/bin/sh",
                "-ec",
                inside,
            ])
            .arg(&self.folder)
            .arg(script);
        output(&mut apart)
    }

    /// What lies in it, a path a line, sorted.
    fn files(&self) -> Result<String, String> {
        let mut find = Command::new("find");
        find.current_dir(&self.folder).arg(".");
        for path in NOT_LOOKED_AT {
            find.args(["-path", path, "-prune", "-o"]);
        }
        let found = output(find.arg("-print"))?;
        let mut lines: Vec<&str> = found.lines().collect();
        lines.sort_unstable();
        Ok(lines.join("\n"))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder)
            && self.folder.exists()
        {
            eprintln!("removing {}: {error}", self.folder.display());
        }
    }
}

/// The Debian that this machine has, of which the mirror has packages.
fn suite() -> Result<String, Not> {
    let release = Path::new("/etc/os-release");
    let text = fs::read_to_string(release).unwrap_or_default();
    let value = |key: &str| {
        let mut lines = text.lines();
        lines
            .find_map(|line| line.strip_prefix(key))
            .map(|value| value.trim_matches('"'))
    };
    match (value("ID="), value("VERSION_CODENAME=")) {
        (Some("debian"), Some(suite)) => Ok(suite.to_owned()),
        _ => Err(Not::Run(
            "Debian: a root is made of its packages".to_owned(),
        )),
    }
}
