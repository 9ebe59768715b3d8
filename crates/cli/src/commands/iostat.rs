//! `diskfacts iostat [DEVICE...] [INTERVAL [COUNT]]`: what the machine's devices
//! do, report after report.
//!
//! As sysstat's iostat it reads the counters at each report, begins with the sums
//! since the system started, and is done when Ctrl-C comes: that is its usual end,
//! and no failure. Nothing is stored.

mod live;
mod request;

use super::print_on;
use crate::args::{Common, IostatArgs, IostatStyle};
use crate::exit::{Exit, Failure, OrFail, say};
use crate::signals::{Signals, Waker};
use crate::{look, screen};
use diskfacts_host::activity::{Reading, Wanted, processors};
use diskfacts_host::{Roots, all_devices, machine};
use diskfacts_record::{Activity, ChangeKind, Stack};
use diskfacts_report::iostat::{self, Dialect, Heading, Parts};
use diskfacts_report::text::{self, Look};
use jiff::Zoned;
use request::Request;
use std::time::Instant;

pub(crate) fn run(args: &IostatArgs, common: &Common) -> Result<Exit, Failure> {
    if args.live {
        screen::check("without --live a report is printed each second: `diskfacts iostat 1`")?;
    }
    let roots = Roots::default();
    let request = Request::of(args, &roots)?;
    let signals = Signals::listen()?;
    let waker = signals.waker()?;
    if args.live {
        return live::run(args, request, (&signals, &waker), common);
    }
    let mut view = View::new(args, &roots, look::of_stdout(common.color))?;
    let reports = Reports {
        roots: &roots,
        request: &request,
        skip_first: args.skip_first,
        all: args.all,
    };
    reports.print(&mut view, &signals, &waker)
}

/// The loop.
struct Reports<'a> {
    roots: &'a Roots,
    request: &'a Request,
    skip_first: bool,
    all: bool,
}

impl Reports<'_> {
    fn print(&self, view: &mut View, signals: &Signals, waker: &Waker) -> Result<Exit, Failure> {
        let start = Instant::now();
        let mut earlier: Option<Reading> = None;
        let mut left = self.request.reports;
        let mut out = view.opening();
        for turn in 1_u32.. {
            let reading = self.read()?;
            let activity = match &earlier {
                None => reading.since_start(),
                Some(earlier) => reading.since(earlier),
            };
            let skipped = earlier.is_none() && self.skip_first && self.request.interval.is_some();
            earlier = Some(reading);
            if !skipped {
                out.push_str(&view.report(&activity));
                left = left.map(|left| left - 1);
            }
            let interval = self.request.interval.filter(|_| left != Some(0));
            let Some(interval) = interval else {
                out.push_str(&view.end());
                print_on(&out)?;
                return Ok(Exit::Done);
            };
            if print_on(&out)?.is_none() {
                return Ok(Exit::Done);
            }
            out.clear();
            waker.wait(start + interval.saturating_mul(turn))?;
            if let Some(stopped) = signals.came() {
                out.push_str(&view.end());
                print_on(&out)?;
                // Ctrl-C is how iostat ends, with 0 as in sysstat.
                return Ok(stopped.usual());
            }
            out.push_str(view.between());
        }
        Ok(Exit::Done)
    }

    fn read(&self) -> Result<Reading, Failure> {
        let reading = Reading::take(self.roots, &self.request.wanted).or_failed()?;
        let unfiltered = self.all || matches!(self.request.wanted, Wanted::Named(_));
        Ok(if unfiltered {
            reading
        } else {
            reading.without_unused()
        })
    }
}

/// How the reports are printed.
struct View {
    kind: Kind,
    reported: bool,
}

enum Kind {
    Facts {
        look: Look,
        cpu: bool,
        /// Told with the first report.
        stack: Option<Stack>,
    },
    Other {
        parts: Parts,
        heading: Heading,
    },
}

impl View {
    fn new(args: &IostatArgs, roots: &Roots, look: Look) -> Result<Self, Failure> {
        let dialect = match args.style {
            IostatStyle::Facts => None,
            IostatStyle::Linux => Some(Dialect::Linux),
            IostatStyle::LinuxClassic => Some(Dialect::LinuxClassic),
            IostatStyle::Solaris => Some(Dialect::Solaris { megabytes: true }),
            IostatStyle::Json => Some(Dialect::Json),
        };
        if args.basic && !matches!(dialect, Some(Dialect::Linux | Dialect::Json)) {
            return Err(Failure::wrong_call(
                "--basic is sysstat's report without -x: type --style linux --basic, or --style \
                 json --basic",
            ));
        }
        let cpu = !args.devices_only;
        let kind = match dialect {
            Some(dialect) => Kind::Other {
                parts: Parts {
                    dialect,
                    basic: args.basic,
                    cpu,
                },
                heading: heading(roots),
            },
            None => Kind::Facts {
                look,
                cpu,
                // Without it the report is as good, but for that sentence.
                stack: all_devices(roots).ok(),
            },
        };
        Ok(Self {
            kind,
            reported: false,
        })
    }

    fn opening(&self) -> String {
        match &self.kind {
            Kind::Facts { .. } => String::new(),
            Kind::Other { parts, heading } => iostat::opening(*parts, heading),
        }
    }

    fn report(&mut self, activity: &Activity) -> String {
        self.reported = true;
        match &mut self.kind {
            Kind::Facts { look, cpu, stack } => {
                text::iostat(activity, stack.take().as_ref(), *cpu, look)
            }
            Kind::Other { parts, .. } => {
                changes(activity);
                iostat::report(*parts, activity)
            }
        }
    }

    /// What stands before a further report.
    fn between(&self) -> &'static str {
        match &self.kind {
            _ if !self.reported => "",
            Kind::Facts { .. } => "\n",
            Kind::Other { parts, .. } => iostat::after(*parts, true),
        }
    }

    /// What stands at the end.
    fn end(&self) -> String {
        match &self.kind {
            Kind::Facts { .. } => String::new(),
            Kind::Other { parts, .. } => {
                let after = if self.reported {
                    iostat::after(*parts, false)
                } else {
                    ""
                };
                format!("{after}{}", iostat::closing(*parts))
            }
        }
    }
}

/// The lines of other programs have no place for it.
fn changes(activity: &Activity) {
    for change in &activity.changes {
        let what = match change.what {
            ChangeKind::Appeared => "appeared: its row is of the time since then".to_owned(),
            ChangeKind::Vanished => "is gone".to_owned(),
            ChangeKind::Replaced {
                counter,
                before,
                after,
            } => format!(
                "was removed, and it or another device came under its name (its counter of \
                 {counter} fell from {before} to {after}): its row is of the time since then"
            ),
        };
        say(&format!("diskfacts: note: {} {what}", change.device));
    }
}

/// What the first line of sysstat names. It prints the date as the locale has it;
/// here it is that of the C locale, or ISO 8601's with `S_TIME_FORMAT=ISO`, as
/// there.
fn heading(roots: &Roots) -> Heading {
    let machine = machine(roots);
    let kernel = machine.kernel.unwrap_or_default();
    let (system, release) = kernel.split_once(' ').unwrap_or((&kernel, ""));
    let iso = std::env::var_os("S_TIME_FORMAT").is_some_and(|format| format == "ISO");
    let form = if iso { "%Y-%m-%d" } else { "%m/%d/%y" };
    Heading {
        system: system.to_owned(),
        release: release.to_owned(),
        host: machine.host.unwrap_or_default(),
        architecture: machine.architecture,
        cpus: processors(roots),
        date: Zoned::now().strftime(form).to_string(),
    }
}
