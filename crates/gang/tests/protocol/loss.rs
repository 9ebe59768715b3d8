//! A host that dies, at each of its frames.

use crate::group::{Group, MS, SECOND, Setup};
use diskfacts_gang::Ending;
use diskfacts_gang::channels::Way;

const WAY: Way = Way {
    delay_ns: 8000,
    jitter_ns: 30_000,
};

/// How many frames each host sends where nobody dies.
fn frames(hosts: usize) -> Vec<u64> {
    let mut group = Setup::of(hosts).group();
    group.run();
    let network = group.simulation.network();
    (0..hosts).map(|rank| network.sent(rank)).collect()
}

/// A group in which one host dies instead of sending a frame.
fn killed(hosts: usize, rank: usize, frame: u64, notices: bool) -> Group {
    let mut setup = Setup::of(hosts);
    setup.seed = frame;
    let group = setup.group();
    let network = group.simulation.network();
    network.kill_at_frame(rank, frame);
    if notices {
        network.notices_death();
    }
    group
}

/// Whatever happened: what counts was measured by all that were in the group then.
fn check_what_counts(group: &Group, dead: usize, context: &str) {
    let truth = group.truth.borrow();
    for judged in group.judged() {
        if judged.void.is_some() {
            continue;
        }
        let trial = (judged.trial.number, judged.trial.attempt);
        for window in &judged.windows {
            let rank = window.rank as usize;
            let rows = truth.measured.iter();
            let measured = rows.filter(|row| row.0 == rank && (row.1, row.2) == trial);
            assert_eq!(measured.count(), 1, "{context}: rank {rank} in {trial:?}");
        }
        let ranks = judged.windows.len();
        let without = judged
            .windows
            .iter()
            .all(|window| window.rank as usize != dead);
        let hosts = ranks + usize::from(without);
        assert!(
            ranks >= 2 && hosts == group.simulation.network_size(),
            "{context}: {ranks}"
        );
    }
}

fn everywhere(hosts: usize, victims: &[usize], each: usize, notices: bool) {
    let frames = frames(hosts);
    for &victim in victims {
        for frame in (0..frames[victim]).step_by(each) {
            let context = format!("{hosts} hosts, rank {victim} dies at its frame {frame}");
            let mut group = killed(hosts, victim, frame, notices);
            let stopped = group.run();
            assert!(group.simulation.network().is_dead(victim), "{context}");
            for (rank, ending) in stopped.endings.iter().enumerate() {
                assert_eq!(
                    ending.is_none(),
                    rank == victim,
                    "{context}: rank {rank} {ending:?}"
                );
            }
            check_what_counts(&group, victim, &context);
            if victim == 0 {
                continue;
            }
            let ending = stopped.endings[0].clone().expect("the root has ended");
            // Before the group has begun it is missing; later the others go on.
            match ending {
                Ending::Refused(_) => assert_eq!(group.judged(), [], "{context}"),
                Ending::Over => {
                    let counted = group.judged().iter().filter(|judged| judged.void.is_none());
                    assert_eq!(counted.count(), 2, "{context}");
                    assert!(
                        stopped.at_ns < 15 * SECOND,
                        "{context}: {} ns",
                        stopped.at_ns
                    );
                }
                other => panic!("{context}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_host_that_dies_at_any_of_its_frames_hangs_nobody_and_the_others_go_on() {
    everywhere(4, &[1, 3], 1, false);
}

#[test]
fn a_host_in_the_middle_of_the_tree_may_die_at_any_of_its_frames() {
    everywhere(35, &[1, 2], 3, false);
    everywhere(35, &[34], 1, false);
}

#[test]
fn a_death_that_the_transport_notices_hangs_nobody_either() {
    everywhere(4, &[1, 3], 1, true);
    everywhere(35, &[1], 5, true);
}

/// Groups of 40 in which one host dies at one of its frames, and others so much later.
fn several(first: usize, others: &[usize], each: usize, later_ns: i64, notices: bool) {
    let hosts = 40;
    let frames = frames(hosts)[first];
    for frame in (0..frames).step_by(each) {
        let mut group = killed(hosts, first, frame, notices);
        for &other in others {
            let network = group.simulation.network();
            network.kill_with(first, other, later_ns);
        }
        let context = format!("rank {first} at its frame {frame}, {others:?} {later_ns} ns later");
        let stopped = group.run();
        let mut counted = 0;
        for (rank, ending) in stopped.endings.iter().enumerate() {
            let is_dead = group.simulation.network().is_dead(rank);
            assert!(ending.is_some() || is_dead, "{context}: rank {rank} hangs");
        }
        for judged in group.judged().iter().filter(|judged| judged.void.is_none()) {
            counted += 1;
            let ranks = judged.windows.iter().map(|window| window.rank as usize);
            let ranks: Vec<usize> = ranks.collect();
            assert!(ranks.len() >= hosts - 1 - others.len(), "{context}");
        }
        match stopped.endings[0].clone().expect("the root has ended") {
            Ending::Refused(_) => assert_eq!(group.judged(), [], "{context}"),
            Ending::Over => assert_eq!(counted, 2, "{context}"),
            other => panic!("{context}: {other:?}"),
        }
        assert!(
            stopped.at_ns < 75 * SECOND,
            "{context}: {} ns",
            stopped.at_ns
        );
    }
}

#[test]
fn hosts_that_die_at_once_hang_nobody() {
    let rack: Vec<usize> = (17..32).collect();
    // Rank 17 takes the place of rank 16 and is the root's own child then.
    several(16, &rack, 3, 0, false);
    several(16, &rack, 11, SECOND, false);
    // All that are below rank 1, and it.
    let below: Vec<usize> = (17..33).collect();
    several(1, &below, 41, 0, false);
    several(1, &[2], 37, 0, false);
    several(1, &[2], 37, 0, true);
    several(39, &[1, 2, 38], 3, 0, false);
}

#[test]
fn a_host_that_dies_before_its_new_parent_has_heard_of_it_is_missed() {
    for later_ns in [0, 3 * SECOND, 5 * SECOND, 6 * SECOND] {
        several(1, &[17], 53, later_ns, false);
        several(1, &[18], 53, later_ns, false);
    }
}

#[test]
fn without_the_root_all_hosts_stop_within_ten_seconds_of_silence() {
    everywhere(4, &[0], 1, false);
    let frames = frames(4)[0];
    let mut group = killed(4, 0, frames / 2, false);
    let stopped = group.run();
    assert!(stopped.at_ns < 12 * SECOND, "{} ns", stopped.at_ns);
    let Some(Ending::Stopped(why)) = &stopped.endings[3] else {
        panic!("{:?}", stopped.endings[3]);
    };
    assert!(
        why.starts_with("nothing was heard of the root for 10."),
        "{why}"
    );
}

#[test]
fn finished_trials_are_kept_when_a_host_is_lost_in_a_later_one() {
    let frames = frames(4)[3];
    let mut group = killed(4, 3, frames - 4, false);
    group.run();
    let trials: Vec<_> = group
        .judged()
        .iter()
        .map(|judged| {
            (
                judged.trial.number,
                judged.void.is_none(),
                judged.windows.len(),
            )
        })
        .collect();
    assert_eq!(trials, [(0, true, 4), (1, false, 0), (1, true, 3)]);
    let lost = group.simulation.member(0).lost();
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].0, &*lost[0].1), (3, "c3"));
    assert!(
        lost[0].2.starts_with("nothing was heard of it for 5."),
        "{lost:?}"
    );
}

#[test]
fn two_of_two_hosts_cannot_lose_one() {
    let frames = frames(2)[1];
    let mut group = killed(2, 1, frames / 2, false);
    let stopped = group.run();
    let Some(Ending::Stopped(why)) = &stopped.endings[0] else {
        panic!("{:?}", stopped.endings[0]);
    };
    assert!(
        why.starts_with("1 of 2 hosts are left: c1 was lost"),
        "{why}"
    );
}

#[test]
fn a_host_that_cannot_prepare_waits_for_the_others_and_is_named() {
    let mut group = Setup::of(20).group_with(
        |_, _| WAY,
        |rank, _, work| {
            if rank == 1 {
                work.fails = Some((1, "no space left on /data"));
            }
        },
    );
    let stopped = group.run();
    assert_eq!(stopped.endings[0], Some(Ending::Over));
    let failed = Ending::Left("no space left on /data".to_owned());
    assert_eq!(stopped.endings[1], Some(failed));
    let counted: Vec<usize> = group
        .judged()
        .iter()
        .filter(|judged| judged.void.is_none())
        .map(|judged| judged.windows.len())
        .collect();
    assert_eq!(counted, [20, 19]);
    let lost = group.simulation.member(0).lost();
    assert_eq!(lost, [(1, "c1".to_owned(), "no space left on /data")]);
}

#[test]
fn a_host_that_stands_still_and_comes_back_stays_until_the_others_are_done() {
    // Rank 1 has others below it, and rank 39 is below another.
    for (hosts, rank) in [(4, 3), (40, 1), (40, 39)] {
        for at in 0..12 {
            let mut setup = Setup::of(hosts);
            setup.lasts_ns = 4 * SECOND;
            let mut group = setup.group();
            let from = 60 * MS + at * 700 * MS;
            let network = group.simulation.network();
            network.pause(rank, from, from + 7 * SECOND);
            let stopped = group.run();
            let context = format!("{hosts} hosts, rank {rank} stands still at {from} ns");
            let ended = |rank: usize| stopped.endings[rank].clone().expect("all end");
            assert_eq!(ended(0), Ending::Over, "{context}");
            let Ending::Left(why) = ended(rank) else {
                panic!("{context}: {:?}", ended(rank));
            };
            assert!(why.starts_with("the others went on without"), "{why}");
            let counted = group.judged().iter().filter(|one| one.void.is_none());
            assert_eq!(counted.count(), 2, "{context}");
            let member = group.simulation.member(rank);
            assert!(member.ends_with_all(), "{context}: it waits for the end");
        }
    }
}

/// Hosts whose disks hang in the second trial, for 20 s at most.
fn hanging(hosts: usize, hanging: &'static [usize], leaving: Option<usize>) -> Group {
    let mut setup = Setup::of(hosts);
    setup.settings.overdue_after_ns = 20 * SECOND;
    setup.lasts_ns = 2 * SECOND;
    setup.group_with(
        |_, _| WAY,
        move |rank, _, work| {
            if hanging.contains(&rank) {
                work.hangs = Some(1);
            }
            if leaving == Some(rank) {
                work.leaves_at_ns = Some(4 * SECOND);
            }
        },
    )
}

#[test]
fn a_host_whose_disk_hangs_is_named_and_lost_and_the_others_go_on() {
    // The last time, it hangs in what is cancelled because another host leaves.
    let cases: [(usize, &[usize], Option<usize>); 4] = [
        (4, &[3], None),
        (40, &[1, 39], None),
        (40, &[39], None),
        (40, &[39], Some(5)),
    ];
    for (hosts, hang, leaving) in cases {
        let mut group = hanging(hosts, hang, leaving);
        group.simulation.run(15 * SECOND);
        let late = match leaving {
            None => group.simulation.member(0).not_done(),
            Some(_) => group.simulation.member(0).not_ready(),
        };
        let names: Vec<String> = hang.iter().map(|rank| format!("c{rank}")).collect();
        assert_eq!(late, names);
        let mut group = hanging(hosts, hang, leaving);
        let stopped = group.run();
        for (rank, ending) in stopped.endings.iter().enumerate() {
            assert_eq!(ending.is_none(), hang.contains(&rank), "{rank}: {ending:?}");
        }
        assert_eq!(stopped.endings[0], Some(Ending::Over));
        let counted = group.judged().iter().filter(|one| one.void.is_none());
        assert_eq!(counted.count(), 2);
        for (_, host, why) in group.simulation.member(0).lost() {
            assert!(
                why.contains("20 s after it ought to") || why == "interrupted",
                "{host}: {why}"
            );
        }
        let others = group.simulation.member(2).lost();
        assert!(others.len() >= hang.len(), "they do not wait for it");
    }
}

#[test]
fn a_host_that_fills_a_file_when_another_is_lost_is_not_taken_for_hanging() {
    let mut setup = Setup::of(4);
    setup.settings.overdue_after_ns = 20 * SECOND;
    setup.settings.prepared_within_ns = 30 * SECOND;
    let mut group = setup.group_with(
        |_, _| WAY,
        |rank, _, work| {
            // Longer than anything that hangs is waited for.
            work.set_up_at_ns = 100 * SECOND;
            if rank == 3 {
                work.leaves_at_ns = Some(SECOND);
            }
        },
    );
    let stopped = group.run();
    let lost = group.simulation.member(0).lost();
    assert_eq!(lost, [(3, "c3".to_owned(), "interrupted")]);
    for rank in 0..3 {
        assert_eq!(stopped.endings[rank], Some(Ending::Over), "{rank}");
    }
    let counted = group.judged().iter().filter(|one| one.void.is_none());
    assert_eq!(counted.count(), 2);
}

#[test]
fn a_host_whose_disk_hangs_before_a_trial_is_lost_and_the_others_go_on() {
    for rank in [3, 0] {
        let mut setup = Setup::of(4);
        setup.settings.prepared_within_ns = 30 * SECOND;
        let mut group = setup.group_with(
            |_, _| WAY,
            move |of, _, work| {
                work.set_up_at_ns = 40 * SECOND;
                if of == rank {
                    work.hangs_before = Some(1);
                }
            },
        );
        group.run();
        let why = "it has not prepared its trial 30 s after it began to; its disk may hang";
        let lost = group.simulation.member(0).lost();
        assert_eq!(lost, [(rank, format!("c{rank}"), why)]);
        let counted = group.judged().iter().filter(|one| one.void.is_none());
        assert_eq!(counted.count(), if rank == 0 { 1 } else { 2 });
    }
}

#[test]
fn the_others_do_not_wait_for_a_root_whose_disk_hangs() {
    let mut group = hanging(40, &[0], None);
    let stopped = group.run();
    for rank in 1..40 {
        let Some(Ending::Stopped(why)) = &stopped.endings[rank] else {
            panic!("{rank}: {:?}", stopped.endings[rank]);
        };
        assert!(why.starts_with("c0: it has not ended its trial"), "{why}");
        assert!(!group.simulation.member(rank).lost().is_empty(), "{rank}");
    }
}

#[test]
fn a_host_that_leaves_ends_alone_and_the_root_ends_all() {
    let interrupted = |rank| {
        let mut group = Setup::of(4).group_with(
            |_, _| WAY,
            move |of, _, work| {
                if of == rank {
                    work.leaves_at_ns = Some(100 * MS);
                }
            },
        );
        group.run().endings
    };
    let endings = interrupted(2);
    assert_eq!(endings[2], Some(Ending::Left("interrupted".to_owned())));
    assert_eq!(endings[0], Some(Ending::Over));
    assert_eq!(
        interrupted(0),
        vec![Some(Ending::Stopped("interrupted".to_owned())); 4]
    );
}

#[test]
fn whoever_stops_the_group_ends_it_for_everybody() {
    // With 40 hosts there is one between the last and the root.
    for (hosts, rank) in [(4, 0), (4, 2), (40, 39)] {
        let mut group = Setup::of(hosts).group_with(
            |_, _| WAY,
            move |of, _, work| {
                if of == rank {
                    work.stops_at_ns = Some(100 * MS);
                }
            },
        );
        let run = group.run();
        let ending = Ending::Stopped(format!("c{rank}: Ctrl-C"));
        assert_eq!(run.endings, vec![Some(ending); hosts], "rank {rank}");
        assert!(run.at_ns < 1000 * MS, "at once, and not when it is over");
    }
}
