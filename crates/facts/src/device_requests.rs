//! The requests that the topmost device saw of a stage.

use crate::device_rates::DeviceRates;
use crate::prelude::{ratio, ratio_of, size};
use crate::stages::Stage;
use crate::stats;

/// The medians over the trials of a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceRequests {
    /// Bytes of a request.
    pub(crate) bytes: f64,
    /// Merges counted for each write. None where the page cache hands the block layer large
    /// requests as they are.
    pub(crate) merges_per_request: f64,
    /// Requests on their way.
    pub(crate) depth: f64,
    /// What each took, milliseconds.
    wait_ms: f64,
}

impl DeviceRequests {
    /// `None` where some trial did not count them.
    pub(crate) fn of(stage: &Stage<'_>) -> Option<Self> {
        let trials = stage.trials.iter();
        let rates = trials.map(|trial| DeviceRates::topmost(trial));
        let rates: Vec<DeviceRates<'_>> = rates.collect::<Option<_>>()?;
        let median = |of: &dyn Fn(&DeviceRates<'_>) -> Option<f64>| {
            let values: Option<Vec<f64>> = rates.iter().map(of).collect();
            stats::median(&values?)
        };
        Some(Self {
            bytes: median(&|rates| rates.reads_and_writes().bytes_each())?,
            merges_per_request: median(&|rates| {
                let writes = rates.writes();
                Some(writes.merges as f64 / writes.count as f64)
            })?,
            depth: median(&|rates| Some(rates.depth()))?,
            wait_ms: median(&|rates| rates.reads_and_writes().wait_ms())?,
        })
    }

    /// These of a stage, a sentence.
    pub(crate) fn said(&self, stage: &Stage<'_>) -> String {
        let counted = if self.merges_per_request > 0.0 {
            format!("{} merges counted for each", ratio(self.merges_per_request))
        } else {
            "no merges counted".to_owned()
        };
        let writes = self.bytes / stage.workload().block_size as f64;
        format!(
            "{}: requests of {} ({} in each, {counted}), {} on their way, {} ms each.",
            stage.name,
            size(self.bytes),
            ratio_of(writes, "write", "writes"),
            ratio(self.depth),
            ratio(self.wait_ms)
        )
    }
}
