//! Devices that do not answer, found without opening them: an open of such a device, or
//! a read, waits until somebody changes that, and nothing ends it.

use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use diskfacts_record::Stack;
use std::time::{Duration, Instant};

/// Every device answers within this, but for disks that sleep.
pub const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// What is said of a device that stands still.
pub(crate) fn stands_still() -> String {
    let seconds = ANSWERS_WITHIN.as_secs();
    format!("it has requests under way, and has completed none for {seconds} s")
}

/// How long is waited between two looks at counters that move by themselves.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Why the top of a stack does not answer, as the end of a sentence that begins with
/// `waits for`; `None` where the kernel's tables know nothing against it, which is no
/// promise. A device with several others below waits where all of these do.
pub fn not_answering(roots: &Roots, stack: &Stack) -> Option<String> {
    let top = stack.top()?;
    waits(roots, stack, &top.name, stack.devices.len())
}

fn waits(roots: &Roots, stack: &Stack, name: &str, deepest: usize) -> Option<String> {
    if let Some(why) = waits_itself(roots, name) {
        return Some(why);
    }
    let device = stack.devices.iter().find(|device| device.name == name)?;
    // A stack has no circles; a tree that somebody wrote might.
    let deepest = deepest.checked_sub(1)?;
    let below = device.below.iter();
    let below: Option<Vec<String>> = below
        .map(|below| waits(roots, stack, below, deepest))
        .collect();
    below?.into_iter().next()
}

/// `dm/suspended`: `Documentation/ABI/testing/sysfs-block-dm`. `device/state`: of SCSI
/// disks `sdev_states` in `drivers/scsi/scsi_sysfs.c`, of `NVMe` `nvme_sysfs_show_state`. What is
/// offline or dead answers with errors, and needs no waiting.
fn waits_itself(roots: &Roots, name: &str) -> Option<String> {
    let device = DeviceDir::of_name(roots, name).ok()??;
    if device.optional_text("dm/suspended").as_deref() == Some("1") {
        let mapped = device.optional_text("dm/name");
        return Some(format!(
            "{name}, which is suspended: `dmsetup resume {}` lets it go on",
            mapped.as_deref().unwrap_or(name)
        ));
    }
    let state = device.optional_text("device/state")?;
    matches!(
        state.as_str(),
        "blocked" | "created-blocked" | "quiesce" | "resetting" | "connecting"
    )
    .then(|| {
        format!("{name}, whose state is {state}: the kernel log (`dmesg`) says what it waits for")
    })
}

/// Requests under way at a device, everybody's (`inflight`: reads and writes); `None`
/// where that is not known.
pub fn in_flight(roots: &Roots, name: &str) -> Option<u64> {
    requests_under_way(&DeviceDir::of_name(roots, name).ok()??)
}

/// Those of the devices that have had requests under way and completed none for
/// [`ANSWERS_WITHIN`]; none in the captured tree of another machine, where nothing moves.
///
/// Who was killed while he waited for such a request waits for it once more when he
/// closes the device, with the lock that every open takes (kernel: `bdev_release` in
/// `block/bdev.c` drops the pages, and holds `open_mutex`).
pub(crate) fn standing_still<'a>(
    roots: &Roots,
    devices: impl IntoIterator<Item = &'a DeviceDir>,
) -> Vec<&'a DeviceDir> {
    if roots.live() {
        standing_still_for(devices, ANSWERS_WITHIN)
    } else {
        Vec::new()
    }
}

fn standing_still_for<'a>(
    devices: impl IntoIterator<Item = &'a DeviceDir>,
    patience: Duration,
) -> Vec<&'a DeviceDir> {
    let began = Instant::now();
    let mut still: Vec<(&DeviceDir, Work)> = devices
        .into_iter()
        .filter_map(|device| Some((device, Work::of(device)?)))
        .collect();
    while !still.is_empty() && began.elapsed() < patience {
        std::thread::sleep(LOOK_AGAIN);
        still.retain(|(device, before)| Work::of(device).as_ref() == Some(before));
    }
    still.into_iter().map(|(device, _)| device).collect()
}

/// Requests of a device that has some under way: how many were completed until now, of
/// each kind.
#[derive(PartialEq, Eq)]
struct Work(Vec<String>);

impl Work {
    /// `None` where nothing is under way, or nothing is counted.
    fn of(device: &DeviceDir) -> Option<Self> {
        if device.optional_text("queue/iostats").as_deref() == Some("0") {
            return None;
        }
        let under_way = requests_under_way(device)?;
        let stat = device.optional_text("stat")?;
        let columns: Vec<&str> = stat.split_whitespace().collect();
        // Reads, writes, discards, flushes (`Documentation/block/stat.rst`).
        let completed = [0, 4, 11, 15].map(|column| columns.get(column).copied());
        let completed = completed.into_iter().flatten().map(str::to_owned);
        (under_way > 0).then(|| Self(completed.collect()))
    }
}

fn requests_under_way(device: &DeviceDir) -> Option<u64> {
    let text = device.text("inflight").ok()?;
    text.split_whitespace()
        .map(|count| count.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::{BlockDevice, DeviceKind};
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn device(name: &str, below: &[&str]) -> BlockDevice {
        BlockDevice {
            below: below.iter().map(|&below| below.to_owned()).collect(),
            ..BlockDevice::unknown(name, 8, 0, DeviceKind::Other)
        }
    }

    /// A tree of sysfs with these attributes: device, attribute, text.
    fn tree(at: &Path, attributes: &[(&str, &str, &str)]) -> Roots {
        for (number, name) in ["dm-0", "dm-1", "sda", "sdb", "nvme0n1"].iter().enumerate() {
            let folder = at.join("class/block").join(name);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("dev"), format!("8:{number}\n")).expect("a number");
        }
        for (name, attribute, text) in attributes {
            let file = at.join("class/block").join(name).join(attribute);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, format!("{text}\n")).expect("an attribute");
        }
        Roots {
            sys: at.to_owned(),
            ..Roots::default()
        }
    }

    fn said(attributes: &[(&str, &str, &str)], devices: &[BlockDevice]) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let roots = tree(folder.path(), attributes);
        let stack = Stack {
            devices: devices.to_vec(),
            ..Stack::default()
        };
        not_answering(&roots, &stack)
    }

    #[test]
    fn a_suspended_mapping_is_known_without_opening_it_also_below_another() {
        let attributes = [("dm-1", "dm/suspended", "1"), ("dm-1", "dm/name", "data")];
        let own = said(&attributes, &[device("dm-1", &["sda"]), device("sda", &[])]);
        let own = own.expect("it is suspended");
        assert!(
            own.starts_with("dm-1") && own.contains("dmsetup resume data"),
            "{own}"
        );
        let below = [
            device("dm-0", &["dm-1"]),
            device("dm-1", &["sda"]),
            device("sda", &[]),
        ];
        assert_eq!(said(&attributes, &below), Some(own));
        let running = [
            ("dm-1", "dm/suspended", "0"),
            ("sda", "device/state", "running"),
        ];
        assert_eq!(said(&running, &below), None);
    }

    #[test]
    fn one_path_of_several_that_answers_is_enough() {
        let paths = [
            device("dm-0", &["sda", "sdb"]),
            device("sda", &[]),
            device("sdb", &[]),
        ];
        let one = [
            ("sda", "device/state", "blocked"),
            ("sdb", "device/state", "running"),
        ];
        assert_eq!(said(&one, &paths), None);
        let both = [
            ("sda", "device/state", "blocked"),
            ("sdb", "device/state", "quiesce"),
        ];
        let why = said(&both, &paths).expect("no path is left");
        assert!(why.starts_with("sda, whose state is blocked"), "{why}");
    }

    #[test]
    fn a_controller_that_is_being_reached_again_keeps_who_opens_it_and_a_dead_one_does_not() {
        let on = [device("nvme0n1", &[])];
        for (state, waits) in [
            ("connecting", true),
            ("resetting", true),
            ("live", false),
            ("dead", false),
        ] {
            let why = said(&[("nvme0n1", "device/state", state)], &on);
            assert_eq!(why.is_some(), waits, "{state}: {why:?}");
        }
    }

    #[test]
    fn only_what_has_requests_under_way_and_completes_none_stands_still() {
        let stat = |reads: u32| format!("{reads} 0 800 10 7 0 56 3 1 900 13 0 0 0 0 2 1");
        let folder = tempfile::tempdir().expect("a folder");
        let (idle, busy) = (stat(5), stat(6));
        let roots = tree(
            folder.path(),
            &[
                ("dm-0", "inflight", "0 0"),
                ("dm-0", "stat", &idle),
                ("sda", "inflight", "1 0"),
                ("sda", "stat", &busy),
                ("sdb", "inflight", "0 2"),
                ("sdb", "stat", &busy),
                // What does not count cannot be seen to move.
                ("dm-1", "inflight", "3 0"),
                ("dm-1", "stat", &idle),
                ("dm-1", "queue/iostats", "0"),
            ],
        );
        let devices: Vec<DeviceDir> = ["dm-0", "dm-1", "sda", "sdb", "nvme0n1"]
            .iter()
            .map(|name| DeviceDir::of_name(&roots, name).expect("sysfs"))
            .map(|device| device.expect("a device"))
            .collect();
        let moving = roots.sys.join("class/block/sdb/stat");
        let ended = AtomicBool::new(false);
        let still = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut reads = 7;
                while !ended.load(Ordering::Relaxed) {
                    // Whole at once, as the kernel's files are.
                    let next = moving.with_extension("next");
                    fs::write(&next, stat(reads)).expect("counters");
                    fs::rename(&next, &moving).expect("counters");
                    reads += 1;
                }
            });
            let still = standing_still_for(&devices, Duration::from_millis(500));
            ended.store(true, Ordering::Relaxed);
            still
        });
        let names: Vec<&str> = still.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["sda"]);
    }
}
