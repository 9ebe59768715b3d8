//! What is drawn: parameters within a range, and disks around the built-in ones.

use super::super::setup::Setup;
use diskfacts_disk::faults::Faults;
use diskfacts_disk::hdd::HddParameters;
use diskfacts_disk::host::HostParameters;
use diskfacts_disk::profile::Drive;
use diskfacts_disk::ssd::SsdParameters;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Stage, Workload};

pub(super) const MS: u64 = 1_000_000;
pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;

/// The stage that a cause is planted for.
pub(super) const WORK: &str = "work";

/// Trials of each stage.
const TRIALS: u32 = 3;

/// Draws parameters; the same seed draws the same.
pub(super) struct Draw(Rng);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }

    /// A number of `low..=high`, each as likely.
    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number between these, each magnitude as likely.
    pub(super) fn spread(&mut self, low: u64, high: u64) -> u64 {
        let ratio = high as f64 / low as f64;
        (low as f64 * ratio.powf(self.0.unit())) as u64
    }

    /// `value`, up to `percent` more or less.
    pub(super) fn around(&mut self, value: u64, percent: u64) -> u64 {
        let off = self.range(100 - percent, 100 + percent);
        (value * off / 100).max(1)
    }

    /// With a chance in percent.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }
}

/// A disk that turns, without a flaw.
pub(super) fn hdd(draw: &mut Draw) -> Setup {
    let of = ["hdd-7200-1tb", "hdd-7200-sync", "hdd-20tb-cmr", "hdd-10k"];
    let mut setup = Setup::on(draw.pick(&of));
    setup.seed = draw.number();
    setup.profile.faults = Faults::default();
    let drive = spindle(&mut setup);
    vary_hdd(draw, drive);
    setup
}

/// What turns: another speed, other rates, another arm.
pub(super) fn vary_hdd(draw: &mut Draw, drive: &mut HddParameters) {
    drive.revolution_ns = 60_000_000_000 / draw.pick(&[5400, 5900, 7200, 7200, 10_000]);
    let rate = draw.range(80, 120);
    for zone in &mut drive.zones {
        zone.bytes_per_s = zone.bytes_per_s * rate / 100;
    }
    let arm = draw.range(80, 120);
    let seek = &mut drive.seek;
    for part in [
        &mut seek.base_ns,
        &mut seek.factor_ns,
        &mut seek.full_stroke_ns,
    ] {
        *part = *part * arm / 100;
    }
    drive.command_overhead_ns = draw.around(drive.command_overhead_ns, 30);
    drive.bus_bytes_per_s = draw.around(drive.bus_bytes_per_s, 5).max(200_000_000);
}

/// A flash drive, without a flaw.
pub(super) fn ssd(draw: &mut Draw) -> Setup {
    let of = ["ssd-sata", "nvme-consumer", "nvme-datacenter"];
    let name = draw.pick(&of);
    ssd_of(draw, name)
}

/// Of these class.
pub(super) fn ssd_of(draw: &mut Draw, name: &str) -> Setup {
    let mut setup = Setup::on(name);
    setup.seed = draw.number();
    setup.profile.faults = Faults::default();
    vary_ssd(draw, flash(&mut setup));
    setup
}

/// Flash, processor and link of another make.
pub(super) fn vary_ssd(draw: &mut Draw, drive: &mut SsdParameters) {
    drive.read_ns = draw.around(drive.read_ns, 30);
    drive.program_ns = draw.around(drive.program_ns, 30);
    drive.command_ns = draw.around(drive.command_ns, 30);
    drive.flush_ns = drive.flush_ns * draw.range(70, 130) / 100;
    drive.link_bytes_per_s = draw.around(drive.link_bytes_per_s, 3);
}

pub(super) fn spindle(setup: &mut Setup) -> &mut HddParameters {
    match &mut setup.profile.drive {
        Drive::Hdd(drive) => drive,
        Drive::Ssd(_) => panic!("{} turns", setup.profile.name),
    }
}

pub(super) fn flash(setup: &mut Setup) -> &mut SsdParameters {
    match &mut setup.profile.drive {
        Drive::Ssd(drive) => drive,
        Drive::Hdd(_) => panic!("{} is flash", setup.profile.name),
    }
}

/// The host of the profile, to be changed.
pub(super) fn host(setup: &mut Setup) -> &mut HostParameters {
    let host = setup.profile.host_or_default();
    setup.profile.host.insert(host)
}

/// A stage of so long a trial, virtual milliseconds.
pub(super) fn stage(name: &str, ms: u64, workload: Workload) -> Stage {
    let mut workload = workload;
    if workload.stop.bytes.is_none() && workload.stop.operations.is_none() {
        workload.stop.time_ns = Some(ms * MS);
    }
    Stage {
        name: name.into(),
        about: String::new(),
        workload,
        settings: std::collections::BTreeMap::new(),
        kernel: std::collections::BTreeMap::new(),
        full: None,
    }
}

/// The plan is this stage, and what a survey has beside it in half of the cases.
pub(super) fn work(draw: &mut Draw, setup: &mut Setup, ms: u64, workload: Workload) {
    setup.plan.trials = TRIALS;
    setup.plan.stages = vec![stage(WORK, ms, workload)];
    let turns = setup.profile.is_rotational();
    let beside_ms = if turns { 3000 } else { 30 };
    let random = Workload::default();
    let deep = Workload {
        queue_depth: 8,
        ..Workload::default()
    };
    let in_order = Workload {
        pattern: diskfacts_plan::Pattern::Sequential,
        block_size: MIB,
        queue_depth: 2,
        ..Workload::default()
    };
    let beside = [
        ("random-read", random),
        ("random-read-qd8", deep),
        ("sequential-read", in_order),
    ];
    for (name, workload) in beside {
        if draw.chance(50) {
            setup.plan.stages.push(stage(name, beside_ms, workload));
        }
    }
}
