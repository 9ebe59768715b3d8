//! A scheduler that sends few requests of many to a device that would take more, lets few be
//! made, or keeps the device idle for a process that may come back: what is said of it as the
//! limiter [`device_queue`](super::device_queue).

use super::prelude::*;
use super::queue::{set, without_scheduler};
use crate::blocked::By;
use crate::stage_facts::queue::{scheduler, takes};
use crate::stage_facts::scheduler_idle::IdleAtSyncs;
use crate::stage_facts::scheduler_turns::Turns;

/// Share of the requests that a queue holds, by what the kernel says of it, up to which those in it
/// are not what fills it.
const OF_QUEUE: f64 = 0.5;

/// Requests wait for their turn in the queue of the scheduler.
pub(super) fn few_of_many(facts: &StageFacts<'_>) -> Option<Candidate> {
    let turns = Turns::of(facts)?;
    let (name, scheduler, share) = (&turns.device.name, turns.scheduler, turns.share());
    let [queued, with_device] = [turns.queued_ns, turns.device_ns].map(duration);
    let at_a_time = ratio_of(turns.at_device as f64, "request", "requests");
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
    let found = cause(share, Likely, claim)
        .evidence(evidence)
        .case("turns")
        .remedy(without_scheduler(facts, turns.device));
    Some(found)
}

/// The queue, or its scheduler, allows few requests to be made at all (`async_depth` of
/// mq-deadline and of kyber, the domains of kyber), which shows nothing in its queue: the threads
/// sleep in front of it for a place, and that was seen.
pub(super) fn few_places(facts: &StageFacts<'_>) -> Option<Candidate> {
    let looks = facts.looks()?;
    let share = looks.share(By::Tags);
    unless(share < Standing::CAUSE_MIN)?;
    let device = *facts.stack().queue_devices().first()?;
    let made = facts.work_of(&device.name)?.waited_s / facts.seconds();
    let wanted = facts.depth();
    let most = takes(device).map_or(wanted, |most| most.min(wanted));
    unless(made > OF_QUEUE * most)?;
    let (name, scheduler) = (&device.name, scheduler(device));
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
    let allowed = device.nr_requests;
    let line = format!(
        "{}, though nr_requests is {}.",
        looks.saw(looks.by(By::Tags), "sleep for a place (`blk_mq_get_tag`)"),
        allowed.map_or_else(|| "not known".to_owned(), |n| n.to_string())
    );
    let remedy = if scheduler.is_some() {
        without_scheduler(facts, device)
    } else {
        let more = wanted.ceil().max(allowed.unwrap_or(0) as f64).to_string();
        let key = "the requests that are let through";
        set(facts, device, ("queue/nr_requests", &more), key)
    };
    let found = cause(share, Likely, claim)
        .evidence([line])
        .case("few-places")
        .remedy(remedy);
    Some(found)
}

/// The scheduler idles at each sync.
pub(super) fn idles_at_syncs(facts: &StageFacts<'_>) -> Option<Candidate> {
    let idle = IdleAtSyncs::of(facts)?;
    let latency_ns = facts.latency_ns()?;
    let share = idle.each_ns() / latency_ns;
    unless(share < WORTH_A_WORD)?;
    let scheduler = idle.device.scheduler.as_deref().unwrap_or("The scheduler");
    let times = [idle.turn_ns, idle.each_ns(), latency_ns, idle.requests_ns];
    let [turn, each, latency, requests] = times.map(duration);
    let (label, small_ns) = &idle.small;
    let claim = format!(
        "{scheduler} keeps the device idle for {turn} each time the turn passes between the process \
         and the kernel's threads that write for it: {} x {turn} of the {latency} of a sync.",
        ratio(idle.turns)
    );
    let evidence = [
        format!(
            "The requests of a sync take {requests} in the queue and at the device, by the \
             kernel's counters, without its flush."
        ),
        format!("A write by itself ({label}) takes {}.", duration(*small_ns)),
        format!("{each} / {latency} is {}.", percent(share)),
    ];
    let found = cause(share, Likely, claim)
        .evidence(evidence)
        .case("idle-at-syncs")
        .remedy(without_scheduler(facts, idle.device));
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
