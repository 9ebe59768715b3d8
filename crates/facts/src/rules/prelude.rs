//! What nearly every rule is written with.

pub(crate) use super::found::Found;
pub(crate) use super::rule::{Check, Rule, warning_if};
pub(crate) use super::shown::{Seen, Shown, StageCheck};
pub(crate) use crate::context::Context;
pub(crate) use crate::layers::SERVED_FROM_CACHE;
pub(crate) use crate::prelude::*;
pub(crate) use crate::simulated::{edit_profile, planted};
pub(crate) use crate::stage_facts::Need::{self, *};
pub(crate) use crate::stages::Stage;
pub(crate) use crate::words::{
    device_list, edit_stages, if_any, in_lines, longer, lower_first, measure, measure_longer,
    measure_with, names, of_document, stage_list, upper_first, when,
};
pub(crate) use diskfacts_plan::{Pattern, Stop, Workload};
pub(crate) use diskfacts_record::{Run, Severity, Stack};
