//! What the kernel takes, as far as it says so before anything is written.

use super::error::SettingsError;
use super::knob::{self, tunables};
use super::setting::Setting;
use crate::parse::sysfs_value::parse_scheduler;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use std::io;

/// The page of most machines, KiB: a request is at least as long
/// (`queue_max_sectors_store` of `block/blk-sysfs.c`).
const PAGE_KIB: u64 = 4;

/// The schedulers that a device can have.
pub(super) fn schedulers(dir: &DeviceDir) -> Vec<String> {
    parse_scheduler(&dir.optional_text("queue/scheduler").unwrap_or_default()).1
}

/// Refuses what is surely not taken, and who surely may not write it. `in_use` says
/// whether the scheduler of the setting, when it is one's tunable, is the one in use,
/// so that its file can be looked for.
pub(super) fn check(
    roots: &Roots,
    dir: Option<&DeviceDir>,
    setting: &Setting,
    value: &str,
    in_use: bool,
) -> Result<(), SettingsError> {
    let on = dir.map_or(knob::MACHINE.to_owned(), |dir| dir.name.clone());
    let refuse = |accepted: String| {
        Err(SettingsError::NotAccepted {
            setting: setting.clone(),
            value: value.to_owned(),
            on: on.clone(),
            accepted,
        })
    };
    if let (Some(dir), true) = (dir, setting.is_scheduler()) {
        let known = schedulers(dir);
        if !known.iter().any(|name| name == value) {
            return refuse(format!(
                "{}; one that is a module is there after `modprobe NAME-iosched` (bfq: \
                 `modprobe bfq`)",
                known.join(", ")
            ));
        }
    }
    if let (Some(dir), Some(_)) = (dir, setting.tunable()) {
        if value.parse::<i64>().is_err() {
            return refuse("a whole number, as all settings of the kernel's schedulers".to_owned());
        }
        if !in_use {
            // Its file appears with its scheduler.
            return Ok(());
        }
        if !tunables(dir).contains(setting) {
            return Err(no_tunable(roots, dir, setting));
        }
    }
    if let (Some(dir), true) = (dir, setting.is("max_sectors_kb"))
        && let (Ok(most), Ok(asked)) = (dir.number("queue/max_hw_sectors_kb"), value.parse::<u64>())
        && asked != 0
        && !(PAGE_KIB..=most).contains(&asked)
    {
        return refuse(format!(
            "{PAGE_KIB} to {most} KiB (max_hw_sectors_kb), or 0 for the kernel's own choice"
        ));
    }
    let path = knob::path(roots, dir, setting);
    match knob::writable(&path) {
        Ok(()) => Ok(()),
        Err(source) => Err(not_written(setting, on, path, source)),
    }
}

/// A tunable that the scheduler in use does not have.
pub(super) fn no_tunable(roots: &Roots, dir: &DeviceDir, setting: &Setting) -> SettingsError {
    let path = knob::path(roots, Some(dir), setting);
    let scheduler = Setting::parse("scheduler").and_then(|scheduler| {
        let path = knob::path(roots, Some(dir), &scheduler);
        knob::read(&path, &scheduler).ok()
    });
    let scheduler = scheduler.unwrap_or_else(|| "unknown".to_owned());
    let there: Vec<String> = tunables(dir).iter().map(ToString::to_string).collect();
    let there = if there.is_empty() {
        "none at all; set `scheduler` beside it to the one that has it".to_owned()
    } else {
        there.join(", ")
    };
    SettingsError::NotThere {
        setting: setting.clone(),
        on: dir.name.clone(),
        path,
        why: format!("its scheduler {scheduler} has {there}"),
    }
}

/// What an error of opening the file of a setting says.
pub(super) fn not_written(
    setting: &Setting,
    on: String,
    path: std::path::PathBuf,
    source: io::Error,
) -> SettingsError {
    match source.kind() {
        io::ErrorKind::NotFound => SettingsError::NotThere {
            setting: setting.clone(),
            on,
            path,
            why: "this kernel, or the driver of this device, does not have it; drop it".to_owned(),
        },
        io::ErrorKind::PermissionDenied => SettingsError::NotAllowed {
            setting: setting.clone(),
            on,
            path,
            source,
            hint: "settings of the kernel are changed by root: type the same with sudo, or leave \
                   them away",
        },
        io::ErrorKind::ReadOnlyFilesystem => SettingsError::NotAllowed {
            setting: setting.clone(),
            on,
            path,
            source,
            hint: "it is mounted for reading only, as in a container: run diskfacts on the host",
        },
        _ => SettingsError::failed("opening", (setting, &on, &path), source, String::new()),
    }
}

/// What a kernel that refused a value most likely wants; behind `; `.
pub(super) fn hint(dir: Option<&DeviceDir>, setting: &Setting) -> String {
    let of_tags = || {
        let dir = dir?;
        let queues = dir.entries("mq");
        let tags = dir
            .number(&format!("mq/{}/nr_tags", queues.first()?))
            .ok()?;
        Some(format!(
            "; without a scheduler it takes 4 to {tags}, the requests that the driver takes at a \
             time (mq/*/nr_tags), with one up to 2048"
        ))
    };
    match setting.name() {
        "nr_requests" => of_tags().unwrap_or_default(),
        "wbt_lat_usec" => {
            "; it takes microseconds, 0 for off, -1 for the kernel's own choice, where \
                           the kernel throttles write-back at all"
                .to_owned()
        }
        "vm/dirty_bytes" => "; it takes two pages or more".to_owned(),
        name if name.starts_with("vm/") && name.ends_with("_ratio") => {
            "; it takes 0 to 100".to_owned()
        }
        _ => String::new(),
    }
}

/// Why a value is not the one in force though the kernel took it; `None` when it is
/// the one in force.
pub(super) fn not_applied(setting: &Setting, asked: &str, now: &str) -> Option<String> {
    if Setting::same(asked, now) {
        return None;
    }
    let own = matches!(
        (setting.name(), asked),
        ("wbt_lat_usec", "-1") | ("max_sectors_kb", "0")
    );
    Some(match setting.name() {
        _ if own => format!("{asked} asks for the kernel's own choice, which is {now}"),
        "read_ahead_kb" => {
            format!("the kernel reads ahead whole pages: {asked} became {now}")
        }
        "nr_requests" => format!(
            "the kernel took {asked} and holds {now}: it keeps 4 at least, and without a scheduler no \
             more than the tags of the driver"
        ),
        _ => format!("the kernel took {asked}, and {now} is in force"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_made_of_a_value_is_said_and_what_it_took_is_not() {
        let said = |name: &str, asked: &str, now: &str| {
            let setting = Setting::parse(name).expect("a setting");
            not_applied(&setting, asked, now)
        };
        assert_eq!(said("read_ahead_kb", "128", "128"), None);
        assert_eq!(said("scheduler", "bfq", "bfq"), None);
        let rounded = said("read_ahead_kb", "17", "16").expect("it was rounded");
        assert!(rounded.contains("whole pages: 17 became 16"), "{rounded}");
        let own = said("wbt_lat_usec", "-1", "2000").expect("it is not what was asked");
        assert!(own.contains("own choice, which is 2000"), "{own}");
        let tags = said("nr_requests", "512", "128").expect("it was not applied");
        assert!(tags.contains("took 512 and holds 128"), "{tags}");
    }
}
