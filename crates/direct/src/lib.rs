#![doc = include_str!("../README.md")]

mod alignment;
mod as_file;
mod atomic;
mod buffer;
mod direct_file;
mod error;
mod geometry;
pub mod guide;
mod holders;
mod interop;
#[cfg(any(target_os = "macos", target_os = "freebsd", test))]
mod ioctl;
mod lock;
mod open;
mod os;
#[doc(hidden)]
pub mod parse;
mod pool;
mod shared_pool;
mod space;
mod sync;
mod transfer;

pub use alignment::{AlignmentSource, DirectAlignment, direct_alignment, explain_misalignment};
pub use as_file::AsFile;
pub use atomic::{AtomicWriteLimits, atomic_write_limits};
pub use buffer::{ALIGNMENT_MAX, ALIGNMENT_MIN, AlignedBuffer, BufferError, SIZE_MAX};
pub use direct_file::DirectFile;
pub use error::{Error, OsError, Subject, Unsupported};
pub use geometry::{DeviceUnder, Geometry, WriteCache, ZoneModel, Zones, geometry, geometry_under};
pub use holders::{Holder, holders};
#[cfg(all(feature = "io-uring", target_os = "linux"))]
pub use interop::io_uring::completion;
pub use lock::{
    Claim, FileLock, LockKind, NotLocked, Patience, VolumeLock, lock_file, lock_volume,
    unlock_file, unlock_volume,
};
pub use open::{Direct, Durability, Exclusivity, Granted, OpenOptions, Opened};
pub use pool::{Backing, BufferPool, Pages};
pub use shared_pool::{PooledBuffer, SharedPool};
pub use space::{preallocate, punch_hole, set_len};
pub use sync::{sync_all, sync_data, sync_name, sync_to_medium};
pub use transfer::{
    Transfer, TransferFlags, read_at, read_at_with, read_exact_at, read_full_at, readv_at,
    transfer_error, write_all_at, write_all_at_durable, write_at, write_at_durable, write_at_with,
    writev_at,
};
