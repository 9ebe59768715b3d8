//! What the measuring loop itself costs: nanoseconds per operation with the
//! engine that does no I/O, two time stamps and a full histogram each.
//!
//! `cargo bench -p diskfacts-engine --bench loop_cost` prints medians;
//! `-- --small` (and `cargo test`) runs a few operations to see that it works.

#[cfg(target_arch = "x86_64")]
use diskfacts_engine::clock::Tsc;
use diskfacts_engine::clock::{Monotonic, Source};
use diskfacts_engine::measure::{Job, Record, measure};
use diskfacts_engine::{Clock, Progress, SyncEach, null::Null};
use diskfacts_plan::pattern::{Range, Steps};
use diskfacts_plan::{Operation, Pattern};
use std::sync::Barrier;

fn run(clock: Clock, depth: u32, operations: u64, seed: u64) -> Record {
    let progress = Progress::default();
    let range = Range::new(0, 1 << 30, 4096).expect("the span has blocks");

    let mut job = Job {
        steps: Steps::new(Operation::Read, Pattern::Random, range, seed, 0, 1),
        block_size: 4096,
        modify: false,
        depth,
        time_ns: None,
        operations: Some(operations),
        intended: None,
        sync_at_end: SyncEach::None,
        intervals_from: None,
        time_from: None,
        stop: &progress.stop,
        progress: &progress,
    };
    let scale = clock.scale();
    let record = match clock.source() {
        #[cfg(target_arch = "x86_64")]
        Source::Tsc => measure(&mut Null::new(Tsc, scale, depth, 4096), &mut job),
        _ => measure(&mut Null::new(Monotonic, scale, depth, 4096), &mut job),
    }
    .expect("the null engine does not fail");
    assert_eq!(record.read.count(), operations);
    record
}

fn ns_per_operation(record: &Record, clock: Clock) -> f64 {
    clock.scale().ns(record.ended - record.started) as f64 / record.read.count() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    // `cargo test` runs benches without `--bench`.
    let small = !std::env::args().any(|arg| arg == "--bench")
        || std::env::args().any(|arg| arg == "--small");
    let (operations, rounds) = if small { (10_000, 1) } else { (20_000_000, 7) };
    let clock = Clock::get();
    println!("clock: {}", clock.name());
    let mut one_thread = 0.0;
    for depth in [1, 32] {
        let cost = median(
            (0..rounds)
                .map(|seed| ns_per_operation(&run(clock, depth, operations, seed), clock))
                .collect(),
        );
        println!("null engine, queue depth {depth}: {cost:.1} ns per operation");
        one_thread = cost;
    }
    let mut two = Vec::new();
    for seed in 0..rounds {
        let barrier = Barrier::new(2);
        let records = std::thread::scope(|scope| {
            let threads = [0, 1].map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    run(clock, 32, operations, seed * 2 + thread)
                })
            });
            threads.map(|thread| thread.join().expect("no thread panics"))
        });
        let from = records.iter().map(|r| r.started).min().unwrap_or(0);
        let to = records.iter().map(|r| r.ended).max().unwrap_or(0);
        two.push(clock.scale().ns(to - from) as f64 / (2 * operations) as f64);
    }
    let cost = median(two);
    println!(
        "null engine, queue depth 32, two threads: {cost:.1} ns per operation, {:.2} times one thread",
        one_thread / cost
    );
}
