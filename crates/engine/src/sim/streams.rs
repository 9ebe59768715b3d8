//! The streams of a trial, each on its thread.

use super::baton::{Baton, batons};
use super::engine::{Sim, SimClock};
use super::machine::Machine;
use crate::engine::{Abilities, Engine};
use crate::error::TrialError;
use crate::measure::measure;
use crate::outcome::StreamRecord;
use crate::part::Part;
use crate::trial::Progress;

/// How operations are done, in every stream alike.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// Operations in flight that the plan asks for.
    pub(super) depth: u32,
    /// How many of them the host takes; at least 1.
    pub(super) in_flight_max: u32,
    pub(super) clock: SimClock,
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
        };
        Sim::begin(baton, self.clock, abilities).map_err(|source| TrialError::Broken {
            engine: "sim",
            source,
        })
    }

    /// Runs all streams. The machine does not come back when one panicked.
    pub(super) fn run(
        &self,
        machine: Box<Machine>,
        parts: &[Part<'_>],
        progress: &Progress,
    ) -> (Result<Vec<StreamRecord>, TrialError>, Option<Box<Machine>>) {
        let (batons, home, starter) = batons(parts.len());
        if let [part] = parts {
            // Nobody to take turns with: no thread is needed.
            starter.start(machine);
            let records = batons
                .into_iter()
                .map(|baton| self.stream(baton, part, progress))
                .collect();
            return (records, home.recv().ok());
        }
        let records = std::thread::scope(|scope| {
            let mut streams = Vec::with_capacity(parts.len());
            for (part, baton) in parts.iter().zip(batons) {
                let spawned = std::thread::Builder::new()
                    .name(format!("stream-{}", part.thread))
                    .spawn_scoped(scope, move || self.stream(baton, part, progress));
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
            streams
                .into_iter()
                .map(|stream| stream.join().unwrap_or_else(|_| Err(broken())))
                .collect()
        });
        (records, home.recv().ok())
    }

    /// One stream, on its thread.
    fn stream(
        &self,
        baton: Baton,
        part: &Part<'_>,
        progress: &Progress,
    ) -> Result<StreamRecord, TrialError> {
        let mut job = part.job(progress);
        let mut engine = self.engine(baton)?;
        let abilities = engine.abilities();
        let record = measure(&mut engine, &mut job).map_err(|source| TrialError::Broken {
            engine: abilities.name,
            source,
        })?;
        Ok(StreamRecord {
            thread: part.thread,
            record,
            abilities,
            direct: self.direct,
            direct_refused: self.direct_refused.clone(),
            cpu_ns: None,
        })
    }
}

/// A stream panicked, and took the machine along.
pub(super) fn broken() -> TrialError {
    TrialError::Thread("ended without a record; this is a bug".to_owned())
}
