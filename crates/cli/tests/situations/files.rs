//! What is peculiar to a file, or to how its filesystem is mounted.

use crate::alone::alone;
use crate::beside::{Counter, Shells, counted, empty};
use crate::case::{Case, MIB, write_data};
use crate::said::of;
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, LoopOptions, Missing, MountedFilesystem, OnDisks, or_skip,
    require_tool, skip,
};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

const READ: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                    queue_depth = 8\ntime = \"300ms\"";
const WRITE: &str = "operation = \"write\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                     time = \"300ms\"";
const BUFFERED: &str = "operation = \"write\"\nblock_size = \"4KiB\"\ncache = \"buffered\"\n\
                        time = \"300ms\"";

/// A loop device that reads and writes its file past the page cache.
fn direct_over(file: &Path) -> Result<LoopDevice, Missing> {
    let options = LoopOptions {
        direct_io: true,
        ..LoopOptions::default()
    };
    LoopDevice::over_file_with(file, options)
}

#[track_caller]
fn tool(program: &str, arguments: &[&str], file: &Path, more: &[&Path]) {
    let mut command = Command::new(program);
    let status = command.args(arguments).arg(file).args(more).status();
    assert!(status.expect(program).success(), "{program}");
}

#[test]
fn a_file_of_holes() {
    let _alone = alone();
    let case = Case::new();
    let file = case.path("sparse");
    let made = File::create(&file).and_then(|file| file.set_len(32 * MIB));
    made.expect("a file");
    assert_eq!(fs::metadata(&file).expect("the file").blocks(), 0);
    of(&file, READ).said().names("holes", "no data of its own");
    let full = case.data_file("full", 32 * MIB);
    of(&full, READ).said().is_silent_of("holes");
}

#[test]
fn a_loop_device_over_a_file_of_holes() {
    let _alone = alone();
    let device = or_skip!(empty(32 * MIB));
    let blocks = || {
        fs::metadata(device.backing_file())
            .expect("the file")
            .blocks()
    };
    assert_eq!(blocks(), 0);
    of(device.path(), READ)
        .said()
        .names("holes", "no data of its own");
    write_data(device.backing_file(), 32 * MIB);
    assert!(blocks() >= 65_536);
    of(device.path(), READ).said().is_silent_of("holes");
}

#[test]
fn a_loop_device_that_is_written_for_the_first_time() {
    let _alone = alone();
    let case = Case::new();
    let file = case.path("holes");
    let made = File::create(&file).expect("a file");
    made.set_len(512 * MIB).expect("its length");
    let device = or_skip!(direct_over(&file));
    let stage = WRITE.replace("300ms", "600ms") + "\nqueue_depth = 4";
    let said = of(device.path(), &stage).destroying().said();
    let blocks = fs::metadata(&file).expect("the file").blocks();
    assert!(blocks > 4096, "{blocks} blocks were allocated by it");
    said.names("first-write", "was never written");
    drop(device);
    write_data(&file, 64 * MIB);
    let device = or_skip!(direct_over(&file));
    let said = of(device.path(), &stage).destroying().said();
    said.is_silent_of("first-write");
}

#[test]
fn space_that_was_set_aside_and_never_written() {
    let _alone = alone();
    let case = Case::new();
    let file = case.path("unwritten");
    tool("fallocate", &["-l", "32M"], &file, &[]);
    assert!(fs::metadata(&file).expect("the file").blocks() >= 65_536);
    of(&file, READ).said().names("holes", "no data of its own");
    // The same file, of the same blocks, once they are written.
    let mut written = fs::OpenOptions::new().write(true).open(&file).expect("it");
    let data = vec![0x5a; 32 * MIB as usize];
    written
        .write_all(&data)
        .and_then(|()| written.sync_all())
        .expect("room that is there");
    of(&file, READ).said().is_silent_of("holes");
}

/// A clone that is written over.
fn shared(kind: FilesystemKind) {
    let _alone = alone();
    let device = or_skip!(empty(400 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let (file, copy) = (
        filesystem.path().join("data"),
        filesystem.path().join("copy"),
    );
    write_data(&file, 32 * MIB);
    tool("cp", &["--reflink=always"], &file, &[&copy]);
    let said = of(&copy, WRITE).destroying().said();
    said.names_unless_the_device_is_slow("copy-on-write", "shared with other files");
    fs::remove_file(&copy).expect("the clone");
    let alone = filesystem.path().join("alone");
    write_data(&alone, 32 * MIB);
    let said = of(&alone, WRITE).destroying().said();
    said.is_silent_of("copy-on-write");
}

#[test]
fn a_clone_on_xfs() {
    shared(FilesystemKind::Xfs);
}

#[test]
fn a_clone_on_btrfs() {
    shared(FilesystemKind::Btrfs);
}

#[test]
fn direct_writes_that_get_checksums() {
    let _alone = alone();
    let device = or_skip!(empty(400 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, FilesystemKind::Btrfs, ""));
    let stage = "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"1MiB\"\n\
                 cache = \"direct\"\nqueue_depth = 8\ntime = \"300ms\"";
    let before = pages_dirtied();
    let said = of(filesystem.path(), stage).sized("64MiB").said();
    let dirtied = pages_dirtied() - before;
    if dirtied * 4096 < 2 * 64 * MIB {
        return skip("a kernel whose btrfs does direct writes through the page cache (6.15)");
    }
    said.names("direct-as-buffered", "one after the other");
    said.finds("buffered-fallback", "through the page cache");
    let plain = filesystem.path().join("plain");
    fs::create_dir(&plain).expect("a folder");
    tool("chattr", &["+C"], &plain, &[]);
    let said = of(&plain, stage).sized("64MiB").said();
    said.is_silent_of("direct-as-buffered");
}

/// Pages that became dirty since this machine was started.
fn pages_dirtied() -> u64 {
    let text = fs::read_to_string("/proc/vmstat").expect("the counters of memory");
    let mut lines = text.lines();
    let number = lines.find_map(|line| line.strip_prefix("nr_dirtied "));
    number.and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn a_file_that_is_compressed() {
    let _alone = alone();
    let device = or_skip!(empty(400 * MIB));
    let kind = FilesystemKind::Btrfs;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, "compress-force=zstd"));
    let mut text = String::new();
    for number in 0..4_000_000 {
        write!(text, "{} ", number % 1000).expect("memory");
    }
    let file = filesystem.path().join("text");
    fs::write(&file, &text).expect("a file");
    tool("sync", &[], &file, &[]);
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
                 cache = \"cold\"\ntime = \"300ms\"";
    let before = counted(filesystem.device(), Counter::ReadSectors);
    let said = of(&file, stage).said();
    let read = 512 * (counted(filesystem.device(), Counter::ReadSectors) - before);
    // Each of its trials has read all of it at least once.
    assert!(read < text.len() as u64, "{read} of {}", text.len());
    said.names("compression", "is compressed");
    let device = or_skip!(empty(400 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let plain = filesystem.path().join("text");
    fs::write(&plain, &text).expect("a file");
    tool("sync", &[], &plain, &[]);
    of(&plain, stage).said().is_silent_of("compression");
}

#[test]
fn a_filesystem_of_compressed_data() {
    let _alone = alone();
    or_skip!(require_tool("mksquashfs", "squashfs-tools"));
    let case = Case::new();
    let (folder, image) = (case.path("folder"), case.path("image"));
    fs::create_dir(&folder).expect("a folder");
    let text = folder.join("text");
    let (mut words, mut random) = (String::new(), 1_u64);
    while words.len() < 32 << 20 {
        // A multiplier of a linear congruential generator (L'Ecuyer, 1999).
        random = random
            .wrapping_mul(3_935_559_000_370_003_845)
            .wrapping_add(1);
        write!(words, "{:x} ", (random >> 50) * 9973).expect("memory");
    }
    fs::write(&text, &words).expect("a file");
    let mut pack = Command::new("mksquashfs");
    let packed = pack
        .args([&folder, &image])
        .args(["-quiet", "-no-progress"]);
    assert!(packed.status().expect("mksquashfs").success());
    assert!(fs::metadata(&image).expect("the image").len() < words.len() as u64 * 3 / 4);
    tool("sync", &[], &image, &[]);
    let device = or_skip!(direct_over(&image));
    let filesystem = or_skip!(OnDisks::mounted("squashfs", device.path(), "ro"));
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
                 cache = \"cold\"\ntime = \"300ms\"";
    let said = of(&filesystem.path().join("text"), stage).said();
    said.names("compression", "is compressed");
    of(&text, stage).said().is_silent_of("compression");
}

#[test]
fn a_mount_that_syncs_each_write() {
    let _alone = alone();
    let device = or_skip!(empty(100 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, "sync"));
    let before = counted(filesystem.device(), Counter::Flushes);
    let said = of(filesystem.path(), BUFFERED).sized("16MiB").said();
    assert!(counted(filesystem.device(), Counter::Flushes) > before + 100);
    said.names("sync-mount", "mounted with the option sync");
    let device = or_skip!(empty(100 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let said = of(filesystem.path(), BUFFERED).sized("16MiB").said();
    said.is_silent_of("sync-mount");
}

#[test]
fn a_file_whose_attribute_syncs_each_write() {
    let _alone = alone();
    let device = or_skip!(empty(100 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, FilesystemKind::Ext4, ""));
    let file = filesystem.path().join("data");
    write_data(&file, 16 * MIB);
    tool("chattr", &["+S"], &file, &[]);
    let before = counted(filesystem.device(), Counter::Flushes);
    let said = of(&file, BUFFERED).destroying().said();
    assert!(counted(filesystem.device(), Counter::Flushes) > before + 100);
    said.names("sync-mount", "though nothing here asks for it")
        .is_silent_of("dirty-throttling");
    tool("chattr", &["-S"], &file, &[]);
    let said = of(&file, BUFFERED).destroying().said();
    said.is_silent_of("sync-mount");
}

#[test]
fn data_that_go_through_the_journal() {
    let _alone = alone();
    let stage = format!("{BUFFERED}\nsync = \"fdatasync\"");
    let device = or_skip!(empty(100 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, "data=journal"));
    let before = counted(filesystem.device(), Counter::Writes);
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    assert!(counted(filesystem.device(), Counter::Writes) > before + 500);
    said.names("journal", "The journal of ext4");
    let device = or_skip!(empty(100 * MIB));
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    said.is_silent_of("journal");
}

#[test]
fn somebody_syncs_on_the_same_filesystem() {
    let _alone = alone();
    let stage = format!("{BUFFERED}\nsync = \"fsync\"");
    let device = or_skip!(empty(200 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let at = filesystem.path().display();
    let script = format!("dd if=/dev/zero of={at}/n$$ bs=64k count=64 conv=fsync");
    let beside = Shells::running(3, &script);
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    drop(beside);
    said.names("other-process", "Others used")
        .is_silent_of("journal");
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    said.is_silent_of("other-process");
}

/// Small files that are made and synced move next to nothing.
#[test]
fn somebody_makes_files_on_the_same_filesystem_and_syncs_them() {
    let _alone = alone();
    // Long enough for some syncs on a slow disk.
    let stage = format!("{BUFFERED}\nsync = \"fsync\"").replace("300ms", "2s");
    let device = or_skip!(empty(200 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let at = filesystem.path().display();
    let beside = Shells::running(2, &format!("echo > {at}/n$$; sync {at}/n$$; rm {at}/n$$"));
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    drop(beside);
    said.finds("other-io", "Others synced files");
    let said = of(filesystem.path(), &stage).sized("16MiB").said();
    said.does_not_find("other-io", "Others synced files");
}

/// Who writes over blocks that a file has and asks for its data alone needs no commit.
#[test]
fn somebody_syncs_while_data_alone_are_synced() {
    let _alone = alone();
    let stage = format!("{BUFFERED}\nsync = \"fdatasync\"").replace("300ms", "1s");
    let device = or_skip!(empty(200 * MIB));
    let kind = FilesystemKind::Ext4;
    let filesystem = or_skip!(MountedFilesystem::on(device, kind, ""));
    let file = filesystem.path().join("data");
    write_data(&file, 16 * MIB);
    let at = filesystem.path().display();
    let before = counted(filesystem.device(), Counter::Flushes);
    let beside = Shells::running(2, &format!("echo > {at}/n$$; sync {at}/n$$"));
    let said = of(&file, &stage).destroying().said();
    drop(beside);
    assert!(counted(filesystem.device(), Counter::Flushes) > before + 100);
    said.names("other-process", "Others synced files")
        .is_silent_of("journal");
    let said = of(&file, &stage).destroying().said();
    said.never_says("Others synced files");
}

#[test]
fn somebody_reads_the_disk_below() {
    let _alone = alone();
    let device = or_skip!(crate::beside::filled(64 * MIB));
    let file = device.backing_file().display();
    let beside = Shells::running(4, &format!("dd if={file} of=/dev/null bs=1M iflag=direct"));
    let said = of(device.path(), READ).said();
    drop(beside);
    said.names("other-process", "Others used");
    of(device.path(), READ).said().is_silent_of("other-process");
}
