//! What is done around a trial: the cache brought into the state that the
//! workload asks for, and the observers.

use super::observing::Chosen;
use diskfacts_engine::Prepare;
use diskfacts_host::{Caches, CpuTimes, DirtyPages, Observers, Roots, drop_cache};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::{Evidence, Target, Unseen};
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
    /// Span of what runs beside: offset, length, and what its cache is to be.
    beside: Option<(u64, u64, CacheMode)>,
    /// Caches of the whole machine that are dropped.
    dropped: Option<Caches>,
    observers: Observers,
    stop: &'a AtomicBool,
    unseen: Vec<Unseen>,
}

/// The part of the target that a workload uses: offset and length, bytes.
fn span_of(workload: &Workload, target: &Target) -> (u64, u64) {
    let left = target.size_bytes.saturating_sub(workload.offset);
    let span = workload.span.unwrap_or(u64::MAX).min(left);
    (workload.offset, span)
}

impl<'a> Around<'a> {
    pub(super) fn new(
        file: &'a File,
        workload: &Workload,
        target: &Target,
        observers: Chosen,
        stop: &'a AtomicBool,
    ) -> Self {
        let (_, span) = span_of(workload, target);
        let workload = Workload {
            span: Some(span),
            ..workload.clone()
        };
        Self::growing(file, &workload, target, observers, stop)
    }

    /// For a file that may become longer than it is.
    pub(super) fn growing(
        file: &'a File,
        workload: &Workload,
        target: &Target,
        chosen: Chosen,
        stop: &'a AtomicBool,
    ) -> Self {
        let offset = workload.offset;
        let span = workload.span.unwrap_or(u64::MAX - offset);
        // The files of a folder are made and gone within the trial.
        let observers = if workload.operation.on_files() || !chosen.residency {
            chosen.others
        } else {
            chosen.others.with_residency(file, offset, span)
        };
        Self {
            file,
            cache: workload.cache,
            written: target.writable,
            offset,
            span,
            beside: workload.beside.as_deref().map(|beside| {
                let (offset, span) = span_of(beside, target);
                (offset, span, beside.cache)
            }),
            dropped: None,
            observers,
            stop,
            unseen: Vec::new(),
        }
    }

    /// With these caches of the whole machine dropped beforehand.
    pub(super) fn dropping(mut self, caches: Option<Caches>) -> Self {
        self.dropped = caches;
        self
    }

    /// What was observed, added to the evidence.
    pub(super) fn evidence(&mut self, evidence: &mut Evidence) {
        self.observers.stop(evidence);
        evidence.unseen.append(&mut self.unseen);
    }

    /// Processor time that observers took during the trial; known after
    /// [`evidence`](Self::evidence).
    pub(super) fn observers_cpu(&self) -> CpuTimes {
        self.observers.own_cpu()
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

    /// Brings the page cache of a span into the state that a workload asks for.
    fn bring(
        &mut self,
        (offset, span, cache): (u64, u64, CacheMode),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        match cache {
            // A read that fails while warming will fail in the trial, where it
            // is counted.
            CacheMode::Warm => {
                if let Err(error) = self.warm(offset, span) {
                    self.unseen.push(Unseen {
                        what: "warm page cache".to_owned(),
                        why: format!("reading the span beforehand failed: {error}"),
                    });
                }
            }
            CacheMode::Cold => {
                let dropped = drop_cache(self.file, offset, span, DirtyPages::WriteFirst)?;
                self.unseen.extend(dropped.unseen);
            }
            CacheMode::Buffered | CacheMode::Direct => {}
        }
        Ok(())
    }

    /// Reads a span, so that all of it lies in the page cache.
    fn warm(&self, mut offset: u64, span: u64) -> std::io::Result<()> {
        let mut buffer = vec![0; WARM_BYTES];
        let end = offset + span;
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
        // Before the part of them that is to be warm is read again.
        if let Some(caches) = self.dropped {
            caches.drop_all(&Roots::default())?;
        }
        self.bring((self.offset, self.span, self.cache))?;
        if let Some(beside) = self.beside {
            self.bring(beside)?;
        }
        Ok(())
    }

    fn window_opens(&mut self, beside: &[u32]) {
        if !beside.is_empty() {
            self.observers.add_beside(&Roots::default(), beside);
        }
        self.observers.start();
    }

    fn after(&mut self) {
        self.observers.halt();
    }
}
