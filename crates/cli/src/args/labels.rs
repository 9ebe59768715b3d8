//! What a run is called when it is stored.

use clap::Args;
use diskfacts_record::labels::LabelError;
use diskfacts_record::{Labels, labels};

/// Heading of `--help`.
const STORED: &str = "The stored run";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LabelArgs {
    /// Give the run this name; the name is then its newest run, NAME~1 the one
    /// before
    #[arg(long, help_heading = STORED, value_name = "NAME", value_parser = labels::name, allow_hyphen_values = true)]
    name: Option<String>,
    /// Keep this text with the run
    #[arg(long, help_heading = STORED, value_name = "TEXT", value_parser = labels::note, allow_hyphen_values = true)]
    note: Option<String>,
    /// Tag the run with this word, to find it by; repeatable
    #[arg(long = "tag", help_heading = STORED, value_name = "TAG", value_parser = labels::tag, allow_hyphen_values = true)]
    tags: Vec<String>,
}

impl LabelArgs {
    /// All of them together.
    ///
    /// # Errors
    /// Where there are too many.
    pub(crate) fn labels(&self) -> Result<Labels, LabelError> {
        let labels = Labels {
            name: self.name.clone(),
            note: self.note.clone(),
            tags: self.tags.iter().cloned().collect(),
        };
        labels.check()?;
        Ok(labels)
    }
}
