//! What a scenario works with: the disks it asked for, programs, and what it
//! has built, which is taken down again when it ends.

use crate::command::{self, Ended, LIMIT};
use crate::{disks, sysfs, wire};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Why a scenario could not go on.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Something that should work does not.
    Failed(String),
    /// Something is not there: a tool, a module of the kernel.
    Missing(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

pub(crate) type Built<T = ()> = Result<T, Trouble>;

/// One scenario as it is done.
pub(crate) struct Guest {
    name: String,
    /// What takes down what was built, in the order of building.
    undo: Vec<String>,
    /// Where the output of programs is kept, for people to look at.
    outputs: PathBuf,
    programs: u32,
    /// Files of its own, gone at its end.
    files: Vec<String>,
    /// Checks that were told.
    checks: u64,
}

impl Guest {
    pub(crate) fn new(name: &str) -> Self {
        let outputs = PathBuf::from("/share").join(name.replace(':', "-"));
        // Where the host has no folder for it, it is kept in memory.
        let outputs = match fs::create_dir_all(&outputs) {
            Ok(()) => outputs,
            Err(_) => PathBuf::from("/tmp"),
        };
        Self {
            name: name.to_owned(),
            undo: Vec::new(),
            outputs,
            programs: 0,
            files: Vec::new(),
            checks: 0,
        }
    }

    /// Counts a check, under the words of what must hold.
    pub(crate) fn check(&mut self, holds: &str, found: Result<(), String>) {
        self.checks += 1;
        wire::tell(&match found {
            Ok(()) => json!({ "passed": holds }),
            Err(why) => json!({ "failed": holds, "why": why }),
        });
    }

    /// The scenario's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many checks it has told.
    pub(crate) fn checks(&self) -> u64 {
        self.checks
    }

    /// Counts a check that cannot be done here.
    pub(crate) fn skip(&mut self, check: &str, why: &str) {
        self.checks += 1;
        wire::tell(&json!({ "skipped": check, "why": why }));
    }

    /// The path of a disk of the lab, known by its size, with zeros on all of it:
    /// what another scenario left there would be data.
    pub(crate) fn disk(&mut self, name: &str) -> Built<String> {
        let disk = paths(name, 1)?.swap_remove(0);
        let zoned = sysfs::name_of(&disk)
            .ok()
            .and_then(|name| sysfs::queue(&name, "zoned"));
        if zoned.is_some_and(|zoned| zoned == "host-managed") {
            self.sh(&format!("blkzone reset {disk}"))?;
        } else if sysfs::attribute(&sysfs::name_of(&disk)?, "ro").as_deref() == Some("0") {
            self.sh(&format!("blkdiscard --zeroout {disk}"))?;
        }
        Ok(disk)
    }

    /// Loads modules of the kernel, with options behind a name.
    pub(crate) fn modules(&mut self, modules: &[&str]) -> Built {
        for module in modules {
            let ended = self.try_sh(&format!("modprobe {module}"))?;
            if !ended.ok() {
                let what = format!("the kernel's module {module}: {}", ended.summary());
                return Err(Trouble::Missing(what));
            }
        }
        Ok(())
    }

    /// Asks for programs, by name and package.
    pub(crate) fn tools(&mut self, tools: &[(&str, &str)]) -> Built {
        for (tool, package) in tools {
            if !self.try_sh(&format!("command -v {tool}"))?.ok() {
                let what = format!("{tool}: apt-get install {package}");
                return Err(Trouble::Missing(what));
            }
        }
        Ok(())
    }

    /// A line of shell that must succeed; what it prints.
    pub(crate) fn sh(&mut self, line: &str) -> Built<String> {
        let ended = self.try_sh(line)?;
        if ended.ok() {
            Ok(ended.stdout.trim().to_owned())
        } else {
            Err(Trouble::Failed(format!("`{line}` {}", ended.summary())))
        }
    }

    /// A line of shell, however it ends.
    pub(crate) fn try_sh(&mut self, line: &str) -> Built<Ended> {
        // busybox's own shell prefers its own tools to those that it finds.
        let mut command = Command::new("dash");
        command.args(["-ec", line]);
        self.run(command, "sh", LIMIT)
    }

    /// A program to its end, or to its limit.
    pub(crate) fn run(&mut self, command: Command, name: &str, limit: Duration) -> Built<Ended> {
        self.programs += 1;
        let files = self.outputs.join(format!("{:03}-{name}", self.programs));
        let shown = format!("{command:?}\n");
        // For people only.
        drop(fs::write(files.with_extension("cmd"), shown));
        command::run(command, &files, limit)
            .map_err(|error| Trouble::Failed(format!("running {name}: {error}")))
    }

    /// A file of the scenario's own, in memory.
    pub(crate) fn file(&mut self, name: &str, content: &str) -> Built<String> {
        let path = format!("/tmp/{name}");
        fs::write(&path, content).map_err(|error| format!("writing {path}: {error}"))?;
        self.files.push(path.clone());
        Ok(path)
    }

    /// What takes down what was just built.
    pub(crate) fn later(&mut self, line: &str) {
        self.undo.push(line.to_owned());
    }

    /// A folder to mount something at, and the mount.
    pub(crate) fn mount(&mut self, options: &str, what: &str) -> Built<String> {
        let folder = format!("/mnt/{}-{}", self.name.replace(':', "-"), self.undo.len());
        self.sh(&format!(
            "mkdir -p {folder} && mount {options} {what} {folder}"
        ))?;
        self.later(&format!("umount {folder} && rmdir {folder}"));
        Ok(folder)
    }

    /// A mapping of device mapper by its table; its path.
    pub(crate) fn mapping(&mut self, name: &str, table: &str) -> Built<String> {
        let file = self.file(&format!("{name}.table"), &format!("{table}\n"))?;
        self.sh(&format!(
            "dmsetup create {name} {file} && dmsetup mknodes {name}"
        ))?;
        self.later(&format!("dmsetup remove --retry {name}"));
        Ok(format!("/dev/mapper/{name}"))
    }

    /// Takes all down, the last first.
    pub(crate) fn take_down(&mut self) -> Result<(), String> {
        for file in std::mem::take(&mut self.files) {
            // It may be there no more, or was written twice.
            drop(fs::remove_file(file));
        }
        let mut problems = Vec::new();
        for line in std::mem::take(&mut self.undo).iter().rev() {
            if let Err(Trouble::Failed(why) | Trouble::Missing(why)) = self.sh(line) {
                problems.push(why);
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("; "))
        }
    }
}

/// The paths of a disk that is there `count` times. Its driver may be
/// looking for it still.
pub(crate) fn paths(name: &str, count: usize) -> Built<Vec<String>> {
    let disk = disks::find(name).ok_or_else(|| format!("the lab has no disk '{name}'"))?;
    let sectors = disk.bytes() / 512;
    let found = until(|| {
        let found: Vec<String> = sysfs::disks()
            .into_iter()
            .filter(|name| !sysfs::is_made(name))
            .filter(|name| sysfs::number(name, "size") == Some(sectors))
            .map(|name| format!("/dev/{name}"))
            .collect();
        (found.len() == count).then_some(found)
    });
    found.ok_or_else(|| Trouble::Failed(format!("the kernel does not show the disk {name}")))
}

/// Waits for something that the kernel does by itself; not for ever.
pub(crate) fn until<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    wait_for(600, look)
}

/// The same, for something that may as well never be.
pub(crate) fn soon<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    wait_for(20, look)
}

fn wait_for<T>(times: u32, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..times {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    None
}
