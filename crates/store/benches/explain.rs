//! How long stored runs take to be explained and compared: `cargo bench -p
//! diskfacts-store --bench explain`. `cargo test` runs it small, only to see that
//! it works.
//!
//! The aims, of 100 stages of 20 trials: a run is loaded and explained in less than
//! 100 ms, and two are loaded and compared in less than 1 s. A survey, whose size comes
//! first, has 12 stages. For each size it prints
//!
//! ```text
//! 12 stages of 20 trials, median (fastest) of 15: loaded in ..., explained in ..., two loaded and
//! compared in ...
//! ```
//!
//! and then whether the medians met the aims: it exits with 1 where they missed one.

mod large_run;

use diskfacts_facts::compare::{Part, SAME_WITHIN, Selection};
use diskfacts_facts::{compare, explain};
use diskfacts_record::Run;
use diskfacts_store::Store;
use large_run::large_run;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A run of 100 stages of 20 trials is loaded and explained in less.
const EXPLAINED_MAX: Duration = Duration::from_millis(100);
/// Two of them are loaded and compared in less.
const COMPARED_MAX: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        measure(2, 3, 1);
        return ExitCode::SUCCESS;
    }
    measure(12, 20, 15);
    let [load, explained, compared] = measure(100, 20, 15);
    let aims = [
        (
            "loaded and explained",
            load.median + explained.median,
            EXPLAINED_MAX,
        ),
        ("two loaded and compared", compared.median, COMPARED_MAX),
    ];
    let mut are_met = true;
    for (what, took, most) in aims {
        let is_met = took < most;
        are_met &= is_met;
        let said = if is_met { "met" } else { "missed" };
        println!("{said}: {what} in {took:?}, the aim is less than {most:?}");
    }
    ExitCode::from(u8::from(!are_met))
}

/// How long loading, explaining and comparing take.
fn measure(stages: u32, trials: u32, repeats: usize) -> [Times; 3] {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let mut store = Store::open(&folder.path().join("runs.db")).expect("a new store");
    for (i, id) in ["before", "after"].into_iter().enumerate() {
        let mut run = large_run(stages, trials);
        id.clone_into(&mut run.run.id);
        for trial in &mut run.trials {
            // Noise of a percent, and an eighth of the stages 5 % faster after.
            let noise = f64::from((trial.order * 7919 + i as u32 * 13) % 100) / 10_000.0;
            let faster = i == 1 && (trial.order % stages).is_multiple_of(8);
            trial.throughput_bytes_per_s *= 1.0 + noise + if faster { 0.05 } else { 0.0 };
            trial.latency_ns = (&trial.histograms.unpack().all()).into();
        }
        // Whole runs are stored at once here: how long that takes is `load`'s.
        store.begin(&run, None).expect("a run is stored");
    }

    let load = timed(repeats, || store.load("before").expect("the run loads"));
    let run = store.load("before").expect("the run loads");
    let explained = timed(repeats, || {
        let explanation = explain(&run);
        assert_eq!(explanation.figures.len(), stages as usize);
        explanation
    });
    let compared = timed(repeats, || {
        let runs = ["before", "after"].map(|id| store.load(id).expect("the run loads"));
        let [a, b] = runs.each_ref().map(selection);
        let comparison = compare(&a, &b, SAME_WITHIN, &[]);
        assert_eq!(comparison.stages.len(), stages as usize);
        assert!(
            comparison
                .stages
                .iter()
                .all(|stage| stage.latency.len() > 2)
        );
        comparison.stages.len()
    });
    println!(
        "{stages} stages of {trials} trials, median (fastest) of {repeats}: loaded in {load}, \
         explained in {explained}, two loaded and compared in {compared}"
    );
    [load, explained, compared]
}

fn selection(run: &Run) -> Selection<'_> {
    Selection {
        given: run.run.id.clone(),
        parts: vec![Part {
            run,
            only: BTreeMap::new(),
        }],
    }
}

/// Of the repeats of something: on a busy machine the fastest says more.
struct Times {
    median: Duration,
    fastest: Duration,
}

impl Display for Times {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({:?})", self.median, self.fastest)
    }
}

fn timed<T>(repeats: usize, mut what: impl FnMut() -> T) -> Times {
    let mut times: Vec<Duration> = (0..repeats)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(what());
            started.elapsed()
        })
        .collect();
    times.sort();
    Times {
        median: times[repeats / 2],
        fastest: times[0],
    }
}
