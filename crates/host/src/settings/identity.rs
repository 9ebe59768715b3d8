//! What identifies a device beyond its number, so that nothing is written to
//! another device that was given the same one.

use super::error::SettingsError;
use crate::error::Error;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use std::fmt;

/// A device, as it was when its settings were read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Name in the kernel, `sda`.
    pub name: String,
    /// Major device number.
    pub major: u32,
    /// Minor device number.
    pub minor: u32,
    /// Number that the kernel gives to each disk and each medium once
    /// (`diskseq`, since Linux 5.15).
    pub diskseq: Option<u64>,
    /// Size in sectors of 512 bytes.
    pub sectors: Option<u64>,
    /// Serial number or world wide name.
    pub serial: Option<String>,
    /// File behind a loop device.
    pub backing_file: Option<String>,
}

/// What stands under the number of a device now.
#[derive(Debug)]
pub(super) enum Standing {
    /// The device itself.
    Same(DeviceDir),
    /// Nothing.
    Gone,
    /// Something else; what differs, a few words.
    Another(String),
}

impl Identity {
    pub(super) fn of(dir: &DeviceDir) -> Self {
        Self {
            name: dir.name.clone(),
            major: dir.major,
            minor: dir.minor,
            diskseq: dir.number("diskseq").ok(),
            sectors: dir.number("size").ok(),
            serial: ["serial", "wwid", "device/wwid", "device/serial"]
                .iter()
                .find_map(|file| dir.optional_text(file)),
            backing_file: dir.optional_text("loop/backing_file"),
        }
    }

    /// What stands under its number now.
    ///
    /// A loop device without a file is the same device, whatever it stood on: the
    /// kernel keeps its queue, with the settings that we gave it, and nobody's data
    /// is behind it.
    pub(super) fn standing(&self, roots: &Roots) -> Result<Standing, SettingsError> {
        let found = DeviceDir::of_number(roots, self.major, self.minor);
        let Some(dir) = found.map_err(SettingsError::from)? else {
            return Ok(Standing::Gone);
        };
        let now = Self::of(&dir);
        let idle_loop =
            self.backing_file.is_some() && now.backing_file.is_none() && dir.name == self.name;
        if idle_loop && now.sectors.unwrap_or(0) == 0 {
            return Ok(Standing::Same(dir));
        }
        Ok(match self.difference(&now) {
            None => Standing::Same(dir),
            Some(what) => Standing::Another(what),
        })
    }

    /// What tells another device from this one.
    fn difference(&self, now: &Self) -> Option<String> {
        // The kernel's own word on it; the rest is for kernels that have none.
        if let (Some(then), Some(now)) = (self.diskseq, now.diskseq) {
            return (then != now).then(|| format!("its diskseq is {now}, not {then}"));
        }
        let say = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        if self.name != now.name {
            return Some(format!("it is {} now", now.name));
        }
        if self.backing_file != now.backing_file {
            let (then, now) = (say(&self.backing_file), say(&now.backing_file));
            return Some(format!("its file is {now}, not {then}"));
        }
        if self.serial != now.serial {
            let (then, now) = (say(&self.serial), say(&now.serial));
            return Some(format!("its serial number is {now}, not {then}"));
        }
        (self.sectors != now.sectors).then(|| "its size is another".to_owned())
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The folder of a device by its number; an error where it is gone.
pub(super) fn dir_of(
    roots: &Roots,
    name: &str,
    (major, minor): (u32, u32),
) -> Result<DeviceDir, SettingsError> {
    let found = DeviceDir::of_number(roots, major, minor)?;
    found.ok_or_else(|| {
        SettingsError::from(Error::NotInSysfs {
            path: roots.node(name),
            major,
            minor,
            sys: roots.sys.clone(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> Identity {
        Identity {
            name: "sdb".to_owned(),
            major: 8,
            minor: 16,
            diskseq: Some(7),
            sectors: Some(2048),
            serial: Some("A1".to_owned()),
            backing_file: None,
        }
    }

    #[test]
    fn the_number_that_the_kernel_gives_once_decides() {
        let renamed = Identity {
            serial: None,
            ..disk()
        };
        assert_eq!(disk().difference(&renamed), None);
        let other = Identity {
            diskseq: Some(8),
            ..disk()
        };
        let said = disk().difference(&other).expect("another device");
        assert_eq!(said, "its diskseq is 8, not 7");
    }

    #[test]
    fn without_that_number_all_that_is_known_has_to_agree() {
        let old = Identity {
            diskseq: None,
            ..disk()
        };
        assert_eq!(old.difference(&old.clone()), None);
        let others = [
            Identity {
                name: "sdc".to_owned(),
                ..old.clone()
            },
            Identity {
                serial: Some("B2".to_owned()),
                ..old.clone()
            },
            Identity {
                sectors: Some(4096),
                ..old.clone()
            },
            Identity {
                backing_file: Some("/x".to_owned()),
                ..old.clone()
            },
        ];
        for other in others {
            assert!(old.difference(&other).is_some(), "{other:?}");
        }
    }
}
