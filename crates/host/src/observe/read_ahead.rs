//! What the kernel's read-ahead decides for the target, from its trace events.

use super::{Observer, allowed_memory};
use crate::cpu::CpuTimes;
use crate::read_ahead::{Named, Sorter, Watch, length_of, page_bytes, prepare};
use crate::roots::Roots;
use crate::trace::{Pace, Recorded, Recorder, TraceError};
use diskfacts_record::evidence::{ReadAhead, ReadAheadCost};
use diskfacts_record::{Evidence, Unseen};
use std::fs::File;
use std::io;

/// Observes the events `readahead` and `filemap` of one file or block device, for
/// whomever reads it.
///
/// It costs what the kernel writes for each event, and a thread that copies them
/// twenty times per second; they are sorted after the window.
pub struct ReadAheadObserver {
    roots: Roots,
    file: io::Result<File>,
    recorder: State,
    /// What reading events took beside the last window.
    own_cpu: CpuTimes,
}

enum State {
    Ready(Recorder<Sorter>),
    /// Why not.
    Off(String),
    /// Its window is over; to be made anew.
    Over,
}

impl ReadAheadObserver {
    /// Makes a buffer for the events of this file, off until the window opens. The
    /// file is opened a second time by the operating system (`dup`).
    pub fn new(roots: &Roots, file: &File) -> Self {
        let mut observer = Self {
            roots: roots.clone(),
            file: file.try_clone(),
            recorder: State::Over,
            own_cpu: CpuTimes::default(),
        };
        observer.prepare();
        observer
    }

    fn prepare(&mut self) {
        let made = match &self.file {
            Ok(file) => recorder(&self.roots, file),
            Err(error) => Err(format!("opening the target a second time: {error}")),
        };
        self.recorder = made.map_or_else(State::Off, State::Ready);
    }

    fn switched(&mut self, switch: impl Fn(&Recorder<Sorter>) -> Result<u64, TraceError>) {
        if let State::Ready(recorder) = &self.recorder
            && let Err(error) = switch(recorder)
        {
            self.recorder = State::Off(error.to_string());
        }
    }
}

fn recorder(roots: &Roots, file: &File) -> Result<Recorder<Sorter>, String> {
    let named = Named::of(file).map_err(|error| format!("asking what the target is: {error}"))?;
    let scope = named.scope();
    let watch = Watch::new(page_bytes()).expecting(scope.clone(), "", length_of(file, roots));
    let (reader, sorter) = prepare(roots, &scope, watch).map_err(|error| error.to_string())?;
    // What a window held is known only of one that was followed from its start.
    let allowed = allowed_memory(roots);
    Recorder::start(reader, sorter, Pace::Whole, allowed.as_ref())
        .map_err(|error| error.to_string())
}

impl Observer for ReadAheadObserver {
    fn name(&self) -> &'static str {
        super::READ_AHEAD
    }

    fn start(&mut self) {
        if matches!(self.recorder, State::Over) {
            self.prepare();
        }
        self.switched(Recorder::on);
    }

    fn halt(&mut self) {
        self.switched(Recorder::off);
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let recorded = match std::mem::replace(&mut self.recorder, State::Over) {
            State::Ready(recorder) => recorder.finish().map_err(|error| error.to_string()),
            State::Off(why) => Err(why),
            State::Over => Err("its window was not opened".to_owned()),
        };
        let unseen = |why: String| Unseen {
            what: super::READ_AHEAD.to_owned(),
            why,
        };
        match recorded {
            Ok(recorded) => {
                self.own_cpu = recorded.beside();
                let lacks = lacks(&recorded);
                evidence.unseen.extend(lacks.into_iter().map(unseen));
                evidence.read_ahead = Some(table(recorded));
            }
            Err(why) => evidence.unseen.push(unseen(why)),
        }
    }

    fn own_cpu(&self) -> CpuTimes {
        self.own_cpu
    }

    fn own_threads(&self) -> Vec<u32> {
        match &self.recorder {
            State::Ready(recorder) => vec![recorder.thread()],
            State::Off(_) | State::Over => Vec::new(),
        }
    }
}

fn table(recorded: Recorded<Sorter>) -> ReadAhead {
    let Recorded {
        mut consumer,
        losses,
        events,
        beside_ns,
        ..
    } = recorded;
    consumer.name_threads();
    let mut table = consumer.watch.end();
    table.cost = Some(ReadAheadCost {
        events,
        lost: losses.total(),
        cpu_ns: Some(beside_ns),
    });
    table
}

/// What the table lacks, in words.
fn lacks(recorded: &Recorded<Sorter>) -> Option<String> {
    let lost = recorded.losses.total();
    let pages = recorded.losses.damaged_pages;
    let broken = recorded.consumer.broken();
    let parts = [
        (
            lost,
            "events that the kernel dropped because its buffers were full",
        ),
        (pages, "pages of events that were not understood"),
        (broken, "events with fields that were not understood"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "the table lacks {}: its counts are lower bounds, and pages count as not used that \
             may have been",
            parts.join(", ")
        )
    })
}
