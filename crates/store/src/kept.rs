//! A run as it is kept: the texts and bytes of its rows, which are all there is of it.
//!
//! Texts stay as they were written. A diskfacts of the same schema version may have put keys
//! there that this one does not know, and they are not to be lost on the way to another store.

use crate::error::Error;
use crate::labels::labels_of;
use crate::open::Store;
use crate::read::writer;
use crate::writer::Writer;
use diskfacts_plan::sha256;
use diskfacts_record::{
    Labels, Packed, PackedBursts, PackedHistograms, PackedOverTime, Run, SCHEMA, Trial,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::error::Error as StdError;

/// A run as it is kept, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub(crate) id: String,
    /// Version of its documents.
    pub(crate) schema: u32,
    pub(crate) labels: Labels,
    pub(crate) writer: Option<Writer>,
    /// The run as JSON, with an empty list of trials.
    pub(crate) document: String,
    /// In their order.
    pub(crate) trials: Vec<KeptTrial>,
}

/// A trial of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptTrial {
    pub(crate) document: String,
    pub(crate) histograms: PackedHistograms,
    pub(crate) latency_over_time: Option<PackedOverTime>,
    pub(crate) bursts: Option<PackedBursts>,
}

/// A run from elsewhere, checked: what is kept of it, and what that says.
#[derive(Debug, Clone)]
pub struct Parcel {
    /// The run, whole.
    pub run: Run,
    pub(crate) kept: Kept,
}

impl Parcel {
    /// What is kept of the run.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The same run under an id of its own, where the one that has its id is of another host;
    /// `None` where it may be the same run in another state. One that was read from a document of
    /// others has no host that made it.
    pub(crate) fn beside(&self, known: &Kept) -> Option<Self> {
        let of_known: Run = serde_json::from_str(&known.document).ok()?;
        let is_another = self.run.machine.is_another(&of_known.machine);
        if !is_another || self.run.run.source.is_some() {
            return None;
        }
        let id = self.id_beside();
        // Ids have no character that JSON writes otherwise. The first key that is called so is the
        // run's; what was read tells whether it was.
        let document = [":", ": "].iter().find_map(|colon| {
            let [was, is] = [&self.kept.id, &id].map(|id| format!("\"id\"{colon}\"{id}\""));
            let document = &self.kept.document;
            document
                .contains(&was)
                .then(|| document.replacen(&was, &is, 1))
        })?;
        let mut kept = self.kept.clone();
        (kept.id, kept.document) = (id.clone(), document);
        let mut run = self.run.clone();
        run.run.id = id;
        (kept.read().ok()? == run).then_some(Self { run, kept })
    }

    /// An id that follows from the run: the moment that its own begins with, and a digest of that
    /// and of where it was made.
    fn id_beside(&self) -> String {
        let (own, machine) = (&self.kept.id, &self.run.machine);
        let known = |text: &Option<String>| text.clone().unwrap_or_default();
        let (host, id) = (known(&machine.host), known(&machine.machine_id));
        let of = [own.as_str(), &host, &id, &self.run.target.path].join("\n");
        let digest = sha256::hex(&sha256::digest(of.as_bytes())[..4]);
        let moment = own
            .rsplit_once('-')
            .map_or(own.as_str(), |(moment, _)| moment);
        format!("{moment}-{digest}")
    }
}

/// Why what is kept cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Unreadable {
    /// Which part.
    pub(crate) what: String,
    pub(crate) source: Box<dyn StdError + Send + Sync>,
}

impl Kept {
    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether both are the same run, whatever people call it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.schema == other.schema
            && self.document == other.document
            && self.trials == other.trials
    }

    /// The run.
    pub(crate) fn read(&self) -> Result<Run, Unreadable> {
        let mut run: Run = serde_json::from_str(&self.document).map_err(|error| Unreadable {
            what: "the description".to_owned(),
            source: error.into(),
        })?;
        run.run.labels = self.labels.clone();
        for (number, kept) in (1..).zip(&self.trials) {
            let mut trial: Trial =
                serde_json::from_str(&kept.document).map_err(|error| unreadable(number, error))?;
            trial.histograms = kept.histograms.clone();
            trial.latency_over_time.clone_from(&kept.latency_over_time);
            trial.evidence.bursts.clone_from(&kept.bursts);
            run.trials.push(trial);
        }
        Ok(run)
    }
}

fn unreadable(trial: usize, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Unreadable {
    Unreadable {
        what: format!("trial {trial}"),
        source: source.into(),
    }
}

impl Store {
    /// The run of this id as it is kept, to be written to a file.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when it is not there, [`Error::NewerRun`] or
    /// [`Error::DamagedRun`] when it cannot be understood; else what keeps the store from
    /// being read.
    pub fn kept(&self, id: &str) -> Result<Kept, Error> {
        let transaction = self.read("reading a run")?;
        let Some(found) = self.key_of_id(&transaction, id)? else {
            return Err(self.unknown(&transaction, id)?);
        };
        let kept = self.kept_of(&transaction, found.key)?;
        // Nobody could take in what cannot be read here.
        kept.read()
            .map_err(|unreadable| self.damaged(id, unreadable))?;
        Ok(kept)
    }

    /// The run in this row.
    pub(crate) fn kept_of(&self, connection: &Connection, key: i64) -> Result<Kept, Error> {
        const DOING: &str = "loading a run";
        let (schema, mut kept) = connection
            .query_row("SELECT * FROM run WHERE key = ?", [key], |row| {
                let kept = Kept {
                    id: row.get("id")?,
                    schema: SCHEMA,
                    labels: labels_of(row)?,
                    writer: writer(row)?,
                    document: row.get("document")?,
                    trials: Vec::new(),
                };
                Ok((row.get::<_, i64>("schema")?, kept))
            })
            .map_err(self.sql(DOING))?;
        kept.schema = u32::try_from(schema)
            .ok()
            .filter(|schema| *schema <= SCHEMA)
            .ok_or_else(|| Error::NewerRun {
                id: kept.id.clone(),
                found: schema,
                known: SCHEMA,
            })?;
        let mut select = connection
            .prepare("SELECT * FROM trial WHERE run = ? ORDER BY position")
            .map_err(self.sql(DOING))?;
        let mut rows = select.query([key]).map_err(self.sql(DOING))?;
        while let Some(row) = rows.next().map_err(self.sql(DOING))? {
            let position: usize = row.get("position").map_err(self.sql(DOING))?;
            let trial =
                trial(row).map_err(|error| self.damaged(&kept.id, unreadable(position, error)))?;
            kept.trials.push(trial);
        }
        Ok(kept)
    }

    pub(crate) fn damaged(&self, id: &str, unreadable: Unreadable) -> Error {
        Error::DamagedRun {
            what: unreadable.what,
            id: id.to_owned(),
            path: self.path.clone(),
            source: unreadable.source,
        }
    }
}

fn trial(row: &Row<'_>) -> Result<KeptTrial, Box<dyn StdError + Send + Sync>> {
    let histogram = |column: &str| -> Result<Packed, Box<dyn StdError + Send + Sync>> {
        Ok(Packed::from_bytes(row.get_ref(column)?.as_blob()?)?)
    };
    Ok(KeptTrial {
        document: row.get("document")?,
        histograms: PackedHistograms {
            read: histogram("histogram_read")?,
            write: histogram("histogram_write")?,
            service: match row.get_ref("histogram_service")? {
                ValueRef::Null => None,
                _ => Some(histogram("histogram_service")?),
            },
        },
        latency_over_time: match row.get_ref("latency_over_time")? {
            ValueRef::Null => None,
            stored => Some(PackedOverTime::from_bytes(stored.as_blob()?)?),
        },
        bursts: match row.get_ref("bursts")? {
            ValueRef::Null => None,
            stored => Some(PackedBursts::from_bytes(stored.as_blob()?)?),
        },
    })
}
