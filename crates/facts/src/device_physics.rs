//! Of which devices the nature of drives may be claimed, and when a device can be what
//! limits a stage. All limiters and rules that speak of platters, arms, flash, heat or
//! links pass here: rules by [`no_drives`], limiters by it and by `Limiter::may_speak_of`.
//!
//! * What a hypervisor, a server or this machine's memory shows as a disk may be anything:
//!   nothing of a drive's nature follows from its rates. The host says which they are, and
//!   by what ([`BlockDevice::virtual_by`]).
//! * A device that is idle for more than a third of the time limits nothing: that much is
//!   spent elsewhere, which is as large as what is called a cause
//!   (`Standing::CAUSE_MIN`). LUKS on a processor that is too slow leaves its disks idle.
//! * What the threads did themselves, and waited for with the devices done, is no device's:
//!   where that leaves less than a third of an operation's time, no device limits it, and no
//!   limiter of a device accounts for more than is left.
//! * Where no block device is known under a target, no drive is.
//! * Where the counters are missing, as in documents, or a device is simulated, nothing is
//!   held back.

use diskfacts_record::{BlockDevice, DeviceKind, Run, TargetKind};

/// Why this leaf is no drive of this machine; `None` where it may be one.
fn no_drive(leaf: &BlockDevice) -> Option<String> {
    if let Some(why) = &leaf.virtual_by {
        return Some(format!("{}: {why}", leaf.name));
    }
    let what = match leaf.kind {
        DeviceKind::Loop => "it is a file",
        DeviceKind::Zram => "it is compressed memory",
        DeviceKind::DeviceMapper | DeviceKind::SoftwareRaid => {
            "it is made of other devices, and none is known"
        }
        DeviceKind::Other => "the kernel shows no hardware behind it",
        DeviceKind::Disk | DeviceKind::Partition | DeviceKind::Simulated => return None,
    };
    Some(format!("{}: {what}", leaf.name))
}

/// Why what lies under a target is not known to be drives of this machine: the first leaf
/// that is none, with what says so.
pub(crate) fn no_drives(run: &Run) -> Option<String> {
    let stack = &run.stack;
    // A document names its devices in its prose, where it does.
    let unseen = stack.devices.is_empty() && run.target.kind != TargetKind::Imported;
    let unseen = unseen.then(|| "no block device is known under it".to_owned());
    unseen.or_else(|| stack.leaves().find_map(no_drive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Claims;
    use crate::stage_facts::Need;
    use crate::testing::{self, each};

    /// A survey of flash whose large reads stop at the rate of SATA, and whose random
    /// writes have a tail, as of cleaning.
    fn flash() -> Run {
        let mut run = testing::healthy();
        testing::rename_disk(&mut run, "sda");
        for device in &mut run.stack.devices {
            device.rotational = Some(false);
        }
        for stage in ["sequential-read", "sequential-write"] {
            each(&mut run, stage, |trial| {
                let rate = 550e6 * trial.throughput_bytes_per_s / 2.097e9;
                trial.iops *= rate / trial.throughput_bytes_per_s;
                trial.throughput_bytes_per_s = rate;
            });
        }
        each(&mut run, "random-write-qd32", |trial| {
            testing::set_latencies(trial, &[(100_000, 800), (5_000_000, 100)]);
        });
        run
    }

    /// The limiters that speak of drives.
    fn of_hardware() -> impl Iterator<Item = &'static str> {
        let rows = crate::limits::all().filter(|row| row.claims == Claims::Hardware);
        rows.map(|row| row.name)
    }

    /// Those of a run.
    fn of_drives(run: &Run) -> Vec<String> {
        let mut names: Vec<String> = crate::limits(run)
            .into_iter()
            .flat_map(|stage| stage.limits)
            .map(|limit| limit.limiter)
            .filter(|name| of_hardware().any(|known| known == name))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The lab lets no run in a guest claim one of these, and knows the program from outside.
    #[test]
    fn the_lab_has_all_names_of_claims_about_what_a_drive_is_made_of() {
        let labs = include_str!("../../../lab/src/checks/of_hardware.txt");
        let rules = crate::findings::rules().filter(|rule| rule.needs.contains(&Need::Drives));
        let ours = of_hardware().chain(rules.map(|rule| rule.name));
        assert_eq!(labs.lines().collect::<Vec<_>>(), ours.collect::<Vec<_>>());
    }

    #[test]
    fn what_a_drive_is_made_of_is_said_of_drives_and_not_of_what_a_hypervisor_shows() {
        let run = flash();
        let said = of_drives(&run);
        for name in ["garbage-collection", "interface"] {
            assert!(said.iter().any(|said| said == name), "{name} in {said:?}");
        }
        for make in [
            (|disk: &mut BlockDevice| disk.virtual_by = Some("its model is QEMU HARDDISK".into()))
                as fn(&mut BlockDevice),
            |disk| disk.kind = DeviceKind::Zram,
            |disk| disk.kind = DeviceKind::Other,
            |disk| disk.kind = DeviceKind::Loop,
        ] {
            let mut run = flash();
            make(run.stack.devices.last_mut().expect("a disk"));
            assert_eq!(of_drives(&run), [""; 0]);
            assert!(no_drives(&run).is_some_and(|why| why.starts_with("sda: ")));
        }
    }

    /// Once around in each trial, by a quarter, as the disk of a shared host does.
    #[test]
    fn a_rate_that_wanders_is_no_heat() {
        let wanders = |mut run: Run| {
            for trial in &mut run.trials {
                let counts = &mut trial.evidence.intervals.operations;
                let number = counts.len() as f64;
                for (place, count) in counts.iter_mut().enumerate() {
                    let turn = (place as f64 / number * std::f64::consts::TAU).sin();
                    *count = (*count as f64 * (1.0 + 0.25 * turn)) as u64;
                }
            }
            run
        };
        let mut volume = flash();
        let disk = volume.stack.devices.last_mut().expect("a disk");
        disk.virtual_by = Some("its model is QEMU HARDDISK".into());
        volume.machine.virtualization = Some("kvm".into());
        for run in [
            wanders(flash()),
            wanders(volume),
            wanders(testing::healthy()),
        ] {
            for limits in crate::limits(&run) {
                let hot = limits
                    .limits
                    .iter()
                    .find(|one| one.limiter == "thermal-throttle");
                assert!(hot.is_none(), "{}: {hot:#?}", limits.stage);
            }
        }
    }

    #[test]
    fn disks_that_idle_for_most_of_the_time_limit_nothing() {
        let mut run = flash();
        for trial in &mut run.trials {
            for device in &mut trial.evidence.devices {
                device.busy_ms = 100;
            }
        }
        assert_eq!(of_drives(&run), [""; 0]);
        // Where no time was counted nothing is known, and it may be said.
        for trial in &mut run.trials {
            for device in &mut trial.evidence.devices {
                device.busy_ms = 0;
            }
        }
        assert_eq!(of_drives(&run), of_drives(&flash()));
    }

    #[test]
    fn what_the_threads_did_themselves_no_device_did() {
        // Garbage collection is claimed of random writes; of their time so much is the kernel's.
        let said = |kernel_share: f64| {
            let mut run = flash();
            each(&mut run, "random-write-qd32", |trial| {
                let mean = trial.latency_ns.mean.expect("it has latencies");
                trial.cpu.user_ns_per_io = Some(0.0);
                trial.cpu.system_ns_per_io = Some(kernel_share * mean);
                trial.cpu.wait_ns_per_io = Some(0.0);
            });
            run.run.overhead_ns_per_io = Some(0.0);
            let limits = crate::limits(&run);
            let of_stage = limits
                .into_iter()
                .find(|stage| stage.stage == "random-write-qd32");
            let mut limits = of_stage.expect("the stage").limits.into_iter();
            let found = limits.find(|limit| limit.limiter == "garbage-collection");
            found.map(|limit| limit.share.expect("it says its share"))
        };
        let whole = said(0.0).expect("nothing else is there");
        assert!(whole > 0.45, "{whole}");
        let rest = said(0.6).expect("it is more than a third");
        assert!((rest - 0.4).abs() < 1e-6, "{rest}");
        assert_eq!(said(0.7), None);
    }

    #[test]
    fn the_turning_of_platters_is_not_found_in_a_hypervisors_disk() {
        let mut run = testing::healthy();
        testing::rotating(&mut run);
        each(&mut run, "sequential-write", |trial| {
            testing::set_rate(trial, 2.0);
        });
        let found = |run: &Run| {
            let findings = crate::findings(run);
            findings.iter().any(|finding| finding.rule == "cache-burst")
        };
        assert!(found(&run));
        run.stack.devices[1].virtual_by = Some("it is a virtio device".into());
        assert!(!found(&run));
    }
}
