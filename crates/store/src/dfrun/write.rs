//! Runs to bytes.

use super::{DOCUMENT_BYTES_MAX, Error, Head, Histograms, RUN_BYTES_MAX, TRIAL_BYTES_MAX, VERSION};
use crate::kept::{Kept, KeptTrial};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diskfacts_record::{Packed, PackedHistograms};
use flate2::{Compression, GzBuilder};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::Write;

/// Writes a run, the `number`-th, from 1, of as many as the file has. A file is the runs one
/// behind the other. Returns its bytes, unpacked.
///
/// # Errors
/// [`Error::TooLarge`] of a run that no [`Reader`](super::Reader) would take;
/// [`Error::Damaged`] where what is stored of it is no JSON; [`Error::Io`] from `out`.
pub fn write(out: impl Write, kept: &Kept, (number, of): (u32, u32)) -> Result<u64, Error> {
    let head = Head {
        dfrun: VERSION,
        id: kept.id.clone(),
        number,
        of,
        schema: kept.schema,
        trials: kept.trials.len(),
        labels: kept.labels.clone(),
        writer: kept.writer.clone(),
    };
    // Neither a moment nor the name of a system: the same run is the same bytes.
    let member = GzBuilder::new().operating_system(255);
    let mut lines = Lines {
        packed: member.write(out, Compression::default()),
        bytes: 0,
        id: &kept.id,
    };
    lines.line(&json(&head)?, DOCUMENT_BYTES_MAX, "its head")?;
    lines.line(&kept.document, DOCUMENT_BYTES_MAX, "its description")?;
    for (number, trial) in (1..).zip(&kept.trials) {
        let what = format!("trial {number}");
        lines.line(&line_of(trial, &what)?, TRIAL_BYTES_MAX, &what)?;
    }
    lines.packed.finish().map_err(Error::Io)?;
    Ok(lines.bytes)
}

/// Lines that are packed, and how much there is of them.
struct Lines<'a, W: Write> {
    packed: flate2::write::GzEncoder<W>,
    bytes: u64,
    id: &'a str,
}

impl<W: Write> Lines<'_, W> {
    fn line(&mut self, line: &str, bytes_max: u64, what: &str) -> Result<(), Error> {
        let bytes = line.len() as u64 + 1;
        self.bytes += bytes;
        let (what, bytes_max) = if bytes > bytes_max {
            (format!("{what} of the run {}", self.id), bytes_max)
        } else if self.bytes > RUN_BYTES_MAX {
            (format!("the run {}", self.id), RUN_BYTES_MAX)
        } else {
            // In JSON a line end is only ever a space.
            let line = line.replace('\n', " ");
            let written = self.packed.write_all(line.as_bytes());
            return written
                .and_then(|()| self.packed.write_all(b"\n"))
                .map_err(Error::Io);
        };
        Err(Error::TooLarge { what, bytes_max })
    }
}

fn line_of(kept: &KeptTrial, what: &str) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Line<'a> {
        histograms: Histograms,
        trial: &'a RawValue,
    }
    // Named one by one, so that a new one is not forgotten.
    let PackedHistograms {
        read,
        write,
        service,
    } = &kept.histograms;
    let (over_time, bursts) = (kept.latency_over_time.as_ref(), kept.bursts.as_ref());
    let text = |packed: &Packed| STANDARD.encode(packed.as_bytes());
    json(&Line {
        histograms: Histograms {
            read: text(read),
            write: text(write),
            service: service.as_ref().map(text),
            over_time: over_time.map(|packed| STANDARD.encode(packed.as_bytes())),
            bursts: bursts.map(|packed| STANDARD.encode(packed.as_bytes())),
        },
        trial: serde_json::from_str(&kept.document).map_err(|error| Error::because(what, error))?,
    })
}

fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::because("it is no JSON", error))
}
