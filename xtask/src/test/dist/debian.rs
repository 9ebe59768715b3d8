//! The Debian package in a root of its own, in which is only what every Debian has, `man`, the
//! completion of bash, and the other shells. What is typed there are the lines of the README.

use super::{Found, Made, Not, expect, needs, needs_root};
use crate::project::{Project, output};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder in the root that stands for the checkout.
const CHECKOUT: &str = "tmp/checkout";

/// What dpkg, apt, man-db and ldconfig note of every package, and what those who use it put there.
const NOT_LOOKED_AT: [&str; 9] = [
    "./proc",
    "./sys",
    "./dev",
    "./tmp",
    "./run",
    "./var/cache",
    "./var/lib/apt",
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
pub(super) fn test(project: &Project, made: &Made, judge: &mut impl FnMut(&str, Found)) {
    let readme = project.root.join("README.md");
    let install = fs::read_to_string(&readme)
        .map_err(|error| format!("reading {}: {error}", readme.display()))
        .and_then(|readme| Install::read(&readme));
    let install = match install {
        Ok(install) => install,
        Err(why) => return judge("the README says how to install", Err(Not::Passed(why))),
    };
    let mut root = None;
    let mut before = String::new();
    let installed = Root::new(made).and_then(|new| {
        before = new.files()?;
        // Nobody asks for leave there: whoever types is root.
        let line = install.package.replace("sudo ", "");
        let said = new.run(&format!(
            "cd /{CHECKOUT} && {line} </dev/null && diskfacts --version"
        ))?;
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
    judge("zsh and fish complete, too", others_complete(&root));
    judge(
        "beside `cargo install`, the README's lines make man and completions work",
        beside_cargo(&root, &install),
    );
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

fn others_complete(root: &Root) -> Found {
    let said = root.run(
        "zsh -fc 'autoload -Uz compinit && compinit -u -d /tmp/zcompdump && \
         echo \"zsh: ${_comps[diskfacts]}\"'",
    )?;
    expect(&said, "zsh: _diskfacts")?;
    let said =
        root.run("fish -c 'complete --do-complete \"diskfacts show --stage sequential-r\"'")?;
    expect(&said, "sequential-read")?;
    Ok(())
}

/// The program lies where cargo installs it; what follows in the README is typed as it stands.
fn beside_cargo(root: &Root, install: &Install) -> Found {
    let Install { pages, bashrc, .. } = install;
    let said = root.run(&format!(
        "mkdir -p ~/.cargo/bin && cp /usr/bin/diskfacts ~/.cargo/bin/ && PATH=~/.cargo/bin:$PATH
         {pages}
         {bashrc}
         man -w diskfacts
         MANWIDTH=80 man diskfacts-measure | cat
         bash -ic 'complete -p diskfacts' 2>/dev/null
         rm -r ~/.cargo ~/.bashrc"
    ))?;
    expect(&said, "/.cargo/share/man/man1/diskfacts.1")?;
    expect(&said, "diskfacts-measure - ")?;
    expect(&said, "-F _diskfacts diskfacts")?;
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

/// The lines of the README's part on installing that are typed, without what stands behind them.
struct Install {
    /// Installs the Debian package that lies in the checkout.
    package: String,
    /// Writes the manual pages beside what cargo installed.
    pages: String,
    /// Has bash complete.
    bashrc: String,
}

impl Install {
    /// # Errors
    /// When one of them is not there.
    fn read(readme: &str) -> Result<Self, String> {
        let part = readme
            .split("\n## ")
            .find(|part| part.starts_with("Install\n"));
        let part = part.ok_or("the README has no part 'Install'")?;
        let line = |has: &str| {
            let mut lines = part.lines();
            let line = lines.find(|line| line.contains(has));
            let line = line.and_then(|line| line.split("  #").next());
            let line = line.map(|line| line.trim().to_owned());
            line.ok_or_else(|| format!("the README's part 'Install' has no line with '{has}'"))
        };
        Ok(Self {
            package: line("apt install ./")?,
            pages: line("diskfacts man ")?,
            bashrc: line("diskfacts completions bash")?,
        })
    }
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
            .args(["--quiet", "--mode=root", "--variant=apt"])
            .args(["--include=man-db,bash-completion,zsh,fish", &suite])
            .arg(&root.folder);
        // A mirror that does not answer is a failure: a test that is skipped there would look as
        // if there were no Debian here.
        output(&mut bootstrap)?;
        let package = made.ending(".deb")?;
        let name = package
            .file_name()
            .ok_or("the package has no name".to_owned())?;
        let folder = root.folder.join(CHECKOUT).join("target/packages");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::create_dir_all(root.folder.join("tmp/home")))
            .and_then(|()| fs::copy(package, folder.join(name)))
            .map_err(|error| format!("copying to {}: {error}", folder.display()))?;
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

#[cfg(test)]
mod tests {
    use super::Install;

    #[test]
    fn the_lines_of_the_readme_are_typed_without_what_stands_behind_them() {
        let install = Install::read(include_str!("../../../../README.md")).expect("its lines");
        assert_eq!(
            install.package,
            "sudo apt install ./target/packages/diskfacts_*.deb"
        );
        assert_eq!(install.pages, "diskfacts man ~/.cargo/share/man/man1");
        assert_eq!(
            install.bashrc,
            "echo 'source <(diskfacts completions bash)' >>~/.bashrc"
        );
        assert!(Install::read("# x\n\n## Install\n\nBy hand.\n").is_err());
    }
}
