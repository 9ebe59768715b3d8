//! Linux software RAID.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack, ensure};
use crate::guest::{Built, Guest, until};
use crate::product::{self, Stage};

pub(super) const SCENARIOS: &[Scenario] = &[
    level("md-raid0", 2, Set::Short, |g| array(g, 0, 2, Leaves::Same)),
    level("md-raid1", 2, Set::Short, |g| {
        array(g, 1, 2, Leaves::AtLeast)
    }),
    level("md-raid5", 3, Set::Always, |g| {
        array(g, 5, 3, Leaves::AtLeast)
    }),
    level("md-raid6", 4, Set::Short, |g| {
        array(g, 6, 4, Leaves::AtLeast)
    }),
    level("md-raid10", 4, Set::Short, |g| {
        array(g, 10, 4, Leaves::AtLeast)
    }),
    Scenario {
        about: "an array that has lost a member says so first",
        ..level("md-degraded", 3, Set::Short, degraded)
    },
    Scenario {
        about: "an array that is being rebuilt says so first",
        ..level("md-rebuilding", 2, Set::Short, rebuilding)
    },
    Scenario {
        about: "a member of an array that is not assembled",
        ..level("md-stopped", 2, Set::Long, stopped)
    },
];

const DISKS: &[&str] = &["d0", "d1", "d2", "d3"];

const fn level(
    name: &'static str,
    count: usize,
    set: Set,
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about: "an array of this level",
        set,
        disks: DISKS.split_at(count).0,
        seconds: 6 + 2 * count as u64,
        run,
    }
}

/// Makes an array of the first disks; its path and theirs.
pub(super) fn make(
    guest: &mut Guest,
    level: u32,
    count: usize,
    more: &str,
) -> Built<(String, Vec<String>)> {
    let mut disks = Vec::new();
    for name in &DISKS[..count] {
        disks.push(guest.disk(name)?);
    }
    let top = "/dev/md0";
    over(guest, top, level, &disks, more)?;
    Ok((top.to_owned(), disks))
}

/// Makes an array over these devices.
pub(crate) fn over(
    guest: &mut Guest,
    top: &str,
    level: u32,
    devices: &[String],
    more: &str,
) -> Built {
    guest.tools(&[("mdadm", "mdadm")])?;
    let module = match level {
        0 => "raid0",
        1 => "raid1",
        10 => "raid10",
        _ => "raid456",
    };
    guest.modules(&[module])?;
    guest.sh(&format!(
        "mdadm --create {top} --run --homehost=lab --metadata=1.2 --level={level} \
         --raid-devices={} {more} {}",
        devices.len(),
        devices.join(" ")
    ))?;
    guest.later(&format!("mdadm --stop {top}"));
    Ok(())
}

fn array(guest: &mut Guest, level: u32, count: usize, leaves: Leaves) -> Built {
    // Nothing is resynchronised: it would be in all counters.
    let more = match level {
        0 => "--chunk=32",
        1 => "--assume-clean",
        _ => "--assume-clean --chunk=32",
    };
    let (top, members) = make(guest, level, count, more)?;
    let made_of = [
        format!("raid{level}"),
        format!("\"members\":{count}"),
        "\"chunk_bytes\":32768".to_owned(),
    ];
    // A mirror has no chunks.
    let shown = if level == 1 { 2 } else { 3 };
    let says: Vec<&str> = made_of[..shown].iter().map(String::as_str).collect();
    let stack = Stack::new(&top)
        .writes(leaves)
        .members(&members)
        .says(&says);
    checks::examine(guest, &stack)
}

/// A member fails while the array is read: when it is first read, the run has looked at
/// it already.
fn fails_in_a_run(guest: &mut Guest, top: &str, member: &str) -> Built {
    let reads = "$(awk '{print $1}' /sys/block/md0/stat)";
    guest.sh(&format!(
        "before={reads}; (while [ {reads} = $before ]; do sleep 0.1; done; mdadm {top} --fail \
         {member}) >/dev/null 2>&1 </dev/null &"
    ))?;
    let run = product::measure(guest, top, &product::plan(&[Stage::Reads]), &[])?;
    let document = run.whole()?;
    let first = document["findings"][0]["claim"].to_string();
    let after = document["health_after"].to_string();
    let holds = first.contains("degraded when the run ended, and not when it began")
        && after.contains("md/degraded is 1");
    guest.check(
        "a member that fails during a run is what the run says first",
        ensure(holds, || format!("{first} {after}")),
    );
    Ok(())
}

fn degraded(guest: &mut Guest) -> Built {
    let (top, members) = make(guest, 5, 3, "--assume-clean")?;
    fails_in_a_run(guest, &top, &members[1])?;
    checks::says_first(guest, &top, &["degraded"])?;
    // A member that has failed is a member still: its data may be wanted.
    let attempts: Vec<Attempt> = members.iter().map(|member| Attempt::on(member)).collect();
    checks::refused(guest, &attempts)
}

fn rebuilding(guest: &mut Guest) -> Built {
    let (top, members) = make(guest, 1, 2, "--assume-clean")?;
    guest.sh(
        "echo 100 > /sys/block/md0/md/sync_speed_max; echo 50 > /sys/block/md0/md/sync_speed_min",
    )?;
    let last = &members[1];
    guest.sh(&format!(
        "mdadm {top} --fail {last} && mdadm {top} --remove {last}"
    ))?;
    guest.sh(&format!(
        "mdadm --zero-superblock {last} && mdadm {top} --add {last}"
    ))?;
    let action = until(|| {
        let action = crate::sysfs::attribute("md0", "md/sync_action")?;
        (action == "recover").then_some(())
    });
    let started = action.ok_or_else(|| "the array does not begin to rebuild".to_owned());
    started?;
    checks::says_first(guest, &top, &["rebuil", "recover"])?;
    let attempts: Vec<Attempt> = members.iter().map(|member| Attempt::on(member)).collect();
    // The rebuilding itself writes to the new one: only the source is summed up.
    checks::refused(guest, &attempts[..1])?;
    guest.sh("echo frozen > /sys/block/md0/md/sync_action")?;
    checks::refused(guest, &attempts[1..])
}

fn stopped(guest: &mut Guest) -> Built {
    let (top, members) = make(guest, 1, 2, "--assume-clean")?;
    guest.sh(&format!(
        "dd if=/dev/urandom of={top} bs=64k count=4 conv=fsync"
    ))?;
    guest.sh(&format!("mdadm --stop {top}"))?;
    let attempts: Vec<Attempt> = members.iter().map(|member| Attempt::on(member)).collect();
    checks::refused(guest, &attempts)?;
    let list = members.join(" ");
    // As the end of the scenario expects it.
    guest.sh(&format!("mdadm --assemble {top} --run {list}"))?;
    Ok(())
}
