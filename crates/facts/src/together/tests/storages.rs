//! What hosts measured: one storage, or several.

use super::*;

#[test]
fn kernels_and_storages_are_told_apart() {
    let mut runs = hosts(2);
    runs[0].machine.kernel = Some("Linux 6.18.44".to_owned());
    runs[1].machine.kernel = Some("Linux 5.4.0".to_owned());
    assert_eq!(claims(&merged(&runs)), ["mixed-versions"]);
    let of = |names: [&str; 2]| {
        let mut runs = hosts(2);
        for (run, name) in runs.iter_mut().zip(names) {
            let leaf = run.stack.devices.last_mut().expect("a disk");
            leaf.wwid = (!name.is_empty()).then(|| name.to_owned());
        }
        claims(&merged(&runs)).concat()
    };
    assert_eq!(of(["naa.5", "naa.5"]), "one-storage");
    assert_eq!(of(["naa.5", "naa.6"]), "separate-storage");
    assert_eq!(of(["naa.5", ""]), "");
    assert_eq!(of(["", ""]), "");
    // A serial number without a model is what somebody gave a virtual disk.
    let serial = |model: Option<&str>| {
        let mut runs = hosts(2);
        for (run, serial) in runs.iter_mut().zip(["1", "2"]) {
            let leaf = run.stack.devices.last_mut().expect("a disk");
            leaf.serial = Some(serial.to_owned());
            leaf.model = model.map(str::to_owned);
        }
        claims(&merged(&runs)).concat()
    };
    assert_eq!(serial(None), "");
    assert_eq!(serial(Some("SSD 980")), "separate-storage");
    let shared = |one: &str, other: &str| {
        let mut runs = hosts(2);
        for (run, source) in runs.iter_mut().zip([one, other]) {
            run.stack.devices.clear();
            let filesystem = run.stack.filesystem.as_mut().expect("a filesystem");
            filesystem.kind = "nfs4".to_owned();
            filesystem.source = source.to_owned();
        }
        claims(&merged(&runs)).concat()
    };
    assert_eq!(shared("s:/x", "s:/x"), "one-storage");
    // What a server sent need not have come from its disks.
    let mut runs = hosts(2);
    for run in &mut runs {
        run.stack.devices.clear();
        run.stack.filesystem.as_mut().expect("a filesystem").kind = "nfs4".to_owned();
        for trial in &mut run.trials {
            (trial.layers.server, trial.layers.unknown) = (1.0, 0.0);
            trial.layers.device = None;
        }
    }
    let evidence = merged(&runs).findings[0].evidence.join(" ");
    assert!(evidence.contains("the memory of its server"), "{evidence}");
    // One server may have two names.
    assert_eq!(shared("s:/x", "t:/x"), "");
}

#[test]
fn a_name_that_each_host_gives_itself_makes_no_two_storages_one() {
    let named = |kind: &str, source: &str| {
        let mut runs = hosts(2);
        for run in &mut runs {
            run.stack.devices.clear();
            let filesystem = run.stack.filesystem.as_mut().expect("a filesystem");
            filesystem.kind = kind.to_owned();
            filesystem.source = source.to_owned();
        }
        claims(&merged(&runs)).concat()
    };
    // Tags that a hypervisor gives, and names that all mounts have.
    for (kind, source) in [
        ("virtiofs", "shared"),
        ("9p", "shared"),
        ("beegfs", "beegfs_nodev"),
        ("afs", "AFS"),
    ] {
        assert_eq!(named(kind, source), "", "{kind} {source}");
    }
    // The near end of each host's own tunnel.
    for (kind, source) in [
        ("nfs4", "127.0.0.1:/"),
        ("nfs", "[::1]:/x"),
        ("nfs", "localhost:/x"),
        ("cifs", "//127.0.0.2/share"),
        ("fuse.glusterfs", "localhost.localdomain:/v"),
        ("ceph", "127.0.0.1:6789,127.0.0.1:6790:/"),
        ("lustre", "0@lo:/x"),
        ("lustre", "127.0.0.1@tcp:/x"),
    ] {
        assert_eq!(named(kind, source), "", "{kind} {source}");
    }
    for (kind, source) in [
        ("nfs4", "10.0.0.1:/"),
        ("nfs", "[fd00::1]:/x"),
        ("cifs", "//server/share"),
        ("fuse.glusterfs", "local:/v"),
        ("ceph", "10.0.0.1:6789,10.0.0.2:6789:/"),
        ("lustre", "10.0.0.1@tcp:/x"),
    ] {
        assert_eq!(named(kind, source), "one-storage", "{kind} {source}");
    }
}

#[test]
fn a_cluster_filesystem_is_known_by_its_disks_and_not_by_their_paths() {
    let of = |names: [&str; 2]| {
        let mut runs = hosts(2);
        for (run, name) in runs.iter_mut().zip(names) {
            let filesystem = run.stack.filesystem.as_mut().expect("a filesystem");
            filesystem.kind = "gfs2".to_owned();
            filesystem.source = "/dev/sdb1".to_owned();
            let leaf = run.stack.devices.last_mut().expect("a disk");
            leaf.wwid = (!name.is_empty()).then(|| name.to_owned());
        }
        claims(&merged(&runs)).concat()
    };
    assert_eq!(of(["naa.5", "naa.5"]), "one-storage");
    assert_eq!(of(["naa.5", "naa.6"]), "separate-storage");
    assert_eq!(of(["", ""]), "");
}
