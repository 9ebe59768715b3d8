//! Stopping what runs on Node's pool of threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi_derive::napi;

use crate::fault::{Failure, failure};

/// What an `AbortSignal` of JavaScript sets, and work looks at: before it begins,
/// and between its system calls. A call that is under way goes on to its end, as
/// the system works on the memory of the caller until then.
#[napi]
#[derive(Default)]
pub struct Stop(Arc<AtomicBool>);

#[napi]
impl Stop {
    /// Nothing is stopped yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work that has been given this.
    #[napi]
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The look of one piece of work at its [`Stop`], if it has one.
#[derive(Clone)]
pub(crate) struct Watch(Option<Arc<AtomicBool>>);

impl Watch {
    pub(crate) fn new(stop: Option<&Stop>) -> Self {
        Self(stop.map(|stop| Arc::clone(&stop.0)))
    }

    /// Whether anybody can stop this work.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Fails when the work is to stop.
    pub(crate) fn go_on(&self) -> Result<(), Failure> {
        match &self.0 {
            Some(stopped) if stopped.load(Ordering::Relaxed) => {
                Err(failure("ABORT_ERR", "The operation was aborted"))
            }
            _ => Ok(()),
        }
    }
}
