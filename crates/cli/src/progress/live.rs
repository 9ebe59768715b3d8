//! What the full screen of a run shows, from what the session tells and what the engine and
//! the devices count meanwhile.

use super::{DisplayCpu, Watched};
use crate::devices_now::DevicesNow;
use crate::exit::Failure;
use crate::screen::{Scene, Screen};
use crate::signals::Signals;
use diskfacts_engine::Progress;
use diskfacts_facts::explain;
use diskfacts_record::{CoarseHistogram, Run, Stack, Trial};
use diskfacts_report::text::live::{Known, Moment, RunView, Running, StageNow, View};
use diskfacts_report::text::{Left, Look, amount};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What follows is worked out anew when so many times as long has passed as that took: it
/// delays the next trial, by a fiftieth of the time at most.
const SELDOM: u32 = 50;

/// A full screen, and what it shows.
pub(super) struct Live {
    scene: Arc<Mutex<RunScene>>,
    screen: Screen,
}

impl Live {
    pub(super) fn open(
        what: String,
        stack: &Stack,
        signals: &Signals,
        look: Look,
    ) -> Result<Self, Failure> {
        let scene = RunScene {
            view: RunView {
                what,
                doing: "preparing".to_owned(),
                ..RunView::default()
            },
            look,
            began: Instant::now(),
            watched: None,
            devices: DevicesNow::of(stack),
            worked_out: None,
        };
        let scene = Arc::new(Mutex::new(scene));
        let screen = Screen::open(Arc::clone(&scene), signals, look)?;
        Ok(Self { scene, screen })
    }

    pub(super) fn cpu(&self) -> &DisplayCpu {
        self.screen.cpu()
    }

    pub(super) fn close(&mut self) {
        self.screen.close();
    }

    fn scene(&self) -> MutexGuard<'_, RunScene> {
        self.scene.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_stages(&self, stages: Vec<StageNow>) {
        self.scene().view.stages = stages;
    }

    /// Shows how many bytes are done while `work` does them.
    pub(super) fn watch_amount<T>(
        &self,
        what: String,
        bytes: u64,
        block_size: u64,
        progress: &Arc<Progress>,
        work: impl FnOnce() -> T,
    ) -> T {
        self.scene().watched = Some(Under::Amount {
            what,
            bytes,
            block_size,
            progress: Arc::clone(progress),
            began: Instant::now(),
        });
        let result = work();
        let mut scene = self.scene();
        scene.watched = None;
        "preparing".clone_into(&mut scene.view.doing);
        result
    }

    /// Shows a trial while `work` does it.
    pub(super) fn watch<T>(
        &self,
        watched: Watched,
        label: &str,
        progress: &Arc<Progress>,
        work: impl FnOnce() -> T,
    ) -> T {
        let trial = Watching {
            of: label.into(),
            watched,
            progress: Arc::clone(progress),
            began: Instant::now(),
            seen: (0, Duration::ZERO, CoarseHistogram::default()),
            moments: 0,
        };
        {
            let mut scene = self.scene();
            scene.view.running = Some(trial.running(None, Duration::ZERO));
            scene.watched = Some(Under::Trial(Box::new(trial)));
        }
        let result = work();
        let mut scene = self.scene();
        scene.look_at_trial(true);
        scene.watched = None;
        scene.view.running = None;
        "between two trials".clone_into(&mut scene.view.doing);
        result
    }

    pub(super) fn trial_ended(&self, trial: &Trial) {
        self.scene().devices.were_followed_in(trial);
    }

    /// Works out what follows, if it has not just done so.
    pub(super) fn run_so_far(&self, run: &Run) {
        let is_too_soon = |(at, took): (Instant, Duration)| at.elapsed() < took * SELDOM;
        if self.scene().worked_out.is_some_and(is_too_soon) {
            return;
        }
        let began = Instant::now();
        let known = Known::of(run, explain(run));
        let mut scene = self.scene();
        scene.view.known = Some(known);
        scene.worked_out = Some((Instant::now(), began.elapsed()));
    }
}

/// What is shown, and what it is worked out from.
struct RunScene {
    view: RunView,
    look: Look,
    began: Instant,
    watched: Option<Under>,
    devices: DevicesNow,
    /// When it was last worked out what follows, and how long that took.
    worked_out: Option<(Instant, Duration)>,
}

/// What is under way.
enum Under {
    Amount {
        what: String,
        bytes: u64,
        block_size: u64,
        progress: Arc<Progress>,
        began: Instant,
    },
    Trial(Box<Watching>),
}

/// A trial, and how far it was at the last look.
struct Watching {
    of: Arc<str>,
    watched: Watched,
    progress: Arc<Progress>,
    began: Instant,
    /// Operations, the time since it began, and latencies.
    seen: (u64, Duration, CoarseHistogram),
    /// How many moments it has had.
    moments: u32,
}

impl Watching {
    fn elapsed(&self) -> Duration {
        if self.watched.is_virtual {
            Duration::from_nanos(self.progress.virtual_ns.load(Ordering::Relaxed))
        } else {
            self.began.elapsed()
        }
    }

    fn running(&self, now: Option<f64>, elapsed: Duration) -> Running {
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        Running {
            stage: self.watched.stage,
            number: self.watched.number,
            now,
            left: self.watched.left.map(|left| Left {
                ns: left.ns.saturating_sub(elapsed_ns),
                ..left
            }),
        }
    }

    /// What came since the last look; `None` before the first operation.
    fn moment(&mut self) -> Option<Moment> {
        let operations = self.progress.operations.load(Ordering::Relaxed);
        let elapsed = self.elapsed();
        if operations == 0 {
            // The cache is filled, or emptied: that is no time of the trial.
            self.seen.1 = elapsed;
            return None;
        }
        let latencies = self.progress.latencies.so_far();
        let seconds = elapsed.saturating_sub(self.seen.1).as_secs_f64();
        let count = operations.saturating_sub(self.seen.0) as f64;
        let since = latencies.since(&self.seen.2);
        self.seen = (operations, elapsed, latencies);
        self.moments += 1;
        Some(Moment {
            of: Arc::clone(&self.of),
            begins: self.moments == 1,
            per_s: (seconds > 0.0).then(|| count / seconds),
            latencies: since
                .buckets()
                .map(|(from, to, count)| diskfacts_record::evidence::Bucket { from, to, count })
                .collect(),
        })
    }
}

impl RunScene {
    /// Takes what came of the trial that runs. Of its end only where there was no look
    /// before: a column for less than a quarter of a second would look like one.
    fn look_at_trial(&mut self, is_over: bool) {
        let Some(Under::Trial(trial)) = &mut self.watched else {
            return;
        };
        if is_over && trial.moments > 0 {
            return;
        }
        let moment = trial.moment();
        let per_s = moment.as_ref().and_then(|moment| moment.per_s);
        self.view.running = Some(trial.running(per_s, trial.elapsed()));
        if let Some(moment) = moment {
            self.view.course.push(moment);
        }
    }
}

impl Scene for RunScene {
    fn look(&mut self) {
        self.view.elapsed_s = self.began.elapsed().as_secs();
        self.devices.look();
        self.view.devices = self.devices.now();
        match &self.watched {
            None => {}
            Some(Under::Trial(_)) => self.look_at_trial(false),
            Some(Under::Amount {
                what,
                bytes,
                block_size,
                progress,
                began,
            }) => {
                let done = progress.operations.load(Ordering::Relaxed) * block_size;
                let seconds = began.elapsed().as_secs_f64();
                self.view.doing = amount(
                    what,
                    done,
                    Some(*bytes),
                    seconds,
                    &Look {
                        width: usize::MAX,
                        ..self.look
                    },
                );
            }
        }
    }

    fn view(&self) -> &dyn View {
        &self.view
    }
}
