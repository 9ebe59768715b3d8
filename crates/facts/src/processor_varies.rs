//! Trials of a stage that differ because the kernel's processor time for an operation does.
//!
//! Held against the same trials with the processor time of the median one in each. Where
//! they differ by half as much then, or less, processor time is what they differ by. That
//! has no free parameter, and a device that changes its speed leaves the processor time of
//! an operation as it is. Only of one operation after another: with several in flight,
//! processor time lies beside that of the device.

use crate::figures;
use crate::spread::{self, NOISE};
use crate::stages::Stage;
use crate::stats;

/// Trials from which on a range is one of more than chance.
const TRIALS: usize = 4;

/// What the trials of a stage differ by.
#[derive(Debug)]
pub(crate) struct ProcessorVaries {
    /// How wide their rates lie, as a share of the median.
    pub(crate) width: f64,
    /// The same with equal processor time in all.
    pub(crate) equal: f64,
    /// Processor time of an operation in the kernel, nanoseconds: the least and the most.
    pub(crate) system_ns: [f64; 2],
}

impl ProcessorVaries {
    /// Of a stage; `None` where processor time is not what its trials differ by.
    pub(crate) fn of(stage: &Stage<'_>) -> Option<Self> {
        let workload = stage.workload();
        let one_by_one =
            workload.streams == 1 && workload.queue_depth == 1 && workload.rate.is_none();
        if !one_by_one || stage.trials.len() < TRIALS {
            return None;
        }
        // Of an operation: in the kernel, and the rest.
        let times = stage.trials.iter().map(|trial| {
            let system = trial.cpu.system_ns_per_io?;
            let rest = 1e9 / trial.iops - system;
            (rest > 0.0 && rest.is_finite()).then_some((system, rest))
        });
        let (system, rest): (Vec<f64>, Vec<f64>) =
            times.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let typical = stats::median(&system)?;
        let width = |rates: &mut dyn Iterator<Item = f64>| spread::width(&figures::figure(rates));
        let as_it_was = width(&mut stage.trials.iter().map(|trial| trial.iops))?;
        let equal = width(&mut rest.iter().map(|rest| 1e9 / (rest + typical)))?;
        let system_ns = [
            system.iter().copied().fold(f64::INFINITY, f64::min),
            system.iter().copied().fold(0.0, f64::max),
        ];
        (as_it_was > NOISE && equal <= as_it_was / 2.0).then_some(Self {
            width: as_it_was,
            equal,
            system_ns,
        })
    }
}
