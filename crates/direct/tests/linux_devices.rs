//! Block devices on Linux: loop devices over files that the tests make.
#![cfg(target_os = "linux")]

#[path = "support/alone.rs"]
mod alone;
#[path = "../examples/read_device/read_device.rs"]
mod read_device;
mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use alone::alone;
use directio::{
    AlignedBuffer, Claim, Direct, DirectFile, Durability, Error, Exclusivity, Holder, OpenOptions,
    Opened, WriteCache, direct_alignment, geometry, geometry_under, holders, read_at, sync_all,
    sync_data, sync_to_medium, write_at, write_at_durable,
};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, LoopOptions, MountedFilesystem, or_skip, require_tool,
};
use support::OrFail;

fn exclusively(path: &Path) -> Result<Opened, Error> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .direct(Direct::Required)
        .exclusive(true)
        .open(path)
}

fn opened(path: &Path) -> Opened {
    exclusively(path).or_fail()
}

fn sectors(bytes: u32) -> LoopOptions {
    LoopOptions {
        sector_size: Some(bytes),
        ..LoopOptions::default()
    }
}

#[test]
fn geometry_and_alignment_follow_the_logical_sector() {
    let _alone = alone();
    for sector in [512, 4096] {
        let size = 8 << 20;
        let device = or_skip!(LoopDevice::with(size, sectors(sector)));
        let opened = opened(device.path());
        assert!(opened.granted.direct && opened.granted.write);
        assert_eq!(opened.granted.direct_caveat, None);
        assert_eq!(opened.granted.exclusive, Exclusivity::Claim);

        let asked = geometry(&opened.file).or_fail();
        assert_eq!(asked.logical_sector_size, sector);
        assert!(asked.physical_sector_size >= sector);
        assert_eq!(asked.size, size);
        assert_eq!(asked.read_only, Some(false));
        // A loop device has a cache: the page cache of its file.
        assert_eq!(asked.write_cache, Some(WriteCache::WriteBack));
        assert_eq!(asked.zones, None);
        let under = geometry_under(device.path()).or_fail();
        assert_eq!(under.geometry, asked, "sysfs and ioctl must agree");
        assert_eq!(under.device, device.path());

        let rule = direct_alignment(&opened.file).or_fail();
        assert_eq!((rule.offset(), rule.length()), (sector, sector), "{rule:?}");

        let mut out = rule.buffer(sector as usize).expect("a sector");
        out.fill(0xa5);
        let offset = u64::from(sector);
        write_at_durable(&opened.file, &out, offset, Durability::Data).or_fail();
        sync_to_medium(&opened.file).or_fail();
        let mut back = rule.buffer(sector as usize).expect("a sector");
        read_at(&opened.file, &mut back, offset).or_fail();
        assert_eq!(&back[..], &out[..]);

        // One sector is fine, so half of one is what is wrong.
        let half = sector as usize / 2;
        let error = write_at(&opened.file, &out[..half], 0).expect_err("half a sector");
        assert!(
            error.to_string().contains(&format!(
                "a length that is a multiple of {sector}: {half} is not, {sector} is"
            )),
            "{error:#}"
        );
        let error =
            write_at(&opened.file, &out, offset / 2).expect_err("in the middle of a sector");
        assert!(
            error
                .to_string()
                .contains(&format!("an offset that is a multiple of {sector}")),
            "{error:#}"
        );
    }
}

/// Waits for the device.
type Sync = fn(&File) -> Result<(), Error>;

/// How many flushes the device has done so far: the sixteenth number of its
/// statistics (Documentation/block/stat.rst, since Linux 5.5).
fn flushes(device: &LoopDevice) -> Option<u64> {
    let path = format!("/sys/block/{}/stat", device.name());
    let text = fs::read_to_string(path).expect("sysfs is mounted");
    text.split_whitespace().nth(15)?.parse().ok()
}

#[test]
fn each_promise_of_durability_reaches_the_device_as_a_flush_and_no_other_write_does() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(1 << 20));
    if flushes(&device).is_none() {
        diskfacts_testkit::skip("counters of flushes: Linux 5.5 and later");
        return;
    }
    let block = AlignedBuffer::new(4096, 4096).expect("4 KiB");
    let flushed_by = |work: &dyn Fn()| {
        let before = flushes(&device);
        work();
        flushes(&device) > before
    };
    let opened = opened(device.path());
    let file = &opened.file;
    let write = |durability| {
        let written = write_at_durable(file, &block, 0, durability).or_fail();
        assert_eq!(written, block.len());
    };
    assert!(!flushed_by(&|| write(Durability::None)));
    assert!(flushed_by(&|| write(Durability::Data)));
    assert!(flushed_by(&|| write(Durability::Full)));
    let syncs: [Sync; 3] = [sync_data, sync_all, sync_to_medium];
    for sync in syncs {
        write(Durability::None);
        assert!(flushed_by(&|| sync(file).or_fail()));
    }
    drop(opened);
    for (durability, flushes) in [
        (Durability::None, false),
        (Durability::Data, true),
        (Durability::Full, true),
    ] {
        let opened = OpenOptions::new()
            .write(true)
            .direct(Direct::Required)
            .durability(durability)
            .open(device.path())
            .or_fail();
        let flushed = flushed_by(&|| {
            write_at(&opened.file, &block, 0).or_fail();
        });
        assert_eq!(flushed, flushes, "{durability:?}");
    }
}

#[test]
fn a_missing_serial_number_has_a_reason_and_is_no_error() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(1 << 20));
    let file = File::open(device.path()).expect("root may");
    let asked = geometry(&file).or_fail();
    assert_eq!(asked.serial_number, None);
    assert_eq!(
        asked.serial_number_absent.as_deref(),
        Some("a loop device is a file and has no serial number")
    );
}

#[test]
fn any_byte_of_a_device_is_written_and_read_and_nothing_else_changes() {
    let _alone = alone();
    for sector in [512, 4096] {
        let device = or_skip!(LoopDevice::with(1 << 20, sectors(sector)));
        let file = DirectFile::new(opened(device.path())).or_fail();
        let ones = vec![1; 1 << 20];
        file.write_all_at(&ones, 0).or_fail();
        file.write_all_at_durable(&[2; 5000], 4001, Durability::Data)
            .or_fail();
        file.write_all_at(&[3; 7], (1 << 20) - 7).or_fail();
        let mut back = vec![0; 2 << 20];
        assert_eq!(file.read_at(&mut back, 0).or_fail(), 1 << 20);
        for (at, &byte) in back[..1 << 20].iter().enumerate() {
            let expected = match at {
                4001..9001 => 2,
                1_048_569.. => 3,
                _ => 1,
            };
            assert_eq!(byte, expected, "byte {at} in sectors of {sector}");
        }
        let error = file.write_all_at(b"x", 1 << 20).expect_err("it ends there");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }
}

#[test]
fn the_example_reads_all_of_a_device() {
    let _alone = alone();
    // Not a multiple of what it reads at a time.
    let size = (5 << 20) + 4096;
    let device = or_skip!(LoopDevice::with(size, sectors(4096)));
    let file = DirectFile::new(opened(device.path())).or_fail();
    let ones = vec![1; size as usize];
    file.write_all_at(&ones, 0).or_fail();
    let (bytes, sum) = read_device::read(device.path()).or_fail();
    assert_eq!(bytes, size);
    // Adler-32 of n ones: 1 + n, and the sum of 2 to n + 1, modulo 65521.
    let low = (1 + size) % 65_521;
    let high = (size * (size + 3) / 2) % 65_521;
    assert_eq!(u64::from(sum), high << 16 | low);
}

#[test]
fn a_misaligned_address_is_refused_and_explained_where_the_device_minds() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::with(1 << 20, sectors(4096)));
    let opened = opened(device.path());
    let rule = direct_alignment(&opened.file).or_fail();
    let buffer = AlignedBuffer::new(16_384, 4096).expect("16 KiB");
    // An odd address suits no device. Over two pages: within one, Linux 6.18
    // does not look at it.
    match write_at(&opened.file, &buffer[1..=8192], 0) {
        Err(error) => assert!(
            error.to_string().contains(&format!(
                "an address that is a multiple of {}",
                rule.memory()
            )),
            "{error:#}"
        ),
        Ok(_) => assert_eq!(rule.memory(), 1, "the kernel took it, so it must say so"),
    }
}

#[test]
fn reading_beyond_the_end_of_a_device_gives_nothing_and_writing_says_where_it_ends() {
    let _alone = alone();
    let size = 1 << 20;
    let device = or_skip!(LoopDevice::new(size));
    let opened = opened(device.path());
    let mut buffer = AlignedBuffer::new(8192, 4096).expect("8 KiB");
    let read = read_at(&opened.file, &mut buffer, size - 4096).or_fail();
    assert_eq!(read, 4096, "half of it lies beyond the end");
    let read = read_at(&opened.file, &mut buffer, size).or_fail();
    assert_eq!(read, 0);
    let error = write_at(&opened.file, &buffer, size).expect_err("there is no room");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(
        error
            .to_string()
            .contains("the device ends at 1048576 bytes"),
        "{error:#}"
    );
}

#[test]
fn a_read_only_device_is_opened_and_found_out() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::with(
        1 << 20,
        LoopOptions {
            read_only: true,
            ..LoopOptions::default()
        }
    ));
    let options = OpenOptions::new().read(true).write(true);
    match options.open(device.path()) {
        Ok(opened) => {
            assert!(!opened.granted.write, "{:?}", opened.granted);
            let why = opened.granted.write_refused.expect("a reason");
            assert!(why.contains("blockdev --setrw"), "{why}");
            let error = write_at(&opened.file, &[0; 512], 0).expect_err("it is read-only");
            assert!(error.hint().is_some(), "{error:#}");
        }
        // Some kernels refuse at once.
        Err(error) => assert!(error.hint().is_some(), "{error:#}"),
    }
    let opened = OpenOptions::new().read(true).open(device.path()).or_fail();
    assert!(!opened.granted.write);
    assert_eq!(opened.granted.write_refused, None, "nobody asked to write");
    let asked = geometry(&opened.file).or_fail();
    assert_eq!(asked.read_only, Some(true));
}

#[test]
fn a_mounted_device_is_busy_and_the_error_says_where_it_is_mounted() {
    let _alone = alone();
    let ext4 = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 << 20));
    let device = ext4.device().path();
    let error = exclusively(device).expect_err("it is mounted");
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    let text = error.to_string();
    let said = format!(
        "{} is mounted on {at} (umount {at})",
        device.display(),
        at = ext4.path().display()
    );
    assert!(text.contains(&said), "{text}");
    assert!(
        text.starts_with(&format!(
            "open(O_RDWR|O_EXCL|O_DIRECT) failed on {}",
            device.display()
        )),
        "{text}"
    );
    let all = holders(device).or_fail();
    assert!(
        all.iter().any(
            |holder| matches!(holder, Holder::Mount { namespace_of: None, mount_point, .. }
                if mount_point == ext4.path())
        ),
        "{all:?}"
    );
    // A plain open still works: that is what O_EXCL is for.
    OpenOptions::new().read(true).open(device).or_fail();
}

#[test]
fn a_device_that_is_mounted_over_its_btrfs_is_busy_and_named() {
    let _alone = alone();
    let btrfs = or_skip!(MountedFilesystem::new(FilesystemKind::Btrfs, 128 << 20));
    let error = exclusively(btrfs.device().path()).expect_err("it is mounted");
    let text = error.to_string();
    assert!(
        text.contains(&format!("mounted on {}", btrfs.path().display())),
        "{text}"
    );
    assert!(text.contains("btrfs filesystem"), "{text}");
}

#[test]
fn a_partition_in_use_makes_its_disk_busy_and_is_named() {
    let _alone = alone();
    or_skip!(require_tool("addpart", "util-linux"));
    let device = or_skip!(LoopDevice::with(
        64 << 20,
        LoopOptions {
            partitions: true,
            ..LoopOptions::default()
        }
    ));
    // From sector 4096 on 16 MiB; no table needs to be written or understood.
    let added = Command::new("addpart")
        .arg(device.path())
        .args(["1", "4096", "32768"])
        .status();
    let partition = device.path().with_file_name(format!("{}p1", device.name()));
    if !added.is_ok_and(|status| status.success()) || !partition.exists() {
        diskfacts_testkit::skip("partitions on loop devices: a kernel with CONFIG_BLK_DEV_LOOP");
        return;
    }
    let under = geometry_under(&partition).or_fail();
    assert_eq!(under.geometry.size, 16 << 20, "the partition, not the disk");

    let claim = Claim::acquire(&partition).or_fail();
    assert_eq!(claim.exclusivity(), Exclusivity::Claim);
    let error = exclusively(device.path()).expect_err("its partition is claimed");
    let text = error.to_string();
    assert!(text.contains(&partition.display().to_string()), "{text}");
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    drop(claim);
    opened(device.path());
}

#[test]
fn a_claim_keeps_out_mounting_and_other_claims_but_not_plain_opens() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 << 20));
    or_skip!(require_tool("mkfs.ext4", "e2fsprogs"));
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(device.path())
        .status()
        .expect("mkfs.ext4 is there");
    assert!(made.success());
    let claim = Claim::acquire(device.path()).or_fail();
    assert_eq!(claim.exclusivity(), Exclusivity::Claim);

    let at = device.scratch().join("mounted");
    fs::create_dir(&at).expect("the scratch folder can be written");
    let mounted = Command::new("mount")
        .args(["-t", "ext4"])
        .arg(device.path())
        .arg(&at)
        .output()
        .expect("mount is there");
    assert!(!mounted.status.success(), "it must be kept out");

    let error = exclusively(device.path()).expect_err("it is claimed");
    assert!(
        error
            .to_string()
            .contains(&format!("is open in process {}", std::process::id())),
        "{error:#}"
    );
    OpenOptions::new()
        .read(true)
        .write(true)
        .open(device.path())
        .or_fail();
    drop(claim);
    opened(device.path());
}

#[test]
fn a_device_that_backs_another_one_tells_which() {
    let _alone = alone();
    let below = or_skip!(LoopDevice::new(16 << 20));
    let made = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(below.path())
        .output()
        .expect("losetup is there");
    assert!(made.status.success(), "{made:?}");
    let above = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let found = holders(below.path());
    let undone = Command::new("losetup").args(["-d", &above]).status();
    assert!(undone.is_ok_and(|status| status.success()));
    let found = found.or_fail();
    assert!(
        found.contains(&Holder::Loop {
            device: below.path().to_owned(),
            by: above.into()
        }),
        "{found:?}"
    );
}

#[test]
fn swap_space_is_told_as_the_holder() {
    let _alone = alone();
    or_skip!(require_tool("mkswap", "util-linux"));
    or_skip!(require_tool("swapon", "mount"));
    let device = or_skip!(LoopDevice::new(16 << 20));
    let made = Command::new("mkswap").arg(device.path()).output();
    assert!(made.is_ok_and(|output| output.status.success()));
    let on = Command::new("swapon").arg(device.path()).output();
    if !on.is_ok_and(|output| output.status.success()) {
        diskfacts_testkit::skip("swap on a loop device: a kernel with CONFIG_SWAP");
        return;
    }
    let error = exclusively(device.path());
    let off = Command::new("swapoff").arg(device.path()).status();
    assert!(off.is_ok_and(|status| status.success()));
    let text = error.expect_err("it is swap space").to_string();
    assert!(text.contains("is swap space (swapoff"), "{text}");
}

#[test]
fn holders_of_something_that_is_no_device_is_an_error() {
    let _alone = alone();
    let error = holders("/proc/version").expect_err("it is a file");
    assert!(error.to_string().contains("block device"), "{error:#}");
    let error = holders("/no/such/device").expect_err("it is not there");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}
