//! `/proc/diskstats` and `/sys/block/*/stat`.

use crate::refusal;
use diskfacts_host::parse::diskstats::{
    Diskstats, DiskstatsLine, parse_any_stat, parse_diskstats, parse_stat,
};

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_diskstats(input) {
        Ok(lines) => {
            let text: String = lines.iter().map(print).collect();
            assert_eq!(parse_diskstats(text.as_bytes()), Ok(lines));
        }
        Err(error) => refusal::points_into(input, &error),
    }
    match parse_stat(input) {
        Ok(stat) => assert_eq!(parse_stat(counters(&stat).as_bytes()), Ok(stat)),
        Err(error) => refusal::points_into(input, &error),
    }
    match parse_any_stat(input) {
        Ok((stat, requests_only)) => {
            let text = print_stat(&stat, requests_only);
            assert_eq!(parse_any_stat(text.as_bytes()), Ok((stat, requests_only)));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}

fn print(line: &DiskstatsLine) -> String {
    let DiskstatsLine {
        major,
        minor,
        name,
        stat,
        requests_only,
    } = line;
    let stat = print_stat(stat, *requests_only);
    format!("{major:4} {minor:7} {name} {stat}\n")
}

fn print_stat(stat: &Diskstats, requests_only: bool) -> String {
    if requests_only {
        format!(
            "{} {} {} {}",
            stat.reads, stat.read_sectors, stat.writes, stat.write_sectors
        )
    } else {
        counters(stat)
    }
}

fn counters(stat: &Diskstats) -> String {
    let mut columns = vec![
        stat.reads,
        stat.read_merges,
        stat.read_sectors,
        stat.read_ms,
        stat.writes,
        stat.write_merges,
        stat.write_sectors,
        stat.write_ms,
        stat.in_flight,
        stat.busy_ms,
        stat.weighted_ms,
    ];
    if let Some(discard) = stat.discard {
        columns.extend([discard.count, discard.merges, discard.sectors, discard.ms]);
    }
    if let Some(flush) = stat.flush {
        columns.extend([flush.count, flush.ms]);
    }
    columns
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}
