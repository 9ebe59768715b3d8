//! The workload asked for so many operations a second, and got them: the figure is
//! what was asked, and says nothing of what the target can do.

use super::{Candidate, Standing, Subject};
use crate::open_loop::OpenLoop;
use crate::words::percent;
use diskfacts_plan::units::{rate_digits, show_duration};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "offered-load";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let open = OpenLoop::of(subject.stage).filter(OpenLoop::kept)?;
    let (per_s, done) = (open.asked, open.done);
    let mut evidence = vec![format!(
        "{} operations a second were asked for, {} were done: {}.",
        rate_digits(per_s),
        rate_digits(done),
        percent(done / per_s)
    )];
    if let Some(service) = service_ns(subject) {
        evidence.push(format!(
            "Each took {}: {} a second times that is {:.2} in flight on average, of {} allowed.",
            show_duration(service as u64),
            rate_digits(done),
            done * service / 1e9,
            subject.workload().outstanding()
        ));
    }
    let mut closed = subject.workload().clone();
    closed.rate = None;
    Some(Candidate {
        standing: Standing::NotTheDevice,
        claim: format!(
            "The rate is what was asked for, {} operations a second, and it was kept: the target \
             may be able to do more.",
            rate_digits(per_s)
        ),
        evidence,
        share: Some(1.0),
        confidence: Confidence::Certain,
        refuted_by: "The same rate without `rate` in the stage.".into(),
        experiment: subject.experiment(
            "Without a rate, more operations a second speak for it; as many speak against it.",
            &[("closed-loop", closed)],
        ),
        remedy: "Nothing, where the latency at this rate is the question. For the most that the \
                 target can do, leave `rate` out of the stage."
            .into(),
    })
}

/// Mean time from submission to completion, weighted by the operations, ns.
fn service_ns(subject: &Subject<'_>) -> Option<f64> {
    let (mut sum, mut samples) = (0.0, 0.0);
    for trial in subject.trials() {
        let latency = trial.latency_service_ns.unwrap_or(trial.latency_ns);
        let mean = latency.mean.filter(|mean| mean.is_finite())?;
        sum += mean * latency.samples as f64;
        samples += latency.samples as f64;
    }
    (samples > 0.0).then(|| sum / samples)
}
