use crate::made::{BEGAN_S, add, fleet, run};
use diskfacts_facts::fleet::{Options, Screen, screen};
use diskfacts_fleet::{Added, Adding};
use diskfacts_record::Run;

/// Minutes.
const DAY: i64 = 24 * 60;

/// A run of this machine under this name.
fn of_machine(host: &str, machine: &str, minute: i64) -> Run {
    let id = format!("{machine}-{minute}");
    let mut run = run(host, &id, BEGAN_S + 60 * minute, 1000.0);
    run.machine.machine_id = Some(machine.to_owned());
    run
}

fn screened(runs: &[Run]) -> Screen {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("fleet");
    // In two files, which are read by two.
    let (some, others) = runs.split_at(runs.len() / 2);
    add(&folder, some);
    add(&folder, others);
    let fleet = fleet(&folder);
    let newest = fleet.runs(None).expect("the files are read").newest(None);
    let samples = fleet.samples(&newest, None).expect("the files are read");
    let mut screen = screen(&samples, &Options::default());
    screen.older_runs += newest.older;
    screen
}

#[test]
fn machines_of_one_name_that_measure_at_one_time_are_told_apart() {
    let clones: Vec<Run> = (0..30)
        .map(|at| of_machine("localhost", &format!("m{at:02}"), at))
        .collect();
    let screen = screened(&clones);
    assert_eq!((screen.members, screen.older_runs), (30, 0));
    let value = &screen.cells[0].values[7];
    assert_eq!(value.member.machine.as_deref(), Some("m07"));
    assert_eq!(value.run, "m07-7");
    assert_eq!(value.member.name(), "localhost (machine m07)");
    // One of them once more, an hour later.
    let again = [&clones[..], &[of_machine("localhost", "m07", 100)]].concat();
    let screen = screened(&again);
    assert_eq!((screen.members, screen.older_runs), (30, 1));
}

#[test]
fn a_machine_that_has_another_id_after_another_boot_is_the_same() {
    let nights = [("m1", 0), ("m1", 5), ("m2", DAY), ("m3", 2 * DAY)];
    let runs: Vec<Run> = nights
        .map(|(machine, minute)| of_machine("c17", machine, minute))
        .into();
    let screen = screened(&runs);
    assert_eq!((screen.members, screen.older_runs), (1, 3));
    let members = &screen.too_few[0].members;
    assert_eq!(
        (&*members[0].host, members[0].machine.as_ref()),
        ("c17", None)
    );
}

#[test]
fn runs_of_two_machines_that_have_one_id_are_two() {
    let temporary = tempfile::tempdir().expect("a folder");
    let mut runs = [
        of_machine("localhost", "m1", 0),
        of_machine("localhost", "m2", 0),
    ];
    for run in &mut runs {
        "same".clone_into(&mut run.run.id);
    }
    add(temporary.path(), &runs[..1]);
    let mut adding = Adding::into(temporary.path()).expect("a file");
    assert_eq!(adding.run(&runs[0]).expect("a run"), Added::Known);
    assert_eq!(
        adding.run(&runs[1]).expect("a run"),
        Added::Taken { trials: 2 }
    );
    adding.finish().expect("a file");
    let fleet = fleet(temporary.path());
    let all = fleet.runs(None).expect("the files are read").all();
    let samples = fleet.samples(&all, None).expect("the files are read");
    let of = samples.iter().map(|sample| {
        let machine = sample.member.machine.as_deref();
        (machine.unwrap_or_default(), sample.trials.len())
    });
    let mut of: Vec<(&str, usize)> = of.collect();
    of.sort_unstable();
    // Each has a trial of two stages.
    assert_eq!(of, [("m1", 1), ("m1", 1), ("m2", 1), ("m2", 1)]);
}

#[test]
fn machines_of_one_name_are_the_same_in_each_group_and_in_all_runs() {
    let temporary = tempfile::tempdir().expect("a folder");
    let of_group = |machine: &str, minute: i64, group: &str| {
        let mut run = of_machine("localhost", machine, minute);
        run.run.membership.group = Some(group.to_owned());
        run
    };
    // Of the second group one machine alone has measured, as of a second look.
    add(
        temporary.path(),
        &[
            of_group("m1", 0, "monday"),
            of_group("m2", 5, "monday"),
            of_group("m1", DAY, "tuesday"),
        ],
    );
    let fleet = fleet(temporary.path());
    let machines = |group: Option<&str>| {
        let all = fleet.runs(group).expect("the files are read").all();
        let samples = fleet.samples(&all, None).expect("the files are read");
        let mut machines: Vec<Option<String>> = samples
            .into_iter()
            .map(|sample| sample.member.machine)
            .collect();
        machines.sort_unstable();
        machines.dedup();
        machines
    };
    let (m1, m2) = (Some("m1".to_owned()), Some("m2".to_owned()));
    let both = [m1, m2];
    assert_eq!(machines(Some("monday")), both);
    assert_eq!(machines(Some("tuesday")), both[..1]);
    assert_eq!(machines(None), both);
}
