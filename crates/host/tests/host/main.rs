//! Tests of what the kernel tells: captured trees of other machines, images in
//! memory, and this machine itself, with loop devices where that needs root.
#![cfg(target_os = "linux")]

mod activity;
mod alone;
mod captured_machines;
mod captured_stacks;
mod captured_usage;
mod counters;
mod file_layout;
mod images;
mod limits;
mod live_stacks;
mod live_usage;
mod made_by_tools;
mod observers;
mod page_cache;
mod parsers;
mod settings_live;
#[cfg(target_os = "linux")]
mod trace_events;
mod tree;
