//! Disks and filesystems of another computer, which is the guest itself.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack, ensure};
use crate::guest::{Built, Guest};
use crate::product::{self, Stage};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "nbd",
        about: "a disk of a server for network block devices",
        set: Set::Short,
        disks: &[],
        seconds: 16,
        run: nbd,
    },
    Scenario {
        name: "nfs",
        about: "a folder of a file server",
        set: Set::Short,
        disks: &["big0"],
        seconds: 28,
        run: nfs,
    },
];

fn nbd(guest: &mut Guest) -> Built {
    guest.tools(&[("nbd-server", "nbd-server"), ("nbd-client", "nbd-client")])?;
    guest.modules(&["nbd nbds_max=1"])?;
    guest.sh("mkdir -p /tmp/nbd && truncate -s 16M /tmp/nbd/file")?;
    guest.later("rm -r /tmp/nbd");
    let config = guest.file(
        "nbd/config",
        "[generic]\nallowlist = true\nlistenaddr = 127.0.0.1\n\
         [disk]\nexportname = /tmp/nbd/file\n",
    )?;
    guest.sh(&format!(
        "nbd-server -C {config} -p /tmp/nbd/pid </dev/null >/dev/null 2>&1"
    ))?;
    guest.later("kill $(cat /tmp/nbd/pid); sleep 1; rmmod nbd");
    guest.sh("nbd-client -N disk 127.0.0.1 /dev/nbd0 </dev/null")?;
    guest.later("nbd-client -d /dev/nbd0");
    let top = "/dev/nbd0";
    let stack = Stack::new(top).writes(Leaves::Same);
    checks::examine(guest, &stack.transport("nbd"))?;
    checks::refused_with_data(guest, top)
}

/// Exports a filesystem on a disk to the computers of these addresses; the disk, and where
/// the filesystem is mounted here.
pub(super) fn export(guest: &mut Guest, to: &str) -> Built<(String, String)> {
    guest.tools(&[
        ("rpc.nfsd", "nfs-kernel-server"),
        ("exportfs", "nfs-kernel-server"),
        ("mount.nfs4", "nfs-common"),
        ("mkfs.ext4", "e2fsprogs"),
    ])?;
    guest.modules(&["nfsd", "nfsv4", "ext4"])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!("mkfs.ext4 -qF {disk}"))?;
    let served = guest.mount("", &disk)?;
    guest.sh(
        "mkdir -p /var/lib/nfs/rpc_pipefs /var/lib/nfs/v4recovery /var/lib/nfs/sm /proc/fs/nfsd",
    )?;
    guest.sh("touch /var/lib/nfs/etab /var/lib/nfs/rmtab /etc/exports")?;
    guest.sh("mount -t nfsd nfsd /proc/fs/nfsd")?;
    guest.later("umount /proc/fs/nfsd");
    guest.sh(&format!(
        "exportfs -o rw,sync,no_root_squash,insecure,fsid=0,no_subtree_check {to}:{served}"
    ))?;
    guest.later("exportfs -ua");
    // Without a wait for clients of before.
    guest.sh("rpc.mountd -N 2 -N 3 && rpc.nfsd -N 3 -V 4 -L 10 -G 10 2")?;
    guest.later("rpc.nfsd 0; kill $(pidof rpc.mountd)");
    Ok((disk, served))
}

fn nfs(guest: &mut Guest) -> Built {
    let (disk, served) = export(guest, "127.0.0.1")?;
    let folder = guest.mount("-t nfs4 -o vers=4.2,soft", "127.0.0.1:/")?;
    let seen = product::devices(guest, &folder)?;
    let kind = seen["stack"]["filesystem"]["kind"].to_string();
    guest.check(
        "its filesystem is NFS",
        ensure(kind.contains("nfs"), || kind.clone()),
    );
    let none = seen["stack"]["devices"]
        .as_array()
        .is_some_and(Vec::is_empty);
    guest.check(
        "no disk of the server is shown as one of this computer",
        ensure(none, || seen["stack"].to_string()),
    );
    let run = product::measure(
        guest,
        &folder,
        &product::plan(&[Stage::Reads]),
        &["--size", "8MiB"],
    )?;
    let document = run.whole()?;
    guest.check("reads come with no false claim", checks::never(&document));
    let share = &document["trials"][0]["layers"]["page_cache"];
    guest.check(
        "direct reads over the network are not laid to the page cache",
        ensure(share.as_f64().unwrap_or(0.0) < 0.02, || share.to_string()),
    );
    guest.sh("sync")?;
    checks::refused(guest, &[Attempt::on(&disk).because(&served)])
}
