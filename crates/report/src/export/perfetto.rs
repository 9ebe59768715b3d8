//! Single requests as a trace in the JSON of Chrome's tracing ("Trace Event Format"), which
//! ui.perfetto.dev opens.
//!
//! JSON and not Perfetto's own protocol buffers: a burst has a few hundred slices, so size does
//! not matter; other viewers (`chrome://tracing`, speedscope) read it as well; and it needs no
//! generated code. Each device of a stage is a process, and each place in its queue a thread, so
//! that requests at the same time lie beside each other; a request is a slice with its time in
//! the queue and at the device in it.

use super::clean;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::evidence::RequestKind;
use diskfacts_record::{BurstOf, BurstRequest, Bursts, Run};
use serde::Serialize;

/// The document, and a line end. Times begin with each trial.
///
/// # Panics
/// Never: it has no maps.
pub fn perfetto(runs: &[Run]) -> String {
    let mut trace = Trace {
        events: Vec::new(),
        processes: 0,
    };
    for run in runs {
        for trial in &run.trials {
            if let Some(bursts) = &trial.evidence.bursts {
                let stage = stage_label(&trial.stage, &trial.settings);
                trace.add(&run.run.id, &stage, &bursts.unpack());
            }
        }
    }
    let document = Document {
        display_time_unit: "ns",
        trace_events: trace.events,
    };
    let mut text = serde_json::to_string(&document).expect("it has no maps");
    text.push('\n');
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    display_time_unit: &'static str,
    trace_events: Vec<Event>,
}

/// Names a process or a thread, or is a slice.
#[derive(Serialize)]
#[serde(tag = "ph")]
enum Event {
    #[serde(rename = "M")]
    Name {
        name: &'static str,
        pid: u32,
        tid: usize,
        args: Named,
    },
    #[serde(rename = "X")]
    Slice {
        name: String,
        cat: &'static str,
        /// Microseconds.
        ts: f64,
        dur: f64,
        pid: u32,
        tid: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<Asked>,
    },
}

#[derive(Serialize)]
struct Named {
    name: String,
}

/// What is told of a request.
#[derive(Serialize)]
struct Asked {
    offset_bytes: u64,
    bytes: u64,
    burst: BurstOf,
    made_by_diskfacts: Option<bool>,
    failed: bool,
}

struct Trace {
    events: Vec<Event>,
    processes: u32,
}

impl Trace {
    fn add(&mut self, run: &str, stage: &str, bursts: &Bursts) {
        for (device, name) in bursts.devices.iter().enumerate() {
            let all = bursts.bursts.iter().flat_map(|burst| &burst.requests);
            if all.filter(|request| request.device == device).count() == 0 {
                continue;
            }
            self.processes += 1;
            let pid = self.processes;
            let called = clean(&format!("{stage}: {name} (run {run})")).into_owned();
            self.name("process_name", (pid, 0), called);
            // When each place in the queue is free again, ns from the start of the trial.
            let mut free_ns: Vec<u64> = Vec::new();
            for burst in &bursts.bursts {
                let of_device = burst.requests.iter().filter(|r| r.device == device);
                for request in of_device {
                    let began_ns = burst.from_ns + request.began_ns();
                    let place = free_ns.iter().position(|free_ns| *free_ns <= began_ns);
                    let place = place.unwrap_or_else(|| {
                        free_ns.push(0);
                        let called = format!("in the queue, {}", free_ns.len());
                        self.name("thread_name", (pid, free_ns.len()), called);
                        free_ns.len() - 1
                    });
                    free_ns[place] = burst.from_ns + request.completed_ns;
                    self.request((pid, place + 1), (burst.of, burst.from_ns), request);
                }
            }
        }
    }

    fn name(&mut self, name: &'static str, (pid, tid): (u32, usize), called: String) {
        let args = Named { name: called };
        self.events.push(Event::Name {
            name,
            pid,
            tid,
            args,
        });
    }

    fn request(
        &mut self,
        place: (u32, usize),
        (burst, from_ns): (BurstOf, u64),
        request: &BurstRequest,
    ) {
        let operation = match request.operation {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Discard => "discard",
            RequestKind::Flush => "flush",
            RequestKind::Other => "other",
        };
        let name = match request.bytes {
            0 => operation.to_owned(),
            bytes => format!("{operation} {}", diskfacts_plan::units::show_size(bytes)),
        };
        let asked = Asked {
            offset_bytes: request.offset_bytes,
            bytes: request.bytes,
            burst,
            made_by_diskfacts: request.ours,
            failed: request.failed,
        };
        let (began_ns, ended_ns) = (request.began_ns(), request.completed_ns);
        let at = |ns| from_ns + ns;
        self.slice(
            place,
            (name, "request"),
            (at(began_ns), at(ended_ns)),
            Some(asked),
        );
        if request.issued_ns > began_ns {
            let queued = (at(began_ns), at(request.issued_ns));
            self.slice(place, ("queued".to_owned(), "part"), queued, None);
        }
        let at_device = (at(request.issued_ns), at(ended_ns));
        self.slice(place, ("at the device".to_owned(), "part"), at_device, None);
    }

    fn slice(
        &mut self,
        (pid, tid): (u32, usize),
        (name, cat): (String, &'static str),
        (from_ns, to_ns): (u64, u64),
        args: Option<Asked>,
    ) {
        self.events.push(Event::Slice {
            name,
            cat,
            ts: from_ns as f64 / 1e3,
            dur: (to_ns - from_ns) as f64 / 1e3,
            pid,
            tid,
            args,
        });
    }
}
