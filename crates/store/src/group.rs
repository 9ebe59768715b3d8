//! The runs of a group of hosts.

use crate::error::Error;
use crate::open::Store;

impl Store {
    /// Ids of the runs that were made together with other hosts in this group, in the order in
    /// which they began here; none where there is no such group.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ids_together(&self, group: &str) -> Result<Vec<String>, Error> {
        // A document that is damaged is in no group, and is told when somebody asks for it.
        self.connection
            .prepare(
                "SELECT id FROM run WHERE CASE WHEN json_valid(document)
                     THEN json_extract(document, '$.together.group') = ? END ORDER BY key",
            )
            .and_then(|mut ids| ids.query_map([group], |row| row.get(0))?.collect())
            .map_err(self.sql("looking for the runs of a group"))
    }
}
