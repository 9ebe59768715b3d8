//! A scheduler that sends few requests of many to a device that would take more.
//!
//! What decides it are the kernel's own events: how long requests were in the queue of
//! their scheduler, how long they were with the device, and how many were with it at most.
//! A device that is full has as many as it takes; one that refuses more sends them back
//! (`block_rq_requeue`). Neither is the scheduler's doing.

use super::queue::set;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio_of};
use diskfacts_plan::units::show_duration;
use diskfacts_record::{BlockDevice, Confidence, Latency};

/// Requests that were seen from the queue to the end, at least: their means are within some
/// percent then.
const SEEN: u64 = 100;
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
    /// Those of a stage, `takes` telling how many requests a device takes at a time.
    fn of(subject: &'a Subject<'_>, takes: impl Fn(&BlockDevice) -> Option<f64>) -> Option<Self> {
        if subject.workload().sync.each_write() {
            return None;
        }
        let wanted = subject.depth();
        let devices = subject.stack().devices.iter();
        devices
            .filter_map(|device| {
                let scheduler = device.scheduler.as_deref().filter(|name| *name != "none")?;
                let (queued, at_device, most) = seen(subject, &device.name)?;
                let few = most as f64 <= FEW * wanted.min(takes(device)?);
                let turns = Self {
                    device,
                    scheduler,
                    queued_ns: queued,
                    device_ns: at_device,
                    at_device: most,
                };
                (few && turns.share() >= WAITED).then_some(turns)
            })
            .max_by(|a, b| a.share().total_cmp(&b.share()))
    }

    fn share(&self) -> f64 {
        self.queued_ns / (self.queued_ns + self.device_ns)
    }
}

/// Mean times in the queue of a device and with it, ns, and the most that were with it;
/// `None` where too few were seen, events were lost, or the device sent requests back.
fn seen(subject: &Subject<'_>, name: &str) -> Option<(f64, f64, u64)> {
    let (mut queued, mut at_device) = (Sum::default(), Sum::default());
    let (mut most, mut issued, mut requeued) = (0, 0, 0);
    for trial in subject.trials() {
        // Following requests costs something, so not each trial is.
        let Some(layer) = trial.evidence.block_layer.as_ref() else {
            continue;
        };
        layer.queued_from?;
        let device = layer.devices.iter().find(|device| device.name == name)?;
        most = most.max(device.in_flight_max?);
        for operation in &device.operations {
            queued.add(&operation.queued_ns);
            at_device.add(&operation.device_ns);
            issued += operation.issued;
            requeued += operation.requeues;
        }
    }
    let enough = queued.samples.min(at_device.samples) >= SEEN as f64;
    let taken = requeued as f64 <= REQUEUED * issued as f64;
    (enough && taken).then(|| (queued.mean(), at_device.mean(), most))
}

/// Times added up.
#[derive(Default)]
struct Sum {
    ns: f64,
    samples: f64,
}

impl Sum {
    fn add(&mut self, latency: &Latency) {
        if let Some(mean) = latency.mean {
            self.ns += mean * latency.samples as f64;
            self.samples += latency.samples as f64;
        }
    }

    fn mean(&self) -> f64 {
        self.ns / self.samples
    }
}

/// Whether a scheduler keeps most of what is to be in flight from the device.
pub(super) fn hold_back(
    subject: &Subject<'_>,
    takes: impl Fn(&BlockDevice) -> Option<f64>,
) -> bool {
    Turns::of(subject, takes).is_some()
}

pub(super) fn check(
    subject: &Subject<'_>,
    takes: impl Fn(&BlockDevice) -> Option<f64>,
) -> Option<Candidate> {
    let turns = Turns::of(subject, takes)?;
    let (name, scheduler) = (&turns.device.name, turns.scheduler);
    let queued = show_duration(turns.queued_ns.round() as u64);
    let with_device = show_duration(turns.device_ns.round() as u64);
    let at_a_time = ratio_of(turns.at_device as f64, "request", "requests");
    let share = turns.share();
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "The scheduler of {name}, {scheduler}, sends it {at_a_time} at a time: a request waits \
             {queued} for its turn and takes {with_device} at the device."
        ),
        evidence: vec![
            format!(
                "Of {} in flight {} at most were with {name}, by the kernel's events.",
                crate::words::ratio(subject.depth()),
                turns.at_device
            ),
            format!(
                "{queued} / ({queued} + {with_device}) is {} of a request's time.",
                percent(share)
            ),
        ],
        share: Some(share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate with the scheduler `none`.".into(),
        experiment: subject.again(
            "The same measurement with the scheduler `none`: a higher rate at a lower latency \
             speaks for it, the same rate against it.",
        ),
        remedy: set(
            subject,
            turns.device,
            ("queue/scheduler", "none"),
            ("host", "scheduler = \"none\""),
        ),
    })
}
