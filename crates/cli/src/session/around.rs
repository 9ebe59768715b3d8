//! What is done around a trial: the cache brought into the state that the
//! workload asks for, and the observers.

use diskfacts_engine::Prepare;
use diskfacts_host::{DirtyPages, Observers, Roots, drop_cache};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::{Evidence, Stack, Target, Unseen};
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes read at once to warm the cache.
const WARM_BYTES: usize = 1 << 20;

/// The cache and the observers of one trial.
pub(super) struct Around<'a> {
    file: &'a File,
    cache: CacheMode,
    /// Whether earlier trials may have left something to be written back.
    written: bool,
    offset: u64,
    span: u64,
    observers: Observers,
    stop: &'a AtomicBool,
    unseen: Vec<Unseen>,
}

impl<'a> Around<'a> {
    pub(super) fn new(
        file: &'a File,
        workload: &Workload,
        target: &Target,
        stack: &Stack,
        stop: &'a AtomicBool,
    ) -> Self {
        let offset = workload.offset;
        let span = workload
            .span
            .unwrap_or(u64::MAX)
            .min(target.size_bytes.saturating_sub(offset));
        let observers = Observers::for_run(&Roots::default(), stack);
        // The files of a folder are made and gone within the trial.
        let observers = if workload.operation.on_files() {
            observers
        } else {
            observers.with_residency(file, offset, span)
        };
        Self {
            file,
            cache: workload.cache,
            written: target.writable,
            offset,
            span,
            observers,
            stop,
            unseen: Vec::new(),
        }
    }

    /// What was observed, added to the evidence.
    pub(super) fn evidence(&mut self, evidence: &mut Evidence) {
        self.observers.stop(evidence);
        evidence.unseen.append(&mut self.unseen);
    }

    /// Makes durable what was written before. An error here is one of the trial
    /// that wrote, and of the next sync, which fails again or succeeds for good.
    fn settle(&mut self) {
        if let Err(error) = self.file.sync_data() {
            self.unseen.push(Unseen {
                what: "write-back of earlier trials".to_owned(),
                why: format!("syncing the target beforehand failed: {error}"),
            });
        }
    }

    /// Reads the span, so that all of it lies in the page cache.
    fn warm(&self) -> std::io::Result<()> {
        let mut buffer = vec![0; WARM_BYTES];
        let end = self.offset + self.span;
        let mut offset = self.offset;
        while offset < end && !self.stop.load(Ordering::Relaxed) {
            let length =
                usize::try_from(end - offset).map_or(WARM_BYTES, |left| left.min(WARM_BYTES));
            match self.file.read_at(&mut buffer[..length], offset) {
                Ok(0) => break,
                Ok(read) => offset += read as u64,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Prepare for Around<'_> {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        // What an earlier trial left in the memories of this machine and of the
        // disk must not be written back at the expense of this one.
        if self.written && self.cache != CacheMode::Warm {
            self.settle();
        }
        match self.cache {
            // A read that fails while warming will fail in the trial, where it
            // is counted.
            CacheMode::Warm => {
                if let Err(error) = self.warm() {
                    self.unseen.push(Unseen {
                        what: "warm page cache".to_owned(),
                        why: format!("reading the span beforehand failed: {error}"),
                    });
                }
            }
            CacheMode::Cold => {
                let dropped =
                    drop_cache(self.file, self.offset, self.span, DirtyPages::WriteFirst)?;
                self.unseen.extend(dropped.unseen);
            }
            CacheMode::Buffered | CacheMode::Direct => {}
        }
        self.observers.start();
        Ok(())
    }

    fn after(&mut self) {
        self.observers.halt();
    }
}
