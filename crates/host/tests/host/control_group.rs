//! The control group of this process: limits from it up, and its own accounts.

use crate::tree::Tree;
use diskfacts_host::Roots;
use diskfacts_host::observe::{ControlGroupObserver, CpuQuotaObserver, IoLimitsObserver, Observer};
use diskfacts_record::evidence::{ControlGroup, CpuQuota, GroupMemory, Pressure};
use diskfacts_record::{BlockDevice, DeviceKind, Evidence, Stack};

/// What is observed while `change` happens.
fn observed(tree: &Tree, change: impl FnOnce(&Tree)) -> Evidence {
    let mut observer = ControlGroupObserver::new(&tree.roots());
    let mut evidence = Evidence::default();
    observer.start();
    change(tree);
    observer.stop(&mut evidence);
    evidence
}

/// A folder of the groups of a tree, as it is shown.
fn folder(tree: &Tree, group: &str) -> String {
    let folder = tree.roots().sys.join("fs/cgroup").join(group);
    folder.display().to_string()
}

#[test]
fn the_lowest_limit_of_the_group_and_those_above_holds_and_use_is_counted_there() {
    let tree = Tree::unpack("limits-v2");
    let evidence = observed(&tree, |tree| {
        tree.put("sys/fs/cgroup/system.slice/memory.current", "1050000000\n");
        let total = |some: u32, full: u32| {
            format!("some avg10=0.00 total={some}\nfull avg10=0.00 total={full}\n")
        };
        let put = |of: &str, text: &str| {
            tree.put(
                &format!("sys/fs/cgroup/system.slice/job.service/{of}.pressure"),
                text,
            );
        };
        put("io", &total(350, 60));
        put("memory", &total(11, 5));
        put("cpu", &total(22, 0));
    });
    let expected = ControlGroup {
        folder: folder(&tree, "system.slice/job.service"),
        memory: Some(GroupMemory {
            limit_bytes: Some(2 << 30),
            high_bytes: Some(1 << 30),
            // Its memory.high is below the other's memory.max.
            limited_by: folder(&tree, "system.slice"),
            used_before_bytes: 900_000_000,
            used_after_bytes: 1_050_000_000,
        }),
        pressure: Some(Pressure {
            io_some_ns: 250_000,
            io_full_ns: 10_000,
            memory_some_ns: 1_000,
            cpu_some_ns: 2_000,
        }),
    };
    assert_eq!(evidence.control_group, Some(expected));
    assert_eq!(evidence.unseen, []);
}

#[test]
fn stalls_that_the_kernel_does_not_count_are_named() {
    let tree = Tree::unpack("limits-v2");
    tree.put(
        "sys/fs/cgroup/system.slice/job.service/io.pressure",
        "nothing\n",
    );
    let evidence = observed(&tree, |_| {});
    let group = evidence.control_group.expect("a group");
    assert!(group.memory.is_some() && group.pressure.is_none());
    assert_eq!(evidence.unseen[0].what, "pressure of the control group");
    assert!(evidence.unseen[0].why.contains("cgroup.pressure"));
}

#[test]
fn in_version_1_a_limit_above_holds_too_and_stalls_are_missed_only_where_something_is_limited() {
    let tree = Tree::unpack("limits-v1");
    tree.put("proc/self/cgroup", "4:memory:/outer/inner\n0::/\n");
    let evidence = observed(&tree, |_| {});
    let group = evidence.control_group.expect("a group");
    assert_eq!(group.folder, folder(&tree, "memory/outer/inner"));
    let memory = group.memory.expect("its memory");
    assert_eq!(
        (memory.limit_bytes, memory.high_bytes),
        (Some(512 << 20), None)
    );
    assert_eq!(memory.limited_by, folder(&tree, "memory/outer"));
    assert_eq!(memory.used_before_bytes, 500_000_000);
    assert_eq!(evidence.unseen.len(), 1);
    assert!(evidence.unseen[0].why.contains("version 1"));

    tree.put(
        "sys/fs/cgroup/memory/outer/memory.limit_in_bytes",
        "9223372036854771712\n",
    );
    let evidence = observed(&tree, |_| {});
    let group = evidence.control_group.expect("a group");
    let memory = group.memory.expect("its memory");
    assert_eq!(
        (memory.limit_bytes, memory.used_after_bytes),
        (None, 400_000_000)
    );
    assert_eq!(evidence.unseen, []);
}

#[test]
fn stalls_are_missed_where_only_i_o_is_limited() {
    let tree = Tree::unpack("limits-v1");
    tree.put(
        "proc/self/cgroup",
        "7:blkio:/outer/inner\n4:memory:/outer/inner\n",
    );
    tree.put(
        "sys/fs/cgroup/memory/outer/memory.limit_in_bytes",
        "9223372036854771712\n",
    );
    let stack = Stack {
        devices: vec![BlockDevice::unknown("loop1", 7, 1, DeviceKind::Loop)],
        ..Stack::default()
    };
    let mut evidence = Evidence::default();
    IoLimitsObserver::new(&tree.roots(), &stack).stop(&mut evidence);
    let mut observer = ControlGroupObserver::new(&tree.roots());
    observer.start();
    observer.stop(&mut evidence);
    assert_eq!(evidence.unseen.len(), 1, "{:?}", evidence.unseen);
    assert_eq!(evidence.unseen[0].what, "pressure of the control group");
}

#[test]
fn the_root_of_all_groups_is_the_machine_and_no_group() {
    let tree = Tree::unpack("limits-v1");
    let evidence = observed(&tree, |_| {});
    assert_eq!((evidence.control_group, evidence.unseen), (None, vec![]));

    let tree = Tree::unpack("limits-v2");
    tree.put("proc/self/cgroup", "0::/\n");
    let evidence = observed(&tree, |_| {});
    assert_eq!((evidence.control_group, evidence.unseen), (None, vec![]));
}

#[test]
fn without_control_groups_it_says_that_they_could_not_be_read() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let mut evidence = Evidence::default();
    ControlGroupObserver::new(&Roots::under(root.path())).stop(&mut evidence);
    assert_eq!(evidence.control_group, None);
    assert_eq!(evidence.unseen[0].what, "control_group");
}

#[test]
fn of_several_quotas_of_processor_time_the_one_that_held_back_for_longest_is_seen() {
    let tree = Tree::unpack("limits-v2");
    let stat = |periods, throttled, us| {
        format!(
            "usage_usec 9\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {us}\n"
        )
    };
    let slice = "sys/fs/cgroup/system.slice";
    tree.put(&format!("{slice}/cpu.max"), "150000 100000\n");
    tree.put(&format!("{slice}/cpu.stat"), &stat(100, 2, 5));
    tree.put(&format!("{slice}/job.service/cpu.max"), "max 100000\n");
    let quota = |change: &dyn Fn()| {
        let mut observer = CpuQuotaObserver::new(&tree.roots());
        let mut evidence = Evidence::default();
        observer.start();
        change();
        observer.stop(&mut evidence);
        assert_eq!(evidence.unseen, []);
        evidence.cpu_quota
    };
    let of_slice = CpuQuota {
        folder: folder(&tree, "system.slice"),
        quota_ns: 150_000_000,
        period_ns: 100_000_000,
        periods: 10,
        throttled_periods: 4,
        throttled_ns: 70_000,
    };
    let later = || tree.put(&format!("{slice}/cpu.stat"), &stat(110, 6, 75));
    assert_eq!(quota(&later), Some(of_slice));
    // The own group has one now, and it holds back for longer.
    tree.put(&format!("{slice}/job.service/cpu.max"), "20000 100000\n");
    let own = format!("{slice}/job.service/cpu.stat");
    tree.put(&own, &stat(0, 0, 0));
    let found = quota(&|| tree.put(&own, &stat(10, 9, 720_000))).expect("a quota");
    assert_eq!(found.folder, folder(&tree, "system.slice/job.service"));
    assert_eq!(
        (found.throttled_periods, found.throttled_ns),
        (9, 720_000_000)
    );
}
