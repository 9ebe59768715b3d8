//! Real situations, each planted on this machine with a knob of its own, and what is said
//! of it: the cause is named first, and in the control, which differs by the knob alone, it
//! is not named at all.
//!
//! That the situation is there is proved first by a counter that diskfacts does not read, or
//! by what the test itself made: a log of the device, a counter of the control group, the
//! extents of a file. Where a machine does not let it come about, the test is skipped, and
//! says so.

#![cfg(target_os = "linux")]

mod alone;
mod beside;
mod blocked;
#[path = "../cli/case.rs"]
mod case;
mod device;
mod files;
mod held_back;
mod machine;
mod memory;
mod requests;
mod said;
mod synced;
mod volumes;
