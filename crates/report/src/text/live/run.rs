//! The screen of `diskfacts measure --live` and `tune --live`.

use super::super::look::{Look, Style};
use super::super::progress::{Left, Standing, progress};
use super::claims::{self, Known};
use super::layout::{Wanted, rows, stack};
use super::line::Line;
use super::stages::{self, StageNow};
use super::{Course, DeviceNow, View, devices};

/// From how many columns on there are two halves.
const TWO_HALVES: usize = 120;
const GAP: usize = 3;
/// Rows of what runs now: itself, the rate, some of latencies, and what they are of.
const NOW: Wanted = Wanted {
    least: 5,
    enough: 7,
    most: 18,
};
/// Rows of claims before other parts grow: the heading and as many lines.
const CLAIMS: usize = 5;

/// A trial that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// Which of the stages.
    pub stage: usize,
    /// Which of its trials, from 1.
    pub number: u32,
    /// Operations per second now; absent before the first.
    pub now: Option<f64>,
    /// How long the run takes yet, where that can be told.
    pub left: Option<Left>,
}

/// What is known of a run while it goes on.
#[derive(Debug, Clone, Default)]
pub struct RunView {
    /// The target and what lies under it.
    pub what: String,
    /// Seconds since it began.
    pub elapsed_s: u64,
    /// What is done where no trial runs: `filling a file: 45 %`.
    pub doing: String,
    /// The trial that runs.
    pub running: Option<Running>,
    /// The stages of the plan, and behind them what is done before the trials.
    pub stages: Vec<StageNow>,
    /// What was measured over time.
    pub course: Course,
    /// The devices under the target, from the top; none of a simulated one.
    pub devices: Vec<DeviceNow>,
    /// What follows from the trials so far.
    pub known: Option<Known>,
}

impl RunView {
    /// What runs now, and its course below.
    fn now(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let standing = self.running.and_then(|running| {
            let stage = self.stages.get(running.stage)?;
            let standing = Standing {
                stage: &stage.label,
                called: stage.called,
                trial: running.number,
                trials: stage.trials,
                // The row of the stage has what it came to so far.
                rates: &[],
                now: running.now,
                block_size: stage.block_size,
                left: running.left,
            };
            Some(progress(&standing, &Look { width, ..*look }))
        });
        let title = standing.unwrap_or_else(|| self.doing.clone());
        if height == 0 {
            return Vec::new();
        }
        let mut lines = vec![Line::of(Style::Heading, &title)];
        lines.extend(self.course.lines(look, width, height.saturating_sub(1)));
        lines
    }

    fn stages(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let running = self.running.map(|running| running.stage);
        let known = self.known.as_ref();
        stages::lines(&self.stages, running, known, look, (width, height))
    }

    /// The claims, and how many rows they want.
    fn claims(&self, width: usize) -> Wanted {
        let known = self.known.as_ref();
        let claims = known.map_or(1, |known| known.lines(width).len());
        Wanted {
            least: 2,
            enough: CLAIMS,
            most: 1 + claims,
        }
    }

    fn devices(&self, look: &Look, width: usize) -> Vec<Line> {
        if self.devices.is_empty() {
            return Vec::new();
        }
        devices::lines(&self.devices, look, width)
    }

    /// One part below the other.
    fn stacked(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let mut devices = self.devices(look, width);
        let wanted = [
            Wanted::all_of(self.stages.len() + 1, 4),
            NOW,
            self.claims(width),
            Wanted::all_of(devices.len(), 2),
        ];
        let [for_stages, for_now, for_claims, for_devices] = rows(height, wanted);
        devices.truncate(for_devices);
        let parts = [
            self.stages(look, width, for_stages),
            self.now(look, width, for_now),
            devices,
            claims::lines(self.known.as_ref(), width, for_claims),
        ];
        stack(height, parts)
    }

    /// What it came to on the left, what happens on the right.
    fn in_halves(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        let left = (width - GAP) * 3 / 5;
        let right = width - GAP - left;
        let all_stages = Wanted::all_of(self.stages.len() + 1, 4);
        let [for_stages, for_claims] = rows(height, [all_stages, self.claims(left)]);
        let parts = [
            self.stages(look, left, for_stages),
            claims::lines(self.known.as_ref(), left, for_claims),
        ];
        let mut lefts = stack(height, parts);
        let mut devices = self.devices(look, right);
        let wanted = [NOW, Wanted::all_of(devices.len(), 2)];
        let [for_now, for_devices] = rows(height, wanted);
        devices.truncate(for_devices);
        let mut rights = stack(height, [self.now(look, right, for_now), devices]);
        let most = lefts.len().max(rights.len());
        lefts.resize_with(most, Line::default);
        rights.resize_with(most, Line::default);
        let both = lefts.into_iter().zip(rights);
        both.map(|(of_left, of_right)| of_left.beside(look, left + GAP, of_right))
            .collect()
    }
}

impl View for RunView {
    fn title(&self) -> (String, String) {
        let (minutes, seconds) = (self.elapsed_s / 60, self.elapsed_s % 60);
        (self.what.clone(), format!("{minutes}:{seconds:02}"))
    }

    fn body(&self, look: &Look, width: usize, height: usize) -> Vec<Line> {
        if width >= TWO_HALVES {
            self.in_halves(look, width, height)
        } else {
            self.stacked(look, width, height)
        }
    }

    fn quits(&self) -> &'static str {
        "ends and stores"
    }

    fn help(&self) -> &'static [&'static str] {
        &[
            "Stages: > runs now; trials so far / at least, + maybe more; figures and latencies as \
             on the first page; see: the letters and numbers of what follows, ! do not quote.",
            "Below: the rate over time, each stage on a scale of its own, and latencies over \
             time, a column for each look: {shades} of the operations any, and from 1, 10 and 50 % \
             on. A | is where a trial began.",
            "Devices: over the last second, everybody's requests. wait: from being queued to \
             being done; in flight: at this moment; queued, at the device: the medians of the last \
             trial whose requests were followed (as root).",
            "What follows is worked out anew between trials, and changes with them.",
        ]
    }
}
