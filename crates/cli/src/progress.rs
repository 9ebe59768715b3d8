//! What is seen while it measures, on standard error: on a terminal one line per
//! stage, and one for all of them with the time that is left; elsewhere one line
//! per trial.

use crate::exit::{clean, say};
use crate::look;
use diskfacts_engine::Progress;
use diskfacts_plan::Plan;
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::Trial;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How often a line is drawn anew.
const REDRAW: Duration = Duration::from_millis(200);

/// The lines of a run.
pub(crate) struct Display {
    lines: Option<Lines>,
    /// How often each stage is done.
    trials: u32,
    /// Stages that are measured; those behind them are done before.
    measured: usize,
    /// Whether trials get a line where there is no terminal.
    says: bool,
}

struct Lines {
    all: MultiProgress,
    /// One for each stage; the cells of a matrix share one.
    stages: Vec<ProgressBar>,
    /// Which of these belongs to each stage of the plan.
    line_of: Vec<usize>,
    /// Stages that are measured; those behind them are done before.
    measured: usize,
    /// All stages together.
    total: ProgressBar,
}

/// What the line of all stages is called.
const TOTAL: &str = "all stages";

/// A trial that is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// Index of its stage in the plan.
    pub(crate) stage: usize,
    /// Bytes per operation; none of files, which have many sizes.
    pub(crate) block_size: Option<u64>,
    /// Nanoseconds of all that is left.
    pub(crate) left_ns: u64,
    /// Whether its time is virtual: that is what is shown then.
    pub(crate) is_virtual: bool,
}

impl Lines {
    /// The line of the stage at this index of the plan.
    fn of(&self, stage: usize) -> Option<&ProgressBar> {
        self.stages.get(*self.line_of.get(stage)?)
    }
}

/// The names of the stages, each once, and which of them each stage has; behind them
/// what is done before the trials.
fn names_of(plan: &Plan) -> (Vec<String>, Vec<usize>) {
    let mut names: Vec<String> = Vec::new();
    let mut line_of = Vec::with_capacity(plan.stages.len());
    let before = plan.precondition.iter().map(|work| &work.stage);
    for stage in plan.stages.iter().chain(before) {
        let name = clean(&stage.name);
        let known = names.iter().position(|known| *known == name);
        line_of.push(known.unwrap_or(names.len()));
        if known.is_none() {
            names.push(name);
        }
    }
    (names, line_of)
}

/// The stage of a trial, and its cell if it has one: `synced, 4KiB, FSYNC`.
fn label(trial: &Trial) -> String {
    let names = std::iter::once(&trial.stage).chain(trial.settings.values());
    names.cloned().collect::<Vec<_>>().join(", ")
}

impl Display {
    pub(crate) fn new(plan: &Plan) -> Self {
        let stderr = std::io::stderr();
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let lines = (stderr.is_terminal() && !dumb).then(|| {
            let all = MultiProgress::new();
            let (names, line_of) = names_of(plan);
            let lengths = names.iter().map(|name| name.chars().count());
            let widest = lengths.max().unwrap_or(0).max(TOTAL.len());
            let line = |name: &str, trials: u64| {
                let bar = all.add(ProgressBar::new(trials));
                bar.set_style(style("{prefix} {pos:>3}/{len:<3} {wide_msg}"));
                bar.set_prefix(format!("{name:<widest$}"));
                bar
            };
            let trials = u64::from(plan.trials);
            let stages: Vec<_> = names.iter().map(|name| line(name, trials)).collect();
            let total = line(TOTAL, trials);
            let measured = plan.stages.len();
            for (work, line) in plan.precondition.iter().zip(&line_of[measured..]) {
                stages[*line].set_length(u64::from(work.at_most()));
            }
            Lines {
                all,
                stages,
                line_of,
                measured,
                total,
            }
        });
        let mut display = Self {
            lines,
            trials: 0,
            measured: plan.stages.len(),
            says: true,
        };
        display.set_trials(plan.trials);
        display
    }

    /// Shows nothing.
    #[cfg(test)]
    pub(crate) fn nothing() -> Self {
        Self {
            lines: None,
            trials: 0,
            measured: 0,
            says: false,
        }
    }

    /// Goes on with the stages of another plan.
    pub(crate) fn go_on_with(&mut self, plan: &Plan) {
        if self.says {
            *self = Self::new(plan);
        }
    }

    /// Each stage is done so often: the time may not allow all that the plan
    /// wants.
    pub(crate) fn set_trials(&mut self, trials: u32) {
        self.trials = trials;
        if let Some(lines) = &self.lines {
            for (line, bar) in lines.stages.iter().enumerate() {
                let of_stages = lines.line_of.iter().take(lines.measured);
                let cells = of_stages.filter(|of| **of == line).count() as u64;
                if cells > 0 {
                    bar.set_length(u64::from(trials) * cells);
                }
            }
            let all = u64::from(trials) * lines.measured as u64;
            lines.total.set_length(all);
        }
    }

    /// Shows how far the filling is while `work` does it; `what` is filled:
    /// `a file of 40 MiB to measure`.
    pub(crate) fn watch_filling<T: Send>(
        &self,
        what: &str,
        bytes: u64,
        block_size: u64,
        progress: &Progress,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let Some(lines) = &self.lines else {
            say(&format!("filling {what}"));
            return work();
        };
        let bar = lines.all.insert(0, ProgressBar::new(bytes));
        bar.set_style(style(
            "filling the file {wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left",
        ));
        let done = watching(
            |_| {
                let done = progress.operations.load(Ordering::Relaxed) * block_size;
                bar.set_position(done.min(bytes));
            },
            work,
        );
        bar.finish_and_clear();
        lines.all.remove(&bar);
        done
    }

    /// Shows how far a copy is while `work` makes it; on a terminal only.
    pub(crate) fn watch_copy<T: Send>(
        bytes_max: Option<u64>,
        block_size: u64,
        progress: &Progress,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if !std::io::stderr().is_terminal() || dumb {
            return work();
        }
        let bar = match bytes_max {
            Some(bytes) => ProgressBar::new(bytes).with_style(style(
                "copying {wide_bar} {binary_bytes} of {binary_total_bytes}, \
                 {binary_bytes_per_sec}, {eta} left",
            )),
            None => ProgressBar::no_length()
                .with_style(style("copying: {binary_bytes}, {binary_bytes_per_sec}")),
        };
        let done = watching(
            |_| {
                let done = progress.operations.load(Ordering::Relaxed) * block_size;
                bar.set_position(bytes_max.map_or(done, |most| done.min(most)));
            },
            work,
        );
        bar.finish_and_clear();
        done
    }

    /// Shows how far a trial is while `work` does it.
    pub(crate) fn watch<T: Send>(
        &self,
        watched: Watched,
        progress: &Progress,
        work: impl FnOnce() -> T + Send,
    ) -> T {
        let Some(lines) = &self.lines else {
            return work();
        };
        let Some(bar) = lines.of(watched.stage) else {
            return work();
        };
        bar.set_message("preparing");
        let left = |elapsed: Duration| {
            let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
            if watched.stage >= lines.measured {
                lines.total.set_message("come after this");
                return;
            }
            let left_ns = watched.left_ns.saturating_sub(elapsed_ns);
            lines.total.set_message(left_words(left_ns));
        };
        left(Duration::ZERO);
        let mut last = (0, Duration::ZERO);
        watching(
            |elapsed| {
                let elapsed = if watched.is_virtual {
                    Duration::from_nanos(progress.virtual_ns.load(Ordering::Relaxed))
                } else {
                    elapsed
                };
                left(elapsed);
                let operations = progress.operations.load(Ordering::Relaxed);
                let seconds = elapsed.saturating_sub(last.1).as_secs_f64();
                if operations == 0 || seconds <= 0.0 {
                    return;
                }
                let per_second = (operations - last.0) as f64 / seconds;
                last = (operations, elapsed);
                bar.set_message(now(per_second, watched.block_size));
            },
            work,
        )
    }

    /// Says what is to come.
    pub(crate) fn tell(&self, line: &str) {
        match &self.lines {
            // A terminal that is gone reads nothing.
            Some(lines) => drop(lines.all.println(clean(line))),
            None if self.says => say(line),
            None => {}
        }
    }

    /// A trial of the stage at this index of the plan has ended and is stored.
    pub(crate) fn trial_ended(&self, stage: usize, trial: &Trial) {
        let blocks = !trial.workload.operation.on_files();
        let said = now(trial.iops, blocks.then_some(trial.workload.block_size));
        let Some(lines) = &self.lines else {
            if self.says {
                let (label, number) = (label(trial), trial.number);
                if stage < self.measured {
                    let (order, of) = (trial.order, self.trials);
                    say(&format!(
                        "trial {order}: {label} ({number} of {of}): {said}"
                    ));
                } else {
                    say(&format!(
                        "before the trials: {label} (round {number}): {said}"
                    ));
                }
            }
            return;
        };
        if let Some(bar) = lines.of(stage) {
            bar.inc(1);
            bar.set_message(said);
        }
        if stage < self.measured {
            lines.total.inc(1);
        }
    }

    /// Takes the lines away: what follows says all of it better.
    pub(crate) fn finish(&self) {
        if let Some(lines) = &self.lines {
            for bar in lines.stages.iter().chain([&lines.total]) {
                bar.finish_and_clear();
            }
            // A terminal that is gone needs no clearing.
            let _ = lines.all.clear();
        }
    }
}

impl Drop for Display {
    /// An error message must not be drawn over.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Calls `look` again and again on a thread of its own while `work` runs here.
fn watching<T>(mut look: impl FnMut(Duration) + Send, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let (done, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(REDRAW) == Err(mpsc::RecvTimeoutError::Timeout) {
                look(began.elapsed());
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// `146.9 MB/s (140.1 MiB/s), 35860 IOPS`, or `35860 files/s`.
fn now(operations_per_s: f64, block_size: Option<u64>) -> String {
    let Some(block_size) = block_size else {
        return format!("{} files/s", rate_digits(operations_per_s));
    };
    let bytes_per_s = operations_per_s * block_size as f64;
    format!(
        "{} MB/s ({} MiB/s), {} IOPS",
        rate_digits(bytes_per_s / 1e6),
        rate_digits(bytes_per_s / f64::from(1 << 20)),
        rate_digits(operations_per_s)
    )
}

/// How long it takes yet, to the second, so that the line does not flicker; the time may be
/// over before the work is.
fn left_words(ns: u64) -> String {
    match ns.div_ceil(1_000_000_000) {
        0 => "nearly done".to_owned(),
        seconds => format!("{} left", show_duration(seconds * 1_000_000_000)),
    }
}

fn style(template: &str) -> ProgressStyle {
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    if look::of_stderr_is_utf8() {
        style
    } else {
        style.progress_chars("#>-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_was_foreseen_has_no_nanoseconds_left() {
        assert_eq!(left_words(0), "nearly done");
        assert_eq!(left_words(1), "1 s left");
        assert_eq!(left_words(2_000_000_001), "3 s left");
    }
}
