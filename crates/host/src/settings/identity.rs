//! What identifies a device beyond its number, so that nothing is written to
//! another device that was given the same one.

use super::error::SettingsError;
use crate::absence::Absent;
use crate::error::Error;
use crate::look;
use crate::roots::Roots;
use crate::sysfs::{DeviceDir, is_gone};
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;

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
    /// Number that the kernel gives once to the folder of its queue in sysfs (the inode;
    /// 64 bits since Linux 5.5, `kernfs_id_ino`). A device keeps its queue when it gets
    /// another medium or file, and has a new one when it is removed and made again.
    pub queue: Option<u64>,
    /// Size in sectors of 512 bytes.
    pub sectors: Option<u64>,
    /// Serial number or world wide name.
    pub serial: Option<String>,
    /// File behind a loop device.
    pub backing_file: Option<String>,
}

/// What stands under the number of a device now. A look that failed is none of these.
#[derive(Debug)]
pub(super) enum Standing {
    /// The device itself.
    Same(DeviceDir),
    /// Its queue, with another file or medium behind it; what differs, a few words.
    Refilled(DeviceDir, String),
    /// Something else; what differs, a few words.
    Another(String),
    /// Nothing.
    Gone(Absent),
}

impl Identity {
    /// # Errors
    /// When any of it cannot be read. What a device does not have is no error.
    pub(super) fn of(roots: &Roots, dir: &DeviceDir) -> Result<Self, Error> {
        let mut serial = None;
        for file in ["serial", "wwid", "device/wwid", "device/serial"] {
            if serial.is_none() {
                serial = text(dir, file)?;
            }
        }
        Ok(Self {
            name: dir.name.clone(),
            major: dir.major,
            minor: dir.minor,
            diskseq: number(dir, "diskseq")?,
            queue: queue(roots, dir)?,
            sectors: number(dir, "size")?,
            serial,
            backing_file: text(dir, "loop/backing_file")?,
        })
    }

    /// What stands under its number now.
    ///
    /// A loop device without a file is the same device, whatever it stood on: the
    /// kernel keeps its queue, with the settings that we gave it, and nobody's data
    /// is behind it.
    ///
    /// # Errors
    /// Why that is not known; a few words.
    pub(super) fn standing(&self, roots: &Roots) -> Result<Standing, String> {
        let number = (self.major, self.minor);
        let said = |error: Error| error.to_string();
        look::may_fail().map_err(|error| error.to_string())?;
        let found = DeviceDir::of_number(roots, self.major, self.minor);
        let Some(dir) = found.map_err(said)? else {
            return Absent::prove(roots, number).map(Standing::Gone);
        };
        let now = Self::of(roots, &dir).map_err(said)?;
        let idle_loop =
            self.backing_file.is_some() && now.backing_file.is_none() && dir.name == self.name;
        let what = if idle_loop && now.sectors.unwrap_or(0) == 0 {
            None
        } else {
            self.difference(&now)?
        };
        match (what, self.queue, now.queue) {
            (None, Some(then), Some(now))
                if then != now && (idle_loop || self.diskseq.is_none()) =>
            {
                Ok(Standing::Another(
                    "it was removed and made again".to_owned(),
                ))
            }
            (None, _, _) => Ok(Standing::Same(dir)),
            (Some(what), Some(then), Some(now)) if then == now => Ok(Standing::Refilled(dir, what)),
            (Some(what), Some(_), Some(_)) => Ok(Standing::Another(what)),
            (Some(what), _, _) => Err(format!(
                "{what}, and whether it is another device, or its queue with another file, is \
                 not known"
            )),
        }
    }

    /// What tells another device, or another medium, from this one.
    fn difference(&self, now: &Self) -> Result<Option<String>, String> {
        // The kernel's own word on it; the rest is for kernels that have none.
        match (self.diskseq, now.diskseq) {
            (Some(then), Some(now)) => {
                return Ok((then != now).then(|| format!("its diskseq is {now}, not {then}")));
            }
            (Some(_), None) => return Err("sysfs shows no diskseq of it any more".to_owned()),
            (None, _) => {}
        }
        let say = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        if self.name != now.name {
            return Ok(Some(format!("it is {} now", now.name)));
        }
        if self.backing_file != now.backing_file {
            let (then, now) = (say(&self.backing_file), say(&now.backing_file));
            return Ok(Some(format!("its file is {now}, not {then}")));
        }
        if self.serial != now.serial {
            let (then, now) = (say(&self.serial), say(&now.serial));
            return Ok(Some(format!("its serial number is {now}, not {then}")));
        }
        Ok((self.sectors != now.sectors).then(|| "its size is another".to_owned()))
    }
}

/// An attribute, where the device has it.
fn text(dir: &DeviceDir, attribute: &str) -> Result<Option<String>, Error> {
    /// What drivers answer of which the device has no such thing.
    const EINVAL: i32 = 22;
    const ENXIO: i32 = 6;
    const EOPNOTSUPP: i32 = 95;
    let path = dir.path.join(attribute);
    match look::read(&path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            Ok(Some(text).filter(|text| !text.is_empty()))
        }
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) if matches!(error.raw_os_error(), Some(EINVAL | ENXIO | EOPNOTSUPP)) => Ok(None),
        Err(error) => Err(Error::on_path("reading", &path, error)),
    }
}

fn number(dir: &DeviceDir, attribute: &str) -> Result<Option<u64>, Error> {
    let Some(text) = text(dir, attribute)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        let odd = io::Error::new(
            io::ErrorKind::InvalidData,
            format!("`{text}` is not a number"),
        );
        Error::on_path("reading", &dir.path.join(attribute), odd)
    })
}

/// The number of its queue's folder. Kernels of 32 bits give their numbers again.
fn queue(roots: &Roots, dir: &DeviceDir) -> Result<Option<u64>, Error> {
    let path = dir.path.join("queue");
    let failed = |error| Error::on_path("looking at", &path, error);
    let folder = look::open(&path).map_err(failed)?;
    look::is_sysfs(roots, &folder).map_err(failed)?;
    let number = folder.metadata().map_err(failed)?.ino();
    Ok(cfg!(target_pointer_width = "64").then_some(number))
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
            queue: Some(70),
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
        assert_eq!(disk().difference(&renamed), Ok(None));
        let other = Identity {
            diskseq: Some(8),
            ..disk()
        };
        let said = disk().difference(&other);
        assert_eq!(said, Ok(Some("its diskseq is 8, not 7".to_owned())));
        let hidden = Identity {
            diskseq: None,
            ..disk()
        };
        assert!(disk().difference(&hidden).is_err(), "it is not shown");
    }

    #[test]
    fn without_that_number_all_that_is_known_has_to_agree() {
        let old = Identity {
            diskseq: None,
            ..disk()
        };
        assert_eq!(old.difference(&old.clone()), Ok(None));
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
            assert!(matches!(old.difference(&other), Ok(Some(_))), "{other:?}");
        }
    }
}
