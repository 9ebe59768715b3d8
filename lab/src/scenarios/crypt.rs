//! Encrypted volumes.

use super::{Scenario, Set, lvm, md};
use crate::checks::{self, Attempt, Leaves, Stack};
use crate::guest::{Built, Guest};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "luks",
        about: "a LUKS volume, opened and closed",
        set: Set::Always,
        disks: &["d0"],
        seconds: 20,
        run: luks,
    },
    Scenario {
        name: "lvm-on-luks-on-md",
        about: "a volume of LVM on LUKS on a RAID 1",
        set: Set::Short,
        disks: &["d0", "d1"],
        seconds: 25,
        run: tower,
    },
];

/// Encrypts a device and opens it as `name`. The key is cheap: deriving one as
/// LUKS does by itself takes minutes on an emulated processor. Its header is as
/// small as may be: the disks are small, too.
pub(crate) fn open(guest: &mut Guest, device: &str, name: &str) -> Built<String> {
    guest.tools(&[("cryptsetup", "cryptsetup-bin")])?;
    guest.modules(&["dm_crypt"])?;
    let key = guest.file("key", "a key of the lab")?;
    guest.sh(&format!(
        "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
         --luks2-metadata-size 16k --luks2-keyslots-size 512k {device} {key}"
    ))?;
    guest.sh(&format!(
        "cryptsetup open {device} {name} --key-file {key} && dmsetup mknodes {name}"
    ))?;
    guest.later(&format!("cryptsetup close {name}"));
    Ok(format!("/dev/mapper/{name}"))
}

fn luks(guest: &mut Guest) -> Built {
    let disk = guest.disk("d0")?;
    let top = open(guest, &disk, "m0")?;
    let stack = Stack::new(&top).writes(Leaves::Same).members(&[&disk]);
    checks::examine(guest, &stack.says(&["crypt"]))?;
    guest.take_down()?;
    // Closed, it is data all the same.
    checks::refused(guest, &[Attempt::on(&disk).because("LUKS")])
}

fn tower(guest: &mut Guest) -> Built {
    let (array, mut members) = md::make(guest, 1, 2, "--assume-clean")?;
    let opened = open(guest, &array, "m0")?;
    lvm::group(guest, &[&opened])?;
    guest.sh("lvm lvcreate -y -Wn -Zn -L 12M -n v g && lvm vgmknodes g")?;
    members.extend([array, opened]);
    let stack = Stack::new("/dev/mapper/g-v")
        .writes(Leaves::AtLeast)
        .members(&members);
    checks::examine(guest, &stack.says(&["linear"]))
}
