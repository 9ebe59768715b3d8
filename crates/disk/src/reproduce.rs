//! The measured figures of the documents that the project starts from, and the
//! same from simulation.
//!
//! Each document's access patterns are run on its one profile; no parameter is
//! changed from row to row, except what the row itself varies (block size,
//! read-ahead, whether the write cache is on). A gate is a limit to the error
//! of some of the cells. Cells that the model of the device cannot explain are
//! run all the same and say why they are not gated.

mod account;
mod gates;
mod open_points;
mod runner;
mod seed000;
mod seed001;
mod seed002;
mod seed003;
mod seed004;
mod setting;
mod table;

pub use account::Account;
pub use gates::{Gate, Verdict, judge_cells};
pub use open_points::{OpenPoint, Prediction};
pub use setting::{DOCUMENTS, Unfit, profiles_of, seed_of};

use crate::profile::Profile;
use setting::Setting;

/// A measured figure and the simulated one.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Number of the document, 0 to 4.
    pub seed: u32,
    /// Table that the measured figure stands in, and its rows, from 0.
    pub table: &'static str,
    /// See [`Self::table`].
    pub rows: Vec<usize>,
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
    /// What became of each row of the documents' tables.
    pub accounts: Vec<Account>,
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
/// random strides go and how far the spindles had turned. `instead` takes the
/// place of the built-in profile that has its name.
///
/// # Errors
/// Only with `instead`: no document's disk has its name, or the patterns cannot
/// run on it.
pub fn reproduce(seed: u64, instead: Option<&Profile>) -> Result<Reproduction, Unfit> {
    let setting = Setting::new(seed, instead)?;
    let mut cells = Vec::new();
    for of_document in [
        seed000::cells,
        seed001::cells,
        seed002::cells,
        seed003::cells,
        seed004::cells,
    ] {
        cells.extend(of_document(&setting));
        setting.outcome()?;
    }
    let verdicts = gates::judge(&cells, &setting);
    let open_points = open_points::settle(&cells, &setting);
    setting.outcome()?;
    Ok(Reproduction {
        accounts: account::of(&cells),
        verdicts,
        open_points,
        cells,
    })
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
