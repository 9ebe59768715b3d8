//! The arguments of `diskfacts show`.

use super::Style;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Its id, the beginning of its id, `last`, or `last~1` for the one before;
    /// or a file that was printed with --json
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// How the figures are printed
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Print the run as one JSON document
    #[arg(long, conflicts_with = "style")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) part: PartArgs,
}

/// What of a run is shown, where that is not its first page.
#[derive(Debug, Args)]
#[group(multiple = false, conflicts_with_all = ["style", "json"])]
pub(crate) struct PartArgs {
    /// Everything that is known
    #[arg(long)]
    pub(crate) explain: bool,
    /// One claim whole, with its evidence, what refutes it and what to do: by its
    /// number or letter on the first page, or by the name of a limiter, a finding
    /// or a use
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Option<String>,
    /// One stage with all that is known of it
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
    /// Where the time of an operation went, of each stage
    #[arg(long)]
    pub(crate) budget: bool,
    /// The plan file that would settle what limited this stage
    #[arg(long, value_name = "STAGE")]
    pub(crate) settle: Option<String>,
}
