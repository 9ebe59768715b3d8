//! What can be said of a simulated disk only: which key of its profile to change,
//! and which part of the time of its operations made a trial slow.

use crate::words::{measure, measure_on, percent, shell};
use diskfacts_plan::units::show_duration;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Run, TargetKind, Trial};

/// Whether the target is a simulated disk: no command of this machine's kernel
/// knows of it.
pub(crate) fn is_simulated(run: &Run) -> bool {
    run.target.kind == TargetKind::Simulated
}

/// The name of its profile or the file that it is in, as on the command line.
fn profile(run: &Run) -> &str {
    let name = run.target.given.strip_prefix("sim:");
    name.unwrap_or(&run.target.path)
}

/// Where a simulated disk says what is planted in it, the beginning of a sentence;
/// `None` for a real one. `tables` are those of its profile that could be the cause.
pub(crate) fn planted(run: &Run, tables: &str) -> Option<String> {
    is_simulated(run).then(|| {
        format!(
            "The disk is simulated: `diskfacts sim {}` prints its profile, where {tables} would \
             be the cause",
            shell(profile(run))
        )
    })
}

/// How to change a simulated disk and measure it again: `what` continues "in it,
/// ...". `None` for a real one.
pub(crate) fn edit_profile(run: &Run, what: &str) -> Option<String> {
    if !is_simulated(run) {
        return None;
    }
    let name = profile(run);
    Some(if name.strip_suffix(".toml").is_some() {
        format!("In {}, {what}, and type `{}`.", shell(name), measure(run))
    } else {
        format!(
            "Type `diskfacts sim {} > disk.toml`, in it {what}, then type `{}`.",
            shell(name),
            measure_on(run, "sim:disk.toml")
        )
    })
}

/// Why one trial of a simulated disk was slower than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slower {
    /// A limit by heat or by credit held operations back.
    Throttling,
    /// The device stood still.
    Stalls,
    /// Sectors had to be tried again.
    Retries,
    /// Flash moved data and erased, or a program or an erase kept a die busy.
    Collection,
    /// The write cache had no room, or had to be emptied.
    CacheWait,
    /// Other requests were before it.
    Queue,
    /// None of these: it depends on where the operations fell.
    Chance,
}

/// A cause that is no chance makes up at least this share of what was slower.
const SHARE_MIN: f64 = 0.1;

impl Slower {
    /// What made the slowest of these trials slower than the fastest, and a line of
    /// evidence; `None` where the trials do not say where their time went, or where
    /// the slow one took no longer for each operation.
    pub(crate) fn of(label: &str, trials: &[&Trial]) -> Option<(Self, String)> {
        let by_rate = |a: &&&Trial, b: &&&Trial| a.iops.total_cmp(&b.iops);
        let slow = trials.iter().min_by(by_rate)?.evidence.truth?.time?;
        let fast = trials.iter().max_by(by_rate)?.evidence.truth?.time?;
        if slow.operations == 0 || fast.operations == 0 {
            return None;
        }
        let each = |parts: &TimeParts, ns: u64| ns as f64 / parts.operations as f64;
        let grown = |of: fn(&TimeParts) -> u64| each(&slow, of(&slow)) - each(&fast, of(&fast));
        let longer_ns = grown(TimeParts::total_ns);
        if longer_ns <= 0.0 {
            return None;
        }
        // What is no chance comes first: a device that stands still fills queues too.
        let causes = [
            (Self::Throttling, grown(|p| p.throttle_ns)),
            (Self::Stalls, grown(|p| p.stall_ns)),
            (Self::Retries, grown(|p| p.retry_ns)),
            (Self::Collection, grown(|p| p.collection_ns + p.program_ns)),
            (Self::CacheWait, grown(|p| p.cache_wait_ns)),
        ];
        let most = causes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let queue = (Self::Queue, grown(|p| p.queue_ns));
        let enough = |(_, ns): &(Self, f64)| *ns >= SHARE_MIN * longer_ns;
        let (cause, ns) = [most, queue]
            .into_iter()
            .find(enough)
            .unwrap_or((Self::Chance, longer_ns));
        let duration = |ns: f64| show_duration(ns.round() as u64);
        let what = match cause {
            Self::Throttling => "held back by a limit",
            Self::Stalls => "in which the device did nothing",
            Self::Retries => "trying sectors again",
            Self::Collection => "waiting for flash that was being rewritten or erased",
            Self::CacheWait => "waiting for the write cache",
            Self::Queue => "waiting for other requests",
            Self::Chance => "seeking, turning and moving bytes",
        };
        let line = format!(
            "{label}: an operation of the slowest trial took {} longer than one of the fastest, \
             {} of it {what}, as the simulated disk tells.",
            duration(longer_ns),
            percent((ns / longer_ns).min(1.0))
        );
        Some((cause, line))
    }

    /// What to look at, in sentences.
    pub(crate) fn remedy(self, run: &Run) -> String {
        let prints = format!("`diskfacts sim {}` prints the profile", shell(profile(run)));
        match self {
            Self::Throttling => format!(
                "The limit is [faults.credit] or [faults.heat] of the simulated disk: {prints}."
            ),
            Self::Stalls => format!(
                "The cause is [faults.stall] or [faults.stuck] of the simulated disk: {prints}."
            ),
            Self::Retries => {
                format!("The cause is [[faults.weak_sector]] of the simulated disk: {prints}.")
            }
            Self::Collection => {
                "The cause is the flash's garbage collection, which comes after writing, also of \
                 earlier stages: write longer, until it goes on all the time."
                    .into()
            }
            Self::CacheWait => {
                "The cause is the write cache, which was full in one trial and not in another: \
                 write more than it holds in each."
                    .into()
            }
            Self::Queue => format!(
                "The requests before it are the stage's own where several are in flight, those of \
                 what runs beside it, the write-back of an earlier stage, or those of [faults.neighbour], where the \
                 profile has one: {prints}."
            ),
            Self::Chance => {
                "Nothing else uses a simulated disk: it is chance where the operations fell.".into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_record::evidence::Truth;

    fn simulated(given: &str) -> Run {
        let mut run = testing::healthy();
        run.target.kind = TargetKind::Simulated;
        run.target.given = given.into();
        run.run.command = ["diskfacts", "measure", given].map(str::to_owned).into();
        run
    }

    #[test]
    fn a_profile_is_copied_before_it_is_changed_and_a_file_is_not() {
        assert_eq!(edit_profile(&testing::healthy(), "set a = 1"), None);
        assert_eq!(
            edit_profile(&simulated("sim:ssd-sata"), "set a = 1").as_deref(),
            Some(
                "Type `diskfacts sim ssd-sata > disk.toml`, in it set a = 1, then type \
                 `diskfacts measure sim:disk.toml`."
            )
        );
        assert_eq!(
            edit_profile(&simulated("sim:my.toml"), "set a = 1").as_deref(),
            Some("In my.toml, set a = 1, and type `diskfacts measure sim:my.toml`.")
        );
    }

    /// Two trials of 10 operations, a slow and a fast one.
    fn cause(slow: TimeParts, fast: TimeParts) -> Option<(Slower, String)> {
        let run = testing::healthy();
        let mut trials = [run.trials[0].clone(), run.trials[0].clone()];
        for (trial, (iops, parts)) in trials.iter_mut().zip([(50.0, slow), (100.0, fast)]) {
            trial.iops = iops;
            trial.evidence.truth = Some(Truth {
                layers: trial.layers,
                time: Some(TimeParts {
                    operations: 10,
                    ..parts
                }),
            });
        }
        Slower::of("a", &trials.each_ref())
    }

    #[test]
    fn the_part_that_grew_is_the_cause_and_one_that_is_always_there_is_not() {
        let fast = TimeParts {
            stall_ns: 900_000,
            transfer_ns: 1000,
            ..TimeParts::default()
        };
        let slow = TimeParts {
            throttle_ns: 80_000,
            queue_ns: 20_000,
            ..fast
        };
        let (found, line) = cause(slow, fast).expect("it is slower");
        assert_eq!(found, Slower::Throttling);
        assert_eq!(
            line,
            "a: an operation of the slowest trial took 10 us longer than one of the fastest, \
             80 % of it held back by a limit, as the simulated disk tells."
        );
        let queued = TimeParts {
            queue_ns: 50_000,
            seek_ns: 10_000,
            ..fast
        };
        assert_eq!(cause(queued, fast).map(|c| c.0), Some(Slower::Queue));
        let far = TimeParts {
            seek_ns: 50_000,
            ..fast
        };
        assert_eq!(cause(far, fast).map(|c| c.0), Some(Slower::Chance));
        assert_eq!(cause(fast, fast), None, "no longer than the other");
        assert_eq!(Slower::of("a", &[]), None);
    }
}
