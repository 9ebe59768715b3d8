//! Hosts whose clocks are a thousand seconds apart, as machines that were booted at different times are:
//! ranks of one machine, one of them in a time namespace, on a device whose speed is known.

use crate::hosts_by_mpi::{TOGETHER, documents, mpirun};
use crate::support::{Case, MIB, number, one_stage, write_data};
use diskfacts_testkit::{
    Finished, LoopDevice, Missing, Program, Throttle, ThrottleGroup, or_skip, require_root,
    require_tool,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::path::Path;

/// What the device serves, operations per second: what a busy machine has time for, too.
const LIMIT: f64 = 300.0;
/// Of each of the two trials.
const TRIAL_S: f64 = 5.0;
/// Seconds by which the clock of the second rank is ahead.
const AHEAD_S: u64 = 1000;

/// Two ranks of which the second has a clock that is so many seconds ahead: `CLOCK_MONOTONIC`, the one by
/// which they measure, and that of the time since boot.
fn ranks(case: &Case, name: &str, device: &Path, ahead_s: u64) -> Result<Program, Missing> {
    let unshare = require_tool("unshare", "util-linux")?;
    let mut program = mpirun()?.args(["-n", "1"]);
    for rank in 0..2 {
        if rank == 1 {
            program = program.args([":", "-n", "1"]).arg(&unshare);
            program = program.args(["--time", "--fork", "--kill-child"]);
            for clock in ["--monotonic", "--boottime"] {
                program = program.arg(clock).arg(ahead_s.to_string());
            }
        }
        program = program.arg(env!("CARGO_BIN_EXE_diskfacts")).arg("--store");
        program = program.arg(case.path(&format!("{name}-{rank}.db")));
        program = program.arg("measure").arg(device).arg("--plan");
        program = program
            .arg(case.path("plan.toml"))
            .args(TOGETHER)
            .arg("--json");
    }
    Ok(program)
}

/// What two ranks did, operations per second: the median of the trials. `None` where the machine was too
/// busy for the device to be the limit, or for both to begin in time.
///
/// Whatever the machine had time for, both began together, and the sum is what they did.
fn measured(
    case: &Case,
    (device, group): (&LoopDevice, &ThrottleGroup),
    name: &str,
    ahead_s: u64,
) -> Result<(Option<f64>, Finished), Missing> {
    let ranks = ranks(case, name, device.path(), ahead_s)?;
    let finished = ranks.inside(group).run();
    let printed = documents(&finished);
    let [_, merged] = &printed[..] else {
        panic!("a run and the sum: {finished}");
    };
    assert_eq!(merged["hosts_complete"], 2, "{finished}");
    let stored = [0, 1].map(|rank| {
        let show = Program::new(env!("CARGO_BIN_EXE_diskfacts")).arg("--store");
        let show = show.arg(case.path(&format!("{name}-{rank}.db")));
        let shown = show.args(["show", "last", "--json"]).run();
        serde_json::from_str::<Value>(&shown.stdout).expect("a document")
    });
    let trials = stored.iter().filter_map(|run| run["trials"].as_array());
    // Two trials: their median is their mean. What each did in its own time is no matter of the other's clock.
    let rates = trials.flatten().map(|trial| number(&trial["iops"]));
    let done = rates.sum::<f64>() / 2.0;
    let agreed = |run: &Value| {
        run["together"]["trials"]
            .as_array()
            .expect("trials")
            .clone()
    };
    let [one, other] = stored.each_ref().map(agreed);
    let mut counts = true;
    for (one, other) in one.iter().zip(&other) {
        if !one["void"].is_null() || !other["void"].is_null() {
            counts = false;
            continue;
        }
        let apart_ns = number(&other["started_ns"]) - number(&one["started_ns"]);
        let bound_ns = number(&one["clock_error_ns"]) + number(&other["clock_error_ns"]);
        println!("{ahead_s} s ahead: started {apart_ns} ns apart, within {bound_ns} ns");
        // What a trial may be late by at most, after which it is void: a hundredth of it.
        assert!(apart_ns.abs() <= TRIAL_S * 1e7 + bound_ns, "{finished}");
        // Round trips between processes of one machine, and no thousand seconds.
        assert!(bound_ns < 1e9, "{finished}");
    }
    let sum = &merged["stages"][0]["iops"]["median"];
    println!("{ahead_s} s ahead: {sum}/s, each by its own clock {done}/s");
    if !counts {
        return Ok((None, finished));
    }
    let sum = sum.as_f64().filter(|sum| *sum > 0.0);
    let sum = sum.unwrap_or_else(|| panic!("no time in which both measured: {finished}"));
    // The edges that only one of them had, a hundredth of a trial on each side, are in no sum; what was still
    // to come at the end is in the rate of each.
    assert!(
        (sum / done - 1.0).abs() < 0.05,
        "{sum} of {done}: {finished}"
    );
    // Where less was done the machine was the limit.
    let is_limit = done / LIMIT > 0.98;
    Ok((is_limit.then_some(sum), finished))
}

#[test]
fn clocks_a_thousand_seconds_apart_change_neither_the_sum_nor_the_start() {
    or_skip!(require_root());
    let case = Case::new();
    let plan = one_stage(&format!(
        "operation = \"read\"\npattern = \"random\"\nblock_size = \"4KiB\"\nqueue_depth = 16\ntime = \"{TRIAL_S}s\""
    ));
    case.text_file("plan.toml", &plan.replace("trials = 1", "trials = 2"));
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let throttle = Throttle {
        reads_per_s: Some(LIMIT as u64),
        ..Throttle::default()
    };
    let group = or_skip!(ThrottleGroup::new(&device, throttle));
    let clock = or_skip!(shifted_clock());
    assert!(clock >= AHEAD_S, "the second clock is {clock} s ahead");
    // By turns, until both were measured where the device was the limit.
    let (mut alike, mut apart) = (None, None);
    let mut said = String::new();
    for turn in 0..3 {
        for (measured_by, name, ahead_s) in
            [(&mut alike, "alike", 0), (&mut apart, "apart", AHEAD_S)]
        {
            if measured_by.is_none() {
                let name = format!("{name}-{turn}");
                let (measured, finished) =
                    or_skip!(self::measured(&case, (&device, &group), &name, ahead_s));
                *measured_by = measured;
                said = finished.to_string();
            }
        }
    }
    let (Some(alike), Some(apart)) = (alike, apart) else {
        return diskfacts_testkit::skip(&format!("too busy a machine: {said}"));
    };
    // Both were held by the same limit.
    assert!((apart / alike - 1.0).abs() < 0.05, "{apart} and {alike}");
}

/// By how many seconds a clock is ahead where the second rank runs.
fn shifted_clock() -> Result<u64, Missing> {
    let unshare = require_tool("unshare", "util-linux")?;
    let now = clock_gettime(ClockId::Boottime).tv_sec.unsigned_abs();
    let shown = Program::new(unshare)
        .args(["--time", "--fork", "--kill-child", "--boottime"])
        .arg(AHEAD_S.to_string())
        .args(["cat", "/proc/uptime"])
        .run();
    let there = shown
        .stdout
        .split('.')
        .next()
        .and_then(|s| s.parse::<u64>().ok());
    match there.filter(|_| shown.code() == Some(0)) {
        Some(there) => Ok(there.saturating_sub(now)),
        None => Err(Missing::new(
            format_args!("time namespaces: {shown}"),
            "a kernel with CONFIG_TIME_NS, and leave to make them",
        )),
    }
}
