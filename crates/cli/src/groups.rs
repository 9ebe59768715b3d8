//! Groups of a fleet that people name on both sides of a comparison: `fleet/@monday`.

#[cfg(feature = "fleet")]
mod of_files;
#[cfg(not(feature = "fleet"))]
#[path = "groups/no_fleet.rs"]
mod of_files;

use crate::exit::Failure;
use diskfacts_facts::compare::Demanded;
use diskfacts_record::Comparison;
use diskfacts_record::membership;
use std::path::{Path, PathBuf};

/// A group in the folder of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedGroup {
    given: String,
    folder: PathBuf,
    group: String,
}

impl NamedGroup {
    /// What was given as a group: a folder, and behind its last slash an `@` with the name. A file
    /// that is called so is a file.
    fn of(given: &str) -> Result<Option<Self>, Failure> {
        let Some((folder, group)) = given.rsplit_once("/@") else {
            return Ok(None);
        };
        if Path::new(given).is_file() {
            return Ok(None);
        }
        let group = membership::group(group).map_err(|error| {
            Failure::wrong_call(format!("{given} names no group of a fleet: {error}"))
        })?;
        Ok(Some(Self {
            given: given.to_owned(),
            folder: if folder.is_empty() { "/" } else { folder }.into(),
            group,
        }))
    }
}

/// Two groups of a fleet, compared; `None` where both sides are runs.
///
/// # Errors
/// Where one side is a group and the other is not, and where a group is not there.
pub(crate) fn compared(
    a: &str,
    b: &str,
    same_within: f64,
    demanded: &[Demanded],
) -> Result<Option<Comparison>, Failure> {
    match (NamedGroup::of(a)?, NamedGroup::of(b)?) {
        (None, None) => Ok(None),
        (Some(a), Some(b)) if (&a.folder, &a.group) == (&b.folder, &b.group) => {
            Err(Failure::wrong_call(format!(
                "{} is on both sides; a group is compared with another one",
                a.given
            )))
        }
        (Some(a), Some(b)) => of_files::compared(&a, &b, same_within, demanded).map(Some),
        (Some(group), None) | (None, Some(group)) => {
            let other = if group.given == a { b } else { a };
            Err(Failure::wrong_call(format!(
                "{} is a group of a fleet and {other} is none: a group is compared with a group, as \
                 in `diskfacts compare fleet/@monday fleet/@today`",
                group.given
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_by_a_folder_and_its_name_behind_an_at_sign() {
        let of = |given| NamedGroup::of(given).ok().flatten();
        let known = of("results/fleet/@monday").unwrap();
        assert_eq!(known.folder, Path::new("results/fleet"));
        assert_eq!(known.group, "monday");
        assert_eq!(of("/@x").unwrap().folder, Path::new("/"));
        assert_eq!(of("./@x").unwrap().folder, Path::new("."));
        for run in ["last", "last~1", "@monday", "a@b", "x.dfrun", "@dir/x.json"] {
            assert_eq!(of(run), None, "{run}");
        }
        assert!(NamedGroup::of("fleet/@").is_err());
        assert!(NamedGroup::of("fleet/@a/b").is_err());
    }
}
