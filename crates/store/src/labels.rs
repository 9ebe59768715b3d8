//! What people call a run: columns beside its document, which is written anew when the run
//! ends and would take back what was changed meanwhile.

use crate::error::Error;
use crate::open::Store;
use diskfacts_record::Labels;
use rusqlite::{Row, params};
use std::collections::BTreeSet;

impl Store {
    /// Changes what people call the runs of these ids: all of them or none.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when one is not there, [`Error::Label`] where it could not be
    /// called so; else what keeps the store from being written.
    pub fn relabel(&mut self, ids: &[&str], change: impl Fn(&mut Labels)) -> Result<(), Error> {
        const DOING: &str = "changing what a run is called";
        let transaction = self.write(DOING)?;
        for id in ids {
            let Some(found) = self.key_of_id(&transaction, id)? else {
                return Err(self.unknown(&transaction, id)?);
            };
            let mut labels = transaction
                .query_row(
                    "SELECT name, note, tags FROM run WHERE key = ?",
                    [found.key],
                    labels_of,
                )
                .map_err(self.sql(DOING))?;
            change(&mut labels);
            labels.check()?;
            transaction
                .execute(
                    "UPDATE run SET name = ?, note = ?, tags = ? WHERE key = ?",
                    params![labels.name, labels.note, tags(&labels), found.key],
                )
                .map_err(self.sql(DOING))?;
        }
        transaction.commit().map_err(self.sql(DOING))
    }

    /// The names that runs have and the tags, each once, in alphabetical order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn names_and_tags(&self) -> Result<(Vec<String>, Vec<String>), Error> {
        const DOING: &str = "listing the names of the runs";
        let mut names = BTreeSet::new();
        let mut all = BTreeSet::new();
        let mut select = self
            .connection
            .prepare("SELECT name, note, tags FROM run")
            .map_err(self.sql(DOING))?;
        let labels = select.query_map([], labels_of).map_err(self.sql(DOING))?;
        for labels in labels {
            let labels = labels.map_err(self.sql(DOING))?;
            names.extend(labels.name);
            all.extend(labels.tags);
        }
        Ok((names.into_iter().collect(), all.into_iter().collect()))
    }
}

/// The column of the tags.
pub(crate) fn tags(labels: &Labels) -> String {
    let tags: Vec<&str> = labels.tags.iter().map(String::as_str).collect();
    tags.join(" ")
}

/// What is in the columns of a row.
pub(crate) fn labels_of(row: &Row<'_>) -> rusqlite::Result<Labels> {
    let tags: String = row.get("tags")?;
    Ok(Labels {
        name: row.get("name")?,
        note: row.get("note")?,
        tags: tags.split_ascii_whitespace().map(str::to_owned).collect(),
    })
}
