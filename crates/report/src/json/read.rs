//! The document of a run, read back.

use diskfacts_record::{Run, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;

/// Why a document that is one of a run cannot be read as one.
#[derive(Debug)]
pub enum RunError {
    /// A newer diskfacts wrote it.
    Newer {
        /// Its schema version.
        found: u64,
    },
    /// It is damaged, or something was taken out of it.
    Damaged(serde_json::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { found } => write!(
                f,
                "it is a run of schema version {found}, and this diskfacts knows versions up to \
                 {SCHEMA}; a newer diskfacts reads it"
            ),
            Self::Damaged(error) => {
                write!(f, "it is not the whole document of a run: {error}")
            }
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Newer { .. } => None,
            Self::Damaged(error) => Some(error),
        }
    }
}

/// The run of a text that is the document of one, as [`super::run`] prints it;
/// `None` for any other text. Its histograms are not in it.
pub fn read_run(text: &str) -> Option<Result<Run, RunError>> {
    #[derive(Deserialize)]
    struct Head {
        schema: u64,
        #[serde(rename = "run")]
        _run: IgnoredAny,
        #[serde(rename = "trials")]
        _trials: IgnoredAny,
    }
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let head: Head = serde_json::from_str(text).ok()?;
    if head.schema > u64::from(SCHEMA) {
        return Some(Err(RunError::Newer { found: head.schema }));
    }
    Some(serde_json::from_str(text).map_err(RunError::Damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documents_of_runs_are_taken_for_some() {
        for other in [
            "",
            "102 MB/s",
            "{}",
            "{\"schema\": 1}",
            "{\"jobs\": []}",
            "[",
        ] {
            assert!(read_run(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_newer_document_and_a_damaged_one_are_refused_with_the_reason() {
        let newer = "{\"schema\": 2, \"run\": {}, \"trials\": []}";
        let error = read_run(newer).unwrap().unwrap_err().to_string();
        assert!(error.contains("schema version 2"), "{error}");
        let damaged = "{\"schema\": 1, \"run\": {}, \"trials\": []}";
        let error = read_run(damaged).unwrap().unwrap_err().to_string();
        assert!(error.contains("not the whole document"), "{error}");
    }
}
