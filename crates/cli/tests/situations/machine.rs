//! What the machine lacks: processors, memory.

use crate::alone::alone;
use crate::beside::{Group, Shells, filled};
use crate::case::{Case, MIB};
use crate::said::{BUSY, Said, of};
use diskfacts_testkit::{DelayedDisk, or_skip, skip};
use std::fs;
use std::time::Duration;

const DEEP: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
                    queue_depth = 32\ntime = \"300ms\"";
const WARM: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"warm\"\n\
                    time = \"300ms\"";

/// Part of a processor that others compute on, from which on they may be said to keep it busy, and
/// from which on a test of it being idle cannot be done: an idle machine has a few hundredths.
const MOST: f64 = 0.5;
const LEAST: f64 = 0.1;

/// What is said, and how many processors others computed on meanwhile: the time in programs, not
/// in the kernel, which /proc/stat has under this name, without that of this process and of those
/// that it waited for.
fn others_compute(name: &str, measured: &dyn Fn() -> Said) -> (Said, f64) {
    let ticks = |file: &str, begin: &str, fields: &[usize]| -> u64 {
        let text = fs::read_to_string(file).expect(file);
        let line = text.lines().find(|line| line.starts_with(begin));
        let words: Vec<&str> = line.expect("a line").split_whitespace().collect();
        let number = |field: &usize| words[*field].parse::<u64>().expect("a number");
        fields.iter().map(number).sum()
    };
    // proc(5): user and nice; utime and cutime.
    let all = || ticks("/proc/stat", &format!("{name} "), &[1, 2]);
    let own = || ticks("/proc/self/stat", "", &[13, 15]);
    // From user to steal, idle among them: what went by on as many processors as the line is of.
    let went_by = || ticks("/proc/stat", &format!("{name} "), &[1, 2, 3, 4, 5, 6, 7, 8]);
    let text = fs::read_to_string("/proc/stat").expect("/proc/stat");
    let of = match name {
        // Behind the line of all.
        "cpu" => text.matches("\ncpu").count(),
        _ => 1,
    };
    let before = (all(), own(), went_by());
    let said = measured();
    let ticks = (all() - before.0).saturating_sub(own() - before.1);
    let others = ticks as f64 / (went_by() - before.2) as f64;
    (said, others * of as f64)
}

/// Where nobody else computes, nobody is said to; where somebody does, it cannot be tried.
fn calm(name: &str, measured: &dyn Fn() -> Said) {
    let (said, others) = others_compute(name, measured);
    if others > LEAST {
        return skip(&format!(
            "processors on which nobody else computes, for the control: {others:.2} were taken"
        ));
    }
    said.never_says(BUSY);
}

#[test]
fn processors_that_others_keep_busy() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    let measured = || of(device.path(), DEEP).said();
    let busy = Shells::running(6, ":");
    let (said, others) = others_compute("cpu", &measured);
    drop(busy);
    let processors = std::thread::available_parallelism().expect("processors");
    assert!(others > MOST * processors.get() as f64, "{others}");
    said.names("other-process", BUSY);
    // So many of them as are among those that had most.
    said.shows("sh (");
    said.is_silent_of("cpu-quota");
    calm("cpu", &measured);
}

#[test]
fn the_one_processor_that_may_be_used_is_kept_busy() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    let one = [("cpuset.mems", "0"), ("cpuset.cpus", "0")];
    let group = or_skip!(Group::new("cpuset", "one", &one));
    let measured = || of(device.path(), DEEP).inside(group.path()).said();
    let script = "taskset -pc 0 $$; while :; do :; done";
    let busy = Shells::running(4, script);
    let (said, others) = others_compute("cpu0", &measured);
    drop(busy);
    assert!(others > MOST, "{others}");
    said.names("other-process", BUSY);
    said.is_silent_of("cpu-quota");
    calm("cpu0", &measured);
}

/// Two processor-milliseconds in each twenty.
const TENTH: [(&str, &str); 2] = [("cpu.cfs_period_us", "20000"), ("cpu.cfs_quota_us", "2000")];

/// Whether the quota of a group was what kept it from running, in most of its time.
fn is_used_up(group: &Group) -> bool {
    let number = |word| group.number("cpu.stat", word);
    let periods = number("nr_periods ");
    assert!(periods > 10, "{periods}");
    number("nr_throttled ") * 4 > periods * 3
}

#[test]
fn a_quota_of_processor_time() {
    let _alone = alone();
    let device = or_skip!(filled(64 * MIB));
    let group = or_skip!(Group::new("cpu", "deep", &TENTH));
    let said = of(device.path(), DEEP).inside(group.path()).said();
    if !is_used_up(&group) {
        return skip("processors that are free enough for a quota of a tenth to be used up");
    }
    said.names("cpu-quota", "allows 0.1 processors")
        .is_silent_of("stopped");
    of(device.path(), DEEP).said().is_silent_of("cpu-quota");
}

/// A process that is let run for a quarter of a second and then kept from it for as long.
const HALF: (&str, &str) = ("sleep 0.25", "sleep 0.25");

#[test]
fn a_process_that_is_stopped() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    let stage = DEEP.replace("32", "8").replace("300ms", "800ms");
    let measured = || of(disk.device().path(), &stage);
    let group = or_skip!(Group::new("freezer", "stopped", &[]));
    let processes = group.path().join("cgroup.procs");
    let (run, wait) = HALF;
    let script = |signal: &str| format!("kill -{signal} $(cat {})", processes.display());
    let (stop, go) = (script("STOP"), script("CONT"));
    let stopping = Shells::running(1, &format!("{run}; {stop}; {wait}; {go}"));
    let said = measured().inside(group.path()).said();
    drop(stopping);
    said.names("stopped", "did not run for")
        .is_silent_of("stall");
    measured().said().is_silent_of("stopped");
}

#[test]
fn a_control_group_that_is_frozen() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(64 * MIB, Duration::from_millis(1)));
    let stage = DEEP.replace("32", "8").replace("300ms", "800ms");
    let group = or_skip!(Group::new("freezer", "frozen", &[]));
    let freezer = group.path().join("freezer.state");
    let (run, wait) = HALF;
    let set = |wanted: &str| format!("echo {wanted} > {}", freezer.display());
    let (stop, go) = (set("FROZEN"), set("THAWED"));
    let freezing = Shells::running(1, &format!("{run}; {stop}; {wait}; {go}"));
    let measured = || of(disk.device().path(), &stage).inside(group.path()).said();
    let said = measured();
    drop(freezing);
    fs::write(&freezer, "THAWED").expect("its state");
    said.names("stopped", "did not run for")
        .is_silent_of("stall");
    measured().is_silent_of("stopped");
}

#[test]
fn a_quota_of_processor_time_where_memory_serves() {
    let _alone = alone();
    let case = Case::new();
    let file = case.data_file("data", 16 * MIB);
    let group = or_skip!(Group::new("cpu", "warm", &TENTH));
    let said = of(&file, WARM).inside(group.path()).said();
    if !is_used_up(&group) {
        return skip("processors that are free enough for a quota of a tenth to be used up");
    }
    said.names("cpu-quota", "allows 0.1 processors");
    of(&file, WARM).said().is_silent_of("cpu-quota");
}

#[test]
fn a_group_with_too_little_memory_for_what_is_read() {
    let _alone = alone();
    let device = or_skip!(filled(192 * MIB));
    let limit = [("memory.limit_in_bytes", "96M")];
    let group = or_skip!(Group::new("memory", "small", &limit));
    let said = of(device.path(), WARM).inside(group.path()).said();
    assert!(group.number("memory.failcnt", "") > 0);
    said.names("evicted", "memory of a control group, 96 MiB");
    let room = [("memory.limit_in_bytes", "512M")];
    let large = or_skip!(Group::new("memory", "large", &room));
    let said = of(device.path(), WARM).inside(large.path()).said();
    assert_eq!(large.number("memory.failcnt", ""), 0);
    said.is_silent_of("evicted");
}

#[test]
fn memory_that_somebody_empties() {
    let _alone = alone();
    let disk = or_skip!(DelayedDisk::new(32 * MIB, Duration::from_millis(1)));
    let path = disk.device().path();
    let script = format!("blockdev --flushbufs {}; sleep 0.05", path.display());
    let beside = Shells::running(1, &script);
    let said = of(path, WARM).said();
    drop(beside);
    assert!(disk.served().len() > 100);
    said.names("evicted", "was evicted");
    let said = of(path, WARM).said();
    said.names("page-cache", "Memory served")
        .is_silent_of("evicted");
}

#[test]
fn a_group_with_hardly_any_memory() {
    let case = Case::new();
    let folder = case.path("data");
    std::fs::create_dir(&folder).expect("a folder");
    let survey = |group: &Group| {
        let survey = case.diskfacts(["measure", "--explain", "--time", "3s", "--size", "256MiB"]);
        survey.arg(&folder).inside(group.path()).run()
    };
    for limit in ["64M", "32M"] {
        let small = [("memory.limit_in_bytes", limit)];
        let small = or_skip!(Group::new("memory", "survey", &small));
        let said = survey(&small);
        said.expect_code(0);
        assert!(small.number("memory.failcnt", "") > 0, "{limit}");
        assert_eq!(small.number("memory.oom_control", "oom_kill "), 0);
        // What the limit did.
        let size = limit.replace('M', " MiB");
        said.expect_stdout("evicted")
            .expect_stdout(&format!("memory of a control group, {size}"));
    }
    // What cannot be done in it is not begun.
    let limit = [("memory.limit_in_bytes", "12M")];
    let tiny = or_skip!(Group::new("memory", "tiny", &limit));
    let refused = survey(&tiny);
    refused
        .expect_code(1)
        .expect_stderr("12 MiB of memory, and this plan needs 20 MiB")
        .expect_stderr("memory.limit_in_bytes");
    assert_eq!(tiny.number("memory.oom_control", "oom_kill "), 0);
}
