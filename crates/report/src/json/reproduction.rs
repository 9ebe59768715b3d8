//! The document of `sim --reproduce seeds --json`.

use super::document;
use diskfacts_disk::reproduce::{Account, Cell, OpenPoint, Prediction, Reproduction, Verdict};
use diskfacts_record::SCHEMA;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    holds: bool,
    cells: Vec<CellOf<'a>>,
    gates: Vec<GateOf<'a>>,
    open_points: Vec<OpenOf<'a>>,
    tables: Vec<TableOf<'a>>,
}

#[derive(Serialize)]
struct CellOf<'a> {
    seed: u32,
    table: &'a str,
    lines: &'a [u32],
    what: &'a str,
    unit: &'a str,
    measured: f64,
    simulated: Option<f64>,
    error: Option<f64>,
    gate: Option<String>,
    reason: Option<&'a str>,
}

impl<'a> CellOf<'a> {
    fn of(cell: &'a Cell) -> Self {
        Self {
            seed: cell.seed,
            table: cell.table,
            lines: &cell.lines,
            what: &cell.what,
            unit: cell.unit,
            measured: cell.measured,
            simulated: cell.simulated,
            error: cell.error(),
            gate: cell.gate.map(|gate| gate.to_string()),
            reason: cell.reason,
        }
    }
}

#[derive(Serialize)]
struct GateOf<'a> {
    gate: String,
    limit: &'a str,
    found: &'a str,
    holds: bool,
    binding: bool,
}

impl<'a> GateOf<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        Self {
            gate: verdict.gate.to_string(),
            limit: verdict.limit,
            found: &verdict.found,
            holds: verdict.holds,
            binding: verdict.gate.is_binding(),
        }
    }
}

#[derive(Serialize)]
struct OpenOf<'a> {
    question: &'a str,
    settled: &'a str,
    decides: &'a str,
    predictions: Vec<PredictionOf<'a>>,
}

impl<'a> OpenOf<'a> {
    fn of(point: &'a OpenPoint) -> Self {
        Self {
            question: point.question,
            settled: &point.settled,
            decides: point.decides,
            predictions: point.predictions.iter().map(PredictionOf::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct PredictionOf<'a> {
    hypothesis: &'a str,
    experiment: &'a str,
    value: f64,
    unit: &'a str,
    measured: Option<f64>,
}

impl<'a> PredictionOf<'a> {
    fn of(prediction: &'a Prediction) -> Self {
        Self {
            hypothesis: prediction.hypothesis,
            experiment: &prediction.experiment,
            value: prediction.value,
            unit: prediction.unit,
            measured: prediction.measured,
        }
    }
}

#[derive(Serialize)]
struct TableOf<'a> {
    seed: u32,
    about: &'a str,
    rows: usize,
    gated: usize,
    reported: usize,
    apart: usize,
    reason: Option<&'a str>,
}

impl<'a> TableOf<'a> {
    fn of(account: &'a Account) -> Self {
        Self {
            seed: account.seed,
            about: account.about,
            rows: account.rows,
            gated: account.gated,
            reported: account.reported,
            apart: account.apart,
            reason: (!account.reason.is_empty()).then_some(account.reason),
        }
    }
}

/// The document of `sim --reproduce seeds --json`: `schema`, `holds`, `cells`,
/// `gates`, `open_points` and `tables`.
///
/// # Panics
/// Never, as [`super::run`].
pub fn reproduction(result: &Reproduction) -> String {
    document(&Document {
        schema: SCHEMA,
        holds: result.holds(),
        cells: result.cells.iter().map(CellOf::of).collect(),
        gates: result.verdicts.iter().map(GateOf::of).collect(),
        open_points: result.open_points.iter().map(OpenOf::of).collect(),
        tables: result.accounts.iter().map(TableOf::of).collect(),
    })
}
