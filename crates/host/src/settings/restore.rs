//! Putting back what a journal holds.

use super::error::SettingsError;
use super::identity::{Identity, Standing};
use super::journal::{Journal, Old};
use super::knob;
use super::setting::Setting;
use super::steps::Steps;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, is_gone};
use std::path::PathBuf;

/// How often all values are gone through: writing one may change another, which the
/// order of the journal foresees, and the kernels of others may differ.
const PASSES: u32 = 3;

/// What came of putting back.
#[derive(Debug, Default)]
pub struct PutBack {
    /// What was written.
    pub written: Vec<Written>,
    /// What has nothing to be put back any more, each a sentence: devices that are gone,
    /// or whose number another one has, and values that the kernel chose anew for another
    /// file. Nothing was written there.
    pub gone: Vec<String>,
    /// What is still not as it was, or could not be looked at, why, and what to type; each
    /// a sentence.
    pub failed: Vec<String>,
}

/// A value that was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The device; `None` is the machine.
    pub device: Option<String>,
    /// The setting.
    pub setting: Setting,
    /// What it was before it was put back.
    pub from: String,
    /// What it is again.
    pub to: String,
}

/// A value of a journal beside the one in force.
#[derive(Debug)]
pub struct Present {
    /// The device; `None` is the machine.
    pub device: Option<String>,
    /// The setting.
    pub setting: Setting,
    /// Its value before it was changed.
    pub old: String,
    /// Its value now.
    pub now: Now,
}

/// The value of a setting now.
#[derive(Debug, PartialEq, Eq)]
pub enum Now {
    /// It is in force.
    Value(String),
    /// Its device is not there any more.
    Gone,
    /// It could not be looked at; why, a few words.
    Unknown(String),
}

/// A journal beside what is in force.
#[derive(Debug)]
pub struct Comparison {
    /// What is to be said of devices that are not what they were; each a sentence.
    pub devices: Vec<String>,
    /// The values, in the order in which they are put back.
    pub values: Vec<Present>,
}

impl PutBack {
    /// Whether all is as it was, as far as it is still there. What could not be looked at
    /// is not.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }

    /// Nothing of a journal was tried, for this reason, a few words: all of it is named.
    pub(super) fn not_tried(roots: &Roots, journal: &Journal, why: &str) -> Self {
        let old = journal.old.iter();
        let failed = old.map(|old| {
            let seen = old.device.map(|_| Seen::Unknown(why.to_owned()));
            not_put_back(
                roots,
                journal,
                (old, seen.as_ref()),
                &format!("now unknown: {why}"),
            )
        });
        Self {
            failed: failed.collect(),
            ..Self::default()
        }
    }
}

/// A device of the journal as it stands now.
#[derive(Debug)]
enum Seen {
    /// The device itself.
    Same(DeviceDir),
    /// Its queue, which has another file or medium.
    Refilled(DeviceDir),
    /// There is nothing to be put back.
    Gone,
    /// It could not be looked at; why.
    Unknown(String),
}

impl Seen {
    /// What stands where a device of the journal was, and what is said of it.
    fn of(roots: &Roots, device: &Identity) -> (Self, Option<String>) {
        let Identity {
            name, major, minor, ..
        } = device;
        let nothing = "so nothing was written there.";
        let (seen, what) = match device.standing(roots) {
            Ok(Standing::Same(dir)) => return (Self::Same(dir), None),
            Ok(Standing::Refilled(dir, what)) => (
                Self::Refilled(dir),
                format!(
                    "its queue has another file or medium now ({what}), and what was set lives on."
                ),
            ),
            Ok(Standing::Gone(_)) => (Self::Gone, format!("is gone, {nothing}")),
            Ok(Standing::Another(what)) => (
                Self::Gone,
                format!("is another device now ({what}), {nothing}"),
            ),
            Err(why) => return (Self::Unknown(format!("cannot be looked at: {why}")), None),
        };
        let colon = if matches!(seen, Self::Refilled(_)) {
            ":"
        } else {
            ""
        };
        (
            seen,
            Some(format!("{name} ({major}:{minor}){colon} {what}")),
        )
    }

    fn dir(&self) -> Option<&DeviceDir> {
        match self {
            Self::Same(dir) | Self::Refilled(dir) => Some(dir),
            Self::Gone | Self::Unknown(_) => None,
        }
    }
}

/// Where an old value stands: on a device, or with `None` on the machine.
fn seen_of<'a>(old: &Old, seen: &'a [Seen]) -> Option<&'a Seen> {
    old.device.and_then(|index| seen.get(index))
}

/// Writes the old values of a journal where they are not in force, backwards, and
/// reads all of them back. What is as it was already is not written.
///
/// On a queue that has another file than it had, only what stands at a value that was set
/// by the process of the journal is written, and what that changed besides: its new user
/// may have set the rest.
pub fn put_back(roots: &Roots, journal: &Journal, steps: &mut Steps) -> PutBack {
    let mut result = PutBack::default();
    let mut seen = Vec::new();
    for device in &journal.devices {
        let (standing, said) = Seen::of(roots, device);
        seen.push(standing);
        result.gone.extend(said);
    }
    let mut refused: Vec<Option<String>> = vec![None; journal.old.len()];
    for _ in 0..PASSES {
        let mut wrote = false;
        for (index, old) in journal.old.iter().enumerate().rev() {
            let at = seen_of(old, &seen);
            let dir = at.and_then(Seen::dir);
            if at.is_some() && dir.is_none() {
                continue;
            }
            let ours = |now: &str| {
                !matches!(at, Some(Seen::Refilled(_)))
                    || journal.has_set(old, now)
                    || result.has_taken_along(journal, old)
            };
            match put_one_back(roots, dir, old, ours, steps) {
                Ok(None) => refused[index] = None,
                Ok(Some(from)) => {
                    wrote = true;
                    refused[index] = None;
                    result.written.push(Written {
                        device: journal.device_of(old).map(|device| device.name.clone()),
                        setting: old.setting.clone(),
                        from,
                        to: old.value.clone(),
                    });
                }
                Err(why) => refused[index] = Some(why),
            }
        }
        if !wrote {
            break;
        }
    }
    for (old, refused) in journal.old.iter().zip(refused) {
        result.check(roots, journal, (old, seen_of(old, &seen)), refused);
    }
    result
}

impl PutBack {
    /// Whether the kernel may have changed it with something that was written back.
    fn has_taken_along(&self, journal: &Journal, old: &Old) -> bool {
        let device = journal.device_of(old).map(|device| &device.name);
        let mut written = self.written.iter().filter(|w| w.device.as_ref() == device);
        written.any(|written| {
            let mut taken = written.setting.takes_along().into_iter();
            taken.any(|taken| match taken {
                Some(setting) => setting == old.setting,
                None => old.setting.tunable().is_some(),
            })
        })
    }

    /// Reads a value back, and says what is not as it was.
    fn check(
        &mut self,
        roots: &Roots,
        journal: &Journal,
        (old, seen): (&Old, Option<&Seen>),
        refused: Option<String>,
    ) {
        let dir = seen.and_then(Seen::dir);
        match seen {
            Some(Seen::Gone) => return,
            Some(Seen::Unknown(why)) => {
                let why = format!("now unknown: {} {why}", knob::on(journal.device_of(old)));
                self.failed
                    .push(not_put_back(roots, journal, (old, seen), &why));
                return;
            }
            Some(Seen::Same(_) | Seen::Refilled(_)) | None => {}
        }
        let path = knob::path(roots, dir, &old.setting);
        let now = match knob::read(&path, &old.setting) {
            Ok(now) if Setting::same(&now, &old.value) => return,
            Ok(now) => Ok(now),
            Err(error) => Err(error),
        };
        if let (Some(Seen::Refilled(_)), Ok(now)) = (seen, &now)
            && old.setting.is_chosen_anew()
            && !journal.has_set(old, now)
        {
            self.gone.push(format!(
                "`{}` of {} was {} and is {now}: the kernel chose it anew for the other file.",
                old.setting,
                knob::on(journal.device_of(old)),
                old.value
            ));
            return;
        }
        let now = now.map_or_else(
            |error| format!("cannot be read: {error}"),
            |now| format!("is {now}"),
        );
        let why = refused.map_or(String::new(), |why| format!(" ({why})"));
        let now = format!("{now}{why}");
        self.failed
            .push(not_put_back(roots, journal, (old, seen), &now));
    }
}

/// That a value is not as it was, with the line to type.
fn not_put_back(
    roots: &Roots,
    journal: &Journal,
    (old, seen): (&Old, Option<&Seen>),
    now: &str,
) -> String {
    let on = knob::on(journal.device_of(old));
    // What says that its partner is in force is not taken by the kernel.
    let partner = old
        .setting
        .partner()
        .filter(|_| old.setting.is_off(&old.value));
    let typed = partner
        .and_then(|partner| {
            let mut others = journal.old.iter();
            others.find(|other| other.device == old.device && other.setting == partner)
        })
        .unwrap_or(old);
    let path = path_of(roots, journal, typed, seen);
    format!(
        "`{}` of {on} was {} and {now}; to set it yourself: echo {} > {}",
        old.setting,
        old.value,
        quoted(&typed.value),
        path.display()
    )
}

/// The file of a setting; by its device's number where that could not be looked at.
fn path_of(roots: &Roots, journal: &Journal, old: &Old, seen: Option<&Seen>) -> PathBuf {
    match (seen.and_then(Seen::dir), journal.device_of(old)) {
        (None, Some(Identity { major, minor, .. })) => {
            let numbers = roots.sys.join("dev/block");
            let queue = numbers.join(format!("{major}:{minor}/queue"));
            queue.join(old.setting.name())
        }
        (dir, _) => knob::path(roots, dir, &old.setting),
    }
}

fn quoted(value: &str) -> String {
    if value.contains(' ') {
        format!("'{value}'")
    } else {
        value.to_owned()
    }
}

/// What it was before, when it had to be written. `ours` says of a value whether it may
/// be written over.
fn put_one_back(
    roots: &Roots,
    dir: Option<&DeviceDir>,
    old: &Old,
    ours: impl Fn(&str) -> bool,
    steps: &mut Steps,
) -> Result<Option<String>, String> {
    let path = knob::path(roots, dir, &old.setting);
    let now = knob::read(&path, &old.setting).map_err(|error| error.to_string())?;
    // What says that its partner is in force is put back by that one.
    if Setting::same(&now, &old.value) || old.setting.is_off(&old.value) {
        return Ok(None);
    }
    if !ours(&now) {
        return Err("set by somebody else since the device has another file".to_owned());
    }
    steps.reach("putting a setting back");
    knob::write(&path, &old.value).map_err(|error| {
        if is_gone(&error) {
            "it is gone".to_owned()
        } else {
            format!("writing it back: {error}")
        }
    })?;
    Ok(Some(now))
}

/// Each value of a journal beside the one in force; nothing is written.
pub fn present(roots: &Roots, journal: &Journal) -> Comparison {
    let devices = journal.devices.iter();
    let (seen, said): (Vec<_>, Vec<_>) = devices.map(|device| Seen::of(roots, device)).unzip();
    let now = |old: &Old| {
        let at = seen_of(old, &seen);
        match at {
            Some(Seen::Gone) => return Now::Gone,
            Some(Seen::Unknown(why)) => return Now::Unknown(why.clone()),
            Some(Seen::Same(_) | Seen::Refilled(_)) | None => {}
        }
        let path = knob::path(roots, at.and_then(Seen::dir), &old.setting);
        match knob::read(&path, &old.setting) {
            Ok(value) => Now::Value(value),
            Err(error) => Now::Unknown(format!("cannot be read: {error}")),
        }
    };
    let in_order = journal.old.iter().rev();
    let values = in_order.map(|old| Present {
        device: journal.device_of(old).map(|device| device.name.clone()),
        setting: old.setting.clone(),
        old: old.value.clone(),
        now: now(old),
    });
    Comparison {
        values: values.collect(),
        devices: said.into_iter().flatten().collect(),
    }
}

/// An error where a device is not the one that it was.
pub(super) fn insist(roots: &Roots, device: &Identity) -> Result<DeviceDir, SettingsError> {
    let gone = |what: String| SettingsError::Gone {
        name: device.name.clone(),
        major: device.major,
        minor: device.minor,
        what,
    };
    match device.standing(roots) {
        Ok(Standing::Same(dir)) => Ok(dir),
        Ok(Standing::Gone(_)) => Err(gone("was removed".to_owned())),
        Ok(Standing::Refilled(_, what) | Standing::Another(what)) => {
            Err(gone(format!("is another device now ({what})")))
        }
        Err(why) => Err(SettingsError::Unseen {
            name: device.name.clone(),
            major: device.major,
            minor: device.minor,
            why,
        }),
    }
}
