use super::*;
use crate::testing::{self, each, set_rate};
use diskfacts_plan::{Operation, Pattern};

/// The volumes of seed 002 as bonnie++ 1.96 measured them, twice each: K/s of
/// blocks written, rewritten and read, and seeks per second.
const VOLUMES: [(&str, [[f64; 4]; 2]); 3] = [
    (
        "Raid6",
        [
            [108_776.0, 103_820.0, 606_148.0, 170.3],
            [108_436.0, 105_046.0, 606_068.0, 172.2],
        ],
    ),
    (
        "Raid10",
        [
            [175_905.0, 91_956.0, 227_793.0, 409.2],
            [170_551.0, 93_408.0, 229_931.0, 531.6],
        ],
    ),
    (
        "Raid1 SSD",
        [
            [182_078.0, 97_995.0, 236_123.0, 460.2],
            [173_306.0, 98_546.0, 233_678.0, 470.9],
        ],
    ),
];

/// A run as the import makes it of these rows.
fn volumes() -> Run {
    let mut run = testing::healthy();
    let trial = run.trials[0].clone();
    run.plan.stages.clear();
    run.trials.clear();
    run.target.kind = diskfacts_record::TargetKind::Imported;
    for (machine, rows) in VOLUMES {
        for (number, row) in rows.into_iter().enumerate() {
            for (i, name) in ["put-block", "rewrite", "get-block", "seeks"]
                .into_iter()
                .enumerate()
            {
                let mut trial = trial.clone();
                trial.stage = name.into();
                trial.number = number as u32 + 1;
                trial.settings = [("machine".to_owned(), machine.to_owned())].into();
                let workload = &mut trial.workload;
                workload.cache = diskfacts_plan::CacheMode::Buffered;
                workload.block_size = 0;
                workload.pattern = Pattern::Sequential;
                workload.operation = [
                    Operation::Write,
                    Operation::Modify { percent: 100 },
                    Operation::Read,
                    Operation::Read,
                ][i];
                trial.iops = f64::NAN;
                trial.throughput_bytes_per_s = row[i] * 1024.0;
                if i == 1 {
                    trial.throughput_bytes_per_s *= 2.0;
                }
                if i == 3 {
                    trial.workload.pattern = Pattern::Random;
                    trial.iops = row[i];
                    trial.throughput_bytes_per_s = f64::NAN;
                }
                trial.histograms = diskfacts_record::PackedHistograms::default();
                trial.latency_ns = diskfacts_record::Latency::default();
                trial.cpu = diskfacts_record::Cpu::default();
                trial.layers = diskfacts_record::Layers::default();
                run.trials.push(trial);
            }
        }
    }
    run
}

fn order(advice: &Advice) -> Vec<(&str, usize, usize)> {
    let advised = &advice.groups[0];
    let ranked = &advised.ranking.as_ref().expect("an order").ranked;
    ranked
        .iter()
        .map(|r| {
            let name = advised.group.options[r.option].name.as_str();
            (name, r.place_from, r.place_to)
        })
        .collect()
}

fn by(runs: &[Run], weights: &str) -> Advice {
    advise(runs, Some(Weights::parse(weights).expect("weights"))).expect("advice")
}

#[test]
fn raid_6_is_for_reading_and_raid_10_for_writing_and_seeks_as_the_author_of_seed_002_found() {
    let runs = [volumes()];
    let read = by(&runs, "seq-read=1");
    assert_eq!(order(&read)[0], ("Raid6", 1, 1));
    assert!(
        read.groups[0].picks[0].starts_with("seq-read: Raid6, 2.58 times Raid1 SSD."),
        "{:?}",
        read.groups[0].picks
    );
    let costs = &read.groups[0].costs;
    assert!(
        costs
            .iter()
            .any(|c| c == "Raid6 gives 36 % of Raid10's seeks: 171.2/s against 470.4/s."),
        "{costs:#?}"
    );
    for weights in ["seq-write=1", "seeks=1", "seq-write=2,seeks=1"] {
        let advice = by(&runs, weights);
        let order = order(&advice);
        assert_eq!(order[2], ("Raid6", 3, 3), "{weights}: {order:?}");
        // The flash is not told from the disks, so it is not worth its price.
        assert_eq!((order[0].1, order[0].2), (1, 2), "{weights}: {order:?}");
        assert_eq!((order[1].1, order[1].2), (1, 2), "{weights}: {order:?}");
        let picks = &advice.groups[0].picks;
        assert!(
            picks[1].ends_with(
                "as measured Raid1 SSD is not worth the price of flash, Raid10 does the same."
            ),
            "{weights}: {picks:#?}"
        );
    }
}

#[test]
fn an_order_is_as_certain_as_the_digits_of_its_document() {
    let is_certain = |of_other: f64| {
        let mut run = volumes();
        run.trials
            .retain(|trial| trial.stage == "get-block" && trial.settings["machine"] != "Raid6");
        for (line, trial) in (1..).zip(&mut run.trials) {
            trial.line = Some(line);
            let is_other = trial.settings["machine"] == "Raid10";
            trial.throughput_bytes_per_s = if is_other { of_other } else { 105e6 };
        }
        let advice = by(&[run], "seq-read=1");
        order(&advice).iter().all(|(_, from, to)| from == to)
    };
    assert!(!is_certain(106e6));
    assert!(is_certain(109e6));
}

#[test]
fn without_weights_each_dimension_has_its_best() {
    let advice = advise(&[volumes()], None).expect("advice");
    let advised = &advice.groups[0];
    assert_eq!(advised.ranking, None);
    let dimensions: Vec<Dimension> = advised.dimensions.iter().map(|(d, _)| *d).collect();
    assert_eq!(
        dimensions,
        [
            Dimension::SequentialRead,
            Dimension::SequentialWrite,
            Dimension::Rewrite,
            Dimension::Seeks
        ]
    );
    let rewrite = &advised.dimensions[2].1.ranked;
    // Along the file, and not both ways.
    assert_eq!(advised.group.options[rewrite[0].option].name, "Raid6");
    assert!(advice.unmeasured.contains(&Dimension::LogWrites));
}

#[test]
fn runs_of_two_targets_are_held_against_each_other_and_repeats_are_taken_together() {
    let one = testing::healthy();
    let mut other = testing::healthy();
    other.target.path = "/srv/other".into();
    for stage in ["sequential-read", "log-write"] {
        each(&mut other, stage, |trial| set_rate(trial, 0.5));
    }
    let runs = [one.clone(), other, one];
    let advice = by(&runs, "seq-read=1");
    assert_eq!(order(&advice), [("/srv/data", 1, 1), ("/srv/other", 2, 2)]);
    let group = &advice.groups[0].group;
    let test = group
        .tests
        .iter()
        .find(|test| test.stage == "sequential-read");
    let measured = &test.expect("a test").measured;
    assert_eq!(measured[0].as_ref().expect("measured").trials, 10);
    assert_eq!(measured[1].as_ref().expect("measured").trials, 5);
    let etcd = || advise(&runs, Some(Weights::of_use("etcd").expect("a use"))).expect("advice");
    assert_eq!(order(&etcd())[0].0, "/srv/data");
    assert_eq!(
        etcd().needs[0],
        "/srv/data: pass, etcd needs p99 of write + fdatasync below 10 ms; measured p99 of write \
         + fdatasync 110 us (log-write)."
    );
    // Two requirements of two volumes; what was repeated is said once.
    assert_eq!(etcd().needs.len(), 4, "{:#?}", etcd().needs);
}

#[test]
fn the_same_words_on_two_disks_are_two_options_and_on_one_disk_one() {
    let mut one = testing::healthy();
    one.target.given = ".".into();
    let mut other = one.clone();
    for device in &mut other.stack.devices {
        device.serial = Some("S4EWNX0R".into());
    }
    each(&mut other, "sequential-read", |trial| set_rate(trial, 0.5));
    let runs = [one.clone(), other.clone()];
    assert_eq!(order(&by(&runs, "seq-read=1")).len(), 2);
    // Another name in the kernel, as after a boot, and the same drive.
    let mut again = other.clone();
    testing::rename_disk(&mut again, "vdb");
    let runs = [one, other, again];
    assert_eq!(order(&by(&runs, "seq-read=1")).len(), 2);
}

#[test]
fn a_filesystem_made_anew_and_a_device_of_another_size_are_other_options() {
    let mut old = testing::healthy();
    let uuid = |run: &mut diskfacts_record::Run, uuid: Option<&str>| {
        let filesystem = run.stack.filesystem.as_mut().expect("there is one");
        filesystem.uuid = uuid.map(Into::into);
    };
    uuid(&mut old, Some("3e6be9de-8139-11d1-9106-a43f08d823a6"));
    let mut new = old.clone();
    uuid(&mut new, Some("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"));
    let options = |runs: &[diskfacts_record::Run]| order(&by(runs, "seq-read=1")).len();
    assert_eq!(options(&[old.clone(), old.clone(), new.clone()]), 2);
    // A run of a diskfacts that did not record it is told apart by nothing.
    let mut unknown = old.clone();
    uuid(&mut unknown, None);
    let mut elsewhere = testing::healthy();
    elsewhere.target.path = "/srv/other".into();
    uuid(&mut elsewhere, Some("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"));
    assert_eq!(options(&[old.clone(), unknown, elsewhere]), 2);
    let sized = |bytes: u64| {
        let mut run = old.clone();
        for device in &mut run.stack.devices {
            device.size_bytes = Some(bytes);
        }
        run
    };
    assert_eq!(
        options(&[sized(1 << 40), sized(1 << 40), sized(2 << 40)]),
        2
    );
}

#[test]
fn devices_are_told_apart_by_whatever_names_them() {
    let of = |name: fn(&mut diskfacts_record::BlockDevice, &str), text: &str| {
        let mut run = testing::healthy();
        run.target.given = ".".into();
        for device in &mut run.stack.devices {
            (device.serial, device.wwid, device.backing_file) = (None, None, None);
            name(device, text);
        }
        run
    };
    let names: [fn(&mut diskfacts_record::BlockDevice, &str); 3] = [
        |device, text| device.wwid = Some(text.into()),
        |device, text| device.backing_file = Some(text.into()),
        |device, text| device.name = text.into(),
    ];
    for name in names {
        let runs = [of(name, "a"), of(name, "b"), of(name, "a")];
        assert_eq!(order(&by(&runs, "seq-read=1")).len(), 2);
    }
}

#[test]
fn the_same_workload_only_is_compared() {
    let one = testing::healthy();
    let mut other = testing::healthy();
    other.target.path = "/srv/other".into();
    for trial in &mut other.trials {
        trial.workload.queue_depth *= 2;
    }
    let error = advise(&[one.clone(), other.clone()], None).expect_err("nothing in common");
    let Unadvised::NothingInCommon(alone) = &error else {
        panic!("{error}");
    };
    assert!(
        alone.iter().any(|said| said.starts_with("sequential-read")),
        "{alone:?}"
    );
    assert!(
        error.to_string().contains("nothing to choose between"),
        "{error}"
    );
    // Of a single run there are no options to name.
    let error = advise(std::slice::from_ref(&one), None)
        .expect_err("one run")
        .to_string();
    assert!(error.contains("measured of one only: "), "{error}");
    assert!(!error.contains("(the only one)"), "{error}");
    // One stage in common is enough.
    for trial in other
        .trials
        .iter_mut()
        .filter(|t| t.stage == "sequential-read")
    {
        trial.workload.queue_depth /= 2;
    }
    let runs = [one, other];
    let error = advise(&runs, Some(Weights::parse("seeks=1").expect("weights")));
    let said = error.expect_err("not in seeks").to_string();
    assert!(
        said.contains("(seeks) was measured of two options"),
        "{said}"
    );
    assert_eq!(by(&runs, "seq-read=1").groups.len(), 1);
}

#[test]
fn the_settings_of_a_matrix_are_options() {
    let mut run = testing::matrix_run(|mode, size| {
        let synced = mode.sync.each_write();
        let per_write = if synced { 0.008 } else { 0.000_1 };
        size as f64 / (per_write + size as f64 / 100e6)
    });
    run.findings = crate::findings(&run);
    let advice = by(std::slice::from_ref(&run), "log-writes=1");
    let options = advice
        .groups
        .iter()
        .map(|advised| advised.group.options.len());
    // 12 ways to sync at 14 sizes meet in one test; what streams meets in another, which
    // does not count.
    assert_eq!(options.collect::<Vec<_>>(), [168]);
    let aside = advice.left_out.join("\n");
    assert!(
        aside.contains("compared with each other in seq-write and cpu only"),
        "{aside}"
    );
    let synced = advice.groups.iter().find_map(|advised| {
        let ranking = advised.ranking.as_ref()?;
        Some((&advised.group, ranking))
    });
    let (group, ranking) = synced.expect("an order");
    let best = &group.options[ranking.ranked[0].option];
    assert_eq!(best.settings["block_size"], "32MiB", "{best:?}");
}

#[test]
fn one_trial_of_each_is_taken_with_a_tenth_either_way() {
    let mut runs = [testing::healthy(), testing::healthy()];
    runs[1].target.path = "/srv/other".into();
    for run in &mut runs {
        run.trials.retain(|trial| trial.number == 1);
    }
    each(&mut runs[1], "sequential-read", |trial| {
        set_rate(trial, 1.1);
    });
    let near = by(&runs, "seq-read=1");
    assert_eq!(order(&near), [("/srv/other", 1, 2), ("/srv/data", 1, 2)]);
    let said = near.groups[0].uncertain.join(" ");
    assert!(said.contains("10 % either way is assumed"), "{said}");
    each(&mut runs[1], "sequential-read", |trial| {
        set_rate(trial, 1.3);
    });
    assert_eq!(order(&by(&runs, "seq-read=1"))[0], ("/srv/other", 1, 1));
}

#[test]
fn no_runs_no_trials_and_no_numbers_are_no_advice_and_no_panic() {
    assert_eq!(advise(&[], None), Err(Unadvised::NoRuns));
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut runs = [testing::healthy(), testing::healthy()];
        runs[1].target.path = "/srv/other".into();
        for trial in runs.iter_mut().flat_map(|run| &mut run.trials) {
            trial.throughput_bytes_per_s = value;
            trial.iops = value;
            trial.latency_ns = diskfacts_record::Latency::default();
        }
        let error = advise(&runs, None).expect_err("no figures");
        assert!(
            matches!(error, Unadvised::NothingInCommon(_)),
            "{value}: {error}"
        );
    }
    let mut run = testing::healthy();
    run.trials.clear();
    assert!(advise(&[run], None).is_err());
}

#[test]
fn what_memory_served_and_what_failed_is_left_out_with_the_reason() {
    let one = testing::healthy();
    let mut other = testing::healthy();
    other.target.path = "/srv/other".into();
    each(&mut other, "sequential-read", |trial| trial.errors = 1);
    let runs = [one, other];
    let advice = advise(&runs, None).expect("advice");
    let said = advice.left_out.join("\n");
    assert!(
        said.contains("sequential-read: not compared, because operations failed."),
        "{said}"
    );
    assert!(
        said.contains("cached-random-read: not compared, because it measures memory"),
        "{said}"
    );
    let read = advice.groups[0]
        .dimensions
        .iter()
        .find(|(d, _)| *d == Dimension::SequentialRead);
    // The buffered reads are still there.
    let tests = advice.groups[0].group.tests.iter();
    let stages: Vec<&str> = tests
        .filter(|test| test.dimension == Dimension::SequentialRead)
        .map(|test| test.stage.as_str())
        .collect();
    assert!(read.is_some());
    assert_eq!(stages, ["buffered-read"]);
}
