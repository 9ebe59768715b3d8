//! The table `[hdd]` of a profile.

use super::error::ProfileError;
use super::table::Table;
use crate::hdd::{
    DestageOrder, HddParameters, ReadAheadParameters, SeekParameters, WriteCacheParameters,
    ZoneRate,
};

/// Zones that a smooth fall of the rate is cut into, if the profile does not say.
const ZONES: u64 = 64;
/// Entries of the write cache that are looked at for the nearest, if the
/// profile does not say.
const WINDOW: u64 = 64;
/// Most zones.
const ZONES_MAX: u64 = 4096;

pub(super) fn read(mut table: Table<'_>) -> Result<HddParameters, ProfileError> {
    let capacity = table.required_size("capacity")?;
    let logical_sector = table.size_or("logical_sector", 512)?;
    let physical_sector = table.size_or("physical_sector", logical_sector)?;
    check_sectors(&table, capacity, logical_sector, physical_sector)?;
    let rpm = table.required_float("rpm", "7200")?;
    table.require(
        "rpm",
        (1.0..=100_000.0).contains(&rpm),
        "a disk must turn: between 1 and 100000 revolutions per minute, 7200 for example",
    )?;
    let zones = zones(&mut table, capacity, logical_sector)?;
    let parameters = HddParameters {
        capacity,
        logical_sector,
        physical_sector,
        revolution_ns: (60e9 / rpm + 0.5) as u64,
        zones,
        heads: table.required_number("heads")?,
        tracks_per_head: table.number_or("tracks_per_head", 1)?,
        track_skew_ns: table.required_duration("track_skew")?,
        head_skew_ns: table.required_duration("head_skew")?,
        head_switch_ns: table.required_duration("head_switch")?,
        seek: seek(table.required_table("seek", "[hdd.seek]")?)?,
        positioning_overhead_ns: table.required_duration("positioning_overhead")?,
        command_overhead_ns: table.required_duration("command_overhead")?,
        bus_bytes_per_s: table.required_rate("bus")?,
        read_ahead: read_ahead(table.required_table("read_ahead", "[hdd.read_ahead]")?)?,
        write_cache: write_cache(table.required_table("write_cache", "[hdd.write_cache]")?)?,
        queue_depth: table.number_or("queue_depth", 32)? as usize,
        age_limit_ns: table.duration_or("age_limit", 500_000_000)?,
    };
    table.require(
        "heads",
        (1..=64).contains(&parameters.heads),
        "between 1 and 64 recording surfaces",
    )?;
    table.require(
        "tracks_per_head",
        (1..=65_536).contains(&parameters.tracks_per_head),
        "between 1 and 65536 tracks",
    )?;
    for (key, skew_ns) in [
        ("track_skew", parameters.track_skew_ns),
        ("head_skew", parameters.head_skew_ns),
    ] {
        table.require(
            key,
            skew_ns < parameters.revolution_ns,
            "a skew of a revolution or more is no skew; it is an angle, written as a time",
        )?;
    }
    table.require(
        "queue_depth",
        (1..=32).contains(&parameters.queue_depth),
        "between 1 (no command queueing) and 32 (SATA's limit)",
    )?;
    table.finish()?;
    Ok(parameters)
}

fn check_sectors(
    table: &Table<'_>,
    capacity: u64,
    logical_sector: u64,
    physical_sector: u64,
) -> Result<(), ProfileError> {
    table.require(
        "logical_sector",
        logical_sector.is_power_of_two() && (512..=65_536).contains(&logical_sector),
        "a power of two between 512 bytes and 64 KiB",
    )?;
    table.require(
        "physical_sector",
        physical_sector.is_power_of_two() && (logical_sector..=65_536).contains(&physical_sector),
        "a power of two, not below the logical sector and not above 64 KiB",
    )?;
    table.require(
        "capacity",
        (1 << 20..=1 << 60).contains(&capacity) && capacity.is_multiple_of(logical_sector),
        "between 1 MiB and 1 EiB, in whole logical sectors",
    )
}

/// The zones: listed, or from the rate at the rim and its fall.
fn zones(table: &mut Table<'_>, capacity: u64, sector: u64) -> Result<Vec<ZoneRate>, ProfileError> {
    let listed = table.tables("zone", "[[hdd.zone]]")?;
    if !listed.is_empty() {
        return listed_zones(listed, capacity, sector);
    }
    let outer = table.required_rate("outer_rate")?;
    let fall = table.float_or("zone_fall", 0.0)?;
    table.require(
        "zone_fall",
        (0.0..0.99).contains(&fall),
        "the part of the squared rate that is lost from the rim to the inside: 0 or more, below 0.99",
    )?;
    let count = if fall == 0.0 {
        1
    } else {
        table.number_or("zones", ZONES)?
    };
    table.require(
        "zones",
        (1..=ZONES_MAX).contains(&count),
        "between 1 and 4096 zones",
    )?;
    // Constant areal density: bytes per track grow with the radius, the area
    // inside a radius with its square, so the rate falls with the square root
    // of what lies outside. A zone has the rate of its middle.
    let zone = |index: u64| {
        let middle = (2 * index + 1) as f64 / (2 * count) as f64;
        ZoneRate {
            start: capacity / count * index / sector * sector,
            bytes_per_s: (outer as f64 * (1.0 - fall * middle).sqrt()) as u64,
        }
    };
    Ok((0..count).map(zone).collect())
}

fn listed_zones(
    listed: Vec<Table<'_>>,
    capacity: u64,
    sector: u64,
) -> Result<Vec<ZoneRate>, ProfileError> {
    let mut zones: Vec<ZoneRate> = Vec::new();
    let mut last_end: Option<u64> = None;
    for mut table in listed {
        let start = table.required_size("start")?;
        let end = table.size("end")?;
        let bytes_per_s = table.required_rate("rate")?;
        table.require(
            "start",
            start.is_multiple_of(sector) && start < capacity,
            "whole sectors, within the capacity",
        )?;
        table.require(
            "end",
            end.is_none_or(|end| end > start && end <= capacity),
            "behind the start, within the capacity",
        )?;
        if let Some(last) = zones.last() {
            table.require(
                "start",
                start > last.start && last_end.is_none_or(|end| start >= end),
                "zones overlap: each must start where the one before ends",
            )?;
            table.require(
                "start",
                last_end.is_none_or(|end| start <= end),
                "there is a gap: each zone must start where the one before ends",
            )?;
        } else {
            table.require("start", start == 0, "the first zone starts at 0")?;
        }
        table.finish()?;
        last_end = end;
        zones.push(ZoneRate { start, bytes_per_s });
    }
    Ok(zones)
}

fn seek(mut table: Table<'_>) -> Result<SeekParameters, ProfileError> {
    let seek = SeekParameters {
        base_ns: table.required_duration("base")?,
        factor_ns: table.required_duration("factor")?,
        exponent: table.required_float("exponent", "0.3")?,
        knee_cylinders: table.required_number("knee")?,
        full_stroke_ns: table.required_duration("full_stroke")?,
    };
    table.require(
        "exponent",
        (0.0..=1.0).contains(&seek.exponent),
        "between 0 and 1: an arm that accelerates does not take longer per cylinder over longer ways",
    )?;
    table.require(
        "knee",
        (1..=100_000).contains(&seek.knee_cylinders),
        "between 1 and 100000 cylinders",
    )?;
    table.require(
        "full_stroke",
        seek.full_stroke_ns >= seek.base_ns && seek.full_stroke_ns <= 1_000_000_000,
        "not below the base and not above 1 s",
    )?;
    table.finish()?;
    Ok(seek)
}

fn read_ahead(mut table: Table<'_>) -> Result<ReadAheadParameters, ProfileError> {
    let horizon = table.required_float("horizon_tracks", "1.1")?;
    let read_ahead = ReadAheadParameters {
        segment_bytes: table.required_size("segment")?,
        segments: table.number_or("segments", 0)? as usize,
        horizon_millitracks: (horizon.clamp(0.0, 1000.0) * 1000.0 + 0.5) as u64,
        resume_ns: table.duration_or("resume", 0)?,
        resume_below: table.size_or("resume_below", 0)?,
    };
    table.require(
        "horizon_tracks",
        (0.0..=1000.0).contains(&horizon),
        "between 0 and 1000 tracks",
    )?;
    table.require(
        "segments",
        read_ahead.segments <= 1024,
        "at most 1024 segments",
    )?;
    table.require(
        "resume",
        read_ahead.resume_ns < 1_000_000,
        "below 1 ms: it is paid for every small read",
    )?;
    table.finish()?;
    Ok(read_ahead)
}

fn write_cache(mut table: Table<'_>) -> Result<WriteCacheParameters, ProfileError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Order {
        Fifo,
        Nearest,
    }
    let orders = [("fifo", Order::Fifo), ("nearest", Order::Nearest)];
    let enabled = table.flag_or("enabled", true)?;
    let protected = table.flag_or("protected", false)?;
    let capacity = table.required_size("size")?;
    let threshold = table.required_size("threshold")?;
    let idle_ns = table.required_duration("idle")?;
    let order = table.required_choice("order", &orders)?;
    let window = match order {
        Order::Fifo => table.number("window")?,
        Order::Nearest => Some(table.number_or("window", WINDOW)?),
    };
    table.require(
        "size",
        (65_536..=1 << 40).contains(&capacity),
        "between 64 KiB and 1 TiB; write enabled = false for a cache that is off",
    )?;
    table.require(
        "threshold",
        threshold > 0 && threshold <= capacity,
        "above 0 and not above the size",
    )?;
    table.require(
        "window",
        window.is_none_or(|window| (1..=4096).contains(&window))
            && (window.is_none() || order == Order::Nearest),
        "between 1 and 4096, and only with order = \"nearest\"",
    )?;
    table.finish()?;
    Ok(WriteCacheParameters {
        enabled,
        protected,
        capacity,
        threshold,
        idle_ns,
        order: match order {
            Order::Fifo => DestageOrder::Fifo,
            Order::Nearest => DestageOrder::Nearest {
                window: window.unwrap_or(WINDOW) as usize,
            },
        },
    })
}
