//! Volumes as clouds give them: so many operations or bytes a second, and credit for more.

use crate::{LoopDevice, LoopOptions, Missing, Scratch, require_tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk behind the throttle of QEMU (`docs/throttle.txt` there), which is a leaky bucket, as
/// a loop device: a file that the storage daemon exports by FUSE lies under it.
#[derive(Debug)]
pub struct ThrottledVolume {
    /// Gone before the daemon is.
    device: Option<LoopDevice>,
    pid_file: PathBuf,
    _scratch: Scratch,
}

impl ThrottledVolume {
    /// With these properties of the throttle group, each behind a comma
    /// (`,limits.iops-total=500`), over an image that `fill` writes.
    ///
    /// # Errors
    /// What is missing: root, qemu-storage-daemon, FUSE, or loop devices.
    ///
    /// # Panics
    /// When its files cannot be written.
    pub fn new(limits: &str, fill: impl FnOnce(&Path)) -> Result<Self, Missing> {
        let daemon = require_tool("qemu-storage-daemon", "qemu-system-x86")?;
        let scratch = Scratch::new()?;
        let (image, export) = (scratch.join("image"), scratch.join("export"));
        let pid_file = scratch.join("pid");
        fill(&image);
        fs::write(&export, "").expect("a file to mount over");
        let exported = Command::new(daemon)
            .arg("--daemonize")
            .arg("--pidfile")
            .arg(&pid_file)
            .arg("--object")
            .arg(format!("throttle-group,id=limits{limits}"))
            .arg("--blockdev")
            .arg(format!("file,filename={},node-name=image", image.display()))
            .args([
                "--blockdev",
                "throttle,file=image,throttle-group=limits,node-name=volume",
            ])
            .arg("--export")
            .arg(format!(
                "fuse,id=export,node-name=volume,writable=on,mountpoint={}",
                export.display()
            ))
            .output()
            .map_err(|error| Missing::new("qemu-storage-daemon", error))?;
        if !exported.status.success() {
            let said = String::from_utf8_lossy(&exported.stderr).trim().to_owned();
            return Err(Missing::new("a FUSE export of qemu-storage-daemon", said));
        }
        let mut volume = Self {
            device: None,
            pid_file,
            _scratch: scratch,
        };
        let options = LoopOptions {
            direct_io: true,
            ..LoopOptions::default()
        };
        volume.device = Some(LoopDevice::over_file_with(&export, options)?);
        Ok(volume)
    }

    /// The device, with its path and names.
    ///
    /// # Panics
    /// Never: it is there until this is dropped.
    pub fn device(&self) -> &LoopDevice {
        self.device.as_ref().expect("until it is dropped")
    }
}

impl Drop for ThrottledVolume {
    fn drop(&mut self) {
        self.device = None;
        let pid = fs::read_to_string(&self.pid_file).expect("it is there once it exports");
        let ended = Command::new("kill").arg(pid.trim()).status();
        assert!(ended.is_ok_and(|status| status.success()), "{pid} is left");
    }
}
