//! The measured figures of the documents that the project starts from, and the
//! same from simulation.
//!
//! Each document's access patterns are run on its one profile; no parameter is
//! changed from row to row, except what the row itself varies (block size,
//! read-ahead, whether the write cache is on). A gate is a limit to the error
//! of some of the cells. Cells that the model of the device cannot explain are
//! run all the same and say why they are not gated.

mod gates;
mod open_points;
mod runner;
mod seed000;
mod seed001;
mod seed002;
mod seed003;
mod seed004;
mod table;

pub use gates::{Gate, Verdict};
pub use open_points::{OpenPoint, Prediction};

/// A measured figure and the simulated one.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Number of the document, 0 to 4.
    pub seed: u32,
    /// Lines of the document that the measured figure comes from; where there
    /// are several it is their median, or as `what` says.
    pub lines: Vec<u32>,
    /// What was done.
    pub what: String,
    /// Unit of both figures.
    pub unit: &'static str,
    /// What the document says.
    pub measured: f64,
    /// What the simulation says; `None` where there is no model to run.
    pub simulated: Option<f64>,
    /// The gate that limits the error.
    pub gate: Option<Gate>,
    /// Why no gate does.
    pub reason: Option<&'static str>,
}

impl Cell {
    /// Simulated over measured, less 1.
    pub fn error(&self) -> Option<f64> {
        self.simulated
            .map(|simulated| simulated / self.measured - 1.0)
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reproduction {
    /// The cells, document by document.
    pub cells: Vec<Cell>,
    /// Each gate and what was found.
    pub verdicts: Vec<Verdict>,
    /// What the documents leave open, and which experiment would decide.
    pub open_points: Vec<OpenPoint>,
}

impl Reproduction {
    /// Whether every gate holds that is more than a report.
    pub fn holds(&self) -> bool {
        let mut binding = self
            .verdicts
            .iter()
            .filter(|verdict| verdict.gate.is_binding());
        binding.all(|verdict| verdict.holds)
    }
}

/// Runs every document's patterns on its profile. `seed` determines where the
/// random strides go and how far the spindles had turned.
pub fn reproduce(seed: u64) -> Reproduction {
    let mut cells = Vec::new();
    cells.extend(seed000::cells(seed));
    cells.extend(seed001::cells(seed));
    cells.extend(seed002::cells(seed));
    cells.extend(seed003::cells(seed));
    cells.extend(seed004::cells(seed));
    let verdicts = gates::judge(&cells, seed);
    Reproduction {
        verdicts,
        open_points: open_points::settle(&cells, seed),
        cells,
    }
}

/// The built-in profile of that name.
fn named(name: &str) -> crate::profile::Profile {
    crate::profile::profile(name).expect("the profiles of the documents are built in")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
