//! Files on the filesystems of Linux: what each grants, and how it refuses.
#![cfg(target_os = "linux")]

#[path = "support/alone.rs"]
mod alone;
mod support;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use alone::alone;
use directio::{
    AlignedBuffer, AlignmentSource, Direct, Durability, Error, FileLock, LockKind, OpenOptions,
    Opened, Patience, direct_alignment, geometry, geometry_under, read_at, write_at,
};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, LoopOptions, Missing, MountedFilesystem, Scratch, Tmpfs, or_skip,
    require_tool,
};
use support::OrFail;

fn read_write(path: &Path, direct: Direct) -> Result<Opened, Error> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .direct(direct)
        .open(path)
}

/// The same, where it must succeed.
fn opened(path: &Path, direct: Direct) -> Opened {
    read_write(path, direct).or_fail()
}

/// Asks for a kernel whose `statx` tells what direct I/O needs.
fn statx_tells_alignment() -> Result<(), Missing> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("proc is mounted");
    let mut numbers = release
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 1) {
        return Ok(());
    }
    Err(Missing::new("STATX_DIOALIGN", "Linux 6.1 or later"))
}

/// The status flags of an open file by another way than the crate's own.
fn flags_in_proc(file: &File) -> i32 {
    use std::os::fd::AsRawFd;
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))
        .expect("proc is mounted");
    let octal = text
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .expect("fdinfo tells flags");
    i32::from_str_radix(octal.trim(), 8).expect("an octal number")
}

#[test]
fn each_grant_is_the_flag_that_the_kernel_shows() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let path = scratch.join("file");
    fs::write(&path, b"").expect("the folder can be written");
    for direct in [Direct::No, Direct::IfPossible] {
        for durability in [Durability::None, Durability::Data, Durability::Full] {
            let opened = OpenOptions::new()
                .write(true)
                .direct(direct)
                .durability(durability)
                .open(&path)
                .or_fail();
            let flags = flags_in_proc(&opened.file);
            assert_eq!(opened.granted.direct, flags & libc_flags::DIRECT != 0);
            assert_eq!(opened.granted.durability, durability);
            let sync = flags & libc_flags::SYNC;
            assert_eq!(
                sync,
                match durability {
                    Durability::None => 0,
                    Durability::Data => libc_flags::DSYNC,
                    Durability::Full => libc_flags::SYNC,
                }
            );
        }
    }
}

/// `<asm-generic/fcntl.h>`, and `O_DIRECT` of x86 and arm.
mod libc_flags {
    pub(super) const DSYNC: i32 = 0o10_000;
    pub(super) const SYNC: i32 = 0o4_010_000;
    pub(super) const DIRECT: i32 = if cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
        0o200_000
    } else {
        0o40_000
    };
}

#[test]
fn a_misaligned_transfer_is_refused_with_the_wrong_value_and_the_right_ones() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let opened = opened(&scratch.join("file"), Direct::IfPossible);
    if !opened.granted.direct {
        diskfacts_testkit::skip("O_DIRECT on the filesystem of the temporary folder");
        return;
    }
    let rule = direct_alignment(&opened.file).or_fail();
    let block = rule.length() as usize;
    let page = 4096.max(block);
    let buffer = AlignedBuffer::new(4 * page, page).expect("four pages");
    write_at(&opened.file, &buffer, 0).or_fail();
    for (name, slice, offset) in [
        ("length", &buffer[..block / 2], 0),
        ("length", &buffer[..=page], 0),
        ("offset", &buffer[..block], 1),
        // Over two pages: within one, Linux 6.18 does not look at the address.
        ("address", &buffer[1..=2 * page], 0),
    ] {
        let error = write_at(&opened.file, slice, offset).expect_err("it is misaligned");
        let text = error.to_string();
        assert_eq!(error.raw_os_error(), Some(22), "EINVAL: {error:#}");
        assert!(
            text.contains(&format!("{name} that is a multiple of")),
            "{text}"
        );
        for other in ["length", "offset", "address"] {
            let named = text.contains(&format!("{other} that is a multiple of"));
            assert_eq!(named, other == name, "{text}");
        }
    }
    let mut small = AlignedBuffer::new(block, 4096).expect("a block");
    let error = read_at(&opened.file, &mut small[..1], 0).expect_err("it is misaligned");
    assert!(error.to_string().contains("read of 1 bytes"), "{error}");
}

#[test]
fn a_filesystem_without_direct_io_is_named() {
    let _alone = alone();
    // procfs is everywhere, and has none.
    let path = Path::new("/proc/version");
    let opened = OpenOptions::new()
        .read(true)
        .direct(Direct::IfPossible)
        .open(path)
        .or_fail();
    assert!(!opened.granted.direct);
    assert_eq!(
        opened.granted.direct_refused.as_deref(),
        Some("proc on /proc does not support O_DIRECT")
    );
    let error = OpenOptions::new()
        .read(true)
        .direct(Direct::Required)
        .open(path)
        .expect_err("procfs has no O_DIRECT");
    let text = format!("{error:#}");
    assert!(
        text.contains("open(O_RDONLY|O_DIRECT) failed on /proc/version"),
        "{text}"
    );
    assert!(text.contains("Direct::IfPossible"), "{text}");
}

/// A mounted ramfs: writable, and without `O_DIRECT`.
struct Ramfs {
    scratch: Scratch,
}

impl Ramfs {
    fn new() -> Result<Self, diskfacts_testkit::Missing> {
        diskfacts_testkit::require_root()?;
        let scratch = Scratch::new()?;
        let at = scratch.join("mounted");
        fs::create_dir(&at).expect("the scratch folder can be written");
        let mounted = Command::new("mount")
            .args(["-t", "ramfs", "ramfs"])
            .arg(&at)
            .status()
            .is_ok_and(|status| status.success());
        if mounted {
            Ok(Self { scratch })
        } else {
            Err(diskfacts_testkit::Missing::new(
                "ramfs",
                "a kernel and mount(8) that can mount one",
            ))
        }
    }
}

impl Drop for Ramfs {
    fn drop(&mut self) {
        let done = Command::new("umount")
            .arg(self.scratch.join("mounted"))
            .status();
        assert!(
            std::thread::panicking() || done.is_ok_and(|status| status.success()),
            "umount {}",
            self.scratch.join("mounted").display()
        );
    }
}

#[test]
fn a_new_file_that_cannot_be_direct_is_not_left_behind() {
    let _alone = alone();
    let ramfs = or_skip!(Ramfs::new());
    let path = ramfs.scratch.join("mounted/file");
    let options = OpenOptions::new().write(true).create_new(true);
    let error = options
        .clone()
        .direct(Direct::Required)
        .open(&path)
        .expect_err("ramfs has no O_DIRECT");
    assert!(error.to_string().contains("ramfs on"), "{error:#}");
    assert!(!path.exists(), "the new file is left behind");
    let opened = options.direct(Direct::IfPossible).open(&path).or_fail();
    assert!(!opened.granted.direct);
    assert!(opened.granted.direct_refused.is_some());
    // A file that was there before is nobody's to remove.
    read_write(&path, Direct::Required).expect_err("ramfs has no O_DIRECT");
    assert!(path.exists());
}

#[test]
fn a_new_file_is_made_direct_where_that_is_possible() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let path = scratch.join("file");
    let plain = opened(&scratch.join("other"), Direct::IfPossible);
    if !plain.granted.direct {
        diskfacts_testkit::skip("O_DIRECT on the filesystem of the temporary folder");
        return;
    }
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .direct(Direct::Required)
        .open(&path)
        .or_fail();
    assert!(opened.granted.direct);
    assert_ne!(flags_in_proc(&opened.file) & libc_flags::DIRECT, 0);
}

#[test]
fn tmpfs_grants_direct_io_with_a_caveat_or_refuses_it_by_name() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(1 << 20));
    let path = tmpfs.path().join("file");
    let opened = opened(&path, Direct::IfPossible);
    if opened.granted.direct {
        // Since Linux 6.6.
        let caveat = opened.granted.direct_caveat.expect("a caveat");
        assert!(caveat.contains("memory"), "{caveat}");
        let rule = direct_alignment(&opened.file).or_fail();
        let buffer = rule.buffer(1).expect("a page");
        write_at(&opened.file, &buffer, 0).or_fail();
    } else {
        let why = opened.granted.direct_refused.expect("a reason");
        assert!(why.contains("tmpfs"), "{why}");
    }
    let error = geometry_under(&path).expect_err("there is no device under it");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("tmpfs"), "{error:#}");
}

#[test]
fn a_full_filesystem_is_an_error_that_says_how_much_is_free() {
    let _alone = alone();
    let tmpfs = or_skip!(Tmpfs::new(1 << 20));
    let opened = opened(&tmpfs.path().join("file"), Direct::No);
    let block = vec![1; 64 << 10];
    let mut offset = 0;
    let error = loop {
        match write_at(&opened.file, &block, offset) {
            Ok(written) => offset += written as u64,
            Err(error) => break error,
        }
        assert!(offset <= 1 << 20, "it must be full by now");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(
        error
            .to_string()
            .contains("the filesystem is full (0 bytes free)"),
        "{error:#}"
    );
}

#[test]
fn a_read_only_filesystem_is_named_as_the_cause() {
    let _alone = alone();
    let ext4 = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20));
    let path = ext4.path().join("file");
    fs::write(&path, b"x").expect("it is writable yet");
    or_skip!(ext4.remount_read_only());
    let error = read_write(&path, Direct::No).expect_err("it is read-only");
    assert!(
        error.to_string().contains("this subvolume is read-only"),
        "{error:#}"
    );
    let opened = OpenOptions::new().read(true).open(&path).or_fail();
    assert!(!opened.granted.write);
}

#[test]
fn ext4_refuses_quietly_for_a_file_whose_data_are_journalled_and_is_found_out() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(32 << 20));
    let ext4 = or_skip!(MountedFilesystem::on(
        device,
        FilesystemKind::Ext4,
        "data=journal"
    ));
    let path = ext4.path().join("file");
    let opened = opened(&path, Direct::IfPossible);
    or_skip!(statx_tells_alignment());
    let error = direct_alignment(&opened.file).expect_err("it has no direct I/O");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(!opened.granted.direct, "{:?}", opened.granted);
    assert_eq!(
        flags_in_proc(&opened.file) & libc_flags::DIRECT,
        0,
        "the flag must not lie"
    );
    let why = opened.granted.direct_refused.expect("a reason");
    assert!(why.contains("STATX_DIOALIGN"), "{why}");
    read_write(&path, Direct::Required).expect_err("direct I/O is required");

    // What is refused keeps what it holds.
    fs::write(&path, b"content").expect("the file");
    let emptying = OpenOptions::new().write(true).truncate(true);
    for exclusive in [false, true] {
        let required = emptying.clone().direct(Direct::Required);
        let refused = required.exclusive(exclusive).open(&path);
        refused.expect_err("direct I/O is required");
        assert_eq!(fs::read(&path).expect("the file"), b"content");
    }
    // What is not refused is emptied.
    emptying
        .clone()
        .direct(Direct::IfPossible)
        .open(&path)
        .or_fail();
    assert_eq!(fs::read(&path).expect("the file"), b"");
    // What was made for this is removed again.
    let new = ext4.path().join("new");
    let making = OpenOptions::new().write(true).create_new(true);
    let refused = making.direct(Direct::Required).open(&new);
    refused.expect_err("direct I/O is required");
    assert!(!new.exists(), "the new file is left behind");
}

/// Writes directly on a new filesystem, and finds its device from the file.
fn finds_the_device_under(kind: FilesystemKind, size: u64) {
    let mounted = or_skip!(MountedFilesystem::new(kind, size));
    let path = mounted.path().join("file");
    let opened = opened(&path, Direct::IfPossible);
    assert!(opened.granted.direct, "{:?}", opened.granted);
    let rule = direct_alignment(&opened.file).or_fail();
    let mut buffer = rule.buffer(4096).expect("4 KiB");
    buffer.fill(7);
    write_at(&opened.file, &buffer, 0).or_fail();

    let under = geometry_under(&path).or_fail();
    assert_eq!(under.device, mounted.device().path());
    assert_eq!(under.number, Some(mounted.device().device_number()));
    assert_eq!(
        under.file_system.as_deref(),
        Some(format!("{kind:?}").to_lowercase().as_str())
    );
    let device = File::open(mounted.device().path()).expect("root may");
    let asked = geometry(&device).or_fail();
    assert_eq!(under.geometry, asked, "sysfs and ioctl must agree");
    assert_eq!(asked.size, size);
}

#[test]
fn ext4_is_direct_and_its_device_is_found() {
    let _alone = alone();
    finds_the_device_under(FilesystemKind::Ext4, 16 << 20);
}

#[test]
fn xfs_is_direct_and_its_device_is_found() {
    let _alone = alone();
    finds_the_device_under(FilesystemKind::Xfs, 300 << 20);
}

#[test]
fn btrfs_is_direct_and_its_device_is_found_by_the_mount_table() {
    let _alone = alone();
    finds_the_device_under(FilesystemKind::Btrfs, 128 << 20);
}

#[test]
fn vfat_is_direct_and_its_device_is_found() {
    let _alone = alone();
    finds_the_device_under(FilesystemKind::Vfat, 16 << 20);
}

#[test]
fn a_file_on_a_device_of_4096_byte_sectors_needs_them() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::with(
        64 << 20,
        LoopOptions {
            sector_size: Some(4096),
            ..LoopOptions::default()
        }
    ));
    let ext4 = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
    let opened = opened(&ext4.path().join("file"), Direct::Required);
    let rule = direct_alignment(&opened.file).or_fail();
    assert_eq!(rule.offset(), 4096, "{rule:?}");
    let buffer = AlignedBuffer::new(4096, 4096).expect("4 KiB");
    let error = write_at(&opened.file, &buffer[..512], 0).expect_err("half a sector");
    assert!(
        error
            .to_string()
            .contains("a length that is a multiple of 4096: 512 is not, 4096 is"),
        "{error:#}"
    );
    let under = geometry_under(ext4.path()).or_fail();
    assert_eq!(under.geometry.logical_sector_size, 4096);
}

#[test]
fn the_rule_comes_from_the_kernel_where_it_tells_it() {
    let _alone = alone();
    let ext4 = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20));
    let opened = opened(&ext4.path().join("file"), Direct::No);
    or_skip!(statx_tells_alignment());
    let rule = direct_alignment(&opened.file).or_fail();
    assert_eq!(*rule.source(), AlignmentSource::Kernel);
    assert_eq!((rule.offset(), rule.length()), (512, 512));
}

#[test]
fn what_is_no_file_is_not_taken_for_its_filesystem() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let pipe = scratch.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a new pipe");
    for (path, kind) in [
        (Path::new("/dev/null"), "a character device"),
        (&pipe, "a pipe"),
    ] {
        let options = OpenOptions::new().read(true).write(true);
        let error = options.clone().direct(Direct::Required).open(path);
        let text = format!("{:#}", error.expect_err("it has no O_DIRECT"));
        assert!(
            text.contains(&format!("this is {kind}, and only files")),
            "{text}"
        );
        assert!(!text.contains("tmpfs"), "{text}");
        let opened = options.direct(Direct::IfPossible).open(path).or_fail();
        let why = opened.granted.direct_refused.expect("a reason");
        assert!(why.contains(kind), "{why}");
    }
}

#[test]
fn things_that_have_no_direct_io_say_so() {
    let _alone = alone();
    let null = File::open("/dev/null").expect("every system has it");
    let error = direct_alignment(&null).expect_err("it is no file");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("/dev/null"), "{error:#}");
    let error = geometry(&null).expect_err("it is no block device");
    assert!(error.to_string().contains("geometry_under"), "{error:#}");
    let scratch = or_skip!(Scratch::new());
    let folder = File::open(scratch.path()).expect("it is there");
    direct_alignment(&folder).expect_err("it is a folder");
}

#[test]
fn a_held_lock_names_its_holder() {
    let _alone = alone();
    or_skip!(require_tool("flock", "util-linux"));
    let scratch = or_skip!(Scratch::new());
    let path = scratch.join("file");
    let file = File::create(&path).expect("a new file");
    // Says that it has the lock, and keeps it until its input ends.
    let mut holder = Command::new("flock")
        .arg(&path)
        .args(["sh", "-c", "echo locked; cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("flock is there");
    let mut said = [0; 6];
    let output = holder.stdout.as_mut().expect("it is piped");
    output.read_exact(&mut said).expect("it says so");
    let refused = FileLock::acquire(file, LockKind::Exclusive, Patience::Fail).map(drop);
    drop(holder.stdin.take());
    holder.wait().expect("it ends with its input");
    let error = Error::from(refused.expect_err("another process holds it"));
    let text = error.to_string();
    assert!(
        text.contains(&format!("held by process {} (flock);", holder.id())),
        "{text}"
    );
    assert!(text.contains(&path.display().to_string()), "{text}");
}

#[test]
fn an_unnamed_file_can_be_made_directly() {
    let _alone = alone();
    let scratch = or_skip!(Scratch::new());
    let o_tmpfile = if cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
        0o20_040_000
    } else {
        0o20_200_000
    };
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(o_tmpfile)
        .direct(Direct::IfPossible)
        .open(scratch.path())
        .or_fail();
    assert_eq!(opened.file.metadata().expect("it is open").nlink(), 0);
}
