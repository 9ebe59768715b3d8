//! What an md array is made of, and whether it is sound: `/sys/block/md*/md`.
//!
//! Source: kernel, `Documentation/admin-guide/md.rst`.

use crate::parse::md::{
    SyncCompleted, is_faulty, layout_words, parse_raid_disks, parse_sync_completed,
    parse_sync_speed,
};
use crate::sysfs::DeviceDir;
use diskfacts_record::{Array, BlockDevice, Impairment, ImpairmentKind};

/// Fills in what the array is made of and what is wrong with it.
///
/// An attribute that its level does not have (`degraded` of a RAID 0) is left out by
/// the kernel, so none of them is missed.
pub(super) fn look(dir: &DeviceDir, device: &mut BlockDevice) {
    let text = |attribute: &str| dir.optional_text(&format!("md/{attribute}"));
    let Some(level) = text("level").filter(|level| level != "container") else {
        return;
    };
    let members = text("raid_disks").and_then(|disks| parse_raid_disks(&disks));
    let layout = text("layout").and_then(|layout| layout_words(&level, layout.parse().ok()?));
    device.array = members.map(|members| Array {
        members,
        chunk_bytes: dir.number("md/chunk_size").ok().filter(|size| *size > 0),
        layout,
        consistency: text("consistency_policy").filter(|policy| policy != "none"),
        rmw_level: dir.number("md/rmw_level").ok(),
        level,
    });
    device
        .impaired
        .extend(text("array_state").and_then(|state| stopped(&state)));
    device.impaired.extend(missing(dir, members));
    device.impaired.extend(going_on(dir));
}

fn stopped(state: &str) -> Option<Impairment> {
    let (kind, what) = match state {
        "broken" => (
            ImpairmentKind::Failed,
            "a member is gone that it cannot do without",
        ),
        "inactive" | "clear" => (ImpairmentKind::Failed, "it is not running"),
        "suspended" => (
            ImpairmentKind::Suspended,
            "its I/O is held back until it is resumed",
        ),
        _ => return None,
    };
    Some(Impairment {
        kind,
        what: what.to_owned(),
        source: format!("md/array_state is {state}"),
    })
}

fn missing(dir: &DeviceDir, members: Option<u64>) -> Option<Impairment> {
    let entries = dir.entries("md");
    let faulty: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.strip_prefix("dev-"))
        .filter(|member| {
            dir.optional_text(&format!("md/dev-{member}/state"))
                .is_some_and(|state| is_faulty(&state))
        })
        .collect();
    let failed = (!faulty.is_empty()).then(|| faulty.join(", "));
    let degraded = dir.number("md/degraded").unwrap_or(0);
    if degraded == 0 {
        return failed.map(|failed| Impairment {
            kind: ImpairmentKind::MemberFailed,
            what: format!("its member {failed} has failed"),
            source: "md/dev-*/state says faulty".to_owned(),
        });
    }
    let who = failed.map_or_else(String::new, |failed| format!("; failed: {failed}"));
    let verb = if degraded == 1 { "is" } else { "are" };
    let of = members.map_or_else(String::new, |members| format!(" of its {members}"));
    Some(Impairment {
        kind: ImpairmentKind::Degraded,
        what: format!("{degraded}{of} members {verb} missing{who}"),
        source: format!("md/degraded is {degraded}"),
    })
}

/// What the array does beside serving.
fn going_on(dir: &DeviceDir) -> Option<Impairment> {
    let action = dir.optional_text("md/sync_action")?;
    let kind = kind_of(&action)?;
    let completed = dir.optional_text("md/sync_completed").unwrap_or_default();
    let speed = dir.optional_text("md/sync_speed").unwrap_or_default();
    let mut source = format!("md/sync_action is {action}");
    if !completed.is_empty() {
        source = format!("{source}, md/sync_completed {completed}");
    }
    let progress = match parse_sync_completed(&completed) {
        Some(SyncCompleted::Share(share)) => Some(share),
        Some(SyncCompleted::Delayed) => {
            return Some(Impairment {
                kind,
                what: format!(
                    "{}, and waits until another array on the same disks is done",
                    words(kind)
                ),
                source,
            });
        }
        None => None,
    };
    let progress = progress.map_or_else(String::new, |share| {
        format!(", {:.1} % done", share * 100.0)
    });
    let speed = parse_sync_speed(&speed).map_or_else(String::new, |bytes| {
        format!(" at {:.1} MB/s", bytes as f64 / 1e6)
    });
    Some(Impairment {
        kind,
        what: format!("{}{progress}{speed}", words(kind)),
        source,
    })
}

/// What `sync_action` of md, or the action of dm-raid, does to the figures; `None` where
/// nothing goes on.
pub(super) fn kind_of(action: &str) -> Option<ImpairmentKind> {
    match action {
        "recover" => Some(ImpairmentKind::Rebuilding),
        "resync" => Some(ImpairmentKind::Resyncing),
        "reshape" => Some(ImpairmentKind::Reshaping),
        "check" | "repair" => Some(ImpairmentKind::Checking),
        _ => None,
    }
}

/// What goes on, in words.
pub(super) fn words(kind: ImpairmentKind) -> &'static str {
    match kind {
        ImpairmentKind::Rebuilding => "a member is being filled again",
        ImpairmentKind::Resyncing => "copies or parity are being made equal",
        ImpairmentKind::Reshaping => "its data is being moved to another layout",
        _ => "all members are being read and compared",
    }
}
