//! What the plan asked of the engine, and what it got.

use super::StageFacts;
use diskfacts_plan::EngineChoice;
use diskfacts_record::Trial;

impl StageFacts<'_> {
    /// The engine and the abilities that were asked for by name and not had.
    pub(crate) fn engine_lacks(&self) -> Vec<&'static str> {
        let workload = self.workload();
        let engine = &self.trials()[0].evidence.engine;
        let wanted = match workload.engine {
            EngineChoice::Auto => None,
            EngineChoice::Sync => Some("sync"),
            EngineChoice::IoUring => Some("io_uring"),
            EngineChoice::Mmap => Some("mmap"),
            EngineChoice::Null => Some("null"),
        };
        let has = |feature: &str| engine.features.iter().any(|f| f == feature);
        // A simulated disk has an engine of its own, which does what each of the others does.
        let simulated = engine.name == "sim";
        // With system calls polling is asked for by RWF_HIPRI.
        let polls = has("iopoll") || has("hipri");
        let missing = [
            wanted.filter(|name| *name != engine.name && !simulated),
            (workload.iopoll && !polls).then_some("iopoll"),
            (workload.sqpoll && !has("sqpoll")).then_some("sqpoll"),
        ];
        missing.into_iter().flatten().collect()
    }

    /// The most that can have been in flight on average while operations were started, median of
    /// the trials; `None` where that was too short to tell.
    pub(crate) fn depth_while_starting(&self) -> Option<f64> {
        self.stage.median(|t| depth(t).filter(|_| t.ops > 0))
    }
}

/// Little's: the sum of all latencies over the time (Little, "A Proof for the Queuing Formula
/// L = λW", Operations Research 9, 1961). The time is that in which operations were started: the
/// final sync is left out, and so is the emptying of the queue, which on a slow disk is much of
/// a short trial.
fn depth(trial: &Trial) -> Option<f64> {
    let sync = trial.evidence.issued.final_sync_ns.unwrap_or(0) as f64 / 1e9;
    let transfers = (trial.seconds - sync).max(0.0);
    let starting = transfers - emptying(trial, transfers)?;
    // Counted in the time with the sync.
    let in_flight = trial.evidence.engine.mean_depth * trial.seconds;
    (starting > 0.0).then(|| in_flight / starting)
}

/// Seconds, out of `transfers`, in which the queue only emptied: from the end of
/// the time that the trial was given or, where that did not end it, at most as long
/// as the slowest operation took.
fn emptying(trial: &Trial, transfers: f64) -> Option<f64> {
    let slowest = trial.latency_ns.max? as f64 / 1e9;
    let stop = trial.workload.stop;
    let by_time = stop.bytes.is_none() && stop.operations.is_none();
    let over = stop.time_ns.filter(|_| by_time);
    let over = over.map(|ns| (transfers - ns as f64 / 1e9).max(0.0));
    Some(over.map_or(slowest, |over| over.min(slowest)))
}
