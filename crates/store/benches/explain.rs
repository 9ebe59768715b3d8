//! How long stored runs take to be explained and compared: `cargo bench -p
//! diskfacts-store --bench explain`. `cargo test` runs it small, only to see that
//! it works.
//!
//! The aims, of runs of 100 stages of 20 trials, loading included: comparing two
//! takes less than 1 s, explaining one less than 100 ms.

mod large_run;

use diskfacts_facts::compare::{Part, SAME_WITHIN, Selection};
use diskfacts_facts::{compare, explain};
use diskfacts_record::Run;
use diskfacts_store::Store;
use large_run::large_run;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (stages, trials, repeats) = if full { (100, 20, 15) } else { (2, 3, 1) };
    let folder = tempfile::tempdir().expect("a folder for the store");
    let mut store = Store::open(&folder.path().join("runs.db")).expect("a new store");
    for (i, id) in ["before", "after"].into_iter().enumerate() {
        let mut run = large_run(stages, trials);
        id.clone_into(&mut run.run.id);
        for trial in &mut run.trials {
            // Noise of a percent, and an eighth of the stages 5 % faster after.
            let noise = f64::from((trial.order * 7919 + i as u32 * 13) % 100) / 10_000.0;
            let faster = i == 1 && trial.order % stages % 8 == 0;
            trial.throughput_bytes_per_s *= 1.0 + noise + if faster { 0.05 } else { 0.0 };
            trial.latency_ns = (&trial.histograms.unpack().all()).into();
        }
        // Whole runs are stored at once here: how long that takes is `load`'s.
        store.begin(&run, None).expect("a run is stored");
    }

    let load = timed(repeats, || store.load("before").expect("the run loads"));
    let explained = timed(repeats, || {
        let mut run = store.load("before").expect("the run loads");
        explain(&run).put_into(&mut run);
        run.figures.len()
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
        "{stages} stages of {trials} trials, median (fastest) of {repeats}: loaded in {load}, loaded \
         and explained in {explained}, two loaded and compared in {compared}"
    );
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

/// The median and the fastest time of so many repeats: on a busy machine the
/// second says more.
fn timed<T>(repeats: usize, mut what: impl FnMut() -> T) -> String {
    let mut times: Vec<Duration> = (0..repeats)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(what());
            started.elapsed()
        })
        .collect();
    times.sort();
    format!("{:?} ({:?})", times[repeats / 2], times[0])
}
