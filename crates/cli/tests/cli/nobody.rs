//! The program as another user runs it: one who owns nothing and may do what anybody may.

use crate::support::copy_program;
use diskfacts_testkit::{Missing, Program, Scratch, require_root, require_tool};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

pub(crate) const NOBODY: u32 = 65534;

/// A folder that others may enter too, with a folder of `nobody` in it and a
/// copy of the program, which may lie where only its owner may go.
pub(crate) struct ForNobody {
    pub(crate) scratch: Scratch,
    setpriv: PathBuf,
}

impl ForNobody {
    pub(crate) fn new() -> Result<Self, Missing> {
        require_root()?;
        let setpriv = require_tool("setpriv", "util-linux")?;
        let scratch = Scratch::new()?;
        let open = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o755));
        open(scratch.path()).expect("rights for others");
        let program = scratch.join("diskfacts");
        copy_program(&program);
        open(&program).expect("rights for others");
        let own = scratch.join("own");
        fs::create_dir(&own).expect("a folder");
        chown(&own, Some(NOBODY), Some(NOBODY)).expect("another owner");
        Ok(Self { scratch, setpriv })
    }

    /// `diskfacts` as nobody, with a store of its own.
    pub(crate) fn diskfacts(&self, arguments: &[&str]) -> Program {
        self.with_store(&self.scratch.join("own/runs.db"), arguments)
    }

    /// `diskfacts` as nobody, with this store.
    pub(crate) fn with_store<A: AsRef<OsStr>>(
        &self,
        store: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Program {
        let id = NOBODY.to_string();
        Program::new(&self.setpriv)
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(self.scratch.join("diskfacts"))
            .args(arguments)
            .arg("--store")
            .arg(store)
            .current_dir("/")
    }
}
