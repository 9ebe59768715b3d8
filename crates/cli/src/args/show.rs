//! The arguments of `diskfacts show`.

use super::{JsonForm, Style};
use clap::Args;
use diskfacts_plan::units;

/// Show a stored run: its first page, a claim, a stage, or all
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts show                           the last run
  diskfacts show last~1 --claim a          the evidence behind a letter
  diskfacts show --stage random-read-qd32  one stage whole")]
pub(crate) struct ShowArgs {
    /// `last`, or `last~1` for the one before; its name, or `NAME~1`; its id, or
    /// the beginning of it; or a file: FILE.dfrun, or printed with --json
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// Form of the output
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Print the run as one JSON document; `full` has whole histograms and single
    /// requests
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "short", conflicts_with = "style")]
    pub(crate) json: Option<JsonForm>,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// Which trial of the stage is drawn [default: the one most unlike the others]
    #[arg(long, value_name = "N", requires = "stage")]
    pub(crate) trial: Option<u32>,
    /// What happened in the stage's trial at a time from its start, or between two: 7s,
    /// 7.2s..9s
    #[arg(long, value_name = "TIME", requires = "stage", value_parser = span)]
    pub(crate) at: Option<Span>,
}

/// A time of a trial, nanoseconds from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from_ns: u64,
    /// The same, where a moment is meant.
    pub(crate) to_ns: u64,
}

/// Reads `7`, `7s` or `7.2s..9s`.
fn span(text: &str) -> Result<Span, String> {
    let parse = |text: &str| units::parse_duration(text).map_err(|error| error.to_string());
    let (from_ns, to_ns) = match text.split_once("..") {
        None => {
            let at_ns = parse(text)?;
            (at_ns, at_ns)
        }
        Some((from, to)) => (parse(from)?, parse(to)?),
    };
    if to_ns < from_ns {
        return Err("it ends before it begins".to_owned());
    }
    Ok(Span { from_ns, to_ns })
}

/// What of a run is shown, where that is not its first page.
#[derive(Debug, Args)]
#[group(multiple = false, conflicts_with_all = ["style", "json"])]
pub(crate) struct PartArgs {
    /// Print everything known
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print one claim whole: evidence, what refutes it, what to do. NAME is a
    /// letter or number of the first page, a use, or a limiter or finding
    /// (`diskfacts explain` lists them)
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Option<String>,
    /// Print one stage whole
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Option<String>,
    /// Print where the time of an operation went, for each stage
    #[arg(long)]
    pub(crate) budget: bool,
    /// Print the plan file that would settle what limits this stage
    #[arg(long, value_name = "STAGE")]
    pub(crate) settle: Option<String>,
}
