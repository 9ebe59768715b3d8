//! The third step: content. A file of ours is written full, and what stands there
//! already gets the values that stages ask for. A slow disk gets a smaller file, to
//! which the plan is fitted again.

use super::reserve::Reserved;
use super::together::Start;
use super::{cache_proof, fit, values};
use crate::exit::Failure;
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::{Filling, Medium};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{EngineChoice, Plan, sha256};
use diskfacts_record::TargetKind;
use jiff::Timestamp;
use std::time::Instant;

/// Which part of the time goes into filling.
const SHARE: u64 = 3;

/// A run whose target has its content. That lies in the target, and is gone with it
/// where it is ours.
pub(super) struct Filled<'a> {
    pub(super) reserved: Reserved<'a>,
    pub(super) display: Display,
}

impl<'a> Reserved<'a> {
    pub(super) fn fill(mut self, signals: &Signals) -> Result<Filled<'a>, Failure> {
        let request = self.accepted.request;
        let on = (&*self.held.measured.target.given, &self.held.stack);
        let display = Display::new(&self.fitted.0, request.seen, on, signals)?;
        let kind = self.held.measured.target.kind;
        let is_ours = matches!(kind, TargetKind::Folder | TargetKind::Loop);
        let time_ns = self.accepted.request.time_ns;
        if is_ours && does_io(&self.fitted.0) {
            self.fill_ours(signals, &display)?;
        }
        signals.check()?;
        let seed = self.seed_of_content();
        let (plan, measured) = (&mut self.fitted.0, &self.held.measured);
        values::resolve(plan, seed);
        if let Medium::File(file) = &measured.medium
            && !is_ours
        {
            let target = (file, &measured.target);
            values::fill(plan, target, time_ns / SHARE, signals, &display)?;
        }
        Ok(Filled {
            reserved: self,
            display,
        })
    }

    /// Of content that is checked: all hosts of a group expect the same in what they share.
    fn seed_of_content(&self) -> u64 {
        let shared = self.accepted.placement().zip(self.agreement.as_ref());
        shared.map_or(self.accepted.seed, |(_, agreement)| {
            sha256::number(agreement.digest.as_bytes())
        })
    }

    fn fill_ours(&mut self, signals: &Signals, display: &Display) -> Result<(), Failure> {
        let (request, seed) = (self.accepted.request, self.accepted.seed);
        let Medium::File(file) = &self.held.measured.medium else {
            return Ok(());
        };
        let measured = &self.held.measured;
        let (file, offset, wanted) = match &measured.own_part {
            None => (file, 0, measured.target.size_bytes),
            Some(part) => (&part.file, part.offset_bytes, part.bytes),
        };
        let began = Instant::now();
        let start = self.accepted.start.as_ref();
        let ahead_ns = start.and_then(|start| start.ahead_ns(Timestamp::now()));
        let time_ns = ahead_ns.unwrap_or(request.time_ns / SHARE);
        let filled = Filling {
            file,
            offset,
            bytes: wanted,
            seed,
            values: values::of_plan(&self.fitted.0, self.seed_of_content()),
            time_ns,
        }
        .run(signals, display)?;
        if let Some(start) = start.filter(|_| filled < wanted) {
            return Err(too_late(start, time_ns, (filled, wanted)));
        }
        let filled_per_s = filled as f64 / began.elapsed().as_secs_f64();
        let beside = measured.beside.as_ref().map(|beside| Filling {
            file: &beside.file,
            offset: 0,
            bytes: beside.size_bytes,
            seed: seed.wrapping_add(1),
            values: None,
            time_ns: request.time_ns / SHARE / 2,
        });
        let beside = beside.map(|filling| filling.run(signals, display));
        let beside = beside.transpose()?;
        let measured = &mut self.held.measured;
        if measured.own_part.is_none() {
            measured.is_filled(filled, beside)?;
        }
        measured.filled_per_s = Some(filled_per_s);
        cache_proof::check(request.cache_proof, measured)?;
        if measured.own_part.is_none() && measured.target.size_bytes < wanted {
            if measured.under.is_some()
                && let Some(device) = self.held.stack.devices.first_mut()
            {
                device.size_bytes = Some(measured.target.size_bytes);
            }
            // It may no longer hold every stage.
            let on = (&self.held.measured, &self.held.stack);
            self.fitted =
                fit::fit(&self.accepted.plan, on, request.built_in).map_err(|failure| {
                    let time_ns = request.time_ns / SHARE;
                    failure.and(&too_slow("the file", time_ns, (filled, wanted)))
                })?;
        }
        Ok(())
    }
}

/// A file that is shorter than that of the other hosts would be another plan.
fn too_late(start: &Start, time_ns: u64, (filled, wanted): (u64, u64)) -> Failure {
    let Some(at) = start.at() else {
        return Failure::failed(format!(
            "this host's file is to be as large as that of the others. {}, or all hosts a smaller \
             --size",
            too_slow("the file", time_ns, (filled, wanted))
        ));
    };
    Failure::failed(format!(
        "{} was to begin at {}, and by then {} of the {} of this host's file were written; give \
         all hosts a later --start-at, or a smaller --size",
        start.group,
        at,
        show_size(filled),
        show_size(wanted)
    ))
}

/// Why so much less than all of it was filled in a share of the time, and what to give
/// instead.
pub(super) fn too_slow(what: &str, share_ns: u64, (filled, wanted): (u64, u64)) -> String {
    let time_ns = u128::from(share_ns) * u128::from(SHARE);
    let needed = time_ns * u128::from(wanted) / u128::from(filled.max(1));
    // In whole seconds, with a quarter more.
    let needed_s = u64::try_from(needed * 5 / 4 / 1_000_000_000 + 1).unwrap_or(u64::MAX);
    format!(
        "A third of --time goes into filling {what}, and in that {} of its {} could be written: \
         give --time {needed_s}s",
        show_size(filled),
        show_size(wanted)
    )
}

/// What does no I/O needs no content, and files of a folder are others.
fn does_io(plan: &Plan) -> bool {
    plan.stages.iter().any(|stage| {
        stage.workload.engine != EngineChoice::Null && !stage.workload.operation.on_files()
    })
}
