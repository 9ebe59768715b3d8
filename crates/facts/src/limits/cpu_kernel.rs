//! The kernel's time on a processor is the limit: system calls and copies of the
//! thread that does the operations, or all that the kernel does on the processors of the
//! machine. Whose that is, its threads' and interrupts' or other programs', the counters
//! of the processors do not tell: `/proc/stat` has one sum of it (`proc_stat(5)`).

use super::prelude::*;
use crate::stage_facts::processor::{self, IDLE, Machine, Processor};

pub(super) const LIMITER: Limiter = Limiter {
    name: "cpu-kernel",
    find: kernel_takes_the_processor,
    ..Limiter::ANY
};

fn kernel_takes_the_processor(facts: &StageFacts<'_>) -> Option<Candidate> {
    match processor::of(facts).filter(|processor| !processor.in_user) {
        Some(processor) => Some(of_thread(facts, &processor)),
        None => of_machine(facts),
    }
}

/// The thread that does the operations.
fn of_thread(facts: &StageFacts<'_>, processor: &Processor) -> Candidate {
    let (who, unknown) = if facts.imported() {
        let unknown = processor.user_system_ns.is_none();
        ("A processor was at work for it", unknown)
    } else {
        ("The busiest thread ran", false)
    };
    let system_ns = processor.user_system_ns.map(|(_, system_ns)| system_ns);
    let through = facts.workload().cache != CacheMode::Direct;
    let copies = system_ns.filter(|ns| *ns > 0.0 && through).map(|ns| {
        let rate = show_throughput(facts.workload().block_size as f64 / ns * 1e9);
        format!("That is {rate} of kernel time for the data of a block.")
    });
    let claim = if unknown {
        "The limit is a processor, in the program or in the kernel, and not the device; which \
         of the two, the document does not say."
    } else {
        "The limit is a processor at work in the kernel, on calls and copies, not the device."
    };
    // It is the larger part of the time, whichever way it divides.
    let found = Candidate::new(Standing::Cause, processor.share, Likely, claim);
    let found = found.evidence(processor.evidence(who)).evidence(copies);
    let found = found.settled_by(more_streams(facts));
    found.remedy(fewer_calls(facts))
}

/// All processors of the machine, when they were busy and mostly in the kernel.
fn of_machine(facts: &StageFacts<'_>) -> Option<Candidate> {
    let machine = Machine::of(facts).filter(|machine| machine.idle <= IDLE)?;
    let kernel = machine.kernel_ns / machine.all_ns;
    // Where programs had most of it, somebody else computes: that is not I/O.
    unless(facts.workload().rate.is_some() || kernel < 0.5)?;
    let own = machine.own_calls(facts);
    let calls = own.map(|own| {
        let own = percent(own);
        format!(
            "The calls of this measurement took {own} of it. Whose the rest is, the counters of \
             the processors do not tell."
        )
    });
    // What is not known is not taken for its own.
    let is_own = own.is_some_and(|own| own >= kernel / 2.0);
    let whose = if is_own {
        "in the calls of this measurement"
    } else {
        "in threads of its own or in calls of other programs"
    };
    let claim = format!(
        "The limit is the kernel's work on the processors of this machine, most of it {whose}, \
         not the device."
    );
    let share = kernel.min(processor::could_wait(facts).unwrap_or(1.0));
    let found = cause(share, Likely, claim).evidence([machine.evidence(facts)]);
    let found = found.evidence(calls).settled_by(more_streams(facts));
    Some(if is_own {
        found.remedy(fewer_calls(facts))
    } else {
        found.case("others")
    })
}

/// Twice the streams settle it, and fewer calls for the same bytes.
fn more_streams(facts: &StageFacts<'_>) -> Stages {
    let workload = facts.workload();
    let larger = workload.block_size.saturating_mul(4);
    let fits = workload.span.is_none_or(|span| larger <= span) && larger <= 1 << 26;
    let mut stages = facts.as_it_was().and("twice-the-streams", |w| {
        w.streams = w.streams.saturating_mul(2);
    });
    if fits {
        stages = stages.and("larger-blocks", |w| w.block_size = larger);
    }
    stages
}

fn fewer_calls(facts: &StageFacts<'_>) -> String {
    let streams = facts.workload().streams.saturating_mul(2);
    let change = format!("set streams = {streams}, or larger blocks (fewer calls), in this stage");
    edit_plan(facts.run(), &change)
}
