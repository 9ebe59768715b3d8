//! What nearly every limiter is written with.

pub(super) use super::candidate::{Candidate, Standing, cause};
pub(super) use super::limiter::Limiter;
pub(super) use crate::experiment::{Settling, Stages};
pub(super) use crate::prelude::*;
pub(super) use crate::stage_facts::Need::*;
pub(super) use diskfacts_record::Quantity::{Iops, Throughput};
