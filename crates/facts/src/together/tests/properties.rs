//! What is so of any runs.

use super::*;
use proptest::prelude::*;

/// A latency in nanoseconds, mostly in microseconds.
fn latency() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 1_000_u64..10_000_000, 1 => any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn latencies_are_those_of_one_host_that_did_all(
        latencies in prop::collection::vec(prop::collection::vec(latency(), 0..200), 1..8),
    ) {
        let mut all = Histogram::new();
        let runs: Vec<Run> = latencies
            .iter()
            .enumerate()
            .map(|(i, latencies)| {
                let mut run = run(&format!("c{i}"), 10);
                let mut histograms = Histograms::default();
                for latency in latencies {
                    histograms.read.record(*latency);
                    all.record(*latency);
                }
                run.trials[0].histograms = (&histograms).into();
                for trial in &mut run.trials[1..] {
                    trial.histograms = PackedHistograms::default();
                }
                run
            })
            .collect();
        let members: Vec<Member> = runs.iter().map(|run| Member::of(run).unwrap()).collect();
        let measured: Vec<_> = members
            .iter()
            .flat_map(|member| &member.trials)
            .filter_map(|trial| trial.done.as_ref())
            .collect();
        // Bit for bit, as they are stored.
        prop_assert_eq!(stage::added(&measured).to_bytes(), all.to_bytes());
        let merged = merged(&runs);
        prop_assert_eq!(merged.stages[0].latency_ns, diskfacts_record::Latency::from(&all));
    }

    #[test]
    fn it_does_not_matter_in_which_order_runs_come_or_how_they_are_put_together(
        rates in prop::collection::vec(1_u64..1_000_000, 2..9),
        late in prop::collection::vec(0_i64..50_000_000, 9),
        cut in any::<prop::sample::Index>(),
        shuffled in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let runs: Vec<Run> = rates
            .iter()
            .zip(&late)
            .enumerate()
            .map(|(i, (rate, late))| {
                let mut run = run(&format!("c{i}"), *rate);
                for agreed in &mut together(&mut run).trials {
                    agreed.started_ns = agreed.started_ns.map(|ns| ns + late);
                    agreed.ended_ns = agreed.ended_ns.map(|ns| ns + late);
                }
                run
            })
            .collect();
        let in_order = merged(&runs);
        let other: Vec<Run> = shuffled
            .iter()
            .filter_map(|i| runs.get(*i).cloned())
            .collect();
        prop_assert_eq!(&merged(&other), &in_order);
        // In two halves, the second before the first.
        let at = 1 + cut.index(runs.len() - 1);
        let (left, right) = (group(&other[..at]).unwrap(), group(&other[at..]).unwrap());
        let joined = right.join(left).unwrap().merged(None);
        prop_assert_eq!(joined.as_ref(), Some(&in_order));
    }

    #[test]
    fn no_document_is_too_wild(
        at_ns in any::<u64>(), length_ns in any::<u64>(), spans in prop::collection::vec(any::<[i64; 2]>(), 3),
        interval_ns in any::<u64>(), operations in prop::collection::vec(any::<u64>(), 0..5),
        (ops, bytes, errors) in any::<(u64, u64, u64)>(), clock_error_ns in any::<u64>(),
        user_ns in any::<f64>(),
    ) {
        let mut runs = hosts(8);
        for run in &mut runs {
            let agreed = &mut together(run).trials[0];
            (agreed.at_ns, agreed.length_ns) = (at_ns, length_ns);
        }
        let wild = &mut runs[3];
        for (trial, span) in wild.trials.iter_mut().zip(&spans) {
            trial.evidence.intervals.length_ns = interval_ns;
            trial.evidence.intervals.operations.clone_from(&operations);
            (trial.ops, trial.bytes, trial.errors) = (ops, bytes, errors);
            trial.cpu.user_ns_per_io = Some(user_ns);
            let agreed = together_trial(&mut wild.together, trial.order);
            (agreed.started_ns, agreed.ended_ns) = (Some(span[0]), Some(span[1]));
            agreed.clock_error_ns = clock_error_ns;
        }
        let merged = merged(&runs);
        prop_assert_eq!(merged.hosts.len(), 8);
    }
}

fn together_trial(together: &mut Option<Together>, order: u32) -> &mut AgreedTrial {
    let trials = &mut together.as_mut().expect("a group").trials;
    trials
        .iter_mut()
        .find(|trial| trial.order == order)
        .expect("its trial")
}
