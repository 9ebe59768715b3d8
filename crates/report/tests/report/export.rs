//! Runs and comparisons in the formats of other tools, read back by readers of these formats.

mod ci;
mod csv;
mod distributions;
mod hostile;
mod openmetrics;
mod perfetto;

use crate::fixtures;
use diskfacts_record::Run;

/// A run of two stages with histograms, and single requests.
fn detailed() -> Run {
    fixtures::rare()
}
