//! The tables `[raid]`, `[network]` and `[host]` of a profile.

use super::error::ProfileError;
use super::table::Table;
use crate::host::{BlockParameters, HostParameters, Scheduler};
use crate::network::NetworkParameters;
use crate::raid::Level;

/// An array of equal members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaidParameters {
    /// RAID level.
    pub level: Level,
    /// Number of members.
    pub members: usize,
    /// Bytes in a row on one member.
    pub chunk: u64,
    /// How long a write to a part of a stripe waits for the rest, ns.
    pub gather_ns: u64,
    /// By how many millionths each spindle turns slower than the one before: no two
    /// motors turn alike. 0 for an ideal array.
    pub spindle_ppm: u64,
}

const LEVELS: [(&str, Level); 5] = [
    ("raid0", Level::Stripe),
    ("raid1", Level::Mirror),
    ("raid10", Level::StripedMirrors),
    ("raid5", Level::Parity),
    ("raid6", Level::DoubleParity),
];
const MEMBERS_MAX: usize = 256;
/// A motor that is further off than this would fail its data sheet (0.1 to 0.5 %).
const SPINDLE_PPM_MAX: u64 = 5000;
/// mdadm's default before version 3.1.
const CHUNK: u64 = 64 << 10;

pub(super) fn raid(mut table: Table<'_>) -> Result<RaidParameters, ProfileError> {
    let level = table.required_choice("level", &LEVELS)?;
    let members = table.required_number("members")? as usize;
    let least = level.members_min();
    table.require(
        "members",
        members >= least,
        &format!("RAID-{} needs at least {least}", level.number()),
    )?;
    table.require(
        "members",
        members <= MEMBERS_MAX,
        &format!("at most {MEMBERS_MAX} members"),
    )?;
    table.require(
        "members",
        !level.is_paired() || members.is_multiple_of(2),
        "RAID-10 pairs its members: take an even number",
    )?;
    let chunk = if level == Level::Mirror {
        let given = table.size("chunk")?;
        table.require(
            "chunk",
            given.is_none(),
            "a mirror is not cut into chunks; leave it out",
        )?;
        CHUNK
    } else {
        table.size_or("chunk", CHUNK)?
    };
    table.require(
        "chunk",
        chunk.is_power_of_two() && (4096..=1 << 26).contains(&chunk),
        "a power of two between 4 KiB and 64 MiB",
    )?;
    let gather_ns = if level.parities() > 0 {
        table.duration_or("gather", 0)?
    } else {
        table.duration("gather")?.unwrap_or(0)
    };
    table.require(
        "gather",
        gather_ns == 0 || level.parities() > 0,
        "only levels with parity gather stripes; leave it out",
    )?;
    let spindle_ppm = table.number_or("spindle_ppm", 0)?;
    table.require(
        "spindle_ppm",
        spindle_ppm <= SPINDLE_PPM_MAX,
        "at most 5000: motors keep their speed within 0.5 %",
    )?;
    table.finish()?;
    Ok(RaidParameters {
        level,
        members,
        chunk,
        gather_ns,
        spindle_ppm,
    })
}

pub(super) fn network(mut table: Table<'_>) -> Result<NetworkParameters, ProfileError> {
    let network = NetworkParameters {
        server_bytes_per_s: table.required_rate("server")?,
        link_bytes_per_s: table.required_rate("link")?,
        client_request: table.required_size("client_request")?,
        server_window: table.required_size("server_window")?,
        unoverlapped: table.required_size("unoverlapped")?,
        round_trip_ns: table.duration_or("round_trip", 0)?,
    };
    let is_page = |bytes: u64| bytes > 0 && bytes.is_multiple_of(4096);
    table.require(
        "client_request",
        is_page(network.client_request),
        "whole pages of 4 KiB, at least one",
    )?;
    table.require(
        "server_window",
        is_page(network.server_window),
        "whole pages of 4 KiB, at least one",
    )?;
    table.finish()?;
    Ok(network)
}

/// Most that an fsync writes besides the data, bytes: the largest journal that
/// mke2fs makes by itself (`ext2fs_default_journal_size` of e2fsprogs 1.47).
const JOURNAL_MAX: u64 = 1 << 30;

pub(super) fn host(mut table: Table<'_>) -> Result<HostParameters, ProfileError> {
    let plain = HostParameters::linux();
    let host = HostParameters {
        call_ns: table.duration_or("call", plain.call_ns)?,
        copy_bytes_per_s: table.rate_or("copy", plain.copy_bytes_per_s)?,
        far_copy_bytes_per_s: table.rate_or("far_copy", plain.far_copy_bytes_per_s)?,
        near_bytes: table.size_or("near", plain.near_bytes)?,
        filesystem_write_bytes_per_s: table
            .rate_or("filesystem_write", plain.filesystem_write_bytes_per_s)?,
        filesystem_read_bytes_per_s: table
            .rate_or("filesystem_read", plain.filesystem_read_bytes_per_s)?,
        memory: table.size_or("memory", plain.memory)?,
        read_ahead: table.size_or("read_ahead", plain.read_ahead)?,
        dirty_background: table.size_or("dirty_background", plain.dirty_background)?,
        dirty_limit: table.size_or("dirty_limit", plain.dirty_limit)?,
        dirty_expire_ns: table.duration_or("dirty_expire", plain.dirty_expire_ns)?,
        write_back_depth: table.number_or("write_back_depth", plain.write_back_depth as u64)?
            as usize,
        journal_bytes: table.size_or("journal", plain.journal_bytes)?,
        block: BlockParameters {
            scheduler: scheduler(&mut table)?,
            max_request: table.size_or("max_request", plain.block.max_request)?,
            depth: table.number_or("depth", plain.block.depth as u64)? as usize,
        },
    };
    table.require(
        "max_request",
        host.block.max_request >= 4096,
        "at least a page of 4 KiB",
    )?;
    table.require(
        "journal",
        host.journal_bytes <= JOURNAL_MAX,
        "at most 1 GiB",
    )?;
    table.require("depth", host.block.depth > 0, "at least 1")?;
    table.require("write_back_depth", host.write_back_depth > 0, "at least 1")?;
    table.require(
        "memory",
        host.memory >= 1 << 20,
        "at least 1 MiB of page cache",
    )?;
    table.require(
        "dirty_limit",
        host.dirty_limit > host.dirty_background && host.dirty_limit <= host.memory,
        "above dirty_background, and not above memory",
    )?;
    table.finish()?;
    Ok(host)
}

fn scheduler(table: &mut Table<'_>) -> Result<Scheduler, ProfileError> {
    let schedulers = [
        ("deadline", Scheduler::deadline()),
        ("none", Scheduler::Noop),
        ("cfq", Scheduler::cfq()),
    ];
    table.choice_or_first("scheduler", &schedulers)
}
