//! What the stages of a plan ask for, on which device, and what else the kernel may
//! change with it.

use super::accept;
use super::error::SettingsError;
use super::identity::dir_of;
use super::journal::Old;
use super::knob::{self, tunables};
use super::lock::Object;
use super::place::{Place, place};
use super::setting::Setting;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use diskfacts_record::Stack;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What a stage asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What lies under what it measures.
    pub stack: &'a Stack,
    /// Values by the names of their settings, as they are written.
    pub settings: &'a BTreeMap<String, String>,
}

/// A setting of a device, by its place in a list, or of the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) device: Option<usize>,
    pub(super) setting: Setting,
}

/// Values by what they are of, in the order in which they are written.
pub(super) type Values = BTreeMap<Key, String>;

/// All that the stages ask for.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// Name and number of the devices.
    pub(super) devices: Vec<(String, (u32, u32))>,
    /// What each stage asks for.
    pub(super) stages: Vec<Values>,
    /// What is said besides of a stage's `read_ahead_kb`.
    pub(super) remarks: Vec<Option<String>>,
}

impl Wishes {
    /// Finds the device of each setting.
    pub(super) fn of(roots: &Roots, stages: &[Wanted<'_>]) -> Result<Self, SettingsError> {
        let mut wishes = Self::default();
        for stage in stages {
            let mut values = Values::new();
            for (name, value) in stage.settings {
                let setting = Setting::parse(name).ok_or_else(|| unknown(name, value))?;
                let devices = match place(roots, stage.stack, &setting)? {
                    Place::Machine => vec![None],
                    Place::Devices(dirs) => {
                        let index = |dir| Some(wishes.index(dir));
                        dirs.iter().map(index).collect()
                    }
                };
                for device in devices {
                    let setting = setting.clone();
                    values.insert(Key { device, setting }, value.clone());
                }
            }
            wishes.stages.push(values);
            wishes.remarks.push(remark(stage.stack));
        }
        Ok(wishes)
    }

    fn index(&mut self, dir: &DeviceDir) -> usize {
        let device = (dir.name.clone(), (dir.major, dir.minor));
        let known = self.devices.iter().position(|known| *known == device);
        known.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        })
    }

    /// Every value that any stage asks for, once.
    pub(super) fn asked(&self) -> Vec<Old> {
        let mut asked: Vec<Old> = Vec::new();
        for (key, value) in self.stages.iter().flatten() {
            let of = Old {
                device: key.device,
                setting: key.setting.clone(),
                value: value.clone(),
            };
            // What no journal could have is the kernel's to refuse.
            if key.setting.takes(value) && !asked.contains(&of) {
                asked.push(of);
            }
        }
        asked
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stages.iter().all(BTreeMap::is_empty)
    }

    /// What only one may change at a time.
    pub(super) fn objects(&self) -> Vec<Object> {
        let asked = self.stages.iter().flat_map(BTreeMap::keys);
        let of_machine = asked.clone().any(|key| key.device.is_none());
        let machine = of_machine.then_some(Object::Machine);
        let devices = self.devices.iter();
        let devices = devices.map(|(name, (major, minor))| Object::device(name, *major, *minor));
        let mut objects: Vec<Object> = machine.into_iter().chain(devices).collect();
        // Everybody takes them in the same order.
        objects.sort();
        objects
    }

    /// The folders of the devices, in their order.
    pub(super) fn dirs(&self, roots: &Roots) -> Result<Vec<DeviceDir>, SettingsError> {
        let devices = self.devices.iter();
        devices
            .map(|(name, number)| dir_of(roots, name, *number))
            .collect()
    }

    /// Refuses what the kernel or this user's rights surely do not allow.
    pub(super) fn check(&self, roots: &Roots, dirs: &[DeviceDir]) -> Result<(), SettingsError> {
        for stage in &self.stages {
            for (key, value) in stage {
                let dir = key.device.and_then(|device| dirs.get(device));
                let in_use = match (dir, scheduler_of(stage, key.device)) {
                    (Some(dir), Some(asked)) => current_scheduler(roots, dir)? == *asked,
                    _ => true,
                };
                accept::check(roots, dir, &key.setting, value, in_use)?;
            }
        }
        Ok(())
    }

    /// The values in force of all that is asked for, and of what the kernel may change
    /// with it.
    pub(super) fn originals(
        &self,
        roots: &Roots,
        dirs: &[DeviceDir],
    ) -> Result<Values, SettingsError> {
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for key in self.stages.iter().flat_map(BTreeMap::keys) {
            for taken in key.setting.takes_along() {
                let device = key.device;
                match (taken, device.and_then(|device| dirs.get(device))) {
                    (Some(setting), _) => drop(keys.insert(Key { device, setting })),
                    (None, Some(dir)) => keys.extend(
                        tunables(dir)
                            .into_iter()
                            .map(|setting| Key { device, setting }),
                    ),
                    (None, None) => {}
                }
            }
            keys.insert(key.clone());
        }
        let mut values = Values::new();
        for key in keys {
            let dir = key.device.and_then(|device| dirs.get(device));
            let path = knob::path(roots, dir, &key.setting);
            let value = knob::read(&path, &key.setting).and_then(|value| {
                if key.setting.takes(&value) {
                    return Ok(value);
                }
                let odd = format!("`{value}` is no value of it that could be put back");
                Err(io::Error::new(io::ErrorKind::InvalidData, odd))
            });
            match value {
                Ok(value) => drop(values.insert(key, value)),
                // Not every kernel has what another one would change with it, and
                // the tunables of a scheduler that is not in use are not there.
                Err(error) if is_missing(&error) => {}
                Err(source) => {
                    let on = dir.map_or(knob::MACHINE, |dir| &dir.name);
                    let place = (&key.setting, on, path.as_path());
                    return Err(SettingsError::failed(
                        "reading",
                        place,
                        source,
                        String::new(),
                    ));
                }
            }
        }
        Ok(values)
    }
}

/// Not there, or refused by a driver that has no such thing (`EINVAL`,
/// `EOPNOTSUPP`).
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotFound, Unsupported};
    matches!(error.kind(), NotFound | InvalidInput | Unsupported)
}

/// The scheduler that a stage asks for on a device.
pub(super) fn scheduler_of(stage: &Values, device: Option<usize>) -> Option<&String> {
    let setting = Setting::parse("scheduler")?;
    stage.get(&Key { device, setting })
}

fn current_scheduler(roots: &Roots, dir: &DeviceDir) -> Result<String, SettingsError> {
    let Some(setting) = Setting::parse("scheduler") else {
        return Ok(String::new());
    };
    let path = knob::path(roots, Some(dir), &setting);
    knob::read(&path, &setting).map_err(|source| {
        let place = (&setting, dir.name.as_str(), path.as_path());
        SettingsError::failed("reading", place, source, String::new())
    })
}

fn unknown(name: &str, value: &str) -> SettingsError {
    let names: Vec<&str> = Setting::names().collect();
    SettingsError::Unknown {
        name: name.to_owned(),
        value: value.to_owned(),
        known: names.join(", "),
    }
}

/// Filesystems that read ahead by a setting of their own.
fn remark(stack: &Stack) -> Option<String> {
    let kind = stack
        .filesystem
        .as_ref()
        .map(|filesystem| &filesystem.kind)?;
    (kind == "btrfs").then(|| {
        "files on btrfs are read ahead by its own /sys/class/bdi/btrfs-*/read_ahead_kb, which is not \
         changed"
            .to_owned()
    })
}
