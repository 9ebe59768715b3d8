//! Tests of what the kernel tells: captured trees of other machines, images in
//! memory, and this machine itself, with loop devices where that needs root.
#![cfg(target_os = "linux")]

mod activity;
mod aligned;
mod alone;
mod block_layer;
mod captured_health;
mod captured_machines;
mod captured_stacks;
mod captured_usage;
mod control_group;
mod counters;
mod file_layout;
mod images;
mod known_latency;
mod limits;
mod live_stacks;
mod live_usage;
mod made_by_tools;
mod observers;
mod page_cache;
mod parsers;
mod read_ahead;
mod read_ahead_live;
mod settings_live;
mod survivors;
mod trace_events;
mod trace_pages;
mod tree;
