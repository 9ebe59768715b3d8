//! Advisory locks by `flock(2)`.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};

use crate::error::Subject;
use crate::{Error, LockKind, Patience};

pub(crate) fn lock_file(file: &File, kind: LockKind, patience: Patience) -> Result<(), Error> {
    let (name, operation) = match (kind, patience) {
        (LockKind::Shared, Patience::Wait) => ("flock(LOCK_SH)", FlockOperation::LockShared),
        (LockKind::Shared, Patience::Fail) => (
            "flock(LOCK_SH|LOCK_NB)",
            FlockOperation::NonBlockingLockShared,
        ),
        (LockKind::Exclusive, Patience::Wait) => ("flock(LOCK_EX)", FlockOperation::LockExclusive),
        (LockKind::Exclusive, Patience::Fail) => (
            "flock(LOCK_EX|LOCK_NB)",
            FlockOperation::NonBlockingLockExclusive,
        ),
    };
    loop {
        match flock(file, operation) {
            // A signal ends the wait, not the wish: its handler has run.
            Err(rustix::io::Errno::INTR) => {}
            Ok(()) => return Ok(()),
            Err(error) => {
                let error = io::Error::from(error);
                let hint = (error.kind() == io::ErrorKind::WouldBlock)
                    .then(|| crate::os::lock_holder(file))
                    .flatten()
                    .or_else(|| super::hint::hint(&error));
                return Err(Error::os(name, Subject::of(file), error, hint));
            }
        }
    }
}

pub(crate) fn unlock_file(file: &File) -> Result<(), Error> {
    flock(file, FlockOperation::Unlock)
        .map_err(|error| Error::on_file("flock(LOCK_UN)", file, error))
}
