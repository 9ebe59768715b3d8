//! Which runs there are, without their trials.

use super::groups::moment;
use super::looks;
use super::parts::{self, Part};
use super::spans::{Column, are_same, stretches};
use super::table::File;
use crate::error::Error;
use diskfacts_facts::fleet::{Member, Peers};
use diskfacts_plan::rng::Rng;
use parquet::data_type::ByteArray;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

/// Peers that a disk is followed beside, at most: the median change of so many is known to a tenth of
/// what one of them varies by.
const PEERS_MAX: usize = 200;

/// Which peers these are: the same of the same fleet.
const SEED: u64 = 1;

/// Seconds within which nobody installs a machine anew: two ids under one name are two machines.
const AT_ONE_TIME_S: i64 = 3600;

/// The runs of some files, each once.
#[derive(Debug, Default)]
pub struct Runs {
    members: Vec<Member>,
    /// The numbers of the members.
    numbers: HashMap<Member, u32>,
    peers: Vec<Arc<Peers>>,
    numbers_of_peers: HashMap<Arc<Peers>, u32>,
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

/// The number of what is next in a list: a fleet of four thousand million disks has no place in memory.
fn next_number<T>(of: &[T]) -> u32 {
    u32::try_from(of.len()).unwrap_or(u32::MAX)
}

/// Runs whose trials are wanted.
#[derive(Debug, Default)]
pub struct Chosen {
    /// By the bytes of the host's name, as files have it.
    hosts: BTreeMap<Vec<u8>, OfHost>,
    files: BTreeSet<u32>,
    /// Runs of the same disks by the same plan that are older, and not among them.
    pub older: u64,
}

/// The runs that are wanted of a host.
#[derive(Debug, Default)]
pub(super) struct OfHost {
    /// Whether several machines have its name, and their runs are told apart.
    pub(super) has_several_machines: bool,
    /// By target, by machine, which is empty where the host is one, and by id, the place of the
    /// file. Ids of runs of two machines may be equal, and stand in two files.
    runs: HashMap<String, HashMap<String, HashMap<Box<str>, u32>>>,
}

impl Chosen {
    pub(super) fn is_in(&self, file: usize) -> bool {
        u32::try_from(file).is_ok_and(|file| self.files.contains(&file))
    }

    /// What is wanted of this host, if anything is.
    pub(super) fn of_host(&self, host: &[u8]) -> Option<&OfHost> {
        self.hosts.get(host)
    }

    /// Whether something is wanted of a host whose name is one of these, or between them.
    pub(super) fn has_host_within(&self, least: &[u8], most: &[u8]) -> bool {
        let mut from = self
            .hosts
            .range::<[u8], _>((Bound::Included(least), Bound::Unbounded));
        from.next().is_some_and(|(host, _)| &host[..] <= most)
    }

    fn add(&mut self, member: &Member, run: &str, known: Known) {
        let host = self.hosts.entry(member.host.clone().into_bytes());
        let of_host = host.or_default();
        of_host.has_several_machines |= member.machine.is_some();
        let of_target = of_host.runs.entry(member.target.clone()).or_default();
        let of = of_target.entry(member.machine.clone().unwrap_or_default());
        let of = of.or_default();
        of.insert(run.into(), known.file);
        self.files.insert(known.file);
    }
}

/// Whether rows of this run in this file are wanted; `machine` is `None` where all runs under the
/// host's name are of one machine.
pub(super) fn is_wanted(
    of: &OfHost,
    (target, machine): (&str, Option<&str>),
    run: &str,
    file: usize,
) -> bool {
    let of_target = of.runs.get(target);
    let runs = of_target.and_then(|machines| machines.get(machine.unwrap_or_default()));
    let file_of = runs.and_then(|runs| runs.get(run));
    file_of.is_some_and(|of| usize::try_from(*of) == Ok(file))
}

/// The runs of a row group, as it has them.
#[derive(Default)]
struct Found {
    runs: Column<ByteArray>,
    hosts: Column<ByteArray>,
    targets: Column<ByteArray>,
    machines: Column<ByteArray>,
    /// By the numbers of their entries.
    peers: HashMap<Option<u32>, Arc<Peers>>,
    /// Each as often as its rows are parted.
    rows: Vec<Row>,
}

/// A run in it: the numbers of its entries.
struct Row {
    run: Option<u32>,
    host: Option<u32>,
    target: Option<u32>,
    machine: Option<u32>,
    peers: Option<u32>,
    started_s: i64,
}

/// The names under which two machines began runs at one time.
///
/// An id alone makes no other machine: one that is installed anew has another, and one that boots
/// from the network may have another after each boot. Two within an hour are two machines: copies of one
/// image that are all called `localhost`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SharedNames(HashSet<String>);

impl SharedNames {
    /// Of all runs of these, each of which has its machines apart.
    pub(super) fn of<'a>(all: impl IntoIterator<Item = &'a Runs>) -> Self {
        let mut began: HashMap<&str, Vec<(i64, &str)>> = HashMap::new();
        for runs in all {
            for (member, _, of) in runs.each() {
                let member = &runs.members[member as usize];
                if let Some(machine) = &member.machine {
                    let of_host = began.entry(&member.host).or_default();
                    of_host.push((of.started_s, machine));
                }
            }
        }
        let is_shared = |runs: &mut Vec<(i64, &str)>| {
            runs.sort_unstable();
            let mut next = runs.windows(2);
            next.any(|runs| runs[0].1 != runs[1].1 && runs[1].0 - runs[0].0 < AT_ONE_TIME_S)
        };
        let shared = (began.iter_mut())
            .filter_map(|(host, runs)| is_shared(runs).then(|| (*host).to_owned()));
        Self(shared.collect())
    }
}

impl Runs {
    /// Those of this group or all, of machines that are told apart under these names.
    pub(super) fn read(
        files: &[PathBuf],
        group: Option<&str>,
        shared: &SharedNames,
    ) -> Result<Self, Error> {
        Ok(Self::of_machines(files, group)?.told_apart(shared))
    }

    /// All of them.
    pub(super) fn read_all(files: &[PathBuf]) -> Result<Self, Error> {
        let all = Self::of_machines(files, None)?;
        let shared = SharedNames::of([&all]);
        Ok(all.told_apart(&shared))
    }

    /// Those of this group or all, of each machine apart.
    pub(super) fn of_machines(files: &[PathBuf], group: Option<&str>) -> Result<Self, Error> {
        let mut runs = Self::default();
        parts::each(
            files,
            &|_| true,
            |part| found(part, group),
            |part, found| runs.add(part, &found),
        )?;
        Ok(runs)
    }

    /// # Errors
    /// Where a text is none.
    fn add(&mut self, part: &Part<'_>, found: &Found) -> Result<(), Error> {
        let file = part.file;
        let mut number_of_peers = |peers: &Arc<Peers>| {
            let number = self.numbers_of_peers.entry(Arc::clone(peers));
            *number.or_insert_with(|| {
                self.peers.push(Arc::clone(peers));
                next_number(&self.peers) - 1
            })
        };
        let peers = found.peers.iter();
        let peers: HashMap<Option<u32>, u32> = peers
            .map(|(entry, peers)| (*entry, number_of_peers(peers)))
            .collect();
        let mut members: HashMap<[Option<u32>; 3], u32> = HashMap::new();
        for row in &found.rows {
            let member = match members.entry([row.host, row.target, row.machine]) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let host = file.text("host", found.hosts.value(row.host))?;
                    let target = file.text("target", found.targets.value(row.target))?;
                    let machine = match found.machines.value(row.machine) {
                        None => None,
                        machine => Some(file.text("machine_id", machine)?.to_owned()),
                    };
                    *new.insert(self.member(Member {
                        host: host.to_owned(),
                        machine,
                        target: target.to_owned(),
                    }))
                }
            };
            let known = Known {
                started_s: row.started_s,
                peers: peers[&row.peers],
                file: u32::try_from(part.place).unwrap_or(u32::MAX),
            };
            let id = file.text("run", found.runs.value(row.run))?;
            self.insert(member, id, known);
        }
        Ok(())
    }

    /// Of a run that stands in several files the first counts, and files come in any order.
    fn insert(&mut self, member: u32, id: &str, known: Known) {
        let runs = &mut self.of[member as usize];
        match runs.get_mut(id) {
            None => {
                runs.insert(id.into(), known);
            }
            Some(before) if known.file < before.file => *before = known,
            Some(_) => {}
        }
    }

    /// Takes all runs under one name for those of one machine, but under these.
    fn told_apart(self, shared: &SharedNames) -> Self {
        let mut told = Self {
            peers: self.peers,
            numbers_of_peers: self.numbers_of_peers,
            ..Self::default()
        };
        for (mut member, runs) in self.members.into_iter().zip(self.of) {
            if !shared.0.contains(&member.host) {
                member.machine = None;
            }
            let member = told.member(member);
            for (id, known) in runs {
                told.insert(member, &id, known);
            }
        }
        told
    }

    /// The number of this member, which it has from now on.
    fn member(&mut self, member: Member) -> u32 {
        if let Some(number) = self.numbers.get(&member) {
            return *number;
        }
        let number = next_number(&self.members);
        self.members.push(member.clone());
        self.numbers.insert(member, number);
        self.of.push(HashMap::new());
        number
    }

    /// Notes a run that is being added; false where it was known.
    pub(crate) fn note(&mut self, member: Member, run: &str) -> bool {
        let known = Known {
            started_s: 0,
            peers: 0,
            file: u32::MAX,
        };
        let number = self.member(member);
        let runs = &mut self.of[number as usize];
        runs.insert(run.into(), known).is_none()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The names of the hosts.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.members.iter().map(|member| &*member.host).collect()
    }

    /// When the last of them began, seconds since 1970, UTC.
    pub fn last_s(&self) -> Option<i64> {
        self.each().map(|(_, _, known)| known.started_s).max()
    }

    /// When the later looks began, seconds since 1970, UTC, where pauses of `apart_s` seconds part
    /// looks; `None` where there is one look alone. They are the last look, and those right before
    /// it that measured the same disks, a part of the fleet, too.
    pub fn later_from(&self, apart_s: i64) -> Option<i64> {
        let runs = self.each().map(|(disk, _, of)| (of.started_s, disk));
        let mut runs: Vec<(i64, u32)> = runs.collect();
        runs.sort_unstable();
        looks::later_from(&runs, apart_s)
    }

    fn each(&self) -> impl Iterator<Item = (u32, &str, Known)> {
        (0..)
            .zip(&self.of)
            .flat_map(|(member, runs)| runs.iter().map(move |(run, of)| (member, &**run, *of)))
    }

    fn choose<'a>(&'a self, runs: impl IntoIterator<Item = (u32, &'a str, Known)>) -> Chosen {
        let mut chosen = Chosen::default();
        for (member, run, known) in runs {
            chosen.add(&self.members[member as usize], run, known);
        }
        chosen
    }

    /// The newest run of each disk by each plan, of those that began before this second, or of all:
    /// what [`screen`](diskfacts_facts::fleet::screen) looks at.
    pub fn newest(&self, before_s: Option<i64>) -> Chosen {
        let mut numbers: HashMap<Option<&String>, usize> = HashMap::new();
        let plans = self.peers.iter().map(|peers| {
            let next = numbers.len();
            *numbers.entry(peers.plan()).or_insert(next)
        });
        let plans: Vec<usize> = plans.collect();
        let mut newest: HashMap<(u32, usize), (u32, &str, Known)> = HashMap::new();
        let mut all = 0;
        for (member, run, known) in self.each() {
            if before_s.is_some_and(|before_s| known.started_s >= before_s) {
                continue;
            }
            all += 1;
            let plan = plans[known.peers as usize];
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
        let members = (0..).zip(&self.members);
        let of_host = members.filter(|(_, member)| member.host == host);
        let own: BTreeSet<u32> = of_host.map(|(number, _)| number).collect();
        let is_own = |member: u32| own.contains(&member);
        let of_own = own.iter().flat_map(|own| self.of[*own as usize].values());
        let peers: HashSet<u32> = of_own.map(|known| known.peers).collect();
        let others: HashSet<u32> = self
            .each()
            .filter(|(member, _, known)| peers.contains(&known.peers) && !is_own(*member))
            .map(|(member, _, _)| member)
            .collect();
        // In the order of their names, which does not depend on that in which they were read.
        let mut others: Vec<u32> = others.into_iter().collect();
        others.sort_by_key(|member| &self.members[*member as usize]);
        let mut rng = Rng::new(SEED);
        for place in 0..others.len().min(PEERS_MAX) {
            let left = (others.len() - place) as u64;
            others.swap(place, place + rng.below(left) as usize);
        }
        let others: HashSet<u32> = others.into_iter().take(PEERS_MAX).collect();
        let each = self.each().filter(|(member, _, known)| {
            is_own(*member) || (others.contains(member) && peers.contains(&known.peers))
        });
        self.choose(each)
    }
}

/// The runs of a row group, of this group or all.
fn found(part: &Part<'_>, wanted: Option<&str>) -> Result<Found, Error> {
    let (file, group) = (part.file, part.group);
    let mut found = Found::default();
    let all = 0..file.rows(group);
    let of_group = match wanted {
        None => vec![all],
        Some(wanted) if file.may_have_text(group, "run_group", wanted) => {
            file.texts(group, "run_group")?.rows_with(wanted.as_bytes())
        }
        Some(_) => Vec::new(),
    };
    if of_group.is_empty() {
        return Ok(found);
    }
    let texts = |name: &str| file.texts(group, name);
    let same = [
        texts("run")?,
        texts("host")?,
        texts("target")?,
        texts("peers")?,
        texts("machine_id")?,
    ];
    let started = file.integers(group, "started")?;
    let mut known: HashMap<Vec<u8>, Arc<Peers>> = HashMap::new();
    let mut first: Option<[Option<u32>; 5]> = None;
    for rows in of_group {
        let [runs, hosts, targets, of_peers, machines] =
            same.each_ref().map(|column| &column.spans[..]);
        let columns = [runs, hosts, targets, of_peers, machines, &started.spans];
        for (_, [run, host, target, peers, machine, began]) in stretches(columns, rows) {
            let row = [run, host, target, peers, machine];
            if first.is_some_and(|first| are_same(&same, first, row)) {
                continue;
            }
            first = Some(row);
            if let Entry::Vacant(new) = found.peers.entry(peers) {
                new.insert(peers_of(file, &mut known, same[3].value(peers))?);
            }
            found.rows.push(Row {
                run,
                host,
                target,
                machine,
                peers,
                started_s: moment(file, started.value(began))?,
            });
        }
    }
    [found.runs, found.hosts, found.targets, _, found.machines] = same;
    Ok(found)
}

/// What must be equal to be peers, each once in memory.
pub(super) fn peers_of(
    file: &File,
    known: &mut HashMap<Vec<u8>, Arc<Peers>>,
    text: Option<&ByteArray>,
) -> Result<Arc<Peers>, Error> {
    if let Some(peers) = text.and_then(|text| known.get(text.data())) {
        return Ok(Arc::clone(peers));
    }
    let text = file.text("peers", text)?;
    let map: BTreeMap<String, String> = serde_json::from_str(text)
        .map_err(|error| file.not_ours(format!("peers is no object of texts: {error}")))?;
    let peers = Arc::new(Peers(map));
    known.insert(text.into(), Arc::clone(&peers));
    Ok(peers)
}
