//! Locks on the descriptors of Node's files, without guards: JavaScript keeps
//! track, and closing lets go.

use directio::{LockKind, Patience};
use napi_derive::napi;

use crate::outcome::{Promised, promise};
use crate::system::{self, borrow};

/// `flock(LOCK_EX | LOCK_NB)` or `flock(LOCK_UN)`; on Windows `LockFileEx`.
#[napi]
pub fn set_file_lock(descriptor: i32, locked: bool) -> Promised<()> {
    promise(move || {
        let file = borrow(descriptor)?;
        if locked {
            directio::lock_file(&file, LockKind::Exclusive, Patience::Fail)?;
        } else {
            directio::unlock_file(&file)?;
        }
        Ok(())
    })
}

/// `FSCTL_LOCK_VOLUME` or `FSCTL_UNLOCK_VOLUME` (Windows).
#[napi]
pub fn set_volume_lock(descriptor: i32, locked: bool) -> Promised<()> {
    promise(move || {
        let file = borrow(descriptor)?;
        if locked {
            directio::lock_volume(&file)?;
        } else {
            directio::unlock_volume(&file)?;
        }
        Ok(())
    })
}

/// `fcntl(F_NOCACHE)` (macOS).
#[napi]
pub fn set_no_cache(descriptor: i32, no_cache: bool) -> Promised<()> {
    promise(move || system::set_no_cache(descriptor, no_cache))
}
