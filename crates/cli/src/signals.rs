//! Ctrl-C and SIGTERM: end the measurement, keep what is complete. A second one
//! ends the process at once.

use crate::exit::{Exit, Failure, OrFail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether a signal came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            // In this order: only when an earlier one set the flag, end now.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signals.stop))
                .or_failed()?;
            flag::register_usize(signal, Arc::clone(&signals.which), number).or_failed()?;
            flag::register(signal, Arc::clone(&signals.stop)).or_failed()?;
        }
        Ok(signals)
    }

    /// The flag that ends a trial.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// How to exit, if a signal came.
    pub(crate) fn came(&self) -> Option<Exit> {
        self.stop.load(Ordering::Relaxed).then(|| {
            if self.which.load(Ordering::Relaxed) == usize::try_from(SIGTERM).unwrap_or_default() {
                Exit::Terminated
            } else {
                Exit::Interrupted
            }
        })
    }

    /// An error if a signal came: for work before the first trial.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.came() {
            Some(exit) => Err(Failure::interrupted(exit)),
            None => Ok(()),
        }
    }
}
