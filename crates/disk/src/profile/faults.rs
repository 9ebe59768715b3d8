//! The table `[faults]` of a profile.

use super::error::ProfileError;
use super::table::Table;
use crate::defects::{SlowZone, WeakSector};
use crate::device::Extent;
use crate::faults::Faults;
use crate::faults::neighbour::NeighbourParameters;
use crate::faults::stall::StallParameters;
use crate::faults::stuck::StuckParameters;
use crate::faults::throttle::{CreditParameters, HeatParameters, ThrottleParameters};

pub(super) fn read(mut table: Table<'_>, sector: u64) -> Result<Faults, ProfileError> {
    let slow_zones = table.tables("slow_zone", "[[faults.slow_zone]]")?;
    let weak_sectors = table.tables("weak_sector", "[[faults.weak_sector]]")?;
    let stuck = table.table("stuck", "[faults.stuck]")?;
    let stall = table.table("stall", "[faults.stall]")?;
    let credit = table.table("credit", "[faults.credit]")?;
    let heat = table.table("heat", "[faults.heat]")?;
    let neighbour = table.table("neighbour", "[faults.neighbour]")?;
    table.require(
        "heat",
        credit.is_none() || heat.is_none(),
        "a device has one limit, credit or heat; leave one out",
    )?;
    let throttle = match (credit, heat) {
        (Some(table), _) => Some(self::credit(table)?),
        (None, Some(table)) => Some(self::heat(table)?),
        (None, None) => None,
    };
    let faults = Faults {
        slow_zones: slow_zones
            .into_iter()
            .map(|table| slow_zone(table, sector))
            .collect::<Result<_, _>>()?,
        weak_sectors: weak_sectors
            .into_iter()
            .map(|table| weak_sector(table, sector))
            .collect::<Result<_, _>>()?,
        lying_flush: table.flag_or("lying_flush", false)?,
        member: table.number_or("member", 0)? as usize,
        stuck: stuck.map(self::stuck).transpose()?,
        stall: stall.map(self::stall).transpose()?,
        throttle,
        neighbour: neighbour
            .map(|table| self::neighbour(table, sector))
            .transpose()?,
        partition_start: table.size_or("partition_start", 0)?,
        partition_len: table.size("partition_len")?.unwrap_or(0),
    };
    for (key, bytes) in [
        ("partition_start", faults.partition_start),
        ("partition_len", faults.partition_len),
    ] {
        table.require(
            key,
            bytes.is_multiple_of(sector),
            "in whole logical sectors",
        )?;
    }
    table.finish()?;
    Ok(faults)
}

fn extent(table: &mut Table<'_>, sector: u64) -> Result<Extent, ProfileError> {
    let start = table.required_size("start")?;
    let end = table.required_size("end")?;
    table.require(
        "end",
        start < end && start.is_multiple_of(sector) && end.is_multiple_of(sector),
        "behind the start, both in whole logical sectors",
    )?;
    Ok(Extent { start, end })
}

fn slow_zone(mut table: Table<'_>, sector: u64) -> Result<SlowZone, ProfileError> {
    let zone = SlowZone {
        extent: extent(&mut table, sector)?,
        time_percent: table.required_number("time_percent")?,
    };
    table.require(
        "time_percent",
        (101..=100_000).contains(&zone.time_percent),
        "above 100 (the usual time) and at most 100000",
    )?;
    table.finish()?;
    Ok(zone)
}

fn weak_sector(mut table: Table<'_>, sector: u64) -> Result<WeakSector, ProfileError> {
    let offset = table.required_size("offset")?;
    let retries = table.required_number("retries")?;
    let readable = table.flag_or("readable", true)?;
    table.require(
        "offset",
        offset.is_multiple_of(sector),
        "the first byte of a logical sector",
    )?;
    table.require("retries", retries <= 10_000, "at most 10000 tries")?;
    table.finish()?;
    Ok(WeakSector {
        offset,
        retries: retries as u32,
        readable,
    })
}

fn stuck(mut table: Table<'_>) -> Result<StuckParameters, ProfileError> {
    let stuck = StuckParameters {
        every_commands: table.required_number("every_commands")?,
        for_ns: table.required_duration("for")?,
    };
    table.require("every_commands", stuck.every_commands > 0, "at least 1")?;
    table.finish()?;
    Ok(stuck)
}

fn stall(mut table: Table<'_>) -> Result<StallParameters, ProfileError> {
    let stall = StallParameters {
        every_ns: table.required_duration("every")?,
        for_ns: table.required_duration("for")?,
    };
    table.require(
        "for",
        stall.for_ns > 0 && stall.for_ns < stall.every_ns,
        "above 0 and shorter than every: a device that always stalls never answers",
    )?;
    table.finish()?;
    Ok(stall)
}

fn credit(mut table: Table<'_>) -> Result<ThrottleParameters, ProfileError> {
    let credit = CreditParameters {
        base_iops: table.required_number("base_iops")?,
        burst_iops: table.required_number("burst_iops")?,
        bucket: table.required_number("bucket")?,
        io_unit: table.required_size("io_unit")?,
        bytes_per_s: table.required_rate("throughput")?,
    };
    table.require(
        "base_iops",
        (1..=1_000_000).contains(&credit.base_iops),
        "between 1 and 1000000",
    )?;
    table.require(
        "burst_iops",
        (credit.base_iops..=10_000_000).contains(&credit.burst_iops),
        "not below base_iops, at most 10000000",
    )?;
    table.require(
        "bucket",
        (1..=1_000_000_000).contains(&credit.bucket),
        "between 1 and 1000000000 operations",
    )?;
    table.require("io_unit", credit.io_unit > 0, "at least 1 byte")?;
    table.finish()?;
    Ok(ThrottleParameters::Credit(credit))
}

fn heat(mut table: Table<'_>) -> Result<ThrottleParameters, ProfileError> {
    let heat = HeatParameters {
        cools_bytes_per_s: table.required_rate("cools")?,
        limit: table.required_size("limit")?,
        resume: table.required_size("resume")?,
        throttled_bytes_per_s: table.required_rate("throttled")?,
    };
    table.require(
        "resume",
        heat.resume < heat.limit,
        "below the limit, or it would never throttle",
    )?;
    table.finish()?;
    Ok(ThrottleParameters::Heat(heat))
}

fn neighbour(mut table: Table<'_>, sector: u64) -> Result<NeighbourParameters, ProfileError> {
    let is_bounded = table.has("start") || table.has("end");
    let extent = if is_bounded {
        extent(&mut table, sector)?
    } else {
        Extent { start: 0, end: 0 }
    };
    let neighbour = NeighbourParameters {
        every_ns: table.required_duration("every")?,
        len: table.required_size("len")?,
        writes: table.flag_or("writes", false)?,
        extent,
    };
    table.require("every", neighbour.every_ns > 0, "a time above 0")?;
    table.require(
        "len",
        neighbour.len > 0 && neighbour.len.is_multiple_of(sector),
        "whole logical sectors, at least one",
    )?;
    table.finish()?;
    Ok(neighbour)
}
