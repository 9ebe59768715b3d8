//! The table `[ssd]` of a profile.

use super::error::ProfileError;
use super::table::Table;
use crate::ssd::{SlcParameters, SsdParameters, Wear};

pub(super) fn read(mut table: Table<'_>) -> Result<SsdParameters, ProfileError> {
    let wears = [("fresh", Wear::Fresh), ("sustained", Wear::Sustained)];
    let slc = table.table("slc", "[ssd.slc]")?.map(slc).transpose()?;
    let parameters = SsdParameters {
        capacity: table.required_size("capacity")?,
        logical_sector: table.size_or("logical_sector", 512)?,
        mapping_unit: table.size_or("mapping_unit", 4096)?,
        channels: table.required_number("channels")?,
        dies_per_channel: table.required_number("dies_per_channel")?,
        page: table.required_size("page")?,
        pages_per_block: table.required_number("pages_per_block")?,
        spare_percent: table.required_number("spare_percent")?,
        read_ns: table.required_duration("read")?,
        program_ns: table.required_duration("program")?,
        erase_ns: table.required_duration("erase")?,
        suspend_ns: table.duration("suspend")?,
        channel_bytes_per_s: table.required_rate("channel")?,
        link_bytes_per_s: table.required_rate("link")?,
        command_ns: table.required_duration("command")?,
        command_interval_ns: table.required_duration("command_interval")?,
        write_buffer: table.required_size("write_buffer")?,
        power_loss_protection: table.flag_or("power_loss_protection", false)?,
        flush_ns: table.required_duration("flush")?,
        slc,
        queue_depth: u32::try_from(table.required_number("queue_depth")?).unwrap_or(u32::MAX),
        wear: table.choice_or_first("wear", &wears)?,
    };
    check(&table, &parameters)?;
    table.finish()?;
    Ok(parameters)
}

fn check(table: &Table<'_>, ssd: &SsdParameters) -> Result<(), ProfileError> {
    let power = |bytes: u64, least: u64| bytes.is_power_of_two() && bytes >= least;
    table.require(
        "logical_sector",
        power(ssd.logical_sector, 512) && ssd.logical_sector <= 65_536,
        "a power of two between 512 bytes and 64 KiB",
    )?;
    table.require(
        "mapping_unit",
        power(ssd.mapping_unit, ssd.logical_sector) && ssd.mapping_unit <= 1 << 20,
        "a power of two, not below the logical sector and not above 1 MiB",
    )?;
    table.require(
        "page",
        ssd.page >= ssd.mapping_unit
            && ssd.page.is_multiple_of(ssd.mapping_unit)
            && ssd.page <= 1 << 24,
        "whole mapping units, at most 16 MiB (what a die programs at once, all planes)",
    )?;
    for (key, count, most) in [
        ("channels", ssd.channels, 128),
        ("dies_per_channel", ssd.dies_per_channel, 128),
        ("pages_per_block", ssd.pages_per_block, 65_536),
    ] {
        table.require(
            key,
            (1..=most).contains(&count),
            &format!("between 1 and {most}"),
        )?;
    }
    table.require(
        "capacity",
        ssd.capacity >= 1 << 20 && ssd.capacity.is_multiple_of(ssd.mapping_unit),
        "at least 1 MiB, in whole mapping units",
    )?;
    table.require(
        "spare_percent",
        (1..=400).contains(&ssd.spare_percent),
        "between 1 and 400: without spare flash nothing could be collected",
    )?;
    let units = ssd.capacity / ssd.mapping_unit;
    let with_spare = u128::from(units) * u128::from(100 + ssd.spare_percent) / 100;
    table.require(
        "capacity",
        with_spare + 8 * u128::from(ssd.units_per_superblock()) < u128::from(u32::MAX - 2),
        "more mapping units than 32 bits can number; take a larger mapping_unit, as large drives do",
    )?;
    table.require(
        "pages_per_block",
        units / ssd.units_per_superblock() < 1 << 20,
        "more than a million superblocks; take more pages, dies or channels",
    )?;
    table.require(
        "queue_depth",
        (1..=65_536).contains(&ssd.queue_depth),
        "between 1 and 65536 (NVMe's limit; 32 for SATA)",
    )?;
    table.require(
        "read",
        ssd.read_ns > 0,
        "reading flash takes time, 50us for example",
    )?;
    table.require(
        "program",
        ssd.program_ns > 0,
        "programming takes time, 400us for example",
    )
}

fn slc(mut table: Table<'_>) -> Result<SlcParameters, ProfileError> {
    let slc = SlcParameters {
        capacity: table.required_size("size")?,
        program_ns: table.required_duration("program")?,
        fold_bytes_per_s: table.required_rate("fold")?,
    };
    table.finish()?;
    Ok(slc)
}
