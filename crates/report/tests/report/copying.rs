//! What is printed of a copy, of `dd`, `hdparm` and `raw-vs-block`.

use crate::fixtures;
use diskfacts_plan::dd::{Count, StatusLines};
use diskfacts_plan::{Plan, builtin};
use diskfacts_record::{DeviceCounters, Run};
use diskfacts_report::formats::{dd::Summary, hdparm, iostat_linux};
use diskfacts_report::text::{Closing, Look};
use diskfacts_report::{classic, text};

fn page(run: &Run) -> String {
    let look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };
    text::run(run, &Closing::default(), &look)
}

#[test]
fn a_copy_says_what_dd_says_and_what_it_hides() {
    let page = page(&fixtures::copying());
    for line in [
        "copy: 1 MiB sequential writes, through the page cache, queue depth 1, from",
        "  dd's line    1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.5 s, 2.1 GB/s",
        "  Records      1024+0 in, 1024+0 out (whole blocks + shorter ones)",
        "  Page cache   512 MiB of 1 GiB (50 %) still dirty when dd's clock stopped",
        "  Final flush  500 ms more until the device had all of it",
        "  With it      1074 MB/s instead of 2147 MB/s",
    ] {
        assert!(page.contains(line), "no '{line}' in\n{page}");
    }
}

#[test]
fn the_classic_lines_of_a_copy_are_those_of_gnu_dd() {
    let mut run = fixtures::copying();
    assert_eq!(
        classic::run(&run),
        "1024+0 records in\n1024+0 records out\n\
         1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.5 s, 2.1 GB/s\n"
    );
    let status = |run: &mut Run, status| {
        let copy = run.trials[0].workload.copy.as_mut().unwrap();
        copy.dd.status = status;
        copy.dd.count = Some(Count::Blocks(1));
        classic::run(run)
    };
    assert_eq!(
        status(&mut run, StatusLines::Noxfer),
        "1024+0 records in\n1024+0 records out\n"
    );
    assert_eq!(status(&mut run, StatusLines::None), "");
}

/// A run of a built-in plan with a trial of 2 s for each of its stages, each of
/// which moved 1 GiB.
fn run_of(plan: Plan) -> Run {
    let mut run = fixtures::healthy();
    let (trial, figures) = (run.trials[0].clone(), run.figures[0].clone());
    run.trials.clear();
    run.figures.clear();
    for stage in &plan.stages {
        let mut trial = trial.clone();
        trial.stage.clone_from(&stage.name);
        trial.settings.clone_from(&stage.settings);
        trial.workload = stage.workload.clone();
        trial.seconds = 2.0;
        trial.bytes = 1 << 30;
        trial.ops = (1 << 30) / stage.workload.block_size;
        trial.evidence.engine.direct = true;
        trial.evidence.devices = vec![DeviceCounters {
            name: "sda".into(),
            writes: 2048,
            write_merges: 63_488,
            write_bytes: 1 << 30,
            write_ms: 8192,
            busy_ms: 1990,
            weighted_ms: 8192,
            ..DeviceCounters::default()
        }];
        run.trials.push(trial);
        let mut figures = figures.clone();
        figures.stage.clone_from(&stage.name);
        figures.settings.clone_from(&stage.settings);
        run.figures.push(figures);
    }
    run.plan = plan;
    run
}

#[test]
fn the_lines_of_hdparm_are_printed_and_read_back() {
    let lines = classic::run(&run_of(builtin::plan("hdparm").unwrap()));
    assert_eq!(
        lines,
        "\n/srv/db:\n Timing cached reads:   1024 MB in  2.00 seconds = 512.00 MB/sec\n \
         Timing buffered disk reads: 1024 MB in  2.00 seconds = 512.00 MB/sec\n \
         Timing O_DIRECT cached reads:   1024 MB in  2.00 seconds = 512.00 MB/sec\n \
         Timing O_DIRECT disk reads: 1024 MB in  2.00 seconds = 512.00 MB/sec\n"
    );
    for line in lines.lines().skip(2) {
        let row: hdparm::Row = line.parse().unwrap();
        assert_eq!(row.to_string(), line);
    }
}

#[test]
fn the_plan_dd_prints_what_to_type_and_what_dd_would_say() {
    let plan = builtin::plan("dd").unwrap();
    let cells = plan.stages.len();
    let lines = classic::run(&run_of(plan));
    assert_eq!(lines.lines().count(), cells);
    for line in [
        "dd if=/dev/zero of=/srv/db/FILE bs=4k count=262144 ... 1073741824 bytes",
        "bs=1M count=1024 conv=fdatasync ... ",
        "dd if=/srv/db/FILE of=/dev/null bs=16k count=65536 iflag=direct ... ",
    ] {
        assert!(lines.contains(line), "no '{line}' in\n{lines}");
    }
    let summary = Summary::of(1 << 30, 2_000_000_000).to_string();
    assert!(
        lines.lines().all(|line| line.ends_with(&summary)),
        "{lines}"
    );
}

#[test]
fn what_the_device_saw_is_a_view_and_rows_of_iostat() {
    let run = run_of(builtin::plan("raw-vs-block").unwrap());
    let page = page(&run);
    let said = "  block  sda: requests of 512 KiB, 1024 requests/s, 31,744 merges/s, queue depth";
    assert!(page.contains(said), "{page}");
    let lines = classic::run(&run);
    let mut lines = lines.lines();
    assert_eq!(lines.next(), Some("block (bs=16k):"));
    let columns: iostat_linux::Columns = lines.next().unwrap().parse().unwrap();
    let line = lines.next().unwrap();
    let row = columns.row(line).unwrap();
    assert_eq!(row.to_string(), line);
    for (name, value) in [
        ("wrqm/s", 31_744.0),
        ("w/s", 1024.0),
        ("wkB/s", 524_288.0),
        ("avgrq-sz", 1024.0),
        ("avgqu-sz", 4.1),
        ("await", 4.0),
        ("%util", 99.5),
    ] {
        let got = columns.value(&row, name).unwrap();
        assert!((got - value).abs() < 0.01, "{name}: {got}");
    }
}
