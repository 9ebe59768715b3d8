//! What the documents leave open: what each hypothesis predicts, and the
//! experiment that would decide.

use super::Cell;
use super::seed000::{Skip, strided, strided_reads};
use super::seed003::{Durability, synchronous};
use super::setting::Setting;
use crate::profile::Drive;
use crate::request::{Kind, Request};

/// What a hypothesis predicts of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The hypothesis.
    pub hypothesis: &'static str,
    /// The experiment.
    pub experiment: String,
    /// What would be measured.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What the document measured, where it did.
    pub measured: Option<f64>,
}

/// A question that the documents leave open.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenPoint {
    /// The question.
    pub question: &'static str,
    /// What each answer predicts.
    pub predictions: Vec<Prediction>,
    /// What the simulation settles.
    pub settled: String,
    /// The experiment on a real disk that would decide.
    pub decides: &'static str,
}

/// Settles what can be settled; `cells` has the measured figures.
pub(super) fn settle(cells: &[Cell], setting: &Setting<'_>) -> Vec<OpenPoint> {
    vec![second_revolution(cells, setting), skips(cells, setting)]
}

const KIB: u64 = 1 << 10;
/// Largest request of the block layer in the rival explanation.
const SPLIT: u64 = 1280 * KIB;

/// Revolutions that each synchronous write of `size` takes besides its
/// transfer at `bytes_per_s`, for a rate of `rate` bytes/s.
fn revolutions(size: u64, rate: f64, bytes_per_s: f64) -> f64 {
    let seconds = size as f64 / rate - size as f64 / bytes_per_s;
    seconds / (60.0 / 7200.0)
}

/// Rate of synchronous writes that reach the disk as commands of at most
/// [`SPLIT`] bytes, each on the platter before the next is sent.
fn one_command_after_another(setting: &Setting<'_>, size: u64) -> f64 {
    let mut runner = setting.computer("hdd-7200-sync");
    let count = (32 << 20) / size;
    for index in 0..count {
        let (start, end) = (index * size, (index + 1) * size);
        for at in (start..end).step_by(SPLIT as usize) {
            let len = SPLIT.min(end - at);
            runner.run(&Request::write(0, at, len).fua());
        }
    }
    (count * size) as f64 / runner.seconds()
}

/// Why do synchronous writes from 2 MiB on take two revolutions?
fn second_revolution(cells: &[Cell], setting: &Setting<'_>) -> OpenPoint {
    let disk = setting.profile("hdd-7200-sync");
    // What the media takes at the rim, where the document wrote.
    let media = match &disk.drive {
        Drive::Hdd(hdd) => hdd.zones[0].bytes_per_s as f64,
        Drive::Ssd(ssd) => ssd.link_bytes_per_s as f64,
    };
    let mut predictions = Vec::new();
    for kib in [1024, 1408, 1536, 1792, 2048, 4096, 8192] {
        let size = kib * KIB;
        let what = format!("synchronous writes of {kib} KiB");
        let measured = cells
            .iter()
            .find(|cell| cell.what == what)
            .map(|cell| revolutions(size, cell.measured * 1_048_576.0, media));
        let threshold = synchronous(&disk, setting, size, Durability::Flush);
        let threshold = revolutions(size, threshold, media);
        let each = revolutions(size, one_command_after_another(setting, size), media);
        let once = if size > SPLIT { 2.0 } else { 1.0 };
        for (hypothesis, value) in [
            (
                "the drive begins to write when 2 MiB, or all of the data, has arrived",
                threshold,
            ),
            (
                "requests of 1280 KiB, each written before the next is sent",
                each,
            ),
            (
                "requests of 1280 KiB, one revolution more for any number of them",
                once,
            ),
        ] {
            predictions.push(Prediction {
                hypothesis,
                experiment: format!("write and flush of {kib} KiB"),
                value,
                unit: "revolutions",
                measured,
            });
        }
    }
    OpenPoint {
        question: "seed 003: why do synchronous writes from 2 MiB on take a second revolution?",
        settled:
            "one written request after another is refuted by the rows of 4 MiB and more, which \
                  take two revolutions and not four and seven; a threshold and a single extra \
                  revolution fit all measured rows and differ only between 1.25 and 1.65 MiB"
                .to_owned(),
        predictions,
        decides: "write and flush of 1408 and 1536 KiB, one at a time, contiguous, on a disk at \
                  rest: one revolution besides the transfer speaks for the threshold, two for the \
                  split; and again with max_sectors_kb changed, which moves the step only if it is \
                  the split",
    }
}

/// Is the skip of seed 000 fixed or drawn at random?
fn skips(cells: &[Cell], setting: &Setting<'_>) -> OpenPoint {
    let rows = strided_reads();
    let mut predictions = Vec::new();
    let mut squares = [0.0, 0.0];
    for row in &rows {
        let measured = cells
            .iter()
            .find(|cell| cell.lines == [row.line])
            .map_or(f64::NAN, |cell| cell.measured);
        let hypotheses = [
            (
                "the skip is drawn at random with the printed mean",
                Skip::Random,
            ),
            (
                "the skip is fixed, and a block is added in each pass",
                Skip::Fixed,
            ),
        ];
        for (index, (hypothesis, skip)) in hypotheses.into_iter().enumerate() {
            let seconds = strided(setting, row, skip, Kind::Read, false);
            let value = seconds * 1e3;
            squares[index] += (value / measured - 1.0).powi(2);
            predictions.push(Prediction {
                hypothesis,
                experiment: format!("{}, a block every {} KiB", row.place, row.skip_blocks * 4),
                value,
                unit: "ms/op",
                measured: Some(measured),
            });
        }
    }
    let [random, fixed] = squares.map(|sum| (sum / rows.len() as f64).sqrt() * 100.0);
    OpenPoint {
        question: "seed 000: is the skip of 'fixed:false' fixed or drawn at random?",
        settled: format!(
            "the random skip is off by {random:.1} % (RMS of 18 rows), the fixed one by {fixed:.1} %, \
             with the same disk"
        ),
        predictions,
        decides: "4 KiB direct reads with a fixed and with a random skip of 1 MiB on an idle disk at \
                  7200 rpm: about 0.7 of a revolution each speaks for the random one; a fixed skip \
                  gives the same time each, near 0.9 or 1.0",
    }
}
