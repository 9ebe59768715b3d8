//! What speaks against measuring is said before anything is prepared; what was not at one moment
//! does not count.

use crate::group::{MS, SECOND, Setup, SimulatedWork};
use diskfacts_gang::channels::Way;
use diskfacts_gang::{Details, Ending, Settings};

const WAY: Way = Way {
    delay_ns: 8000,
    jitter_ns: 30_000,
};

fn refused(
    hosts: usize,
    change: impl FnMut(usize, &mut Details, &mut SimulatedWork),
) -> Vec<String> {
    let mut group = Setup::of(hosts).group_with(|_, _| WAY, change);
    let stopped = group.run();
    assert_eq!(group.truth.borrow().prepared, [], "nothing was prepared");
    let Some(Ending::Refused(objections)) = stopped.endings[0].clone() else {
        panic!("{:?}", stopped.endings[0]);
    };
    for ending in stopped.endings {
        assert_eq!(
            ending,
            Some(Ending::Refused(objections.clone())),
            "all are told the same"
        );
    }
    objections
}

#[test]
fn every_objection_of_every_host_is_said_at_once() {
    let objections = refused(40, |rank, details, _| {
        if rank == 7 || rank == 39 {
            details.objections = vec![format!("/dev/sd{rank} is mounted at /data")];
        }
        if rank == 20 {
            details.plan = b"another".to_vec();
        }
    });
    assert_eq!(
        objections,
        [
            "the plan on c20 is not that on c0; give all hosts the same plan and options",
            "c7: /dev/sd7 is mounted at /data",
            "c39: /dev/sd39 is mounted at /data",
        ]
    );
}

#[test]
fn one_machine_twice_is_refused() {
    let objections = refused(3, |rank, details, _| {
        if rank == 2 {
            "boot-1".clone_into(&mut details.boot_id);
        }
    });
    assert_eq!(objections.len(), 1);
    assert!(
        objections[0].starts_with("c1 (rank 1), c2 (rank 2) are one machine"),
        "{objections:?}"
    );
}

#[test]
fn a_host_that_never_says_who_it_is_is_named_and_the_others_do_not_hang() {
    let mut setup = Setup::of(20);
    setup.settings = Settings::default();
    let mut group = setup.group();
    group.simulation.network().kill_at_frame(5, 0);
    let stopped = group.run();
    let Some(Ending::Refused(objections)) = &stopped.endings[0] else {
        panic!("{:?}", stopped.endings[0]);
    };
    assert_eq!(
        objections[0],
        "19 of 20 hosts are there; missing: rank 5; --at-least 19 goes on without them"
    );
    assert!(stopped.at_ns < 75 * SECOND, "{} ns", stopped.at_ns);
    assert_eq!(
        stopped
            .endings
            .iter()
            .filter(|ending| ending.is_none())
            .count(),
        1
    );
    // Ending MPI would wait for the missing one for ever, on whichever host.
    for rank in (0..20).filter(|rank| *rank != 5) {
        let lost = group.simulation.member(rank).lost();
        let whys: Vec<&str> = lost.iter().map(|(_, _, why)| *why).collect();
        assert_eq!(whys, ["it did not say who it is"], "rank {rank}");
    }
}

#[test]
fn an_objection_is_heard_by_all_where_a_host_with_others_below_it_is_missing() {
    let mut setup = Setup::of(40);
    setup.settings.at_least = Some(2);
    let mut group = setup.group_with(
        |_, _| WAY,
        |rank, details, _| {
            if rank == 39 {
                details.objections = vec!["/data is mounted".to_owned()];
            }
        },
    );
    group.simulation.network().kill_at_frame(1, 0);
    let stopped = group.run();
    for (rank, ending) in stopped.endings.into_iter().enumerate() {
        if rank == 1 {
            continue;
        }
        let objection = "c39: /data is mounted".to_owned();
        assert_eq!(ending, Some(Ending::Refused(vec![objection])), "{rank}");
        assert!(!group.simulation.member(rank).lost().is_empty(), "{rank}");
    }
}

#[test]
fn with_at_least_the_group_goes_on_without_a_missing_host() {
    let mut setup = Setup::of(20);
    setup.settings.at_least = Some(18);
    let mut group = setup.group();
    group.simulation.network().kill_at_frame(5, 0);
    let stopped = group.run();
    assert_eq!(stopped.endings[0], Some(Ending::Over));
    assert_eq!(group.judged().len(), 2);
    for judged in group.judged() {
        assert_eq!(judged.void, None);
        assert_eq!(judged.windows.len(), 19);
    }
    let lost = group.simulation.member(0).lost();
    assert_eq!(lost, [(5, "rank 5".to_owned(), "it did not say who it is")]);
}

#[test]
fn a_late_host_makes_the_trial_void_and_it_is_repeated_once() {
    let late = |attempts: [i64; 2]| {
        Setup::of(4).group_with(
            |_, _| WAY,
            move |rank, _, work| {
                if rank == 2 {
                    work.late_ns = attempts;
                }
            },
        )
    };
    // 1 % of 100 ms is 1 ms.
    let mut once = late([3 * MS, 0]);
    once.run();
    let attempts: Vec<_> = once
        .judged()
        .iter()
        .map(|judged| {
            (
                judged.trial.number,
                judged.trial.attempt,
                judged.void.is_some(),
            )
        })
        .collect();
    assert_eq!(
        attempts,
        [(0, 0, true), (0, 1, false), (1, 0, true), (1, 1, false)]
    );
    let why = once.judged()[0].void.clone().expect("it is void");
    assert!(
        why.starts_with("started late: c2 by 3.0 ms (1 % of this trial is 1.0 ms)"),
        "{why}"
    );
    let mut always = late([3 * MS, 3 * MS]);
    always.run();
    assert_eq!(always.judged().len(), 4, "repeated once, and not for ever");
    assert!(always.judged().iter().all(|judged| judged.void.is_some()));
    let mut in_time = late([MS / 2, 0]);
    in_time.run();
    assert!(in_time.judged().iter().all(|judged| judged.void.is_none()));
}

#[test]
fn all_hosts_hear_the_same_verdict() {
    let mut group = Setup::of(18).group_with(
        |_, _| WAY,
        |rank, _, work| {
            if rank == 17 {
                work.late_ns = [2 * MS, 0];
            }
        },
    );
    group.run();
    let truth = group.truth.borrow();
    for rank in 0..18 {
        let heard: Vec<_> = truth.judged.iter().filter(|row| row.0 == rank).collect();
        let counts: Vec<bool> = heard.iter().map(|row| row.3).collect();
        assert_eq!(counts, [false, true, false, true], "rank {rank}");
    }
}

#[test]
fn stragglers_are_named_while_they_are_waited_for() {
    let mut group = Setup::of(20).group_with(
        |_, _| WAY,
        |rank, _, work| {
            if rank == 3 || rank == 18 {
                work.prepares_ns = 30 * SECOND;
            }
        },
    );
    group.simulation.run(10 * SECOND);
    // Rank 18 is below rank 1, which passes its number on.
    assert_eq!(group.simulation.member(0).not_ready().len(), 2);
    let mut stragglers = group.simulation.member(0).stragglers();
    stragglers.sort();
    assert_eq!(stragglers, ["c18", "c3"]);
}
