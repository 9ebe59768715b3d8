//! That a device is gone: what only a complete listing can say.

use crate::look;
use crate::roots::Roots;
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
