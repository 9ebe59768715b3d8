//! `diskfacts iostat` beside sysstat's iostat on this machine, at the same time.
//!
//! Two programs never read the counters at the same moment, so what they print of a
//! load that goes on differs by what happened in between. Here the load begins after
//! both have made their first report and ends before their second one: both must
//! see the same differences, which this test reads as well. What is left is the
//! length of their intervals, which each takes from the uptime, in hundredths of a
//! second. So there is a length for which these differences give each program's
//! report, to the digit.

use crate::direct_file::DirectFile;
use crate::iostat_captured::until_it_waits;
use crate::support::Case;
use diskfacts_host::Roots;
use diskfacts_host::activity::{Reading, Wanted};
use diskfacts_record::Activity;
use diskfacts_report::iostat::{self, Dialect, Parts};
use diskfacts_testkit::{LoopDevice, Missing, Program, Running, or_skip, require_tool};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;

const PARTS: Parts = Parts {
    dialect: Dialect::Linux,
    basic: false,
    cpu: false,
};

/// Longest interval that is looked for, hundredths of a second.
const LONGEST: u64 = 60_000;

/// Reads, writes and flushes past the page cache, an odd number of each.
fn load(device: &Path) {
    let mut file = DirectFile::open(device);
    for block in 0..501 {
        file.read(block * 7919 % 4096 * 4096, 4096);
    }
    for block in 0..77 {
        file.write(block << 16, 64 << 10);
        if block % 7 == 0 {
            file.sync();
        }
    }
}

fn reading(name: &str) -> Reading {
    let wanted = Wanted::Named(vec![name.to_owned()]);
    Reading::take(&Roots::default(), &wanted).expect("the counters")
}

/// The rows of a device, one of each report.
fn rows<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let is_row = |line: &&str| line.split_whitespace().next() == Some(name);
    text.lines().filter(is_row).collect()
}

/// The length of the interval, in hundredths of a second, with which these
/// differences are this row.
fn length_of(row: &str, seen: &Activity, name: &str) -> Option<u64> {
    let mut seen = seen.clone();
    (1..LONGEST).find(|length| {
        seen.centiseconds = *length;
        rows(&iostat::report(PARTS, &seen), name) == [row]
    })
}

/// sysstat's iostat, after its first report, waiting for the signal on which it
/// makes the second one.
fn sysstat(name: &str) -> Result<Running, Missing> {
    let running = Program::new(require_tool("iostat", "sysstat")?)
        .args(["-x", "-d", name, "3600", "2"])
        .env("LC_ALL", "C")
        .start();
    running.wait_for_stdout(name);
    until_it_waits(running.id())?;
    Ok(running)
}

/// The second rows of both, and what happened between the first and the second.
fn both(case: &Case, device: &LoopDevice) -> Result<(String, String, Activity), Missing> {
    let name = device.name();
    let ours = case
        .diskfacts(["iostat", "--style", "linux", "-d", name])
        .args(["--interval", "1s", "--count", "2"])
        .start();
    ours.wait_for_stdout(name);
    let theirs = sysstat(name)?;
    let before = reading(name);
    load(device.path());
    let seen = reading(name).since(&before);
    let pid = Pid::from_raw(theirs.id().cast_signed()).expect("its number");
    kill_process(pid, Signal::ALARM).expect("the signal is sent");
    let second = |running: Running| {
        let finished = running.finish();
        finished.expect_code(0);
        let rows = rows(&finished.stdout, name);
        assert_eq!(rows.len(), 2, "{}", finished.stdout);
        rows[1].to_owned()
    };
    Ok((second(ours), second(theirs), seen))
}

#[test]
fn of_the_same_load_both_print_the_same_digits() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 << 20));
    let mut said = Vec::new();
    // Ours makes its second report after a second, whether the load has ended or
    // not: a machine that was busy gets another round.
    for _ in 0..5 {
        let (ours, theirs, seen) = or_skip!(both(&case, &device));
        let counted = &seen.devices[0].counted;
        // The kernel counts a flush that comes with no data as a write, too.
        let bytes = (counted.read_bytes, counted.write_bytes);
        assert_eq!(bytes, (501 << 12, 77 << 16));
        let length = length_of(&theirs, &seen, device.name());
        assert!(length.is_some(), "{theirs}\n{counted:?}");
        if let Some(length) = length_of(&ours, &seen, device.name()) {
            assert!(length >= 100, "an interval of a second: {length}\n{ours}");
            return;
        }
        said.push((ours, counted.clone()));
    }
    panic!("{said:#?}");
}
