//! The `diskfacts` command from end to end: what is typed, what comes out, with
//! which exit code, and what it leaves behind. Nothing, but for its store.
//!
//! Each test has a store and folders of its own. Durations are short, because
//! none of these tests is about speed; those that hold a figure against a truth
//! ([`layers`], [`throttled`]) say how they know it.

#![cfg(target_os = "linux")]

mod advise;
mod around_trials;
mod bonnie;
mod budget;
mod case;
mod compare_command;
mod completions;
mod dd;
mod destroy;
mod devices_command;
mod direct_file;
mod existing;
mod explain_command;
mod export_command;
mod failing;
mod files;
#[cfg(feature = "fleet")]
mod fleet_command;
#[cfg(feature = "fleet")]
mod fleet_groups;
mod folders;
mod hosts_by_clock;
mod hosts_by_mpi;
mod hosts_by_mpi_clocks;
mod hosts_by_mpi_gather;
mod hosts_by_mpi_layouts;
mod hosts_by_mpi_refused;
#[cfg(feature = "fleet")]
mod hosts_of_two_folders;
mod import_command;
mod iostat_captured;
mod iostat_command;
mod iostat_live;
mod json;
mod layers;
mod limits;
mod live;
mod looped;
mod man_command;
mod membership;
mod memory;
mod nobody;
mod observing;
mod over_time;
mod own_documents;
mod plan_files;
mod plans_command;
mod pty;
mod readahead_command;
mod refusals;
mod report_command;
mod runs_called;
mod runs_files;
mod runs_shared;
mod serve_command;
mod settings;
mod settings_killed;
mod settings_lost;
mod settings_reattached;
mod settings_support;
mod settings_trust;
mod settings_unseen;
mod settle;
mod sim_command;
mod simulated;
mod standard_output;
mod stopping;
mod store;
mod streams;
mod support;
mod terminal;
mod text;
mod throttled;
mod trace_support;
mod tune;
mod uses;
mod watch;
mod write_matrix;
mod wrong_calls;
