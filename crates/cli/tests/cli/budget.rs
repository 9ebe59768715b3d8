//! Where the time of operations went, on the real kernel: something is planted that is known
//! by itself, its part is found, and a control without it has none of it.

mod compared;
mod disk_log;
mod in_front;
mod processors;
mod volumes;
mod writes;

use crate::support::{Case, MIB, number, one_stage, write_data};
use crate::trace_support::events;
use diskfacts_testkit::{DelayedDisk, LoopDevice, Missing, Program, ThrottleGroup, or_skip};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Share of what was planted that its part may be off by.
const OFF: f64 = 0.1;
/// What it may be off by at least, ns.
const OFF_NS: f64 = 5_000.0;

/// Part of the time in which some task of this machine waited for a processor, from which
/// on the threads of the kernel and of the disk may have been that task: what they waited is
/// told by nobody, and lies in the time of the device.
const STARVED: f64 = 0.5;

/// The mean latency of the only stage, and its parts by name, ns.
struct Budget {
    spent: Value,
    /// Bytes that the process had its devices read in the first trial.
    fetched: u64,
    /// Bytes that became dirty on this machine in the first trial and were so at its end.
    dirtied: u64,
    /// Part of the time of the trial in which some task waited for a processor, or the
    /// hypervisor had one.
    waited: f64,
    /// The second alone.
    stolen: f64,
}

impl Budget {
    fn latency(&self) -> f64 {
        number(&self.spent["latency_ns"])
    }

    fn of(&self, part: &str) -> f64 {
        let mut parts = self.spent["parts"].as_array().expect("parts").iter();
        let found = parts.find(|one| one["part"] == part);
        found.map_or(0.0, |one| number(&one["mean_ns"]))
    }

    /// The names of its parts.
    fn names(&self) -> impl Iterator<Item = &str> {
        let parts = self.spent["parts"].as_array().expect("parts").iter();
        parts.map(|one| one["part"].as_str().expect("a text"))
    }

    /// It as a line, beside what is known otherwise of what was planted.
    fn told(&self, truth_ns: f64) -> String {
        let parts = self
            .names()
            .map(|name| format!("{name} {:.0}", self.of(name)));
        let parts: Vec<String> = parts.collect();
        format!(
            "{:.0} ns, {truth_ns:.0} planted: {}",
            self.latency(),
            parts.join(", ")
        )
    }

    /// The latency without what others on a busy machine had the processors for, ns.
    fn undisturbed(&self) -> f64 {
        self.latency() - self.of("processor")
    }

    /// The same of the slowest hundredth.
    fn slowest(&self) -> Self {
        let slowest = Self {
            spent: self.spent["slowest"].clone(),
            ..*self
        };
        assert!(!slowest.spent.is_null(), "{:#}", self.spent);
        slowest.adds_up();
        slowest
    }

    /// A part is what was planted; or the machine is too busy to tell.
    #[track_caller]
    fn expect(&self, part: &str, ns: f64) -> Result<(), Missing> {
        let found = self.of(part);
        if (found - ns).abs() <= (OFF * ns).max(OFF_NS) {
            return Ok(());
        }
        let starved = self.waited > STARVED && found > ns;
        assert!(starved, "{part} is not {ns}: {:#}", self.spent);
        Err(Missing::new(
            format_args!(
                "free processors for the threads of a disk: tasks waited for one for {:.0} % of \
                 the time, and its part was {found:.0} ns instead of {ns:.0} ns",
                self.waited * 100.0
            ),
            "stop what else runs here",
        ))
    }

    /// All parts together are the latency, whatever they are.
    #[track_caller]
    fn adds_up(&self) {
        let parts = self.spent["parts"].as_array().expect("parts").iter();
        let sum: f64 = parts.map(|part| number(&part["mean_ns"])).sum();
        assert!(
            (sum / self.latency() - 1.0).abs() < 1e-6,
            "{:#}",
            self.spent
        );
    }

    /// It has a share of at most this.
    #[track_caller]
    fn at_most(&self, part: &str, share: f64) {
        let found = self.of(part) / self.latency();
        assert!(found <= share, "{part}: {:#}", self.spent);
    }
}

/// Measures one stage on a device, in a control group where one is given.
fn measured(device: &LoopDevice, stage: &str, group: Option<&ThrottleGroup>) -> Budget {
    measured_by(device.path(), stage, |program| match group {
        Some(group) => program.inside(group),
        None => program,
    })
}

/// Measures one stage on a device or file, by a program that is changed so.
fn measured_by(target: &Path, stage: &str, change: impl FnOnce(Program) -> Program) -> Budget {
    let case = Case::new();
    let plan = case.text_file("plan.toml", &one_stage(stage));
    let mut program = case.diskfacts(["measure", "--plan"]);
    program = program.args([plan.as_path(), target]);
    if stage.contains("\"write\"") {
        program = program.arg("--destroy-data-on").arg(target);
    }
    change(program).run().expect_code(0);
    let run = case.last();
    let io = &run["trials"][0]["evidence"]["process_io"];
    let fetched = io["read_bytes"].as_u64().expect("as root it is known");
    let dirty = |when: &str| run["trials"][0]["evidence"]["write_back"][when].as_u64();
    let dirty = dirty("dirty_after_bytes").zip(dirty("dirty_before_bytes"));
    let evidence = &run["trials"][0]["evidence"];
    let seconds = number(&run["trials"][0]["seconds"]);
    let part = |ns: &Value| ns.as_f64().unwrap_or(0.0) / 1e9 / seconds;
    let stolen = part(&evidence["cpu_steal_ns"]);
    let budget = Budget {
        spent: run["figures"][0]["budget"].clone(),
        fetched,
        dirtied: dirty.map_or(0, |(after, before)| after.saturating_sub(before)),
        waited: part(&evidence["pressure"]["cpu_some_ns"]) + stolen,
        stolen,
    };
    budget.adds_up();
    budget
}

fn filled() -> Result<LoopDevice, Missing> {
    let device = LoopDevice::new(32 * MIB)?;
    write_data(device.backing_file(), 32 * MIB);
    Ok(device)
}

/// Reads of 4 KiB, one after the other, past the page cache.
const DIRECT: &str = "operation = \"read\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n";

#[test]
fn a_device_of_known_delay_has_that_delay() {
    or_skip!(events());
    let delay = Duration::from_millis(60);
    let disk = or_skip!(DelayedDisk::new(32 * MIB, delay));
    let stage = format!("{DIRECT}operations = 30");
    let slow = measured(disk.device(), &stage, None);
    // What the disk itself logged, the pauses of a busy machine in it.
    let served = disk.served();
    let service: f64 = served
        .iter()
        .map(|one| one.service().as_nanos() as f64)
        .sum::<f64>()
        / served.len() as f64;
    assert!(service >= delay.as_nanos() as f64, "{service}");
    or_skip!(slow.expect("device", service));
    slow.at_most("scheduler", 0.1);
    slow.at_most("unexplained", 0.05);

    let fast = measured(&or_skip!(filled()), &stage, None);
    assert!(fast.of("device") < 0.2 * service, "{:#}", fast.spent);
}

/// Operations of a stage of which a hundredth is to be slow, and each how many the disk
/// stalls for so long: the slowest hundredth has all seen a stall.
const MANY: usize = 1_200;
const STALLS_EACH: u64 = 50;
const STALL: Duration = Duration::from_millis(100);

#[test]
fn the_slowest_are_divided_by_what_made_them_slow() {
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(32 * MIB, Duration::from_millis(1)));
    let device = disk.device();
    let stage = format!("{DIRECT}queue_depth = 8\noperations = {MANY}");

    // No stalls: what is slow is slow for what else the machine had to do.
    or_skip!(device.set("scheduler", "none"));
    let even = measured(device, &stage, None).slowest();
    let planted = STALL.as_nanos() as f64;
    assert!(even.of("device") < 0.5 * planted, "{:#}", even.spent);

    // Eight are with the disk when it stalls, and all of them wait there.
    drop(disk.served());
    disk.stall_each(STALLS_EACH, STALL);
    let stalled = measured(device, &stage, None);
    let slow = stalled.slowest();
    assert!(slow.latency() >= planted, "{:#}", slow.spent);
    or_skip!(slow.expect("device", slowest_served(&disk)));
    slow.at_most("scheduler", 0.1);
    // Of all of them the stall is a small part.
    assert!(
        stalled.latency() < 0.5 * slow.latency(),
        "{:#}",
        stalled.spent
    );

    // One is with the disk, and seven wait for their turn.
    or_skip!(device.set("scheduler", "bfq"));
    or_skip!(device.set("iosched/strict_guarantees", "1"));
    let held = measured(device, &stage, None).slowest();
    assert!(held.latency() >= planted, "{:#}", held.spent);
    assert!(
        held.of("scheduler") > 5.0 * held.of("device"),
        "{:#}",
        held.spent
    );
}

#[test]
fn the_slowest_syncs_are_divided_by_what_made_them_slow() {
    or_skip!(events());
    let stage = format!(
        "operation = \"write\"\nblock_size = \"4KiB\"\ncache = \"direct\"\n\
         sync = \"fdatasync\"\noperations = {MANY}\n\
         observe = \"block_layer,pressure,process_io\""
    );
    let planted = STALL.as_nanos() as f64;
    // All else equal, the flush is slow now and then, or the write before it.
    let slow = |plant: fn(&DelayedDisk)| -> Result<(Budget, f64), Missing> {
        let disk = DelayedDisk::new(32 * MIB, Duration::ZERO)?;
        plant(&disk);
        let slowest = measured(disk.device(), &stage, None).slowest();
        Ok((slowest, slowest_served(&disk)))
    };
    let (flush, _) = or_skip!(slow(|disk| disk.slow_flush_each(STALLS_EACH, STALL)));
    or_skip!(flush.expect("flush", planted));
    assert!(flush.of("device") < 0.2 * planted, "{:#}", flush.spent);

    // Where the machine is busy the disk takes longer than it was told to, and knows how long.
    let (write, served_ns) = or_skip!(slow(|disk| disk.stall_each(STALLS_EACH, STALL)));
    assert!(served_ns >= planted, "{served_ns}");
    or_skip!(write.expect("device", served_ns));
    assert!(write.of("flush") < 0.2 * planted, "{:#}", write.spent);

    let (neither, _) = or_skip!(slow(|_| {}));
    for part in ["device", "flush"] {
        assert!(neither.of(part) < 0.5 * planted, "{:#}", neither.spent);
    }
}

/// Mean of the slowest hundredth of what the disk served since it was asked last, ns.
fn slowest_served(disk: &DelayedDisk) -> f64 {
    let mut all: Vec<f64> = disk
        .served()
        .iter()
        .map(|one| one.service().as_nanos() as f64)
        .collect();
    all.sort_by(|a, b| b.total_cmp(a));
    let slow = &all[..MANY / 100];
    slow.iter().sum::<f64>() / slow.len() as f64
}

#[test]
fn a_read_through_the_page_cache_without_read_ahead_waits_for_the_device() {
    or_skip!(events());
    let disk = or_skip!(DelayedDisk::new(32 * MIB, Duration::from_millis(2)));
    or_skip!(disk.device().set("read_ahead_kb", "0"));
    let stage = "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"16KiB\"\n\
                 cache = \"cold\"\noperations = 50\n";
    let slow = measured(disk.device(), stage, None);
    // Pages come one after the other, each by a request of its own.
    let device = slow.of("device") + slow.of("block-layer");
    assert!(device > 0.8 * slow.undisturbed(), "{:#}", slow.spent);
    assert!(slow.latency() >= 8e6, "{:#}", slow.spent);

    let warm = "operation = \"read\"\nblock_size = \"16KiB\"\ncache = \"warm\"\n\
                span = \"4MiB\"\noperations = 20000\n";
    let warm = measured(disk.device(), warm, None);
    if warm.fetched > 0 {
        diskfacts_testkit::skip("a page cache that keeps 4 MiB for a moment");
        return;
    }
    let device = warm.of("device") + warm.of("block-layer");
    assert!(device < 0.1 * warm.latency(), "{:#}", warm.spent);
    assert!(
        warm.of("kernel") > 0.3 * warm.undisturbed(),
        "{:#}",
        warm.spent
    );
}
