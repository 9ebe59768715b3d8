//! Fleets whose odd disks are known.

use diskfacts_facts::fleet::{Again, Member, Peers, Sample, TrialSample};
use diskfacts_plan::rng::Rng;
use diskfacts_record::comparison::Measure;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Standard deviation from host to host, of logarithms.
const BETWEEN: f64 = 0.02;
/// From trial to trial.
const WITHIN: f64 = 0.03;
/// Share of the runs that something disturbs unseen, all trials alike.
const DISTURBED: f64 = 0.1;
/// Mean of the logarithm by which it makes them slower, which is exponential. A screen at 3.5 MAD
/// then calls nine disks of 500 slow that are not.
pub(crate) const DISTURBED_LN: f64 = 0.06;
/// The same where disturbances are hard: one disturbed run in ten is slower than an odd disk by
/// 20 %.
pub(crate) const HARD_LN: f64 = 0.1;
/// Trials of a run in the first look.
const TRIALS: u32 = 5;
/// When the first look begins, seconds since 1970.
const BEGIN_S: i64 = 1_795_000_000;
/// Hours that it takes.
const HOURS: u64 = 24;

/// What varies, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// Normal, and disturbed runs.
    Gaussian,
    /// Trials by Student's t with three degrees of freedom.
    HeavyTails,
    /// One hour in eight has all of its hosts slower by 10 to 40 %, besides.
    DisturbedHours,
    /// Two of five hosts have another generation of the drive, which is slower by 35 %.
    TwoGenerations,
    /// The same by 20 % in one stage (what an odd disk is, too), 30 % in the next, and faster in
    /// the third.
    GenerationsLikeOdd,
}

impl Noise {
    pub(crate) const ALL: [Self; 5] = [
        Self::Gaussian,
        Self::HeavyTails,
        Self::DisturbedHours,
        Self::TwoGenerations,
        Self::GenerationsLikeOdd,
    ];

    /// By how much the second generation is slower in each stage, as logarithms.
    fn generations(self) -> &'static [f64] {
        match self {
            Self::TwoGenerations => &[0.43],
            Self::GenerationsLikeOdd => &[0.223, 0.357, -0.15],
            _ => &[0.0],
        }
    }
}

/// A fleet.
pub(crate) struct Fleet {
    rng: Rng,
    noise: Noise,
    /// Mean of the logarithm by which a disturbed run is slower.
    disturbed_ln: f64,
    /// Of each host, how much slower it is for ever, and whether it is of the second generation.
    hosts: Vec<(f64, bool)>,
    pub(crate) odd: Vec<Member>,
    peers: Arc<Peers>,
}

pub(crate) fn member(host: usize) -> Member {
    Member {
        host: format!("c{host:05}"),
        machine: None,
        target: "/data".to_owned(),
    }
}

/// A value of the normal distribution (Box and Muller).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

impl Fleet {
    /// So many hosts, of which so many are slower by this share.
    pub(crate) fn new(seed: u64, noise: Noise, (hosts, odd): (usize, usize), slower: f64) -> Self {
        let mut rng = Rng::new(seed);
        let mut all = Vec::with_capacity(hosts);
        for host in 0..hosts {
            // Hosts stand in the racks in no order, so the first ones are as good as any.
            let odd_ln = if host < odd { -(-slower).ln_1p() } else { 0.0 };
            let second = rng.unit() <= 0.4;
            all.push((BETWEEN * normal(&mut rng) + odd_ln, second));
        }
        let of = [
            ("kernel", "6.12"),
            ("model", "X100"),
            ("plan", "fleet 1f3a"),
        ];
        let of = of.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self {
            rng,
            noise,
            disturbed_ln: DISTURBED_LN,
            hosts: all,
            odd: (0..odd).map(member).collect(),
            peers: Arc::new(Peers(BTreeMap::from(of))),
        }
    }

    /// With runs that are disturbed by so much on average.
    pub(crate) fn disturbed_by(self, disturbed_ln: f64) -> Self {
        Self {
            disturbed_ln,
            ..self
        }
    }

    /// All hosts, over a day.
    pub(crate) fn first_look(&mut self) -> Vec<Sample> {
        let all: Vec<usize> = (0..self.hosts.len()).collect();
        self.look(&all, BEGIN_S, (HOURS, 3600), TRIALS)
    }

    /// All hosts, over a day, `number` times two days after the first.
    pub(crate) fn group(&mut self, number: i64) -> Vec<Sample> {
        let all: Vec<usize> = (0..self.hosts.len()).collect();
        let begin_s = BEGIN_S + 2 * number * 86_400;
        self.look(&all, begin_s, (HOURS, 3600), TRIALS)
    }

    /// These, two days later (`number` 1) or later still, started within ten minutes.
    pub(crate) fn again(&mut self, members: &[Again], trials: u32, number: i64) -> Vec<Sample> {
        let of = |again: &Again| again.member.host[1..].parse().expect("as we named it");
        let hosts: Vec<usize> = members.iter().map(of).collect();
        self.look(&hosts, BEGIN_S + 2 * number * 86_400, (1, 600), trials)
    }

    fn look(
        &mut self,
        hosts: &[usize],
        begin_s: i64,
        (hours, seconds): (u64, u64),
        trials: u32,
    ) -> Vec<Sample> {
        let rng = &mut self.rng;
        let slow_hours: Vec<f64> = (0..hours)
            .map(|_| {
                let slow = self.noise == Noise::DisturbedHours && rng.unit() <= 0.125;
                let by = 0.105 + 0.4 * rng.unit();
                if slow { by } else { 0.0 }
            })
            .collect();
        let mut samples = Vec::new();
        for host in hosts {
            let (slower, second) = self.hosts[*host];
            let hour = rng.below(hours);
            let started_s = begin_s + hour.cast_signed() * 3600 + rng.below(seconds).cast_signed();
            let mut run = slower + slow_hours[hour as usize];
            if rng.unit() <= DISTURBED {
                run -= self.disturbed_ln * rng.unit().ln();
            }
            for (stage, generation) in self.noise.generations().iter().enumerate() {
                let at = run + if second { *generation } else { 0.0 };
                let trials = (0..trials).map(|_| {
                    let scatter = match self.noise {
                        Noise::HeavyTails => {
                            let square: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                            normal(rng) / (square / 3.0).sqrt()
                        }
                        _ => normal(rng),
                    };
                    TrialSample {
                        value: 80_000.0 * (-at - WITHIN * scatter).exp(),
                        disturbed: None,
                    }
                });
                samples.push(Sample {
                    trials: trials.collect(),
                    member: member(*host),
                    run: format!("{begin_s}-{host}"),
                    started_s,
                    peers: Arc::clone(&self.peers),
                    stage: format!("stage-{stage}"),
                    measure: Measure::Iops,
                });
            }
        }
        samples
    }
}
