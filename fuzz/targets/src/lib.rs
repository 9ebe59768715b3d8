//! What the fuzz targets do with an input.
//!
//! Each target is a module with one function `run` from bytes to nothing, which
//! panics when the parser is wrong: when it panics itself, and also when what
//! it read does not survive being written and read again. libFuzzer calls it
//! through a program in `fuzz/fuzz_targets`; the test `replay` calls it with
//! every input in `fuzz/corpus`, and with those inputs cut short and damaged.
//!
//! A new target is a module here, a line in [`TARGETS`], a program of three
//! lines, its `[[bin]]` in `fuzz/Cargo.toml`, and a folder of real inputs.

pub mod bursts;
pub mod cgroup;
pub mod cpu_quota;
pub mod cpuinfo;
pub mod dd_operands;
pub mod dfrun;
pub mod disk_profile;
pub mod diskstats;
pub mod dm_status;
pub mod exports;
pub mod file_locks;
pub mod fleet_file;
pub mod gang_frame;
pub mod group_memory;
pub mod histogram;
pub mod import_document;
pub mod io_limits;
pub mod journal_counts;
pub mod latency_over_time;
mod lines;
pub mod lines_bonnie;
pub mod lines_dd;
pub mod lines_hdparm;
pub mod lines_iostat;
pub mod lines_readahead;
pub mod lines_stride;
pub mod lines_write_matrix;
pub mod md_attributes;
pub mod meminfo;
pub mod mountinfo;
pub mod mountstats;
pub mod os_release;
pub mod plan_file;
pub mod pressure;
pub mod process_io;
pub mod process_stat;
pub mod process_status;
mod refusal;
pub mod run_delay;
pub mod run_json;
pub mod settings_journal;
pub mod signatures;
pub mod smaps;
pub mod stat_cpu;
pub mod storage_descriptor;
pub mod swaps;
pub mod sysfs_value;
pub mod trace_format;
pub mod trace_header_page;
pub mod trace_page;
pub mod trace_stats;
pub mod trace_text;
pub mod unit_serial;
pub mod units;
pub mod uptime;
pub mod vmstat;
pub mod writer;

/// A parser and what holds of it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the program and of the folder of inputs.
    pub name: &'static str,
    /// Panics when the parser is wrong about an input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "bursts",
        run: bursts::run,
    },
    Target {
        name: "cgroup",
        run: cgroup::run,
    },
    Target {
        name: "cpu_quota",
        run: cpu_quota::run,
    },
    Target {
        name: "cpuinfo",
        run: cpuinfo::run,
    },
    Target {
        name: "dd_operands",
        run: dd_operands::run,
    },
    Target {
        name: "dfrun",
        run: dfrun::run,
    },
    Target {
        name: "disk_profile",
        run: disk_profile::run,
    },
    Target {
        name: "diskstats",
        run: diskstats::run,
    },
    Target {
        name: "dm_status",
        run: dm_status::run,
    },
    Target {
        name: "exports",
        run: exports::run,
    },
    Target {
        name: "file_locks",
        run: file_locks::run,
    },
    Target {
        name: "fleet_file",
        run: fleet_file::run,
    },
    Target {
        name: "gang_frame",
        run: gang_frame::run,
    },
    Target {
        name: "group_memory",
        run: group_memory::run,
    },
    Target {
        name: "histogram",
        run: histogram::run,
    },
    Target {
        name: "import_document",
        run: import_document::run,
    },
    Target {
        name: "io_limits",
        run: io_limits::run,
    },
    Target {
        name: "journal_counts",
        run: journal_counts::run,
    },
    Target {
        name: "latency_over_time",
        run: latency_over_time::run,
    },
    Target {
        name: "lines_bonnie",
        run: lines_bonnie::run,
    },
    Target {
        name: "lines_dd",
        run: lines_dd::run,
    },
    Target {
        name: "lines_hdparm",
        run: lines_hdparm::run,
    },
    Target {
        name: "lines_iostat",
        run: lines_iostat::run,
    },
    Target {
        name: "lines_readahead",
        run: lines_readahead::run,
    },
    Target {
        name: "lines_stride",
        run: lines_stride::run,
    },
    Target {
        name: "lines_write_matrix",
        run: lines_write_matrix::run,
    },
    Target {
        name: "md_attributes",
        run: md_attributes::run,
    },
    Target {
        name: "meminfo",
        run: meminfo::run,
    },
    Target {
        name: "mountinfo",
        run: mountinfo::run,
    },
    Target {
        name: "mountstats",
        run: mountstats::run,
    },
    Target {
        name: "os_release",
        run: os_release::run,
    },
    Target {
        name: "plan_file",
        run: plan_file::run,
    },
    Target {
        name: "pressure",
        run: pressure::run,
    },
    Target {
        name: "process_io",
        run: process_io::run,
    },
    Target {
        name: "process_stat",
        run: process_stat::run,
    },
    Target {
        name: "process_status",
        run: process_status::run,
    },
    Target {
        name: "run_delay",
        run: run_delay::run,
    },
    Target {
        name: "run_json",
        run: run_json::run,
    },
    Target {
        name: "settings_journal",
        run: settings_journal::run,
    },
    Target {
        name: "signatures",
        run: signatures::run,
    },
    Target {
        name: "smaps",
        run: smaps::run,
    },
    Target {
        name: "stat_cpu",
        run: stat_cpu::run,
    },
    Target {
        name: "storage_descriptor",
        run: storage_descriptor::run,
    },
    Target {
        name: "swaps",
        run: swaps::run,
    },
    Target {
        name: "sysfs_value",
        run: sysfs_value::run,
    },
    Target {
        name: "trace_format",
        run: trace_format::run,
    },
    Target {
        name: "trace_header_page",
        run: trace_header_page::run,
    },
    Target {
        name: "trace_page",
        run: trace_page::run,
    },
    Target {
        name: "trace_stats",
        run: trace_stats::run,
    },
    Target {
        name: "trace_text",
        run: trace_text::run,
    },
    Target {
        name: "unit_serial",
        run: unit_serial::run,
    },
    Target {
        name: "units",
        run: units::run,
    },
    Target {
        name: "uptime",
        run: uptime::run,
    },
    Target {
        name: "vmstat",
        run: vmstat::run,
    },
    Target {
        name: "writer",
        run: writer::run,
    },
];
