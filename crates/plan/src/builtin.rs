//! The plans that come with diskfacts.
//!
//! Each is a TOML text under `plans/`, read by the same code as a user's plan
//! file: `diskfacts plans NAME` prints exactly what is run, ready to edit.

use crate::file;
use crate::plan::Plan;
use std::sync::OnceLock;

/// Name and text of each built-in plan, in the order in which they are listed.
const TEXTS: &[(&str, &str)] = &[
    ("survey", include_str!("../plans/survey.toml")),
    ("write-matrix", include_str!("../plans/write-matrix.toml")),
    ("bonnie", include_str!("../plans/bonnie.toml")),
    ("stride", include_str!("../plans/stride.toml")),
    ("tune", include_str!("../plans/tune.toml")),
    ("zones", include_str!("../plans/zones.toml")),
    ("streams", include_str!("../plans/streams.toml")),
    (
        "readahead-matrix",
        include_str!("../plans/readahead-matrix.toml"),
    ),
    ("dd", include_str!("../plans/dd.toml")),
    ("hdparm", include_str!("../plans/hdparm.toml")),
    ("raw-vs-block", include_str!("../plans/raw-vs-block.toml")),
    ("fleet", include_str!("../plans/fleet.toml")),
    ("overhead", include_str!("../plans/overhead.toml")),
];

/// The names of the built-in plans.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The TOML text of the built-in plan of this name.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The built-in plan of this name, to be changed.
pub fn plan(name: &str) -> Option<Plan> {
    known(name).cloned()
}

/// The built-in plan of this name, to be looked at: parsed once, when it is asked for.
///
/// # Panics
/// Never: every built-in text is parsed by a test.
pub fn known(name: &str) -> Option<&'static Plan> {
    // The larger ones take longer than all else that looks at one of the small ones.
    static PARSED: [OnceLock<Plan>; TEXTS.len()] = [const { OnceLock::new() }; TEXTS.len()];
    let place = TEXTS.iter().position(|(known, _)| *known == name)?;
    let parse = || file::parse(TEXTS[place].1).expect("built-in plans parse, a test says");
    Some(PARSED[place].get_or_init(parse))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stage, WriteMode, units};

    #[test]
    fn every_built_in_plan_parses_has_no_problem_and_bears_its_name() {
        for name in names() {
            let parsed = file::parse(text(name).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(parsed.name, name);
            assert_eq!(parsed.problems(), [], "{name}");
            assert!(!parsed.about.is_empty());
        }
    }

    #[test]
    fn the_write_matrix_is_every_mode_at_every_size_with_the_amounts_of_the_benchmark() {
        let mut plan = plan("write-matrix").unwrap();
        assert_eq!(plan.stages.len(), 14 * 21);
        assert!(plan.stages.iter().all(Stage::shares_time));
        assert!(plan.in_full());
        let mut seen = Vec::new();
        for stage in &plan.stages {
            let workload = &stage.workload;
            let mode = WriteMode::of(workload).unwrap();
            assert_eq!(stage.settings["mode"], mode.to_string());
            let size = units::parse_size(&stage.settings["block_size"]).unwrap();
            assert_eq!(size, workload.block_size);
            let blocks = (128 << 20) / size;
            let operations = if mode.sync.each_write() {
                blocks.min(size / 32)
            } else {
                blocks
            };
            let said = workload.stop.bytes.map(|bytes| bytes / size);
            assert_eq!(workload.stop.operations.or(said), Some(operations));
            assert!(!stage.shares_time() && workload.stop.time_ns.is_none());
            seen.push((size, mode.rank()));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 14 * 21);
    }

    #[test]
    fn an_unknown_name_is_no_plan() {
        assert!(plan("no-such-plan").is_none());
    }
}
