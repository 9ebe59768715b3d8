//! The arguments of `diskfacts explain`.

use clap::Args;

/// Explain a limiter or finding: evidence, threshold, remedy
///
/// No run is needed: it says what is the same of every run. What it was in a run,
/// with its figures and paths, says `diskfacts show RUN --claim NAME`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts explain           all names, each with what it is
  diskfacts explain rotation  when it is said, what refutes it, what to do")]
pub(crate) struct ExplainArgs {
    /// The limiter or finding [default: list them all]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}
