//! What is seen while it measures: on standard error, on a terminal one line that is written
//! again and again, elsewhere one line for each stage that is done, and nothing with --quiet;
//! with --live a full screen.

mod cpu;
mod live;
mod terminal;

pub(crate) use cpu::DisplayCpu;

use crate::exit::{Failure, say};
use crate::signals::Signals;
use diskfacts_engine::Progress;
use diskfacts_facts::stopping;
use diskfacts_plan::{Plan, Stage};
use diskfacts_record::{Run, Stack, Trial};
use diskfacts_report::text::live::StageNow;
use diskfacts_report::text::{self, Done, Left, Look, Standing};
use live::Live;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How often the line is drawn anew: often enough to be seen moving.
const REDRAW: Duration = Duration::from_millis(250);

/// What is shown.
enum Shown {
    /// Nothing but errors, which others tell.
    Nothing,
    /// A line for each stage that is done.
    Lines,
    /// One line in its place.
    Terminal,
    /// A full screen.
    Live(Box<Live>),
}

/// How much is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing but errors.
    Quiet,
    /// As much as a line has room for.
    Line,
    /// A full screen, which looks so.
    Live(Look),
}

/// What is shown of a run.
pub(crate) struct Display {
    shown: Shown,
    cpu: DisplayCpu,
    /// Those of the plan, and behind them what is done before the trials.
    stages: Vec<SoFar>,
    /// Stages that are measured; those behind them are done before.
    measured: usize,
    /// Of the measured ones, how many are done.
    done: usize,
}

/// A stage, and what is known of it.
struct SoFar {
    label: String,
    block_size: Option<u64>,
    /// How often it is done: at least, and at most.
    trials: (u32, u32),
    /// Operations per second of each trial.
    rates: Vec<f64>,
    /// Whether its line was said.
    is_told: bool,
}

impl SoFar {
    fn of(stage: &Stage, trials: (u32, u32)) -> Self {
        let workload = &stage.workload;
        Self {
            label: stage.label(),
            // Files have many sizes.
            block_size: (!workload.operation.on_files()).then_some(workload.block_size),
            trials,
            rates: Vec::new(),
            is_told: false,
        }
    }
}

/// A trial that is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// Index of its stage in the plan.
    pub(crate) stage: usize,
    /// Which trial of its stage, from 1.
    pub(crate) number: u32,
    /// How long all takes that is left, this one included.
    pub(crate) left: Option<Left>,
    /// Whether its time is virtual: that is what is shown then.
    pub(crate) is_virtual: bool,
}

impl Display {
    /// What is shown of a run on a target, `/srv: ext4 on vda1`, with this under it.
    pub(crate) fn new(
        plan: &Plan,
        seen: Seen,
        (target, stack): (&str, &Stack),
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let shown = match seen {
            Seen::Quiet => Shown::Nothing,
            Seen::Line if terminal::is_there() => Shown::Terminal,
            Seen::Line => Shown::Lines,
            Seen::Live(look) => {
                let target = text::live::title(target, stack, &look);
                Shown::Live(Box::new(Live::open(target, stack, signals, look)?))
            }
        };
        let mut display = Self {
            shown,
            cpu: DisplayCpu::default(),
            stages: Vec::new(),
            measured: 0,
            done: 0,
        };
        if let Shown::Live(live) = &display.shown {
            display.cpu = live.cpu().clone();
        }
        display.go_on_with(plan);
        Ok(display)
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(crate) fn nothing() -> Self {
        Self {
            shown: Shown::Nothing,
            cpu: DisplayCpu::default(),
            stages: Vec::new(),
            measured: 0,
            done: 0,
        }
    }

    /// Goes on with the stages of another plan.
    pub(crate) fn go_on_with(&mut self, plan: &Plan) {
        let trials = (stopping::trials_min(plan), stopping::trials_max(plan));
        let stages = plan.stages.iter().map(|stage| SoFar::of(stage, trials));
        let before = plan.precondition.iter();
        let before = before.map(|work| SoFar::of(&work.stage, (work.at_least(), work.at_most())));
        self.stages = stages.chain(before).collect();
        self.measured = plan.stages.len();
        self.done = 0;
        self.show_stages();
    }

    /// Processor time that it takes on a thread of its own, which is no cost of a trial.
    pub(crate) fn cpu(&self) -> &DisplayCpu {
        &self.cpu
    }

    /// The screen has the stages as they are now.
    fn show_stages(&self) {
        let Shown::Live(live) = &self.shown else {
            return;
        };
        let stages = self.stages.iter().enumerate();
        let stages = stages.map(|(place, stage)| StageNow {
            label: stage.label.clone(),
            trials: stage.trials,
            rates: stage.rates.clone(),
            called: self.called(place),
            block_size: stage.block_size,
        });
        live.has_stages(stages.collect());
    }

    /// Each stage is done so often, at least and at most: the time may not allow all that
    /// the plan wants.
    pub(crate) fn set_trials(&mut self, trials: (u32, u32)) {
        for stage in &mut self.stages[..self.measured] {
            stage.trials = trials;
        }
        self.show_stages();
    }

    /// Shows how far the filling is while `work` does it; `what` is filled:
    /// `a file of 40 MiB to measure`.
    pub(crate) fn watch_filling<T: Send>(
        &self,
        what: &str,
        bytes: u64,
        block_size: u64,
        progress: &Arc<Progress>,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let what = format!("filling {what}");
        match &self.shown {
            Shown::Nothing => work(),
            Shown::Lines => {
                say(&what);
                work()
            }
            Shown::Terminal => {
                watch_amount((&what, Some(bytes), block_size), progress, &self.cpu, work)
            }
            Shown::Live(live) => live.watch_amount(what, bytes, block_size, progress, work),
        }
    }

    /// Shows how far a copy is while `work` makes it; on a terminal only.
    pub(crate) fn watch_copy<T: Send>(
        is_quiet: bool,
        (bytes_max, block_size): (Option<u64>, u64),
        progress: &Progress,
        cpu: &DisplayCpu,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        if is_quiet || !terminal::is_there() {
            return work();
        }
        watch_amount(("copying", bytes_max, block_size), progress, cpu, work)
    }

    /// Shows how far a trial is while `work` does it.
    pub(crate) fn watch<T: Send>(
        &self,
        watched: Watched,
        progress: &Arc<Progress>,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let Some(stage) = self.stages.get(watched.stage) else {
            return work();
        };
        match &self.shown {
            Shown::Nothing | Shown::Lines => return work(),
            Shown::Live(live) => return live.watch(watched, &stage.label, progress, work),
            Shown::Terminal => {}
        }
        let line = |now: Option<f64>, elapsed: Duration| {
            let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
            let standing = Standing {
                stage: &stage.label,
                called: self.called(watched.stage),
                trial: watched.number,
                trials: stage.trials,
                rates: &stage.rates,
                now,
                block_size: stage.block_size,
                left: watched.left.map(|left| Left {
                    ns: left.ns.saturating_sub(elapsed_ns),
                    ..left
                }),
            };
            terminal::draw(&text::progress(&standing, &terminal::look_now()));
        };
        line(None, Duration::ZERO);
        let (mut last, mut now) = ((0, Duration::ZERO), None);
        watching(
            &self.cpu,
            |elapsed| {
                let elapsed = if watched.is_virtual {
                    Duration::from_nanos(progress.virtual_ns.load(Ordering::Relaxed))
                } else {
                    elapsed
                };
                let operations = progress.operations.load(Ordering::Relaxed);
                let seconds = elapsed.saturating_sub(last.1).as_secs_f64();
                if operations > 0 && seconds > 0.0 {
                    now = Some((operations.saturating_sub(last.0)) as f64 / seconds);
                    last = (operations, elapsed);
                }
                line(now, elapsed);
            },
            work,
        )
    }

    /// What each time of a stage is called.
    fn called(&self, stage: usize) -> &'static str {
        if stage < self.measured {
            "trial"
        } else {
            "round"
        }
    }

    /// Says something that another thread has to tell while this waits.
    pub(crate) fn aside(line: &str) {
        if terminal::is_there() {
            terminal::clear();
        }
        say(line);
    }

    /// Says what is to come.
    pub(crate) fn tell(&self, line: &str) {
        match self.shown {
            Shown::Nothing => {}
            Shown::Lines | Shown::Live(_) => say(line),
            Shown::Terminal => {
                terminal::clear();
                say(line);
            }
        }
    }

    /// A trial of the stage at this index of the plan has ended and is stored; whether it
    /// was the last of its stage, as far as that is known.
    pub(crate) fn trial_ended(&mut self, stage: usize, trial: &Trial, is_last: bool) {
        let Some(so_far) = self.stages.get_mut(stage) else {
            return;
        };
        so_far.rates.push(trial.iops);
        if let Shown::Live(live) = &self.shown {
            live.trial_ended(trial);
            self.show_stages();
        }
        if is_last {
            self.tell_done(stage);
        }
    }

    /// What follows from the trials of a run so far may be told: between two trials, where
    /// working it out disturbs nobody.
    pub(crate) fn run_so_far(&self, run: &Run) {
        if let Shown::Live(live) = &self.shown {
            live.run_so_far(run);
        }
    }

    /// There are no more trials: what waited for some has all of them.
    pub(crate) fn trials_ended(&mut self) {
        for stage in 0..self.measured {
            if !self.stages[stage].rates.is_empty() {
                self.tell_done(stage);
            }
        }
    }

    fn tell_done(&mut self, stage: usize) {
        let is_measured = stage < self.measured;
        let called = self.called(stage);
        let so_far = &mut self.stages[stage];
        if std::mem::replace(&mut so_far.is_told, true) {
            return;
        }
        self.done += usize::from(is_measured);
        if !matches!(self.shown, Shown::Lines) {
            return;
        }
        let done = Done {
            stage: &so_far.label,
            called,
            rates: &so_far.rates,
            block_size: so_far.block_size,
        };
        let line = text::stage_done(&done, &Look::default());
        say(&if is_measured {
            format!("stage {} of {}: {line}", self.done, self.measured)
        } else {
            format!("before the trials: {line}")
        });
    }

    /// Takes the line or the screen away: what follows says all of it better.
    pub(crate) fn finish(&mut self) {
        match &mut self.shown {
            Shown::Nothing | Shown::Lines => {}
            Shown::Terminal => terminal::clear(),
            Shown::Live(live) => live.close(),
        }
    }
}

impl Drop for Display {
    /// An error message must not stand behind half a line, nor be gone with a screen.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Shows how many bytes of what are done while `work` does them, and takes the line away.
fn watch_amount<T>(
    (what, of, block_size): (&str, Option<u64>, u64),
    progress: &Progress,
    cpu: &DisplayCpu,
    work: impl FnOnce() -> T,
) -> T {
    let result = watching(
        cpu,
        |elapsed| {
            let done = progress
                .operations
                .load(Ordering::Relaxed)
                .saturating_mul(block_size);
            let look = terminal::look_now();
            let line = text::amount(what, done, of, elapsed.as_secs_f64(), &look);
            terminal::draw(&line);
        },
        work,
    );
    terminal::clear();
    result
}

/// Calls `look` again and again on a thread of its own while `work` runs here.
fn watching<T>(
    cpu: &DisplayCpu,
    mut look: impl FnMut(Duration) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let began = Instant::now();
    let (done, ended) = mpsc::channel::<()>();
    cpu.begins();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(REDRAW) == Err(mpsc::RecvTimeoutError::Timeout) {
                look(began.elapsed());
                cpu.counts();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
