//! Block devices as sysfs shows them.
//!
//! Source: kernel, `Documentation/ABI/stable/sysfs-block`.

use crate::error::Error;
use crate::parse::sysfs_value::parse_device_number;
use crate::roots::Roots;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of one block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceDir {
    /// The folder, without symbolic links, so that a partition stands in the
    /// folder of its disk.
    pub(crate) path: PathBuf,
    /// Name in the kernel, `sda1` or `cciss/c0d0`.
    pub(crate) name: String,
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceDir {
    /// The device of this number; `None` when sysfs has none.
    pub(crate) fn of_number(roots: &Roots, major: u32, minor: u32) -> Result<Option<Self>, Error> {
        Self::open(&roots.sys.join(format!("dev/block/{major}:{minor}")))
    }

    /// The device of this kernel name; `None` when sysfs has none.
    pub(crate) fn of_name(roots: &Roots, name: &str) -> Result<Option<Self>, Error> {
        // A name must not lead out of the folder.
        if name.is_empty() || name.starts_with('.') {
            return Ok(None);
        }
        Self::open(&roots.sys.join("class/block").join(dir_name(name)))
    }

    /// The device at `path`, a folder or a symbolic link to one.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, Error> {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::on_path("resolving", path, error)),
        };
        let number_path = real.join("dev");
        let number = match fs::read_to_string(&number_path) {
            Ok(text) => parse_device_number(&text),
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) => return Err(Error::on_path("reading", &number_path, error)),
        };
        let name = real
            .file_name()
            .map(|name| kernel_name(&name.to_string_lossy()));
        Ok(match (number, name) {
            (Some((major, minor)), Some(name)) => Some(Self {
                path: real,
                name,
                major,
                minor,
            }),
            _ => None,
        })
    }

    /// An attribute without the blanks around it.
    pub(crate) fn text(&self, attribute: &str) -> io::Result<String> {
        let bytes = fs::read(self.path.join(attribute))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// An attribute that is a number.
    pub(crate) fn number(&self, attribute: &str) -> io::Result<u64> {
        let text = self.text(attribute)?;
        text.parse().map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("`{text}` is not a number"),
            )
        })
    }

    /// An attribute that many devices lack: absent, unreadable and empty are
    /// all `None`.
    pub(crate) fn optional_text(&self, attribute: &str) -> Option<String> {
        self.text(attribute).ok().filter(|text| !text.is_empty())
    }

    /// An attribute as its bytes.
    pub(crate) fn optional_bytes(&self, attribute: &str) -> Option<Vec<u8>> {
        fs::read(self.path.join(attribute)).ok()
    }

    /// Whether the device has this attribute or folder.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.path.join(attribute).exists()
    }

    /// Names of what a folder holds, in their order; none where it cannot be read.
    pub(crate) fn entries(&self, folder: &str) -> Vec<String> {
        sorted_entries(&self.path.join(folder))
            .unwrap_or_default()
            .iter()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect()
    }

    /// The devices that a folder of links (`slaves`, `holders`) names, in the
    /// order of their names; with none behind a name whose link leads nowhere.
    pub(crate) fn linked(&self, folder: &str) -> Result<Vec<(String, Option<Self>)>, Error> {
        sorted_entries(&self.path.join(folder))?
            .into_iter()
            .map(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Ok((kernel_name(&name), Self::open(&path)?))
            })
            .collect()
    }

    /// The partitions that the kernel knows on it, in the order of their start.
    pub(crate) fn partitions(&self) -> Result<Vec<Self>, Error> {
        let mut partitions = Vec::new();
        for path in sorted_entries(&self.path)? {
            if path.join("partition").exists() {
                partitions.extend(Self::open(&path)?);
            }
        }
        partitions.sort_by_key(|partition| partition.number("start").unwrap_or(u64::MAX));
        Ok(partitions)
    }

    /// The disk that a partition is a part of.
    pub(crate) fn whole_disk(&self) -> Result<Option<Self>, Error> {
        if !self.has("partition") {
            return Ok(None);
        }
        match self.path.parent() {
            Some(parent) => Self::open(parent),
            None => Ok(None),
        }
    }
}

/// Whether a device went away between two steps: its folder, or only what
/// stands behind an attribute that was opened before.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    const ENODEV: i32 = 19;
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    ) || error.raw_os_error() == Some(ENODEV)
}

/// The block devices of the machine, partitions too, in the order of their names.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    /// Those that sysfs shows.
    pub(crate) seen: Vec<DeviceDir>,
    /// What it lists and does not show: each may be anything.
    pub(crate) hidden: Vec<Hidden>,
}

/// A device that is listed and cannot be looked at, or the list, if others may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// Its name in the kernel; of the list, its path.
    pub(crate) name: String,
    /// Why, as the end of a sentence that names it.
    pub(crate) why: String,
}

/// What to do about something hidden.
pub(crate) const HOW_TO_SEE: &str = "`grep ' /sys/' /proc/self/mountinfo` shows what is mounted \
                                     over parts of sysfs: unmount it, or run outside the container";

/// Every block device of the machine.
pub(crate) fn every_device(roots: &Roots) -> Result<Devices, Error> {
    let folder = roots.sys.join("class/block");
    if !folder.exists() {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        return Err(Error::System {
            doing: "listing",
            on: folder.display().to_string(),
            hint: "sysfs is not mounted here: `mount -t sysfs sysfs /sys`, or run outside \
                   the container"
                .to_owned(),
            source: missing,
        });
    }
    let mut devices = Devices::default();
    if let Err(why) = is_complete(roots, &folder) {
        devices.hidden.push(Hidden {
            name: folder.display().to_string(),
            why: format!("does not list every block device: {why}"),
        });
    }
    for path in sorted_entries(&folder)? {
        let why = match DeviceDir::open(&path) {
            Ok(Some(device)) => {
                devices.seen.push(device);
                continue;
            }
            Ok(None) => match is_absent(roots, &path) {
                Ok(()) => continue,
                Err(why) => why,
            },
            Err(error) => error.to_string(),
        };
        // It may have come meanwhile.
        if let Ok(Some(device)) = DeviceDir::open(&path) {
            devices.seen.push(device);
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        devices.hidden.push(Hidden {
            name: kernel_name(&name),
            why: format!(
                "is listed in {}, and what it is cannot be seen: {why}",
                folder.display()
            ),
        });
    }
    Ok(devices)
}

#[cfg(target_os = "linux")]
fn is_complete(roots: &Roots, folder: &Path) -> Result<(), String> {
    use crate::look;
    look::open(folder)
        .and_then(|folder| {
            look::is_sysfs(roots, &folder)?;
            look::is_in_place(roots, &folder)
        })
        .map_err(|error| error.to_string())
}

#[cfg(target_os = "linux")]
fn is_absent(roots: &Roots, entry: &Path) -> Result<(), String> {
    crate::absence::is_gone(roots, entry)
}

#[cfg(not(target_os = "linux"))]
fn is_complete(_: &Roots, _: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn is_absent(_: &Roots, _: &Path) -> Result<(), String> {
    Ok(())
}

/// The entries of a folder, sorted so that numbers in names count as numbers
/// (`sda2` before `sda10`); a folder that does not exist has none.
pub(crate) fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(Error::on_path("listing", folder, error)),
    };
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(|error| Error::on_path("listing", folder, error))?;
    paths.sort_by_cached_key(|path| {
        natural_key(&path.file_name().unwrap_or_default().to_string_lossy())
    });
    Ok(paths)
}

/// A name as runs of text and of digits, for sorting.
fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key: Vec<(String, u64)> = Vec::new();
    let mut text = String::new();
    let mut digits = String::new();
    for character in name.chars() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            if !digits.is_empty() {
                key.push((
                    std::mem::take(&mut text),
                    digits.parse().unwrap_or(u64::MAX),
                ));
                digits.clear();
            }
            text.push(character);
        }
    }
    key.push((text, digits.parse().unwrap_or(0)));
    key
}

/// sysfs writes a slash in a name as `!`: `cciss!c0d0` is `cciss/c0d0`.
fn kernel_name(dir_name: &str) -> String {
    dir_name.replace('!', "/")
}

/// The other way round.
fn dir_name(kernel_name: &str) -> String {
    kernel_name.replace('/', "!")
}
