//! LVM's volumes.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack};
use crate::guest::{Built, Guest};
use crate::product::Stage;
use crate::scenarios::mapper::{self, no_disk_took_part};

pub(super) const SCENARIOS: &[Scenario] = &[
    volume("lvm-linear", Set::Short, |g| {
        written(g, "-L 16M", Leaves::Same, "linear")
    }),
    volume("lvm-striped", Set::Short, |g| {
        written(g, "-i 2 -L 16M", Leaves::Same, "striped")
    }),
    volume("lvm-raid1", Set::Long, |g| {
        g.modules(&["dm_raid"])?;
        written(
            g,
            "--type raid1 --nosync -m 1 -L 16M",
            Leaves::AtLeast,
            "raid",
        )
    }),
    Scenario {
        about: "a mirror of LVM that has lost a leg says so first",
        ..volume("lvm-raid1-failed", Set::Long, failed_leg)
    },
    volume("lvm-thin", Set::Short, thin),
    volume("lvm-snapshot", Set::Short, snapshot),
    volume("lvm-cache", Set::Short, cache),
    volume("lvm-inactive", Set::Long, inactive),
];

const fn volume(name: &'static str, set: Set, run: fn(&mut Guest) -> Built) -> Scenario {
    Scenario {
        name,
        about: "a volume of this kind on two disks",
        set,
        disks: &["d0", "d1"],
        seconds: 14,
        run,
    }
}

/// The group `g` on two disks; their paths.
pub(crate) fn group(guest: &mut Guest, disks: &[&str]) -> Built<Vec<String>> {
    guest.tools(&[("lvm", "lvm2"), ("thin_check", "thin-provisioning-tools")])?;
    guest.modules(&["dm_mod"])?;
    let mut paths = Vec::new();
    for disk in disks {
        // A path is one as it is.
        let path = if disk.starts_with('/') {
            (*disk).to_owned()
        } else {
            guest.disk(disk)?
        };
        paths.push(path);
    }
    guest.sh(&format!("lvm vgcreate -s 1M g {}", paths.join(" ")))?;
    guest.later("lvm vgremove -f -y g");
    Ok(paths)
}

/// Makes a volume of the group; without a look for what was on it before.
pub(super) fn create(guest: &mut Guest, options: &str, name: &str) -> Built<String> {
    guest.sh(&format!("lvm lvcreate -y -Wn -Zn -n {name} {options} g"))?;
    guest.sh("lvm vgmknodes g")?;
    Ok(format!("/dev/mapper/g-{name}"))
}

fn written(guest: &mut Guest, options: &str, leaves: Leaves, says: &str) -> Built {
    let disks = group(guest, &["d0", "d1"])?;
    let top = create(guest, options, "v")?;
    let says = [says];
    let stack = Stack::new(&top).writes(leaves).members(&disks).says(&says);
    checks::examine(guest, &stack)
}

/// The disk of a leg begins to fail: what the mirror notices when it writes there.
fn failed_leg(guest: &mut Guest) -> Built {
    guest.modules(&["dm_raid"])?;
    let (one, two) = (guest.disk("d0")?, guest.disk("d1")?);
    // From behind its beginning on: the mark of LVM would be seen on the disk, too.
    let length = mapper::sectors(&two)? - 2048;
    let leg = guest.mapping("leg", &format!("0 {length} linear {two} 2048"))?;
    group(guest, &[&one, &leg])?;
    create(guest, "--type raid1 --nosync -m 1 -L 16M", "v")?;
    let top = "/dev/mapper/g-v";
    guest.sh(&format!(
        "dmsetup suspend --noflush leg && echo '0 {length} error' | dmsetup load leg && \
         dmsetup resume leg && dd if=/dev/zero of={top} bs=64k count=4 oflag=direct conv=fsync"
    ))?;
    // LVM itself takes the group down, and wants to read both.
    guest.later(&format!(
        "dmsetup suspend --noflush leg; echo '0 {length} linear {two} 2048' | dmsetup load leg; \
         dmsetup resume leg"
    ));
    checks::says_first(guest, top, &["1 of its 2 members failed"])?;
    checks::refused(guest, &[Attempt::on(&one)])
}

fn thin(guest: &mut Guest) -> Built {
    guest.modules(&["dm_thin_pool"])?;
    let disks = group(guest, &["d0", "d1"])?;
    guest.sh("lvm lvcreate -y -Zn --type thin-pool -L 40M -n pool g")?;
    // It makes its node itself; `vgmknodes` fails where a pool has no device to open.
    guest.sh("lvm lvcreate -y -V 32M --thinpool pool -n v g")?;
    let top = "/dev/mapper/g-v";
    let document = checks::measured(guest, top, &[(Stage::Reads, Leaves::Idle)], &[])?;
    no_disk_took_part(guest, document.as_ref());
    let mut members = disks;
    // What LVM makes for itself, below the volume.
    members.extend(["pool_tdata", "pool_tmeta"].map(|name| format!("/dev/mapper/g-{name}")));
    let stack = Stack::new(top).reads(Leaves::Any).writes(Leaves::AtLeast);
    checks::examine(guest, &stack.members(&members).says(&["thin"]))
}

fn snapshot(guest: &mut Guest) -> Built {
    guest.modules(&["dm_snapshot"])?;
    let disks = group(guest, &["d0", "d1"])?;
    create(guest, "-L 16M", "v")?;
    guest.sh("lvm lvcreate -y -s -L 8M -n s g/v && lvm vgmknodes g")?;
    let mut members = disks;
    members.extend(["v-real", "s-cow"].map(|name| format!("/dev/mapper/g-{name}")));
    let stack = Stack::new("/dev/mapper/g-s")
        .reads(Leaves::AtLeast)
        .writes(Leaves::AtLeast);
    checks::examine(guest, &stack.members(&members).says(&["snapshot"]))
}

fn cache(guest: &mut Guest) -> Built {
    guest.tools(&[("cache_check", "thin-provisioning-tools")])?;
    guest.modules(&["dm_cache", "dm_cache_smq"])?;
    let disks = group(guest, &["d0", "d1"])?;
    create(guest, "-L 32M", "v")?;
    guest.sh("lvm lvcreate -y --type cache-pool -L 12M -n c g")?;
    guest.sh("lvm lvconvert -y --type cache --cachemode writethrough --cachepool g/c g/v")?;
    guest.sh("lvm vgmknodes g")?;
    let stack = Stack::new("/dev/mapper/g-v")
        .reads(Leaves::Any)
        .writes(Leaves::AtLeast);
    checks::examine(guest, &stack.members(&disks).says(&["cache"]))
}

fn inactive(guest: &mut Guest) -> Built {
    let disks = group(guest, &["d0", "d1"])?;
    create(guest, "-L 16M", "v")?;
    guest.sh("dd if=/dev/urandom of=/dev/mapper/g-v bs=64k count=8 conv=fsync")?;
    guest.sh("lvm vgchange -an g")?;
    let attempts: Vec<_> = disks.iter().map(|disk| checks::Attempt::on(disk)).collect();
    checks::refused(guest, &attempts)
}
