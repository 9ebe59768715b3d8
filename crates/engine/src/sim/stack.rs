//! What lies under a simulated target.

use super::kernel::{name_of, schedulers};
use super::plant::Plant;
use super::traits::Traits;
use diskfacts_disk::host::Scheduler;
use diskfacts_disk::profile::{Drive, Profile};
use diskfacts_disk::raid::Level;
use diskfacts_record::{
    BlockDevice, DeviceKind, Filesystem, Impairment, ImpairmentKind, Stack, Transport,
};

/// The stack of a simulated disk: one device, named after its profile, with the
/// settings of the profile and of its host, and what of `plant` shows in them. An
/// array is one device too.
pub fn stack(profile: &Profile, plant: &Plant) -> Stack {
    let host = profile.host_or_default();
    let traits = Traits::of(profile);
    let bytes = |bytes: u64| u32::try_from(bytes).ok();
    let write_cache = if traits.is_volatile {
        "write back"
    } else {
        "write through"
    };
    let device = BlockDevice {
        path: format!("sim:{}", profile.name),
        size_bytes: Some(profile.measured_bytes()),
        logical_sector_bytes: bytes(profile.drive.logical_sector()),
        physical_sector_bytes: bytes(profile.physical_sector()),
        rotational: Some(profile.is_rotational()),
        rpm: rpm(profile),
        write_cache: Some(write_cache.to_owned()),
        scheduler: Some(name_of(host.block.scheduler).to_owned()),
        schedulers: schedulers(host.block.scheduler)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        read_ahead_bytes: Some(host.read_ahead),
        max_request_bytes: Some(host.block.max_request),
        queue_depth: Some(host.block.depth as u64),
        scheduler_idle_ns: match host.block.scheduler {
            Scheduler::Fair { idle_ns, .. } => Some(idle_ns),
            Scheduler::Noop | Scheduler::Deadline { .. } => None,
        },
        read_only: Some(false),
        model: (!profile.about.is_empty()).then(|| profile.about.clone()),
        layout: profile.raid.map(|raid| level(raid.level).to_owned()),
        nr_requests: plant.block.requests.map(|requests| requests as u64),
        fua: Some(traits.has_fua),
        counts_io: Some(true),
        alignment_offset_bytes: i64::try_from(
            profile.faults.partition_start % profile.physical_sector().max(1),
        )
        .ok(),
        // The kernel knows a disk of another machine by its transport.
        transport: profile.network.map(|_| Transport::Iscsi),
        virtual_by: profile
            .network
            .map(|_| "another machine serves it over iSCSI".to_owned()),
        impaired: if plant.missing_members > 0 {
            vec![Impairment {
                kind: ImpairmentKind::Degraded,
                what: format!("members that are missing: {}", plant.missing_members),
                source: "the profile's flaws".to_owned(),
            }]
        } else {
            Vec::new()
        },
        ..BlockDevice::unknown(&profile.name, 0, 0, DeviceKind::Simulated)
    };
    Stack {
        filesystem: plant.journal.map(|_| Filesystem {
            kind: "ext4".to_owned(),
            mount_point: "/".to_owned(),
            source: device.path.clone(),
            options: vec!["rw".to_owned(), "relatime".to_owned()],
            size_bytes: device.size_bytes,
            ..Filesystem::default()
        }),
        devices: vec![device],
        unseen: Vec::new(),
    }
}

/// As a drive of this machine states it; what stands behind a network does not.
fn rpm(profile: &Profile) -> Option<u32> {
    match &profile.drive {
        Drive::Hdd(drive) if profile.network.is_none() => {
            let rpm = (60e9 / drive.revolution_ns as f64).round();
            Some(rpm as u32)
        }
        _ => None,
    }
}

/// As the kernel calls it.
fn level(level: Level) -> &'static str {
    match level {
        Level::Stripe => "raid0",
        Level::Mirror => "raid1",
        Level::StripedMirrors => "raid10",
        Level::Parity => "raid5",
        Level::DoubleParity => "raid6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_disk::profile::{Measured, Profile, build_disk, profile, profiles};

    #[test]
    fn every_profile_has_the_size_of_the_device_that_is_built_of_it() {
        let mut all: Vec<Profile> = profiles()
            .map(|name| profile(name).expect("a built-in profile"))
            .collect();
        for measured in [Measured::Partition, Measured::File] {
            let mut part = profile("hdd-7200-1tb").expect("a built-in profile");
            part.layout.as_mut().expect("it has one").measured = measured;
            all.push(part);
        }
        for profile in all {
            let name = &profile.name;
            let stack = stack(&profile, &Plant::default());
            let device = stack.top().expect("one device");
            let built = build_disk(&profile, 1);
            assert_eq!(device.size_bytes, Some(built.capacity()), "{name}");
            assert_eq!(
                device.logical_sector_bytes.map(u64::from),
                Some(built.logical_sector()),
                "{name}"
            );
            assert_eq!(stack.leaves().count(), 1);
        }
    }

    #[test]
    fn settings_are_those_of_the_profile() {
        let of = |name: &str| {
            let stack = stack(
                &profile(name).expect("a built-in profile"),
                &Plant::default(),
            );
            let device = stack.devices.into_iter().next().expect("one device");
            (
                device.rotational,
                device.write_cache.unwrap_or_default(),
                device.scheduler.unwrap_or_default(),
                device.fua,
            )
        };
        let is = |rotational, cache: &str, scheduler: &str, fua| {
            (
                Some(rotational),
                cache.to_owned(),
                scheduler.to_owned(),
                Some(fua),
            )
        };
        assert_eq!(
            of("hdd-7200-1tb"),
            is(true, "write back", "mq-deadline", false)
        );
        assert_eq!(of("raid6x8"), is(true, "write back", "cfq", false));
        assert_eq!(
            of("ssd-sata"),
            is(false, "write back", "mq-deadline", false)
        );
        assert_eq!(of("nvme-consumer"), is(false, "write back", "none", true));
        let protected = is(true, "write through", "mq-deadline", false);
        assert_eq!(of("san-entry"), protected);
        assert_eq!(
            of("nvme-datacenter"),
            is(false, "write through", "none", true)
        );
    }
}
