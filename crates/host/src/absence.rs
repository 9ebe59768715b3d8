//! That a device is gone: what only a complete listing can say, or the place in sysfs
//! that it would be at.

use crate::look;
use crate::roots::Roots;
use std::io;
use std::path::Path;

/// The proof that no device has a number: a listing of all that the kernel has, without
/// it. There is no other way to have one, so that a look that failed is not taken for it.
#[derive(Debug)]
pub(crate) struct Absent(());

impl Absent {
    /// The proof for this number.
    ///
    /// # Errors
    /// Why there is none; a few words.
    pub(crate) fn prove(roots: &Roots, (major, minor): (u32, u32)) -> Result<Self, String> {
        let path = roots.sys.join("dev/block");
        let failed = |error| format!("{}: {error}", Path::display(&path));
        let folder = look::open(&path).map_err(failed)?;
        look::is_sysfs(roots, &folder).map_err(failed)?;
        look::is_in_place(roots, &folder).map_err(failed)?;
        let names = look::names(&folder).map_err(failed)?;
        if names.contains(&format!("{major}:{minor}")) {
            return Err(format!(
                "it is listed in {}, and its folder is not there: a part of sysfs is hidden, or \
                 the device is just being removed",
                path.display()
            ));
        }
        Ok(Self(()))
    }
}

/// That what an entry of `class/block` leads to is gone, or has not come yet, and is not
/// hidden: the last folder on the way to the number of the device is of sysfs itself, and
/// nothing is mounted over it.
///
/// # Errors
/// Why that is not so; a few words.
pub(crate) fn is_gone(roots: &Roots, entry: &Path) -> Result<(), String> {
    // A folder in place of a link leads to itself.
    let target = match (std::fs::read_link(entry), entry.parent()) {
        (Ok(target), Some(folder)) => folder.join(target),
        _ => entry.to_owned(),
    };
    let number = target.join("dev");
    for path in number.ancestors() {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let found = match look::open(path) {
            Ok(found) => found,
            Err(error) if crate::sysfs::is_gone(&error) => continue,
            Err(error) => return Err(failed(error)),
        };
        look::is_sysfs(roots, &found).map_err(failed)?;
        look::is_in_place(roots, &found).map_err(failed)?;
        return if path == number {
            Err(format!("{} has no number", path.display()))
        } else {
            Ok(())
        };
    }
    Err(format!("{} leads nowhere", entry.display()))
}
