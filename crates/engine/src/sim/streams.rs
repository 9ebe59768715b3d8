//! The streams of a trial, each on its thread.

use super::access::{Access, Role};
use super::baton::{Baton, batons};
use super::engine::{Sim, SimClock};
use super::machine::Machine;
use super::plant::CpuCost;
use crate::engine::{Abilities, Engine};
use crate::error::TrialError;
use crate::measure::{Job, Record, measure};
use crate::outcome::StreamRecord;
use crate::part::Part;
use crate::trial::Progress;
use diskfacts_disk::Extent;
use diskfacts_plan::{CacheMode, Pattern, Workload};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How operations are done, in every stream alike.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Operations in flight that the plan asks for.
    pub(super) depth: u32,
    /// How many of them the host takes; at least 1.
    pub(super) in_flight_max: u32,
    pub(super) clock: SimClock,
    /// What an operation costs the processor.
    pub(super) cost: CpuCost,
    pub(super) features: Vec<String>,
    pub(super) fallbacks: Vec<String>,
    /// Whether opening the file past the page cache was granted.
    pub(super) direct: bool,
    pub(super) direct_refused: Option<String>,
}

impl Way {
    /// The engine of a stream, which waits for its turn.
    pub(super) fn engine(&self, baton: Baton) -> Result<Sim, TrialError> {
        let abilities = Abilities {
            name: "sim",
            depth: self.in_flight_max.max(1),
            features: self.features.clone(),
            fallbacks: Vec::new(),
            ..Abilities::default()
        };
        Sim::begin(baton, self.clock, abilities, self.cost).map_err(|source| TrialError::Broken {
            engine: "sim",
            source,
        })
    }
}

/// The streams of a workload.
pub(super) struct Cast<'a> {
    pub(super) workload: &'a Workload,
    pub(super) way: Way,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) access: Access,
}

impl<'a> Cast<'a> {
    /// Each of them, with what it looks at to end; those of the trial count how
    /// many are still going.
    pub(super) fn players(
        &'a self,
        progress: &'a Progress,
        going: Option<&'a Going<'a>>,
    ) -> impl Iterator<Item = Player<'a>> {
        let cold = self.workload.cache == CacheMode::Cold;
        let in_order = self.workload.pattern == Pattern::Sequential;
        self.parts.iter().map(move |part| Player {
            way: &self.way,
            part: *part,
            access: self.access,
            progress,
            drops_behind: self.access.role == Role::Beside && cold && in_order,
            going,
        })
    }
}

/// A stream, and how its operations are done.
#[derive(Clone, Copy)]
pub(super) struct Player<'a> {
    pub(super) access: Access,
    way: &'a Way,
    part: Part<'a>,
    /// What it looks at to end.
    progress: &'a Progress,
    /// It goes over its range again and again, and drops it from the page cache
    /// after each pass.
    drops_behind: bool,
    /// How many streams of the trial are still going: who takes it to 0 ends what
    /// runs beside. Absent for what runs beside.
    going: Option<&'a Going<'a>>,
}

/// The streams of the trial that have not ended.
pub(super) struct Going<'a> {
    streams: AtomicUsize,
    /// Ends what runs beside.
    over: &'a AtomicBool,
}

impl<'a> Going<'a> {
    pub(super) fn new(streams: usize, over: &'a AtomicBool) -> Self {
        Self {
            streams: AtomicUsize::new(streams),
            over,
        }
    }

    fn one_ended(&self) {
        if self.streams.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

/// What came of each stream, or why none was started.
pub(super) type Records = Result<Vec<Result<StreamRecord, TrialError>>, TrialError>;

/// Runs all streams. The machine does not come back when one panicked.
pub(super) fn run(
    machine: Box<Machine>,
    players: &[Player<'_>],
) -> (Records, Option<Box<Machine>>) {
    let (batons, home, starter) = batons(players.len());
    if let [player] = players {
        // Nobody to take turns with: no thread is needed.
        starter.start(machine);
        let records = batons.into_iter().map(|baton| player.run(baton)).collect();
        return (Ok(records), home.recv().ok());
    }
    let records = std::thread::scope(|scope| {
        let mut streams = Vec::with_capacity(players.len());
        for (player, baton) in players.iter().zip(batons) {
            let spawned = std::thread::Builder::new()
                .name(format!("stream-{}", player.part.thread))
                .spawn_scoped(scope, move || player.run(baton));
            match spawned {
                Ok(stream) => streams.push(stream),
                Err(error) => {
                    starter.give_up();
                    let why = format!("could not be started: {error}");
                    return Err(TrialError::Thread(why));
                }
            }
        }
        starter.start(machine);
        Ok(streams
            .into_iter()
            .map(|stream| stream.join().unwrap_or_else(|_| Err(broken())))
            .collect())
    });
    (records, home.recv().ok())
}

impl Player<'_> {
    /// The stream, on its thread.
    fn run(&self, baton: Baton) -> Result<StreamRecord, TrialError> {
        let mut job = self.part.job(self.progress);
        let mut engine = self.way.engine(baton)?;
        let abilities = engine.abilities();
        let record = if self.drops_behind {
            self.in_passes(&mut engine, &mut job)
        } else {
            measure(&mut engine, &mut job)
        };
        if let Some(going) = self.going {
            going.one_ended();
        }
        let record = record.map_err(|source| TrialError::Broken {
            engine: abilities.name,
            source,
        })?;
        Ok(StreamRecord {
            thread: self.part.thread,
            record,
            abilities,
            direct: self.way.direct,
            direct_refused: self.way.direct_refused.clone(),
            cpu_ns: engine.processor_ns(),
            waited_ns: None,
            io_priority: None,
        })
    }

    /// Measures pass by pass until told to stop.
    fn in_passes(&self, engine: &mut Sim, job: &mut Job<'_>) -> io::Result<Record> {
        let range = self.part.range();
        job.operations = Some(range.count);
        let mut sum = measure(engine, job)?;
        while !sum.gave_up && !job.stop.load(Ordering::Relaxed) {
            engine.forget(Extent {
                start: range.start,
                end: range.start + range.bytes(),
            });
            sum.append(measure(engine, job)?);
        }
        Ok(sum)
    }
}

/// A stream panicked, and took the machine along.
pub(super) fn broken() -> TrialError {
    TrialError::Thread("ended without a record; this is a bug".to_owned())
}
