//! Text as people see it. Each snapshot is to be read as a user would; when one
//! changes, look at the whole of it, not at the difference.

use crate::fixtures;
use diskfacts_plan::builtin;
use diskfacts_record::{Labels, Run, Status, Zoned};
use diskfacts_report::text::{Closing, Look, RunRow, devices, plans, run, runs};

const PLAIN: Look = Look {
    width: 80,
    colour: false,
    unicode: false,
};
const WIDE: Look = Look {
    width: 120,
    colour: false,
    unicode: true,
};
const COLOUR: Look = Look {
    width: 80,
    colour: true,
    unicode: true,
};

fn closing(run: &Run) -> Closing {
    Closing {
        stored: format!(
            "Stored as run {} in /home/ada/.local/share/diskfacts/runs.db.",
            run.run.id
        ),
        next: vec![
            ("diskfacts show last".into(), "this again".into()),
            (
                "diskfacts compare last~1 last".into(),
                "what changed since the run before".into(),
            ),
        ],
        show: "diskfacts show 20261121-024150-7f3a9c04".into(),
    }
}

fn shown(of: &Run, look: &Look) -> String {
    run(of, &closing(of), look)
}

#[test]
fn a_healthy_run() {
    insta::assert_snapshot!("healthy_80", shown(&fixtures::healthy(), &PLAIN));
    insta::assert_snapshot!("healthy_120", shown(&fixtures::healthy(), &WIDE));
    insta::assert_snapshot!("healthy_colour", shown(&fixtures::healthy(), &COLOUR));
}

#[test]
fn what_the_block_layer_did_is_shown_of_stages_that_were_followed() {
    let text = shown(&fixtures::followed(), &PLAIN);
    let begin = text.find("What the block layer did").expect("the section");
    let section = &text[begin..];
    let end = section.find("\n\n").expect("its end");
    insta::assert_snapshot!("block_layer_80", &section[..end]);
    let healthy = shown(&fixtures::healthy(), &PLAIN);
    assert!(!healthy.contains("block layer"), "{healthy}");
}

#[test]
fn a_failing_run_says_so_at_the_top() {
    insta::assert_snapshot!("failing_80", shown(&fixtures::failing(), &PLAIN));
    insta::assert_snapshot!("failing_120", shown(&fixtures::failing(), &WIDE));
}

#[test]
fn an_interrupted_run_says_what_is_missing() {
    insta::assert_snapshot!("interrupted_80", shown(&fixtures::interrupted(), &PLAIN));
    insta::assert_snapshot!("killed_80", shown(&fixtures::killed(), &PLAIN));
}

#[test]
fn figures_under_several_settings_are_told_apart() {
    insta::assert_snapshot!("varied_80", shown(&fixtures::varied(), &PLAIN));
    insta::assert_snapshot!("varied_120", shown(&fixtures::varied(), &WIDE));
}

#[test]
fn a_matrix_is_a_table() {
    let mut matrix = fixtures::write_matrix();
    insta::assert_snapshot!("write_matrix_80", shown(&matrix, &PLAIN));
    // A part of it, beside a stage that is none, and with failures.
    let mut run = fixtures::healthy();
    run.plan.stages.truncate(1);
    run.figures.truncate(1);
    run.plan.stages.extend(matrix.plan.stages);
    let failed = &mut matrix.figures[4];
    failed.errors = 3;
    let mut figures = matrix.figures;
    figures.retain(|f| f.stage == "streaming" && f.latency_ns.samples > 4000);
    // Whatever was measured first, the order is that of the plan.
    figures.rotate_left(2);
    figures.remove(0);
    run.figures.extend(figures);
    insta::assert_snapshot!("matrix_among_others_120", shown(&run, &WIDE));
}

#[test]
fn a_choice_of_settings_is_a_table_and_what_follows_from_it() {
    let run = fixtures::tuned();
    insta::assert_snapshot!("tuned_80", shown(&run, &PLAIN));
    insta::assert_snapshot!("tuned_120", shown(&run, &WIDE));
    // On a simulated disk there is nothing to make permanent.
    let mut run = run;
    run.target.kind = diskfacts_record::TargetKind::Simulated;
    let simulated = shown(&run, &PLAIN);
    assert!(simulated.contains("no files to make that permanent") && !simulated.contains("udev"));
}

#[test]
fn cells_that_were_refused_direct_io_show_no_figures() {
    let mut run = fixtures::write_matrix();
    let rows = |run: &_, what: &str| {
        let shown = shown(run, &PLAIN);
        shown.lines().filter(|line| line.contains(what)).count()
    };
    assert_eq!(rows(&run, "refused"), 0);
    fixtures::refuse_direct(&mut run, |_| true);
    // Seven direct modes at 14 sizes, at most one of them in a row; and the legend.
    assert_eq!(rows(&run, "refused"), 98 + 1);
    assert_eq!(rows(&run, "refused means that direct I/O was refused"), 1);
    insta::assert_snapshot!("write_matrix_refused_80", shown(&run, &PLAIN));
}

#[test]
fn a_loop_device_and_an_open_loop() {
    insta::assert_snapshot!("rare_80", shown(&fixtures::rare(), &PLAIN));
}

#[test]
fn a_trial_that_stands_apart_is_told_with_what_it_came_to() {
    let mut run = fixtures::healthy();
    let stage = run.figures[0].stage.clone();
    assert!(!shown(&run, &PLAIN).contains("apart"));
    let trial = run.trials.iter_mut().find(|trial| trial.stage == stage);
    let trial = trial.expect("a trial of the stage");
    trial.throughput_bytes_per_s = 3_100_000.0;
    let number = trial.number;
    run.figures[0].outliers = vec![number];
    let of = run.figures[0].iops.trials;
    let said = format!("\n    1 of {of} trials stands apart: 3.10 MB/s (trial {number})\n");
    assert!(shown(&run, &PLAIN).contains(&said), "{said}");
}

#[test]
fn a_target_without_a_device() {
    insta::assert_snapshot!("tmpfs_80", shown(&fixtures::tmpfs(), &PLAIN));
}

#[test]
fn the_list_of_runs() {
    let row = |id: &str, status, alive, trials, plan: &str, target: &str| RunRow {
        labels: Labels::default(),
        started: "2026-11-21T04:12:50Z".to_owned(),
        ended: None,
        tool_version: "0.1.0".to_owned(),
        host: None,
        id: id.into(),
        status,
        alive,
        trials,
        plan: plan.into(),
        target: target.into(),
    };
    let rows = [
        row(
            "20261121-050000-5555",
            Some(Status::Running),
            Some(true),
            7,
            "mine",
            ".",
        ),
        row(
            "20261121-040000-dead",
            Some(Status::Running),
            Some(false),
            0,
            "survey",
            "/srv/db",
        ),
        row(
            "20261121-031500-beef",
            Some(Status::Interrupted),
            None,
            3,
            "survey",
            "/var/lib/backup",
        ),
        row(
            "20261121-030000-0001",
            Some(Status::Failed),
            None,
            8,
            "survey",
            "/dev/disk/by-id/ata-WDC_WD10EZEX-00BN5A0_SSDB",
        ),
        row(
            "20261121-024150-7f3a",
            Some(Status::Complete),
            None,
            50,
            "survey",
            "/srv/磁盘\n",
        ),
        row(
            "20261120-101500-00aa",
            Some(Status::Running),
            None,
            12,
            "survey",
            "sim:hdd-7200-1tb",
        ),
        row(
            "20261119-101500-00ab",
            None,
            None,
            1200,
            "raw-vs-block",
            "/dev/sdb",
        ),
    ];
    insta::assert_snapshot!("runs", runs(&rows, rows.len(), &PLAIN));
    insta::assert_snapshot!("runs_colour", runs(&rows, rows.len(), &COLOUR));
    let mut named = rows.clone();
    named[0].labels.name = Some("nightly".to_owned());
    named[4].labels.name = Some("größe".to_owned());
    named[4].labels.tags = ["ci".to_owned(), "fw-7".to_owned()].into();
    insta::assert_snapshot!("runs_named", runs(&named, rows.len(), &PLAIN));
    assert_eq!(runs(&[], 0, &PLAIN), "No run is stored yet.\n");
    assert_eq!(
        runs(&[], 17, &PLAIN),
        "None of the 17 stored runs matches.\n"
    );
    let two_of_many = runs(&rows[..2], 17, &PLAIN);
    assert!(
        two_of_many.ends_with("\n\n2 of 17 stored runs.\n"),
        "{two_of_many}"
    );
}

#[test]
fn the_list_of_plans() {
    let all: Vec<_> = builtin::names()
        .map(|name| builtin::plan(name).unwrap())
        .collect();
    insta::assert_snapshot!("plans", plans(&all, &PLAIN));
}

#[test]
fn the_stack_as_a_tree() {
    let healthy = fixtures::healthy();
    insta::assert_snapshot!(
        "devices_nvme",
        devices(Some(&healthy.target), &healthy.stack, &PLAIN)
    );
    insta::assert_snapshot!(
        "devices_raid",
        devices(None, &fixtures::raid_stack(), &PLAIN)
    );
    let tmpfs = fixtures::tmpfs();
    insta::assert_snapshot!(
        "devices_tmpfs",
        devices(Some(&tmpfs.target), &tmpfs.stack, &PLAIN)
    );
    // All devices of a machine: no target, no filesystem, several tops.
    let mut machine = fixtures::raid_stack();
    machine.filesystem = None;
    machine.devices.remove(0);
    machine
        .devices
        .extend(fixtures::nvme_stack().devices.into_iter().skip(1));
    insta::assert_snapshot!("devices_all", devices(None, &machine, &WIDE));
}

#[test]
fn what_is_not_sound_is_said_before_all_else() {
    let sound = devices(None, &fixtures::raid_stack(), &WIDE);
    assert!(!sound.contains("DEGRADED"), "{sound}");
    let text = devices(None, &fixtures::degraded_stack(), &WIDE);
    assert!(
        text.starts_with(
            "DEGRADED: /var/lib/backup: 1 of its 2 devices is missing (devinfo/*/missing is 1 for \
             1).\n\
             DEGRADED: md0: 1 of its 3 members is missing; failed: sdb1 (md/degraded is 1).\n"
        ),
        "{text}"
    );
    for line in [
        "data kept as raid1\n",
        "made of crypt, integrity\n",
        "3 members, chunks of 64 KiB, left-symmetric, consistent by bitmap\n",
        "disk, SATA, ",
        "cache: writeback, not a drive of this machine: its model is QEMU HARDDISK\n",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    // In a run it stands before how the run went.
    let text = shown(&fixtures::degraded(), &WIDE);
    let place = |what: &str| text.find(what).unwrap_or(usize::MAX);
    assert!(place("DEGRADED: md0") < place("NOT FINISHED"), "{text}");
}

#[test]
fn what_failed_while_a_run_measured_it_is_said_first_and_what_could_not_be_seen_is_named() {
    let text = shown(&fixtures::worsened(), &WIDE);
    let first = text.lines().nth(1).unwrap_or_default();
    assert!(
        first.starts_with(
            "DEGRADED when the run ended, and not when it began: md0: 1 of its 3 members is \
             missing; failed: sdb1 (md/degraded is 1)."
        ),
        "{text}"
    );
    assert!(
        text.contains("/var/lib/backup health: when the run ended: it is not mounted there"),
        "{text}"
    );
}

/// A line may be longer than the width only for what nothing may break: a long
/// word, a command or a rule that is copied whole, and, below 80 columns, a row of figures.
#[test]
fn lines_keep_to_the_width() {
    for (name, of) in fixtures::all() {
        for width in [60, 80, 100, 117, 118, 120, 200] {
            let text = shown(&of, &Look { width, ..PLAIN });
            for line in text.lines() {
                // Of a command that is broken before its options, one option.
                let option = line.trim_start().starts_with("--");
                let command = line.contains('`') || line.starts_with("Command") || option;
                let rule = line.contains("ACTION==");
                let word = line.split(' ').any(|word| word.len() > width / 2);
                let row = width < 80 && (line.contains(" IOPS ") || line.contains(" p99 "));
                assert!(line.trim_end() == line, "{name} at {width}: '{line}'");
                assert!(
                    line.len() <= width || command || rule || word || row,
                    "{name} at {width}: {line}"
                );
            }
        }
    }
}

#[test]
fn ascii_is_ascii_and_colour_only_adds_to_the_same_words() {
    for (_, of) in fixtures::all() {
        let plain = shown(
            &of,
            &Look {
                unicode: true,
                ..PLAIN
            },
        );
        assert!(shown(&of, &PLAIN).is_ascii());
        let coloured = shown(&of, &COLOUR);
        assert!(coloured.contains("\x1b["));
        assert!(!plain.contains('\x1b'));
        assert_eq!(without_colours(&coloured), plain);
    }
}

#[test]
fn long_commands_stand_on_lines_of_their_own() {
    let of = fixtures::healthy();
    let store = "--store /a/rather/long/folder/of/somebody/runs.db";
    let closing = Closing {
        next: vec![(format!("diskfacts show last {store}"), "this again".into())],
        ..Closing::default()
    };
    let text = run(&of, &closing, &PLAIN);
    let end = format!("\n  # this again\n  diskfacts show last {store}\n");
    assert!(text.ends_with(&end), "{text}");
}

#[test]
fn the_plan_that_settles_a_limit_is_asked_of_the_store_that_has_the_run() {
    let mut of = fixtures::healthy();
    of.limits = diskfacts_facts::limits(&of);
    let closing = Closing {
        show: "diskfacts show 20261121 --store other.db".into(),
        ..Closing::default()
    };
    let text = run(&of, &closing, &PLAIN);
    let show = "diskfacts show 20261121 --store other.db \\\n";
    assert!(text.contains(show), "{text}");
}

/// Without the SGR sequences.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split("\x1b[").enumerate() {
        out += if i == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
    }
    out
}

#[test]
fn the_zones_of_a_device_stand_in_a_line_of_their_own() {
    let mut stack = fixtures::raid_stack();
    let disk = stack.devices.last_mut().expect("a disk");
    disk.zoned = Some(Zoned::HostManaged);
    disk.zone_bytes = Some(256 << 20);
    disk.zones = Some(3576);
    disk.open_zones_max = Some(128);
    disk.active_zones_max = Some(0);
    let text = devices(None, &stack, &WIDE);
    let line =
        "zoned, host-managed (written in order only): 3576 zones of 256 MiB, at most 128 open\n";
    assert!(text.contains(line), "{text}");
    let disk = stack.devices.last_mut().expect("a disk");
    disk.zoned = Some(Zoned::HostAware);
    disk.zones = None;
    disk.zone_bytes = None;
    disk.open_zones_max = None;
    assert!(devices(None, &stack, &WIDE).contains("zoned, host-aware\n"));
}
