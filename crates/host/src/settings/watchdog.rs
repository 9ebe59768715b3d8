//! A process that puts everything back when the one that changes settings dies
//! without having done so, as after SIGKILL.
//!
//! It is the same executable with a hidden command, in a session of its own, deaf to
//! SIGINT, SIGTERM and SIGHUP, in the root folder, and holds nothing of its parent
//! but the locks: its journal's, and those of the devices. Its standard input is a
//! socket. When that ends without a word, the parent is dead.
//!
//! It is started, and has said that it is ready, before the journal is written, and
//! so before the first setting is changed.

use super::error::SettingsError;
use super::journal::{Journal, sync_folder};
use super::leftovers::{enter, remove_stale_groups};
use super::restore::put_back;
use super::steps::Steps;
use crate::roots::Roots;
use crate::trace::remove_stale_instances;
use rustix::io::{FdFlags, fcntl_setfd};
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
    /// It shares the open files `inherited`, and moves itself into `groups`.
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
        if let Some(socket) = &mut self.socket {
            // It may have been killed; then nobody has to be told.
            let _ = socket.write_all(&[DONE]);
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Without a word before this it puts back what is not as it was.
        self.socket = None;
        let _ = self.child.wait();
    }
}

/// What the hidden command does: watches, restores, ends. `arguments` are those
/// behind [`WATCHDOG`].
///
/// # Errors
/// When its arguments are not those that its parent gives, or it cannot
/// say that it is ready. Nobody reads them, but its parent sees it end.
pub fn watch(arguments: &[OsString]) -> io::Result<()> {
    let [journal, process, kept, groups @ ..] = arguments else {
        let odd = "settings-watchdog is started by diskfacts itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, odd));
    };
    let journal = Path::new(journal);
    let process = process.to_string_lossy().parse().ok();
    // Of a session of its own it is when it was started as a leader of a group.
    let _ = rustix::process::setsid();
    ignore_signals();
    close_others(&numbers(kept));
    let groups: Vec<PathBuf> = groups.iter().map(PathBuf::from).collect();
    enter(&groups);
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
    if word != Some(DONE) {
        restore(journal, process);
    }
    Ok(())
}

/// Puts back what the dead process changed, and removes what it left. The locks are
/// held until the very end, so that nobody comes between.
fn restore(journal: &Path, process: Option<i32>) {
    let roots = Roots::default();
    if let Ok(bytes) = fs::read(journal) {
        let whole = match Journal::parse(&bytes) {
            Ok(journal) => put_back(&roots, &journal, &mut Steps::default()).is_complete(),
            Err(_) => false,
        };
        // What could not be put back is said by the next start.
        if whole {
            let _ = fs::remove_file(journal);
        }
    }
    // One that was being written: nothing had been changed.
    let mut unfinished = journal.as_os_str().to_owned();
    unfinished.push(".new");
    let _ = fs::remove_file(unfinished);
    let _ = journal.parent().map(sync_folder);
    wait_for_end(process);
    remove_stale_groups(&roots);
    // Where there are none, and where they cannot be removed, which the next
    // `diskfacts restore` says, nothing is left to do here.
    let _ = remove_stale_instances(&roots);
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
