//! A scheduler that sends few requests of many to a device that would take more.
//!
//! What decides it are the kernel's own events: how long requests were in the queue of
//! their scheduler, how long they were with the device, and how many were with it at most.
//! A device that is full has as many as it takes; one that refuses more sends them back
//! (`block_rq_requeue`). Neither is the scheduler's doing.
//!
//! A scheduler that allows few requests to be made at all (`async_depth` of mq-deadline and of
//! kyber, the domains of kyber) shows nothing in its queue: who has no place sleeps in front of
//! it, and that was seen.

use super::prelude::*;
use super::queue::{set, takes};
use crate::blocked::{By, Looks};
use diskfacts_record::Latency;

/// Requests that were seen from the queue to the end, at least: their means are within some
/// percent then.
const SEEN: f64 = 100.0;
/// The device has at most this share of the requests that it takes, and of those that were
/// to be in flight: what fills up for a moment is not held back.
const FEW: f64 = 0.25;
/// Share of the requests that came back, up to which that is chance.
const REQUEUED: f64 = 0.01;
/// Share of a request's time in the queue from which on it is said: most of it.
const WAITED: f64 = 0.5;

/// What a scheduler holds back.
struct Turns<'a> {
    device: &'a BlockDevice,
    scheduler: &'a str,
    /// Mean time in its queue, ns.
    queued_ns: f64,
    /// Mean time with the device, ns.
    device_ns: f64,
    /// Most with the device at a time.
    at_device: u64,
}

impl<'a> Turns<'a> {
    /// Those of a stage.
    fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        unless(facts.workload().sync.each_write())?;
        let devices = facts.stack().devices.iter();
        let turns = devices.filter_map(|device| {
            let turns = Self::on(facts, device)?;
            let most = FEW * facts.depth().min(takes(device)?);
            let few = turns.at_device as f64 <= most;
            (few && turns.share() >= WAITED).then_some(turns)
        });
        turns.max_by(|a, b| a.share().total_cmp(&b.share()))
    }

    /// Those of a device that has a scheduler; `None` where too few requests were seen, events
    /// were lost, or the device sent requests back.
    fn on(facts: &StageFacts<'_>, device: &'a BlockDevice) -> Option<Self> {
        let scheduler = device.scheduler.as_deref().filter(|name| *name != "none")?;
        let (mut at_device, mut operations) = (0, Vec::new());
        // Following requests costs something, so not each trial is.
        let trials = facts.trials().iter();
        for layer in trials.filter_map(|trial| trial.evidence.block_layer.as_ref()) {
            layer.queued_from?;
            let seen = layer.devices.iter().find(|one| one.name == device.name)?;
            at_device = at_device.max(seen.in_flight_max?);
            operations.extend(&seen.operations);
        }
        let (queued_ns, queued) = mean(operations.iter().map(|one| one.queued_ns));
        let (device_ns, with_device) = mean(operations.iter().map(|one| one.device_ns));
        let issued: u64 = operations.iter().map(|one| one.issued).sum();
        let requeued: u64 = operations.iter().map(|one| one.requeues).sum();
        let taken = requeued as f64 <= REQUEUED * issued as f64;
        (queued.min(with_device) >= SEEN && taken).then_some(Self {
            device,
            scheduler,
            queued_ns,
            device_ns,
            at_device,
        })
    }

    fn share(&self) -> f64 {
        self.queued_ns / (self.queued_ns + self.device_ns)
    }
}

/// The mean of all these latencies together, ns, and how many there are.
fn mean(latencies: impl Iterator<Item = Latency>) -> (f64, f64) {
    let (mut sum_ns, mut samples) = (0.0, 0.0);
    for latency in latencies.filter(|latency| latency.mean.is_some()) {
        sum_ns += latency.mean.unwrap_or(0.0) * latency.samples as f64;
        samples += latency.samples as f64;
    }
    (sum_ns / samples, samples)
}

/// Whether the scheduler, and not the device, keeps most of what is to be in flight waiting.
pub(super) fn hold_back(facts: &StageFacts<'_>) -> bool {
    Turns::of(facts).is_some()
}

pub(super) fn few_of_many(facts: &StageFacts<'_>) -> Option<Candidate> {
    let turns = Turns::of(facts)?;
    let (name, scheduler) = (&turns.device.name, turns.scheduler);
    let [queued, with_device] = [turns.queued_ns, turns.device_ns].map(duration);
    let at_a_time = ratio_of(turns.at_device as f64, "request", "requests");
    let share = turns.share();
    let claim = format!(
        "The scheduler of {name}, {scheduler}, sends it {at_a_time} at a time: a request waits \
         {queued} for its turn and takes {with_device} at the device."
    );
    let evidence = [
        format!(
            "Of {} in flight {} at most were with {name}, by the kernel's events.",
            ratio(facts.depth()),
            turns.at_device
        ),
        format!(
            "{queued} / ({queued} + {with_device}) is {} of a request's time.",
            percent(share)
        ),
    ];
    let none = ("queue/scheduler", "none");
    let found = cause(share, Likely, claim)
        .evidence(evidence)
        .case("turns")
        .remedy(set(facts, turns.device, none, "scheduler = \"none\""));
    Some(found)
}

/// Share of the requests that a queue holds, by what the kernel says of it, up to which those in it
/// are not what fills it.
const OF_QUEUE: f64 = 0.5;

/// The queue, or its scheduler, lets few requests be made, and the threads sleep for a place.
pub(super) fn few_places(facts: &StageFacts<'_>) -> Option<Candidate> {
    let looks = Looks::of(facts.trials().iter().copied())?;
    let share = looks.share(By::Tags);
    unless(share < Standing::CAUSE_MIN)?;
    let device = *facts.stack().queue_devices().first()?;
    let made = facts.work_of(&device.name)?.waited_s / facts.seconds();
    let wanted = facts.depth();
    let most = takes(device).map_or(wanted, |most| most.min(wanted));
    unless(made > OF_QUEUE * most)?;
    let (name, scheduler) = (&device.name, device.scheduler.as_deref());
    let scheduler = scheduler.filter(|name| *name != "none");
    let whose = match scheduler {
        Some(scheduler) => format!("The scheduler of {name}, {scheduler},"),
        None => format!("The queue of {name}"),
    };
    let claim = format!(
        "{whose} has {} at a time, where {} were wanted: threads wait for a place in it {} of the \
         time.",
        ratio_of(made, "request", "requests"),
        ratio(wanted),
        percent(share)
    );
    let line = format!(
        "Of {} looks at the threads, one each 10 ms, {} saw one sleep for a place \
         (`blk_mq_get_tag`), though nr_requests is {}.",
        looks.number,
        looks.by(By::Tags),
        device
            .nr_requests
            .map_or_else(|| "not known".to_owned(), |n| n.to_string())
    );
    let more = wanted
        .ceil()
        .max(device.nr_requests.unwrap_or(0) as f64)
        .to_string();
    let remedy = match scheduler {
        Some(_) => set(
            facts,
            device,
            ("queue/scheduler", "none"),
            "scheduler = \"none\"",
        ),
        None => set(
            facts,
            device,
            ("queue/nr_requests", &more),
            "the requests that are let through",
        ),
    };
    let found = cause(share, Likely, claim)
        .evidence([line])
        .case("few-places")
        .remedy(remedy);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::host_tests::said;
    use crate::testing::{self, each};
    use diskfacts_record::evidence::Asleep;

    #[test]
    fn threads_that_sleep_for_a_place_are_held_back_by_a_scheduler_that_makes_few_requests() {
        let stage = "random-write-qd32";
        let told = |scheduler: &str, in_flight: f64| {
            let mut run = testing::healthy();
            for device in &mut run.stack.devices {
                device.scheduler = Some(scheduler.into());
            }
            each(&mut run, stage, |trial| {
                for device in &mut trial.evidence.devices {
                    device.write_ms = (in_flight * trial.seconds * 1e3) as u64;
                }
                let functions = [("blk_mq_get_tag".to_owned(), 90)];
                trial.evidence.engine.asleep = Some(Asleep {
                    looks: 100,
                    functions: functions.into(),
                });
            });
            said(&run, stage, "device-queue").map(|limit| limit.claim)
        };
        let claim = told("mq-deadline", 1.0).expect("few places");
        assert!(
            claim.contains("has 1 request at a time, where 32 were wanted"),
            "{claim}"
        );
        let claim = told("none", 1.0).expect("few places");
        assert!(claim.starts_with("The queue of"), "{claim}");
        assert_eq!(told("mq-deadline", 30.0), None);
    }
}
