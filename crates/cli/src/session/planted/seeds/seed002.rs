//! Seed 002 by the plans `bonnie` and `hdparm` on its three arrays.

use super::*;
use diskfacts_plan::builtin;

/// The file of the reproduction, bytes.
const FILE: u64 = 3 << 30;
/// How far the spindles have turned when a trial begins: some revolutions of each
/// member in the 5 to 30 s of a trial, and in the 3 s of hdparm's.
const START: f64 = 0.01;

/// Name in the seed, and profile.
const VOLUMES: [(&str, &str); 3] = [
    ("Raid6", "raid6x8"),
    ("Raid10", "raid10x4"),
    ("Raid1 SSD", "ssd-raid1"),
];

fn bonnie(profile: &str) -> Run {
    let mut setup = Setup::on(profile);
    setup.plan = builtin::plan("bonnie").expect("it is built in");
    setup.plan.trials = 1;
    let stages = &mut setup.plan.stages;
    stages.retain(|stage| ["put-block", "rewrite", "get-block"].contains(&stage.name.as_str()));
    for stage in stages {
        stage.workload.span = Some(FILE);
    }
    setup.run()
}

/// Rate of hdparm -t, bytes/s.
fn hdparm(profile: &str) -> f64 {
    let mut setup = Setup::on(profile);
    setup.plan = builtin::plan("hdparm").expect("it is built in");
    setup.plan.trials = 1;
    setup.only("disk");
    rate(&setup.run(), "disk")
}

#[test]
fn the_arrays_of_seed_002_are_those_of_the_plans_bonnie_and_hdparm() {
    let mut wrong = Vec::new();
    let mut gated = cells_of(Gate::G11);
    for (name, profile) in VOLUMES {
        let run = bonnie(profile);
        let (read, write) = (rate(&run, "get-block"), rate(&run, "put-block"));
        // Bytes count both ways, and the seed's once.
        let rewrite = rate(&run, "rewrite") / 2.0;
        for (what, figure) in [
            ("block read", read),
            ("block write", write),
            (
                "rewrite, with the host's read-ahead and write-back side by side",
                rewrite,
            ),
        ] {
            for cell in cells_called(2, &format!("{name}: {what}")) {
                wrong.extend(by_plan(&mut cell.clone(), figure / 1e6, START));
            }
        }
        for cell in cells_called(2, &format!("{name}: hdparm -t")) {
            let figure = hdparm(profile) / 1_048_576.0;
            wrong.extend(by_plan(&mut cell.clone(), figure, START));
        }
        let in_turn = 1.0 / (1.0 / read + 1.0 / write);
        let of_volume = format!("{name}: ");
        for cell in gated
            .iter_mut()
            .filter(|cell| cell.what.starts_with(&of_volume))
        {
            wrong.extend(by_plan(cell, in_turn / 1e6, START));
        }
    }
    assert_none(&wrong);
    assert_holds(Gate::G11, &gated);
}
