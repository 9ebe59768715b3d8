//! The difference of two readings.

use super::{Counted, Reading};
use crate::parse::diskstats::Diskstats;
use crate::parse::stat::SystemCpu;
use diskfacts_record::{Activity, Change, ChangeKind, CpuActivity, DeviceActivity};

impl Reading {
    /// What happened since the system started.
    pub fn since_start(&self) -> Activity {
        Activity {
            centiseconds: self.uptime_centiseconds.max(1),
            since_start: true,
            cpu: cpu(&SystemCpu::default(), &self.cpu),
            devices: self
                .devices
                .iter()
                .filter_map(|device| step(device, &device.stat.at_its_start()).ok())
                .collect(),
            changes: Vec::new(),
        }
    }

    /// What happened since an earlier reading.
    ///
    /// A device that was not there counts from its beginning; so does one whose
    /// counters fell, which was replaced. Both are named in the changes, and so
    /// are those that are gone.
    pub fn since(&self, earlier: &Self) -> Activity {
        let mut changes = Vec::new();
        let mut devices = Vec::new();
        for device in &self.devices {
            let before = earlier.devices.iter().find(|old| old.name == device.name);
            let change = match before.map(|before| step(device, &before.stat)) {
                Some(Ok(activity)) => {
                    devices.push(activity);
                    continue;
                }
                Some(Err(replaced)) => replaced,
                None => ChangeKind::Appeared,
            };
            devices.extend(step(device, &device.stat.at_its_start()));
            changes.push(Change {
                device: device.name.clone(),
                what: change,
            });
        }
        let there = |old: &&Counted| !self.devices.iter().any(|new| new.name == old.name);
        changes.extend(earlier.devices.iter().filter(there).map(|old| Change {
            device: old.name.clone(),
            what: ChangeKind::Vanished,
        }));
        let passed = self.uptime_centiseconds;
        Activity {
            centiseconds: passed.saturating_sub(earlier.uptime_centiseconds).max(1),
            since_start: false,
            cpu: cpu(&earlier.cpu, &self.cpu),
            devices,
            changes,
        }
    }
}

fn step(device: &Counted, before: &Diskstats) -> Result<DeviceActivity, ChangeKind> {
    if let Some(replaced) = replaced(before, &device.stat) {
        return Err(replaced);
    }
    let counted = before
        .until(&device.stat)
        .map_err(|reset| ChangeKind::Replaced {
            counter: reset.counter,
            before: reset.before,
            after: reset.after,
        })?;
    Ok(DeviceActivity {
        counted: diskfacts_record::DeviceCounters {
            name: device.name.clone(),
            ..counted
        },
        requests_only: device.requests_only,
    })
}

/// Whether all of a device's counters fell together. A counter of 32 bits that
/// wraps falls alone; this is how sysstat tells the two apart (`write_stats` in
/// `iostat.c`).
fn replaced(before: &Diskstats, after: &Diskstats) -> Option<ChangeKind> {
    let sectors = |stat: &Diskstats| {
        let discarded = stat.discard.map_or(0, |discard| discard.sectors);
        [stat.read_sectors, stat.write_sectors, discarded]
    };
    let (first, second) = (before.operations(), after.operations());
    let fell = |(before, after): (u64, u64)| before == 0 || after < before;
    let all = sectors(before).into_iter().zip(sectors(after)).all(fell);
    (second < first && all).then_some(ChangeKind::Replaced {
        counter: "operations",
        before: first,
        after: second,
    })
}

fn cpu(before: &SystemCpu, after: &SystemCpu) -> CpuActivity {
    let step = |of: fn(&SystemCpu) -> u64| of(after).saturating_sub(of(before));
    CpuActivity {
        user: step(|cpu| cpu.user_ticks),
        nice: step(|cpu| cpu.nice_ticks),
        system: step(in_kernel),
        iowait: step(|cpu| cpu.iowait_ticks),
        steal: step(|cpu| cpu.steal_ticks.unwrap_or(0)),
        idle: step(|cpu| cpu.idle_ticks),
        total: step(all).max(1),
    }
}

/// sysstat counts interrupts to the kernel's time.
fn in_kernel(cpu: &SystemCpu) -> u64 {
    cpu.system_ticks.saturating_add(cpu.interrupt_ticks)
}

fn all(cpu: &SystemCpu) -> u64 {
    [
        cpu.user_ticks,
        cpu.nice_ticks,
        in_kernel(cpu),
        cpu.idle_ticks,
        cpu.iowait_ticks,
        cpu.steal_ticks.unwrap_or(0),
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}
