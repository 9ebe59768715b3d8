//! The first page of every built-in simulated disk against the truth: the limiter that is named
//! first for a stage of the survey is of the class of the largest part of its time, and a gain
//! that is promised without it is no less than what the disk does without its cause.

use super::setup::Setup;
use diskfacts_disk::host::Scheduler;
use diskfacts_disk::profile::profiles;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Limit, Run, StageLimits};
use diskfacts_report::text::{self, Closing, Look};

const SECOND_NS: u64 = 1_000_000_000;
/// The survey's usual time, and operations of a stage that memory serves, of which no disk is seen.
const TIME_NS: u64 = 60 * SECOND_NS;
const FROM_MEMORY: u64 = 20_000;
/// Chance of the runs: none that was looked at while the limiters were written.
const SEED: u64 = 20_261_126;
/// Share of the time from which on a cause is one, whatever else takes more of it, as for
/// `Standing::CAUSE_MIN` of the facts.
const CAUSE_MIN: f64 = 1.0 / 3.0;

/// Waiting for others of the stage: in a queue, or for a die that they keep busy.
const FOR_OTHERS: [&str; 2] = ["queue", "busy die"];

/// The parts of the time, by their names in [`TimeParts::named`], that a limiter is about.
const CLASSES: &[(&str, &[&str])] = &[
    ("page-cache", &["host"]),
    ("cpu-kernel", &["host"]),
    // One after the other: what an operation takes that waits for nobody.
    (
        "one-at-a-time",
        &[
            "command overhead",
            "seek",
            "rotation",
            "transfer",
            "interface",
            "network",
            "host",
        ],
    ),
    ("device-parallelism", &FOR_OTHERS),
    ("media-rate", &["transfer", "rotation"]),
    ("interface", &["interface"]),
    ("network", &["network", "command overhead"]),
    ("seek", &["seek"]),
    ("rotation", &["rotation", "cache wait"]),
    // What waits for room in a cache waits for the arm behind it.
    ("positioning", &["seek", "rotation", "cache wait"]),
    (
        "write-cache",
        &["command overhead", "interface", "cache wait"],
    ),
    ("alignment", &["rotation", "cache wait", "transfer"]),
    (
        "raid-small-write",
        &["seek", "rotation", "transfer", "cache wait"],
    ),
    // A flush of flash is a command that takes long.
    ("flush-per-write", &["cache wait", "command overhead"]),
    ("garbage-collection", &["garbage collection"]),
    ("credit-throttle", &["throttling"]),
    ("device-queue", &["scheduler idling"]),
    // Of one piece after the other each has its way there and back.
    (
        "read-ahead",
        &[
            "command overhead",
            "seek",
            "rotation",
            "transfer",
            "interface",
            "network",
        ],
    ),
];

fn survey(profile: &str) -> Setup {
    let mut setup = Setup::on(profile);
    setup.seed = SEED;
    setup.plan = diskfacts_plan::builtin::plan("survey").expect("it is built in");
    setup.stage("cached-random-read").workload.stop.operations = Some(FROM_MEMORY);
    setup.time_ns = TIME_NS;
    setup
}

/// Where the time of a stage went.
pub(super) fn truth(run: &Run, stage: &str) -> TimeParts {
    let of_stage = run.trials.iter().filter(|trial| trial.stage == stage);
    let times = of_stage.map(|trial| trial.evidence.truth.and_then(|truth| truth.time));
    let sum = times.map(|time| time.expect("a simulated disk knows"));
    sum.fold(TimeParts::default(), |sum, time| sum.plus(&time))
}

/// The part of this time that is of the class of a limiter, where it has one; what waits for others
/// of the stage is left out, unless that is what it is about.
pub(super) fn part(limiter: &str, time: &TimeParts) -> Option<f64> {
    let (_, class) = CLASSES.iter().find(|(name, _)| *name == limiter)?;
    let named = time.named().into_iter();
    let own: u64 = named
        .filter(|(name, _)| class.contains(name))
        .map(|(_, ns)| ns)
        .sum();
    let is_waiting = class.contains(&FOR_OTHERS[0]);
    let others = if is_waiting { 0 } else { time.queue_ns };
    Some(own as f64 / (time.total_ns() - others).max(1) as f64)
}

/// What is wrong with the first limiter of a stage, if it is.
fn wrong(run: &Run, limits: &StageLimits) -> Option<String> {
    let time = truth(run, &limits.stage);
    let total = time.total_ns() as f64;
    let Some(first) = limits.limits.first() else {
        return Some(format!("nothing is named: {:?}", time.named()));
    };
    let Some((_, class)) = CLASSES.iter().find(|(name, _)| *name == first.limiter) else {
        return Some(format!("{} is of no class", first.limiter));
    };
    let parts = |of: &dyn Fn(&str) -> bool| -> Vec<f64> {
        let parts = time.named().into_iter().filter(|(name, _)| of(name));
        parts.map(|(_, ns)| ns as f64).collect()
    };
    // All that waits for others is one part. Unless that is what is named, it is left out: what
    // those before an operation take is what they are limited by.
    let is_waiting = class.contains(&FOR_OTHERS[0]);
    let waiting: f64 = parts(&|name| FOR_OTHERS.contains(&name)).iter().sum();
    let in_queue: f64 = parts(&|name| name == FOR_OTHERS[0]).iter().sum();
    let all = total - if is_waiting { 0.0 } else { in_queue };
    let own: f64 = parts(&|name| class.contains(&name)).iter().sum();
    let others = parts(&|name| !class.contains(&name) && !FOR_OTHERS.contains(&name));
    let waiting = if is_waiting { 0.0 } else { waiting - in_queue };
    let most = others.into_iter().fold(waiting, f64::max);
    let is_right = own >= most || own >= CAUSE_MIN * all;
    (!is_right).then(|| {
        let [own, most] = [own, most].map(|ns| ns / all);
        format!(
            "{}: {own:.2} of the time, another {most:.2}: {:?}",
            first.limiter,
            time.named()
        )
    })
}

/// Lines that a person reads, of a page in 80 columns.
const LINES: usize = 45;

/// The first page, where it is longer than a person reads.
fn too_long(run: &Run) -> Option<String> {
    let closing = Closing {
        stored: "Stored in /var/lib/diskfacts/runs.db.".to_owned(),
        show: format!("diskfacts show {}", run.run.id),
        next: Vec::new(),
    };
    let look = Look {
        width: 80,
        colour: false,
        unicode: false,
    };
    let page = text::summary(run, &closing, &look);
    (page.lines().count() > LINES).then_some(page)
}

#[test]
fn the_first_limiter_of_each_stage_is_of_the_largest_part_of_its_time_on_every_disk() {
    let (mut stages, mut found) = (0, Vec::new());
    for name in profiles() {
        let run = survey(name).run();
        for limits in &run.limits {
            stages += 1;
            let wrong = wrong(&run, limits);
            found.extend(wrong.map(|text| format!("{name} {}: {text}", limits.stage)));
        }
        found.extend(too_long(&run).map(|page| format!("{name}:\n{page}")));
    }
    assert_eq!(stages, 13 * 12);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A stage, the limiter that is named first for it with a gain, and how its cause is taken out.
type Case = (&'static str, &'static str, &'static str, fn(&mut Setup));

const GAINS: &[Case] = &[
    ("ssd-raid1", "log-write", "device-queue", |setup| {
        host(setup).block.scheduler = Scheduler::Noop;
    }),
    ("raid10x4", "log-write", "device-queue", |setup| {
        host(setup).block.scheduler = Scheduler::Noop;
    }),
    ("nvme-consumer", "buffered-read", "read-ahead", |setup| {
        host(setup).read_ahead = 4 << 20;
    }),
    ("ssd-sata", "buffered-read", "read-ahead", |setup| {
        host(setup).read_ahead = 4 << 20;
    }),
    ("hdd-10k", "log-write", "alignment", |setup| {
        setup.profile.faults.partition_start = 1 << 20;
    }),
];

fn host(setup: &mut Setup) -> &mut diskfacts_disk::host::HostParameters {
    let host = setup.profile.host_or_default();
    setup.profile.host.insert(host)
}

/// Where trials end moves a rate by so much.
const OFF: f64 = 1.02;

#[test]
fn a_gain_that_is_promised_is_there_without_its_cause_and_is_no_larger() {
    for (profile, stage, limiter, without) in GAINS {
        let mut setup = survey(profile);
        let related = [
            "sequential-read",
            "random-read-qd1",
            "random-write-qd1",
            stage,
        ];
        setup
            .plan
            .stages
            .retain(|one| related.contains(&one.name.as_str()));
        let run = setup.run();
        let limits = run.limits.iter().find(|limits| limits.stage == *stage);
        let first: &Limit = &limits.expect("the stage").limits[0];
        assert_eq!(first.limiter, *limiter, "{profile} {stage}: {first:#?}");
        let gain = first
            .gain
            .as_ref()
            .unwrap_or_else(|| panic!("{profile} {stage}: {first:#?}"));
        let mut setup = survey(profile);
        setup.only(stage);
        without(&mut setup);
        let rates = [&run, &setup.run()].map(|run| {
            let figures = run.figures.iter().find(|figures| figures.stage == *stage);
            figures.expect("the stage").iops.median
        });
        let times = rates[1] / rates[0];
        let [least, most] = [1.0 + (gain.times - 1.0) / 10.0, gain.interval[1] * OFF];
        assert!(
            (least..=most).contains(&times),
            "{profile} {stage}: {times} of {gain:?}"
        );
    }
}
