//! What gathering costs: `cargo bench -p diskfacts-gang --bench gather`. `cargo test` runs it small, only to see
//! that it works.
//!
//! The aim: the histograms of 200 ranks, 2 KiB each, are at the root within 50 ms. 10 000 ranks come
//! after. The network is virtual, so the processors' work of all 200 hosts is done by this one, one after another, and
//! the time on the wire is the network's own.

use diskfacts_gang::channels::{HostClock, Network, Simulation, Way};
use diskfacts_gang::{
    ClockModel, Details, Ending, Go, Judged, Member, Outcome, Planned, Schedule, Settings, Trial,
    Work,
};
use std::task::Poll;
use std::time::Instant;

/// Bins of a histogram, of eight bytes each.
const BINS: usize = 256;

/// A host that measures nothing, and has a histogram at once.
struct NoWork {
    start_ns: i64,
}

impl Work for NoWork {
    fn prepare(&mut self, _: &Trial) {}

    fn prepared(&mut self) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }

    fn run(&mut self, go: &Go) {
        self.start_ns = go.at_ns;
    }

    fn finished(&mut self) -> Poll<Result<Outcome, String>> {
        Poll::Ready(Ok(Outcome {
            start_ns: self.start_ns,
            end_ns: self.start_ns + 1,
            summary: vec![1; BINS * 8],
        }))
    }

    fn cancel(&mut self) {}

    fn idle(&mut self) -> bool {
        true
    }

    fn judged(&mut self, _: &Trial, _: Option<&str>, _: &ClockModel) {}

    fn merge(&self, mut into: Vec<u8>, other: &[u8]) -> Result<Vec<u8>, String> {
        for (sum, bin) in into.chunks_exact_mut(8).zip(other.chunks_exact(8)) {
            let count = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            let both = count(sum).wrapping_add(count(bin));
            sum.copy_from_slice(&both.to_le_bytes());
        }
        Ok(into)
    }

    fn leaves(&mut self) -> Option<String> {
        None
    }
}

/// So many trials.
struct Trials(usize);

impl Schedule for Trials {
    fn next(&mut self, judged: &[Judged]) -> Option<Planned> {
        (judged.len() < self.0).then(|| Planned {
            order: Vec::new(),
            lasts_ns: Some(1_000_000_000),
            seed: 0,
        })
    }
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[(usize, usize)] = if full {
        &[(200, 50), (10_000, 3)]
    } else {
        &[(20, 2)]
    };
    for (ranks, trials) in sizes {
        gathered(*ranks, *trials);
    }
}

fn gathered(ranks: usize, trials: usize) {
    let way = Way {
        delay_ns: 8000,
        jitter_ns: 8000,
    };
    let clocks = vec![HostClock::default(); ranks];
    let network = Network::new(clocks, move |_, _| way, 1);
    let members = (0..ranks)
        .map(|rank| {
            Member::new(
                &network.channels(rank),
                Settings::default(),
                "bench".to_owned(),
                format!("c{rank}"),
                Details::default(),
                NoWork { start_ns: 0 },
                Trials(trials),
            )
        })
        .collect();
    let mut simulation = Simulation::new(network, members);
    let started = Instant::now();
    let stopped = simulation.run(i64::MAX);
    let elapsed = started.elapsed();
    assert_eq!(stopped.endings[0], Some(Ending::Over));
    assert_eq!(simulation.member(0).judged().len(), trials);
    let each = elapsed / u32::try_from(trials).expect("a few");
    let virtual_ms = stopped.at_ns as f64 / 1e6 / trials as f64;
    println!(
        "{ranks} ranks of {} bytes: a whole trial (prepared, two comparisons of all clocks, \
         gathered, judged) takes {each:?} of this processor for all hosts together, and \
         {virtual_ms:.2} ms of the network's time",
        BINS * 8,
    );
}
