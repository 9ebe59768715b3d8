//! Stages in few words: cells of a matrix that differ in one setting alone are told together.

use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::parse_size;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A stage, or a cell of one: its name and its settings.
pub(super) type Cell<'a> = (&'a str, &'a BTreeMap<String, String>);

/// Values by the name of their setting.
type Settings<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Cells of one stage that are every combination of these values.
#[derive(Debug, Clone, PartialEq)]
struct Block<'a> {
    stage: &'a str,
    settings: Settings<'a>,
}

/// All of these, each once: a stage by its name, cells by what they have of each setting, as
/// `synced (block_size=4KiB | 8KiB, mode=FSYNC | O_SYNC)`.
pub(super) fn together(cells: &[Cell<'_>]) -> Vec<String> {
    blocks(cells).iter().map(Block::label).collect()
}

/// The fewest blocks that joining along one setting after the other gives, whichever is the
/// first; in the order of their first cells.
fn blocks<'a>(cells: &[Cell<'a>]) -> Vec<Block<'a>> {
    let mut seen = BTreeSet::new();
    let once = cells.iter().filter(|cell| seen.insert(**cell));
    let single: Vec<Block<'a>> = once.map(|cell| Block::of(*cell)).collect();
    let keys: BTreeSet<&str> = (cells.iter().flat_map(|(_, settings)| settings.keys()))
        .map(String::as_str)
        .collect();
    let joined = (0..keys.len()).map(|first| {
        let order = keys.iter().cycle().skip(first).take(keys.len());
        order.fold(single.clone(), |blocks, key| join(blocks, key))
    });
    joined.min_by_key(Vec::len).unwrap_or(single)
}

/// Joins those that differ in this setting alone.
fn join<'a>(blocks: Vec<Block<'a>>, key: &str) -> Vec<Block<'a>> {
    let mut joined: Vec<Block<'a>> = Vec::new();
    let mut places: BTreeMap<(&str, Settings<'a>), usize> = BTreeMap::new();
    for block in blocks {
        let mut rest = block.settings.clone();
        let Some(values) = rest.remove(key) else {
            joined.push(block);
            continue;
        };
        match places.entry((block.stage, rest)) {
            Entry::Vacant(place) => {
                place.insert(joined.len());
                joined.push(block);
            }
            Entry::Occupied(place) => {
                if let Some(own) = joined[*place.get()].settings.get_mut(key) {
                    own.extend(&values);
                }
            }
        }
    }
    joined
}

impl<'a> Block<'a> {
    fn of((stage, settings): Cell<'a>) -> Self {
        let settings = settings.iter();
        let settings = settings.map(|(key, value)| (key.as_str(), vec![value.as_str()]));
        Self {
            stage,
            settings: settings.collect(),
        }
    }

    fn label(&self) -> String {
        let settings = self.settings.iter();
        let settings = settings.map(|(key, values)| ((*key).to_owned(), words(values)));
        stage_label(self.stage, &settings.collect())
    }
}

/// Values of a ladder, at least, that are told by its ends.
const LADDER: usize = 4;

/// Each value; of a ladder, where each is twice the one before, both ends.
fn words(values: &[&str]) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut rest = values;
    while let [first, ..] = rest {
        let steps = rest.windows(2).take_while(|two| is_twice(two[0], two[1]));
        let length = 1 + steps.count();
        let (ladder, behind) = rest.split_at(if length >= LADDER { length } else { 1 });
        told.push(match ladder {
            [_, .., last] => format!("{first} to {last}"),
            _ => (*first).to_owned(),
        });
        rest = behind;
    }
    told.join(" | ")
}

/// Of sizes and of numbers.
fn is_twice(one: &str, next: &str) -> bool {
    let twice = parse_size(one).ok().and_then(|size| size.checked_mul(2));
    twice.is_some_and(|twice| parse_size(next) == Ok(twice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs.map(|(k, v)| ((*k).into(), (*v).into())).collect()
    }

    #[test]
    fn a_rectangle_of_cells_is_one_and_what_stands_out_is_another() {
        let sizes = ["4KiB", "8KiB", "16KiB", "32KiB"];
        let mut all: Vec<BTreeMap<String, String>> = Vec::new();
        for size in sizes {
            for mode in ["FSYNC", "O_SYNC"] {
                all.push(settings(&[("block_size", size), ("mode", mode)]));
            }
        }
        all.push(settings(&[("block_size", "64KiB"), ("mode", "O_SYNC")]));
        let mut cells: Vec<Cell<'_>> = all.iter().map(|one| ("synced", one)).collect();
        let none = BTreeMap::new();
        cells.push(("log-write", &none));
        assert_eq!(
            together(&cells),
            [
                "synced (block_size=4KiB to 32KiB, mode=FSYNC)",
                "synced (block_size=4KiB to 64KiB, mode=O_SYNC)",
                "log-write",
            ]
        );
        assert_eq!(
            together(&cells[..8]),
            ["synced (block_size=4KiB to 32KiB, mode=FSYNC | O_SYNC)"]
        );
    }

    #[test]
    fn a_ladder_is_told_by_its_ends_and_a_gap_in_it_is_seen() {
        assert_eq!(
            words(&["4KiB", "8KiB", "16KiB", "32KiB", "128KiB"]),
            "4KiB to 32KiB | 128KiB"
        );
        assert_eq!(words(&["1", "2", "4"]), "1 | 2 | 4");
        assert_eq!(words(&["1", "2", "4", "8", "off"]), "1 to 8 | off");
        assert_eq!(words(&["a", "b", "c", "d"]), "a | b | c | d");
    }

    #[test]
    fn one_cell_is_named_as_everywhere() {
        let one = settings(&[("depth", "4"), ("mode", "x")]);
        let cell = [("s", &one)];
        assert_eq!(together(&cell), [stage_label("s", &one)]);
        assert_eq!(together(&[]), Vec::<String>::new());
    }

    proptest! {
        /// The blocks have every cell, no other, and none twice.
        #[test]
        fn blocks_are_the_cells(
            chosen in prop::collection::vec((0..2_usize, 0..4_u8, 0..3_u8, 0..2_u8), 0..40)
        ) {
            let stages = ["a", "b"];
            let all: Vec<_> = chosen.iter().map(|(stage, x, y, z)| {
                let pairs = [("x", x), ("y", y), ("z", z)];
                let map: BTreeMap<String, String> =
                    pairs.iter().map(|(k, v)| ((*k).to_owned(), v.to_string())).collect();
                (stages[*stage], map)
            }).collect();
            let cells: Vec<Cell<'_>> = all.iter().map(|(stage, map)| (*stage, map)).collect();
            let mut told: Vec<String> = Vec::new();
            for block in blocks(&cells) {
                for x in &block.settings["x"] {
                    for y in &block.settings["y"] {
                        for z in &block.settings["z"] {
                            told.push(format!("{} {x} {y} {z}", block.stage));
                        }
                    }
                }
            }
            told.sort();
            let mut wanted: Vec<String> = chosen
                .iter()
                .map(|(stage, x, y, z)| format!("{} {x} {y} {z}", stages[*stage]))
                .collect();
            wanted.sort();
            wanted.dedup();
            prop_assert_eq!(told, wanted);
        }
    }
}
