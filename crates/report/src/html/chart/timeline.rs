//! What each request did: when it was queued, given to the device and done, in a moment of a
//! trial. Requests that are under way together lie in lanes below each other.

use crate::html::LOOK;
use crate::html::figure::{Drawing, Figure, Key};
use crate::html::plot::Axis;
use crate::html::scale::{Scale, Unit};
use crate::html::svg::{self, Anchor, TEXT, WIDTH};
use crate::html::table::{Cell, Table};
use crate::text::words::{add_once, count};
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::show_size;
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::{Burst, BurstOf, BurstRequest, Bursts, Run};
use maud::{Markup, html};

/// Requests of a drawing: more of them are too thin to be told apart.
const REQUESTS: usize = 24;
/// Stages of a run that have a drawing.
const STAGES: usize = 10;
/// Units from one lane to the next, and of the bar in it.
const LANE: f64 = 11.0;
const BAR: f64 = 8.0;
/// Units at either side, for half a label.
const MARGIN: f64 = 20.0;
/// Units below the lanes, for the labels of the axis and its title.
const BELOW: f64 = 34.0;

/// Requests of a moment of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// Name of the stage, with its settings.
    pub(crate) stage: String,
    /// Number of the trial.
    pub(crate) trial: u32,
    /// Which moment it is.
    pub(crate) of: BurstOf,
    /// When the first of these requests began, ns from the trial's beginning.
    pub(crate) from_ns: u64,
    /// How long it is until the last one is done, ns; above 0.
    pub(crate) length_ns: u64,
    /// The devices that have requests, one below the other.
    pub(crate) devices: Vec<Device>,
}

/// The requests of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// By when they began.
    pub(crate) requests: Vec<Placed>,
    /// How many lanes they lie in.
    pub(crate) lanes: usize,
}

/// A request in its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Its times are ns from the beginning of the drawing.
    pub(crate) request: BurstRequest,
    /// From 0.
    pub(crate) lane: usize,
}

/// A moment of each stage of which requests were kept: around its slowest one, else its first.
pub(crate) fn timelines(run: &Run) -> Vec<Timeline> {
    let each = run.figures.iter().filter_map(|figures| {
        let of_stage = run
            .trials
            .iter()
            .filter(|trial| trial.stage == figures.stage && trial.settings == figures.settings);
        let mut kept =
            of_stage.filter_map(|trial| Some((trial.number, trial.evidence.bursts.as_ref()?)));
        let (trial, packed) = kept.next()?;
        timeline(
            stage_label(&figures.stage, &figures.settings),
            trial,
            &packed.unpack(),
        )
    });
    each.take(STAGES).collect()
}

/// `None` where no request was kept.
fn timeline(stage: String, trial: u32, bursts: &Bursts) -> Option<Timeline> {
    // The slowest stands last.
    let burst = bursts
        .bursts
        .iter()
        .rev()
        .find(|burst| !burst.requests.is_empty())?;
    let shown = shown(burst);
    let begins = shown.iter().map(BurstRequest::began_ns).min()?;
    let ends = shown.iter().map(|request| request.completed_ns).max()?;
    let devices = bursts
        .devices
        .iter()
        .enumerate()
        .filter_map(|(place, name)| {
            let of_device = shown.iter().filter(|request| request.device == place);
            let moved = of_device.map(|request| BurstRequest {
                queued_ns: request.queued_ns.map(|ns| ns - begins),
                issued_ns: request.issued_ns - begins,
                completed_ns: request.completed_ns - begins,
                ..*request
            });
            device(name, moved.collect())
        });
    Some(Timeline {
        stage,
        trial,
        of: burst.of,
        from_ns: burst.from_ns.saturating_add(begins),
        length_ns: ends.saturating_sub(begins).max(1),
        devices: devices.collect(),
    })
}

/// The first requests of a burst, or those around the slowest, by when they began.
fn shown(burst: &Burst) -> Vec<BurstRequest> {
    let mut requests = burst.requests.clone();
    requests.sort_by_key(BurstRequest::began_ns);
    let from = match burst.of {
        BurstOf::First => 0,
        BurstOf::Slowest => {
            let places = 0..requests.len();
            let slowest = places
                .max_by_key(|place| requests[*place].took_ns())
                .unwrap_or(0);
            let last = requests.len().saturating_sub(REQUESTS);
            slowest.saturating_sub(REQUESTS / 2).min(last)
        }
    };
    requests.drain(..from);
    requests.truncate(REQUESTS);
    requests
}

/// Each request in the first lane that is free when it begins.
fn device(name: &str, requests: Vec<BurstRequest>) -> Option<Device> {
    let mut free_from: Vec<u64> = Vec::new();
    let place = |request: BurstRequest| {
        let free = free_from
            .iter()
            .position(|free| *free <= request.began_ns());
        let lane = free.unwrap_or_else(|| {
            free_from.push(0);
            free_from.len() - 1
        });
        // One that took no time has its lane for a moment.
        free_from[lane] = request.completed_ns.max(request.began_ns() + 1);
        Placed { request, lane }
    };
    let requests: Vec<Placed> = requests.into_iter().map(place).collect();
    (!requests.is_empty()).then(|| Device {
        name: name.to_owned(),
        requests,
        lanes: free_from.len(),
    })
}

impl Timeline {
    fn requests(&self) -> impl Iterator<Item = (&Device, &Placed)> {
        let devices = self.devices.iter();
        devices.flat_map(|device| device.requests.iter().map(move |placed| (device, placed)))
    }

    /// The time, from the left to the right of the drawing.
    pub(crate) fn axis(&self) -> Axis {
        let scale = Scale::linear(0.0, self.length_ns as f64);
        Axis::of("", Unit::Ns, scale.onto(MARGIN, WIDTH - MARGIN))
    }

    /// The top of the lanes of each device, and the bottom of them all.
    fn tops(&self) -> (Vec<f64>, f64) {
        let named = if self.devices.len() > 1 {
            1.3 * TEXT
        } else {
            2.0
        };
        let mut bottom = 0.0;
        let top = |device: &Device| {
            let top = bottom + named;
            bottom = top + device.lanes as f64 * LANE;
            top
        };
        (self.devices.iter().map(top).collect(), bottom)
    }
}

/// The class of a kind of request: its colour.
fn class(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "s0",
        RequestKind::Write => "s1",
        RequestKind::Flush => "s3",
        RequestKind::Discard => "s4",
        RequestKind::Other => "s7",
    }
}

fn word(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "read",
        RequestKind::Write => "write",
        RequestKind::Flush => "flush",
        RequestKind::Discard => "discard",
        RequestKind::Other => "other request",
    }
}

/// A timeline as a figure.
pub(crate) fn figure(timeline: &Timeline, id: String) -> Figure {
    let axis = timeline.axis();
    let scale = axis.scale;
    let (tops, bottom) = timeline.tops();
    let devices = timeline.devices.iter().zip(&tops);
    let elements = html! {
        g class="grid" {
            @for (tick, _) in axis.ticks() {
                path d=(svg::line([(scale.at(*tick), 0.0), (scale.at(*tick), bottom)])) {}
            }
        }
        @for (device, top) in devices {
            @if timeline.devices.len() > 1 {
                (svg::text((0.0, top - 3.0), Anchor::Start, "soft", &device.name))
            }
            @for placed in &device.requests { (bar(placed, *top, scale)) }
        }
        path class="axis" d=(svg::line([(MARGIN, bottom), (WIDTH - MARGIN, bottom)])) {}
        @for (tick, label) in axis.ticks() {
            (svg::text((scale.at(*tick), bottom + 1.2 * TEXT), Anchor::Middle, "", label))
        }
        (svg::text(
            (WIDTH - MARGIN, bottom + BELOW - 7.0),
            Anchor::End,
            "title",
            &format!("from {} after the beginning of trial {}",
                LOOK.duration(timeline.from_ns), timeline.trial),
        ))
    };
    Figure {
        id,
        title: format!("{}: what each request did", timeline.stage),
        seen: seen(timeline),
        drawing: Drawing::Svg(bottom + BELOW, elements),
        legend: legend(timeline),
        numbers: numbers(timeline),
    }
}

/// A request: light while it was queued, full while the device had it.
fn bar(placed: &Placed, top: f64, scale: Scale) -> Markup {
    let request = &placed.request;
    let y = top + placed.lane as f64 * LANE;
    let at = |ns: u64| scale.at(ns as f64);
    let (began, issued, done) = (
        at(request.began_ns()),
        at(request.issued_ns),
        at(request.completed_ns),
    );
    let whose = if request.ours == Some(false) {
        " others"
    } else {
        ""
    };
    let failed = if request.failed { " failed" } else { "" };
    html! {
        g class={ "request " (class(request.operation)) (whose) (failed) } {
            title { (said(request)) }
            @if issued > began {
                (svg::rectangle((began, y), (issued - began, BAR), "queued", ""))
            }
            // What took no time is still to be seen.
            (svg::rectangle((issued, y), ((done - issued).max(0.75), BAR), "issued", ""))
        }
    }
}

/// `read of 4 KiB at 12 GiB, queued 8 µs, at the device 80 µs, of others`.
fn said(request: &BurstRequest) -> String {
    let mut parts = vec![if request.bytes > 0 {
        format!(
            "{} of {} at {}",
            word(request.operation),
            show_size(request.bytes),
            show_size(request.offset_bytes)
        )
    } else {
        word(request.operation).to_owned()
    }];
    if let Some(queued) = queued_ns(request) {
        parts.push(format!("queued {}", LOOK.duration(queued)));
    }
    parts.push(format!(
        "at the device {}",
        LOOK.duration(at_device_ns(request))
    ));
    parts.extend((request.ours == Some(false)).then(|| "not ours".to_owned()));
    parts.extend(request.failed.then(|| "failed".to_owned()));
    parts.join(", ")
}

fn queued_ns(request: &BurstRequest) -> Option<u64> {
    Some(request.issued_ns.saturating_sub(request.queued_ns?))
}

fn at_device_ns(request: &BurstRequest) -> u64 {
    request.completed_ns.saturating_sub(request.issued_ns)
}

fn legend(timeline: &Timeline) -> Vec<Key> {
    let mut kinds: Vec<RequestKind> = Vec::new();
    for (_, placed) in timeline.requests() {
        add_once(&mut kinds, placed.request.operation);
    }
    let issued = |kind: &RequestKind| {
        let class = format!("issued {}", class(*kind));
        Key::area(&class, "", format!("{} at the device", word(*kind)))
    };
    let mut keys: Vec<Key> = kinds.iter().map(issued).collect();
    let first = kinds.first().map_or("s0", |kind| class(*kind));
    let any = |has: fn(&BurstRequest) -> bool| timeline.requests().any(|(_, p)| has(&p.request));
    if any(|request| queued_ns(request).is_some_and(|ns| ns > 0)) {
        keys.push(Key::area(&format!("queued {first}"), "", "in the queue"));
    }
    if any(|request| request.ours == Some(false)) {
        keys.push(Key::area("issued s0 others", "", "not ours"));
    }
    if any(|request| request.failed) {
        keys.push(Key::area("issued failed", "", "failed"));
    }
    keys
}

/// `40 requests in 1.2 ms, around the slowest of the first trial: 310 µs, of which 250 µs in the
/// queue.`
fn seen(timeline: &Timeline) -> String {
    let all = || timeline.requests().map(|(_, placed)| &placed.request);
    let slowest = all().max_by_key(|request| request.took_ns());
    let slowest = slowest.map_or_else(String::new, |request| {
        let queued = queued_ns(request).filter(|ns| *ns > 0);
        let queued = queued.map_or_else(String::new, |ns| {
            format!(", {} of it in the queue", LOOK.duration(ns))
        });
        format!(
            " The slowest of them took {}{queued}.",
            LOOK.duration(request.took_ns())
        )
    });
    let which = match timeline.of {
        BurstOf::First => "the first of the trial",
        BurstOf::Slowest => "around the slowest that was seen",
    };
    let requests = count(all().count() as u64, "request");
    format!(
        "{requests} in {}, {which}.{slowest}",
        LOOK.duration(timeline.length_ns)
    )
}

fn numbers(timeline: &Timeline) -> Table {
    let heads = [
        "begun",
        "device",
        "request",
        "bytes",
        "place",
        "queued",
        "at the device",
        "",
    ];
    let mut table = Table::new("requests", &heads);
    for (device, placed) in timeline.requests() {
        let request = &placed.request;
        let sized = |bytes: u64| (request.bytes > 0).then(|| show_size(bytes));
        let mut said = Vec::new();
        said.extend((request.ours == Some(false)).then_some("not ours"));
        said.extend(request.failed.then_some("failed"));
        table.push(vec![
            Cell::Number(LOOK.duration(request.began_ns())),
            Cell::Text(device.name.clone()),
            Cell::Text(word(request.operation).to_owned()),
            Cell::known(sized(request.bytes)),
            Cell::known(sized(request.offset_bytes)),
            Cell::known(queued_ns(request).map(|ns| LOOK.duration(ns))),
            Cell::Number(LOOK.duration(at_device_ns(request))),
            Cell::Text(said.join(", ")),
        ]);
    }
    table.without_empty_columns()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of 20 µs in the queue and 100 µs at the device, a new one every 50 µs.
    fn request(place: u64) -> BurstRequest {
        let queued_ns = 50_000 * place;
        BurstRequest {
            device: 0,
            operation: RequestKind::Read,
            offset_bytes: 4096 * place,
            bytes: 4096,
            queued_ns: Some(queued_ns),
            issued_ns: queued_ns + 20_000,
            completed_ns: queued_ns + 120_000,
            ours: Some(true),
            failed: false,
        }
    }

    fn bursts(of: BurstOf, requests: Vec<BurstRequest>) -> Bursts {
        Bursts {
            devices: vec!["sda".into(), "sdb".into()],
            bursts: vec![Burst {
                of,
                from_ns: 1_000_000,
                requests,
            }],
        }
    }

    fn first(requests: Vec<BurstRequest>) -> Timeline {
        timeline("stage".into(), 1, &bursts(BurstOf::First, requests)).unwrap()
    }

    fn drawn(timeline: &Timeline) -> String {
        let Drawing::Svg(_, elements) = figure(timeline, "t".into()).drawing else {
            panic!("a drawing");
        };
        elements.into_string()
    }

    #[test]
    fn bars_begin_and_end_when_the_requests_did() {
        let timeline = first((0..6).map(request).collect());
        let scale = timeline.axis().scale;
        let markup = drawn(&timeline);
        let read = |class: &str| -> Vec<(f64, f64)> {
            let number = |text: &String| text.parse::<f64>().unwrap();
            let x = svg::attributes(&markup, class, "x");
            let width = svg::attributes(&markup, class, "width");
            let pairs = x.iter().zip(&width);
            pairs
                .map(|(x, width)| (number(x), number(x) + number(width)))
                .map(|(from, to)| (scale.value(from), scale.value(to)))
                .collect()
        };
        let (queued, issued) = (read("queued"), read("issued"));
        assert_eq!((queued.len(), issued.len()), (6, 6));
        for (place, ((from, to), (given, done))) in queued.into_iter().zip(issued).enumerate() {
            let request = request(place as u64);
            for (read, known) in [
                (from, request.queued_ns.unwrap()),
                (to, request.issued_ns),
                (given, request.issued_ns),
                (done, request.completed_ns),
            ] {
                assert!((read - known as f64).abs() < 50.0, "{read} {known}");
            }
        }
    }

    #[test]
    fn requests_that_overlap_lie_in_lanes_and_the_others_in_the_same_one() {
        // Three are under way at once.
        let timeline = first((0..9).map(request).collect());
        let lanes: Vec<usize> = timeline.requests().map(|(_, placed)| placed.lane).collect();
        assert_eq!(lanes, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(timeline.devices[0].lanes, 3);
        let apart = (0..5).map(|place| request(10 * place)).collect();
        assert_eq!(first(apart).devices[0].lanes, 1);
    }

    #[test]
    fn of_many_those_around_the_slowest_are_shown() {
        let mut requests: Vec<BurstRequest> = (0..200).map(request).collect();
        requests[150].completed_ns += 10_000_000;
        let around = timeline("s".into(), 2, &bursts(BurstOf::Slowest, requests.clone())).unwrap();
        assert_eq!(around.requests().count(), REQUESTS);
        // The 139th was queued at 6.9 ms.
        assert_eq!(around.from_ns, 1_000_000 + 138 * 50_000);
        let seen = seen(&around);
        assert!(
            seen.contains("The slowest of them took 10.1 ms, 20 µs of it in the queue."),
            "{seen}"
        );
        let begin = timeline("s".into(), 2, &bursts(BurstOf::First, requests)).unwrap();
        assert_eq!(begin.from_ns, 1_000_000);
    }

    #[test]
    fn each_device_has_lanes_of_its_own_and_others_requests_are_told_apart() {
        let mut requests: Vec<BurstRequest> = (0..4).map(request).collect();
        requests[1].device = 1;
        requests[1].operation = RequestKind::Flush;
        requests[1].bytes = 0;
        requests[2].ours = Some(false);
        requests[3].failed = true;
        let timeline = first(requests);
        assert_eq!(timeline.devices.len(), 2);
        let markup = drawn(&timeline);
        assert!(markup.contains(">sdb</text>"), "{markup}");
        assert_eq!(svg::attributes(&markup, "others", "class").len(), 1);
        assert_eq!(svg::attributes(&markup, "failed", "class").len(), 1);
        assert!(
            markup.contains("flush, queued 20 µs, at the device 100 µs</title>"),
            "{markup}"
        );
        let names: Vec<String> = legend(&timeline).into_iter().map(|key| key.name).collect();
        assert_eq!(
            names,
            [
                "read at the device",
                "flush at the device",
                "in the queue",
                "not ours",
                "failed"
            ]
        );
    }

    #[test]
    fn without_requests_there_is_no_timeline() {
        assert_eq!(
            timeline("s".into(), 1, &bursts(BurstOf::First, Vec::new())),
            None
        );
        assert_eq!(timeline("s".into(), 1, &Bursts::default()), None);
    }
}
