//! Which runs there are, without their trials.

use super::groups::{is, is_same, moment};
use super::parts::{self, Part};
use super::table::{File, Text};
use crate::error::Error;
use diskfacts_facts::fleet::{Member, Peers};
use diskfacts_plan::rng::Rng;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Peers that a disk is followed beside, at most: the median change of so many is known to a tenth of
/// what one of them varies by.
const PEERS_MAX: usize = 200;

/// Which peers these are: the same of the same fleet.
const SEED: u64 = 1;

/// The runs of some files, each once.
#[derive(Debug, Default)]
pub struct Runs {
    members: Numbered<Member>,
    peers: Numbered<Arc<Peers>>,
    /// By member, then by id. Ids of runs that begin in one second on two hosts may be equal.
    of: Vec<HashMap<Box<str>, Known>>,
}

/// What is known of a run.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Seconds since 1970, UTC.
    started_s: i64,
    peers: u32,
    /// Place of the first file that has it.
    file: u32,
}

/// Values by the number of each.
#[derive(Debug)]
struct Numbered<T> {
    number: HashMap<T, u32>,
    all: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            number: HashMap::new(),
            all: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn of(&mut self, value: T) -> u32 {
        if let Some(number) = self.number.get(&value) {
            return *number;
        }
        // A fleet of four thousand million disks has no place in memory.
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.number.insert(value.clone(), number);
        self.all.push(value);
        number
    }
}

/// Runs whose trials are wanted.
#[derive(Debug, Default)]
pub struct Chosen {
    /// By host, target and id: the place of the file.
    of: HashMap<Member, HashMap<Box<str>, u32>>,
    files: BTreeSet<u32>,
    /// Runs of the same disks by the same plan that are older, and not among them.
    pub older: u64,
}

impl Chosen {
    pub(super) fn is_in(&self, file: usize) -> bool {
        u32::try_from(file).is_ok_and(|file| self.files.contains(&file))
    }

    /// Whether rows of this run in this file are wanted.
    pub(super) fn has(&self, member: &Member, run: &str, file: usize) -> bool {
        let file_of = self.of.get(member).and_then(|runs| runs.get(run));
        file_of.is_some_and(|of| usize::try_from(*of) == Ok(file))
    }

    fn add(&mut self, member: &Member, run: &str, known: Known) {
        if !self.of.contains_key(member) {
            self.of.insert(member.clone(), HashMap::new());
        }
        if let Some(runs) = self.of.get_mut(member) {
            runs.insert(run.into(), known.file);
        }
        self.files.insert(known.file);
    }
}

/// A run as it stands in a row group.
struct Row {
    member: Member,
    run: Box<str>,
    started_s: i64,
    peers: Arc<Peers>,
}

impl Runs {
    pub(super) fn read(files: &[PathBuf], group: Option<&str>) -> Result<Self, Error> {
        let mut runs = Self::default();
        parts::each(
            files,
            &|_| true,
            |part| rows(part, group),
            |part, rows| {
                for row in rows {
                    runs.add(row, part.place);
                }
            },
        )?;
        Ok(runs)
    }

    fn add(&mut self, row: Row, file: usize) {
        let known = Known {
            started_s: row.started_s,
            peers: self.peers.of(row.peers),
            file: u32::try_from(file).unwrap_or(u32::MAX),
        };
        let runs = self.of_member(row.member);
        let entry = runs.entry(row.run).or_insert(known);
        // Files come in any order.
        if known.file < entry.file {
            *entry = known;
        }
    }

    fn of_member(&mut self, member: Member) -> &mut HashMap<Box<str>, Known> {
        let number = self.members.of(member) as usize;
        if self.of.len() <= number {
            self.of.resize_with(number + 1, HashMap::new);
        }
        &mut self.of[number]
    }

    /// Notes a run that is being added; false where it was known.
    pub(crate) fn note(&mut self, member: Member, run: &str) -> bool {
        let known = Known {
            started_s: 0,
            peers: 0,
            file: u32::MAX,
        };
        self.of_member(member).insert(run.into(), known).is_none()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The names of the hosts.
    pub fn hosts(&self) -> BTreeSet<&str> {
        let members = self.members.all.iter();
        members.map(|member| member.host.as_str()).collect()
    }

    /// When they began, seconds since 1970, UTC, each moment once.
    pub fn moments(&self) -> BTreeSet<i64> {
        self.each().map(|(_, _, known)| known.started_s).collect()
    }

    fn each(&self) -> impl Iterator<Item = (u32, &str, Known)> {
        (0..)
            .zip(&self.of)
            .flat_map(|(member, runs)| runs.iter().map(move |(run, of)| (member, &**run, *of)))
    }

    fn choose<'a>(&'a self, runs: impl IntoIterator<Item = (u32, &'a str, Known)>) -> Chosen {
        let mut chosen = Chosen::default();
        for (member, run, known) in runs {
            chosen.add(&self.members.all[member as usize], run, known);
        }
        chosen
    }

    /// The newest run of each disk by each plan, of those that began before this second, or of all:
    /// what [`screen`](diskfacts_facts::fleet::screen) looks at.
    pub fn newest(&self, before_s: Option<i64>) -> Chosen {
        let mut newest: HashMap<(u32, Option<&String>), (u32, &str, Known)> = HashMap::new();
        let mut all = 0;
        for (member, run, known) in self.each() {
            if before_s.is_some_and(|before_s| known.started_s >= before_s) {
                continue;
            }
            all += 1;
            let plan = self.peers.all[known.peers as usize].plan();
            let last = newest.entry((member, plan)).or_insert((member, run, known));
            if (last.2.started_s, last.1) < (known.started_s, run) {
                *last = (member, run, known);
            }
        }
        Chosen {
            older: all - newest.len() as u64,
            ..self.choose(newest.into_values())
        }
    }

    /// All of them.
    pub fn all(&self) -> Chosen {
        self.choose(self.each())
    }

    /// All that began at this second or later.
    pub fn since(&self, from_s: i64) -> Chosen {
        self.choose(self.each().filter(|(_, _, of)| of.started_s >= from_s))
    }

    /// All runs of a host, and those of its peers, of 200 at most, drawn by a seed where they are more.
    pub fn of_host(&self, host: &str) -> Chosen {
        let is_own = |member: u32| self.members.all[member as usize].host == host;
        let mut wanted: BTreeSet<u32> = BTreeSet::new();
        let peers: BTreeSet<u32> = self
            .each()
            .filter(|(member, _, _)| is_own(*member))
            .map(|(member, _, known)| {
                wanted.insert(member);
                known.peers
            })
            .collect();
        // In the order of their names, which does not depend on that in which they were read.
        let others: BTreeMap<&Member, u32> = self
            .each()
            .filter(|(member, _, known)| peers.contains(&known.peers) && !is_own(*member))
            .map(|(member, _, _)| (&self.members.all[member as usize], member))
            .collect();
        let mut others: Vec<u32> = others.into_values().collect();
        let mut rng = Rng::new(SEED);
        for place in 0..others.len().min(PEERS_MAX) {
            let left = (others.len() - place) as u64;
            others.swap(place, place + rng.below(left) as usize);
        }
        wanted.extend(others.into_iter().take(PEERS_MAX));
        let each = self.each().filter(|(member, _, known)| {
            wanted.contains(member) && (is_own(*member) || peers.contains(&known.peers))
        });
        self.choose(each)
    }
}

/// The runs of a row group, each as often as its rows are parted.
fn rows(part: &Part<'_>, wanted: Option<&str>) -> Result<Vec<Row>, Error> {
    let (file, group) = (part.file, part.group);
    let texts = |name: &str| file.texts(group, name);
    let [run, host, target, peers] = ["run", "host", "target", "peers"].map(texts);
    let same = [run?, host?, target?, peers?];
    let started = file.integers(group, "started")?;
    let of_groups = wanted.map(|_| texts("run_group")).transpose()?;
    let mut known: HashMap<Vec<u8>, Arc<Peers>> = HashMap::new();
    let mut rows = Vec::new();
    let mut first = None;
    for (row, started_us) in started.iter().enumerate() {
        let continues = |first: usize| same.iter().all(|of| is_same(&of[first], &of[row]));
        if first.is_some_and(continues) {
            continue;
        }
        first = Some(row);
        if !is(wanted, of_groups.as_ref().map(|of| &of[row])) {
            continue;
        }
        let [run, host, target, peers] = [0, 1, 2, 3].map(|at| &same[at][row]);
        rows.push(Row {
            member: Member {
                host: file.text("host", host)?,
                target: file.text("target", target)?,
            },
            run: file.text("run", run)?.into(),
            started_s: moment(file, *started_us)?,
            peers: peers_of(file, &mut known, peers)?,
        });
    }
    Ok(rows)
}

/// What must be equal to be peers, each once in memory.
pub(super) fn peers_of(
    file: &File,
    known: &mut HashMap<Vec<u8>, Arc<Peers>>,
    text: &Text,
) -> Result<Arc<Peers>, Error> {
    if let Some(peers) = text.as_ref().and_then(|text| known.get(text.data())) {
        return Ok(Arc::clone(peers));
    }
    let text = file.text("peers", text)?;
    let map: BTreeMap<String, String> = serde_json::from_str(&text)
        .map_err(|error| file.not_ours(format!("peers is no object of texts: {error}")))?;
    let peers = Arc::new(Peers(map));
    known.insert(text.into_bytes(), Arc::clone(&peers));
    Ok(peers)
}
