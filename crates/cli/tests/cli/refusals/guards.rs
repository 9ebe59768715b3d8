//! What is attached, mounted or switched on for a test, and taken down in a panic too.

use crate::support::{Case, run_tool};
use diskfacts_testkit::{Missing, require_root, require_tool};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A file of zeros.
pub(super) fn zeros(path: &Path, bytes: u64) {
    let file = File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.set_len(bytes).expect("its length");
}

/// Runs a tool and answers what it printed.
pub(super) fn answer<A: AsRef<OsStr>>(
    tool: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, Missing> {
    let output = Command::new(tool)
        .args(arguments)
        .output()
        .map_err(|error| Missing::new(tool.display(), error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Missing::new(tool.display(), said))
}

/// A loop device over a file or a device, however they are named by then.
pub(super) struct Attached {
    pub(super) path: PathBuf,
}

impl Attached {
    pub(super) fn new(over: &Path, options: &[&str]) -> Result<Self, Missing> {
        require_root()?;
        let losetup = require_tool("losetup", "mount")?;
        let arguments = options
            .iter()
            .map(OsStr::new)
            .chain(["--find", "--show"].map(OsStr::new))
            .chain([over.as_os_str()]);
        Ok(Self {
            path: answer(&losetup, arguments)?.into(),
        })
    }

    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let losetup = require_tool("losetup", "mount").expect("it made this");
        let detached = answer(&losetup, [OsStr::new("--detach"), self.path.as_os_str()]);
        // Who has it open for a moment keeps it for that long: it is asked for again and
        // again.
        let attached = Path::new("/sys/block").join(self.name()).join("loop");
        let gone = (0..2_000)
            .any(|_| !attached.exists() || answer(&losetup, [self.path.as_os_str()]).is_err());
        assert!(
            gone || std::thread::panicking(),
            "{} stays attached: {detached:?}",
            self.path.display()
        );
    }
}

/// A mount.
pub(super) struct Mounted {
    pub(super) at: PathBuf,
}

impl Mounted {
    pub(super) fn new(arguments: &[&OsStr], at: PathBuf) -> Result<Self, Missing> {
        require_root()?;
        let mount = require_tool("mount", "mount")?;
        if !at.exists() {
            fs::create_dir(&at).expect("a folder");
        }
        let all = arguments.iter().copied().chain([at.as_os_str()]);
        answer(&mount, all)?;
        Ok(Self { at })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let umount = require_tool("umount", "mount").expect("mount is there");
        let unmounted = answer(&umount, [&self.at]);
        if !std::thread::panicking() {
            unmounted.expect("unmounting");
        }
    }
}

/// `dd` onto a target, in a mount namespace of its own in which `over` lies on `at`: how
/// it ended, and what it said. Nobody else learns of that: what cannot be looked at is an
/// obstacle to the writes of others, too.
pub(super) fn dd_where_hidden(
    case: &Case,
    over: &Path,
    at: &Path,
    target: &Path,
) -> Result<(Option<i32>, String), Missing> {
    let unshare = require_tool("unshare", "util-linux")?;
    let dd = "mount --bind \"$1\" \"$2\"; exec \"$3\" --store \"$4\" dd if=/dev/urandom of=\"$5\" \
              count=8 --destroy-data-on \"$5\"";
    let output = Command::new(unshare)
        .args(["--mount", "--propagation", "private", "sh", "-c"])
        .arg(format!("set -e; {ALONE}; {dd}"))
        .arg("sh")
        .args([over, at, Path::new(env!("CARGO_BIN_EXE_diskfacts"))])
        .args([&case.store(), target])
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((output.status.code(), said))
}

/// What memory is swapped to.
pub(super) struct Swap {
    path: PathBuf,
}

impl Swap {
    pub(super) fn on(path: &Path) -> Result<Self, Missing> {
        require_root()?;
        let mkswap = require_tool("mkswap", "util-linux")?;
        let swapon = require_tool("swapon", "mount")?;
        answer(&mkswap, [path])?;
        answer(&swapon, [path])?;
        Ok(Self {
            path: path.to_owned(),
        })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let swapoff = require_tool("swapoff", "mount").expect("swapon is there");
        let off = answer(&swapoff, [&self.path]);
        if !std::thread::panicking() {
            off.expect("swapoff");
        }
    }
}

/// An ext4 filesystem, which is not mounted.
pub(super) fn ext4(device: &Path) -> Result<(), Missing> {
    run_tool(
        "mkfs.ext4",
        "e2fsprogs",
        &["-q", "-F", &device.to_string_lossy()],
    )
}

/// Zeros everywhere: no mark is left, nor a copy of one.
pub(super) fn wipe(device: &Path) {
    run_tool(
        "blkdiscard",
        "util-linux",
        &["--zeroout", "--force", &device.to_string_lossy()],
    )
    .expect("blkdiscard");
}

/// Lets go, in a new mount namespace, of the copies of what other tests have mounted: as
/// long as these stay, the tests could not take it down.
pub(super) const ALONE: &str = "while read -r device at kind rest; do \
    case \"$device $kind\" in /dev/loop*|*\\ fuse*) umount \"$at\" || true;; esac; \
    done < /proc/mounts";

/// An ext4 filesystem that writes nothing by itself: its tables are not made ready in
/// the background, and what mounting wrote is on the device.
pub(super) fn mount_ext4(device: &Path, at: PathBuf) -> Result<Mounted, Missing> {
    let options = ["-o", "noinit_itable"].map(OsStr::new);
    let mounted = Mounted::new(&[options[0], options[1], device.as_os_str()], at)?;
    run_tool("sync", "coreutils", &["-f", &mounted.at.to_string_lossy()])?;
    Ok(mounted)
}

/// The same for a shell: device and mount point.
pub(super) const MOUNT_EXT4: &str =
    "mount -o noinit_itable \"$1\" \"$2\"; sync -f \"$2\"; echo mounted";

/// Commands of a shell in a mount namespace of its own (or whatever else), which stays
/// until this is dropped; their first line of output says that they are done.
pub(super) struct Elsewhere {
    child: Child,
    /// The line that they printed.
    pub(super) said: String,
}

impl Elsewhere {
    pub(super) fn new(commands: &str, arguments: &[&Path]) -> Result<Self, Missing> {
        use std::io::{BufRead, BufReader};
        require_root()?;
        let unshare = require_tool("unshare", "util-linux")?;
        let mut child = Command::new(unshare)
            .args(["--mount", "--propagation", "private", "sh", "-c"])
            .arg(format!("set -e; {ALONE}; {commands}; read end || true"))
            .arg("sh")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Missing::new("unshare", error))?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut said)
            .expect("its output");
        let elsewhere = Self {
            child,
            said: said.trim().to_owned(),
        };
        if elsewhere.said.is_empty() {
            return Err(Missing::new("a mount namespace of its own", commands));
        }
        Ok(elsewhere)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let ended = self.child.wait();
        if !std::thread::panicking() {
            ended.expect("the end of the shell");
        }
    }
}
