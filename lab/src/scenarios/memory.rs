//! Devices of the kernel's own: in memory, for tests, and a cache.

use super::{Scenario, Set};
use crate::checks::{self, Leaves, Stack, ensure};
use crate::guest::{Built, Guest, Trouble, until};
use crate::{product, sysfs};

pub(super) const SCENARIOS: &[Scenario] = &[
    kind("zram", &[], Set::Short, zram),
    kind("brd", &[], Set::Short, brd),
    kind("null-blk", &[], Set::Short, null_blk),
    kind("bcache", &["d0", "d1"], Set::Short, bcache),
    kind("loop", &["big0"], Set::Long, loops),
    Scenario {
        about: "a disk with a medium error, of which the place is said",
        ..kind("scsi-debug", &[], Set::Short, scsi_debug)
    },
];

const fn kind(
    name: &'static str,
    disks: &'static [&'static str],
    set: Set,
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about: "a device of this kind",
        set,
        disks,
        seconds: 10,
        run,
    }
}

fn zram(guest: &mut Guest) -> Built {
    guest.modules(&["zram num_devices=1"])?;
    guest.later("echo 1 > /sys/block/zram0/reset; rmmod zram");
    guest.sh("echo 32M > /sys/block/zram0/disksize")?;
    let top = "/dev/zram0";
    let stack = Stack::new(top).reads(Leaves::Any).writes(Leaves::Any);
    checks::examine(guest, &stack.transport("memory"))?;
    checks::refused_with_data(guest, top)
}

fn brd(guest: &mut Guest) -> Built {
    guest.modules(&["brd rd_nr=1 rd_size=32768"])?;
    guest.later("rmmod brd");
    let top = "/dev/ram0";
    let stack = Stack::new(top).reads(Leaves::Any).writes(Leaves::Any);
    checks::examine(guest, &stack.transport("memory"))?;
    checks::refused_with_data(guest, top)
}

fn null_blk(guest: &mut Guest) -> Built {
    // By configfs, where a size can be less than a gigabyte. The first answers at once and
    // forgets, the second keeps what is written.
    guest.modules(&["null_blk nr_devices=0"])?;
    guest.later("rmmod null_blk");
    guest.sh("mount -t configfs configfs /sys/kernel/config")?;
    guest.later("umount /sys/kernel/config");
    for (name, keeps) in [("nullb0", 0), ("nullb1", 1)] {
        let folder = format!("/sys/kernel/config/nullb/{name}");
        guest.sh(&format!("mkdir {folder}"))?;
        guest.later(&format!("rmdir {folder}"));
        guest.sh(&format!(
            "cd {folder}; echo 64 > size; echo 2 > queue_mode; echo {keeps} > memory_backed; \
             echo 1 > power"
        ))?;
        let top = format!("/dev/{name}");
        let there = until(|| std::path::Path::new(&top).exists().then_some(()));
        there.ok_or_else(|| format!("there is no {top}"))?;
        let stack = Stack::new(&top).writes(Leaves::Same);
        checks::examine(guest, &stack.transport("memory"))?;
    }
    checks::refused_with_data(guest, "/dev/nullb1")
}

fn bcache(guest: &mut Guest) -> Built {
    let (disk, cache) = (guest.disk("d0")?, guest.disk("d1")?);
    let top = cached(guest, &disk, &cache)?;
    let stack = Stack::new(&top).reads(Leaves::Any).writes(Leaves::Any);
    checks::examine(
        guest,
        &stack.members(&[&disk, &cache]).says(&["writethrough"]),
    )
}

/// Bytes of a bucket: the kernel wants more than 512 buckets in a cache, and the
/// lab's disks are small.
const BUCKET: &str = "64k";

/// What stops a bcache device and its cache, and waits until both are gone: the
/// kernel does it later, by itself.
const STOP: &str = "echo 1 > /sys/block/NAME/bcache/stop; echo 1 > /sys/fs/bcache/SET/stop; \
    for i in $(seq 200); do \
    [ -e /sys/block/NAME ] || [ -e /sys/fs/bcache/SET ] || exit 0; sleep 0.2; done; false";

/// A device of bcache; its path.
pub(crate) fn cached(guest: &mut Guest, disk: &str, cache: &str) -> Built<String> {
    guest.tools(&[("make-bcache", "bcache-tools")])?;
    guest.modules(&["bcache"])?;
    let there = |name: &&String| name.starts_with("bcache");
    let before: Vec<String> = sysfs::disks()
        .into_iter()
        .filter(|name| there(&name))
        .collect();
    let made = guest.sh(&format!(
        "make-bcache --wipe-bcache --bucket {BUCKET} -B {disk} -C {cache}"
    ))?;
    let set = made.lines().find_map(|line| line.strip_prefix("Set UUID:"));
    let set = set
        .ok_or_else(|| format!("make-bcache says {made}"))?
        .trim()
        .to_owned();
    for device in [disk, cache] {
        // The kernel may have found it already, and then refuses.
        guest.try_sh(&format!("echo {device} > /sys/fs/bcache/register"))?;
    }
    let folder = format!("/sys/fs/bcache/{set}");
    let registered = until(|| std::path::Path::new(&folder).exists().then_some(()));
    registered.ok_or_else(|| format!("the kernel does not take {cache} as a cache"))?;
    let found = until(|| {
        let mut new = sysfs::disks().into_iter().filter(|name| there(&name));
        new.find(|name| !before.contains(name))
    });
    let name = found.ok_or_else(|| "there is no device of bcache".to_owned())?;
    guest.later(&STOP.replace("NAME", &name).replace("SET", &set));
    Ok(format!("/dev/{name}"))
}

/// Loop devices over one file: each is the others' data.
fn loops(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.ext4", "e2fsprogs"), ("losetup", "mount")])?;
    guest.modules(&["loop", "ext4"])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!(
        "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 {disk}"
    ))?;
    let folder = guest.mount("", &disk)?;
    let file = format!("{folder}/file");
    guest.sh(&format!(
        "dd if=/dev/zero of={file} bs=1M count=40 conv=fsync"
    ))?;
    let top = guest.sh(&format!("losetup --direct-io=on -f --show {file}"))?;
    guest.later(&format!("losetup -d {top}"));
    let stack = Stack::new(&top).writes(Leaves::AtLeast).members(&[&disk]);
    checks::examine(guest, &stack)?;
    checks::refused(guest, &[checks::Attempt::on(&file)])
}

/// The first unreadable sector of the device that `scsi_debug` makes, which is
/// the module's own: `OPT_MEDIUM_ERR_ADDR`.
const BAD_SECTOR: u64 = 0x1234;

fn scsi_debug(guest: &mut Guest) -> Built {
    let ended = guest.try_sh("modprobe scsi_debug dev_size_mb=16 opts=2 num_tgts=1 delay=0")?;
    if !ended.ok() {
        return Err(Trouble::Missing(
            "the kernel's module scsi_debug".to_owned(),
        ));
    }
    guest.later("rmmod scsi_debug");
    let found = until(|| {
        let mut disks = sysfs::disks().into_iter();
        disks.find(|disk| {
            let model = sysfs::attribute(disk, "device/model");
            model.is_some_and(|model| model == "scsi_debug")
        })
    });
    let disk = found.ok_or_else(|| "there is no disk of scsi_debug".to_owned())?;
    let top = format!("/dev/{disk}");
    let plan = "name = \"through\"\ntrials = 1\n[[stage]]\nname = \"through\"\n\
                operation = \"read\"\npattern = \"sequential\"\nblock_size = \"4KiB\"\n\
                cache = \"direct\"\nbytes = \"16MiB\"\n";
    errors_are_placed(guest, &top, plan, BAD_SECTOR * 512, "medium error")?;
    // The rest is of a disk whose sectors can all be read.
    guest.sh("echo 0 > /sys/bus/pseudo/drivers/scsi_debug/opts")?;
    checks::refused_with_data(guest, &top)
}

/// A run over a bad sector: it fails, says so, says what kind of error it is, and where.
pub(super) fn errors_are_placed(
    guest: &mut Guest,
    top: &str,
    plan: &str,
    at: u64,
    kind: &str,
) -> Built {
    let run = product::measure(guest, top, plan, &[])?;
    guest.check(
        "the run ends as one with errors",
        ensure(run.ended.code == Some(1), || run.ended.summary()),
    );
    let Some(document) = run.document else {
        guest.check("the error is in its document", Err(run.ended.summary()));
        return Ok(());
    };
    let claims = product::claims(&document);
    guest.check(
        "errors are the first finding",
        ensure(
            claims.first().is_some_and(|first| first == "io-errors"),
            || claims.join(", "),
        ),
    );
    let said = document["findings"][0]["evidence"].to_string();
    guest.check(
        &format!("it is said to be {kind}"),
        ensure(said.contains(kind), || said.clone()),
    );
    let errors = document["trials"][0]["evidence"]["errors"].to_string();
    // The block that holds the sector.
    let offset = at / 4096 * 4096;
    guest.check(
        "the offset of the error is said",
        ensure(errors.contains(&offset.to_string()), || {
            format!("{offset} is not in {errors}")
        }),
    );
    Ok(())
}
