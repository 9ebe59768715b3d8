//! The thread that makes the operations ran all the time in user mode: diskfacts
//! itself, and what it was told to do with the data, is the limit.

use super::processor;
use super::{Candidate, Standing, Subject};
use crate::words::{edit_plan, percent};
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Touch, Workload};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "cpu-generator";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let processor = processor::of(subject).filter(|processor| processor.in_user)?;
    let mut evidence = vec![format!(
        "The busiest thread ran {} of the time.",
        percent(processor.busy)
    )];
    if let Some((user, system)) = processor.user_ns.zip(processor.system_ns) {
        evidence.push(format!(
            "An operation took {} in user mode and {} in the kernel: {} of what the processor \
             did.",
            show_duration(user as u64),
            show_duration(system as u64),
            percent(user / (user + system))
        ));
    }
    if let Some(own) = subject.run().run.overhead_ns_per_io {
        evidence.push(format!(
            "diskfacts itself costs {} per operation without I/O.",
            show_duration(own.max(0.0) as u64)
        ));
    }
    let workload = subject.workload();
    let streams = workload.streams.saturating_mul(2);
    let touches = workload.touch != Touch::None || workload.values.is_some();
    Some(Candidate {
        // It is the larger part of the time, whichever way it divides.
        standing: Standing::Cause,
        claim: if touches {
            "The limit is a processor, at work on the data as the stage asks, not the device."
                .into()
        } else {
            "The limit is the processor time of the measuring itself, not the device.".into()
        },
        evidence,
        share: Some(processor.share),
        confidence: Confidence::Likely,
        refuted_by: "The same rate with twice the streams.".into(),
        experiment: subject.experiment(
            "With twice the streams: a higher rate speaks for the processor, the same rate for \
             the device.",
            &[
                ("as-it-was", workload.clone()),
                (
                    "twice-the-streams",
                    Workload {
                        streams,
                        ..workload.clone()
                    },
                ),
            ],
        ),
        remedy: if touches {
            edit_plan(
                subject.run(),
                &format!("set streams = {streams}, or leave `touch` out, in this stage"),
            )
        } else {
            edit_plan(
                subject.run(),
                &format!("set streams = {streams}, or larger blocks, in this stage"),
            )
        },
    })
}
