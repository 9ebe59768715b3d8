//! What rules say of documents that compare volumes, or sizes of the read-ahead:
//! simulated disks are measured, what they give is written down as bonnie++, dd and
//! the kernel write it, and read again.

use super::documents::found;
use super::setup::Setup;
use diskfacts_disk::faults::throttle::{CreditParameters, ThrottleParameters};
use diskfacts_plan::{CacheMode, Operation, Pattern, Stage, Stop, SyncMode};
use diskfacts_record::Run;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The rules that compare volumes, or look at read-ahead.
pub(super) const RULES: [&str; 5] = [
    "flash-like-disks",
    "read-ahead-limit",
    "read-ahead-size",
    "text-against-rows",
    "volume-choice",
];

const MIB: u64 = 1 << 20;

/// Those of [`RULES`] that speak of a document.
fn speaking(text: &str) -> Vec<&'static str> {
    let found = found(text);
    let spoke = |rule: &&str| found.iter().any(|finding| finding.rule == **rule);
    RULES.into_iter().filter(spoke).collect()
}

fn median(run: &Run, stage: &str) -> (f64, f64) {
    let figures = run.figures.iter().find(|figures| figures.stage == stage);
    let figures = figures.expect("a stage of the plan");
    (figures.throughput_bytes_per_s.median, figures.iops.median)
}

/// What bonnie++ counts of a volume: KiB written, rewritten and read in a second, and
/// seeks.
fn counted(profile: &str, held: Option<u64>) -> [f64; 4] {
    let mut setup = Setup::on(profile);
    if let Some(operations_per_s) = held {
        setup.profile.faults.throttle = Some(ThrottleParameters::Credit(CreditParameters {
            base_iops: operations_per_s,
            burst_iops: operations_per_s,
            bucket: 1,
            io_unit: MIB,
            bytes_per_s: 1 << 40,
        }));
    }
    let mut seeks = setup.only("random-read").clone();
    seeks.workload.stop = Stop {
        operations: Some(500),
        ..Stop::default()
    };
    let stream = |name: &str, operation| {
        let mut stage: Stage = seeks.clone();
        stage.name = name.into();
        stage.workload.operation = operation;
        stage.workload.pattern = Pattern::Sequential;
        stage.workload.block_size = MIB;
        stage.workload.cache = CacheMode::Direct;
        stage.workload.stop.operations = Some(200);
        if operation != Operation::Read {
            stage.workload.sync = SyncMode::AtEnd;
        }
        stage
    };
    setup.plan.trials = 1;
    setup.plan.stages = vec![
        stream("write", Operation::Write),
        stream("rewrite", Operation::Modify { percent: 100 }),
        stream("read", Operation::Read),
        seeks,
    ];
    let run = setup.run();
    let kib = |stage| median(&run, stage).0 / 1024.0;
    [
        kib("write"),
        // Bytes count both ways, and bonnie++ counts them once.
        kib("rewrite") / 2.0,
        kib("read"),
        median(&run, "random-read").1,
    ]
}

static RAID6: LazyLock<[f64; 4]> = LazyLock::new(|| counted("raid6x8", None));
static RAID10: LazyLock<[f64; 4]> = LazyLock::new(|| counted("raid10x4", None));
static FLASH: LazyLock<[f64; 4]> = LazyLock::new(|| counted("ssd-raid1", None));
/// The same drives behind something that lets 100 operations through in a second, as
/// many as the disks do.
static HELD: LazyLock<[f64; 4]> = LazyLock::new(|| counted("ssd-raid1", Some(100)));

/// A table of bonnie++, two rows of each volume that differ by a percent.
fn bonnie(volumes: &[(&str, [f64; 4])]) -> String {
    let mut text = "           ------Sequential Output------   --Sequential Input- --Random-\n\
                    \u{20}          -Per Chr- --Block-- -Rewrite-   -Per Chr- --Block-- --Seeks--\n\
                    Machine   K/sec %CP  K/sec %CP  K/sec %CP K/sec %CP K/sec  %CP  /sec %CP\n"
        .to_owned();
    for (name, [write, rewrite, read, seeks]) in volumes {
        for times in [1.0, 1.01] {
            let [write, rewrite, read] = [write, rewrite, read].map(|kib| kib * times);
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{name} 800 92 {write:.0} 14 {rewrite:.0} 11 3276 76 {read:.0} 23 {:.1} 8",
                seeks * times
            );
        }
    }
    text
}

#[test]
fn volumes_that_are_each_best_at_something_are_a_choice() {
    let both = bonnie(&[("Raid6", *RAID6), ("Raid10", *RAID10)]);
    assert_eq!(speaking(&both), ["volume-choice"], "{both}");
    // One that is best at everything is none.
    let better = RAID6.map(|rate| rate * 2.0);
    let clear = bonnie(&[("Raid6", *RAID6), ("Raid6 new", better)]);
    assert_eq!(speaking(&clear), [""; 0], "{clear}");
}

#[test]
fn flash_that_is_held_back_is_not_taken_for_flash() {
    let sound = bonnie(&[("Raid10", *RAID10), ("Raid1 SSD", *FLASH)]);
    assert!(!speaking(&sound).contains(&"flash-like-disks"), "{sound}");
    let held = bonnie(&[("Raid10", *RAID10), ("Raid1 SSD", *HELD)]);
    assert!(speaking(&held).contains(&"flash-like-disks"), "{held}");
    // Only names tell what is flash.
    let unnamed = bonnie(&[("Raid10", *RAID10), ("Raid1", *HELD)]);
    assert!(
        !speaking(&unnamed).contains(&"flash-like-disks"),
        "{unnamed}"
    );
}

/// Rates of one reader of a server that reads in windows of so many KiB, MB/s.
fn reader(window_kib: u64) -> f64 {
    let mut setup = Setup::on("hdd-7200-md-raid0x2");
    let network = setup.profile.network.as_mut();
    network.expect("the profile has one").server_window = window_kib << 10;
    let stage = setup.only("sequential-read");
    stage.workload.block_size = 64 << 10;
    stage.workload.queue_depth = 1;
    stage.workload.cache = CacheMode::Cold;
    stage.workload.stop = Stop {
        bytes: Some(256 * MIB),
        ..Stop::default()
    };
    setup.plan.trials = 1;
    median(&setup.run(), "sequential-read").0 / 1e6
}

static SMALL: LazyLock<f64> = LazyLock::new(|| reader(128));
static LARGE: LazyLock<f64> = LazyLock::new(|| reader(4096));

/// A document of dd under several sizes, three runs of each that differ by a percent.
fn by_size(rates: &[(&str, f64)]) -> String {
    let mut text =
        "Vanilla RA, all IO threads work in different IO contexts, various RA sizes:\n\n\
                    Deadline:\n"
            .to_owned();
    for (size, rate) in rates {
        let command = "dd if=/dev/sdb of=/dev/null bs=64K count=4096";
        let _ = writeln!(text, "\nRA {size}:\n\n{command}");
        for (label, times) in [("a", 1.0), ("b", 1.01), ("c", 0.995)] {
            let _ = writeln!(text, "{label}) {:.1} MB/s", rate * times);
        }
    }
    text
}

#[test]
fn windows_that_are_larger_and_faster_are_told() {
    let (small, large) = (*SMALL, *LARGE);
    assert!(large > 1.2 * small, "{small} and {large} MB/s");
    let grown = by_size(&[("128K", small), ("4096K", large)]);
    assert_eq!(speaking(&grown), ["read-ahead-size"], "{grown}");
    let same = by_size(&[("128K", large), ("4096K", large)]);
    assert_eq!(speaking(&same), [""; 0], "{same}");
}

#[test]
fn a_text_that_sums_its_rows_up_wrongly_is_told() {
    let (small, large) = (*SMALL, *LARGE);
    let rows = by_size(&[("128K", small), ("4096K", small)]);
    let right = (large.round() / small.round() - 1.0) * 100.0;
    let text = |percent: f64| {
        format!(
            "1. Larger windows bring {percent:.0}% ({large:.0}MB/s vs {small:.0}MB/s) here.\n\n{rows}"
        )
    };
    assert_eq!(speaking(&text(right)), [""; 0], "{}", text(right));
    let wrong = text(right + 30.0);
    assert_eq!(speaking(&wrong), ["text-against-rows"], "{wrong}");
}

/// The kernel's trace of one stream whose windows double up to a limit, in pages.
fn trace(limit: u64, windows: u64) -> String {
    let mut text = String::new();
    let (mut start, mut size) = (0, 4);
    for _ in 0..windows {
        let _ = writeln!(
            text,
            "readahead-marker(pid=3838(vdiskd3_3), dev=00:02(bdev), ino=0(raid-1st), \
             req={start}+1, ra={}+{size}-{size}, async=1) = {size}",
            start + size
        );
        start += size;
        size = (2 * size).min(limit);
    }
    text
}

#[test]
fn windows_that_stop_growing_early_are_told() {
    // 128 KiB, and 2 MiB; the longest series of one size counts.
    let small = trace(32, 30);
    assert_eq!(speaking(&small), ["read-ahead-limit"], "{small}");
    assert_eq!(speaking(&trace(512, 30)), [""; 0]);
    // Too few of one size.
    assert_eq!(speaking(&trace(32, 9)), [""; 0]);
}
