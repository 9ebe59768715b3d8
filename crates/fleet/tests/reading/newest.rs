use crate::made::{BEGAN_S, add, fleet, run};
use diskfacts_facts::fleet::{Options, Sample, screen};
use diskfacts_plan::rng::Rng;
use std::fs;

/// Half of a night lies between two of them, so that some begin in the same second.
fn started_s(rng: &mut Rng) -> i64 {
    BEGAN_S + i64::from(rng.below(12) as u32) * 43_200
}

#[test]
fn a_screen_of_the_newest_runs_is_that_of_all_runs() {
    for seed in 1..=20 {
        println!("seed {seed}");
        let mut rng = Rng::new(seed);
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("fleet");
        for file in 0..=rng.below(4) {
            let mut runs = Vec::new();
            for at in 0..20 + rng.below(40) {
                let host = format!("c{:02}", rng.below(14));
                let id = format!("{file}-{at}");
                let mut run = run(&host, &id, started_s(&mut rng), 900.0 + 200.0 * rng.unit());
                // By another plan on the same disk, on another disk of the same host, another kernel.
                if rng.below(4) == 0 {
                    run.plan.stages[0].workload.queue_depth = 2;
                }
                if rng.below(6) == 0 {
                    "/other".clone_into(&mut run.target.path);
                }
                if rng.below(8) == 0 {
                    run.machine.kernel = Some("Linux 7.1".to_owned());
                }
                runs.push(run);
            }
            add(&folder, &runs);
        }
        // What two added at once is there twice.
        let first = fs::read_dir(&folder).expect("the files").next();
        let first = first.expect("one").expect("a file").path();
        fs::copy(&first, folder.join("copy.parquet")).expect("a copy");

        let fleet = fleet(&folder);
        let runs = fleet.runs(None).expect("the files are read");
        let all = fleet.samples(&runs.since(i64::MIN), None);
        let all = all.expect("the files are read");
        let middle_s = BEGAN_S + 6 * 43_200;
        for before_s in [None, Some(middle_s), Some(i64::MIN)] {
            let is_before = |sample: &&Sample| before_s.is_none_or(|s| sample.started_s < s);
            let before: Vec<Sample> = all.iter().filter(is_before).cloned().collect();
            let newest = runs.newest(before_s);
            let samples = fleet.samples(&newest, None).expect("the files are read");
            assert!(samples.len() < before.len() || before.is_empty());
            let options = Options::default();
            let mut of_newest = screen(&samples, &options);
            of_newest.older_runs += newest.older;
            assert_eq!(of_newest, screen(&before, &options));
        }
        let later = fleet.samples(&runs.since(middle_s), None);
        let is_later = all.iter().filter(|sample| sample.started_s >= middle_s);
        assert_eq!(
            later.expect("the files are read"),
            is_later.cloned().collect::<Vec<_>>()
        );
    }
}

#[test]
fn only_the_group_and_the_stage_that_are_asked_for_are_read() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("fleet");
    let mut monday = run("c1", "monday", BEGAN_S, 1000.0);
    monday.run.membership.group = Some("monday".to_owned());
    // A group is not what stands beside it.
    let none = run("c1", "none", BEGAN_S + 1, 1000.0);
    add(&folder, &[monday, none]);
    let fleet = fleet(&folder);
    let runs = fleet.runs(Some("monday")).expect("the files are read");
    let samples = fleet.samples(&runs.newest(None), Some("write"));
    let samples = samples.expect("the files are read");
    let [sample] = &samples[..] else {
        panic!("{samples:?}");
    };
    assert_eq!((&*sample.run, &*sample.stage), ("monday", "write"));
    assert!(fleet.runs(Some("tuesday")).expect("read").is_empty());
}
