//! What the machine around a trial does and allows: limits of control groups, dirty
//! pages, the journal.

use crate::alone::alone;
use crate::tree::Tree;
use diskfacts_host::observe::{IoLimitsObserver, JournalObserver, Observer, WriteBackObserver};
use diskfacts_host::{Roots, stack_of};
use diskfacts_record::evidence::{IoLimit, Journal, LimitOf};
use diskfacts_record::{BlockDevice, DeviceKind, Evidence, Filesystem, Stack};
use diskfacts_testkit::{FilesystemKind, MountedFilesystem, or_skip};
use std::fs::{self, File};
use std::io::Write;

const MIB: u64 = 1 << 20;

fn stack(filesystem: &str, devices: &[(&str, u32, u32)]) -> Stack {
    let mut stack = Stack {
        filesystem: Some(Filesystem {
            kind: filesystem.into(),
            ..Filesystem::default()
        }),
        ..Stack::default()
    };
    stack.devices = devices
        .iter()
        .map(|(name, major, minor)| BlockDevice::unknown(name, *major, *minor, DeviceKind::Disk))
        .collect();
    stack
}

fn observed(mut observer: impl Observer) -> Evidence {
    let mut evidence = Evidence::default();
    observer.start();
    observer.stop(&mut evidence);
    evidence
}

fn brief(limits: &[IoLimit]) -> Vec<(&str, LimitOf, u64)> {
    let brief = limits.iter().map(|l| (l.device.as_str(), l.of, l.per_s));
    brief.collect()
}

#[test]
fn limits_of_version_2_hold_from_the_own_group_up() {
    let tree = Tree::unpack("limits-v2");
    let stack = stack("ext4", &[("sda1", 8, 1), ("sda", 8, 0)]);
    let evidence = observed(IoLimitsObserver::new(&tree.roots(), &stack));
    let limits = evidence.io_limits.expect("limits");
    assert_eq!(
        brief(&limits),
        [
            ("sda", LimitOf::ReadBytes, 104_857_600),
            ("sda", LimitOf::WriteBytes, 52_428_800),
            ("sda", LimitOf::Writes, 500),
        ]
    );
    assert!(limits[2].file.ends_with("system.slice/io.max"));
    assert_eq!(evidence.unseen, []);
}

#[test]
fn a_limit_of_version_1_holds_for_its_own_group_only() {
    let tree = Tree::unpack("limits-v1");
    let stack = stack("xfs", &[("loop1", 7, 1)]);
    let evidence = observed(IoLimitsObserver::new(&tree.roots(), &stack));
    let limits = evidence.io_limits.expect("limits");
    assert_eq!(brief(&limits), [("loop1", LimitOf::Reads, 1000)]);
}

#[test]
fn without_control_groups_it_says_that_limits_could_not_be_read() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let observer = IoLimitsObserver::new(&Roots::under(root.path()), &Stack::default());
    let evidence = observed(observer);
    assert_eq!(evidence.io_limits, None);
    assert_eq!(evidence.unseen[0].what, "io_limits");
    assert!(evidence.unseen[0].why.contains("self/cgroup"));
}

#[test]
fn dirty_pages_are_counted_over_the_window_and_limits_are_bytes() {
    let tree = Tree::unpack("limits-v2");
    let path = tree.roots().proc.join("vmstat");
    let mut observer = WriteBackObserver::new(&tree.roots());
    observer.start();
    let text = fs::read_to_string(&path).expect("the file");
    let text = text
        .replace("nr_dirty 480", "nr_dirty 40")
        .replace("nr_dirtied 1000", "nr_dirtied 1300")
        .replace("nr_written 900", "nr_written 1640");
    fs::write(&path, text).expect("the file of later");
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    let page = rustix::param::page_size() as u64;
    let seen = evidence.write_back.expect("counts");
    assert_eq!(seen.dirty_limit_bytes, 1_152_687 * page);
    assert_eq!(seen.dirty_background_bytes, 575_639 * page);
    assert_eq!(seen.dirty_before_bytes, 500 * page);
    assert_eq!(seen.dirty_after_bytes, 60 * page);
    assert_eq!(
        (seen.dirtied_bytes, seen.written_bytes),
        (300 * page, 740 * page)
    );
}

#[test]
fn what_a_journal_counted_over_the_window_is_told() {
    let tree = Tree::unpack("limits-v2");
    let path = tree.roots().proc.join("fs/jbd2/sda1-8/info");
    let mut observer = JournalObserver::new(&tree.roots(), &stack("ext4", &[("sda1", 8, 1)]));
    observer.start();
    fs::write(
        &path,
        "1300 transactions (1290 requested), each up to 8192 blocks\n",
    )
    .expect("the file of later");
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    let jbd2 = Journal {
        kind: "jbd2".into(),
        commits: 66,
        bytes: None,
        commit_ms: None,
    };
    assert_eq!(evidence.journal, Some(jbd2));

    let tree = Tree::unpack("limits-v1");
    let path = tree.roots().sys.join("fs/xfs/loop1/stats/stats");
    let mut observer = JournalObserver::new(&tree.roots(), &stack("xfs", &[("loop1", 7, 1)]));
    observer.start();
    fs::write(&path, "log 282 916 0 388 272\n").expect("the file of later");
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    let xfs = Journal {
        kind: "xfs".into(),
        commits: 10,
        bytes: Some(51_200),
        commit_ms: None,
    };
    assert_eq!(evidence.journal, Some(xfs));
}

#[test]
fn a_filesystem_without_a_journal_has_none_and_that_is_no_gap() {
    let tree = Tree::unpack("limits-v2");
    for stack in [
        stack("ext4", &[("sdb1", 8, 17)]),
        stack("btrfs", &[("sda1", 8, 1)]),
        Stack::default(),
    ] {
        let evidence = observed(JournalObserver::new(&tree.roots(), &stack));
        assert_eq!((evidence.journal, evidence.unseen), (None, vec![]));
    }
}

/// Each fsync of a file that grows has to be in the journal.
fn of_ten_syncs(mounted: &MountedFilesystem) -> Journal {
    let roots = Roots::default();
    let stack = stack_of(&roots, mounted.path()).expect("a stack");
    let mut file = File::create(mounted.path().join("file")).expect("a file");
    let mut observer = JournalObserver::new(&roots, &stack);
    observer.start();
    for _ in 0..10 {
        file.write_all(&[7; 8192]).expect("writing");
        file.sync_all().expect("syncing");
    }
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    evidence.journal.expect("a journal that counts")
}

#[test]
fn every_sync_of_a_growing_file_is_a_commit_of_ext4() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let journal = of_ten_syncs(&mounted);
    assert_eq!((&*journal.kind, journal.bytes), ("jbd2", None));
    assert!((10..=20).contains(&journal.commits), "{journal:?}");
}

#[test]
fn every_sync_of_a_growing_file_writes_the_log_of_xfs() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Xfs, 320 * MIB));
    let journal = of_ten_syncs(&mounted);
    assert_eq!(journal.kind, "xfs");
    assert!((10..=40).contains(&journal.commits), "{journal:?}");
    // A record of the log has a header of a sector and at least one of data.
    assert!(journal.bytes.is_some_and(|bytes| bytes >= 10 * 1024));
}
