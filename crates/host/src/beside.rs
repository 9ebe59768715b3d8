//! Questions that may get no answer, asked by processes beside this one.
//!
//! Who asks a filesystem that hangs (a dead server of NFS, a FUSE program that stopped)
//! waits in the kernel, where no signal reaches him, and a process with such a thread
//! cannot end. So a process is made for each question, and left behind where there is no
//! answer within [`ANSWERS_WITHIN`]: it ends when the filesystem answers. It is a fork of
//! this one and not this program again, so that a library may ask, too.

use crate::answering::ANSWERS_WITHIN;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::CString;
use std::io::{self, PipeReader, Read, pipe};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

/// What an answer is made of; each question says what its words mean.
pub(crate) type Words = [u64; 4];

/// An answer as it comes through the pipe: the error number, or 0, and the words.
const REPLY_BYTES: usize = 5 * size_of::<u64>();

/// Questions that are asked at once; each takes a descriptor.
const AT_ONCE: usize = 64;

/// The descriptors that are closed one by one where there is no `close_range(2)`, before
/// Linux 5.9.
const MOST_DESCRIPTORS: libc::c_int = 1 << 16;

/// What `ask` answers to each of the questions, in their order; [`io::ErrorKind::TimedOut`]
/// where it does not.
///
/// # Safety
/// `ask` must do what may be done after a fork of a process with threads
/// (signal-safety(7)): system calls, no allocation, no locks.
pub(crate) unsafe fn answers<Q>(
    questions: &[Q],
    ask: fn(&Q) -> Result<Words, Errno>,
) -> Vec<io::Result<Words>> {
    let mut answers = Vec::new();
    for questions in questions.chunks(AT_ONCE) {
        let until = Instant::now() + ANSWERS_WITHIN;
        // SAFETY: as this function asks of its caller.
        let asked = questions
            .iter()
            .map(|question| unsafe { Asked::begin(question, ask) });
        let asked: Vec<io::Result<Asked>> = asked.collect();
        answers.extend(asked.into_iter().map(|asked| asked?.answer(until)));
    }
    answers
}

/// A process that asks one question.
struct Asked {
    process: Pid,
    pipe: PipeReader,
    /// Whether it has said all, and only has to end.
    answered: bool,
}

impl Asked {
    /// # Safety
    /// As [`answers`].
    unsafe fn begin<Q>(question: &Q, ask: fn(&Q) -> Result<Words, Errno>) -> io::Result<Self> {
        let (pipe, theirs) = pipe()?;
        // SAFETY: the child makes system calls only, as the caller promises of `ask`, and
        // never returns from here.
        match unsafe { libc::fork() } {
            0 => {
                let kept = theirs.as_raw_fd();
                // SAFETY: nothing of this process uses the descriptors that are closed;
                // close_range, close and chdir may be called after a fork, and `_exit` ends it.
                unsafe {
                    close_all_but(kept);
                    libc::chdir(c"/".as_ptr());
                }
                let (errno, words) = match ask(question) {
                    Ok(words) => (0, words),
                    Err(errno) => (errno.raw_os_error().unsigned_abs().into(), Words::default()),
                };
                let [a, b, c, d] = words;
                let reply = [errno, a, b, c, d];
                // SAFETY: the reply has that many bytes, and the descriptor is open.
                unsafe {
                    libc::write(kept, reply.as_ptr().cast(), REPLY_BYTES);
                    libc::_exit(0)
                }
            }
            number => match Pid::from_raw(number).filter(|_| number > 0) {
                Some(process) => Ok(Self {
                    process,
                    pipe,
                    answered: false,
                }),
                None => Err(io::Error::last_os_error()),
            },
        }
    }

    fn answer(mut self, until: Instant) -> io::Result<Words> {
        if !self.has_answered(until)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.answered = true;
        let mut reply = [0; REPLY_BYTES];
        self.pipe.read_exact(&mut reply)?;
        let mut words = [0_u64; 5];
        for (word, bytes) in words.iter_mut().zip(reply.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        let [errno, a, b, c, d] = words;
        match i32::try_from(errno) {
            Ok(0) => Ok([a, b, c, d]),
            Ok(errno) => Err(io::Error::from_raw_os_error(errno)),
            Err(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Whether it has answered, or ended, until then.
    fn has_answered(&self, until: Instant) -> io::Result<bool> {
        let mut ready = [PollFd::new(&self.pipe, PollFlags::IN)];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or_default();
            match poll(&mut ready, Some(&left)) {
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
                Ok(ready) => return Ok(ready > 0),
            }
        }
    }
}

impl Drop for Asked {
    /// Who has answered has closed everything and ends by himself; who has not is not
    /// waited for.
    fn drop(&mut self) {
        let options = if self.answered {
            WaitOptions::empty()
        } else {
            // That fails only when it has ended.
            let _ = kill_process(self.process, Signal::KILL);
            WaitOptions::NOHANG
        };
        while matches!(waitpid(Some(self.process), options), Err(Errno::INTR)) {}
    }
}

/// # Safety
/// Nothing of this process may use its other descriptors any more.
unsafe fn close_all_but(kept: libc::c_int) {
    let close = |first: libc::c_int, last: libc::c_uint| {
        // SAFETY: close_range takes three numbers; the caller lets the descriptors go.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) == 0 }
    };
    let below = kept == 0 || close(0, (kept - 1).unsigned_abs());
    if below && close(kept + 1, libc::c_uint::MAX) {
        return;
    }
    for number in (0..MOST_DESCRIPTORS).filter(|number| *number != kept) {
        // SAFETY: as above.
        unsafe { libc::close(number) };
    }
}

/// What lies at a path, behind links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lies {
    /// Whether it is a regular file.
    pub(crate) is_file: bool,
    /// Its number, where it is a block device.
    pub(crate) block_device: Option<(u32, u32)>,
    /// The number of its filesystem, and of its inode there.
    pub(crate) filesystem: (u32, u32),
    pub(crate) inode: u64,
}

/// What lies at each of the paths.
pub(crate) fn what_lies_at<P: AsRef<Path>>(paths: &[P]) -> Vec<io::Result<Lies>> {
    let path = |path: &P| CString::new(path.as_ref().as_os_str().as_bytes()).unwrap_or_default();
    let paths: Vec<CString> = paths.iter().map(path).collect();
    let ask = |path: &CString| {
        let mask = StatxFlags::TYPE | StatxFlags::INO;
        let found = statx(CWD, path.as_c_str(), AtFlags::empty(), mask)?;
        let number = |major: u32, minor: u32| u64::from(major) << 32 | u64::from(minor);
        let kind = match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::RegularFile => 1,
            FileType::BlockDevice => 2,
            _ => 0,
        };
        Ok([
            kind,
            number(found.stx_rdev_major, found.stx_rdev_minor),
            number(found.stx_dev_major, found.stx_dev_minor),
            found.stx_ino,
        ])
    };
    // SAFETY: it makes one system call, with a path that is there already.
    let answers = unsafe { answers(&paths, ask) };
    let lies = |[kind, device, filesystem, inode]: Words| Lies {
        is_file: kind == 1,
        block_device: (kind == 2).then(|| numbers(device)),
        filesystem: numbers(filesystem),
        inode,
    };
    answers.into_iter().map(|answer| answer.map(lies)).collect()
}

/// Major and minor number out of one word.
pub(crate) fn numbers(word: u64) -> (u32, u32) {
    let half = |word: u64| u32::try_from(word & 0xffff_ffff).unwrap_or(u32::MAX);
    (half(word >> 32), half(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_lies_at_paths_is_told_in_their_order_and_what_is_missing_by_its_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("a file");
        let missing = folder.path().join("missing");
        let many: Vec<&Path> = [file.as_path(), folder.path(), &missing]
            .into_iter()
            .cycle()
            .take(AT_ONCE + 2)
            .collect();
        let found = what_lies_at(&many);
        assert_eq!(found.len(), many.len());
        let inode = std::fs::metadata(&file).expect("the file").ino();
        for (path, found) in many.iter().zip(found) {
            if *path == missing {
                let error = found.expect_err("nothing is there");
                assert_eq!(error.kind(), io::ErrorKind::NotFound);
                continue;
            }
            let found = found.expect("it is there");
            assert_eq!(found.is_file, *path == file);
            assert_eq!(found.inode == inode, *path == file);
            assert_eq!(found.block_device, None);
        }
    }

    #[test]
    fn who_asks_holds_no_file_of_this_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::create(folder.path().join("file")).expect("a file");
        let ask = |file: &std::fs::File| {
            let closed = rustix::io::fcntl_getfd(file) == Err(Errno::BADF);
            Ok([closed.into(), 0, 0, 0])
        };
        // SAFETY: it makes one system call.
        let answers = unsafe { answers(&[file], ask) };
        let words = answers.into_iter().next().expect("an answer");
        assert_eq!(words.expect("an answer"), [1, 0, 0, 0]);
    }
}
