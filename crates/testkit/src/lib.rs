//! What the tests of diskfacts share.
//!
//! * [`skip`] and [`or_skip!`]: a test that cannot run on a machine says what
//!   is missing, and returns. The test command collects these lines and prints
//!   them, with their number, at its end: a skip that nobody sees is a lie
//!   about coverage.
//! * [`require_root`], [`require_tool`]: ask for what a test needs.
//! * [`Program`]: runs the `diskfacts` binary apart from the user's own store
//!   and settings, and shows everything it said when it did not do as expected.
//! * [`Scratch`], [`LoopDevice`], [`MountedFilesystem`], [`Tmpfs`],
//!   [`ThrottleGroup`], [`DelayedDisk`], [`ThrottledVolume`], [`OnDisks`]: real storage to measure, over files that the test made
//!   itself. Each is taken down when it is dropped, in a panic too; what a
//!   killed test process left behind is taken down by the next one.
//! * [`ControlGroup`], [`DirtyLimit`], [`Shells`]: what the machine lacks, and what else runs.
//! * [`HOSTILE`]: text that wants to be more than text, for whoever prints some.
//! * [`unpack_tree`]: what the kernel of another machine showed, as a folder.
//!
//! ```no_run
//! use diskfacts_testkit::{LoopDevice, or_skip};
//!
//! fn a_loop_device_is_a_leaf() {
//!     let device = or_skip!(LoopDevice::new(16 << 20));
//!     assert!(device.path().starts_with("/dev"));
//! }
//! ```

#[cfg(target_os = "linux")]
mod control_group;
#[cfg(target_os = "linux")]
mod delayed_disk;
#[cfg(target_os = "linux")]
mod device_claim;
mod dirty_limit;
#[cfg(target_os = "linux")]
mod filesystem;
mod hostile;
#[cfg(target_os = "linux")]
mod loop_device;
#[cfg(target_os = "linux")]
mod on_disks;
mod program;
mod requirements;
#[cfg(target_os = "linux")]
mod scratch;
#[cfg(target_os = "linux")]
mod shells;
mod skip;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod throttle;
#[cfg(target_os = "linux")]
mod throttled_volume;
#[cfg(target_os = "linux")]
mod tool;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod unmount;

#[cfg(target_os = "linux")]
pub use control_group::ControlGroup;
#[cfg(target_os = "linux")]
pub use delayed_disk::{DelayedDisk, Served, ServedKind};
#[cfg(target_os = "linux")]
pub use device_claim::DeviceClaim;
pub use dirty_limit::DirtyLimit;
#[cfg(target_os = "linux")]
pub use filesystem::{FilesystemKind, MountedFilesystem, Tmpfs};
pub use hostile::HOSTILE;
#[cfg(target_os = "linux")]
pub use loop_device::{LoopDevice, LoopOptions};
#[cfg(target_os = "linux")]
pub use on_disks::OnDisks;
pub use program::{Finished, Program, Running};
pub use requirements::{require_root, require_tool};
#[cfg(target_os = "linux")]
pub use scratch::Scratch;
#[cfg(target_os = "linux")]
pub use shells::Shells;
pub use skip::{Missing, refused, skip};
#[cfg(target_os = "linux")]
pub use throttle::{Throttle, ThrottleGroup};
#[cfg(target_os = "linux")]
pub use throttled_volume::ThrottledVolume;
#[cfg(target_os = "linux")]
pub use tree::{unpack_tree, write_in_tree};
