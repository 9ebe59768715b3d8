//! Trace events of this machine's kernel, in a buffer of our own.

use crate::aligned::{Aligned, direct};
use crate::alone::alone;
use diskfacts_host::Roots;
use diskfacts_host::trace::{
    Burst, Consumer, Event, Gap, Instance, Options, Pace, Reader, Recorder, TraceError, Tracefs,
    any_of, device_number, remove_stale_instances,
};
use diskfacts_testkit::{LoopDevice, or_skip, require_root, skip};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;
const ISSUE: &str = "block/block_rq_issue";
const COMPLETE: &str = "block/block_rq_complete";

/// tracefs with these events, or the reason why a test cannot run.
fn tracefs(events: &[&str]) -> Option<Tracefs> {
    let found = Tracefs::open(&Roots::default()).and_then(|tracefs| {
        tracefs.need_events(events)?;
        Ok(tracefs)
    });
    found.map_err(|error| skip(&error.to_string())).ok()
}

/// Instances that this process made and that are still there.
fn own_instances(tracefs: &Tracefs) -> Vec<PathBuf> {
    of_process(tracefs, std::process::id())
}

fn of_process(tracefs: &Tracefs, pid: u32) -> Vec<PathBuf> {
    let prefix = format!("diskfacts-{pid}-");
    let entries = fs::read_dir(tracefs.instances()).expect("instances");
    let paths = entries.map(|entry| entry.expect("an instance").path());
    paths
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        })
        .collect()
}

fn filter_of(device: &LoopDevice) -> String {
    let (major, minor) = device.device_number();
    any_of("dev", [device_number(major, minor)])
}

#[test]
fn every_read_of_a_device_is_seen_once_in_order_of_time_and_no_other_device_is() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE, COMPLETE]) else {
        return;
    };
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let other = or_skip!(LoopDevice::new(16 * MIB));
    let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
    let folder = instance.folder().to_owned();
    let filter = filter_of(&device);
    let issue = instance.enable(ISSUE, Some(&filter)).expect("the event");
    let complete = instance.enable(COMPLETE, Some(&filter)).expect("the event");
    let (sector, sectors) = (issue.required("sector"), issue.required("nr_sector"));
    let (sector, sectors) = (sector.expect("it"), sectors.expect("it"));
    let mut reader = Reader::new(instance).expect("a reader");
    let mut memory = Aligned::new(8192);
    let (file, strange) = (direct(device.path()), direct(other.path()));
    let mut read = |file: &File, count: u64| {
        for i in 0..count {
            file.read_exact_at(memory.bytes(8192), i * 16384)
                .expect("a read");
        }
    };
    read(&file, 3);
    let before_ns = reader.clock().now_ns();
    reader.switch().on().expect("on");
    let mut seen = Vec::new();
    let mut completed = 0;
    let mut last_ns = before_ns;
    let mut take = |event: &Event<'_>| {
        assert!(event.time_ns >= last_ns, "in order, and within the window");
        last_ns = event.time_ns;
        if event.id() == Some(issue.id) {
            seen.push((
                sector.unsigned(event.data).expect("a sector"),
                sectors.unsigned(event.data).expect("a length"),
            ));
        } else {
            assert_eq!(event.id(), Some(complete.id));
            completed += 1;
        }
    };
    read(&file, 100);
    read(&strange, 10);
    // Some of it is taken while more is to come.
    reader.drain(&mut take).expect("events");
    read(&file, 200);
    reader.switch().off().expect("off");
    read(&file, 3);
    let losses = reader.finish(&mut take).expect("the rest");
    assert!(losses.is_none(), "{losses:?}");
    let asked: Vec<_> = (0..100).chain(0..200).map(|i| (i * 32, 16)).collect();
    assert_eq!(seen, asked);
    assert_eq!(completed, 300);
    assert!(!folder.exists(), "the instance is removed");
}

/// Counts events, and those that it was told are lost.
#[derive(Default)]
struct Counted {
    events: u64,
    lost: u64,
    gaps: u64,
}

impl Consumer for Counted {
    fn event(&mut self, _: &Event<'_>) {
        self.events += 1;
    }

    fn lost(&mut self, gap: Gap) {
        self.gaps += 1;
        self.lost += gap.events.unwrap_or(0);
    }
}

#[test]
fn events_that_a_buffer_is_too_small_for_are_counted_where_they_are_missing() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let smallest = Options {
        buffer_bytes_per_cpu: 1,
        sub_buffer_bytes: 1,
    };
    let mut instance = Instance::create(&tracefs, smallest).expect("an instance");
    instance
        .enable(ISSUE, Some(&filter_of(&device)))
        .expect("the event");
    let reader = Reader::new(instance).expect("a reader");
    reader.switch().on().expect("on");
    let file = direct(device.path());
    let mut memory = Aligned::new(512);
    for i in 0..2000 {
        file.read_exact_at(memory.bytes(512), i * 512)
            .expect("a read");
    }
    let mut counted = Counted::default();
    let losses = reader.finish(&mut counted).expect("what is left");
    assert!(losses.total() > 1000, "{losses:?}");
    assert_eq!(counted.events + losses.total(), 2000, "{losses:?}");
    assert!(counted.gaps > 0);
    assert_eq!(counted.lost, losses.total());
}

#[test]
fn a_recorder_brings_what_a_reader_brings_and_says_what_it_cost() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
    let folder = instance.folder().to_owned();
    instance
        .enable(ISSUE, Some(&filter_of(&device)))
        .expect("the event");
    let reader = Reader::new(instance).expect("a reader");
    let recorder =
        Recorder::start(reader, Counted::default(), Pace::Whole, None).expect("a thread");
    let file = direct(device.path());
    let mut memory = Aligned::new(512);
    recorder.on().expect("on");
    for i in 0..500 {
        file.read_exact_at(memory.bytes(512), i * 512)
            .expect("a read");
    }
    recorder.off().expect("off");
    file.read_exact_at(memory.bytes(512), 0).expect("a read");
    let brought = recorder.finish().expect("what was recorded");
    assert_eq!((brought.events, brought.consumer.events), (500, 500));
    assert!(brought.losses.is_none());
    assert!(brought.after_ns > 0);
    assert!(!folder.exists());
}

/// Events and bursts, as they come.
#[derive(Default)]
struct InBursts {
    /// Time of each event since the last burst.
    open: Vec<u64>,
    bursts: Vec<(Burst, Vec<u64>)>,
}

impl Consumer for InBursts {
    fn event(&mut self, event: &Event<'_>) {
        self.open.push(event.time_ns);
    }

    fn burst(&mut self, burst: Burst) {
        self.bursts.push((burst, std::mem::take(&mut self.open)));
    }
}

#[test]
fn a_sparing_recorder_rests_between_bursts_and_tells_each_after_its_events() {
    const CALL: &str = "raw_syscalls/sys_enter";
    // An event that another processor was just writing may be stamped later.
    const SEEN_NS: u64 = 2_000_000;
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[CALL]) else {
        return;
    };
    let record = |pace| {
        let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
        let own = format!("common_pid == {}", rustix::thread::gettid().as_raw_pid());
        instance.enable(CALL, Some(&own)).expect("the event");
        let reader = Reader::new(instance).expect("a reader");
        let following = Recorder::start(reader, InBursts::default(), pace, None).expect("a thread");
        let from_ns = following.on().expect("on");
        let clock = following.clock();
        // 400 000 per second: far more than may be written, and no more than a buffer
        // holds until it is read.
        let mut calls: u64 = 0;
        while clock.now_ns() < from_ns + 2_000_000_000 {
            for _ in 0..100 {
                let _ = rustix::process::getppid();
            }
            calls += 100;
            while clock.now_ns() < from_ns + calls * 2_500 {
                std::hint::spin_loop();
            }
        }
        let until_ns = following.off().expect("off");
        let recorded = following.finish().expect("what was recorded");
        assert!(recorded.losses.is_none(), "{:?}", recorded.losses);
        assert_eq!(recorded.consumer.open, [], "each event belongs to a burst");
        let told: Vec<Burst> = recorded.consumer.bursts.iter().map(|(b, _)| *b).collect();
        assert_eq!(told, recorded.bursts);
        assert_eq!(told[0].from_ns, from_ns);
        assert!(told.iter().all(|burst| burst.until_ns <= until_ns));
        (recorded, calls)
    };

    let (recorded, calls) = record(Pace::Sparing);
    assert!(
        recorded.bursts.len() >= 2,
        "{:?} of {calls}",
        recorded.bursts
    );
    let length: u64 = recorded.bursts.iter().map(Burst::length_ns).sum();
    assert!(length < 1_600_000_000, "{:?}", recorded.bursts);
    for (burst, events) in &recorded.consumer.bursts {
        assert!(
            !events.is_empty(),
            "{burst:?}: its events were switched on again"
        );
        let within = burst.from_ns.saturating_sub(SEEN_NS)..=burst.until_ns + SEEN_NS;
        let outside = events.iter().filter(|time_ns| !within.contains(*time_ns));
        assert_eq!(outside.count(), 0, "{burst:?}");
    }
    for two in recorded.bursts.windows(2) {
        assert!(two[1].from_ns > two[0].until_ns + SEEN_NS, "{two:?}");
    }

    let (recorded, calls) = record(Pace::Whole);
    assert_eq!(recorded.bursts.len(), 1);
    // All calls, and a few of the switching itself.
    assert!(recorded.events >= calls, "{} of {calls}", recorded.events);
}

#[test]
fn an_instance_is_gone_after_an_error_and_after_a_panic() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let mut folder = PathBuf::new();
    let made = || -> Result<(), TraceError> {
        let mut instance = Instance::create(&tracefs, Options::default())?;
        folder = instance.folder().to_owned();
        assert!(folder.exists());
        instance.enable("block/no_such_event", None).map(drop)
    };
    let mut made = made;
    let error = made().expect_err("there is no such event");
    assert!(matches!(error, TraceError::NoEvent { .. }), "{error}");
    assert!(!folder.exists());
    let panicked = std::panic::catch_unwind(|| {
        let instance = Instance::create(&tracefs, Options::default()).expect("an instance");
        let folder = instance.folder().to_owned();
        let recorder = Recorder::start(
            Reader::new(instance).expect("it"),
            Counted::default(),
            Pace::Whole,
            None,
        );
        let _recorder = recorder.expect("a thread");
        std::panic::panic_any(folder);
    });
    let folder = panicked.expect_err("it panicked");
    assert!(
        !folder
            .downcast_ref::<PathBuf>()
            .expect("its folder")
            .exists()
    );
}

#[test]
fn a_filter_that_the_kernel_does_not_take_is_said_with_its_words() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
    let error = instance
        .enable(ISSUE, Some("no_such_field == 1"))
        .expect_err("refused");
    let said = error.to_string();
    assert!(
        said.contains("`no_such_field == 1` for the trace event block/block_rq_issue"),
        "{said}"
    );
    assert!(said.contains("Field not found"), "{said}");
}

/// In a process of its own, which is killed: makes an instance and waits.
const CHILD: &str = "DISKFACTS_TEST_TRACE_CHILD";

#[test]
fn what_a_killed_process_left_is_removed_by_the_next_and_recorded_nothing_since() {
    if std::env::var_os(CHILD).is_some() {
        let tracefs = Tracefs::open(&Roots::default()).expect("tracefs");
        let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
        instance.enable(ISSUE, None).expect("the event");
        let reader = Reader::new(instance).expect("a reader");
        reader.switch().on().expect("on");
        println!("\nready");
        // Until it is killed, or its parent is gone.
        std::io::read_to_string(std::io::stdin()).expect("the end of it");
        return;
    }
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let name = "trace_events::what_a_killed_process_left_is_removed_by_the_next_and_recorded_nothing_since";
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the same program");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    while line.trim() != "ready" {
        line.clear();
        let read = std::io::BufRead::read_line(&mut output, &mut line).expect("a line");
        assert!(read > 0, "it ended before it was ready");
    }
    let pid = child.id();
    // While it lives, nobody takes its instance away.
    remove_stale_instances(&Roots::default()).expect("tracefs");
    let [folder] = of_process(&tracefs, pid).try_into().expect("one instance");
    let on = || fs::read_to_string(folder.join("tracing_on"));
    assert_eq!(on().expect("a switch").trim(), "1");
    child.kill().expect("a signal");
    child.wait().expect("its end");
    // Another test of this kind may have removed it already: that is what is wanted.
    if let Ok(on) = on() {
        assert_eq!(on.trim(), "0", "it stops with the process");
    }
    remove_stale_instances(&Roots::default()).expect("tracefs");
    assert!(!folder.exists());
}

#[test]
fn two_instances_at_once_see_only_what_each_asked_for() {
    let _alone = alone();
    or_skip!(require_root());
    let Some(tracefs) = tracefs(&[ISSUE]) else {
        return;
    };
    let devices = [
        or_skip!(LoopDevice::new(4 * MIB)),
        or_skip!(LoopDevice::new(4 * MIB)),
    ];
    let recorders = [0, 1].map(|i| {
        let mut instance = Instance::create(&tracefs, Options::default()).expect("an instance");
        instance
            .enable(ISSUE, Some(&filter_of(&devices[i])))
            .expect("the event");
        let reader = Reader::new(instance).expect("a reader");
        let recorder =
            Recorder::start(reader, Counted::default(), Pace::Whole, None).expect("a thread");
        recorder.on().expect("on");
        recorder
    });
    assert_eq!(own_instances(&tracefs).len().min(2), 2);
    let mut memory = Aligned::new(512);
    for (device, count) in devices.iter().zip([70, 30]) {
        let file = direct(device.path());
        for i in 0..count {
            file.read_exact_at(memory.bytes(512), i * 512)
                .expect("a read");
        }
    }
    let seen = recorders.map(|recorder| recorder.finish().expect("it").events);
    assert_eq!(seen, [70, 30]);
}
