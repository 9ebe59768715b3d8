//! Groups of simulated hosts whose truth is known.

use diskfacts_gang::channels::{HostClock, Network, Simulation, Stopped, VirtualClock, Way};
use diskfacts_gang::{
    ClockModel, Details, Go, Judged, Member, Outcome, Planned, Schedule, Settings, Trial, Work,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::task::Poll;

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const SECOND: i64 = 1000 * MS;

/// What the truth was, for all hosts.
#[derive(Default)]
pub(crate) struct Truth {
    /// Rank, trial, attempt, true start and true end.
    pub(crate) measured: Vec<(usize, u32, u8, i64, i64)>,
    /// Rank, trial, attempt and whether it counts.
    pub(crate) judged: Vec<(usize, u32, u8, bool)>,
    /// Rank and trial, of what was prepared.
    pub(crate) prepared: Vec<(usize, u32)>,
    pub(crate) cancelled: usize,
}

/// A host that measures nothing, at exact times.
pub(crate) struct SimulatedWork {
    rank: usize,
    clock: VirtualClock,
    truth: Rc<RefCell<Truth>>,
    state: State,
    trial: Option<Trial>,
    /// How long preparing takes.
    pub(crate) prepares_ns: i64,
    /// How late it starts, in its first attempts and in others.
    pub(crate) late_ns: [i64; 2],
    /// Why it cannot prepare this trial.
    pub(crate) fails: Option<(u32, &'static str)>,
    /// In which trial its disk hangs for ever.
    pub(crate) hangs: Option<u32>,
    /// In the preparation of which trial its disk hangs for ever.
    pub(crate) hangs_before: Option<u32>,
    /// Until when it fills a file that nothing cancels, in true time.
    pub(crate) set_up_at_ns: i64,
    /// When this host leaves alone, in true time.
    pub(crate) leaves_at_ns: Option<i64>,
    /// When the group is to be stopped, in true time.
    pub(crate) stops_at_ns: Option<i64>,
}

enum State {
    Idle,
    /// Until then, in true time.
    Preparing(i64),
    /// What was cancelled is done until then, in true time.
    Filling(i64),
    Measuring {
        start_ns: i64,
        stop_ns: i64,
    },
}

impl Work for SimulatedWork {
    fn prepare(&mut self, trial: &Trial) {
        let mut truth = self.truth.borrow_mut();
        truth.prepared.push((self.rank, trial.number));
        self.trial = Some(trial.clone());
        let prepared = self.clock.true_ns() + self.prepares_ns;
        self.state = State::Preparing(prepared.max(self.set_up_at_ns));
    }

    fn prepared(&mut self) -> Poll<Result<(), String>> {
        let State::Preparing(until) = self.state else {
            panic!("asked whether it is prepared while it does not prepare");
        };
        match (self.fails, &self.trial) {
            (Some((number, why)), Some(trial)) if trial.number == number => {
                Poll::Ready(Err(why.to_owned()))
            }
            (_, Some(trial)) if self.hangs_before == Some(trial.number) => Poll::Pending,
            _ if self.clock.true_ns() >= until => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        }
    }

    fn is_set_up(&self) -> bool {
        self.clock.true_ns() >= self.set_up_at_ns
    }

    fn run(&mut self, go: &Go) {
        use diskfacts_gang::Clock;
        let attempt = self.trial.as_ref().expect("it was prepared").attempt;
        let now = self.clock.now_ns();
        self.state = State::Measuring {
            start_ns: go.at_ns.max(now) + self.late_ns[usize::from(attempt.min(1))],
            stop_ns: go.stop_ns.expect("trials here are timed"),
        };
    }

    fn finished(&mut self) -> Poll<Result<Outcome, String>> {
        use diskfacts_gang::Clock;
        let State::Measuring { start_ns, stop_ns } = self.state else {
            panic!("asked whether it has measured while it does not measure");
        };
        if self.clock.now_ns() < stop_ns {
            return Poll::Pending;
        }
        let trial = self.trial.as_ref().expect("it was prepared");
        if self.hangs == Some(trial.number) {
            return Poll::Pending;
        }
        let mut truth = self.truth.borrow_mut();
        let (start, end) = (self.clock.to_true(start_ns), self.clock.to_true(stop_ns));
        truth
            .measured
            .push((self.rank, trial.number, trial.attempt, start, end));
        self.state = State::Idle;
        Poll::Ready(Ok(Outcome {
            start_ns,
            end_ns: stop_ns,
            summary: histogram(self.rank),
        }))
    }

    fn cancel(&mut self) {
        self.truth.borrow_mut().cancelled += 1;
        let hangs = self.trial.as_ref().map(|trial| trial.number) == self.hangs;
        self.state = match self.state {
            State::Preparing(until) if !self.is_set_up() => State::Filling(until),
            State::Measuring { start_ns, stop_ns } if hangs => {
                State::Measuring { start_ns, stop_ns }
            }
            State::Filling(until) => State::Filling(until),
            _ => State::Idle,
        };
    }

    fn idle(&mut self) -> bool {
        match self.state {
            State::Idle => true,
            State::Filling(until) => self.clock.true_ns() >= until,
            State::Preparing(_) | State::Measuring { .. } => false,
        }
    }

    fn judged(&mut self, trial: &Trial, void: Option<&str>, _: &ClockModel) {
        let mut truth = self.truth.borrow_mut();
        let row = (self.rank, trial.number, trial.attempt, void.is_none());
        truth.judged.push(row);
    }

    fn merge(&self, into: Vec<u8>, other: &[u8]) -> Result<Vec<u8>, String> {
        merge(&into, other)
    }

    fn leaves(&mut self) -> Option<String> {
        let now = self.clock.true_ns();
        (self.leaves_at_ns.take_if(|at| *at <= now)).map(|_| "interrupted".to_owned())
    }

    fn stops(&mut self) -> Option<String> {
        let now = self.clock.true_ns();
        (self.stops_at_ns.take_if(|at| *at <= now)).map(|_| "Ctrl-C".to_owned())
    }
}

fn number(rank: usize) -> i64 {
    i64::try_from(rank).expect("few hosts")
}

/// 256 counters of 64 bits: 2 KiB.
pub(crate) fn histogram(rank: usize) -> Vec<u8> {
    let count = |bin: usize| (bin * 7 + rank * rank * 3 + (bin ^ rank)) as u64;
    (0..256).flat_map(|bin| count(bin).to_le_bytes()).collect()
}

pub(crate) fn merge(into: &[u8], other: &[u8]) -> Result<Vec<u8>, String> {
    if into.len() != other.len() {
        return Err("histograms of two lengths".to_owned());
    }
    let count = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let pairs = into.chunks(8).zip(other.chunks(8));
    let sums = pairs.map(|(a, b)| count(a) + count(b));
    Ok(sums.flat_map(u64::to_le_bytes).collect())
}

/// So many trials, each of the same length.
pub(crate) struct Trials {
    pub(crate) count: usize,
    pub(crate) lasts_ns: i64,
}

impl Schedule for Trials {
    fn next(&mut self, judged: &[Judged]) -> Option<Planned> {
        let done = judged.iter().map(|one| one.trial.number + 1).max();
        ((done.unwrap_or(0) as usize) < self.count).then(|| Planned {
            order: b"random-read".to_vec(),
            lasts_ns: Some(self.lasts_ns.unsigned_abs()),
            seed: 7,
        })
    }
}

pub(crate) struct Group {
    pub(crate) simulation: Simulation<SimulatedWork, Trials>,
    pub(crate) truth: Rc<RefCell<Truth>>,
}

pub(crate) struct Setup {
    pub(crate) clocks: Vec<HostClock>,
    pub(crate) seed: u64,
    pub(crate) trials: usize,
    pub(crate) lasts_ns: i64,
    pub(crate) settings: Settings,
}

impl Setup {
    pub(crate) fn of(hosts: usize) -> Self {
        let clock = |rank: usize| HostClock {
            offset_ns: number(rank) * 1000 * SECOND,
            drift_ppb: (number(rank) % 7 - 3) * 20_000,
        };
        Self {
            clocks: (0..hosts).map(clock).collect(),
            seed: 1,
            trials: 2,
            lasts_ns: 100 * MS,
            settings: Settings::default(),
        }
    }

    pub(crate) fn group(self) -> Group {
        self.group_over(|_, _| Way {
            delay_ns: 8000,
            jitter_ns: 30_000,
        })
    }

    pub(crate) fn group_over(self, ways: impl Fn(usize, usize) -> Way + 'static) -> Group {
        self.group_with(ways, |_, _, _| {})
    }

    /// `change` makes a host another one: its details and its work.
    pub(crate) fn group_with(
        self,
        ways: impl Fn(usize, usize) -> Way + 'static,
        mut change: impl FnMut(usize, &mut Details, &mut SimulatedWork),
    ) -> Group {
        let hosts = self.clocks.len();
        let network = Network::new(self.clocks, ways, self.seed);
        let truth = Rc::new(RefCell::new(Truth::default()));
        let members = (0..hosts)
            .map(|rank| {
                let mut details = Details {
                    plan: b"plan".to_vec(),
                    boot_id: format!("boot-{rank}"),
                    device: Some("nfs:1".to_owned()),
                    objections: Vec::new(),
                };
                let mut work = SimulatedWork {
                    rank,
                    clock: network.clock(rank),
                    truth: Rc::clone(&truth),
                    state: State::Idle,
                    trial: None,
                    prepares_ns: number(rank) * 3 * MS,
                    late_ns: [0, 0],
                    fails: None,
                    hangs: None,
                    hangs_before: None,
                    set_up_at_ns: 0,
                    leaves_at_ns: None,
                    stops_at_ns: None,
                };
                change(rank, &mut details, &mut work);
                let schedule = Trials {
                    count: self.trials,
                    lasts_ns: self.lasts_ns,
                };
                Member::new(
                    &network.channels(rank),
                    self.settings,
                    "diskfacts 0.1.0".to_owned(),
                    format!("c{rank}"),
                    details,
                    work,
                    schedule,
                )
            })
            .collect();
        Group {
            simulation: Simulation::new(network, members),
            truth,
        }
    }
}

impl Group {
    /// No group here lasts longer, however many hosts it loses: what does, hangs.
    pub(crate) fn run(&mut self) -> Stopped {
        self.simulation.run(300 * SECOND)
    }

    pub(crate) fn judged(&self) -> &[Judged] {
        self.simulation.member(0).judged()
    }
}
