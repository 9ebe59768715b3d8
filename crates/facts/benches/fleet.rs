//! How long a large fleet takes: `cargo bench -p diskfacts-facts --bench fleet`. `cargo test` runs
//! it small, only to see that it works.
//!
//! The aim: 10 000 hosts of 20 stages of 12 trials are screened in less than a second.

use diskfacts_facts::fleet::{
    Member, Options, Peers, Sample, TrialSample, screen, second_look, verdict,
};
use diskfacts_plan::rng::Rng;
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

const STAGES: usize = 20;

/// All stages of so many hosts, one in a hundred of which is slower by a quarter. Not one after the
/// other: what is slow together in time is compared with itself.
fn look(hosts: usize, started_s: i64, rng: &mut Rng) -> Vec<Sample> {
    let peers = [("model".to_owned(), "X100".to_owned())];
    let peers = Arc::new(Peers(BTreeMap::from(peers)));
    let mut samples = Vec::with_capacity(hosts * STAGES);
    for host in 0..hosts {
        let at = if host % 100 == 0 { 0.75 } else { 1.0 };
        let started_s = started_s + rng.below(86_400).cast_signed();
        for stage in 0..STAGES {
            let trial = |rng: &mut Rng| TrialSample {
                value: 1000.0 * at * (1.0 + 0.05 * rng.unit()),
                disturbed: None,
            };
            samples.push(Sample {
                member: Member {
                    host: format!("c{host:05}"),
                    machine: None,
                    target: "/data".into(),
                },
                run: format!("{started_s}-{host}"),
                started_s,
                peers: Arc::clone(&peers),
                stage: format!("stage-{stage}"),
                measure: Measure::Iops,
                trials: (0..12).map(|_| trial(rng)).collect(),
            });
        }
    }
    samples
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let hosts = if full { 10_000 } else { 200 };
    let mut rng = Rng::new(1);
    let first = look(hosts, 0, &mut rng);
    let mut later = look(hosts, 5 * 86_400, &mut rng);

    let begin = Instant::now();
    let screened = screen(&first, &Options::default());
    let to_screen = begin.elapsed();
    let again = second_look(&screened, 1);
    let members: BTreeSet<&Member> = again.members.iter().map(|again| &again.member).collect();
    later.retain(|sample| members.contains(&sample.member));

    let begin = Instant::now();
    let judged = verdict(&screened, &later);
    let to_judge = begin.elapsed();
    assert_eq!(screened.suspects.len(), hosts / 100 * STAGES);
    assert_eq!(judged.judged.len(), screened.suspects.len());
    println!(
        "{} samples: {to_screen:?} to screen; {} of a second look: {to_judge:?} to judge",
        first.len(),
        later.len()
    );
}
