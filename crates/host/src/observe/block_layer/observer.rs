//! The trace events of exactly one trial.

use super::request_event::Decoder;
use super::requests::{Followed, OwnThreads, Requests};
use super::set_up::{SetUp, followed, not_seen};
use crate::cpu::CpuTimes;
use crate::observe::{Observer, allowed_memory};
use crate::roots::Roots;
use crate::trace::{Burst, Consumer, Event, Gap, Pace, Reader, Recorder, TraceError};
use diskfacts_record::evidence::{BlockLayer, QueuedFrom};
use diskfacts_record::{Evidence, PackedBursts, Stack, Unseen};
use std::fs;

/// Follows the requests of the devices of a stack.
///
/// Buffers and events are there before the window opens, and a thread copies what
/// they hold while it is open; what the events say is worked out after it. At a
/// [sparing](Pace::Sparing) pace, of many requests only those of a part of the time
/// are followed.
pub struct BlockLayerObserver {
    roots: Roots,
    followed: Vec<Followed>,
    pace: Pace,
    state: State,
    /// What is said of the devices that are not followed.
    unfollowed: Vec<Unseen>,
    /// What reading events took beside the last trial.
    own_cpu: CpuTimes,
}

enum State {
    /// Why not.
    Off(String),
    Ready(Following),
    Open(Following, u64),
    Closed(Following, u64, u64),
    /// It has been told what was seen; to be made anew.
    Over,
}

struct Following {
    recorder: Recorder<Taking>,
    /// Told when the window opens: then all threads of the trial are there.
    own_threads: OwnThreads,
    queued_from: Option<QueuedFrom>,
    /// Events that this kernel lacks.
    missing: Vec<&'static str>,
}

/// Takes the events as they come.
struct Taking {
    decoder: Decoder,
    requests: Requests,
}

impl Consumer for Taking {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(said) = self.decoder.decode(event) {
            self.requests.event(event.time_ns, &said);
        }
    }

    fn lost(&mut self, gap: Gap) {
        self.requests.lost(gap.before_ns);
    }

    fn burst(&mut self, burst: Burst) {
        self.requests.burst(burst.from_ns, burst.until_ns);
    }
}

impl BlockLayerObserver {
    /// Makes what is needed to follow the requests of the devices of this stack;
    /// whether that worked is said by [`Observer::stop`].
    pub fn new(roots: &Roots, stack: &Stack, pace: Pace) -> Self {
        let (followed, unfollowed) = followed(roots, stack);
        let mut observer = Self {
            roots: roots.clone(),
            followed,
            pace,
            state: State::Over,
            unfollowed,
            own_cpu: CpuTimes::default(),
        };
        observer.prepare();
        observer
    }

    fn prepare(&mut self) {
        self.state = if self.followed.is_empty() {
            State::Off("no device under the target has a queue of requests".to_owned())
        } else {
            match follow(&self.roots, &self.followed, self.pace) {
                Ok(following) => State::Ready(following),
                Err(error) => State::Off(error.to_string()),
            }
        };
    }
}

/// The kernel's numbers of the threads of this process, in rising order; none where they cannot
/// be listed, so that it is not known who makes a request.
fn threads_of_this_process(roots: &Roots) -> Vec<u32> {
    let entries = fs::read_dir(roots.proc.join("self/task"));
    let names = entries.into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut threads: Vec<u32> = numbers.collect();
    threads.sort_unstable();
    threads
}

fn follow(roots: &Roots, followed: &[Followed], pace: Pace) -> Result<Following, TraceError> {
    let SetUp {
        instance,
        decoder,
        queued_from,
        missing,
    } = SetUp::new(roots, followed)?;
    let own_threads = OwnThreads::default();
    let taking = Taking {
        decoder,
        requests: Requests::new(followed).keeping_bursts(own_threads.clone()),
    };
    let allowed = allowed_memory(roots);
    Ok(Following {
        own_threads,
        recorder: Recorder::start(Reader::new(instance)?, taking, pace, allowed.as_ref())?,
        queued_from,
        missing,
    })
}

impl Observer for BlockLayerObserver {
    fn name(&self) -> &'static str {
        super::super::BLOCK_LAYER
    }

    fn start(&mut self) {
        if matches!(self.state, State::Over) {
            self.prepare();
        }
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Ready(following) => {
                let threads = || threads_of_this_process(&self.roots);
                following.own_threads.get_or_init(threads);
                match following.recorder.on() {
                    Ok(from_ns) => State::Open(following, from_ns),
                    Err(error) => State::Off(error.to_string()),
                }
            }
            other => other,
        };
    }

    fn halt(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Open(following, from_ns) => match following.recorder.off() {
                Ok(until_ns) => State::Closed(following, from_ns, until_ns),
                Err(error) => State::Off(error.to_string()),
            },
            other => other,
        };
    }

    fn stop(&mut self, evidence: &mut Evidence) {
        self.halt();
        evidence.unseen.extend(self.unfollowed.iter().cloned());
        let why = match std::mem::replace(&mut self.state, State::Over) {
            State::Closed(following, from_ns, until_ns) => {
                match following.finish(from_ns, until_ns, evidence) {
                    Ok(own_cpu) => {
                        self.own_cpu = own_cpu;
                        return;
                    }
                    Err(error) => error.to_string(),
                }
            }
            State::Off(why) => why,
            State::Ready(_) | State::Open(..) | State::Over => {
                "its window was not opened".to_owned()
            }
        };
        evidence.unseen.push(Unseen {
            what: self.name().to_owned(),
            why,
        });
    }

    fn own_cpu(&self) -> CpuTimes {
        self.own_cpu
    }

    fn own_threads(&self) -> Vec<u32> {
        match &self.state {
            State::Ready(following) | State::Open(following, _) | State::Closed(following, ..) => {
                vec![following.recorder.thread()]
            }
            State::Off(_) | State::Over => Vec::new(),
        }
    }
}

impl Following {
    fn finish(
        self,
        from_ns: u64,
        until_ns: u64,
        evidence: &mut Evidence,
    ) -> Result<CpuTimes, TraceError> {
        let mut recorded = self.recorder.finish()?;
        let own_cpu = recorded.beside();
        let losses = recorded.losses;
        if losses.damaged_pages > 0 {
            // Events of damaged pages are lost as well, and nobody knows how many.
            recorded.consumer.requests.lost(until_ns);
        }
        let mut unseen = |why: String| {
            evidence.unseen.push(Unseen {
                what: super::super::BLOCK_LAYER.to_owned(),
                why,
            });
        };
        if losses.total() > 0 {
            unseen(format!(
                "{} of the events were lost, because they came faster than they were read: counts \
                 are too small, and the number in flight is not known",
                losses.total()
            ));
        }
        if let Some(damage) = &losses.damage {
            unseen(format!(
                "{} pages of events could not be understood ({damage}), so that counts are too \
                 small",
                losses.damaged_pages
            ));
        }
        for why in not_seen(self.queued_from, &self.missing) {
            unseen(why);
        }
        let bursts = recorded.consumer.requests.take_bursts(from_ns);
        evidence.bursts = bursts.as_ref().map(PackedBursts::from);
        evidence.block_layer = Some(BlockLayer {
            devices: recorded.consumer.requests.end(),
            window_ns: until_ns.saturating_sub(from_ns),
            followed_ns: recorded.bursts.iter().map(Burst::length_ns).sum(),
            bursts: recorded.bursts.len() as u64,
            queued_from: self.queued_from,
            events: recorded.events,
            lost_events: losses.total(),
            reader_cpu_ns: recorded.beside_ns,
            analysis_cpu_ns: recorded.after_ns,
        });
        Ok(own_cpu)
    }
}
