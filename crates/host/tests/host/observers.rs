//! Observers around real I/O, and where there is nothing to see.

use crate::alone::alone;
use crate::tree::{Tree, device};
use diskfacts_host::observe::{
    DevicesObserver, NeighboursObserver, NfsObserver, Observer, PressureObserver,
    ProcessIoObserver, StealObserver,
};
use diskfacts_host::{CpuScope, CpuTimes, Observers, Roots, stack_of, stack_of_subject};
use diskfacts_record::{Evidence, Filesystem, Stack};
use diskfacts_testkit::{FilesystemKind, LoopDevice, MountedFilesystem, or_skip};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const MIB: u64 = 1 << 20;

fn why<'a>(evidence: &'a Evidence, what: &str) -> &'a str {
    evidence
        .unseen
        .iter()
        .find(|unseen| unseen.what == what)
        .map_or_else(
            || panic!("{what} among {:?}", evidence.unseen),
            |unseen| &*unseen.why,
        )
}

#[test]
fn the_counters_of_a_device_are_those_of_exactly_the_window() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let roots = Roots::default();
    let stack = stack_of(&roots, device.path()).expect("a stack");
    let mut observer = DevicesObserver::new(&roots, &stack);
    let file = File::options()
        .read(true)
        .write(true)
        .open(device.path())
        .expect("the device");
    // Before the window.
    file.write_all_at(&vec![1; 65536], 0).expect("writing");
    file.sync_all().expect("syncing");
    observer.start();
    file.write_all_at(&vec![2; 1 << 20], 4 << 20)
        .expect("writing");
    file.sync_all().expect("syncing");
    observer.halt();
    // After it.
    file.write_all_at(&vec![3; 65536], 0).expect("writing");
    file.sync_all().expect("syncing");
    let mut evidence = Evidence::default();
    observer.stop(&mut evidence);
    let counters = &evidence.devices[0];
    assert_eq!(counters.name, device.name());
    assert_eq!(counters.write_bytes, MIB);
    assert!(counters.writes >= 1);
    assert_eq!(counters.in_flight_before, 0);
    assert_eq!(evidence.devices.len(), stack.devices.len());
    // The file of the loop device has leaves below; it is none itself.
    assert_eq!(counters.leaf, stack.devices[0].is_leaf());
}

#[test]
fn an_observer_can_be_started_again() {
    let _alone = alone();
    let device = or_skip!(LoopDevice::new(MIB));
    let roots = Roots::default();
    let stack = stack_of(&roots, device.path()).expect("a stack");
    let mut observer = DevicesObserver::new(&roots, &stack);
    let file = File::options().write(true).open(device.path()).expect("it");
    for round in 1..=3_u64 {
        observer.start();
        let len = usize::try_from(round * 4096).expect("small");
        file.write_all_at(&vec![7; len], 0).expect("writing");
        file.sync_all().expect("syncing");
        let mut evidence = Evidence::default();
        observer.stop(&mut evidence);
        assert_eq!(evidence.devices[0].write_bytes, round * 4096);
    }
}

#[test]
fn what_this_process_did_is_counted() {
    let mut observer = ProcessIoObserver::new(&Roots::default());
    let mut file = tempfile::tempfile().expect("a file");
    let mut evidence = Evidence::default();
    observer.start();
    file.write_all(&vec![5; 100_000]).expect("writing");
    observer.stop(&mut evidence);
    let Some(io) = evidence.process_io else {
        diskfacts_testkit::skip(&format!("/proc/self/io: {:?}", evidence.unseen));
        return;
    };
    // Tests run side by side in one process: others may add to it.
    assert!(io.wchar >= 100_000, "{io:?}");
}

/// At both edges of the window it lets others read so often, as any observer does now
/// and then on a machine that is busy.
struct Slow(Arc<AtomicU64>);

impl Slow {
    const READS: u64 = 50_000;

    fn wait(&self) {
        let from = self.0.load(Ordering::Relaxed);
        while self.0.load(Ordering::Relaxed) < from + Self::READS {
            std::thread::yield_now();
        }
    }
}

impl Observer for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn start(&mut self) {
        self.wait();
    }

    fn halt(&mut self) {
        self.wait();
    }

    fn stop(&mut self, _: &mut Evidence) {}
}

/// Ends a thread when it goes.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_runs_beside_is_not_charged_to_a_trial_however_slow_other_observers_are() {
    const OWN: u64 = 1_000_000;
    let _alone = alone();
    let zero = File::open("/dev/zero").expect("zeros");
    let over = AtomicBool::new(false);
    let reads = Arc::new(AtomicU64::new(0));
    let (told, number) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let thread = rustix::thread::gettid().as_raw_pid();
            told.send(thread.cast_unsigned()).expect("who waits");
            while !over.load(Ordering::Relaxed) {
                zero.read_at(&mut [0; 4096], 0).expect("zeros");
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Its thread would be waited for, also after a panic.
        let _end = EndOf(&over);
        let beside = number.recv().expect("its number");
        let roots = Roots::default();
        let mut observers = Observers::for_run(&roots, &Stack::default());
        observers.add(Slow(Arc::clone(&reads)));
        observers.add_beside(&roots, &[beside]);
        let mut evidence = Evidence::default();
        observers.start();
        zero.read_at(&mut vec![0; OWN as usize], 0).expect("zeros");
        observers.stop(&mut evidence);
        let own = evidence.process_io.expect("the process").rchar;
        let beside = evidence.beside.expect("what ran beside").process_io;
        let beside = beside.expect("its account").rchar;
        // Between two neighbouring readings of counters there is no time to speak of.
        assert!(own >= OWN, "{own}");
        assert!(own - OWN < beside / 4, "{own} beside {beside}");
    });
}

#[test]
fn all_observers_of_a_run_together_leave_nothing_unsaid() {
    let _alone = alone();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let path = mounted.path().join("file");
    fs::write(&path, vec![9; 1 << 20]).expect("a file");
    let file = File::open(&path).expect("the file");
    let roots = Roots::default();
    let stack = stack_of(&roots, &path).expect("a stack");
    let mut observers = Observers::for_run(&roots, &stack).with_residency(&file, 0, MIB);
    let names: Vec<_> = observers.names().collect();
    assert_eq!(
        names,
        [
            "residency",
            "neighbours",
            "io_limits",
            "control_group",
            "cpu_quota",
            "write_back",
            "cpu_steal",
            "journal",
            "nfs",
            "pressure",
            "process_io",
            "devices"
        ]
    );
    let mut evidence = Evidence::default();
    observers.start();
    file.read_at(&mut [0; 4096], 0).expect("reading");
    observers.stop(&mut evidence);
    let said = |what: &str| {
        evidence
            .unseen
            .iter()
            .any(|unseen| unseen.what.starts_with(what))
    };
    assert!(evidence.residency_before.is_some() || said("residency"));
    assert!(evidence.residency_after.is_some() || said("residency"));
    assert!(evidence.cpu_steal_ns.is_some() || said("cpu_steal"));
    assert!(evidence.pressure.is_some() || said("pressure"));
    assert!(evidence.process_io.is_some() || said("process_io"));
    assert_eq!(evidence.devices.len(), stack.devices.len());
}

#[test]
fn a_machine_that_shows_nothing_gives_reasons_and_no_figures() {
    let tree = Tree::unpack("loop-circle");
    let roots = tree.roots();
    let mut evidence = Evidence::default();
    let mut list: Vec<Box<dyn Observer>> = vec![
        Box::new(PressureObserver::new(&roots)),
        Box::new(ProcessIoObserver::new(&roots)),
        Box::new(StealObserver::new(&roots)),
    ];
    for observer in &mut list {
        observer.start();
        observer.stop(&mut evidence);
    }
    assert_eq!(evidence.pressure, None);
    assert_eq!(evidence.process_io, None);
    assert_eq!(evidence.cpu_steal_ns, None);
    assert!(why(&evidence, "pressure").contains("psi=1"));
    assert!(why(&evidence, "process_io").contains("self/io"));
    assert!(why(&evidence, "cpu_steal").contains("proc/stat"));
}

/// Observes the two loop devices of the tree, with `change` between start and
/// stop.
fn observed(tree: &Tree, stack: &Stack, change: impl FnOnce(&Tree)) -> Evidence {
    let mut observer = DevicesObserver::new(&tree.roots(), stack);
    let mut evidence = Evidence::default();
    observer.start();
    change(tree);
    observer.stop(&mut evidence);
    evidence
}

#[test]
fn a_device_whose_counters_cannot_be_believed_is_named() {
    let tree = Tree::unpack("loop-circle");
    let stack = stack_of_subject(&tree.roots(), &device("/dev/loop0", 7, 0)).expect("a stack");
    let stat = "sys/devices/virtual/block/loop1/stat";
    tree.put(stat, "900 0 7200 0 0 0 0 0 0 0 0\n");
    let evidence = observed(&tree, &stack, |tree| {
        tree.put(stat, "1 0 8 0 0 0 0 0 0 0 0\n");
    });
    let names: Vec<_> = evidence
        .devices
        .iter()
        .map(|device| &*device.name)
        .collect();
    assert_eq!(names, ["loop0"]);
    assert!(why(&evidence, "loop1 counters").contains("came back"));
}

#[test]
fn a_device_whose_statistics_are_switched_off_is_named_with_the_switch() {
    let tree = Tree::unpack("loop-circle");
    tree.put("sys/devices/virtual/block/loop1/queue/iostats", "0\n");
    let stack = stack_of_subject(&tree.roots(), &device("/dev/loop0", 7, 0)).expect("a stack");
    assert_eq!(stack.devices[1].counts_io, Some(false));
    let evidence = observed(&tree, &stack, |_| {});
    assert!(why(&evidence, "loop1 counters").contains("echo 1 >"));
}

#[test]
fn a_device_that_counts_though_its_statistics_are_switched_off_is_believed() {
    let tree = Tree::unpack("loop-circle");
    tree.put("sys/devices/virtual/block/loop1/queue/iostats", "0\n");
    let stack = stack_of_subject(&tree.roots(), &device("/dev/loop0", 7, 0)).expect("a stack");
    let stat = "sys/devices/virtual/block/loop1/stat";
    tree.put(stat, "1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n");
    let evidence = observed(&tree, &stack, |tree| {
        tree.put(stat, "11 0 88 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n");
    });
    let counted = evidence.devices.iter().find(|d| d.name == "loop1");
    let counted = counted.expect("its counters moved");
    assert_eq!((counted.reads, counted.read_bytes), (10, 10 * 4096));
    // Flushes are counted whatever the switch says, so they prove nothing.
    let evidence = observed(&tree, &stack, |tree| {
        tree.put(stat, "11 0 88 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n");
    });
    assert!(why(&evidence, "loop1 counters").contains("did not move"));
}

#[test]
fn pressure_and_stolen_time_are_differences_in_nanoseconds() {
    let tree = Tree::unpack("vda-and-loop");
    let roots = tree.roots();
    let pressure = |some: u32, full: u32| {
        format!(
            "some avg10=0.00 avg60=0.00 avg300=0.00 total={some}\n\
             full avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
        )
    };
    let put = |io: (u32, u32), memory, cpu, steal: u32| {
        tree.put("proc/pressure/io", &pressure(io.0, io.1));
        tree.put("proc/pressure/memory", &pressure(memory, 0));
        tree.put("proc/pressure/cpu", &pressure(cpu, 0));
        tree.put(
            "proc/stat",
            &format!(
                "cpu  1 2 3 4 5 {0} {0} {steal} 0 0\nsoftirq 9 0 2 4 1 {0}00 0 402 9 0 7\n",
                steal - 6
            ),
        );
    };
    put((100, 50), 10, 20, 7);
    let mut observers = Observers::default();
    observers.add(PressureObserver::new(&roots));
    observers.add(StealObserver::new(&roots));
    observers.start();
    put((350, 60), 11, 22, 9);
    let mut evidence = Evidence::default();
    observers.stop(&mut evidence);
    let pressure = evidence.pressure.expect("pressure");
    assert_eq!(pressure.io_some_ns, 250_000);
    assert_eq!(pressure.io_full_ns, 10_000);
    assert_eq!(pressure.memory_some_ns, 1_000);
    assert_eq!(pressure.cpu_some_ns, 2_000);
    assert_eq!(evidence.cpu_steal_ns, Some(20_000_000));
    let processors = evidence.processors.expect("processors");
    assert_eq!(processors.interrupt_ns, 40_000_000);
    assert_eq!(processors.soft_interrupt_ns, Some(20_000_000));
    assert_eq!(processors.block_soft_interrupts, Some(200));
}

#[test]
fn processor_time_only_grows() {
    // The wider window opens first.
    let process = CpuTimes::now(CpuScope::Process).expect("process");
    let thread = CpuTimes::now(CpuScope::Thread).expect("thread");
    let mut sum = 0_u64;
    // Until the scheduler's clock has moved, however fast the machine is.
    let used = loop {
        sum = sum.wrapping_mul(31).wrapping_add(7);
        let used = CpuTimes::now(CpuScope::Thread)
            .expect("thread")
            .since(&thread);
        if used.total_ns > 1_000_000 {
            break used;
        }
    };
    std::hint::black_box(sum);
    let of_process = CpuTimes::now(CpuScope::Process)
        .expect("process")
        .since(&process);
    assert!(of_process.total_ns >= used.total_ns);
    assert_eq!(
        thread.since(&CpuTimes::now(CpuScope::Thread).expect("it")),
        CpuTimes::default()
    );
}

#[test]
fn who_has_processors_and_storage_is_named_and_this_process_is_nobodys_neighbour() {
    let tree = Tree::unpack("limits-v2");
    let stat = |name: &str, parent: u32, ticks: u64| {
        format!("7 ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 3 0 0 20 0 1 0 555 0 0\n")
    };
    let io = |read: u64| {
        format!(
            "rchar: 1\nwchar: 1\nread_bytes: {read}\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"
        )
    };
    let own = std::process::id();
    tree.put("proc/7/stat", &stat("a (b) c", 1, 100));
    tree.put("proc/7/io", &io(1 << 20));
    // The kernel's thread, this process, and one that it started.
    for (process, parent) in [(8, 2), (own, 1), (9, own)] {
        tree.put(&format!("proc/{process}/stat"), &stat("x", parent, 0));
    }
    let mut observer = NeighboursObserver::new(&tree.roots());
    let mut evidence = Evidence::default();
    observer.start();
    tree.put("proc/7/stat", &stat("a (b) c", 1, 150));
    tree.put("proc/7/io", &io(5 << 20));
    for (process, parent) in [(8, 2), (own, 1), (9, own)] {
        tree.put(&format!("proc/{process}/stat"), &stat("x", parent, 900));
    }
    // One that came meanwhile, of whom this user may not know what it moved.
    tree.put("proc/10/stat", &stat("new", 1, 10));
    observer.stop(&mut evidence);
    let mut found = evidence.neighbours.expect("neighbours");
    found.sort_by_key(|one| one.process);
    let brief: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.process,
                one.name.as_str(),
                one.read_bytes,
                one.processor_ns,
            )
        })
        .collect();
    assert_eq!(
        brief,
        [
            (7, "a (b) c", Some(4 << 20), 500_000_000),
            (10, "new", None, 130_000_000),
        ]
    );
    assert_eq!(evidence.unseen, []);
}

/// A stack of nothing but a mount of NFS.
fn nfs_at(mount_point: &str) -> Stack {
    Stack {
        filesystem: Some(Filesystem {
            kind: "nfs4".to_owned(),
            mount_point: mount_point.to_owned(),
            source: "10.0.0.1:/".to_owned(),
            ..Filesystem::default()
        }),
        ..Stack::default()
    }
}

#[test]
fn the_nfs_client_counts_between_the_ends_of_the_window() {
    let before = include_str!("../../../../fuzz/corpus/mountstats/nfs4");
    let after = before
        .replace(" 34603008 16777216 ", " 51380224 16777216 ")
        .replace("READ: 520 521 1 ", "READ: 776 777 1 ");
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("proc/self/mountstats");
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(&path, before).expect("a file");
    let roots = Roots::under(root.path());
    let mut observer = NfsObserver::new(&roots, &nfs_at("/mnt/nfs"));
    let mut evidence = Evidence::default();
    observer.start();
    fs::write(&path, after).expect("a file");
    observer.stop(&mut evidence);
    let nfs = evidence.nfs.expect("it is mounted");
    assert_eq!(nfs.server_read_bytes, 16 << 20);
    assert_eq!(nfs.direct_read_bytes, 0);
    assert_eq!(nfs.reads.map(|reads| reads.calls), Some(256));
    assert_eq!(nfs.writes.map(|writes| writes.calls), Some(0));

    let mut elsewhere = NfsObserver::new(&roots, &nfs_at("/mnt/other"));
    let mut evidence = Evidence::default();
    elsewhere.start();
    elsewhere.stop(&mut evidence);
    assert!(why(&evidence, "nfs").contains("no NFS that is mounted at /mnt/other"));
    let mut none = NfsObserver::new(&roots, &Stack::default());
    let mut evidence = Evidence::default();
    none.start();
    none.stop(&mut evidence);
    assert_eq!(evidence, Evidence::default());
}
