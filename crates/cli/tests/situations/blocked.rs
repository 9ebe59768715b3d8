//! What blocks a thread in the kernel in front of its requests.

use crate::alone::alone;
use crate::beside::{Counter, Shells, counted, empty};
use crate::case::{MIB, write_data};
use crate::said::of;
use diskfacts_testkit::{
    DelayedDisk, FilesystemKind, Missing, MountedFilesystem, OnDisks, or_skip, require_tool,
};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Answers each read of a file, after a fifth of a millisecond (fanotify(7)): a scanner that
/// looks at what is read. For each it writes a byte to standard output.
const SCANNER: &str = r#"
use strict; use warnings;
my ($init, $mark) = `uname -m` =~ /^x86_64/ ? (300, 301) : (262, 263);
my $path = $ARGV[0];
# FAN_CLASS_CONTENT; FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD.
my $fd = syscall($init, 4, 0);
die "fanotify_init: $!\n" if $fd < 0;
die "fanotify_mark: $!\n" if syscall($mark, $fd, 1, 0x20000, -100, $path);
open(my $events, '+<&=', $fd) or die "open: $!\n";
syswrite(STDERR, "ready\n");
while (sysread($events, my $bytes, 4096)) {
    while (length $bytes) {
        my ($length, $file) = unpack('L x12 l', $bytes);
        select(undef, undef, undef, 0.0002);
        syswrite($events, pack('lL', $file, 1));
        syscall($mark == 301 ? 3 : 57, $file);
        syswrite(STDOUT, ".");
        substr($bytes, 0, $length, '');
    }
}
"#;

struct Scanner {
    perl: Child,
    told: PathBuf,
}

impl Scanner {
    fn of(file: &Path, told: PathBuf) -> Result<Self, Missing> {
        require_tool("perl", "perl-base")?;
        let out = fs::File::create(&told).expect("a file");
        let mut perl = Command::new("perl");
        perl.args(["-e", SCANNER]).arg(file).stdout(out);
        let perl = perl.stderr(Stdio::piped()).spawn().expect("perl");
        let mut scanner = Self { perl, told };
        let mut said = String::new();
        let stderr = scanner.perl.stderr.take().expect("a pipe");
        // It waits from then on, or has ended.
        let read = BufReader::new(stderr).read_line(&mut said);
        read.expect("what perl says");
        if said.trim() != "ready" {
            return Err(Missing::new("permission events of fanotify", said.trim()));
        }
        Ok(scanner)
    }

    /// How often it was asked so far.
    fn asked(&self) -> u64 {
        fs::metadata(&self.told).expect("the file").len()
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ended = self.perl.kill();
        let _status = self.perl.wait();
    }
}

#[test]
fn a_scanner_that_is_asked_at_each_read() {
    let _alone = alone();
    let device = or_skip!(empty(400 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let file = filesystem.path().join("data");
    write_data(&file, 64 * MIB);
    let stage = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\ntime = \"300ms\"";
    let scanner = or_skip!(Scanner::of(&file, filesystem.path().join("told")));
    let said = of(&file, stage).said();
    let asked = scanner.asked();
    drop(scanner);
    assert!(asked > 500, "{asked}");
    said.names("blocked", "a program that is asked for leave");
    said.shows("fanotify_handle_event");
    of(&file, stage).said().is_silent_of("blocked");
}

#[test]
fn streams_that_wait_for_the_lock_of_one_file() {
    let _alone = alone();
    let device = or_skip!(empty(400 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let file = filesystem.path().join("data");
    write_data(&file, 64 * MIB);
    let stage = "operation = \"write\"\nblock_size = \"64KiB\"\ncache = \"buffered\"\n\
                 time = \"300ms\"";
    let many = format!("{stage}\nstreams = 6");
    let (said, waited) = while_looking(|| of(&file, &many).destroying().said());
    assert!(waited > 20, "{waited} times one of them waited for it");
    said.names("blocked", "the lock of the file");
    let (said, waited) = while_looking(|| of(&file, stage).destroying().said());
    assert_eq!(waited, 0);
    said.is_silent_of("blocked");
}

/// Between two looks at what threads do.
const LOOK: Duration = Duration::from_millis(5);

/// Does this, and counts how often meanwhile a thread of a program that was started here was seen
/// waiting for the lock of a file in order to write it: `/proc/PID/task/TID/stack`.
fn while_looking<T>(doing: impl FnOnce() -> T) -> (T, usize) {
    // What fails here drops it too, so that nobody looks on without an end.
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let looking = scope.spawn(move || {
            let mut waited = 0;
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                waited += stacks().filter(|stack| waits_for_a_lock(stack)).count();
            }
            waited
        });
        let done = doing();
        drop(end);
        (done, looking.join().expect("nothing that fails"))
    })
}

/// Where the threads of the programs that this one has started sleep in the kernel.
fn stacks() -> impl Iterator<Item = String> {
    let tasks = |process: &str| {
        let tasks = fs::read_dir(format!("/proc/{process}/task"));
        // Who has ended has none.
        tasks
            .into_iter()
            .flatten()
            .flatten()
            .map(|task| task.path())
    };
    let children = tasks("self").filter_map(|task| fs::read_to_string(task.join("children")).ok());
    let processes = children.collect::<String>();
    let processes: Vec<String> = processes.split_whitespace().map(str::to_owned).collect();
    let tasks = processes
        .into_iter()
        .flat_map(move |process| tasks(&process));
    // Of those that run it is not where they are.
    let sleeps = |task: &PathBuf| {
        let status = fs::read_to_string(task.join("status"));
        status.is_ok_and(|status| status.contains("\nState:\tD"))
    };
    let stack = |task: PathBuf| fs::read_to_string(task.join("stack")).ok();
    tasks.filter(sleeps).filter_map(stack)
}

/// A writer of an inode takes its `i_rwsem` first: the functions that wait for that are the
/// scheduler's, which the stack leaves out (`__sched`, kernel/locking/rwsem.c).
fn waits_for_a_lock(stack: &str) -> bool {
    let innermost = stack.lines().next().unwrap_or_default();
    innermost.contains("_write_iter")
}

/// Thaws a filesystem that may be frozen.
struct Thaw<'a>(&'a Path);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        // It may be thawed, and then this fails.
        let _thawed = Command::new("fsfreeze").arg("-u").arg(self.0).output();
    }
}

#[test]
fn a_filesystem_that_somebody_freezes() {
    let _alone = alone();
    or_skip!(require_tool("fsfreeze", "util-linux"));
    let device = or_skip!(empty(400 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let file = filesystem.path().join("data");
    write_data(&file, 64 * MIB);
    let stage = "operation = \"write\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                 queue_depth = 2\ntime = \"1500ms\"";
    let at = filesystem.path().display();
    let log = crate::case::Case::new();
    let times = log.path("times");
    let script = format!(
        "sleep 0.3; fsfreeze -f {at}; echo >> {}; sleep 0.3; fsfreeze -u {at}",
        times.display()
    );
    let thaw = Thaw(filesystem.path());
    let freezing = Shells::running(1, &script);
    let said = of(&file, stage).destroying().said();
    drop(freezing);
    drop(thaw);
    assert!(fs::metadata(&times).expect("a line each time").len() > 2);
    said.names("blocked", "frozen filesystem")
        .is_silent_of("stall");
    of(&file, stage).destroying().said().is_silent_of("blocked");
}

/// Writes on a filesystem with a small journal, mounted so; says what was said, and flushes of
/// the device. The disk takes a while, so that copies into the journal are less than the wait for it
/// on a slow processor, too.
fn journalled(options: &str) -> Result<(crate::said::Said, u64), Missing> {
    let disk = DelayedDisk::new(400 * MIB, Duration::from_micros(500))?;
    let how = "-q -F -b 4096 -E lazy_itable_init=0 -J size=4";
    let made = Command::new(require_tool("mkfs.ext4", "e2fsprogs")?)
        .args(how.split(' '))
        .arg(disk.device().path())
        .status();
    assert!(made.expect("mkfs.ext4").success());
    let filesystem = OnDisks::mounted("ext4", disk.device().path(), options)?;
    let stage = "operation = \"write\"\nblock_size = \"64KiB\"\ncache = \"buffered\"\n\
                 time = \"1s\"";
    let before = counted(disk.device(), Counter::Flushes);
    let said = of(filesystem.path(), stage).sized("64MiB").said();
    Ok((said, counted(disk.device(), Counter::Flushes) - before))
}

#[test]
fn a_journal_that_is_too_small_for_what_is_written() {
    let _alone = alone();
    let (small, flushes) = or_skip!(journalled("data=journal"));
    let (large, fewer) = or_skip!(journalled("data=ordered"));
    assert!(flushes > 4 * fewer, "{flushes} and {fewer} flushes");
    small.names("blocked", "the filesystem's journal, which is full");
    large.never_says("the filesystem's journal");
}
