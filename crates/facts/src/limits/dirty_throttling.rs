//! Writers through the page cache had to wait, because too many pages were dirty:
//! from then on they go as fast as the disk writes back.

use super::prelude::*;
use crate::dirty_pages;
use crate::memory_limit::group_limit;
use crate::stage_facts::write_back::DirtyWaiting;

pub(super) const LIMITER: Limiter = Limiter {
    name: "dirty-throttling",
    find: writers_wait,
    ..Limiter::ANY
};

fn writers_wait(facts: &StageFacts<'_>) -> Option<Candidate> {
    let waiting = DirtyWaiting::of(facts)?;
    let (fullest, at_limit) = (waiting.fullest, waiting.at_limit);
    let [mean, unhindered] = [facts.latency_ns()?, waiting.unhindered_ns].map(duration);
    let [after, dirtied, background, limit] = [
        fullest.dirty_after_bytes,
        fullest.dirtied_bytes,
        fullest.dirty_background_bytes,
        fullest.dirty_limit_bytes,
    ]
    .map(show_size);
    let waited = percent(waiting.share);
    let evidence = [
        format!(
            "{after} were dirty in the end and {dirtied} became dirty, where writers are held back \
             from {} on at the latest, sooner on a device with a small share of it: half way \
             between {background} and the limit of {limit}.",
            size(dirty_pages::ceiling(&fullest))
        ),
        format!(
            "A write took {mean} on average, and {unhindered} when nothing held it back: {waited} \
             of the time was waiting."
        ),
        format!(
            "{} was written in the meantime, and {} written back.",
            facts.rate().map_or_else(|| "It".into(), show_throughput),
            show_throughput(waiting.written_back_per_s)
        ),
    ];
    // Twice, because writers are held back from half way on; and never less than there is.
    let most = fullest.dirtied_bytes.max(fullest.dirty_limit_bytes);
    let enough = most.saturating_mul(2).next_power_of_two();
    // What a group may not keep it has to write back first, far below the limit of the machine.
    let group = group_limit(facts.trials());
    let group = group.filter(|group| !at_limit && group.bytes < fullest.dirty_limit_bytes);
    let (why, remedy) = if let Some(group) = group {
        let bytes = show_size(group.bytes);
        let or = "write past the page cache: what lasts can only be written as fast as the disk is";
        (
            format!("the memory of a control group, {bytes}, holds no more"),
            group.raise(or),
        )
    } else {
        let why = if at_limit {
            "the limit on dirty pages was reached"
        } else {
            "no more became dirty than was written back meanwhile"
        };
        let remedy = format!(
            "What lasts can only be written as fast as the disk is. A burst of {dirtied} fits when \
             the limit is {}: `sysctl vm.dirty_bytes={enough} vm.dirty_background_bytes={}`, where \
             there is so much memory; all of it is lost in a power cut.",
            show_size(enough),
            enough / 4
        );
        (why.to_owned(), remedy)
    };
    let claim = format!("Writers waited for write-back in {waited} of the time: {why}.");
    let stages = facts.stages().and("past-the-cache", |w| {
        w.cache = CacheMode::Direct;
        w.sync = SyncMode::None;
    });
    // Where the clock stopped with dirty pages at the limit, they were counted there.
    let counted = at_limit && !facts.workload().sync.at_end();
    let limit = format!("set dirty_limit = \"{}\" under [host]", exact_size(enough));
    let found = cause(waiting.share, certain_if(counted), claim)
        .evidence(evidence)
        .settled_by(stages)
        .remedy(remedy)
        .profile(facts.run(), &limit);
    Some(found)
}
