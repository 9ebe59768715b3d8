use super::*;
use crate::testing::{self, each, loop_stack, only};
use diskfacts_record::{
    BlockDevice, DeviceKind, ExtentMethod, Extents, Severity, Stack, TargetKind,
};

fn fetched(run: &mut diskfacts_record::Run, stage: &str, times: f64) {
    each(run, stage, |trial| {
        let bytes = (trial.evidence.issued.read_bytes as f64 * times) as u64;
        trial.evidence.process_io.as_mut().unwrap().read_bytes = bytes;
        for device in &mut trial.evidence.devices {
            device.read_bytes = bytes;
        }
    });
}

#[test]
fn wasteful_read_ahead_is_a_warning_and_a_little_is_a_note() {
    let mut run = testing::healthy();
    fetched(&mut run, "buffered-read", 4.0);
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.claim.contains("up to 4 bytes"), "{finding:?}");
    assert!(
        finding.remedy.contains("blockdev --setra 0 /dev/vda1"),
        "{finding:?}"
    );
    let mut simulated = run.clone();
    simulated.target.kind = diskfacts_record::TargetKind::Simulated;
    simulated.target.given = "sim:my.toml".into();
    let finding = testing::of_rule(&simulated, RULE.name).expect("it speaks");
    assert!(
        finding.remedy.starts_with(
            "If reads are random, in my.toml, set read_ahead = \"0B\" under [host], and type"
        ),
        "{finding:?}"
    );
    fetched(&mut run, "buffered-read", 1.1);
    assert_eq!(only(&run, RULE.name).severity, Severity::Note);
    fetched(&mut run, "buffered-read", 1.015);
    testing::silent(&run);
}

#[test]
fn a_journal_beside_synced_writes_is_a_note() {
    let mut run = testing::healthy();
    each(&mut run, "log-write", |trial| {
        for device in &mut trial.evidence.devices {
            device.write_bytes = device.write_bytes * 5 / 2;
            device.writes *= 2;
        }
    });
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Note);
    assert!(
        finding.evidence[0].contains("2.5 bytes for each byte written"),
        "{finding:?}"
    );
}

#[test]
fn small_writes_that_go_down_as_whole_pages_are_no_journal() {
    let mut run = testing::healthy();
    each(&mut run, "log-write", |trial| {
        // 512 bytes each, of pages of 4 KiB.
        trial.evidence.issued.write_bytes /= 8;
        trial.bytes /= 8;
    });
    testing::silent(&run);
}

fn mirror() -> Stack {
    let mut stack = testing::stack();
    let mut raid = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
    raid.below = vec!["sda".into(), "sdb".into()];
    let disk = |name: &str, minor| {
        let mut disk = BlockDevice::unknown(name, 8, minor, DeviceKind::Disk);
        disk.write_cache = Some("write through".into());
        disk
    };
    stack.devices = vec![raid, disk("sda", 0), disk("sdb", 16)];
    stack
}

#[test]
fn copies_of_a_raid_are_a_note() {
    let mut run = testing::on(mirror());
    for trial in &mut run.trials {
        // Reads are shared out, writes are doubled.
        for device in trial.evidence.devices.iter_mut().filter(|d| d.leaf) {
            device.read_bytes /= 2;
        }
    }
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Note);
    let writing: Vec<&str> = finding.stages.iter().map(String::as_str).collect();
    assert_eq!(
        writing,
        [
            "sequential-write",
            "random-write-qd1",
            "random-write-qd32",
            "log-write",
            "mixed-70-30"
        ]
    );
    assert!(
        finding.evidence[0].contains("on sda and sdb together, 2 bytes"),
        "{finding:?}"
    );
}

#[test]
fn holes_below_a_direct_loop_device_are_not_laid_to_a_cache() {
    let mut run = testing::on(loop_stack(Some(true)));
    each(&mut run, "random-read-qd1", |trial| {
        for device in trial
            .evidence
            .devices
            .iter_mut()
            .filter(|d| d.name != "loop0")
        {
            device.read_bytes /= 2;
        }
    });
    let finding = only(&run, RULE.name);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.claim.contains("only 50 % of the bytes"),
        "{finding:?}"
    );
    let layers = run
        .trials
        .iter()
        .find(|t| t.stage == "random-read-qd1")
        .unwrap()
        .layers;
    assert_eq!((layers.page_cache, layers.device), (0.0, Some(0.5)));
    // Where the file behind the device was looked at, they are holes.
    run.target.kind = TargetKind::Device;
    run.target.extents = Some(Extents {
        span_bytes: 1 << 30,
        hole_bytes: 1 << 29,
        unwritten_bytes: Some(0),
        encoded_bytes: Some(0),
        shared_bytes: Some(0),
        inline_bytes: Some(0),
        extents: Some(9),
        method: ExtentMethod::Fiemap,
    });
    only(&run, "holes");
}

#[test]
fn compression_is_named_where_the_filesystem_compresses() {
    let mut run = testing::healthy();
    run.stack
        .filesystem
        .as_mut()
        .unwrap()
        .options
        .push("compress=zstd:3".into());
    fetched(&mut run, "sequential-read", 0.4);
    let finding = only(&run, RULE.name);
    assert!(finding.remedy.contains("compresses"), "{finding:?}");
}

/// A run on a volume of device mapper over the disk, both of which count.
fn on_a_volume() -> diskfacts_record::Run {
    let mut stack = testing::stack();
    stack.filesystem = None;
    let disk = stack.devices.last_mut().expect("a disk");
    disk.counts_io = Some(true);
    disk.hardware_queues = Some(1);
    let volume = &mut stack.devices[0];
    volume.name = "dm-9".into();
    volume.kind = DeviceKind::DeviceMapper;
    testing::on(stack)
}

#[test]
fn a_volume_that_answers_without_a_disk_is_named_and_one_that_asks_it_is_not() {
    let mut run = on_a_volume();
    assert_eq!(testing::of_rule(&run, RULE.name), None);
    testing::each(&mut run, "random-read-qd1", |trial| {
        let disk = &mut trial.evidence.devices[1];
        (disk.reads, disk.read_bytes, disk.busy_ms) = (0, 0, 0);
    });
    let finding = testing::of_rule(&run, RULE.name).expect("no disk took part");
    assert_eq!(finding.stages, ["random-read-qd1"]);
    assert_eq!(
        finding.claim,
        "random-read-qd1: answered by dm-9; no disk took part."
    );
    assert_eq!(finding.confidence, diskfacts_record::Confidence::Certain);
    // Nothing that a device does has limited it.
    let limits = crate::limits(&run);
    let of_stage = limits.iter().find(|l| l.stage == "random-read-qd1");
    let named: Vec<&str> = of_stage
        .into_iter()
        .flat_map(|stage| &stage.limits)
        .map(|limit| limit.limiter.as_str())
        .collect();
    assert!(!named.contains(&"one-at-a-time"), "{named:?}");
    // Where it answered a part, that is said.
    testing::each(&mut run, "random-read-qd1", |trial| {
        let above = trial.evidence.devices[0].read_bytes;
        let disk = &mut trial.evidence.devices[1];
        (disk.reads, disk.read_bytes) = (1, above / 4);
    });
    let finding = testing::of_rule(&run, RULE.name).expect("a quarter");
    assert!(
        finding
            .claim
            .contains("up to 75 % of the bytes were answered by dm-9"),
        "{finding:#?}"
    );
}

#[test]
fn a_volume_that_counts_what_it_cuts_twice_has_answered_nothing_and_read_nothing_ahead() {
    let mut run = on_a_volume();
    testing::each(&mut run, "sequential-read", |trial| {
        trial.evidence.devices[0].read_bytes *= 2;
        let process = trial.evidence.process_io.as_mut().expect("it is known");
        process.read_bytes *= 2;
        trial.layers =
            crate::layers::layers(&trial.workload, &trial.evidence, &on_a_volume().stack);
        assert!(trial.layers.mapping < 0.001, "{:?}", trial.layers);
        assert!(trial.layers.device.expect("known") > 0.999);
    });
    assert_eq!(testing::of_rule(&run, RULE.name), None);
}

#[test]
fn copies_of_a_filesystem_are_told_as_its_own() {
    let mut stack = testing::stack();
    let filesystem = stack.filesystem.as_mut().expect("there is one");
    filesystem.kind = "btrfs".into();
    filesystem.data_profiles = vec!["raid1".into()];
    let mut run = testing::on(stack);
    for stage in ["random-write-qd32", "sequential-write"] {
        testing::each(&mut run, stage, |trial| {
            for device in &mut trial.evidence.devices {
                device.write_bytes *= 2;
            }
        });
    }
    let finding = testing::of_rule(&run, RULE.name).expect("two copies");
    assert_eq!(finding.severity, diskfacts_record::Severity::Note);
    assert!(
        finding.evidence[0].contains("btrfs keeps 2 copies of data (raid1)"),
        "{finding:#?}"
    );
}
