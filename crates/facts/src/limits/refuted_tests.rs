//! What the rest of the run refutes is not said: each beside the same without what refutes
//! it.

use super::host_tests::said;
use super::*;
use crate::testing::{self, each, set_latencies};
use diskfacts_record::{Confidence, Run};

const QD1: &str = "random-read-qd1";
const QD32: &str = "random-read-qd32";

/// One read at a time that takes 300 us always, and with 32 in flight so many times as many,
/// of which the shortest takes so long.
fn constant_wait(times: f64, shortest_ns: u64) -> Run {
    let mut run = testing::healthy();
    let is_between = |name: &str| name == "random-read-qd4" || name == "random-read-qd16";
    run.trials.retain(|trial| !is_between(&trial.stage));
    each(&mut run, QD1, |t| {
        set_latencies(t, &[(300_000, 3000)]);
        (t.ops, t.iops, t.seconds) = (3000, 3333.0, 0.9);
    });
    each(&mut run, QD32, |t| {
        set_latencies(t, &[(shortest_ns, 10), (9_600_000, 3000)]);
        t.iops = 3333.0 * times;
    });
    run
}

#[test]
fn what_other_reads_do_in_less_is_no_way_there_and_back() {
    let limit =
        said(&constant_wait(8.0, 300_000), QD1, network::LIMITER.name).expect("a constant wait");
    assert_eq!(limit.confidence, Confidence::Possible);
    assert!(said(&constant_wait(8.0, 100_000), QD1, network::LIMITER.name).is_none());
    // Who waits for a way does more with more on it.
    assert!(said(&constant_wait(1.0, 300_000), QD1, network::LIMITER.name).is_none());
}

#[test]
fn latencies_that_are_a_small_part_of_the_time_are_not_why_the_rate_is_what_it_is() {
    let after = |sync_share: f64| {
        let mut run = testing::healthy();
        run.trials.retain(|trial| trial.stage == QD1);
        each(&mut run, QD1, |t| {
            let ops = ((1.0 - sync_share) * t.seconds * 1e9 / 100_000.0) as u64;
            set_latencies(t, &[(100_000, ops)]);
            (t.ops, t.iops) = (ops, ops as f64 / t.seconds);
        });
        said(&run, QD1, one_at_a_time::LIMITER.name)
    };
    assert!(after(0.1).is_some());
    assert!(after(0.9).is_none());
}

/// Reads alone, and the same beside another reader that takes half of them away.
fn beside(rate: f64) -> Run {
    let mut run = testing::healthy();
    run.trials.retain(|trial| trial.stage == QD1);
    let mut disturbed = run.plan.stage(QD1).expect("a stage").clone();
    disturbed.name = "disturbed".into();
    disturbed.workload.beside = Some(Box::new(disturbed.workload.clone()));
    let mut trials = run.trials.clone();
    for trial in &mut trials {
        trial.stage.clone_from(&disturbed.name);
        trial.workload.beside.clone_from(&disturbed.workload.beside);
        trial.throughput_bytes_per_s *= rate;
        trial.iops *= rate;
        // The other has its turns.
        for part in trial.evidence.intervals.operations.chunks_mut(4) {
            let half = part.len() / 2;
            part[..half].fill(0);
        }
    }
    run.plan.stages.push(disturbed);
    run.trials.extend(trials);
    run
}

#[test]
fn what_runs_beside_as_planned_is_the_limiter_with_what_it_costs_and_no_stall() {
    let run = beside(0.5);
    let limit = said(&run, "disturbed", other_process::LIMITER.name).expect("it costs half");
    assert_eq!(limit.confidence, Confidence::Certain);
    assert!(
        limit
            .claim
            .contains("cost 50 % of the rate that it has alone"),
        "{limit:#?}"
    );
    for limiter in [
        stall::LIMITER.name,
        retries::LIMITER.name,
        media_rate::LIMITER.name,
    ] {
        assert!(said(&run, "disturbed", limiter).is_none(), "{limiter}");
    }
    assert!(said(&beside(1.0), "disturbed", other_process::LIMITER.name).is_none());
}

/// A reader through the page cache that does 1 GB/s where direct reads do 2, and whose
/// processor takes so long for each of its operations.
fn reads_ahead(cpu_ns: f64, wait_ns: f64) -> Option<Limit> {
    reads_ahead_in(testing::SIZE, cpu_ns, wait_ns)
}

/// The same of a target of so many bytes, with a window of 1 MiB.
fn reads_ahead_in(size_bytes: u64, cpu_ns: f64, wait_ns: f64) -> Option<Limit> {
    let mut run = testing::healthy();
    run.target.size_bytes = size_bytes;
    for device in &mut run.stack.devices {
        device.read_ahead_bytes = Some(1 << 20);
    }
    each(&mut run, "sequential-read", |t| {
        t.throughput_bytes_per_s = 2e9;
    });
    each(&mut run, "buffered-read", |t| {
        t.throughput_bytes_per_s = 1e9;
        t.iops = 1e9 / t.workload.block_size as f64;
        t.ops = (t.iops * t.seconds) as u64;
        t.cpu.user_ns_per_io = Some(0.0);
        t.cpu.system_ns_per_io = Some(cpu_ns);
        t.cpu.wait_ns_per_io = Some(wait_ns);
        for device in &mut t.evidence.devices {
            let ms = (t.seconds * 1e3) as u64;
            device.reads = device.read_bytes >> 20;
            (device.read_ms, device.busy_ms) = (ms, ms);
        }
    });
    said(&run, "buffered-read", read_ahead::LIMITER.name)
}

#[test]
fn a_reader_that_copies_all_the_time_needs_no_larger_window() {
    // 128 KiB at 1 GB/s are 131 us.
    let limit = reads_ahead(20_000.0, 0.0).expect("the window is too small");
    assert_eq!(limit.share, Some(0.5));
    let limit = reads_ahead(80_000.0, 10_000.0).expect("it is, a little");
    // 131 us, of which 90 are its own.
    let share = limit.share.expect("a share");
    assert!((share - (1.0 - 90.0 / 131.072)).abs() < 0.01, "{limit:#?}");
    assert!(
        limit
            .evidence
            .join(" ")
            .contains("of which the processor lets this reader have"),
        "{limit:#?}"
    );
    assert!(reads_ahead(130_000.0, 0.0).is_none());
    assert!(reads_ahead(80_000.0, 50_000.0).is_none());
}

/// On a machine whose processors others keep busy, where 39 % of a read's time was waiting for one,
/// the window of 8 MiB was called too small.
#[test]
fn a_reader_that_waits_for_a_processor_may_need_no_larger_window() {
    let confidence = |wait_ns| reads_ahead(20_000.0, wait_ns).map(|limit| limit.confidence);
    assert_eq!(confidence(5_000.0), Some(Confidence::Likely));
    assert_eq!(confidence(40_000.0), Some(Confidence::Possible));
}

/// Tried on a real kernel: a file of 8 MiB with a window of 8 MiB is read as fast with one of 16.
#[test]
fn a_window_that_holds_all_that_is_read_is_not_too_small() {
    assert!(reads_ahead_in(1 << 20, 20_000.0, 0.0).is_none());
    assert!(reads_ahead_in(2 << 20, 20_000.0, 0.0).is_some());
}

/// The rate of a stage doubles in the middle of its second trial.
fn stepping(waited_ns: u64) -> Run {
    let mut run = testing::healthy();
    let mut number = 0;
    testing::each(&mut run, QD1, |trial| {
        let counts = &mut trial.evidence.intervals.operations;
        let slow = [counts.len(), counts.len() / 2, 0][number.min(2)];
        number += 1;
        for count in &mut counts[..slow] {
            *count /= 2;
        }
        // No limit is held: the points of each level differ.
        for (place, count) in counts.iter_mut().enumerate() {
            *count = *count * (85 + 10 * (place as u64 % 4)) / 100;
        }
        let pressure = trial.evidence.pressure.as_mut().expect("of this kernel");
        pressure.cpu_some_ns = waited_ns;
    });
    run
}

#[test]
fn a_step_is_laid_to_nothing_while_others_wanted_the_processors() {
    let limit = said(&stepping(10_000_000), QD1, changed_speed::LIMITER.name).expect("a step");
    assert!(limit.claim.contains("stayed there"), "{limit:#?}");
    // As much as the lower level lost of the time.
    let beside = said(&stepping(900_000_000), QD1, changed_speed::LIMITER.name);
    assert!(beside.is_none(), "{beside:#?}");
}

/// Tried beside four busy loops: a few reads of 60 ms one at a time were called a device that
/// stands still, as the wait for processors kept them from being called slow.
#[test]
fn silences_one_at_a_time_are_no_stall_while_others_wanted_the_processors() {
    let stall = |waited_ns: u64| {
        let mut run = testing::healthy();
        let mut second = 15;
        testing::each(&mut run, QD1, |trial| {
            // At unequal distances.
            let counts = &mut trial.evidence.intervals.operations;
            second += 5;
            counts[5..15].fill(0);
            counts[second..second + 7].fill(0);
            let pressure = trial.evidence.pressure.as_mut().expect("of this kernel");
            pressure.cpu_some_ns = waited_ns;
        });
        said(&run, QD1, "stall")
    };
    assert!(stall(10_000_000).is_some());
    assert_eq!(stall(900_000_000), None);
}

#[test]
fn where_nobody_looked_at_the_processors_a_step_is_only_possible_and_our_own_waits_count() {
    let unseen = |waited_ns| {
        let mut run = stepping(0);
        testing::each(&mut run, QD1, |trial| {
            trial.evidence.pressure = None;
            trial.cpu.wait_ns_per_io = Some(waited_ns);
        });
        said(&run, QD1, changed_speed::LIMITER.name)
    };
    let limit = unseen(0.0).expect("a step");
    assert_eq!(limit.confidence, Confidence::Possible, "{limit:#?}");
    // A twentieth of the time that the lower level lost, and more.
    let beside = unseen(10_000.0);
    assert!(beside.is_none(), "{beside:#?}");
}

/// Flash on SATA whose reads stop at the rate of its link; its writes are slower.
fn at_a_link() -> Run {
    let mut run = testing::healthy();
    testing::rename_disk(&mut run, "sda");
    for device in &mut run.stack.devices {
        device.rotational = Some(false);
    }
    for (stage, rate) in [("sequential-read", 550e6), ("sequential-write", 300e6)] {
        each(&mut run, stage, |trial| {
            testing::set_rate(trial, rate / trial.throughput_bytes_per_s);
        });
    }
    run
}

#[test]
fn a_link_is_refuted_by_whatever_moved_more_and_by_a_device_that_hangs_on_none() {
    let link = |run: &Run| said(run, "sequential-read", interface::LIMITER.name);
    let limit = link(&at_a_link()).expect("the rate of SATA");
    // One rate alone may as well be that of the flash, and then both are said in one claim.
    assert!(
        limit.claim.contains("or of the drive behind it"),
        "{limit:#?}"
    );
    assert!(said(&at_a_link(), "sequential-read", media_rate::LIMITER.name).is_none());
    // Small blocks anywhere, which are no large transfers.
    let mut faster = at_a_link();
    each(&mut faster, QD32, |trial| {
        testing::set_rate(trial, 700e6 / trial.throughput_bytes_per_s);
    });
    assert!(link(&faster).is_none());
    for (transport, may) in [
        (diskfacts_record::Transport::Sata, true),
        (diskfacts_record::Transport::Iscsi, false),
        (diskfacts_record::Transport::NvmeTcp, false),
        (diskfacts_record::Transport::Virtio, false),
    ] {
        let mut run = at_a_link();
        for device in &mut run.stack.devices {
            device.transport = Some(transport);
        }
        assert_eq!(link(&run).is_some(), may, "{transport:?}");
    }
}

#[test]
fn a_longer_queue_is_advised_where_a_queue_is_too_short_and_never_a_shorter_one() {
    let mut run = testing::healthy();
    for device in &mut run.stack.devices {
        device.queue_depth = (device.name == "vda").then_some(64);
    }
    each(&mut run, QD32, |trial| {
        trial.workload.queue_depth = 128;
        trial.evidence.engine.mean_depth = 128.0;
        testing::set_rate(trial, 8.0);
    });
    let limit = said(&run, QD32, device_queue::LIMITER.name).expect("64 of 128 get through");
    assert!(limit.remedy.contains("echo 128 >"), "{limit:#?}");
}

#[test]
fn a_queue_of_requests_is_held_against_the_requests_of_operations() {
    // 64 requests get through: 8 operations of 8 each.
    let queue = |fewer: u32, gained: f64| {
        let mut run = testing::healthy();
        run.trials
            .retain(|trial| [QD1, QD32].contains(&trial.stage.as_str()));
        for device in &mut run.stack.devices {
            device.queue_depth = (device.name == "vda").then_some(64);
            device.max_request_bytes = Some(512);
        }
        for (stage, depth) in [(QD1, fewer), (QD32, 32)] {
            each(&mut run, stage, |trial| {
                trial.workload.queue_depth = depth;
                trial.evidence.engine.mean_depth = f64::from(depth);
            });
        }
        let rate = |run: &Run, stage: &str| {
            let trial = run.trials.iter().find(|trial| trial.stage == stage);
            trial.expect("a trial").iops
        };
        let times = gained * rate(&run, QD1) / rate(&run, QD32);
        each(&mut run, QD32, |trial| testing::set_rate(trial, times));
        said(&run, QD32, device_queue::LIMITER.name)
    };
    let limit = queue(1, 6.0).expect("eight times as many got through");
    let times = |line: &String| line.contains("8 times as many got through");
    assert!(limit.evidence.iter().any(times), "{limit:#?}");
    // Of as many as get through nothing shows that the device was full.
    assert!(
        queue(16, 1.0).is_none(),
        "nothing below the cap was measured"
    );
}
