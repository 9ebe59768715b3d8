//! What a device-mapper device is made of, and whether it is sound, as its targets say.
//!
//! Only root may ask. Without, its maker's mark in `dm/uuid` has to do.

use super::md;
use crate::parse::dm_status::{DmTarget, parse_dm_members, parse_dm_paths, parse_dm_raid};
use crate::sysfs::DeviceDir;
use diskfacts_record::{Array, BlockDevice, Impairment, ImpairmentKind, Unseen};

/// What the kernel says of a device's targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) targets: Vec<DmTarget>,
    /// Whether it is suspended, so that I/O waits.
    pub(super) suspended: bool,
}

/// Fills in the targets, what they are made of and what is wrong with them.
pub(super) fn look(
    live: bool,
    dir: &DeviceDir,
    device: &mut BlockDevice,
    unseen: &mut Vec<Unseen>,
) {
    device.targets = by_mark(&dir.optional_text("dm/uuid").unwrap_or_default());
    if live {
        match super::mapper_control::told(dir.major, dir.minor) {
            Ok(told) => understand(&told, device),
            Err(why) => unseen.push(Unseen {
                what: format!("{} targets", dir.name),
                why,
            }),
        }
    }
    if device
        .impaired
        .iter()
        .all(|found| found.kind != ImpairmentKind::Suspended)
        && dir.number("dm/suspended").is_ok_and(|value| value != 0)
    {
        device.impaired.push(suspended("dm/suspended is 1"));
    }
    let striped = |array: &Array| array.level != "multipath";
    if let Some(array) = device.array.as_mut().filter(|array| striped(array)) {
        // A stripe's or a RAID's chunk is what it calls its smallest good request.
        let chunk = dir.number("queue/minimum_io_size").ok();
        array.chunk_bytes = chunk.filter(|bytes| *bytes > 4096);
    }
}

/// The targets that the mark of a device's maker tells of.
fn by_mark(uuid: &str) -> Vec<String> {
    let kind = if uuid.starts_with("CRYPT-VERITY-") {
        "verity"
    } else if uuid.starts_with("CRYPT-INTEGRITY-") {
        "integrity"
    } else if uuid.starts_with("CRYPT-") {
        "crypt"
    } else if uuid.starts_with("mpath-") {
        "multipath"
    } else if uuid.starts_with("LVM-") && uuid.ends_with("-tpool") {
        "thin-pool"
    } else {
        return Vec::new();
    };
    vec![kind.to_owned()]
}

fn suspended(source: &str) -> Impairment {
    Impairment {
        kind: ImpairmentKind::Suspended,
        what: "its I/O is held back until `dmsetup resume`".to_owned(),
        source: source.to_owned(),
    }
}

/// What follows from what the targets say.
pub(super) fn understand(told: &Told, device: &mut BlockDevice) {
    device.targets.clear();
    if told.suspended {
        device
            .impaired
            .push(suspended("device mapper says that it is suspended"));
    }
    for target in &told.targets {
        if !device.targets.contains(&target.kind) {
            device.targets.push(target.kind.clone());
        }
        if let Some(array) = array(target) {
            // Several targets of one kind are pieces of one volume.
            device.array.get_or_insert(array);
        }
        device.cache_mode = cache_mode(target).or(device.cache_mode.take());
        for found in impaired(target) {
            if !device.impaired.contains(&found) {
                device.impaired.push(found);
            }
        }
    }
}

fn array(target: &DmTarget) -> Option<Array> {
    let (level, layout, members) = match target.kind.as_str() {
        "raid" => {
            let raid = parse_dm_raid(&target.status)?;
            let (level, layout) = match raid.kind.split_once('_') {
                Some((level, layout)) => (level.to_owned(), Some(layout_words(layout))),
                None => (raid.kind, None),
            };
            (level, layout, raid.health.len() as u64)
        }
        "mirror" => ("raid1".to_owned(), None, members(target)?),
        "striped" => ("striped".to_owned(), None, members(target)?),
        "multipath" => {
            let (paths, _) = parse_dm_paths(&target.status);
            ("multipath".to_owned(), None, paths)
        }
        _ => return None,
    };
    Some(Array {
        level,
        members,
        layout,
        ..Array::default()
    })
}

fn members(target: &DmTarget) -> Option<u64> {
    target.status.split_ascii_whitespace().next()?.parse().ok()
}

/// dm-raid's short names, in mdadm's words.
fn layout_words(short: &str) -> String {
    match short {
        "la" => "left-asymmetric",
        "ra" => "right-asymmetric",
        "ls" => "left-symmetric",
        "rs" => "right-symmetric",
        "n" | "n_6" => "parity-last",
        other => other,
    }
    .to_owned()
}

/// The mode stands among the features of a `cache`.
fn cache_mode(target: &DmTarget) -> Option<String> {
    const MODES: [&str; 3] = ["writeback", "writethrough", "passthrough"];
    let mut words = target.status.split_ascii_whitespace();
    (target.kind == "cache")
        .then(|| words.find(|word| MODES.contains(word)))
        .flatten()
        .map(str::to_owned)
}

fn impaired(target: &DmTarget) -> Vec<Impairment> {
    let kind = target.kind.as_str();
    let source = format!("its target {kind} says `{}`", target.status);
    let found = |kind, what: String| {
        vec![Impairment {
            kind,
            what,
            source: source.clone(),
        }]
    };
    let words: Vec<&str> = target.status.split_ascii_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    match kind {
        "raid" => raid(&target.status, &source),
        "mirror" | "striped" => match parse_dm_members(&target.status) {
            Some(letters) if letters.contains(|letter| letter != 'A') => {
                let bad = letters.chars().filter(|letter| *letter != 'A').count();
                let all = letters.len();
                let how = if kind == "striped" {
                    ImpairmentKind::Failed
                } else {
                    ImpairmentKind::Degraded
                };
                found(
                    how,
                    format!("{bad} of its {all} members failed ({letters})"),
                )
            }
            _ => mirror_resyncs(&words)
                .map_or_else(Vec::new, |what| found(ImpairmentKind::Resyncing, what)),
        },
        "multipath" => {
            paths(&target.status).map_or_else(Vec::new, |(kind, what)| found(kind, what))
        }
        "error" => vec![Impairment {
            kind: ImpairmentKind::Failed,
            what: "a part of it answers each request with an error".to_owned(),
            source: "it has a target of type error".to_owned(),
        }],
        "thin-pool" | "thin" | "cache" | "era" | "clone" if has("Fail") || has("Error") => {
            found(ImpairmentKind::Failed, format!("its {kind} has failed"))
        }
        "thin-pool" if has("out_of_data_space") => {
            found(ImpairmentKind::Failed, "its pool is full".to_owned())
        }
        "thin-pool" | "cache" if has("ro") => found(
            ImpairmentKind::Failed,
            format!("its {kind} takes no writes (read-only)"),
        ),
        "thin-pool" | "cache" if has("needs_check") => found(
            ImpairmentKind::Degraded,
            format!("the metadata of its {kind} has to be checked"),
        ),
        "snapshot" | "snapshot-merge" if has("Invalid") || has("Overflow") || has("failed") => {
            found(ImpairmentKind::Failed, "the snapshot is lost".to_owned())
        }
        "writecache" if words.first().is_some_and(|errors| *errors != "0") => found(
            ImpairmentKind::Failed,
            "its cache has had an error".to_owned(),
        ),
        "verity" if has("C") => found(
            ImpairmentKind::Failed,
            "data that does not agree with its sums was found".to_owned(),
        ),
        _ => Vec::new(),
    }
}

fn raid(status: &str, source: &str) -> Vec<Impairment> {
    let Some(raid) = parse_dm_raid(status) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let bad = raid
        .health
        .chars()
        .filter(|c| matches!(c, 'D' | '-'))
        .count();
    let mut push = |kind, what| {
        all.push(Impairment {
            kind,
            what,
            source: source.to_owned(),
        });
    };
    if bad > 0 {
        let (members, health) = (raid.health.len(), &raid.health);
        push(
            ImpairmentKind::Degraded,
            format!("{bad} of its {members} members failed or are missing ({health})"),
        );
    }
    if let Some(kind) = raid.action.as_deref().and_then(md::kind_of) {
        let done = raid.in_sync.map_or_else(String::new, |share| {
            format!(", {:.1} % done", share * 100.0)
        });
        push(kind, format!("{}{done}", md::words(kind)));
    }
    all
}

/// A mirror that has not copied all of its regions: `400/1024` behind its members.
fn mirror_resyncs(words: &[&str]) -> Option<String> {
    let (done, all) = words.iter().find_map(|word| word.split_once('/'))?;
    let (done, all): (u64, u64) = (done.parse().ok()?, all.parse().ok()?);
    (done < all).then(|| format!("{done} of its {all} regions are copied"))
}

fn paths(status: &str) -> Option<(ImpairmentKind, String)> {
    let (paths, failed) = parse_dm_paths(status);
    if failed.is_empty() {
        return None;
    }
    let kind = if failed.len() as u64 == paths {
        ImpairmentKind::Failed
    } else {
        ImpairmentKind::Degraded
    };
    let number = failed.len();
    Some((
        kind,
        format!(
            "{number} of its {paths} paths failed ({})",
            failed.join(", ")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::DeviceKind;

    fn told(targets: &[(&str, &str)]) -> BlockDevice {
        let mut device = BlockDevice::unknown("dm-0", 253, 0, DeviceKind::DeviceMapper);
        let targets = targets
            .iter()
            .map(|(kind, status)| DmTarget {
                kind: (*kind).to_owned(),
                status: (*status).to_owned(),
            })
            .collect();
        let told = Told {
            targets,
            suspended: false,
        };
        understand(&told, &mut device);
        device
    }

    fn impairments(device: &BlockDevice) -> Vec<(ImpairmentKind, &str)> {
        let found = device.impaired.iter();
        found
            .map(|found| (found.kind, found.what.as_str()))
            .collect()
    }

    #[test]
    fn each_target_that_is_not_sound_is_told_and_what_is_wrong_with_it() {
        use ImpairmentKind::{Degraded, Failed, Rebuilding, Resyncing};
        for (kind, status, expected) in [
            (
                "raid",
                "raid1 2 AD 2048/2048 idle 0 0 -",
                vec![(Degraded, "1 of its 2 members failed or are missing (AD)")],
            ),
            (
                "raid",
                "raid5_ls 3 AAa 100/400 recover 0 0 -",
                vec![(Rebuilding, "a member is being filled again, 25.0 % done")],
            ),
            (
                "mirror",
                "2 253:0 253:1 400/400 1 AD 1 core",
                vec![(Degraded, "1 of its 2 members failed (AD)")],
            ),
            (
                "mirror",
                "2 253:0 253:1 100/400 1 AA 1 core",
                vec![(Resyncing, "100 of its 400 regions are copied")],
            ),
            (
                "multipath",
                "2 0 1 0 2 1 A 0 1 2 8:16 A 0 0 1 E 0 1 2 8:32 F 3 0 1",
                vec![(Degraded, "1 of its 2 paths failed (8:32)")],
            ),
            (
                "multipath",
                "2 0 0 0 1 1 E 0 1 2 8:32 F 3 0 1",
                vec![(Failed, "1 of its 1 paths failed (8:32)")],
            ),
            ("thin", "Fail", vec![(Failed, "its thin has failed")]),
            (
                "thin-pool",
                "1 406/4161600 100/100 - out_of_data_space discard_passdown queue_if_no_space - 1024",
                vec![(Failed, "its pool is full")],
            ),
            (
                "snapshot",
                "Invalid",
                vec![(Failed, "the snapshot is lost")],
            ),
        ] {
            assert_eq!(impairments(&told(&[(kind, status)])), expected, "{status}");
        }
    }

    #[test]
    fn sound_targets_have_nothing_wrong_with_them() {
        for (kind, status) in [
            ("linear", ""),
            ("crypt", ""),
            ("raid", "raid6_zr 4 AAAA 2048/2048 idle 0 0 -"),
            ("mirror", "2 253:0 253:1 400/400 1 AA 1 core"),
            ("striped", "3 8:0 8:16 8:32 1 AAA"),
            ("multipath", "2 0 1 0 1 1 A 0 2 2 8:16 A 0 0 1 8:32 A 0 0 1"),
            (
                "thin-pool",
                "1 406/4161600 100/1525760 - rw discard_passdown queue_if_no_space - 1024",
            ),
            ("thin", "2048 2047"),
            (
                "cache",
                "8 72/4096 128 0/8192 0 10 0 0 0 0 0 1 writethrough 2 migration_threshold 2048 \
                 smq 0 rw -",
            ),
            ("snapshot", "16/2048 16"),
            ("writecache", "0 100 90 0"),
            ("verity", "V"),
        ] {
            assert_eq!(impairments(&told(&[(kind, status)])), [], "{kind} {status}");
        }
    }

    #[test]
    fn types_members_layout_and_mode_are_told() {
        let device = told(&[
            ("raid", "raid5_ls 3 AAA 400/400 idle 0 0 -"),
            ("linear", ""),
            ("linear", ""),
        ]);
        assert_eq!(device.targets, ["raid", "linear"]);
        let array = device.array.expect("it is one");
        assert_eq!((array.level.as_str(), array.members), ("raid5", 3));
        assert_eq!(array.layout.as_deref(), Some("left-symmetric"));
        let cache = told(&[(
            "cache",
            "8 1/2 128 0/8 0 1 0 0 0 0 0 1 writeback 0 smq 0 rw -",
        )]);
        assert_eq!(cache.cache_mode.as_deref(), Some("writeback"));
        assert_eq!(
            told(&[("striped", "3 8:0 8:16 8:32 1 AAA")])
                .array
                .map(|a| a.members),
            Some(3)
        );
        assert_eq!(by_mark("CRYPT-LUKS2-00ff-x"), ["crypt"]);
        assert_eq!(by_mark("CRYPT-VERITY-00ff-x"), ["verity"]);
        assert_eq!(by_mark("LVM-abc"), [""; 0]);
    }
}
