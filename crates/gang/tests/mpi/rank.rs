//! What each rank does, and writes to a file of its own: `what: text`, line by line.

use diskfacts_gang::launcher::launcher;
use diskfacts_gang::mpi::Mpi;
use diskfacts_gang::wire::{Frame, Message, decode};
use diskfacts_gang::{
    Clock, Details, Ending, Judged, Member, Monotonic, Outcome, Planned, Schedule, Seat, Settings,
    Transport, TransportError, drive, seat, wait_until,
};
use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

const TRIAL_NS: u64 = 100_000_000;
const TRIALS: u32 = 2;

pub(crate) fn is_one() -> bool {
    std::env::var_os("GANG_FOLDER").is_some()
}

pub(crate) fn run() {
    let folder = PathBuf::from(std::env::var_os("GANG_FOLDER").expect("it is a rank"));
    let alive = File::open(folder.join("alive")).expect("the launching test made it");
    rustix::fs::flock(&alive, rustix::fs::FlockOperation::LockShared).expect("a shared lock");
    let library = std::env::var_os("GANG_LIBRARY").map(PathBuf::from);
    let launcher = launcher(|name| std::env::var(name).ok());
    let mpi = match Mpi::start(library.as_deref(), launcher.as_ref()) {
        Ok(mpi) => mpi,
        Err(error) => {
            say(&folder, "alone", "refused", &error.to_string());
            return;
        }
    };
    let rank = mpi.rank();
    let name = rank.to_string();
    let (offset, width) = time_of_day_less_clock();
    say(&folder, &name, "library", mpi.version());
    say(
        &folder,
        &name,
        "time of day less clock",
        &offset.to_string(),
    );
    say(&folder, &name, "reading bound", &width.to_string());

    let (mut own, work) = seat(Box::new(add));
    let session = std::thread::spawn({
        let (folder, name) = (folder.clone(), name.clone());
        move || session(&mut own, rank, &folder, &name)
    });
    let details = Details {
        plan: b"plan".to_vec(),
        // Ranks of one machine stand for hosts.
        boot_id: format!("boot-{rank}"),
        device: None,
        objections: Vec::new(),
    };
    let program = "diskfacts test".to_owned();
    let mut transport = Mortal::new(mpi);
    let settings = Settings::default();
    let host = format!("host-{rank}");
    let mut member = Member::new(&transport, settings, program, host, details, work, Trials);
    let ending = drive(&mut member, &mut transport, &Monotonic, |_| {});
    for judged in member.judged() {
        let sum = judged.summary.first().copied().unwrap_or_default();
        say(&folder, &name, "sum", &sum.to_string());
        say(&folder, &name, "windows", &judged.windows.len().to_string());
    }
    let lost = member.lost();
    let all_there = lost.is_empty() && ending == Ending::Over;
    for (_, host, why) in lost {
        say(&folder, &name, "lost", &format!("{host}: {why}"));
    }
    drop(member);
    session.join().expect("the session ends with the group");
    transport.mpi.close(all_there).expect("MPI ends");
    say(&folder, &name, "ending", &format!("{ending:?}"));
}

/// A session that measures nothing at the agreed moments.
fn session(seat: &mut Seat, rank: usize, folder: &std::path::Path, name: &str) {
    while seat.next_trial().is_some() {
        let Ok(go) = seat.ready(Ok(())) else { continue };
        let Some(start_ns) = wait_until(&Monotonic, go.at_ns, || seat.is_cancelled()) else {
            continue;
        };
        let started = nanoseconds(ClockId::Realtime);
        let stop_ns = go.stop_ns.expect("trials here are timed");
        let Some(end_ns) = wait_until(&Monotonic, stop_ns, || seat.is_cancelled()) else {
            continue;
        };
        let outcome = Outcome {
            start_ns,
            end_ns,
            summary: vec![u8::try_from(rank).expect("few ranks") + 1],
        };
        let Ok(verdict) = seat.finished(Ok(outcome)) else {
            continue;
        };
        let said = verdict.void.as_deref().unwrap_or("counts");
        say(folder, name, "verdict", said);
        say(folder, name, "started", &started.to_string());
        let before = verdict.clock.before;
        say(folder, name, "ahead", &before.ahead_ns.to_string());
        say(folder, name, "bound", &before.bound_ns.to_string());
    }
}

fn add(into: Vec<u8>, other: &[u8]) -> Result<Vec<u8>, String> {
    match (<[u8; 1]>::try_from(into), other) {
        (Ok([one]), [another]) => Ok(vec![one + another]),
        _ => Err("no summary".to_owned()),
    }
}

struct Trials;

impl Schedule for Trials {
    fn next(&mut self, judged: &[Judged]) -> Option<Planned> {
        let done = judged.iter().map(|one| one.trial.number + 1).max();
        (done.unwrap_or(0) < TRIALS).then(|| Planned {
            order: Vec::new(),
            lasts_ns: Some(TRIAL_NS),
            seed: 1,
        })
    }
}

/// MPI of a rank that kills itself in place of sending one of its frames.
struct Mortal {
    mpi: Mpi,
    dies: Option<Dies>,
    sent: usize,
}

/// In place of which frame.
enum Dies {
    /// The one behind so many.
    Behind(usize),
    /// That of the last trial with what was measured.
    Gathering {
        /// The number of the trial that is under way, from 0; of none before the first.
        trial: Option<u32>,
    },
}

impl Mortal {
    fn new(mpi: Mpi) -> Self {
        let dies = std::env::var("GANG_DIES").ok();
        let dies = dies.and_then(|dies| {
            let (rank, frame) = dies.split_once(':')?;
            let here = rank.parse() == Ok(mpi.rank());
            here.then(|| match frame {
                "gathering" => Dies::Gathering { trial: None },
                number => Dies::Behind(number.parse().expect("the number of a frame")),
            })
        });
        Self { mpi, dies, sent: 0 }
    }

    /// Learns of the trial that is under way.
    fn hears(&mut self, frame: &[u8]) {
        if let Some(Dies::Gathering { trial }) = &mut self.dies
            && let Ok(Frame::Known {
                message: Message::Prepare { trial: number, .. },
                ..
            }) = decode(frame)
        {
            *trial = Some(number);
        }
    }

    fn dies_instead_of(&self, frame: &[u8]) -> bool {
        match self.dies {
            None => false,
            Some(Dies::Behind(sent)) => sent == self.sent,
            Some(Dies::Gathering { trial }) => {
                let Ok(Frame::Known { message, .. }) = decode(frame) else {
                    return false;
                };
                trial == Some(TRIALS - 1) && matches!(message, Message::Gathered { .. })
            }
        }
    }
}

impl Transport for Mortal {
    fn rank(&self) -> usize {
        self.mpi.rank()
    }

    fn size(&self) -> usize {
        self.mpi.size()
    }

    fn send(&mut self, to: usize, frame: &[u8]) -> Result<(), TransportError> {
        if self.dies_instead_of(frame) {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        }
        self.sent += 1;
        self.mpi.send(to, frame)
    }

    fn receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, TransportError> {
        let received = self.mpi.receive(from);
        if let Ok(Some(frame)) = &received {
            self.hears(frame);
        }
        received
    }

    fn unsent(&mut self) -> Result<usize, TransportError> {
        self.mpi.unsent()
    }
}

fn nanoseconds(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The time of day less this process's clock, and how far that may be wrong: of many looks the
/// one in which the least time passed.
fn time_of_day_less_clock() -> (i64, i64) {
    let look = |_| {
        let before = Monotonic.now_ns();
        let of_day = nanoseconds(ClockId::Realtime);
        let after = Monotonic.now_ns();
        (after - before, of_day - i64::midpoint(before, after))
    };
    let (width, offset) = (0..10_000).map(look).min().expect("ten thousand looks");
    (offset, width)
}

fn say(folder: &std::path::Path, name: &str, what: &str, said: &str) {
    let path = folder.join(name);
    let file = OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.expect("the scratch folder can be written to");
    let line = format!("{what}: {}\n", said.replace('\n', " "));
    file.write_all(line.as_bytes()).expect("a line is written");
}
