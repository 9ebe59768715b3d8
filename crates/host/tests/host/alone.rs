//! Tests with mounts or processes run one after another.
//!
//! A process that a test starts holds a copy of every open file of this one
//! until its program begins. A file on the mount of another test would keep
//! that mount busy for this moment, and its unmounting would fail.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ALONE: Mutex<()> = Mutex::new(());

/// Held for the whole of a test: keep it in the first variable, which is
/// dropped last.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // Another test's failure is no reason to fail here.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
