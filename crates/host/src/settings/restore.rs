//! Putting back what a journal holds.

use super::error::SettingsError;
use super::identity::{Identity, Standing};
use super::journal::{Journal, Old};
use super::knob;
use super::setting::Setting;
use super::steps::Steps;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, is_gone};

/// How often all values are gone through: writing one may change another, which the
/// order of the journal foresees, and the kernels of others may differ.
const PASSES: u32 = 3;

/// What came of putting back.
#[derive(Debug, Default)]
pub struct PutBack {
    /// What was written.
    pub written: Vec<Written>,
    /// Devices that are gone, or whose number another one has: nothing was written
    /// there, and there is nothing to put back. Each a sentence.
    pub gone: Vec<String>,
    /// What is still not as it was, and why; each a sentence.
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
    /// Its value now, or why there is none; a few words.
    pub now: Result<String, String>,
}

impl PutBack {
    /// Whether all is as it was, as far as it is still there.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }
}

/// A device of the journal as it stands now.
fn standings(roots: &Roots, journal: &Journal) -> Vec<Result<DeviceDir, String>> {
    let devices = journal.devices.iter();
    let standing = |device: &Identity| match device.standing(roots) {
        Ok(Standing::Same(dir)) => Ok(dir),
        Ok(Standing::Gone) => Err("is gone".to_owned()),
        Ok(Standing::Another(what)) => Err(format!("is another device now ({what})")),
        Err(error) => Err(format!("cannot be looked at: {error}")),
    };
    devices.map(standing).collect()
}

/// Writes the old values of a journal where they are not in force, backwards, and
/// reads all of them back. What is as it was already is not written.
pub fn put_back(roots: &Roots, journal: &Journal, steps: &mut Steps) -> PutBack {
    let standing = standings(roots, journal);
    let mut result = PutBack::default();
    for (device, standing) in journal.devices.iter().zip(&standing) {
        if let Err(why) = standing {
            let Identity {
                name, major, minor, ..
            } = device;
            result.gone.push(format!(
                "{name} ({major}:{minor}) {why}, so nothing was written there."
            ));
        }
    }
    let mut refused: Vec<Option<String>> = vec![None; journal.old.len()];
    for _ in 0..PASSES {
        let mut wrote = false;
        for (index, old) in journal.old.iter().enumerate().rev() {
            let Ok(dir) = At::of(old, &standing).dir() else {
                continue;
            };
            match put_one_back(roots, dir, old, steps) {
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
        let Ok(dir) = At::of(old, &standing).dir() else {
            continue;
        };
        let on = knob::on(journal.device_of(old));
        let path = knob::path(roots, dir, &old.setting);
        let now = knob::read(&path, &old.setting);
        if now.as_ref().is_ok_and(|now| Setting::same(now, &old.value)) {
            continue;
        }
        let now = now.map_or_else(
            |error| format!("cannot be read: {error}"),
            |now| format!("is {now}"),
        );
        let why = refused.map_or(String::new(), |why| format!(" ({why})"));
        result.failed.push(format!(
            "`{}` of {on} was {} and {now}{why}; to set it yourself: echo {} > {}",
            old.setting,
            old.value,
            quoted(&old.value),
            path.display()
        ));
    }
    result
}

fn quoted(value: &str) -> String {
    if value.contains(' ') {
        format!("'{value}'")
    } else {
        value.to_owned()
    }
}

/// Where a value stands now.
enum At<'a> {
    Machine,
    Device(&'a DeviceDir),
    /// Its device is not there any more.
    Nowhere(&'a str),
}

impl<'a> At<'a> {
    fn of(old: &Old, standing: &'a [Result<DeviceDir, String>]) -> Self {
        let Some(index) = old.device else {
            return Self::Machine;
        };
        match standing.get(index) {
            Some(Ok(dir)) => Self::Device(dir),
            Some(Err(why)) => Self::Nowhere(why),
            None => Self::Nowhere("is not named"),
        }
    }

    /// Its folder, if it is a device, where it is anywhere.
    fn dir(&self) -> Result<Option<&'a DeviceDir>, &'a str> {
        match self {
            Self::Machine => Ok(None),
            Self::Device(dir) => Ok(Some(dir)),
            Self::Nowhere(why) => Err(why),
        }
    }
}

/// What it was before, when it had to be written.
fn put_one_back(
    roots: &Roots,
    dir: Option<&DeviceDir>,
    old: &Old,
    steps: &mut Steps,
) -> Result<Option<String>, String> {
    let path = knob::path(roots, dir, &old.setting);
    let now = knob::read(&path, &old.setting).map_err(|error| error.to_string())?;
    // What says that its partner is in force is put back by that one.
    if Setting::same(&now, &old.value) || old.setting.is_off(&old.value) {
        return Ok(None);
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
pub fn present(roots: &Roots, journal: &Journal) -> Vec<Present> {
    let standing = standings(roots, journal);
    let now = |old: &Old| {
        let dir = At::of(old, &standing).dir().map_err(str::to_owned)?;
        let path = knob::path(roots, dir, &old.setting);
        knob::read(&path, &old.setting).map_err(|error| error.to_string())
    };
    let in_order = journal.old.iter().rev();
    in_order
        .map(|old| Present {
            device: journal.device_of(old).map(|device| device.name.clone()),
            setting: old.setting.clone(),
            old: old.value.clone(),
            now: now(old),
        })
        .collect()
}

/// An error where a device is not the one that it was.
pub(super) fn insist(roots: &Roots, device: &Identity) -> Result<DeviceDir, SettingsError> {
    let gone = |what: String| SettingsError::Gone {
        name: device.name.clone(),
        major: device.major,
        minor: device.minor,
        what,
    };
    match device.standing(roots)? {
        Standing::Same(dir) => Ok(dir),
        Standing::Gone => Err(gone("was removed".to_owned())),
        Standing::Another(what) => Err(gone(format!("is another device now ({what})"))),
    }
}
