//! The messages of the protocol, and which body each has.

use super::bytes::{Reader, WireError, Writer};
use super::card::Card;

/// What a rank tells another. Times are nanoseconds of the root's clock unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Up: the cards of a subtree. Its form never changes.
    Hello {
        /// Who is there.
        cards: Vec<Card>,
    },
    /// Down: nothing is measured, and why. Its form never changes.
    Refused {
        /// Every objection of every host.
        objections: Vec<String>,
    },
    /// Both ways, each second: this rank is alive.
    Alive {
        /// How long ago the root was heard of here, in milliseconds.
        root_silent_ms: u32,
        /// Ranks of this subtree that are waited for, at most
        /// [`STRAGGLERS_MAX`](crate::STRAGGLERS_MAX).
        waiting_for: Vec<u32>,
    },
    /// Down: make everything ready for a trial.
    Prepare {
        /// Its number, from 0.
        trial: u32,
        /// 0, and more where it is repeated.
        attempt: u8,
        /// What to measure, as the caller's schedule wrote it.
        order: Vec<u8>,
    },
    /// Up: this subtree is prepared, and its threads wait.
    Ready,
    /// Down, one edge: what does your clock say?
    Ping {
        /// Which of the edge's, from 0.
        sequence: u8,
    },
    /// Up, one edge.
    Pong {
        /// That of the ping.
        sequence: u8,
        /// The answering host's own clock.
        local_ns: i64,
    },
    /// Down, one edge: how your clock stands to the root's.
    Clock {
        /// The ping with the smallest round trip, for whose moment this holds.
        sequence: u8,
        /// Your clock less the root's.
        ahead_ns: i64,
        /// The true difference is at most this far away.
        bound_ns: u64,
        /// The round trips between the root and you, added.
        path_ns: u64,
    },
    /// Up: all clocks of this subtree are compared.
    Synced {
        /// The longest path in it.
        path_ns: u64,
    },
    /// Down: start at this moment.
    Go {
        /// When.
        at_ns: i64,
        /// When timed trials end.
        stop_ns: Option<i64>,
        /// What chance starts from.
        seed: u64,
    },
    /// Up: nobody of this subtree measures any more.
    Finished,
    /// Up: what this subtree measured.
    Gathered {
        /// Summaries, merged.
        summary: Vec<u8>,
        /// When each host really measured.
        windows: Vec<Window>,
    },
    /// Down: whether the trial counts.
    Judged {
        /// Why it does not.
        void: Option<String>,
    },
    /// Up: a rank is gone, or leaves.
    Lost {
        /// Which.
        rank: u32,
        /// How it was noticed, or what it said.
        why: String,
    },
    /// Up: somebody on a host wants the group to end.
    Stop {
        /// Which host.
        rank: u32,
        /// What they did: `Ctrl-C`.
        why: String,
    },
    /// From the root to everybody: the tree of the frame's epoch.
    Roster {
        /// Who has no place in it, and why.
        lost: Vec<(u32, String)>,
    },
    /// Down: it is over.
    End {
        /// Why, where it was not the schedule's end.
        why: Option<String>,
    },
}

/// When a host really measured, on the root's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Which host.
    pub rank: u32,
    /// When its first operation could start.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// The true times are at most this far away.
    pub bound_ns: u64,
}

const HELLO: u8 = 0;
const REFUSED: u8 = 1;
const ALIVE: u8 = 2;
const PREPARE: u8 = 3;
const READY: u8 = 4;
const PING: u8 = 5;
const PONG: u8 = 6;
const CLOCK: u8 = 7;
const SYNCED: u8 = 8;
const GO: u8 = 9;
const FINISHED: u8 = 10;
const GATHERED: u8 = 11;
const JUDGED: u8 = 12;
const LOST: u8 = 13;
const ROSTER: u8 = 14;
const END: u8 = 15;
const STOP: u8 = 16;

impl Message {
    pub(super) fn is_stable(kind: u8) -> bool {
        matches!(kind, HELLO | REFUSED)
    }

    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Hello { .. } => HELLO,
            Self::Refused { .. } => REFUSED,
            Self::Alive { .. } => ALIVE,
            Self::Prepare { .. } => PREPARE,
            Self::Ready => READY,
            Self::Ping { .. } => PING,
            Self::Pong { .. } => PONG,
            Self::Clock { .. } => CLOCK,
            Self::Synced { .. } => SYNCED,
            Self::Go { .. } => GO,
            Self::Finished => FINISHED,
            Self::Gathered { .. } => GATHERED,
            Self::Judged { .. } => JUDGED,
            Self::Lost { .. } => LOST,
            Self::Stop { .. } => STOP,
            Self::Roster { .. } => ROSTER,
            Self::End { .. } => END,
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let text = |writer: &mut Writer, text: &String| writer.text(text);
        match self {
            Self::Hello { cards } => writer.list(cards, |writer, card| card.write(writer)),
            Self::Refused { objections } => writer.list(objections, text),
            Self::Alive {
                root_silent_ms,
                waiting_for,
            } => {
                writer.u32(*root_silent_ms);
                writer.list(waiting_for, |writer, rank| writer.u32(*rank));
            }
            Self::Prepare {
                trial,
                attempt,
                order,
            } => {
                writer.u32(*trial);
                writer.u8(*attempt);
                writer.bytes(order);
            }
            Self::Ready | Self::Finished => {}
            Self::Ping { sequence } => writer.u8(*sequence),
            Self::Pong { sequence, local_ns } => {
                writer.u8(*sequence);
                writer.i64(*local_ns);
            }
            Self::Clock {
                sequence,
                ahead_ns,
                bound_ns,
                path_ns,
            } => {
                writer.u8(*sequence);
                writer.i64(*ahead_ns);
                writer.u64(*bound_ns);
                writer.u64(*path_ns);
            }
            Self::Synced { path_ns } => writer.u64(*path_ns),
            Self::Go {
                at_ns,
                stop_ns,
                seed,
            } => {
                writer.i64(*at_ns);
                writer.option(stop_ns.as_ref(), |writer, stop| writer.i64(*stop));
                writer.u64(*seed);
            }
            Self::Gathered { summary, windows } => {
                writer.bytes(summary);
                writer.list(windows, |writer, window| window.write(writer));
            }
            Self::Judged { void } => writer.option(void.as_ref(), text),
            Self::Lost { rank, why } | Self::Stop { rank, why } => {
                writer.u32(*rank);
                writer.text(why);
            }
            Self::Roster { lost } => writer.list(lost, |writer, (rank, why)| {
                writer.u32(*rank);
                writer.text(why);
            }),
            Self::End { why } => writer.option(why.as_ref(), text),
        }
    }

    pub(super) fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match kind {
            HELLO => Self::Hello {
                cards: reader.list(Card::read)?,
            },
            REFUSED => Self::Refused {
                objections: reader.list(Reader::text)?,
            },
            ALIVE => Self::Alive {
                root_silent_ms: reader.u32()?,
                waiting_for: reader.list(Reader::u32)?,
            },
            PREPARE => Self::Prepare {
                trial: reader.u32()?,
                attempt: reader.u8()?,
                order: reader.bytes()?.to_vec(),
            },
            READY => Self::Ready,
            PING => Self::Ping {
                sequence: reader.u8()?,
            },
            PONG => Self::Pong {
                sequence: reader.u8()?,
                local_ns: reader.i64()?,
            },
            CLOCK => Self::Clock {
                sequence: reader.u8()?,
                ahead_ns: reader.i64()?,
                bound_ns: reader.u64()?,
                path_ns: reader.u64()?,
            },
            SYNCED => Self::Synced {
                path_ns: reader.u64()?,
            },
            GO => Self::Go {
                at_ns: reader.i64()?,
                stop_ns: reader.option(Reader::i64)?,
                seed: reader.u64()?,
            },
            FINISHED => Self::Finished,
            GATHERED => Self::Gathered {
                summary: reader.bytes()?.to_vec(),
                windows: reader.list(Window::read)?,
            },
            JUDGED => Self::Judged {
                void: reader.option(Reader::text)?,
            },
            LOST => {
                let (rank, why) = lost(reader)?;
                Self::Lost { rank, why }
            }
            STOP => {
                let (rank, why) = lost(reader)?;
                Self::Stop { rank, why }
            }
            ROSTER => Self::Roster {
                lost: reader.list(lost)?,
            },
            END => Self::End {
                why: reader.option(Reader::text)?,
            },
            _ => return Err(reader.refuse("a kind of message that is not known")),
        })
    }
}

fn lost(reader: &mut Reader<'_>) -> Result<(u32, String), WireError> {
    Ok((reader.u32()?, reader.text()?))
}

impl Window {
    fn write(&self, writer: &mut Writer) {
        writer.u32(self.rank);
        writer.i64(self.start_ns);
        writer.i64(self.end_ns);
        writer.u64(self.bound_ns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self {
            rank: reader.u32()?,
            start_ns: reader.i64()?,
            end_ns: reader.i64()?,
            bound_ns: reader.u64()?,
        })
    }
}
