//! Bytes to runs.

use super::{
    DOCUMENT_BYTES_MAX, Error, HEAD_BYTES_MAX, Head, Histograms, RUN_BYTES_MAX, TRIAL_BYTES_MAX,
    VERSION,
};
use crate::kept::{Kept, KeptTrial, Parcel};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diskfacts_record::{Packed, PackedBursts, PackedHistograms, PackedOverTime, SCHEMA};
use flate2::bufread::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};

/// Characters of an id, at most; those that diskfacts makes have 24.
const ID_CHARS_MAX: usize = 64;

/// How a member of gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The runs of a file, one after the other, so that no more than one has to be in memory.
/// After an error there are no more.
pub struct Reader<R> {
    input: R,
    /// Which run of how many came last.
    last: Option<(u32, u32)>,
    /// At its end, or at an error.
    is_over: bool,
    /// Bytes of all runs that came, unpacked.
    came: u64,
    /// How many they may be, at most.
    bytes_max: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads nothing yet.
    pub fn new(input: R) -> Self {
        Self {
            input,
            last: None,
            is_over: false,
            came: 0,
            bytes_max: u64::MAX,
        }
    }

    /// Takes no more than so many bytes of all runs together, unpacked, with those that came: for
    /// who keeps them all.
    pub fn limit(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
    }

    /// Counts also so many bytes, unpacked, that came of other files, for who keeps the runs of
    /// several files under one limit.
    pub fn came_before(&mut self, bytes: u64) {
        self.came = self.came.saturating_add(bytes);
    }

    /// Bytes of all runs that came, unpacked, with those of other files.
    pub fn came(&self) -> u64 {
        self.came
    }

    fn run(&mut self) -> Result<Option<Parcel>, Error> {
        let begins = self.input.fill_buf().map_err(Error::Io)?;
        if begins.is_empty() {
            return match self.last {
                None => Err(Error::NotOurs),
                Some((number, of)) if number < of => Err(Error::CutShort),
                Some(_) => Ok(None),
            };
        }
        // A pipe may have brought one byte.
        let known = begins.len().min(GZIP.len());
        if begins[..known] != GZIP[..known] {
            return Err(match self.last {
                None => Error::NotOurs,
                Some(_) => Error::damaged("what is behind a run is none"),
            });
        }
        let left_of_all = self.bytes_max.saturating_sub(self.came);
        let left = RUN_BYTES_MAX.min(left_of_all);
        let mut lines = Lines {
            unpacked: BufReader::new(GzDecoder::new(&mut self.input)),
            left,
            of_all: (left < RUN_BYTES_MAX).then_some(self.bytes_max),
        };
        let head = match lines.line(HEAD_BYTES_MAX, "the head of a run") {
            // Of another program, or less than would tell; what is behind a run of ours is damage.
            Err(Error::Damaged { .. } | Error::TooLarge { .. } | Error::CutShort)
                if self.last.is_none() =>
            {
                return Err(Error::NotOurs);
            }
            line => head(&line?).map_err(|error| match (error, self.last) {
                (Error::NotOurs, Some(_)) => Error::damaged("what is behind a run is none"),
                (error, _) => error,
            })?,
        };
        let comes_next = match self.last {
            Some((number, of)) if number < of => (head.number, head.of) == (number + 1, of),
            _ => head.number == 1 && head.of >= 1,
        };
        if !comes_next {
            return Err(Error::damaged(format!(
                "run {} of {} is not what follows",
                head.number, head.of
            )));
        }
        let parcel = parcel(&head, &mut lines)?;
        lines.end()?;
        self.came += left - lines.left;
        self.last = Some((head.number, head.of));
        Ok(Some(parcel))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Parcel, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.run().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

/// The lines of a run, and how much may yet come.
struct Lines<R> {
    unpacked: BufReader<GzDecoder<R>>,
    left: u64,
    /// How much all runs may be, where that is what limits this one.
    of_all: Option<u64>,
}

impl<R: BufRead> Lines<R> {
    /// A line without its end.
    fn line(&mut self, bytes_max: u64, what: &str) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let limit = bytes_max.min(self.left);
        let mut piece = (&mut self.unpacked).take(limit + 1);
        piece
            .read_until(b'\n', &mut bytes)
            .map_err(Error::unpacking)?;
        if bytes.len() as u64 > limit {
            if let Some(bytes_max) = self.of_all.filter(|_| limit < bytes_max) {
                return Err(Error::TooMany { bytes_max });
            }
            return Err(Error::TooLarge {
                what: if limit < bytes_max { "a run" } else { what }.to_owned(),
                bytes_max: if limit < bytes_max {
                    RUN_BYTES_MAX
                } else {
                    bytes_max
                },
            });
        }
        self.left -= bytes.len() as u64;
        if bytes.pop() != Some(b'\n') {
            return Err(Error::damaged(format!("{what} is missing")));
        }
        String::from_utf8(bytes).map_err(|error| Error::because(what, error))
    }

    /// Nothing is behind the last line but the checksum, which is right.
    fn end(&mut self) -> Result<(), Error> {
        match self.unpacked.fill_buf().map_err(Error::unpacking)? {
            [] => Ok(()),
            _ => Err(Error::damaged("a run has more behind it than its trials")),
        }
    }
}

/// What a line says that is the head of a run.
fn head(line: &str) -> Result<Head, Error> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Version {
        dfrun: u64,
    }
    let version: Version = serde_json::from_str(line).map_err(|_| Error::NotOurs)?;
    if version.dfrun > u64::from(VERSION) {
        return Err(Error::Newer {
            found: version.dfrun,
        });
    }
    let head: Head = serde_json::from_str(line)
        .map_err(|error| Error::because("the head of a run is wrong", error))?;
    if !is_id(&head.id) {
        return Err(Error::damaged("what should be the id of a run is none"));
    }
    if head.schema > SCHEMA {
        return Err(Error::NewerRun {
            id: head.id,
            found: head.schema,
            known: SCHEMA,
        });
    }
    head.labels
        .check()
        .map_err(|error| Error::because(format!("what the run {} is called", head.id), error))?;
    Ok(head)
}

/// What names a run in commands and on terminals.
fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=ID_CHARS_MAX).contains(&text.len()) && text.chars().all(is_plain)
}

/// The run behind its head, checked.
fn parcel<R: BufRead>(head: &Head, lines: &mut Lines<R>) -> Result<Parcel, Error> {
    let id = &head.id;
    let mut kept = Kept {
        id: id.clone(),
        schema: head.schema,
        labels: head.labels.clone(),
        writer: head.writer.clone(),
        document: lines.line(
            DOCUMENT_BYTES_MAX,
            &format!("the description of the run {id}"),
        )?,
        trials: Vec::new(),
    };
    for number in 1..=head.trials {
        let what = format!("trial {number} of the run {id}");
        let line = lines.line(TRIAL_BYTES_MAX, &what)?;
        kept.trials.push(trial(&line, &what)?);
    }
    let run = kept.read().map_err(|unreadable| {
        let what = format!("{} of the run {id}", unreadable.what);
        Error::because(what, unreadable.source)
    })?;
    let wrong = |what: &str| Err(Error::damaged(format!("the run {id} {what}")));
    run.run
        .membership
        .check()
        .map_err(|error| Error::because(format!("what the run {id} belongs to"), error))?;
    if run.run.id != *id || run.schema != head.schema {
        return wrong("is another one in its description");
    }
    if run.trials.len() != kept.trials.len() {
        return wrong("has trials in its description");
    }
    let orders: BTreeSet<u32> = run.trials.iter().map(|trial| trial.order).collect();
    if orders.len() != run.trials.len() || orders.contains(&0) {
        return wrong("has two trials in one place");
    }
    Ok(Parcel { run, kept })
}

fn trial(line: &str, what: &str) -> Result<KeptTrial, Error> {
    #[derive(Deserialize)]
    struct Line<'a> {
        histograms: Histograms,
        #[serde(borrow)]
        trial: &'a RawValue,
    }
    let line: Line<'_> = serde_json::from_str(line).map_err(|error| Error::because(what, error))?;
    let decoded = |text: &String| {
        let bytes = STANDARD.decode(text);
        bytes.map_err(|error| Error::because(what, error))
    };
    let packed = |text: &String| -> Result<Packed, Error> {
        let bytes = decoded(text)?;
        Packed::from_bytes(&bytes).map_err(|error| Error::because(what, error))
    };
    let Histograms {
        read,
        write,
        service,
        over_time,
        bursts,
    } = &line.histograms;
    Ok(KeptTrial {
        document: line.trial.get().to_owned(),
        histograms: PackedHistograms {
            read: packed(read)?,
            write: packed(write)?,
            service: service.as_ref().map(packed).transpose()?,
        },
        latency_over_time: over_time
            .as_ref()
            .map(|text| {
                let bytes = decoded(text)?;
                PackedOverTime::from_bytes(&bytes).map_err(|error| Error::because(what, error))
            })
            .transpose()?,
        bursts: bursts
            .as_ref()
            .map(|text| {
                let bytes = decoded(text)?;
                PackedBursts::from_bytes(&bytes).map_err(|error| Error::because(what, error))
            })
            .transpose()?,
    })
}
