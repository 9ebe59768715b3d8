//! What puts settings of the kernel into force, now and at each start.

use diskfacts_plan::kernel::{self, Scope};
use diskfacts_record::{BlockDevice, DeviceKind, Stack};
use std::collections::BTreeMap;

/// Lines to type and to keep.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ways {
    /// Commands of a shell, as root.
    pub now: Vec<String>,
    /// Lines of a udev rule: one for each device.
    pub udev: Vec<String>,
    /// Lines for `/etc/sysctl.d`.
    pub sysctl: Vec<String>,
    /// What cannot be made permanent like that, a sentence each.
    pub notes: Vec<String>,
}

/// How these settings are put into force on the devices of this stack.
///
/// A rule sets attributes when its device appears or changes (udev(7), `ATTR{}`); the
/// scheduler comes first, because its own settings are those of the one in force.
pub fn ways(settings: &BTreeMap<String, String>, stack: &Stack) -> Ways {
    let mut ways = Ways::default();
    // By device, what is set of it.
    let mut rules: Vec<(&str, Vec<(String, &str)>)> = Vec::new();
    let own_last = |name: &&String| name.starts_with(kernel::OF_SCHEDULER);
    let mut names: Vec<&String> = settings.keys().collect();
    names.sort_by_key(own_last);
    for name in names {
        let value = settings[name].as_str();
        match kernel::setting(name).map(|setting| setting.scope) {
            Some(Scope::Device) => {
                let devices = devices(name, stack);
                if devices.is_empty() {
                    ways.notes.push(format!(
                        "{name} = {value}: it is not known which device has this setting."
                    ));
                }
                for device in devices {
                    let file = format!("queue/{name}");
                    ways.now.push(format!(
                        "echo '{value}' > /sys/block/{}/{file}",
                        device.name.replace('/', "!")
                    ));
                    match rules.iter_mut().find(|(known, _)| *known == device.name) {
                        Some((_, set)) => set.push((file, value)),
                        None => rules.push((&device.name, vec![(file, value)])),
                    }
                }
            }
            Some(Scope::Machine) if name != kernel::DROP_CACHES => {
                let name = name.replace('/', ".");
                ways.now.push(format!("sysctl -w {name}={value}"));
                ways.sysctl.push(format!("{name} = {value}"));
            }
            Some(Scope::Machine) => ways.notes.push(format!(
                "{name} = {value} is an action, not a state: there is nothing to make \
                 permanent."
            )),
            Some(Scope::Process) => ways.notes.push(format!(
                "{name} = {value} is of a process: for a service of systemd, IOWeight={value} in \
                 its unit."
            )),
            None => {}
        }
    }
    for (device, set) in rules {
        let set: Vec<String> = set
            .iter()
            .map(|(file, value)| format!("ATTR{{{file}}}=\"{value}\""))
            .collect();
        ways.udev.push(format!(
            "ACTION==\"add|change\", KERNEL==\"{device}\", {}",
            set.join(", ")
        ));
    }
    ways
}

/// The devices that a setting is of: the read-ahead is that of the topmost whole device;
/// each device down to the first queue may cut requests; the rest is of the queues.
fn devices<'s>(name: &str, stack: &'s Stack) -> Vec<&'s BlockDevice> {
    let queues = stack.queue_devices();
    match name {
        "read_ahead_kb" => stack.whole_devices().take(1).collect(),
        "max_sectors_kb" => {
            let above = |device: &&BlockDevice| {
                let has = |known: &&BlockDevice| known.name == device.name;
                queues.iter().any(has)
                    || device.below.iter().any(|below| {
                        queues.iter().any(|queue| queue.name == *below)
                            || stack
                                .device(below)
                                .is_some_and(|d| d.kind == DeviceKind::Partition)
                    })
            };
            stack.whole_devices().filter(above).collect()
        }
        _ => queues,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: DeviceKind, below: &[&str]) -> BlockDevice {
        BlockDevice {
            below: below.iter().map(|name| (*name).to_owned()).collect(),
            scheduler: (kind == DeviceKind::Disk).then(|| "none".to_owned()),
            ..BlockDevice::unknown(name, 8, 0, kind)
        }
    }

    fn of(settings: &[(&str, &str)], devices: Vec<BlockDevice>) -> Ways {
        let settings = settings
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let stack = Stack {
            devices,
            ..Stack::default()
        };
        ways(&settings.collect(), &stack)
    }

    #[test]
    fn a_disk_gets_one_rule_with_its_scheduler_before_the_scheduler_s_own_settings() {
        let disk = vec![
            device("sda1", DeviceKind::Partition, &["sda"]),
            device("sda", DeviceKind::Disk, &[]),
        ];
        let settings = [
            ("iosched/slice_idle", "0"),
            ("read_ahead_kb", "4096"),
            ("scheduler", "bfq"),
        ];
        let ways = of(&settings, disk);
        assert_eq!(
            ways.udev,
            [
                "ACTION==\"add|change\", KERNEL==\"sda\", ATTR{queue/read_ahead_kb}=\"4096\", \
                 ATTR{queue/scheduler}=\"bfq\", ATTR{queue/iosched/slice_idle}=\"0\""
            ]
        );
        assert_eq!(ways.now[1], "echo 'bfq' > /sys/block/sda/queue/scheduler");
        assert_eq!((ways.sysctl, ways.notes), (vec![], vec![]));
    }

    #[test]
    fn of_an_array_the_read_ahead_is_its_own_and_the_scheduler_that_of_its_members() {
        let array = vec![
            device("md0", DeviceKind::SoftwareRaid, &["sda", "sdb"]),
            device("sda", DeviceKind::Disk, &[]),
            device("sdb", DeviceKind::Disk, &[]),
        ];
        let settings = [
            ("max_sectors_kb", "128"),
            ("read_ahead_kb", "4096"),
            ("scheduler", "bfq"),
        ];
        let rules = of(&settings, array).udev;
        let of = |name: &str| {
            let mut rules = rules.iter();
            rules
                .find(|rule| rule.contains(&format!("\"{name}\"")))
                .unwrap()
                .clone()
        };
        assert_eq!(rules.len(), 3);
        assert!(of("md0").contains("read_ahead_kb") && !of("md0").contains("scheduler"));
        assert!(of("sdb").contains("scheduler") && !of("sdb").contains("read_ahead_kb"));
        assert!(rules.iter().all(|rule| rule.contains("max_sectors_kb")));
    }

    #[test]
    fn what_is_of_the_machine_is_for_sysctl_and_what_is_no_state_is_said() {
        let settings = [
            ("drop_caches", "all"),
            ("io_weight", "200"),
            ("scheduler", "bfq"),
            ("vm/dirty_bytes", "67108864"),
        ];
        let ways = of(&settings, vec![]);
        assert_eq!(ways.sysctl, ["vm.dirty_bytes = 67108864"]);
        assert_eq!(ways.now, ["sysctl -w vm.dirty_bytes=67108864"]);
        assert!(ways.udev.is_empty());
        assert!(ways.notes[0].contains("drop_caches") && ways.notes[1].contains("IOWeight=200"));
        assert!(ways.notes[2].contains("not known which device"));
    }
}
