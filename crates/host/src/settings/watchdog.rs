//! A process that puts everything back when the one that changes settings dies
//! without having done so, as after SIGKILL.
//!
//! It is the same executable with a hidden command, in a session of its own, deaf to
//! SIGINT, SIGTERM and SIGHUP, in the root folder, and holds nothing of its parent
//! but its journal with the folder of it, and the locks of the devices. Its standard input
//! is a socket. A parent that lives says a word there before it waits for its watchdog,
//! always; when the socket ends without one, the parent is dead. So the watchdog waits only
//! for a dead parent to be gone, and never for one that waits for it.
//!
//! It is started, and has said that it is ready, before the journal is written, and
//! so before the first setting is changed.

use super::error::SettingsError;
use super::journal::{Journal, NEW, content};
use super::leftovers::{enter, remove_stale_groups};
use super::restore::put_back;
use super::steps::Steps;
use crate::roots::Roots;
use crate::trace::remove_stale_instances;
use rustix::fs::{AtFlags, SeekFrom, unlinkat};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The hidden command.
pub const WATCHDOG: &str = "settings-watchdog";

/// What it says when it watches.
const READY: u8 = b'r';
/// What its parent says when there is nothing to do for it.
const DONE: u8 = b'd';
/// What its parent says that could not put back everything, and lives.
const AGAIN: u8 = b'a';
/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(1);

/// A watchdog of this process.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
    socket: Option<UnixStream>,
}

impl Watchdog {
    /// Starts `executable` as one for the journal that is going to be `journal`.
    /// It shares the open files `inherited`, of which the first two are the journal and its
    /// folder, and moves itself into `groups`.
    pub(super) fn start(
        executable: &Path,
        journal: &Path,
        inherited: &[&File],
        groups: &[PathBuf],
    ) -> Result<Self, SettingsError> {
        let failed = |doing| move |source| SettingsError::Watchdog { doing, source };
        let (ours, theirs) = UnixStream::pair().map_err(failed("making a socket"))?;
        let kept: Vec<RawFd> = inherited.iter().map(|file| file.as_raw_fd()).collect();
        let list: Vec<String> = kept.iter().map(ToString::to_string).collect();
        let mut command = Command::new(executable);
        command
            .arg0("diskfacts")
            .arg(WATCHDOG)
            .arg(journal)
            .arg(std::process::id().to_string())
            .arg(list.join(","))
            .args(groups)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let keep = move || {
            for number in &kept {
                // SAFETY: the files are borrowed by the caller until after `spawn`,
                // and the child has copies of their descriptors.
                let file = unsafe { BorrowedFd::borrow_raw(*number) };
                fcntl_setfd(file, FdFlags::empty())?;
            }
            Ok(())
        };
        // SAFETY: between fork and exec it only calls fcntl(2), which may be called
        // there (signal-safety(7)); nothing is allocated.
        unsafe { command.pre_exec(keep) };
        let child = command.spawn().map_err(failed("starting it"))?;
        // The child's end is held by the command, and would keep it from being seen
        // to end.
        drop(command);
        let mut watchdog = Self {
            child,
            socket: Some(ours),
        };
        watchdog.wait_until_ready()?;
        Ok(watchdog)
    }

    fn wait_until_ready(&mut self) -> Result<(), SettingsError> {
        let failed = |source| SettingsError::Watchdog {
            doing: "waiting until it is ready",
            source,
        };
        let mut said = [0];
        let Some(socket) = &mut self.socket else {
            return Ok(());
        };
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        socket.read_exact(&mut said).map_err(failed)?;
        if said == [READY] {
            return Ok(());
        }
        let odd = io::Error::new(io::ErrorKind::InvalidData, "it said something else");
        Err(failed(odd))
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Everything is put back: it may end.
    pub(super) fn done(mut self) {
        self.say(DONE);
    }

    /// Not everything is put back: it tries once more, and has ended when this returns.
    /// Whether all is put back then, and the journal gone.
    pub(super) fn again(mut self) -> bool {
        self.say(AGAIN);
        self.child.wait().is_ok_and(|status| status.success())
    }

    /// Its last word.
    fn say(&mut self, word: u8) {
        if let Some(mut socket) = self.socket.take() {
            // It may have been killed; then nobody has to be told.
            let _ = socket.write_all(&[word]);
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Where nothing was said before this, not everything is put back.
        self.say(AGAIN);
        let _ = self.child.wait();
    }
}

/// What the hidden command does: watches, restores, ends. `arguments` are those
/// behind [`WATCHDOG`]; `steps` are told of those of putting back.
///
/// # Errors
/// When its arguments are not those that its parent gives, it cannot
/// say that it is ready, or not everything could be put back. Nobody reads them, but its
/// parent sees how it ends.
pub fn watch(arguments: &[OsString], steps: &mut Steps) -> io::Result<()> {
    let [journal, process, kept, groups @ ..] = arguments else {
        let odd = "settings-watchdog is started by diskfacts itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, odd));
    };
    let kept = numbers(kept);
    let [of_journal, of_folder, ..] = kept[..] else {
        let odd = "settings-watchdog is given its journal and the folder of it";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, odd));
    };
    let process = process.to_string_lossy().parse().ok();
    // Of a session of its own it is when it was started as a leader of a group.
    let _ = rustix::process::setsid();
    ignore_signals();
    close_others(&kept);
    let groups: Vec<PathBuf> = groups.iter().map(PathBuf::from).collect();
    enter(&groups);
    let kept = Kept {
        name: Path::new(journal)
            .file_name()
            .unwrap_or_default()
            .to_owned(),
        // SAFETY: its parent gave these numbers to it and keeps no others open in it; they
        // were not closed above, and nothing closes them before this process ends.
        file: unsafe { BorrowedFd::borrow_raw(of_journal) }
            .try_clone_to_owned()?
            .into(),
        // SAFETY: as above.
        folder: unsafe { BorrowedFd::borrow_raw(of_folder) }
            .try_clone_to_owned()?
            .into(),
    };
    let mut parent = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    parent.write_all(&[READY])?;
    let mut said = [0];
    let word = loop {
        match parent.read(&mut said) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A socket that fails is one whose other end is gone.
            Err(_) | Ok(0) => break None,
            Ok(_) => break Some(said[0]),
        }
    };
    if word == Some(DONE) {
        return Ok(());
    }
    let roots = Roots::default();
    let back = kept.restore(&roots, steps);
    // A parent that lives removes what else it made itself.
    if word.is_none() {
        wait_for_end(process);
        remove_stale_groups(&roots);
        // Where there are none, and where they cannot be removed, which the next
        // `diskfacts restore` says, nothing is left to do here.
        let _ = remove_stale_instances(&roots);
    }
    back
}

/// The journal of the parent, as the parent opened it.
struct Kept {
    name: OsString,
    file: File,
    folder: File,
}

impl Kept {
    /// Puts back what the parent changed. The locks are held until the very end, so that
    /// nobody comes between.
    fn restore(&self, roots: &Roots, steps: &mut Steps) -> io::Result<()> {
        // The parent wrote it by the same open file, and left off at its end.
        rustix::fs::seek(&self.file, SeekFrom::Start(0))?;
        let bytes = content(&self.file)?;
        if let Ok(journal) = Journal::parse(&bytes) {
            let back = put_back(roots, &journal, steps);
            if !back.is_complete() {
                // The next start says what.
                return Err(io::Error::other(back.failed.join("; ")));
            }
        }
        // One that was being written is not whole: nothing had been changed.
        let mut unfinished = self.name.clone();
        unfinished.push(NEW);
        steps.reach("removing the journal");
        for name in [&self.name, &unfinished] {
            match unlinkat(&self.folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        steps.reach("syncing the folder without the journal");
        self.folder.sync_all()
    }
}

/// Files of a dying process are closed before it leaves its control groups, and
/// before its children are given another parent.
fn wait_for_end(parent: Option<i32>) {
    let until = Instant::now() + PATIENCE;
    let number = || rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    while parent.is_some() && number() == parent && Instant::now() < until {
        sleep(PAUSE);
    }
}

fn numbers(list: &OsStr) -> Vec<RawFd> {
    let list = list.to_string_lossy();
    list.split(',').filter_map(|n| n.parse().ok()).collect()
}

fn ignore_signals() {
    for signal in [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGPIPE,
    ] {
        // SAFETY: SIG_IGN is no function, so nothing runs when a signal comes.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Closes what came from the parent's parents without being marked as not to be
/// inherited: a pipe of a shell would not end as long as it is open here.
fn close_others(kept: &[RawFd]) {
    let open = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let open: Vec<RawFd> = open
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .collect();
    for number in open {
        if number > 2 && !kept.contains(&number) {
            // SAFETY: at the start of this process nothing of it has a file open but
            // the three standard streams; the folder that was listed is closed.
            unsafe { libc::close(number) };
        }
    }
}
