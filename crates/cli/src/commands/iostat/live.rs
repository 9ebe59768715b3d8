//! The full screen of `diskfacts iostat --live`; at its end the report of all of the time.

use super::request::Request;
use super::{Reports, View};
use crate::args::{Common, IostatArgs};
use crate::commands::print_on;
use crate::devices_now::now;
use crate::exit::{Exit, Failure};
use crate::look;
use crate::screen::{Scene, Screen};
use crate::signals::{Signals, Waker};
use diskfacts_facts::device_rates::DeviceRates;
use diskfacts_host::Roots;
use diskfacts_host::activity::{Reading, Wanted};
use diskfacts_record::DeviceActivity;
use diskfacts_report::text::live::{Course, DevicesView, Moment, View as Drawn};
use jiff::Zoned;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From report to report, where nobody says.
const INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn run(
    args: &IostatArgs,
    request: Request,
    (signals, waker): (&Signals, &Waker),
    common: &Common,
) -> Result<Exit, Failure> {
    let interval = request.interval.unwrap_or(INTERVAL);
    let count = request.interval.and(request.reports);
    let what = match &request.wanted {
        Wanted::Named(names) => names.join(", "),
        Wanted::Everything => "all disks and partitions".to_owned(),
        Wanted::Disks => "all disks".to_owned(),
    };
    let roots = Roots::default();
    let mut view = View::new(args, &roots, look::of_stdout(common.color))?;
    let scene = DevicesScene {
        request,
        roots,
        all: args.all,
        has_cpu: !args.devices_only,
        interval,
        first: None,
        last: None,
        next: Instant::now(),
        view: DevicesView {
            what,
            ..DevicesView::default()
        },
        failed: None,
        signals: signals.clone(),
    };
    let scene = Arc::new(Mutex::new(scene));
    let mut screen = Screen::open(Arc::clone(&scene), signals, look::of_screen(common.color))?;
    let reports = count.and_then(|count| u32::try_from(count).ok());
    let all = reports.and_then(|count| interval.checked_mul(count));
    let end = all.and_then(|all| Instant::now().checked_add(all));
    loop {
        // A day, and then another one.
        let until = end.unwrap_or_else(|| Instant::now() + Duration::from_hours(24));
        waker.wait(until)?;
        if signals.came().is_some() || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
    }
    screen.close();
    let mut scene = scene.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(failure) = scene.failed.take() {
        return Err(failure);
    }
    if let Some(first) = &scene.first {
        let all = scene.read()?.since(first);
        print_on(&view.report(&all))?;
    }
    Ok(signals.came().map_or(Exit::Done, Exit::usual))
}

struct DevicesScene {
    request: Request,
    roots: Roots,
    all: bool,
    has_cpu: bool,
    interval: Duration,
    /// The first reading, and the last.
    first: Option<Reading>,
    last: Option<Reading>,
    /// When the interval ends.
    next: Instant,
    view: DevicesView,
    /// Why there is no more to be seen.
    failed: Option<Failure>,
    signals: Signals,
}

impl DevicesScene {
    fn read(&self) -> Result<Reading, Failure> {
        Reports {
            roots: &self.roots,
            request: &self.request,
            skip_first: false,
            all: self.all,
        }
        .read()
    }

    fn interval_ended(&mut self) -> Result<(), Failure> {
        let reading = self.read()?;
        if self.first.is_none() {
            self.first = Some(reading.clone());
        }
        if let Some(last) = &self.last {
            let activity = reading.since(last);
            self.view.cpu = self.has_cpu.then_some(activity.cpu);
            let centiseconds = activity.centiseconds;
            let each = activity.devices.iter();
            self.view.devices = each
                .map(|device| now(&self.roots, device, centiseconds, None))
                .collect();
            for device in &activity.devices {
                self.course(device, centiseconds);
            }
        }
        self.last = Some(reading);
        Ok(())
    }

    /// Adds what a device did to its course, from when it first did something.
    fn course(&mut self, device: &DeviceActivity, centiseconds: u64) {
        let name = &device.counted.name;
        let Some(rates) = DeviceRates::new(&device.counted, centiseconds as f64) else {
            return;
        };
        let per_s = rates.per_s(rates.transfers().count);
        let moment = Moment {
            of: name.as_str().into(),
            begins: false,
            per_s: Some(per_s),
            latencies: Vec::new(),
        };
        let courses = &mut self.view.courses;
        match courses.iter_mut().find(|(other, _)| other == name) {
            Some((_, course)) => course.push(moment),
            None if per_s == 0.0 => {}
            None => {
                let mut course = Course::default();
                course.push(moment);
                courses.push((name.clone(), course));
            }
        }
    }
}

impl Scene for DevicesScene {
    fn look(&mut self) {
        self.view.at = Zoned::now().strftime("%H:%M:%S").to_string();
        if Instant::now() < self.next || self.failed.is_some() {
            return;
        }
        self.next = Instant::now() + self.interval;
        if let Err(failure) = self.interval_ended() {
            self.failed = Some(failure);
            self.signals.quit();
        }
    }

    fn view(&self) -> &dyn Drawn {
        &self.view
    }
}
