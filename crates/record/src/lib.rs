//! What happened: runs, trials, latency histograms and evidence, as data.
//!
//! There is one [`Run`], and every output is a view of it. Its serde form is
//! the JSON document of `measure --json` and `show RUN --json`, documented in
//! `docs/reference/json.md`; within a schema version keys are only added, and
//! every field that was added later has a default, so that old runs open.
//!
//! Units: bytes and nanoseconds as integers, shares as floats in `0..=1`. What
//! could not be observed is `None` and named in [`Unseen`]; it is never guessed.

pub mod activity;
pub mod budget;
pub mod bursts;
pub mod coarse;
pub mod comparison;
pub mod effects;
pub mod evidence;
pub mod finding;
pub mod histogram;
pub mod labels;
mod leb128;
pub mod limit;
pub mod machine;
pub mod membership;
pub mod over_time;
pub mod packed;
pub mod run;
pub mod stack;
pub mod together;
pub mod trial;
mod unsaid;

pub use activity::{Activity, Change, ChangeKind, CpuActivity, DeviceActivity};
pub use budget::{Budget, BudgetPart, SlowestBudget, Spent};
pub use bursts::{Burst, BurstKeeper, BurstOf, BurstRequest, Bursts, PackedBursts};
pub use coarse::CoarseHistogram;
pub use comparison::Comparison;
pub use effects::StageEffects;
pub use evidence::{DeviceCounters, Evidence, Unseen};
pub use finding::{Confidence, Finding, Outcome, Severity, Verdict};
pub use histogram::Histogram;
pub use labels::Labels;
pub use limit::{
    ClaimTest, Experiment, Gain, GainBasis, Limit, Prediction, Quantity, Side, StageLimits,
    TestOutcome, TestedClaim,
};
pub use machine::Machine;
pub use membership::Membership;
pub use over_time::{LatencyOverTime, PackedOverTime};
pub use packed::{Packed, PackedHistograms};
pub use run::{
    ARITHMETIC, CiMethod, DirectIo, Ended, ExtentMethod, Extents, Figure, LatencyIntervals,
    Preconditioning, Reading, Run, RunInfo, SCHEMA, Source, StageFigures, Status, Target,
    TargetKind,
};
pub use stack::{
    Array, BlockDevice, DeviceKind, Filesystem, HealthAfter, ImpairedAfter, Impairment,
    ImpairmentKind, Stack, Transport, Unsound, Zoned,
};
pub use together::Together;
pub use trial::{Cpu, Latency, Layers, Trial};
