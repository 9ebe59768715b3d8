//! `diskfacts fleet`, where it was built without.

use crate::args::{Common, FleetArgs};
use crate::exit::{Exit, Failure};

pub(crate) fn run(_: &FleetArgs, _: &Common) -> Result<Exit, Failure> {
    Err(Failure::wrong_call(
        "this diskfacts was built without `fleet`, which reads and writes Parquet; `cargo install \
         diskfacts --features fleet` builds it with it, and the packages of a release have it",
    ))
}
