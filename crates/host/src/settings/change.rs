//! The guard: journals, changes, and puts back.

use super::accept::{hint, no_tunable, not_applied, not_written};
use super::error::SettingsError;
use super::identity::Identity;
use super::journal::{Journal, Old, OpenJournal, Owner, StateFolder};
use super::knob::{self, tunables};
use super::lock::{Locks, Object};
use super::restore::{PutBack, insist, put_back};
use super::setting::Setting;
use super::steps::Steps;
use super::watchdog::Watchdog;
use super::wish::{Key, Values, Wanted, Wishes, scheduler_of};
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, is_gone};
use diskfacts_record::evidence::SettingInForce;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How often the values of a stage are gone through: writing one may change another.
const PASSES: u32 = 3;

/// How changes are made.
#[derive(Debug)]
pub struct Making<'a> {
    /// Where the kernel shows itself.
    pub roots: &'a Roots,
    /// Where the journal is kept; the first of the folders in which other processes'
    /// journals are looked for.
    pub folders: &'a [StateFolder],
    /// This program, to be started as the watchdog.
    pub executable: &'a Path,
    /// Control groups that the watchdog moves to, where this process is in some of
    /// its own that have to be removed.
    pub groups: Vec<PathBuf>,
    /// What this process does, for people.
    pub command: String,
    /// Now, RFC 3339.
    pub now: String,
    /// Who is told of the steps.
    pub steps: Steps,
}

/// Settings that are changed as long as this lives: put back when it is dropped.
///
/// A drop cannot say what could not be put back: then the journal stays, the watchdog
/// tries once more, and the next start says it. [`finish`](Self::finish) says it at
/// once.
#[derive(Debug)]
pub struct Changes {
    roots: Roots,
    wishes: Wishes,
    original: Values,
    /// What the kernel gives to the settings that follow a scheduler, by device and
    /// scheduler.
    defaults: BTreeMap<(usize, String), BTreeMap<Setting, String>>,
    journal: Journal,
    /// `None` when all is put back.
    kept: Option<OpenJournal>,
    /// Whether the journal is whole, so that something may have been changed.
    journalled: bool,
    watchdog: Option<Watchdog>,
    locks: Locks,
    steps: Steps,
}

impl Changes {
    /// Checks all that the stages ask for, takes the locks, starts the watchdog,
    /// writes the journal; then sets everything once as each stage wants it, so that
    /// what the kernel refuses is known before anything is measured, and puts it
    /// back. `None` when no stage asks for anything.
    ///
    /// # Errors
    /// When anything of this cannot be; then all is as it was.
    pub fn begin(making: Making<'_>, stages: &[Wanted<'_>]) -> Result<Option<Self>, SettingsError> {
        let roots = making.roots;
        let wishes = Wishes::of(roots, stages)?;
        if wishes.is_empty() {
            return Ok(None);
        }
        // What is refused anyway is refused without waiting for anybody.
        wishes.check(roots, &wishes.dirs(roots)?)?;
        let folder = making.folders.first().ok_or(SettingsError::NoFolder)?;
        let mut steps = making.steps;
        steps.reach("locking the devices");
        let locks = Locks::exclusive(roots, making.folders, &wishes.objects())?;
        // Only now nobody else changes them.
        let dirs = wishes.dirs(roots)?;
        let original = wishes.originals(roots, &dirs)?;
        let owner = Owner::this(roots)?;
        let journal = Journal {
            boot_id: owner.boot_id.clone(),
            process: owner.process,
            start_ticks: owner.start_ticks,
            began: making.now,
            command: making.command,
            devices: dirs
                .iter()
                .map(|dir| Identity::of(roots, dir))
                .collect::<Result<_, _>>()?,
            set: wishes.asked(),
            // The reverse of the order in which they are put back.
            old: original
                .iter()
                .rev()
                .map(|(key, value)| Old {
                    device: key.device,
                    setting: key.setting.clone(),
                    value: value.clone(),
                })
                .collect(),
        };
        let kept = folder.create(&owner, &mut steps)?;
        // From here on dropping it takes back what is done.
        let mut changes = Self {
            roots: roots.clone(),
            wishes,
            original,
            defaults: BTreeMap::new(),
            journal,
            kept: Some(kept),
            journalled: false,
            watchdog: None,
            locks,
            steps,
        };
        changes.watch(making.executable, &making.groups)?;
        if let Some(kept) = &mut changes.kept {
            kept.write(&changes.journal, &mut changes.steps)?;
        }
        changes.journalled = true;
        changes.learn_defaults()?;
        changes.rehearse()?;
        Ok(Some(changes))
    }

    fn watch(&mut self, executable: &Path, groups: &[PathBuf]) -> Result<(), SettingsError> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        self.steps.reach("starting the watchdog");
        let name = kept.path_when_whole();
        let mut inherited = vec![kept.file(), kept.folder()];
        inherited.extend(self.locks.files());
        let watchdog = Watchdog::start(executable, &name, &inherited, groups)?;
        self.steps.watchdog = Some(watchdog.process());
        self.watchdog = Some(watchdog);
        Ok(())
    }

    /// Whether it may change the settings of this.
    pub(super) fn changes(&self, object: &Object) -> bool {
        self.wishes.objects().contains(object)
    }

    /// The devices whose settings it may change, by their names in the kernel.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.journal.devices.iter().map(|d| d.name.as_str())
    }

    /// Sets everything as the stage of this index wants it, and all else as it was;
    /// only what differs is written. Answers what is in force of what it asks for.
    ///
    /// # Errors
    /// When a device is gone, or a value is refused that was taken before.
    pub fn apply(&mut self, stage: usize) -> Result<Vec<SettingInForce>, SettingsError> {
        let asked = self.asked(stage);
        let desired = self.desired(&asked);
        let dirs = self.dirs()?;
        self.set(&dirs, &desired, &asked)?;
        let remark = self.wishes.remarks.get(stage).cloned().flatten();
        let report = |(key, value): (&Key, &String)| {
            let now = self.now(&dirs, key);
            let note = now
                .as_ref()
                .and_then(|now| not_applied(&key.setting, value, now));
            let of_filesystem = remark
                .as_ref()
                .filter(|_| key.setting.is("read_ahead_kb"))
                .cloned();
            SettingInForce {
                device: key
                    .device
                    .map(|index| self.journal.devices[index].name.clone()),
                name: key.setting.name().to_owned(),
                asked: value.clone(),
                before: self.original.get(key).cloned(),
                in_force: now,
                note: note.or(of_filesystem),
            }
        };
        Ok(asked.iter().map(report).collect())
    }

    /// Notes what somebody else has changed since [`apply`](Self::apply) of this
    /// stage answered `in_force`.
    pub fn look_again(&self, stage: usize, in_force: &mut [SettingInForce]) {
        let dirs = match self.dirs() {
            Ok(dirs) => dirs,
            Err(error) => {
                for seen in in_force {
                    seen.note = Some(format!(
                        "what it was when the trial ended is unknown: {error}"
                    ));
                }
                return;
            }
        };
        let asked = self.asked(stage);
        for (key, seen) in asked.keys().zip(in_force) {
            let now = self.now(&dirs, key);
            if now != seen.in_force {
                let now = now.as_deref().unwrap_or("unknown");
                seen.note = Some(format!(
                    "it was {now} when the trial ended: another program changed it meanwhile"
                ));
            }
        }
    }

    /// Puts everything back, and removes the journal when all is as it was.
    ///
    /// # Errors
    /// When the journal could not be removed.
    pub fn finish(mut self) -> Result<PutBack, SettingsError> {
        self.end()
    }

    fn end(&mut self) -> Result<PutBack, SettingsError> {
        let Some(kept) = self.kept.take() else {
            return Ok(PutBack::default());
        };
        let mut back = if self.journalled {
            put_back(&self.roots, &self.journal, &mut self.steps)
        } else {
            PutBack::default()
        };
        if back.is_complete() {
            kept.remove(&mut self.steps)?;
            self.steps.reach("letting the watchdog go");
            if let Some(watchdog) = self.watchdog.take() {
                watchdog.done();
            }
        } else if self.watchdog.take().is_some_and(Watchdog::again) {
            // It has descriptors of its own, where this process may have run out of them.
            back.failed.clear();
        }
        Ok(back)
    }

    fn dirs(&self) -> Result<Vec<DeviceDir>, SettingsError> {
        let devices = self.journal.devices.iter();
        devices.map(|device| insist(&self.roots, device)).collect()
    }

    fn asked(&self, stage: usize) -> Values {
        self.wishes.stages.get(stage).cloned().unwrap_or_default()
    }

    fn now(&self, dirs: &[DeviceDir], key: &Key) -> Option<String> {
        let dir = key.device.and_then(|device| dirs.get(device));
        let path = knob::path(&self.roots, dir, &key.setting);
        knob::read(&path, &key.setting).ok()
    }

    /// The scheduler that a device had.
    fn original_scheduler(&self, device: Option<usize>) -> Option<&String> {
        scheduler_of(&self.original, device)
    }

    /// All values that are to be in force when these are asked for.
    ///
    /// What follows a scheduler is as it was under the scheduler that was in use, and
    /// as the kernel makes it under any other: what one stage asks for must not
    /// outlast it because another one has the same scheduler.
    fn desired(&self, asked: &Values) -> Values {
        let mut desired = Values::new();
        for (key, old) in &self.original {
            let scheduler = scheduler_of(asked, key.device);
            let another = scheduler.is_some() && scheduler != self.original_scheduler(key.device);
            if !(another && key.setting.follows_scheduler()) {
                desired.insert(key.clone(), old.clone());
            }
        }
        for ((index, scheduler), defaults) in &self.defaults {
            let device = Some(*index);
            if scheduler_of(asked, device) == Some(scheduler) {
                for (setting, value) in defaults {
                    let setting = setting.clone();
                    desired.insert(Key { device, setting }, value.clone());
                }
            }
        }
        for (key, value) in asked {
            if let Some(setting) = key.setting.partner() {
                let device = key.device;
                desired.remove(&Key { device, setting });
            }
            desired.insert(key.clone(), value.clone());
        }
        desired
    }

    /// What the kernel gives to `nr_requests`, `wbt_lat_usec` and `iosched/*` under
    /// each scheduler that is asked for, seen while nothing else was changed.
    fn learn_defaults(&mut self) -> Result<(), SettingsError> {
        let Some(setting) = Setting::parse("scheduler") else {
            return Ok(());
        };
        let mut pairs: Vec<(usize, String)> = Vec::new();
        for stage in &self.wishes.stages {
            for (key, value) in stage {
                let Some(device) = key.device.filter(|_| key.setting.is_scheduler()) else {
                    continue;
                };
                let pair = (device, value.clone());
                let original = self.original_scheduler(key.device) == Some(value);
                if !original && !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
        }
        for (index, scheduler) in pairs {
            let dirs = self.dirs()?;
            let device = Some(index);
            let setting = setting.clone();
            let asked = Values::from([(Key { device, setting }, scheduler.clone())]);
            self.set(&dirs, &asked, &asked)?;
            let named = ["nr_requests", "wbt_lat_usec"];
            let named = named.iter().filter_map(|name| Setting::parse(name));
            let settings = named.chain(tunables(&dirs[index]));
            let seen = settings.filter_map(|setting| {
                let key = Key { device, setting };
                let value = self.now(&dirs, &key)?;
                Some((key.setting, value))
            });
            let seen = seen.collect();
            self.defaults.insert((index, scheduler), seen);
        }
        Ok(())
    }

    /// Sets everything once as each stage wants it, and then as it was.
    fn rehearse(&mut self) -> Result<(), SettingsError> {
        let mut done: Vec<Values> = vec![Values::new()];
        for stage in 0..self.wishes.stages.len() {
            let asked = self.asked(stage);
            if !done.contains(&asked) {
                let dirs = self.dirs()?;
                self.set(&dirs, &self.desired(&asked), &asked)?;
                done.push(asked);
            }
        }
        let dirs = self.dirs()?;
        self.set(&dirs, &self.desired(&Values::new()), &Values::new())
    }

    /// Writes what differs. What the kernel makes of a value is left as it is: it is
    /// written again only when something else has changed it.
    fn set(
        &mut self,
        dirs: &[DeviceDir],
        desired: &Values,
        asked: &Values,
    ) -> Result<(), SettingsError> {
        let mut made: BTreeMap<&Key, String> = BTreeMap::new();
        for _ in 0..PASSES {
            let mut wrote = false;
            for (key, value) in desired {
                let is_asked = asked.contains_key(key);
                let dir = key.device.and_then(|device| dirs.get(device));
                let path = knob::path(&self.roots, dir, &key.setting);
                let now = match knob::read(&path, &key.setting) {
                    Ok(now) => now,
                    Err(error) if is_gone(&error) && !is_asked => continue,
                    Err(source) => return Err(self.unread(key, dir, path, source)),
                };
                let off = !is_asked && key.setting.is_off(value);
                if Setting::same(&now, value) || off || made.get(key) == Some(&now) {
                    continue;
                }
                self.steps.reach("changing a setting");
                knob::write(&path, value).map_err(|source| {
                    let on = self.on(key);
                    if source.kind() == std::io::ErrorKind::PermissionDenied {
                        return not_written(&key.setting, on, path.clone(), source);
                    }
                    let hint = hint(dir, &key.setting);
                    let doing = format!("writing {value} to");
                    SettingsError::failed(doing, (&key.setting, &on, &path), source, hint)
                })?;
                wrote = true;
                made.extend(knob::read(&path, &key.setting).ok().map(|now| (key, now)));
            }
            if !wrote {
                break;
            }
        }
        Ok(())
    }

    fn on(&self, key: &Key) -> String {
        knob::on(key.device.and_then(|index| self.journal.devices.get(index)))
    }

    /// Why something that is asked for could not be read.
    fn unread(
        &self,
        key: &Key,
        dir: Option<&DeviceDir>,
        path: PathBuf,
        source: std::io::Error,
    ) -> SettingsError {
        match dir {
            Some(dir) if key.setting.tunable().is_some() && is_gone(&source) => {
                no_tunable(&self.roots, dir, &key.setting)
            }
            _ => not_written(&key.setting, self.on(key), path, source),
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        // See the type: what fails here is told by the next start.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests;
