//! What the kernel's read-ahead decides for the target, from its trace events.

use super::Observer;
use crate::read_ahead::{Sorter, Watch, length_of, name_of, page_bytes, prepare};
use crate::roots::Roots;
use crate::trace::{Recorded, Recorder};
use diskfacts_record::evidence::ReadAheadCost;
use diskfacts_record::{Evidence, Unseen};
use std::fs::File;

/// Observes the events `readahead` and `filemap` of one file or block device, for
/// whomever reads it.
///
/// It costs what the kernel writes for each event, and a thread that copies them
/// twenty times per second; they are sorted after the window.
pub struct ReadAheadObserver {
    recorder: Result<Recorder<Sorter>, String>,
}

impl ReadAheadObserver {
    /// Makes a buffer for the events of this file, off until the window opens.
    pub fn new(roots: &Roots, file: &File) -> Self {
        Self {
            recorder: recorder(roots, file),
        }
    }

    fn switched(&mut self, what: &str, switch: impl Fn(&Recorder<Sorter>) -> Result<(), String>) {
        if let Ok(recorder) = &self.recorder
            && let Err(why) = switch(recorder)
        {
            self.recorder = Err(format!("switching the trace events {what}: {why}"));
        }
    }
}

fn recorder(roots: &Roots, file: &File) -> Result<Recorder<Sorter>, String> {
    let named = name_of(file).map_err(|error| format!("asking what the target is: {error}"))?;
    let scope = named.scope();
    let watch = Watch::new(page_bytes()).expecting(scope.clone(), "", length_of(file, roots));
    let (reader, sorter) = prepare(roots, &scope, watch).map_err(|error| error.to_string())?;
    Recorder::start(reader, sorter).map_err(|error| error.to_string())
}

impl Observer for ReadAheadObserver {
    fn name(&self) -> &'static str {
        "read_ahead"
    }

    fn start(&mut self) {
        self.switched("on", |recorder| recorder.on().map_err(|e| e.to_string()));
    }

    fn halt(&mut self) {
        self.switched("off", |recorder| recorder.off().map_err(|e| e.to_string()));
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        let used = Err("the buffer was used for the window before".to_owned());
        let recorded = std::mem::replace(&mut self.recorder, used)
            .and_then(|recorder| recorder.finish().map_err(|error| error.to_string()));
        let unseen = |why: String| Unseen {
            what: "read_ahead".to_owned(),
            why,
        };
        match recorded {
            Ok(recorded) => {
                let lacks = lacks(&recorded);
                evidence.unseen.extend(lacks.into_iter().map(unseen));
                evidence.read_ahead = Some(table(recorded));
            }
            Err(why) => evidence.unseen.push(unseen(why)),
        }
    }
}

fn table(recorded: Recorded<Sorter>) -> diskfacts_record::evidence::ReadAhead {
    let Recorded {
        mut consumer,
        losses,
        events,
        beside,
        ..
    } = recorded;
    consumer.name_threads();
    let mut table = consumer.watch.end();
    table.cost = Some(ReadAheadCost {
        events,
        lost: losses.total(),
        cpu_ns: Some(beside.total_ns),
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
