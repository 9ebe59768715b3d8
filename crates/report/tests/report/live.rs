//! The full screen as people see it: read the whole of a snapshot that changes, as somebody
//! would who looks up from other work.

use crate::fixtures;
use diskfacts_facts::Explanation;
use diskfacts_record::evidence::Bucket;
use diskfacts_record::{CpuActivity, DeviceCounters, Run};
use diskfacts_report::text::live::{
    Around, Course, DeviceNow, DevicesView, Followed, Known, Moment, RequestsView, RunView,
    Running, StageNow, View, draw,
};
use diskfacts_report::text::{Left, Look};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};

const PLAIN: Look = Look {
    width: 0,
    colour: false,
    unicode: false,
};
const FULL: Look = Look {
    width: 0,
    colour: true,
    unicode: true,
};

fn drawn(view: &dyn View, around: &Around<'_>, look: &Look, (width, height): (u16, u16)) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(view, around, look, &mut buffer);
    buffer
}

fn text(buffer: &Buffer) -> String {
    let rows = buffer.content().chunks(usize::from(buffer.area().width));
    let row = |cells: &[ratatui_core::buffer::Cell]| {
        let text: String = cells
            .iter()
            .map(ratatui_core::buffer::Cell::symbol)
            .collect();
        format!("{}\n", text.trim_end())
    };
    rows.map(row).collect()
}

fn shown(view: &dyn View, look: &Look, size: (u16, u16)) -> String {
    text(&drawn(view, &Around::default(), look, size))
}

/// Some seconds of two stages, one of them with a tail.
fn course() -> Course {
    let mut course = Course::default();
    let bucket = |ns: u64, count| Bucket {
        from: ns,
        to: ns + ns / 8,
        count,
    };
    for trial in 0..6_u64 {
        let (of, ns) = [("random-read-qd1", 4_000_000), ("log-write", 180_000)][trial as usize % 2];
        for look in 0..9_u64 {
            course.push(Moment {
                of: of.into(),
                begins: look == 0,
                per_s: Some((1_000_000_000 / ns * (9 - look % 3)) as f64),
                latencies: vec![
                    bucket(ns, 900),
                    bucket(ns * 2, 90 + look),
                    bucket(ns * 10, look % 4 * 3),
                ],
            });
        }
    }
    course
}

fn device(name: &str, reads: u64, writes: u64) -> DeviceNow {
    DeviceNow {
        counted: DeviceCounters {
            name: name.to_owned(),
            reads,
            read_bytes: reads * 4096,
            read_ms: reads * 4,
            writes,
            write_bytes: writes * 65_536,
            write_ms: writes / 10,
            busy_ms: (reads * 4 + writes).min(1000),
            weighted_ms: reads * 4 + writes,
            flushes: Some(writes / 2),
            ..DeviceCounters::default()
        },
        centiseconds: 100,
        in_flight: Some(u64::from(reads > 0)),
        followed: (reads > 0).then_some(Followed {
            queued_ns: 12_000,
            device_ns: 3_900_000,
        }),
    }
}

fn stages(run: &Run) -> Vec<StageNow> {
    let stage = |stage: &diskfacts_plan::Stage| StageNow {
        label: stage.label(),
        trials: (6, 30),
        rates: vec![75.0; 3],
        called: "trial",
        block_size: Some(stage.workload.block_size),
    };
    run.plan.stages.iter().map(stage).collect()
}

fn view(run: &Run) -> RunView {
    let explanation = Explanation {
        // Its trials are too few of everything.
        figures: run.figures.clone(),
        findings: run.findings.clone(),
        ..diskfacts_facts::explain(run)
    };
    RunView {
        what: "/srv: ext4 on vda1 on vda".to_owned(),
        elapsed_s: 83,
        doing: String::new(),
        running: Some(Running {
            stage: 2,
            number: 4,
            now: Some(73.4),
            left: Some(Left {
                ns: 41_000_000_000,
                at_most: true,
            }),
        }),
        stages: stages(run),
        course: course(),
        devices: vec![device("vda1", 0, 0), device("vda", 249, 12)],
        known: Some(Known::of(run, explanation)),
    }
}

const SIZES: [(u16, u16); 4] = [(60, 20), (80, 24), (120, 40), (200, 50)];

#[test]
fn a_run_in_four_sizes() {
    let view = view(&fixtures::healthy());
    for size in SIZES {
        let name = format!("live_run_{}x{}", size.0, size.1);
        insta::assert_snapshot!(name, shown(&view, &FULL, size));
    }
    insta::assert_snapshot!("live_run_ascii_80x24", shown(&view, &PLAIN, (80, 24)));
}

#[test]
fn a_run_before_its_first_trial_and_with_its_help() {
    let run = fixtures::healthy();
    let mut stages = stages(&run);
    for stage in &mut stages {
        stage.rates.clear();
    }
    let view = RunView {
        what: "/srv: ext4 on vda1 on vda".to_owned(),
        doing: "filling a file of 1 GiB to measure: 45 %, 250 MB/s, 3 s left".to_owned(),
        stages,
        ..RunView::default()
    };
    insta::assert_snapshot!("live_run_filling", shown(&view, &PLAIN, (80, 24)));
    let help = Around {
        has_help: true,
        is_paused: true,
        message: Some("diskfacts: Ctrl-C: waiting for 2 operations at vda"),
    };
    insta::assert_snapshot!("live_run_help", text(&drawn(&view, &help, &FULL, (80, 24))));
}

#[test]
fn a_matrix_shows_the_stages_around_the_one_that_runs() {
    let mut view = view(&fixtures::healthy());
    view.stages = (0..300)
        .map(|i| StageNow {
            label: format!("write [block_size={i}KiB]"),
            rates: Vec::new(),
            ..view.stages[0].clone()
        })
        .collect();
    for (runs, first, last) in [(0, 0, 10), (150, 145, 155), (299, 289, 299)] {
        let running = view.running.expect("one");
        view.running = Some(Running {
            stage: runs,
            ..running
        });
        let page = shown(&view, &PLAIN, (80, 24));
        let number = |line: &str| {
            let (_, of) = line.split_once(" write [block_size=")?;
            of.split_once("KiB]")?.0.parse::<usize>().ok()
        };
        let seen: Vec<usize> = page.lines().filter_map(number).collect();
        let expected: Vec<usize> = (first..=last).collect();
        assert_eq!(seen, expected, "{page}");
        let marked = page.lines().find(|line| line.starts_with("> "));
        assert_eq!(marked.and_then(number), Some(runs), "{page}");
        assert!(page.contains("289 more stages"), "{page}");
    }
}

#[test]
fn devices_and_requests() {
    let mut bars = Course::default();
    for second in 1..40_u32 {
        bars.push(Moment {
            of: "vda".into(),
            begins: false,
            per_s: Some(f64::from(second % 9) * 10.0),
            latencies: Vec::new(),
        });
    }
    let view = DevicesView {
        what: "all disks".to_owned(),
        at: "14:02:11".to_owned(),
        cpu: Some(CpuActivity {
            user: 12,
            system: 3,
            iowait: 20,
            idle: 65,
            total: 100,
            ..CpuActivity::default()
        }),
        devices: vec![device("vda", 249, 12), device("vdb", 0, 0)],
        courses: vec![("vda".to_owned(), bars)],
    };
    insta::assert_snapshot!("live_devices_80x24", shown(&view, &FULL, (80, 24)));
    let layer = crate::watch::layer();
    let view = RequestsView {
        what: "vda".to_owned(),
        at: "14:02:11".to_owned(),
        part: Some(layer),
        courses: vec![("vda".to_owned(), course())],
    };
    insta::assert_snapshot!("live_requests_80x24", shown(&view, &FULL, (80, 24)));
}

/// Whatever the size, nothing panics, and no row is drawn beyond it.
#[test]
fn every_size_is_drawn() {
    let (run, devices) = (view(&fixtures::healthy()), DevicesView::default());
    let requests = RequestsView::default();
    let views: [&dyn View; 3] = [&run, &devices, &requests];
    for view in views {
        for width in [1, 5, 39, 40, 41, 60, 119, 120, 121, 300] {
            for height in 1..60 {
                for has_help in [false, true] {
                    let around = Around {
                        has_help,
                        ..Around::default()
                    };
                    drawn(view, &around, &FULL, (width, height));
                }
            }
        }
    }
}

#[test]
fn without_unicode_all_is_ascii_and_without_colour_nothing_is_styled() {
    let view = view(&fixtures::healthy());
    for size in SIZES {
        let plain = drawn(&view, &Around::default(), &PLAIN, size);
        assert!(text(&plain).is_ascii());
        let styled = plain.content().iter().filter(|cell| {
            (cell.fg, cell.bg, cell.modifier) != (Color::Reset, Color::Reset, Modifier::empty())
        });
        assert_eq!(styled.count(), 0);
        // Colours say nothing that characters do not say; no background is set, which is
        // light here and dark there.
        let full = drawn(&view, &Around::default(), &FULL, size);
        assert!(full.content().iter().all(|cell| cell.bg == Color::Reset));
        let is_coloured = |cell: &ratatui_core::buffer::Cell| cell.fg != Color::Reset;
        assert!(size.1 < 40 || full.content().iter().any(is_coloured));
    }
}
