//! Volumes as clouds give them: so many operations or bytes a second, and credit for more.

use crate::alone::alone;
use crate::beside::{Counter, counted};
use crate::case::MIB;
use crate::said::of;
use diskfacts_testkit::{LoopDevice, LoopOptions, Missing, Scratch, or_skip, require_tool};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A disk behind the throttle of QEMU (`docs/throttle.txt` there), which is a leaky bucket, as
/// a loop device: a file that the storage daemon exports by FUSE lies under it.
struct Volume {
    /// Gone before the daemon is.
    device: Option<LoopDevice>,
    pid_file: PathBuf,
    _scratch: Scratch,
}

impl Volume {
    /// With these properties of the throttle group, each behind a comma.
    fn new(limits: &str) -> Result<Self, Missing> {
        const BYTES: u64 = 64 * MIB;
        let daemon = require_tool("qemu-storage-daemon", "qemu-system-x86")?;
        let scratch = Scratch::new()?;
        let (image, export) = (scratch.join("image"), scratch.join("export"));
        let pid_file = scratch.join("pid");
        fs::write(&image, "").expect("a file");
        crate::case::write_data(&image, BYTES);
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

    fn device(&self) -> &LoopDevice {
        self.device.as_ref().expect("until it is dropped")
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        self.device = None;
        let pid = fs::read_to_string(&self.pid_file).expect("it is there once it exports");
        let ended = Command::new("kill").arg(pid.trim()).status();
        assert!(ended.is_ok_and(|status| status.success()), "{pid} is left");
    }
}

const READS: &str = "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\n\
                     cache = \"direct\"\nqueue_depth = 8\ntime = \"4s\"";

/// Reads that the device did meanwhile.
fn reads(volume: &Volume, measure: impl FnOnce()) -> u64 {
    let before = counted(volume.device(), Counter::Reads);
    measure();
    counted(volume.device(), Counter::Reads) - before
}

/// Under these limits the cap is named, with so many operations a second; without them it
/// is not.
fn is_capped(limits: &str, most: u64, per_s: f64) {
    let _alone = alone();
    let volume = or_skip!(Volume::new(limits));
    let done = reads(&volume, || {
        let said = of(volume.device().path(), READS).said();
        said.names("credit-throttle", "operations/s")
            .counts("credit-throttle", per_s)
            .is_silent_of("stall")
            .is_silent_of("device-parallelism")
            .is_silent_of("thermal-throttle");
    });
    assert!(done <= most, "{done} reads");
    drop(volume);
    let free = or_skip!(Volume::new(""));
    let done = reads(&free, || {
        let said = of(free.device().path(), READS).said();
        said.is_silent_of("credit-throttle");
    });
    assert!(done > 4 * most, "{done} reads without a limit");
}

#[test]
fn a_volume_of_so_many_operations_a_second() {
    // Two trials of 4 s, a tenth of a second at once, and what looks at the device before.
    is_capped(",limits.iops-total=500", 5000, 500.0);
}

#[test]
fn a_volume_with_credit() {
    // A bucket of 3000 operations, filled at 3000 a second and drained at 500.
    let limits = ",limits.iops-total=500,limits.iops-total-max=3000,limits.iops-total-max-length=1";
    is_capped(limits, 9000, 500.0);
}
