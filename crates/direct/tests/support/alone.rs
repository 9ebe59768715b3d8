//! One test at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lets one test of a binary run at a time.
///
/// A program that one test starts holds, between `fork` and `exec`, what the
/// other tests have open: a claim that another one has just given up would
/// still be held, and a filesystem whose files it has closed still be busy.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
