//! The flags of `fs.open` that the package exports.
//!
//! On Unix they are those of `<fcntl.h>`; Node hands them to `open(2)`. On
//! Windows they are libuv's own (`uv/win.h`), which translates them. 0 stands
//! for a flag that the system does not have.

use napi_derive::napi;

use crate::system;

/// Bypass the page cache.
#[napi]
pub const O_DIRECT: i32 = system::O_DIRECT;

/// Each write waits for the data.
#[napi]
pub const O_DSYNC: i32 = system::O_DSYNC;

/// On a Linux block device: keep out mounting and other exclusive opens.
#[napi]
pub const O_EXCL: i32 = system::O_EXCL;

/// Keep out others who ask the same, on Windows everyone.
#[napi]
pub const O_EXLOCK: i32 = system::O_EXLOCK;

/// Each write waits for the data and all metadata.
#[napi]
pub const O_SYNC: i32 = system::O_SYNC;
