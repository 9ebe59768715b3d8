//! Time for which a scheduler keeps the device idle after the request of one process, in case that
//! has more, while a sync's other requests wait: what a process writes, and what the kernel's
//! threads write for it (its pages, the journal), are streams of their own to `cfq` and `bfq`
//! (`cfq_arm_slice_timer`, block/cfq-iosched.c; `bfq_arm_slice_timer`, block/bfq-iosched.c).

use super::StageFacts;
use crate::prelude::unless;
use diskfacts_record::BlockDevice;

/// Times that the turn passes for a sync: to the thread that writes for the process, and back.
const TURNS: f64 = 2.0;
/// A small write that is said to take no part of the idling takes this share of it at most.
const SMALL: f64 = 0.1;

/// What a scheduler idles of each sync of a stage.
#[derive(Debug, Clone)]
pub(crate) struct IdleAtSyncs<'a> {
    pub(crate) device: &'a BlockDevice,
    /// Of each turn, ns.
    pub(crate) turn_ns: f64,
    /// Whole turns that fit into the time of the sync's requests, at most [`TURNS`].
    pub(crate) turns: f64,
    /// Mean time of the requests of a sync in the block layer, flushes left out, ns.
    pub(crate) requests_ns: f64,
    /// A small write that no other stream's waits for: its stage, and its mean latency, ns.
    pub(crate) small: (String, f64),
}

impl<'a> IdleAtSyncs<'a> {
    /// `None` where no scheduler idles, or another stage does not show that a write by itself is
    /// short.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        unless(!facts.workload().sync.each_write() || facts.outstanding() > 1.0)?;
        let device = facts.stack().top()?;
        let turn_ns = device.scheduler_idle_ns.filter(|ns| *ns > 0)? as f64;
        let work = facts.work_of(&device.name)?;
        let requests_ns = work.waited_s * 1e9 / facts.ops();
        let turns = (requests_ns / turn_ns).floor().min(TURNS);
        let block = facts.workload().block_size;
        let others = facts.others().filter(|other| {
            let alone = other.only_writes() && other.outstanding() <= 1.0;
            alone && !other.workload().sync.each_write() && other.workload().block_size >= block
        });
        let small = others.filter_map(|other| Some((other.stage.label(), other.latency_ns()?)));
        let small = small.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_small = small.1 <= SMALL * turn_ns;
        (turns >= 1.0 && is_small).then_some(Self {
            device,
            turn_ns,
            turns,
            requests_ns,
            small,
        })
    }

    /// Idle time of each sync, ns.
    pub(crate) fn each_ns(&self) -> f64 {
        self.turns * self.turn_ns
    }
}
