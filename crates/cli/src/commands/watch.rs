//! `diskfacts watch TARGET`: what the block layer does with the requests of the
//! devices under a target, report after report, and all of it at the end.
//!
//! Nothing is stored. As of iostat, Ctrl-C is the usual end and no failure.

mod live;

use super::print_on;
use crate::args::{Common, WatchArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::signals::{Signals, Waker};
use crate::target::simulated;
use crate::{look, screen};
use diskfacts_host::observe::block_layer::{LiveBlockLayer, LiveError};
use diskfacts_host::{Roots, stack_of};
use diskfacts_record::evidence::BlockLayer;
use diskfacts_record::{Stack, Unseen};
use diskfacts_report::json;
use diskfacts_report::text::{self, Look};
use jiff::{Timestamp, Zoned};
use live::RequestsShown;
use std::time::{Duration, Instant};

/// Time between two looks into the kernel's buffers, which hold at least three times
/// of it.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &WatchArgs, common: &Common) -> Result<Exit, Failure> {
    if simulated::name(&args.target).is_some() {
        return Err(Failure::wrong_call(
            "watch shows the requests of this machine's block layer, and a simulated disk has \
             none; `diskfacts measure sim:PROFILE` says where its time goes",
        ));
    }
    if args.live {
        screen::check("without --live a report is printed each second")?;
    }
    let roots = Roots::default();
    let stack = stack_of(&roots, &args.target).or_wrong_call()?;
    let signals = Signals::listen()?;
    let waker = signals.waker()?;
    let live = LiveBlockLayer::new(&roots, &stack).map_err(|error| instead(&error, &stack))?;
    let view = View {
        look: look::of_stdout(common.color),
        json: args.json,
        unseen: live.unseen().to_vec(),
    };
    let shown = if args.live {
        let look = look::of_screen(common.color);
        Some(RequestsShown::open(live.devices(), &signals, look)?)
    } else {
        None
    };
    Watch {
        live,
        view,
        shown,
        interval: Duration::from_nanos(args.interval),
        count: args.count.unwrap_or(u64::MAX),
        signals: &signals,
        waker: &waker,
    }
    .run()
}

/// Why nothing can be watched, and what works all the same.
fn instead(error: &LiveError, stack: &Stack) -> Failure {
    let names: Vec<&str> = stack.devices.iter().map(|device| &*device.name).collect();
    if names.is_empty() {
        return Failure::wrong_call(format!(
            "{error}: it lies on no block device of this machine; `diskfacts devices TARGET` shows \
             what it lies on"
        ));
    }
    Failure::failed(format!(
        "{error}; without them `diskfacts iostat {} 1` shows what the devices count",
        names.join(" ")
    ))
}

/// Why a part ended.
enum Ended {
    Time,
    Signal(Exit),
    /// These devices are not there any more.
    Gone(Vec<String>),
}

struct Watch<'a> {
    live: LiveBlockLayer,
    view: View,
    /// In the place of reports.
    shown: Option<RequestsShown>,
    interval: Duration,
    count: u64,
    signals: &'a Signals,
    waker: &'a Waker,
}

impl Watch<'_> {
    fn run(mut self) -> Result<Exit, Failure> {
        let start = Instant::now();
        if self.shown.is_none() && print_on(&self.view.opening(&self.live))?.is_none() {
            return Ok(Exit::Done);
        }
        let mut exit = Ok(Exit::Done);
        for part in 1..=self.count {
            let parts = u32::try_from(part).unwrap_or(u32::MAX);
            match self.until(start + self.interval.saturating_mul(parts))? {
                Ended::Time => {}
                // Ctrl-C is how it ends, with 0.
                Ended::Signal(stopped) => {
                    exit = Ok(stopped.usual());
                    break;
                }
                Ended::Gone(names) => {
                    exit = Err(gone(&names));
                    break;
                }
            }
            let layer = self.live.part().or_failed()?;
            if let Some(shown) = &self.shown {
                shown.part(layer);
                continue;
            }
            if print_on(&self.view.part(part, &layer))?.is_none() {
                return Ok(Exit::Done);
            }
        }
        drop(self.shown);
        let all = self.live.finish().or_failed()?;
        print_on(&self.view.total(&all))?;
        exit
    }

    /// Takes the events until then, or until something else ends it.
    fn until(&mut self, end: Instant) -> Result<Ended, Failure> {
        loop {
            self.waker.wait(end.min(Instant::now() + LOOK))?;
            if let Some(exit) = self.signals.came() {
                return Ok(Ended::Signal(exit));
            }
            self.live.drain().or_failed()?;
            let gone = self.live.gone();
            if !gone.is_empty() {
                return Ok(Ended::Gone(gone));
            }
            if Instant::now() >= end {
                return Ok(Ended::Time);
            }
        }
    }
}

fn gone(names: &[String]) -> Failure {
    Failure::failed(format!(
        "{} went away, or lost what it was attached to, so watching it ended; `diskfacts devices` \
         lists what is there",
        names.join(" and ")
    ))
}

/// How it is printed.
struct View {
    look: Look,
    json: bool,
    /// What is not seen.
    unseen: Vec<Unseen>,
}

impl View {
    fn opening(&self, live: &LiveBlockLayer) -> String {
        if self.json {
            return String::new();
        }
        text::watch_opening(live.devices(), &self.unseen, &self.look)
    }

    fn part(&self, part: u64, layer: &BlockLayer) -> String {
        if self.json {
            return json::watch_part(part, &Timestamp::now().to_string(), layer, &self.unseen);
        }
        let at = Zoned::now().strftime("%H:%M:%S").to_string();
        text::watch_part(layer, &at, &self.look)
    }

    fn total(&self, layer: &BlockLayer) -> String {
        if self.json {
            return json::watch_total(&Timestamp::now().to_string(), layer, &self.unseen);
        }
        text::watch_total(layer, &self.look)
    }
}
