//! Which options there are, and in which tests they meet.

use super::cells::Cell;
use super::dimension::{Dimension, Unit};
use super::interval::{self, Measured};
use crate::resolution;
use std::collections::BTreeMap;

/// One thing that could be chosen: a volume, a setting, a combination of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// As it is called: `Raid6`, or `read_ahead=1024K, scheduler=cfq` where several
    /// things differ.
    pub name: String,
    /// What it is told from the others by.
    pub settings: BTreeMap<String, String>,
    /// Ids of the runs that measured it.
    pub runs: Vec<String>,
    /// What its names or its stack say of it being flash: `None` when they do not.
    pub flash: Option<bool>,
}

/// What was measured of several options in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// What it is about.
    pub dimension: Dimension,
    /// Name of the stage.
    pub stage: String,
    /// How its values are to be read.
    pub unit: Unit,
    /// What was measured of each option, in their order; `None` where nothing was.
    pub measured: Vec<Option<Measured>>,
    /// The lines of the document that it was read from, by option; none of what was
    /// measured by diskfacts.
    pub lines: Vec<Vec<u64>>,
}

/// Options that meet in tests, directly or by way of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The options, in the order in which they were measured.
    pub options: Vec<Choice>,
    /// The tests that at least two of them took.
    pub tests: Vec<Test>,
}

type Key = BTreeMap<String, String>;

/// The cells of a test, by option.
type Taken<'c, 'a> = BTreeMap<usize, Vec<&'c Cell<'a>>>;

/// The groups of options, and what was measured of one option only.
pub(super) fn groups(cells: &[Cell<'_>]) -> (Vec<Group>, Vec<String>) {
    let mut tests: Vec<Vec<&Cell<'_>>> = Vec::new();
    let mut known = BTreeMap::new();
    for cell in cells {
        let place = *known
            .entry((cell.dimension, cell.stage, &cell.conditions))
            .or_insert(tests.len());
        if place == tests.len() {
            tests.push(Vec::new());
        }
        tests[place].push(cell);
    }
    let keys = keys(&tests);
    let mut options: Vec<Key> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut of = |cell: &Cell<'_>| {
        let told = cell.attributes.iter();
        let key: Key = told
            .filter(|(key, _)| keys.contains(key))
            .cloned()
            .collect();
        *places.entry(key.clone()).or_insert_with(|| {
            options.push(key);
            options.len() - 1
        })
    };
    let mut laid: Vec<Taken<'_, '_>> = Vec::new();
    for test in &tests {
        let mut taken = Taken::new();
        for cell in test {
            taken.entry(of(cell)).or_default().push(cell);
        }
        laid.push(taken);
    }
    let mut alone = Vec::new();
    let mut joined = Joined::of(options.len());
    for (test, taken) in tests.iter().zip(&laid) {
        let mut options_of = taken.keys();
        let Some(first) = options_of.next() else {
            continue;
        };
        for other in options_of {
            joined.join(*first, *other);
        }
        if taken.len() == 1 {
            // Of a single run there is nothing to tell an option by.
            let said = if options[*first].is_empty() {
                test[0].stage.to_string()
            } else {
                format!("{} ({})", test[0].stage, name(&options[*first]))
            };
            if !alone.contains(&said) {
                alone.push(said);
            }
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for option in 0..options.len() {
        members.entry(joined.root(option)).or_default().push(option);
    }
    let groups: Vec<Group> = members
        .values()
        .filter(|members| members.len() > 1)
        .map(|members| group(members, &options, &laid))
        // Trials without a figure are no measurement.
        .filter(|group| !group.tests.is_empty())
        .collect();
    (groups, alone)
}

/// Which options belong together: each points to one before it, or is the first.
struct Joined(Vec<usize>);

impl Joined {
    fn of(options: usize) -> Self {
        Self((0..options).collect())
    }

    fn root(&self, option: usize) -> usize {
        let mut root = option;
        while self.0[root] != root {
            root = self.0[root];
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

/// The keys that options are told by: taken in the order in which cells name them,
/// those that tell cells of one test apart which those before did not.
fn keys(tests: &[Vec<&Cell<'_>>]) -> Vec<String> {
    let mut named: Vec<&String> = Vec::new();
    for cell in tests.iter().flatten() {
        for (key, _) in &cell.attributes {
            if !named.contains(&key) {
                named.push(key);
            }
        }
    }
    let mut classes: Vec<Vec<&Cell<'_>>> = tests.to_vec();
    let mut keys = Vec::new();
    for key in named {
        let value = |cell: &Cell<'_>| {
            let of = cell.attributes.iter().find(|(known, _)| known == key);
            of.map(|(_, value)| value.clone())
        };
        let mut parted: Vec<Vec<&Cell<'_>>> = Vec::new();
        for class in &classes {
            let mut parts: BTreeMap<Option<String>, Vec<&Cell<'_>>> = BTreeMap::new();
            for cell in class {
                parts.entry(value(cell)).or_default().push(cell);
            }
            parted.extend(parts.into_values());
        }
        if parted.len() > classes.len() {
            keys.push(key.clone());
            classes = parted;
        }
    }
    keys
}

fn name(option: &Key) -> String {
    match option.len() {
        0 => "the only one".to_owned(),
        1 => option.values().next().cloned().unwrap_or_default(),
        _ => {
            let parts: Vec<String> = option.iter().map(|(k, v)| format!("{k}={v}")).collect();
            parts.join(", ")
        }
    }
}

fn group(members: &[usize], options: &[Key], laid: &[Taken<'_, '_>]) -> Group {
    let of_group: Vec<&Taken<'_, '_>> = laid
        .iter()
        .filter(|taken| taken.keys().any(|option| members.contains(option)))
        .collect();
    let choices = members.iter().map(|option| {
        let cells: Vec<&Cell<'_>> = of_group
            .iter()
            .filter_map(|taken| taken.get(option))
            .flatten()
            .copied()
            .collect();
        let mut runs: Vec<String> = Vec::new();
        for cell in &cells {
            if !runs.iter().any(|run| run == cell.run) {
                runs.push(cell.run.to_owned());
            }
        }
        Choice {
            name: name(&options[*option]),
            settings: options[*option].clone(),
            runs,
            flash: is_flash(&cells),
        }
    });
    let choices = choices.collect();
    let tests = of_group.iter().filter(|taken| taken.len() > 1);
    let tests = tests.flat_map(|taken| {
        let of = |option: &usize| taken.get(option).cloned().unwrap_or_default();
        tests_of(&members.iter().map(of).collect::<Vec<_>>())
    });
    Group {
        options: choices,
        tests: tests.collect(),
    }
}

/// A test, and what it says of tail latency and of processor time.
fn tests_of(taken: &[Vec<&Cell<'_>>]) -> Vec<Test> {
    let Some(first) = taken.iter().flatten().next() else {
        return Vec::new();
    };
    let block = |cell: &&&Cell<'_>| cell.trials[0].workload.block_size;
    let same_block = taken
        .iter()
        .flatten()
        .all(|cell| block(&cell) == block(&first));
    let rate = match first.dimension {
        Dimension::Seeks => Unit::OperationsPerSecond,
        // Of blocks of one size, one says the other.
        Dimension::LogWrites if same_block && block(&first) > 0 => Unit::OperationsPerSecond,
        _ => Unit::BytesPerSecond,
    };
    let (small, cost) = match first.dimension {
        Dimension::Seeks | Dimension::LogWrites => (true, Unit::CpuPerOperation),
        _ => (false, Unit::CpuPerByte),
    };
    let mut wanted = vec![(first.dimension, rate), (Dimension::Cpu, cost)];
    if small {
        wanted.push((Dimension::TailLatency, Unit::Nanoseconds));
    }
    let lines: Vec<Vec<u64>> = taken
        .iter()
        .map(|cells| {
            let trials = cells.iter().flat_map(|cell| &cell.trials);
            trials.filter_map(|trial| trial.line).collect()
        })
        .collect();
    wanted
        .into_iter()
        .map(|(dimension, unit)| {
            let (values, off): (Vec<Vec<f64>>, Vec<f64>) = taken
                .iter()
                .map(|cells| {
                    let trials = || cells.iter().flat_map(|cell| &cell.trials);
                    // A rewrite is counted along the file for its rate only.
                    let values = trials().map(|trial| dimension.value(trial, unit));
                    let values: Vec<f64> = values.collect();
                    let printed = trials().all(|trial| trial.line.is_some());
                    let off = match unit {
                        _ if printed => resolution::of_digits(&values),
                        Unit::Nanoseconds => resolution::OF_BUCKETS,
                        _ => 0.0,
                    };
                    (values, off)
                })
                .unzip();
            let measured = interval::of(&values).into_iter().zip(off);
            let measured = measured.map(|(one, off)| Some(one?.resolved_to(off)));
            Test {
                dimension,
                stage: first.stage.to_owned(),
                unit,
                measured: measured.collect(),
                lines: lines.clone(),
            }
        })
        .filter(|test| test.measured.iter().flatten().count() > 1)
        .collect()
}

/// Words of a name that say what the medium is.
const FLASH: [&str; 4] = ["ssd", "ssds", "nvme", "flash"];

fn is_flash(cells: &[&Cell<'_>]) -> Option<bool> {
    let mut values = cells.iter().flat_map(|cell| &cell.attributes);
    values.any(|(_, value)| names_flash(value)).then_some(true)
}

/// Whether one of the words of a name is one of flash: `Raid1 SSD`.
pub(crate) fn names_flash(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(str::to_ascii_lowercase)
        .any(|word| FLASH.contains(&word.as_str()))
}
