//! The arguments of `diskfacts compare`.

use clap::{Args, ValueEnum};
use diskfacts_facts::compare::Demanded;

/// Say what changed between runs, and how sure that is
#[derive(Debug, Args)]
#[command(after_help = "\
A and B are a run, or a set of runs separated by commas:
  last, last~1, nightly, nightly~1,      a stored run: the newest or the one
  an id or its beginning                 before, one by its name or its id
  baseline.dfrun, baseline.json,         runs exported or printed with --json,
  results.txt                            or results that `import` reads
  last:scheduler=none                    its trials with this setting
Or both are groups of a fleet, each host held against itself:
  fleet/@monday                          the runs of `measure --group monday` in
                                         the folder of `fleet add --into fleet`

Conditions of --fail-if: [STAGE:][p50|p90|p99|p99.9:]CHANGE:PERCENT%. CHANGE is
slower, faster or changed (significantly, by this much or more) or not-same (not
shown to be the same within this much).

Examples:
  diskfacts compare last~1 last
  diskfacts compare baseline.json last --fail-if slower:5%
  diskfacts compare last:scheduler=none last:scheduler=bfq
  diskfacts compare fleet/@monday fleet/@today --fail-if slower:5%")]
pub(crate) struct CompareArgs {
    /// Before: the reference
    #[arg(value_name = "A", required = true)]
    pub(crate) a: String,
    /// After: what is compared with it
    #[arg(value_name = "B", required = true)]
    pub(crate) b: String,
    /// Exit with 3 if this holds for a stage, as in slower:5%; repeatable
    #[arg(long, value_name = "CONDITION", value_parser = Demanded::parse)]
    pub(crate) fail_if: Vec<Demanded>,
    /// Exit with 0, not 4, where a condition could not be judged
    #[arg(long, requires = "fail_if")]
    pub(crate) allow_unjudged: bool,
    /// Call stages the same if they surely differ by less
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "5%")]
    pub(crate) same_within: f64,
    /// Print the comparison as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print it in the format of another program, for continuous integration
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<CompareFormat>,
}

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// `JUnit`'s XML: a test case for each stage
    Junit,
    /// Annotations of GitHub Actions; the table goes to `$GITHUB_STEP_SUMMARY`
    Github,
    /// A table, for a summary or a comment
    Markdown,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%');
    number
        .and_then(|number| number.trim().parse::<f64>().ok())
        .filter(|number| *number > 0.0 && *number <= 100.0)
        .map(|number| number / 100.0)
        .ok_or_else(|| {
            "it takes a percentage above 0% and up to 100%, as in --same-within 5%".to_owned()
        })
}
