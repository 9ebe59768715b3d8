//! What is done around a trial: the cache brought into the state that the
//! workload asks for, and the observers.

use super::observing::Chosen;
use super::together::Appointment;
use crate::progress::DisplayCpu;
use diskfacts_engine::{AgreedStart, Prepare};
use diskfacts_host::{Caches, CpuTimes, DirtyPages, Observers, Roots, drop_cache};
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::{Evidence, Target, Unseen};
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes read at once to warm the cache.
const WARM_BYTES: usize = 1 << 20;

/// Waits until so many nanoseconds before a start that was agreed, and says when that is.
type Ready<'a> = dyn FnMut(u64) -> Result<AgreedStart, Box<dyn Error + Send + Sync>> + Send + 'a;

/// The cache and the observers of one trial.
pub(super) struct Around<'a> {
    file: &'a File,
    cache: CacheMode,
    offset: u64,
    span: u64,
    /// Span of what runs beside: offset, length, and what its cache is to be.
    beside: Option<(u64, u64, CacheMode)>,
    /// Caches of the whole machine that are dropped.
    dropped: Option<Caches>,
    observers: Observers,
    stop: &'a AtomicBool,
    /// Nanoseconds that filling the cache may take.
    most_ns: Option<u64>,
    unseen: Vec<Unseen>,
    /// Waits for other hosts.
    ready: Option<Box<Ready<'a>>>,
    /// What is shown meanwhile.
    display: Option<&'a DisplayCpu>,
    /// Processor time that it took until the trial began, and then during the trial.
    drawing: CpuTimes,
}

/// The span of a stage did not come into memory in the time that there was.
#[derive(Debug)]
pub(super) struct WarmingTooSlow {
    wanted: u64,
    read: u64,
    most_ns: u64,
}

impl fmt::Display for WarmingTooSlow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "reading the {} that it uses into memory was given {}, and brought {}; give it more \
             with --time",
            show_size(self.wanted),
            show_duration(self.most_ns),
            show_size(self.read)
        )
    }
}

impl Error for WarmingTooSlow {}

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
            offset,
            span,
            beside: workload.beside.as_deref().map(|beside| {
                let (offset, span) = span_of(beside, target);
                (offset, span, beside.cache)
            }),
            dropped: None,
            observers,
            stop,
            most_ns: None,
            unseen: Vec::new(),
            ready: None,
            display: None,
            drawing: CpuTimes::default(),
        }
    }

    /// While this is shown.
    pub(super) fn beside(mut self, display: &'a DisplayCpu) -> Self {
        self.display = Some(display);
        self
    }

    /// Begun when other hosts begin theirs.
    pub(super) fn at<'at: 'a>(mut self, appointment: Option<&'a mut Appointment<'at>>) -> Self {
        self.ready = appointment.map(|at| {
            let ready: Box<Ready<'a>> =
                Box::new(move |lead_ns| at.rendezvous.ready(at.trial, lead_ns));
            ready
        });
        self
    }

    /// What the display has taken until now.
    fn drawn(&self) -> CpuTimes {
        self.display.map(DisplayCpu::so_far).unwrap_or_default()
    }

    /// With these caches of the whole machine dropped beforehand.
    pub(super) fn dropping(mut self, caches: Option<Caches>) -> Self {
        self.dropped = caches;
        self
    }

    /// With so much time to fill the cache.
    pub(super) fn within(mut self, most_ns: Option<u64>) -> Self {
        self.most_ns = most_ns;
        self
    }

    /// What was observed, added to the evidence.
    pub(super) fn evidence(&mut self, evidence: &mut Evidence) {
        self.observers.stop(evidence);
        evidence.unseen.append(&mut self.unseen);
    }

    /// Processor time that observers and the display took during the trial; known after
    /// [`evidence`](Self::evidence).
    pub(super) fn watching_cpu(&self) -> CpuTimes {
        let observers = self.observers.own_cpu();
        CpuTimes {
            user_ns: observers.user_ns + self.drawing.user_ns,
            system_ns: observers.system_ns + self.drawing.system_ns,
            total_ns: observers.total_ns + self.drawing.total_ns,
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
                if let Err(error) = self.warm(offset, span)? {
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

    /// Reads a span, so that all of it lies in the page cache; answers how the reading
    /// ended.
    fn warm(&self, mut offset: u64, span: u64) -> Result<std::io::Result<()>, WarmingTooSlow> {
        let (began, start) = (Instant::now(), offset);
        let is_over = |most_ns: &u64| began.elapsed() >= Duration::from_nanos(*most_ns);
        let mut buffer = vec![0; WARM_BYTES];
        let end = offset + span;
        while offset < end && !self.stop.load(Ordering::Relaxed) {
            if let Some(most_ns) = self.most_ns.filter(is_over) {
                return Err(WarmingTooSlow {
                    wanted: span,
                    read: offset - start,
                    most_ns,
                });
            }
            let length =
                usize::try_from(end - offset).map_or(WARM_BYTES, |left| left.min(WARM_BYTES));
            match self.file.read_at(&mut buffer[..length], offset) {
                Ok(0) => break,
                Ok(read) => offset += read as u64,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }
}

impl Prepare for Around<'_> {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
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

    fn agreed_start(
        &mut self,
        lead_ns: u64,
    ) -> Result<Option<AgreedStart>, Box<dyn Error + Send + Sync>> {
        self.ready.as_mut().map(|ready| ready(lead_ns)).transpose()
    }

    fn window_opens(&mut self, beside: &[u32]) {
        if !beside.is_empty() {
            self.observers.add_beside(&Roots::default(), beside);
        }
        self.drawing = self.drawn();
        self.observers.start();
    }

    fn after(&mut self) {
        self.observers.halt();
        self.drawing = self.drawn().since(&self.drawing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_display_takes_while_the_trial_runs_is_known_and_no_more_of_it() {
        let program = std::env::current_exe().expect("this program");
        let file = File::open(program).expect("a file");
        let (stop, display) = (AtomicBool::new(false), DisplayCpu::default());
        let target =
            r#"{"given": "f", "path": "/f", "kind": "file", "size_bytes": 1, "writable": false}"#;
        let target: Target = serde_json::from_str(target).expect("a target");
        let nobody = Chosen {
            residency: false,
            others: Observers::default(),
        };
        let mut around =
            Around::growing(&file, &Workload::default(), &target, nobody, &stop).beside(&display);
        let takes = |user_ns| {
            display.put(CpuTimes {
                user_ns,
                system_ns: 10 * user_ns,
                total_ns: 11 * user_ns,
            });
        };
        takes(5);
        around.window_opens(&[]);
        takes(12);
        around.after();
        takes(40);
        around.evidence(&mut Evidence::default());
        let watching = around.watching_cpu();
        assert_eq!((watching.user_ns, watching.system_ns), (7, 70));
    }
}
