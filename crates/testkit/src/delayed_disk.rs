//! A block device of known latency: each request is answered a fixed time after
//! it arrived, and it is written down when that was.
//!
//! It is a filesystem of our own (FUSE) with one file, which lies in memory, and
//! a loop device over that file that goes past the page cache. So a request of
//! the block layer becomes a request to a thread of this process:
//!
//! ```text
//! block layer -> loop device -> FUSE -> arrival .. delay .. reply
//! ```
//!
//! [`Served`] is the truth to hold a measured latency against: what the disk
//! itself took from arrival to reply, a stall of the machine included. What lies
//! between the block layer and the arrival (two threads that wake up) is not in
//! it: some 0.1 ms on a machine at rest.
//!
//! It has flaws on request: bytes that cannot be read or written
//! ([`DelayedDisk::fail`]), and a time without answers ([`DelayedDisk::stall_after`]).

mod flaws;

use crate::unmount::unmount;
use crate::{LoopDevice, LoopOptions, Missing, Scratch, require_root, tool};
use flaws::{Each, Flaws};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyWrite, Request, Session, WriteFlags,
};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// What a request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedKind {
    /// Data.
    Read,
    /// To keep data.
    Write,
}

/// A request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// What it asked for.
    pub kind: ServedKind,
    /// Where on the device, bytes.
    pub offset: u64,
    /// How much, bytes.
    pub bytes: u64,
    /// When it was handed to this process.
    pub arrived: Instant,
    /// When the answer was given to the kernel.
    pub replied: Instant,
}

impl Served {
    /// What the disk took: never less than its delay.
    pub fn service(&self) -> Duration {
        self.replied - self.arrived
    }
}

/// A loop device that answers each read and write a fixed time after its arrival;
/// a flush at once, unless it is told otherwise. It holds zeros. Everything is taken down when it is dropped.
///
/// Only **other processes** may read and write it. A thread that waits for a disk
/// cannot be killed, and keeps the files of its process open: if this process is
/// killed while one of its own threads waits for the disk that it serves, nobody
/// is left to answer, and it never ends.
#[derive(Debug)]
pub struct DelayedDisk {
    // Fields are dropped in order: detached before its file goes.
    device: LoopDevice,
    server: Server,
    /// Held: the folder that it is mounted in.
    _scratch: Arc<Scratch>,
}

impl DelayedDisk {
    /// A device of `size` bytes, all of them in memory from the beginning, that
    /// answers after `delay`.
    ///
    /// # Errors
    /// What is missing: root, FUSE, or loop devices.
    pub fn new(size: u64, delay: Duration) -> Result<Self, Missing> {
        require_root()?;
        Self::in_scratch(Scratch::new()?, size, delay)
    }

    pub(crate) fn in_scratch(
        scratch: Scratch,
        size: u64,
        delay: Duration,
    ) -> Result<Self, Missing> {
        let scratch = Arc::new(scratch);
        let server = Server::start(scratch.join("served"), size, delay)?;
        let options = LoopOptions {
            direct_io: true,
            ..LoopOptions::default()
        };
        let device = LoopDevice::over(Arc::clone(&scratch), server.at.join(FILE), options)?;
        Ok(Self {
            device,
            server,
            _scratch: scratch,
        })
    }

    /// The device, with its path and names.
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// From now on it answers nothing, until [`release`](Self::release) or its end.
    pub fn hold(&self) {
        self.server.gate.set(true);
    }

    /// The same, and nothing of the filesystem under it answers either: who looks at its
    /// file, as the driver does that is asked what it stands on, waits.
    ///
    /// # Errors
    /// When the kernel does not forget what it knows of the file.
    pub fn hold_filesystem(&self) -> io::Result<()> {
        self.server.gate.set(true);
        self.server.gate.state().filesystem = true;
        match &self.server.session {
            Some(session) => session.notifier().inval_inode(FILE_INODE, -1, 0),
            None => Ok(()),
        }
    }

    /// Whether a request waits for its [`release`](Self::release).
    pub fn holds(&self) -> bool {
        self.server.gate.state().waits
    }

    /// It answers again, and first what waits for that.
    pub fn release(&self) {
        self.server.gate.set(false);
    }

    /// From now on requests that touch these bytes are answered with this error
    /// number.
    pub fn fail(&self, bytes: Range<u64>, errno: i32) {
        let mut flaws = lock(&self.server.flaws);
        flaws.failing.push((bytes, errno));
    }

    /// Answers so many further requests, and then none for `pause`; once.
    pub fn stall_after(&self, requests: u64, pause: Duration) {
        lock(&self.server.flaws).stall = Some((requests, pause));
    }

    /// Answers so many further requests as before, and from then on each so much later.
    pub fn slow_down_after(&self, requests: u64, by: Duration) {
        lock(&self.server.flaws).slower = Some((requests, by));
    }

    /// From now on requests that begin in these bytes are answered so much later.
    pub fn slow_place(&self, bytes: Range<u64>, by: Duration) {
        lock(&self.server.flaws).place = Some((bytes, by));
    }

    /// From now on requests that begin in one of so many blocks of 4 KiB, anywhere, are answered
    /// so much later.
    pub fn slow_blocks(&self, one_in: u64, by: Duration) {
        lock(&self.server.flaws).blocks = Some((one_in, by));
    }

    /// From now on answers come later and later, by so much for each second that goes by.
    pub fn drift(&self, by: Duration) {
        lock(&self.server.flaws).drift = Some((Instant::now(), by));
    }

    /// From now on answers come so much later in every second of such turns.
    pub fn slow_by_turns(&self, turn: Duration, by: Duration) {
        lock(&self.server.flaws).turns = Some((Instant::now(), turn, by));
    }

    /// From now on a request is begun when the one before it is answered.
    pub fn one_at_a_time(&self) {
        lock(&self.server.flaws).one_at_a_time = true;
    }

    /// From now on no answer for `pause` before each request of this number and its multiples.
    pub fn stall_each(&self, requests: u64, pause: Duration) {
        lock(&self.server.flaws).stalls = Some(Each::new(requests, pause));
    }

    /// From now on each flush of this number and its multiples takes so long.
    pub fn slow_flush_each(&self, flushes: u64, takes: Duration) {
        lock(&self.server.flaws).slow_flushes = Some(Each::new(flushes, takes));
    }

    /// The requests that were answered since the last call, in the order of their
    /// arrival.
    pub fn served(&self) -> Vec<Served> {
        let mut log = self
            .server
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut log)
    }
}

impl Drop for DelayedDisk {
    /// What waits for a held disk would keep it from being taken down.
    fn drop(&mut self) {
        self.release();
    }
}

/// What holds answers back.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
    opened: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    held: bool,
    /// Whether what is asked about the file is held, too.
    filesystem: bool,
    /// Whether a request waits here.
    waits: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, held: bool) {
        let mut state = self.state();
        state.held = held;
        state.filesystem &= held;
        drop(state);
        self.opened.notify_all();
    }

    /// As [`pass`](Self::pass), for what is asked about the file.
    fn pass_filesystem(&self) {
        let state = self.state();
        if state.filesystem {
            drop(state);
            self.pass();
        }
    }

    fn pass(&self) {
        let mut state = self.state();
        while state.held {
            state.waits = true;
            state = self
                .opened
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waits = false;
    }
}

/// Name of the only file.
const FILE: &str = "disk";
const FILE_INODE: INodeNo = INodeNo(2);
/// Nothing about the file ever changes.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Requests that the kernel hands over at once; fuser's own 16 would be a queue
/// in front of the disk.
const IN_FLIGHT: u16 = 256;
/// How long before the time of an answer the thread wakes up and waits actively:
/// more than the kernel's timer slack of 50 us, and a wake-up.
const SPIN: Duration = Duration::from_micros(150);

fn lock(flaws: &Mutex<Flaws>) -> MutexGuard<'_, Flaws> {
    flaws.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The mounted filesystem and its threads.
#[derive(Debug)]
struct Server {
    at: PathBuf,
    flaws: Arc<Mutex<Flaws>>,
    log: Arc<Mutex<Vec<Served>>>,
    gate: Arc<Gate>,
    session: Option<BackgroundSession>,
    answering: Option<JoinHandle<()>>,
}

impl Server {
    fn start(at: PathBuf, size: u64, delay: Duration) -> Result<Self, Missing> {
        let missing = |error: &io::Error| {
            let remedy = match error.kind() {
                io::ErrorKind::NotFound => "modprobe fuse, or a kernel with CONFIG_FUSE_FS",
                _ => "run the tests where filesystems may be mounted",
            };
            Missing::new(
                format_args!("a FUSE filesystem in {}: {error}", at.display()),
                remedy,
            )
        };
        fs::create_dir(&at).map_err(|error| missing(&error))?;
        let memory = Arc::new(Mutex::new(touched(size)));
        let log = Arc::new(Mutex::new(Vec::new()));
        let gate = Arc::new(Gate::default());
        let flaws = Arc::new(Mutex::new(Flaws::default()));
        let (sender, receiver) = channel();
        let disk = Disk {
            memory: Arc::clone(&memory),
            size,
            delay,
            waiting: sender,
            gate: Arc::clone(&gate),
            flaws: Arc::clone(&flaws),
        };
        let (folder, kept, holds) = (at.clone(), Arc::clone(&log), Arc::clone(&gate));
        let asked = Arc::clone(&flaws);
        // Threads inherit the priority of the one that starts them: a thread of
        // its own lends them one.
        let starting = thread::spawn(move || -> io::Result<_> {
            go_first()?;
            let session = Session::new(disk, folder, &Config::default())?.spawn()?;
            let answering = thread::Builder::new()
                .name("delayed-disk".to_owned())
                .spawn(move || answer(&receiver, &memory, &kept, &asked, &holds))?;
            Ok((session, answering))
        });
        let started = starting
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (session, answering) = started.map_err(|error| missing(&error))?;
        Ok(Self {
            at,
            flaws,
            log,
            gate,
            session: Some(session),
            answering: Some(answering),
        })
    }

    fn stop(&mut self) -> Result<(), String> {
        let (Some(session), Some(answering)) = (self.session.take(), self.answering.take()) else {
            return Ok(());
        };
        // Its threads would be waited for in vain.
        unmount(&self.at).map_err(|busy| busy.to_string())?;
        session.join().map_err(|error| error.to_string())?;
        answering
            .join()
            .map_err(|_| "the thread that answers panicked".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(why) = self.stop() {
            tool::not_taken_down(&self.at.to_string_lossy(), &why);
        }
    }
}

/// The highest usual priority for this thread: a disk does not wait until the
/// programs that read it have had their turn.
fn go_first() -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, -20)?)
}

/// So many zeros, in memory that is really there: a first write to a page would
/// take longer than others.
fn touched(size: u64) -> Vec<u8> {
    let len = usize::try_from(size).expect("a disk in memory fits into memory");
    let mut memory = Vec::new();
    memory.resize_with(len, || std::hint::black_box(0));
    memory
}

/// A request that arrived.
struct Waiting {
    kind: ServedKind,
    offset: u64,
    bytes: u64,
    arrived: Instant,
    due: Instant,
    reply: Reply,
}

enum Reply {
    Data(ReplyData),
    Written(ReplyWrite),
}

/// Answers each request when it is due. They are due in the order of their
/// arrival, as the delay is the same for all.
fn answer(
    requests: &Receiver<Waiting>,
    memory: &Mutex<Vec<u8>>,
    log: &Mutex<Vec<Served>>,
    flaws: &Mutex<Flaws>,
    gate: &Gate,
) {
    let mut last = Instant::now();
    for request in requests {
        gate.pass();
        let (pause, later, errno, one_at_a_time) = {
            let mut flaws = lock(flaws);
            let errno = flaws.of(request.offset, request.bytes);
            let later = flaws.later(request.offset);
            (flaws.pause(), later, errno, flaws.one_at_a_time)
        };
        thread::sleep(pause);
        let begins = if one_at_a_time {
            last.max(request.arrived)
        } else {
            request.arrived
        };
        let due = begins + (request.due - request.arrived) + later;
        let rest = due.saturating_duration_since(Instant::now());
        thread::sleep(rest.saturating_sub(SPIN));
        let mut replied = Instant::now();
        while replied < due {
            std::hint::spin_loop();
            replied = Instant::now();
        }
        last = replied;
        // Written down first: who has the answer finds it in the log.
        log.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Served {
                kind: request.kind,
                offset: request.offset,
                bytes: request.bytes,
                arrived: request.arrived,
                replied,
            });
        let count = u32::try_from(request.bytes).expect("the kernel counts a request in 32 bits");
        match (request.reply, errno.map(Errno::from_i32)) {
            (Reply::Written(reply), Some(errno)) => reply.error(errno),
            (Reply::Data(reply), Some(errno)) => reply.error(errno),
            (Reply::Written(reply), None) => reply.written(count),
            (Reply::Data(reply), None) => {
                let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
                let start = request.offset as usize;
                reply.data(&memory[start..start + request.bytes as usize]);
            }
        }
    }
}

/// The filesystem: a folder with one file.
struct Disk {
    memory: Arc<Mutex<Vec<u8>>>,
    size: u64,
    delay: Duration,
    waiting: Sender<Waiting>,
    gate: Arc<Gate>,
    flaws: Arc<Mutex<Flaws>>,
}

impl Disk {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, size, perm) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0, 0o700),
            FILE_INODE => (FileType::RegularFile, self.size, 0o600),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// Bytes of a request that lie on the disk.
    fn within(&self, offset: u64, bytes: u64) -> u64 {
        bytes.min(self.size.saturating_sub(offset))
    }

    fn wait(&self, arrived: Instant, kind: ServedKind, offset: u64, bytes: u64, reply: Reply) {
        let request = Waiting {
            kind,
            offset,
            bytes,
            arrived,
            due: arrived + self.delay,
            reply,
        };
        // Without the thread that answers, the request is dropped, which answers
        // it with an error.
        let _ = self.waiting.send(request);
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Both are offered by every kernel that has loop devices with direct I/O.
        let refused = |_| io::Error::other("this kernel's FUSE has no asynchronous direct I/O");
        config
            .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
            .map_err(refused)?;
        config
            .set_max_background(IN_FLIGHT)
            .map(drop)
            .map_err(|nearest| io::Error::other(format!("at most {nearest} requests in flight")))
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = (parent == INodeNo::ROOT && name == Path::new(FILE))
            .then(|| self.attributes(FILE_INODE))
            .flatten();
        match found {
            Some(attributes) => reply.entry(&FOREVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.gate.pass_filesystem();
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrived = Instant::now();
        let bytes = self.within(offset, u64::from(size));
        self.wait(arrived, ServedKind::Read, offset, bytes, Reply::Data(reply));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrived = Instant::now();
        let bytes = self.within(offset, data.len() as u64);
        let (start, len) = (offset as usize, bytes as usize);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)[start..start + len]
            .copy_from_slice(&data[..len]);
        self.wait(
            arrived,
            ServedKind::Write,
            offset,
            bytes,
            Reply::Written(reply),
        );
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let slow = lock(&self.flaws).slow_flushes.as_mut().map(Each::next);
        thread::sleep(slow.unwrap_or_default());
        reply.ok();
    }
}
