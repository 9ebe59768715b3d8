//! Groups of a fleet, where diskfacts was built without.

use super::NamedGroup;
use crate::exit::Failure;
use diskfacts_facts::compare::Demanded;
use diskfacts_record::Comparison;

pub(super) fn compared(
    a: &NamedGroup,
    _: &NamedGroup,
    _: f64,
    _: &[Demanded],
) -> Result<Comparison, Failure> {
    Err(Failure::wrong_call(format!(
        "{} is a group of a fleet, and this diskfacts was built without `fleet`, which reads \
         Parquet; the packages have it, and `cargo install --path crates/cli --features fleet` builds \
         it with it",
        a.given
    )))
}
