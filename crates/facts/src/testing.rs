//! Runs to try rules on: a healthy one, and ways to plant one flaw in it.

use diskfacts_plan::rng::Rng;
use diskfacts_plan::{CacheMode, Operation, Plan, SyncMode, Until, Workload, WriteMode};
use diskfacts_record::evidence::{
    ClockEvidence, DeviceCounters, EngineEvidence, Evidence, Intervals, Issued, Pressure,
    ProcessIo, Residency, ResidencyMethod,
};
use diskfacts_record::trial::Histograms;
use diskfacts_record::{
    BlockDevice, Cpu, DeviceKind, Filesystem, Finding, Labels, Latency, Layers, Machine,
    Membership, Run, RunInfo, SCHEMA, Stack, Status, Target, TargetKind, Trial,
};

/// Bytes of the target.
pub(crate) const SIZE: u64 = 1 << 30;

/// How the trials of a healthy stage differ: a range of 2 %, not in order.
const WOBBLE: [f64; 5] = [1.0, 1.01, 0.99, 1.005, 0.995];

/// A file on ext4 on a partition of a disk without a volatile cache.
pub(crate) fn stack() -> Stack {
    let mut partition = BlockDevice::unknown("vda1", 254, 1, DeviceKind::Partition);
    partition.below = vec!["vda".into()];
    partition.write_cache = Some("write through".into());
    let mut disk = BlockDevice::unknown("vda", 254, 0, DeviceKind::Disk);
    disk.write_cache = Some("write through".into());
    Stack {
        filesystem: Some(Filesystem {
            kind: "ext4".into(),
            mount_point: "/".into(),
            source: "/dev/vda1".into(),
            ..Filesystem::default()
        }),
        devices: vec![partition, disk],
        unseen: Vec::new(),
    }
}

/// A filesystem on a loop device over a file on that disk.
pub(crate) fn loop_stack(backing_direct: Option<bool>) -> Stack {
    let mut stack = stack();
    let mut device = BlockDevice::unknown("loop0", 7, 0, DeviceKind::Loop);
    device.below = vec!["vda1".into()];
    device.backing_file = Some("/var/tmp/disk.img".into());
    device.backing_direct = backing_direct;
    device.write_cache = Some("write back".into());
    stack.devices.insert(0, device);
    stack
}

/// A filesystem in memory.
pub(crate) fn memory_stack() -> Stack {
    Stack {
        filesystem: Some(Filesystem {
            kind: "tmpfs".into(),
            mount_point: "/dev/shm".into(),
            source: "tmpfs".into(),
            ..Filesystem::default()
        }),
        ..Stack::default()
    }
}

/// What each device of the stack counts when all goes by it.
pub(crate) fn counters(stack: &Stack, issued: &Issued, cached: bool) -> Vec<DeviceCounters> {
    stack
        .devices
        .iter()
        .map(|device| DeviceCounters {
            name: device.name.clone(),
            leaf: device.is_leaf(),
            reads: if cached { 0 } else { issued.reads },
            read_bytes: if cached { 0 } else { issued.read_bytes },
            writes: issued.writes,
            write_bytes: issued.write_bytes,
            busy_ms: 900,
            flushes: Some(issued.syncs),
            ..DeviceCounters::default()
        })
        .collect()
}

/// Evidence that agrees with itself: `operations` of which all reached the
/// devices, or none of the reads when the stage is a warm one.
pub(crate) fn evidence(workload: &Workload, operations: u64, stack: &Stack) -> Evidence {
    let reads = match workload.operation {
        Operation::Read | Operation::Stat => operations,
        Operation::Write | Operation::Create | Operation::Delete => 0,
        Operation::Mixed { read_percent } => operations * u64::from(read_percent) / 100,
        Operation::Modify { percent } => operations * u64::from(100 - percent) / 100,
    };
    let writes = operations - reads;
    let blocks_read = if workload.operation.modifies() {
        operations
    } else {
        reads
    };
    let per_write = matches!(workload.sync, SyncMode::Fdatasync | SyncMode::Fsync);
    let issued = Issued {
        read_bytes: blocks_read * workload.block_size,
        write_bytes: writes * workload.block_size,
        reads,
        writes,
        syncs: if per_write { writes } else { 0 },
        final_sync_ns: workload.sync.at_end().then_some(1_000_000),
    };
    let span = workload.span.unwrap_or(SIZE);
    let cached = workload.cache == CacheMode::Warm;
    let residency = |cached_bytes| {
        Some(Residency {
            span_bytes: span,
            cached_bytes,
            dirty_bytes: Some(0),
            writing_bytes: None,
            evicted_bytes: None,
            recently_evicted_bytes: None,
            method: ResidencyMethod::Cachestat,
        })
    };
    Evidence {
        engine: EngineEvidence {
            name: "io_uring".into(),
            threads: workload.streams,
            mean_depth: workload.outstanding() as f64,
            direct: workload.cache == CacheMode::Direct,
            ..EngineEvidence::default()
        },
        issued,
        process_io: Some(ProcessIo {
            rchar: issued.read_bytes,
            wchar: issued.write_bytes,
            read_bytes: if cached { 0 } else { issued.read_bytes },
            write_bytes: issued.write_bytes,
            cancelled_write_bytes: 0,
        }),
        devices: counters(stack, &issued, cached),
        residency_before: residency(if cached { span } else { 0 }),
        residency_after: residency(if cached { span } else { 0 }),
        pressure: Some(Pressure {
            cpu_some_ns: 10_000_000,
            ..Pressure::default()
        }),
        cpu_steal_ns: Some(0),
        clock: ClockEvidence {
            source: "tsc".into(),
            drift_ppm: Some(0.2),
            backwards: 0,
        },
        intervals: Intervals {
            length_ns: 20_000_000,
            operations: vec![operations / 50; 50],
        },
        ..Evidence::default()
    }
}

/// A trial of one second, of at most so many operations.
fn trial(
    stage: &diskfacts_plan::Stage,
    (number, order): (u32, u32),
    stack: &Stack,
    operations_max: f64,
) -> Trial {
    let mut workload = stage.workload.clone();
    workload.span = Some(workload.span.unwrap_or(SIZE));
    let in_flight = workload.outstanding();
    // 100 us for 4 KiB and 1 ms for more, at any depth.
    let latency_ns = if workload.block_size <= 4096 {
        100_000
    } else {
        4_000_000
    };
    let rate = in_flight as f64 * 1e9 / f64::from(latency_ns);
    let operations = (rate.min(operations_max) * WOBBLE[(number as usize - 1) % 5]) as u64;
    let evidence = evidence(&workload, operations, stack);
    let mut histograms = Histograms::default();
    for i in 0..operations {
        // From 0.9 to 1.1 of the latency, evenly.
        let latency = latency_ns as u64 * (900 + i % 201) / 1000;
        if i < evidence.issued.reads {
            histograms.read.record(latency);
        } else {
            histograms.write.record(latency);
        }
    }
    let bytes = operations * workload.block_size;
    Trial {
        stage: stage.name.clone(),
        number,
        order,
        settings: stage.settings.clone(),
        unsaid: Vec::new(),
        line: None,
        layers: crate::layers(&workload, &evidence, stack),
        seconds: 1.0,
        bytes,
        ops: operations,
        errors: 0,
        throughput_bytes_per_s: bytes as f64,
        iops: operations as f64,
        latency_ns: Latency::from(&histograms.all()),
        latency_read_ns: None,
        latency_write_ns: None,
        latency_service_ns: None,
        cpu: Cpu {
            user_ns_per_io: Some(200.0),
            system_ns_per_io: Some(2000.0),
            wait_ns_per_io: Some(100.0),
            busiest_thread: Some(0.3),
        },
        workload,
        evidence,
        latency_over_time: None,
        histograms: (&histograms).into(),
    }
}

/// A run of the plan `survey` in which nothing is wrong.
pub(crate) fn healthy() -> Run {
    on(stack())
}

/// A run of the plan `survey` on this stack, in which nothing is wrong.
pub(crate) fn on(stack: Stack) -> Run {
    let mut plan = diskfacts_plan::builtin::plan("survey").expect("survey is built in");
    plan.trials = 5;
    plan.until = Until::default();
    run_of(plan, stack)
}

/// A run of this plan in which nothing is wrong.
pub(crate) fn run_of(plan: Plan, stack: Stack) -> Run {
    run_with(plan, stack, 8000.0)
}

fn run_with(plan: Plan, stack: Stack, operations_max: f64) -> Run {
    let mut trials = Vec::new();
    for number in 1..=plan.trials {
        for stage in &plan.stages {
            let order = trials.len() as u32 + 1;
            trials.push(trial(stage, (number, order), &stack, operations_max));
        }
    }
    Run {
        schema: SCHEMA,
        run: RunInfo {
            id: "20261121-024150-7f3a".into(),
            started: "2026-11-21T02:41:50Z".into(),
            ended: Some("2026-11-21T02:42:50Z".into()),
            tool_version: "0.1.0".into(),
            command: vec!["diskfacts".into(), "measure".into(), "/srv/data".into()],
            status: Status::Complete,
            seed: 1,
            budget_ns: Some(60_000_000_000),
            overhead_ns_per_io: Some(25.0),
            notes: Vec::new(),
            source: None,
            labels: Labels::default(),
            membership: Membership::default(),
        },
        machine: Machine::default(),
        target: Target {
            given: "/srv/data".into(),
            path: "/srv/data".into(),
            kind: TargetKind::Folder,
            size_bytes: SIZE,
            writable: true,
            obstacles: Vec::new(),
            extents: None,
            direct: None,
        },
        stack,
        plan,
        preconditioning: Vec::new(),
        trials,
        claim_tests: Vec::new(),
        health_after: None,
        together: None,
        figures: Vec::new(),
        findings: Vec::new(),
        limits: Vec::new(),
        effects: Vec::new(),
        verdicts: Vec::new(),
    }
}

/// Changes every trial of a stage, and works out its layers again.
pub(crate) fn each(run: &mut Run, stage: &str, mut change: impl FnMut(&mut Trial)) {
    let stack = run.stack.clone();
    let mut found = false;
    for trial in run.trials.iter_mut().filter(|t| t.stage == stage) {
        found = true;
        change(trial);
        trial.layers = crate::layers(&trial.workload, &trial.evidence, &stack);
    }
    assert!(found, "no stage {stage}");
}

/// Gives the disk of the usual stack another name in the kernel, partitions included.
pub(crate) fn rename_disk(run: &mut Run, name: &str) {
    for device in &mut run.stack.devices {
        device.name = device.name.replace("vda", name);
        for below in &mut device.below {
            *below = below.replace("vda", name);
        }
    }
    for trial in &mut run.trials {
        for device in &mut trial.evidence.devices {
            device.name = device.name.replace("vda", name);
        }
    }
}

/// Sets the rate of a trial without touching what it moved.
pub(crate) fn set_rate(trial: &mut Trial, factor: f64) {
    trial.iops *= factor;
    trial.throughput_bytes_per_s *= factor;
}

/// Sets the latencies of a trial: pairs of nanoseconds and how many.
pub(crate) fn set_latencies(trial: &mut Trial, values: &[(u64, u64)]) {
    let writes = trial.workload.operation == Operation::Write;
    let mut histograms = Histograms::default();
    for (latency, count) in values {
        for _ in 0..*count {
            if writes {
                histograms.write.record(*latency);
            } else {
                histograms.read.record(*latency);
            }
        }
    }
    trial.latency_ns = Latency::from(&histograms.all());
    trial.histograms = (&histograms).into();
}

/// The names of the rules that found something, each once.
pub(crate) fn rules_of(findings: &[Finding]) -> Vec<&str> {
    let mut names: Vec<&str> = findings.iter().map(|f| f.rule.as_str()).collect();
    names.dedup();
    names
}

/// The finding of the one rule that is meant to fire; panics when it stays
/// silent or another one speaks.
pub(crate) fn only(run: &Run, rule: &str) -> Finding {
    let findings = crate::findings(run);
    assert_eq!(rules_of(&findings), [rule], "{findings:#?}");
    findings.into_iter().next().expect("just counted")
}

/// Asserts that no rule fires.
pub(crate) fn silent(run: &Run) {
    let findings = crate::findings(run);
    assert!(findings.is_empty(), "{findings:#?}");
}

/// Layers of nothing but the page cache.
pub(crate) fn cached() -> Layers {
    Layers {
        page_cache: 1.0,
        unknown: 0.0,
        device: Some(0.0),
        ..Layers::default()
    }
}

/// A run of `write-matrix`, one trial of each cell, whose rate in bytes per
/// second is given by its mode and its block size.
pub(crate) fn matrix_run(rate: impl Fn(WriteMode, u64) -> f64) -> Run {
    let plan = diskfacts_plan::builtin::plan("write-matrix").expect("it is built in");
    let mut run = run_with(plan, stack(), 50.0);
    for trial in &mut run.trials {
        let size = trial.workload.block_size;
        let mode = WriteMode::of(&trial.workload).expect("every cell has a mode");
        let rate = rate(mode, size);
        trial.throughput_bytes_per_s = rate;
        trial.iops = rate / size as f64;
        trial.seconds = trial.bytes as f64 / rate;
        // More digits than a latency in whole nanoseconds would have.
        trial.latency_ns = Latency::default();
        trial.histograms = diskfacts_record::PackedHistograms::default();
    }
    run
}

/// A factor near 1 that differs from cell to cell: noise, the same each time.
pub(crate) fn wobble(mode: WriteMode, size: u64, range: f64) -> f64 {
    let mut rng = Rng::for_part(size, mode.rank() as u64);
    1.0 + range * (rng.below(1000) as f64 / 1000.0 - 0.5)
}

/// A standard normal value (Box and Muller, 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Makes the disk a rotating one of this machine, as its single reads show.
pub(crate) fn rotating(run: &mut Run) {
    for device in &mut run.stack.devices {
        device.rotational = Some(true);
    }
    run.machine.virtualization = None;
    let trials = run.trials.iter_mut();
    for trial in trials.filter(|trial| trial.stage == "random-read-qd1") {
        set_latencies(trial, &[(8_000_000, 100)]);
    }
}

/// The results that come with `@ronomon/direct-io` 3.0.1: a disk of 7200 rpm, one
/// trial of each of the 294 cells. They hold nothing but rates.
pub(crate) fn seed_run() -> Run {
    let rows: Vec<Vec<&str>> = include_str!("../../disk/data/003_matrix.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 294);
    let mut run = matrix_run(|mode, size| {
        let row = rows
            .iter()
            .find(|row| row[1] == size.to_string() && row[3] == mode.to_string())
            .unwrap_or_else(|| panic!("no row of {mode} at {size}"));
        row[7].parse::<f64>().expect("a rate") * f64::from(1 << 20)
    });
    let mut disk = BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk);
    disk.write_cache = Some("write back".into());
    run.stack = Stack {
        devices: vec![disk],
        ..Stack::default()
    };
    rotating(&mut run);
    for trial in &mut run.trials {
        trial.evidence = Evidence::default();
        trial.layers = Layers::default();
    }
    run
}

/// The finding of one rule, whatever the others would say.
pub(crate) fn of_rule(run: &Run, rule: &str) -> Option<Finding> {
    all_of_rule(run, rule).into_iter().next()
}

/// All findings of one rule.
pub(crate) fn all_of_rule(run: &Run, rule: &str) -> Vec<Finding> {
    let known = crate::rules::all().iter().find(|known| known.name == rule);
    let known = known.expect("a rule of the table");
    let all = &[crate::Context::new(run)];
    let found = known.find(&crate::rules::Part { place: 0, all });
    found.into_iter().map(|(finding, _)| finding).collect()
}
