use crate::made::{BEGAN_S, add, fleet, run};

/// More than a row group has, of which each run fills one then.
const TRIALS: u32 = 33_000;

/// Threads that read one file must not move each other's place in it.
#[test]
fn row_groups_of_one_file_are_read_at_once() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("fleet");
    let runs = (0..4).map(|host| {
        let mut run = run(&format!("c{host}"), "long", BEGAN_S, 1000.0);
        let of_stages = std::mem::take(&mut run.trials);
        for number in 1..=TRIALS {
            for trial in &of_stages {
                let mut trial = trial.clone();
                (trial.number, trial.order) = (number, run.trials.len() as u32 + 1);
                trial.iops += f64::from(number * 7 + host);
                run.trials.push(trial);
            }
        }
        run
    });
    add(&folder, &runs.collect::<Vec<_>>());
    let read = || {
        let runs = fleet(&folder).runs(None).expect("the runs are read");
        let samples = fleet(&folder).samples(&runs.newest(None), None);
        samples.expect("the trials are read")
    };
    let first = read();
    assert_eq!(first.len(), 2 * 4);
    for sample in &first {
        let host: u32 = sample.member.host[1..].parse().expect("a number");
        let values: Vec<f64> = sample.trials.iter().map(|trial| trial.value).collect();
        let truth = (1..=TRIALS).map(|number| 1000.0 + f64::from(number * 7 + host));
        assert_eq!(values, truth.collect::<Vec<_>>());
    }
    for _ in 0..10 {
        assert_eq!(read(), first);
    }
}
