//! Processor time that is planted in a simulated host: a thread does one thing at a
//! time, so it sets the rate, however many operations are in flight.

use diskfacts_disk::profile::profile;
use diskfacts_engine::sim::{Computer, CpuCost, Plant};
use diskfacts_engine::{Progress, TrialOutcome};
use diskfacts_plan::{Stop, Workload};

fn reads(cost: CpuCost, queue_depth: u32) -> TrialOutcome {
    let plant = Plant {
        cost,
        ..Plant::default()
    };
    let disk = profile("nvme-datacenter").expect("a built-in profile");
    let workload = Workload {
        queue_depth,
        stop: Stop {
            operations: Some(2000),
            ..Stop::default()
        },
        ..Workload::default()
    };
    let (outcome, evidence) = Computer::new(&disk, 1, plant)
        .run_trial(&workload, 1, &Progress::default())
        .expect("a trial");
    assert_eq!((outcome.ops, outcome.errors), (2000, 0));
    assert!(evidence.processors.is_some());
    outcome
}

#[test]
fn many_in_flight_go_as_fast_as_one_processor_asks_for_them() {
    let cost = CpuCost {
        user_ns: 15_000,
        system_ns: 5000,
    };
    let outcome = reads(cost, 32);
    let each_ns = outcome.seconds * 1e9 / 2000.0;
    // What came back last, of the 32 in flight, is nobody's work any more.
    assert!((19_680.0..20_300.0).contains(&each_ns), "{each_ns}");
    assert_eq!(outcome.system_ns, Some(2000 * 5000));
    let user_ns = outcome.user_ns.expect("it is planted");
    assert!(
        (1960 * 15_000..=2000 * 15_000).contains(&user_ns),
        "{user_ns}"
    );
    let busy = outcome.busiest_thread.expect("it is planted");
    assert!(busy > 0.95, "{busy}");
}

#[test]
fn the_programs_own_time_is_in_no_latency_and_the_kernels_is() {
    let mean_ns = |user_ns, system_ns| {
        let outcome = reads(CpuCost { user_ns, system_ns }, 1);
        let mean = outcome.histograms.read.sum() as f64 / 2000.0;
        let each_ns = outcome.seconds * 1e9 / 2000.0;
        (mean, each_ns)
    };
    let (free, _) = mean_ns(0, 1);
    let (user, each_ns) = mean_ns(50_000, 1);
    let (system, _) = mean_ns(0, 50_000);
    assert!((user - free).abs() < 500.0, "{user} {free}");
    assert!(each_ns > free + 49_000.0, "{each_ns}");
    assert!((system - free - 50_000.0).abs() < 500.0, "{system} {free}");
}

#[test]
fn where_none_is_planted_direct_operations_take_no_processor_time() {
    let outcome = reads(CpuCost::default(), 1);
    assert_eq!((outcome.user_ns, outcome.system_ns), (Some(0), Some(0)));
    assert_eq!(outcome.busiest_thread, Some(0.0));
}
