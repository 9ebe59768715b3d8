//! How long a large run takes to store and to load: `cargo bench -p
//! diskfacts-store`. `cargo test` runs it small, only to see that it works.
//!
//! The aim: a run of 100 stages of 20 trials loads well under 100 ms.

mod large_run;

use diskfacts_record::Run;
use diskfacts_store::Store;
use large_run::large_run;
use std::time::{Duration, Instant};

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (stages, trials, repeats) = if full { (100, 20, 15) } else { (2, 2, 1) };
    let folder = tempfile::tempdir().expect("a folder for the store");
    let mut store = Store::open(&folder.path().join("runs.db")).expect("a new store");

    let run = large_run(stages, trials);
    let bare = Run {
        trials: Vec::new(),
        ..run.clone()
    };
    let started = Instant::now();
    store.begin(&bare, None).expect("a run begins");
    for trial in &run.trials {
        store
            .add_trial(&run.run.id, trial)
            .expect("a trial is stored");
    }
    let each = started.elapsed() / u32::try_from(run.trials.len()).expect("a few thousand");

    let mut loads: Vec<Duration> = (0..repeats)
        .map(|_| {
            let started = Instant::now();
            let loaded = store.load("last").expect("the run loads");
            let elapsed = started.elapsed();
            assert_eq!(loaded.trials.len(), run.trials.len());
            elapsed
        })
        .collect();
    loads.sort();
    let size = std::fs::metadata(store.path()).expect("the store").len();
    println!(
        "{stages} stages of {trials} trials, {} KiB: loads in {:?} (median of {repeats}, fastest {:?}); each trial was stored durably in {each:?}",
        size >> 10,
        loads[repeats / 2],
        loads[0],
    );
}
