//! How far apart two ranks start under a real MPI: `cargo bench -p diskfacts-gang --bench start_skew`.
//! `cargo test` runs it with a few trials, only to see that it works; without `mpirun` it is skipped.
//!
//! The aim, for two ranks on two idle processors: half of the trials start within 10 µs, nine of ten within
//! 200 µs. Both ranks are processes of this machine, and read one clock, so that the difference of
//! what they read at their starts is the true one, whatever they agreed on. Trials that are void because
//! somebody was late count here, too. It says of each aim whether it was met, and exits with 1 where one was
//! missed.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("start skew: there is no launcher for this system");
}

#[cfg(target_os = "linux")]
mod linux {
    use diskfacts_gang::launcher::launcher;
    use diskfacts_gang::mpi::Mpi;
    use diskfacts_gang::{
        Details, Ending, Judged, Member, Monotonic, Outcome, Planned, Schedule, Seat, Settings,
        drive, seat, wait_until,
    };
    use diskfacts_testkit::{or_skip, require_tool};
    use std::path::Path;
    use std::process::Command;

    /// What makes this binary a rank.
    const RANK: &str = "DISKFACTS_SKEW_TRIALS";
    /// Set where the aims are to be met: there are trials enough to say so.
    const JUDGED: &str = "DISKFACTS_SKEW_JUDGED";
    /// How a rank ends, and the benchmark, where an aim was missed.
    const MISSED: i32 = 1;

    /// Shares of the trials, and the most that their starts are to lie apart, microseconds.
    const AIMS: [(f64, f64); 2] = [(0.5, 10.0), (0.9, 200.0)];

    const RANKS: usize = 2;
    const TRIAL_NS: u64 = 20_000_000;
    /// What still runs then hangs.
    const HANGS_AFTER_S: &str = "300";

    /// Bytes of a start in a summary: nanoseconds of the clock that all ranks have in common.
    const START_BYTES: usize = 8;

    pub(crate) fn main() {
        if let Some(trials) = std::env::var_os(RANK) {
            let trials = trials.to_str().and_then(|trials| trials.parse().ok());
            rank(trials.expect("a number of trials"));
            return;
        }
        let full = std::env::args().any(|argument| argument == "--bench");
        let trials = if full { 100 } else { 3 };
        let mpirun = or_skip!(require_tool("mpirun", "openmpi-bin"));
        let own = std::env::current_exe().expect("this binary knows where it is");
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after", "10", HANGS_AFTER_S])
            .arg(mpirun);
        // As root, on fewer processors than there are ranks, and bound to none.
        command.args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
        ]);
        command.args(["-n", &RANKS.to_string()]).arg(own);
        command.env(RANK, trials.to_string());
        if full {
            command.env(JUDGED, "1");
        }
        let status = command.status().expect("timeout (coreutils) runs");
        if full && status.code() == Some(MISSED) {
            std::process::exit(MISSED);
        }
        assert!(status.success(), "the ranks ended with {status}");
    }

    /// What each of them does.
    fn rank(trials: u32) {
        let launcher = launcher(|name| std::env::var(name).ok());
        // That of Debian's launcher.
        let library = Path::new("libmpi.so.40");
        let mut mpi = Mpi::start(Some(library), launcher.as_ref()).expect("MPI starts");
        let concatenate = |mut into: Vec<u8>, other: &[u8]| {
            into.extend(other);
            Ok(into)
        };
        let (mut own, work) = seat(Box::new(concatenate));
        let session = std::thread::spawn(move || session(&mut own));
        let rank = diskfacts_gang::Transport::rank(&mpi);
        let details = Details {
            // Ranks of one machine stand for hosts.
            boot_id: format!("boot-{rank}"),
            ..Details::default()
        };
        let mut member = Member::new(
            &mpi,
            Settings::default(),
            "bench".to_owned(),
            format!("host-{rank}"),
            details,
            work,
            Trials(trials),
        );
        let ending = drive(&mut member, &mut mpi, &Monotonic, |_| {});
        assert_eq!(ending, Ending::Over);
        let are_met = rank != 0 || tell(member.judged(), trials);
        drop(member);
        session.join().expect("the session ends with the group");
        mpi.close(true).expect("MPI ends");
        if std::env::var_os(JUDGED).is_some() && !are_met {
            std::process::exit(MISSED);
        }
    }

    /// Measures nothing, and says when it started.
    fn session(seat: &mut Seat) {
        while seat.next_trial().is_some() {
            let Ok(go) = seat.ready(Ok(())) else { continue };
            let Some(start_ns) = wait_until(&Monotonic, go.at_ns, || seat.is_cancelled()) else {
                continue;
            };
            let stop_ns = go.stop_ns.expect("trials here are timed");
            let Some(end_ns) = wait_until(&Monotonic, stop_ns, || seat.is_cancelled()) else {
                continue;
            };
            // Whether it counts is read from what is judged.
            let _ = seat.finished(Ok(Outcome {
                start_ns,
                end_ns,
                summary: start_ns.to_le_bytes().to_vec(),
            }));
        }
    }

    /// So many trials, each repeated where it was void.
    struct Trials(u32);

    impl Schedule for Trials {
        fn next(&mut self, judged: &[Judged]) -> Option<Planned> {
            let done = judged.iter().map(|one| one.trial.number + 1).max();
            (done.unwrap_or(0) < self.0).then(|| Planned {
                order: Vec::new(),
                lasts_ns: Some(TRIAL_NS),
                seed: 1,
            })
        }
    }

    /// Prints how far apart the starts were; says whether the aims are met.
    fn tell(judged: &[Judged], trials: u32) -> bool {
        // A trial that was called off has no starts.
        let skews = judged.iter().filter_map(|one| skew_ns(&one.summary));
        let mut skews: Vec<i64> = skews.collect();
        skews.sort_unstable();
        let void = judged.iter().filter(|one| one.void.is_some()).count();
        assert!(judged.len() >= trials as usize, "{} trials", judged.len());
        if skews.is_empty() {
            println!("start skew: no trial of {trials} was started by all ranks");
            return false;
        }
        let at = |share: f64| {
            let place = (share * (skews.len() - 1) as f64).round() as usize;
            skews[place] as f64 / 1000.0
        };
        println!(
            "start skew of {RANKS} ranks in {} starts: p50 {:.1} µs, p90 {:.1} µs, at most {:.1} µs; \
             {void} of them were too late and repeated",
            skews.len(),
            at(0.5),
            at(0.9),
            at(1.0)
        );
        if std::env::var_os(JUDGED).is_none() {
            return true;
        }
        let mut are_met = true;
        for (share, most_us) in AIMS {
            let is_met = at(share) <= most_us;
            are_met &= is_met;
            println!(
                "{}: p{:.0} is {:.1} µs, the aim is {most_us} µs on idle processors",
                if is_met { "met" } else { "missed" },
                share * 100.0,
                at(share)
            );
        }
        are_met
    }

    /// From the first start of a trial to its last; `None` where not all have started.
    fn skew_ns(summary: &[u8]) -> Option<i64> {
        let (starts, _) = summary.as_chunks::<START_BYTES>();
        let starts = starts.iter().map(|start| i64::from_le_bytes(*start));
        let (first, last) = (starts.clone().min()?, starts.clone().max()?);
        (starts.count() == RANKS).then_some(last - first)
    }
}
