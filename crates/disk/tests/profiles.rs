//! Profiles: the built-in ones are read, impossible ones refused with the reason.

mod drives;

use diskfacts_disk::profile::{
    Filled, build, build_disk, parse, profile, profile_text, profiles, read,
};
use diskfacts_disk::{Device, Kind, Request, device};
use std::fmt::Write as _;

#[test]
fn every_built_in_profile_is_read_and_built() {
    for name in profiles() {
        let text = profile_text(name).unwrap();
        let read = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.name, name);
        assert!(!read.about.is_empty(), "{name}");
        let disk = build_disk(&read, 1);
        assert_eq!(
            disk.capacity(),
            read.capacity() - read.faults.partition_start
        );
        let mut whole = build(&read, 1);
        let request = Request::read(7, 0, 4096);
        let done = device::run_one(&mut *whole, 0, &request, &mut Vec::new());
        assert_eq!((done.tag, done.kind, done.result), (7, Kind::Read, Ok(())));
    }
}

#[test]
fn every_parameter_of_a_built_in_profile_says_where_it_comes_from_or_its_table_does() {
    // What needs no source: names, defaults that are no figures, and what the
    // interface's standard says.
    const PLAIN: [&str; 5] = ["name", "about", "wear", "window", "queue_depth"];
    for name in profiles() {
        let text = profile_text(name).unwrap();
        let mut is_table_marked = false;
        for (number, line) in (1..).zip(text.lines()) {
            let key = line.split(" = ").next().unwrap_or("").trim();
            if line.starts_with('[') {
                is_table_marked = line.contains('#');
            } else if line.contains(" = ") && !line.starts_with('#') && !PLAIN.contains(&key) {
                assert!(
                    is_table_marked || line.contains('#'),
                    "{name}, line {number}: {line}"
                );
            }
        }
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let error = profile("hdd-7200-1bt").unwrap_err().to_string();
    assert!(error.contains("did you mean 'hdd-7200-1tb'?"), "{error}");
}

/// The text of a profile with one line changed or added.
fn changed(name: &str, key: &str, line: &str) -> String {
    let mut text = String::new();
    let mut is_changed = false;
    for old in profile_text(name).unwrap().lines() {
        if !is_changed && old.split(" = ").next().map(str::trim) == Some(key) {
            is_changed = true;
            writeln!(text, "{line}").unwrap();
        } else {
            writeln!(text, "{old}").unwrap();
        }
    }
    assert!(is_changed, "{name} has no {key}");
    text
}

fn refusal(name: &str, key: &str, line: &str) -> String {
    parse(&changed(name, key, line)).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let disk = "hdd-7200-1tb";
    for (name, key, line, reason) in [
        (disk, "rpm", "rpm = 0", "a disk must turn"),
        (
            disk,
            "rpm",
            "rpm = \"fast\"",
            "a number without quotes is needed",
        ),
        (disk, "heads", "heads = 0", "between 1 and 64"),
        (
            disk,
            "outer_rate",
            "outer_rate = \"0MB/s\"",
            "would never end",
        ),
        (disk, "capacity", "capacity = \"1TBx\"", "unknown unit"),
        (disk, "exponent", "exponent = 1.5", "between 0 and 1"),
        (disk, "queue_depth", "queue_depth = 33", "between 1"),
        (disk, "order", "order = \"fifa\"", "did you mean \"fifo\"?"),
        (
            disk,
            "threshold",
            "threshold = \"9MiB\"",
            "not above the size",
        ),
        (
            disk,
            "head_skew",
            "head_skew = \"9ms\"",
            "a skew of a revolution",
        ),
        (disk, "zones", "zoness = 4", "did you mean 'zones'?"),
        (disk, "zone_fall", "zone_fall = 1.0", "below 0.99"),
        (
            "raid6x8",
            "members",
            "members = 3",
            "RAID-6 needs at least 4",
        ),
        ("raid10x4", "members", "members = 5", "take an even number"),
        ("raid6x8", "members", "members = 257", "at most 256"),
        (
            "ssd-sata",
            "spare_percent",
            "spare_percent = 0",
            "nothing could be collected",
        ),
        ("ssd-sata", "page", "page = \"6KiB\"", "whole mapping units"),
        (
            "ssd-sata",
            "capacity",
            "capacity = \"100TiB\"",
            "larger mapping_unit",
        ),
        (
            "cloud-credit",
            "burst_iops",
            "burst_iops = 200",
            "not below base_iops",
        ),
    ] {
        let error = refusal(name, key, line);
        assert!(error.contains(reason), "{line}: {error}");
        assert!(error.starts_with("line "), "{error}");
    }
}

#[test]
fn zones_that_overlap_or_leave_a_gap_are_refused() {
    let listed = |zones: &str| {
        let text = changed("hdd-7200-1tb", "outer_rate", "");
        let text = text
            .replace("zone_fall = 0.519", "")
            .replace("zones = 128", "");
        parse(&format!("{text}\n{zones}"))
    };
    let zone = |start: &str, end: &str| {
        format!("[[hdd.zone]]\nstart = \"{start}\"\nend = \"{end}\"\nrate = \"100MB/s\"\n")
    };
    let good = zone("0", "500GB") + &zone("500GB", "1TB");
    assert!(listed(&good).is_ok(), "{:?}", listed(&good));
    let overlap = zone("0", "600GB") + &zone("500GB", "1TB");
    let error = listed(&overlap).unwrap_err().to_string();
    assert!(error.contains("zones overlap"), "{error}");
    let gap = zone("0", "400GB") + &zone("500GB", "1TB");
    let error = listed(&gap).unwrap_err().to_string();
    assert!(error.contains("there is a gap"), "{error}");
    let late = zone("1GB", "1TB");
    let error = listed(&late).unwrap_err().to_string();
    assert!(error.contains("the first zone starts at 0"), "{error}");
}

#[test]
fn faults_beyond_the_disk_are_refused() {
    let with = |faults: &str| {
        let text = profile_text("hdd-7200-1tb").unwrap();
        parse(&format!("{text}\n[faults]\n{faults}")).map_err(|error| error.to_string())
    };
    assert!(with("lying_flush = true").is_ok());
    for (faults, reason) in [
        ("member = 1", "member 1 of 1"),
        ("partition_start = \"1TB\"", "the partition must lie within"),
        ("partition_start = \"100\"", "in whole logical sectors"),
        (
            "[[faults.weak_sector]]\noffset = \"2TB\"\nretries = 3",
            "bad places must lie within",
        ),
        (
            "[[faults.slow_zone]]\nstart = \"1GB\"\nend = \"1GB\"\ntime_percent = 200",
            "behind the start",
        ),
        (
            "[faults.stall]\nevery = \"1s\"\nfor = \"1s\"",
            "shorter than every",
        ),
        (
            "[faults.neighbour]\nevery = \"1ms\"\nlen = \"4KiB\"\nstart = \"1TB\"\nend = \"2TB\"",
            "within the disk",
        ),
        (
            "[faults.heat]\ncools = \"1MB/s\"\nlimit = \"1GB\"\nresume = \"2GB\"\nthrottled = \"1MB/s\"",
            "below the limit",
        ),
    ] {
        let error = with(faults).unwrap_err();
        assert!(error.contains(reason), "{faults}: {error}");
    }
}

/// The text of a profile with what was filled in written into its tables.
fn with_filled(text: &str, filled: &[Filled]) -> String {
    let header = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let mut out = String::new();
    let mut write = |line: &str| {
        writeln!(out, "{line}").unwrap();
        for Filled { key, value, .. } in filled.iter().filter(|one| one.table == header(line)) {
            writeln!(out, "{key} = {value}").unwrap();
        }
    };
    text.lines().for_each(&mut write);
    // A table that is only there because one of its own tables is.
    let implicit = filled
        .iter()
        .find(|one| text.lines().all(|line| header(line) != one.table));
    if let Some(Filled { table, .. }) = implicit {
        write(table);
    }
    out
}

#[test]
fn what_is_filled_in_for_a_key_is_what_it_would_be_written_as() {
    // Tables of their own, so that each of their keys is left out once.
    let bare = "\n[raid]\nlevel = \"raid5\"\nmembers = 4\n[host]\n[faults]\n";
    let mut keys = 0;
    for name in profiles() {
        let text = profile_text(name).unwrap();
        let table = |header: &str| text.lines().any(|line| line.starts_with(header));
        let mut text = text.to_owned();
        if !table("[raid]") && !table("[host]") && !table("[faults") {
            text.push_str(bare);
        }
        let (profile, filled) = read(&text).unwrap();
        let whole = with_filled(&text, &filled);
        assert_eq!(read(&whole), Ok((profile, Vec::new())), "{name}\n{whole}");
        keys += filled.len();
    }
    assert!(keys > 100, "{keys}");
}

#[test]
fn a_key_that_is_a_letter_off_is_named_where_it_is_missed() {
    let error = refusal("hdd-7200-1tb", "rpm", "rpmm = 7200");
    let said =
        "[hdd] lacks rpm; write for example rpm = 7200. Did you mean it by 'rpmm' in line 11?";
    assert!(error.contains(said), "{error}");
}

#[test]
fn a_profile_needs_one_drive() {
    let error = parse("name = \"a\"").unwrap_err().to_string();
    assert!(error.contains("needs a table [hdd] or [ssd]"), "{error}");
    let error = parse("name = [").unwrap_err().to_string();
    assert!(error.contains("not TOML"), "{error}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,300}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_change_of_a_profile_makes_the_reader_or_the_builder_panic(
        which in 0_usize..13,
        at in 0.0_f64..1.0,
        junk in "[0-9a-z\"=.\\[\\]\n ]{0,8}",
        cut in 0_usize..12,
    ) {
        let name = profiles().nth(which).unwrap();
        let text = profile_text(name).unwrap();
        let mut at = (text.len() as f64 * at) as usize;
        while !text.is_char_boundary(at) { at -= 1; }
        let mut end = (at + cut).min(text.len());
        while !text.is_char_boundary(end) { end -= 1; }
        let changed = format!("{}{junk}{}", &text[..at], &text[end..]);
        if let Ok(profile) = parse(&changed) {
            let mut disk = build(&profile, 3);
            let load = drives::mixed(disk.capacity(), disk.logical_sector(), 40, 3);
            let (done, _) = drives::run(&mut *disk, 4, load);
            proptest::prop_assert_eq!(done.len(), 40);
            for completion in done {
                let parts_ns = completion.breakdown.total_ns();
                proptest::prop_assert_eq!(parts_ns, completion.latency_ns());
            }
        }
    }
}
