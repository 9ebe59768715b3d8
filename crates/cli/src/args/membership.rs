//! What a run belongs to, and where it is put, for whoever brings the runs of many hosts together.

use clap::Args;
use diskfacts_record::labels::LabelError;
use diskfacts_record::{Membership, membership};
use std::path::PathBuf;

/// Heading of `--help`.
const FLEET: &str = "One of many hosts";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MembershipArgs {
    /// The group of runs, of all hosts, that this one belongs to
    #[arg(long, help_heading = FLEET, value_name = "NAME", value_parser = membership::group, allow_hyphen_values = true)]
    group: Option<String>,
    /// Say of the run where it was made, as in rack=r12; repeatable
    #[arg(long = "label", help_heading = FLEET, value_name = "KEY=VALUE", value_parser = membership::label, allow_hyphen_values = true)]
    labels: Vec<(String, String)>,
    /// Also write the run to a file in this folder, HOST-ID.dfrun, when it ends
    #[arg(long, help_heading = FLEET, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

impl MembershipArgs {
    /// All of it together.
    ///
    /// # Errors
    /// Where there are too many labels.
    pub(crate) fn membership(&self) -> Result<Membership, LabelError> {
        Membership::of(self.group.clone(), self.labels.iter().cloned())
    }
}
