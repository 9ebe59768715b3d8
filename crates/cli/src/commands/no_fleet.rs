//! `diskfacts fleet`, where it was built without.

use crate::args::{Common, FleetArgs};
use crate::exit::{Exit, Failure};

pub(crate) fn run(_: &FleetArgs, _: &Common) -> Result<Exit, Failure> {
    Err(Failure::wrong_call(
        "this diskfacts was built without `fleet`, which reads and writes Parquet; the packages \
         have it, and `cargo install --path crates/cli --features fleet` builds it with it",
    ))
}
