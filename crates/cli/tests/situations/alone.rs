//! Situations come one after the other: two at once would be each other's neighbours.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ALONE: Mutex<()> = Mutex::new(());

/// Held for the whole of a test: keep it in the first variable, which is dropped last.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // Another test's failure is no reason to fail here.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
