//! Who is missing, and what it is called.

use super::*;

#[test]
fn a_run_that_was_killed_is_lost_and_its_trials_count() {
    let (one, mut killed) = (run("c1", 100), run("c2", 100));
    killed.run.status = Status::Running;
    killed.trials.truncate(2);
    for field in &mut together(&mut killed).trials[2..] {
        (field.started_ns, field.ended_ns) = (None, None);
    }
    let merged = merged(&[one, killed]);
    assert_eq!((merged.hosts_complete, merged.hosts_expected), (1, 2));
    assert_eq!(merged.lost[0].host, "c2");
    assert_eq!(merged.lost[0].from_order, Some(3));
    let stage = &merged.stages[0];
    assert_eq!((stage.hosts_counted, stage.iops.trials), (2, 2));
    assert!(stage.trials[2].void.is_some());
    assert_eq!(claims(&merged), ["host-lost"]);
}

#[test]
fn hosts_that_are_expected_and_not_here_are_counted() {
    let all = group(&hosts(3)).expect("one group");
    let merged = all.merged(Some(4)).expect("members");
    assert_eq!((merged.hosts_complete, merged.hosts_expected), (3, 4));
    assert_eq!(merged.hosts_unnamed, 1);
    assert_eq!(claims(&merged), ["host-lost"]);
    assert_eq!(claims(&all.merged(Some(3)).expect("members")), [""; 0]);
    // Those of MPI know how many they were, and who was lost.
    let mut runs = hosts(3);
    for (rank, run) in (0..).zip(&mut runs) {
        together(run).rank = Some(Rank { rank, of: 5 });
        together(run).lost.push(LostHost {
            host: "c07".to_owned(),
            from_order: Some(2),
            why: "it was silent for 10 s".to_owned(),
            rank: Some(4),
        });
    }
    let merged = self::merged(&runs);
    assert_eq!((merged.hosts_complete, merged.hosts_expected), (3, 5));
    assert_eq!((merged.lost.len(), merged.hosts_unnamed), (1, 1));
}

#[test]
fn a_process_that_was_lost_counts_once_whatever_the_others_call_it() {
    // Two processes of one machine: the first calls the second by its rank, and what adds their
    // runs up calls it by its run.
    let mut runs = [run("c1", 100), run("c1", 100)];
    for (rank, run) in (0..).zip(&mut runs) {
        run.run.id = format!("20261127-130000-{rank}");
        together(run).agreed_by = AgreedBy::Mpi;
        together(run).rank = Some(Rank { rank, of: 2 });
    }
    together(&mut runs[0]).lost.push(LostHost {
        host: "c1 (rank 1)".to_owned(),
        from_order: Some(2),
        why: "nothing was heard of it for 5 s".to_owned(),
        rank: Some(1),
    });
    let mut killed = runs.clone();
    killed[1].run.status = Status::Running;
    killed[1].trials.truncate(1);
    for agreed in &mut together(&mut killed[1]).trials[1..] {
        (agreed.started_ns, agreed.ended_ns) = (None, None);
    }
    let counts = |merged: &Merged| {
        let lost: Vec<_> = merged
            .lost
            .iter()
            .map(|lost| (lost.host.clone(), lost.rank))
            .collect();
        (merged.hosts_complete, merged.hosts_expected, lost)
    };
    let named = ("c1 (20261127-130000-1)".to_owned(), Some(1));
    assert_eq!(counts(&merged(&killed)), (1, 2, vec![named.clone()]));
    // Its run is here and whole, and the others went on without it.
    assert_eq!(counts(&merged(&runs)), (1, 2, vec![named]));
    // Its run is elsewhere.
    let by_rank = ("c1 (rank 1)".to_owned(), Some(1));
    assert_eq!(counts(&merged(&runs[..1])), (1, 2, vec![by_rank]));
}

#[test]
fn who_was_lost_when_all_was_measured_is_named_unless_its_run_came() {
    let mut runs = hosts(3);
    for (rank, run) in (0..).zip(&mut runs) {
        together(run).rank = Some(Rank { rank, of: 3 });
    }
    let late = [LostHost {
        host: "c3 (rank 2)".to_owned(),
        from_order: None,
        why: "it has been silent for 10 s".to_owned(),
        rank: Some(2),
    }];
    let without = group(&runs[..2]).unwrap().merged_without(Some(3), &late);
    let without = without.unwrap();
    assert_eq!((without.hosts_complete, without.hosts_expected), (2, 3));
    assert_eq!((&without.lost[..], without.hosts_unnamed), (&late[..], 0));
    assert_eq!(claims(&without), ["host-lost"]);
    // It was lost behind that, or its file was fetched.
    let all = group(&runs)
        .unwrap()
        .merged_without(Some(3), &late)
        .unwrap();
    assert_eq!((all.hosts_complete, all.lost.len()), (3, 0));
    assert_eq!(Some(all), group(&runs).unwrap().merged(Some(3)));
}
