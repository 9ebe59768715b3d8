//! The arguments, as data. Nothing here looks at the system, but for whether a
//! mistyped word is a path.

mod advise;
mod compare;
mod completions;
mod dd;
mod explain;
mod export;
mod fleet;
mod iostat;
mod labels;
mod man;
mod membership;
mod readahead;
mod report;
mod restore;
mod runs;
mod serve;
mod show;
mod sim;
mod start;
mod together;
mod tune;
mod watch;

pub(crate) use advise::AdviseArgs;
pub(crate) use compare::{CompareArgs, CompareFormat};
pub(crate) use completions::{CompletionsArgs, Shell};
pub(crate) use dd::DdArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::{ExportArgs, Format};
pub(crate) use fleet::FleetArgs;
#[cfg(feature = "fleet")]
pub(crate) use fleet::{FleetAddArgs, FleetCommand, FleetOddArgs, FleetTrendArgs};
pub(crate) use iostat::{IostatArgs, IostatStyle};
pub(crate) use labels::LabelArgs;
pub(crate) use man::ManArgs;
pub(crate) use membership::MembershipArgs;
pub(crate) use readahead::ReadaheadArgs;
pub(crate) use report::{HostsFormat, ReportArgs};
pub(crate) use restore::RestoreArgs;
pub(crate) use runs::{
    DeleteArgs, FilterArgs, ListArgs, NoteArgs, RenameArgs, RunsArgs, RunsCommand, RunsExportArgs,
    Since, TagArgs,
};
pub(crate) use serve::ServeArgs;
pub(crate) use show::{ShowArgs, Span};
pub(crate) use sim::{Reproduced, SimArgs};
pub(crate) use start::StartArgs;
pub(crate) use together::TogetherArgs;
pub(crate) use tune::TuneArgs;
pub(crate) use watch::WatchArgs;

use crate::exit::CODES;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use diskfacts_facts::uses;
use diskfacts_plan::{Observe, Share, file, units};
use std::ffi::OsString;
use std::path::PathBuf;

/// Get the facts about your storage.
///
/// Measures a folder, a file or a block device, and says which layer served the
/// bytes, what limits each stage and which figures to trust. `diskfacts TARGET`
/// is short for `diskfacts measure TARGET`.
#[derive(Debug, Parser)]
#[command(
    name = "diskfacts",
    version,
    subcommand_negates_reqs = true,
    subcommand_precedence_over_arg = true,
    arg_required_else_help = true,
    max_term_width = 80,
    override_usage = "diskfacts [OPTIONS] <TARGET>\n       diskfacts <COMMAND> [OPTIONS]",
    after_help = examples_and_exit_codes()
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What each does is said where its arguments are: the first line in the list of
/// commands, all of it in the command's own help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Measure(MeasureArgs),
    Tune(TuneArgs),
    Plans(PlansArgs),
    Devices(DevicesArgs),
    Dd(DdArgs),
    Iostat(IostatArgs),
    Watch(WatchArgs),
    Readahead(ReadaheadArgs),
    Runs(RunsArgs),
    Show(ShowArgs),
    Explain(ExplainArgs),
    Report(ReportArgs),
    Compare(CompareArgs),
    Together(TogetherArgs),
    Fleet(FleetArgs),
    Export(ExportArgs),
    Serve(ServeArgs),
    Import(ImportArgs),
    Advise(AdviseArgs),
    Sim(SimArgs),
    Restore(RestoreArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

fn examples_and_exit_codes() -> String {
    let codes = CODES.map(|code| format!("{} {}", code.number, code.brief));
    format!(
        "\
Examples:
  diskfacts .                        the disk under this folder, in a minute
  diskfacts measure /srv --for etcd  is it good enough for etcd?
  diskfacts measure /dev/sdb         a block device, read only
  diskfacts measure sim:ssd-sata     a simulated disk, in virtual time
  diskfacts show --claim a           why: the evidence behind a letter
  diskfacts show --json              the last run, for programs

Exit codes: {}.",
        codes.join("; ")
    )
}

/// Headings of `--help`. What people use first stands above them, under "Options".
const TARGET: &str = "Target";
const WHAT: &str = "What to measure";
const HOW: &str = "How to measure it";
const OUTPUT: &str = "Output";
const GENERAL: &str = "Every command";

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    #[arg(
        long,
        global = true,
        help_heading = GENERAL,
        value_name = "PATH",
        help = "The store of runs [default: $XDG_DATA_HOME/diskfacts/runs.db]"
    )]
    pub(crate) store: Option<PathBuf>,
    /// Use colour: auto (on a terminal without `NO_COLOR`), always or never
    #[arg(
        long,
        global = true,
        help_heading = GENERAL,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: When,
    /// Show no progress: only errors and warnings on standard error
    #[arg(long, global = true, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How the figures of a run are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// Verdicts, figures, limits, findings
    Facts,
    /// The lines of the program that the plan imitates
    Classic,
    /// The CSV of that program, for `bon_csv2html`
    ClassicCsv,
    /// Each device in each trial, in `iostat -x` columns
    Iostat,
    /// Read-ahead of each trial, where observed
    Readahead,
}

/// How much of a run its JSON document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonForm {
    /// Without whole histograms and single requests
    Short,
    /// With them
    Full,
}

/// How near the median of a stage is to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// As near as the trials of the plan bring it.
    Off,
    /// Half of its 95 % interval, as a share of it, at most.
    Within(Share),
}

/// How the page cache is kept from serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheProof {
    /// Empty it before each trial
    Drop,
    /// Bypass it by direct I/O
    Direct,
    /// Limit it to 1/8 of the file by a control group (root)
    MemoryLimit,
    /// Make the file twice the memory, as for bonnie++
    TwiceMemory,
}

/// Measure a folder, file or device, and explain the figures
///
/// In a folder diskfacts makes, fills and removes a file of its own. An existing
/// file or device is only read, unless --destroy-data-on names it. The run is
/// stored; `diskfacts show` prints it again, in whole or in part.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts measure .                      the disk under this folder
  diskfacts measure /srv --for etcd        is it good enough for etcd?
  diskfacts measure /dev/sdb --time 5m     a device, read only
  diskfacts measure . --plan write-matrix  which way to write is fastest?")]
pub(crate) struct MeasureArgs {
    /// A folder, file, block device, or simulated disk: sim:PROFILE, sim:FILE.toml
    #[arg(value_name = "TARGET", required = true)]
    pub(crate) target: Option<PathBuf>,
    /// A built-in plan (see `diskfacts plans`) or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "survey")]
    pub(crate) plan: String,
    /// Run only this stage of the plan; repeatable
    #[arg(long = "stage", help_heading = WHAT, value_name = "NAME")]
    pub(crate) stages: Vec<String>,
    /// Time limit of the whole run: 30s, 5m, 1h [default: the plan's, or 60s]
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    pub(crate) time: Option<u64>,
    /// Run the plan's full amounts, if it has some, however long that takes
    #[arg(long, help_heading = WHAT, conflicts_with = "time")]
    pub(crate) full: bool,
    /// Size of the file made in a folder: 512MiB, 4G (binary), 4GB (decimal)
    /// [default: 1GiB, or what fits]
    #[arg(long, help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub(crate) size: Option<u64>,
    /// Measure a loop device of this size over a file in the folder (root)
    #[arg(long = "loop", help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true, conflicts_with = "size")]
    pub(crate) loop_size: Option<u64>,
    /// Keep the page cache from serving stages that start cold, as of bonnie
    /// [default: drop]
    #[arg(long, help_heading = HOW, value_name = "WAY")]
    pub(crate) cache_proof: Option<CacheProof>,
    /// Trials per stage, whatever their precision [default: the plan's]
    #[arg(long, help_heading = HOW, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), allow_hyphen_values = true)]
    pub(crate) trials: Option<u32>,
    /// Add trials, within the time, until the median is known within this (95 %
    /// interval), or off [default: the plan's; 3% for survey]
    #[arg(long, help_heading = HOW, value_name = "SHARE", value_parser = precision, allow_hyphen_values = true)]
    pub(crate) precision: Option<Precision>,
    /// Observers: auto, counters, none, all, or a list of names [default: the
    /// plan's, mostly auto]
    #[arg(long, help_heading = HOW, value_name = "WHO")]
    pub(crate) observe: Option<Observe>,
    /// Test the N least certain claims, each by an experiment of two alternating
    /// stages, in extra time [default: what fits into --time, for survey; without
    /// N 3; 0 tests none]
    #[arg(long, help_heading = HOW, value_name = "N", num_args = 0..=1, default_missing_value = "3", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) settle: Option<u32>,
    #[arg(long = "for", value_name = "USE", help = help_on_uses())]
    pub(crate) uses: Vec<String>,
    /// Exit with 0, not 4, where --for could not be judged
    #[arg(long, help_heading = OUTPUT, requires = "uses")]
    pub(crate) allow_unjudged: bool,
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What every command takes that makes a run of a plan.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Form of the output
    #[arg(long, help_heading = OUTPUT, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Seed of all random choices [default: random; 1 on a simulated disk]
    #[arg(long, help_heading = HOW, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Show all of it while it runs, on the full screen of a terminal
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) live: bool,
    /// Print everything known, not only the first page
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["style", "json"])]
    pub(crate) explain: bool,
    /// Print the run as one JSON document; `full` has whole histograms and single
    /// requests
    #[arg(long, help_heading = OUTPUT, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "short", conflicts_with = "style")]
    pub(crate) json: Option<JsonForm>,
    /// Allow writes that destroy the data on an existing file or device; PATH must
    /// be the target
    #[arg(long, help_heading = TARGET, value_name = "PATH")]
    pub(crate) destroy_data_on: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    #[command(flatten)]
    pub(crate) membership: MembershipArgs,
}

/// List the built-in plans, or print one as TOML to edit
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  diskfacts plans survey > mine.toml; diskfacts measure . --plan mine.toml")]
pub(crate) struct PlansArgs {
    /// The plan to print [default: list them all]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Show the stack under a target: filesystem, devices, settings
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// A folder, file, device or simulated disk [default: all devices]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Store results of dd, bonnie++, iostat, fio and others as runs
///
/// The format is recognised from the text. The runs are explained like measured ones,
/// as far as the text says enough.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diskfacts import fio.json bonnie.txt
  dd if=/dev/zero of=/srv/test bs=1M count=1024 2>&1 | diskfacts import -")]
pub(crate) struct ImportArgs {
    /// Texts with results; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print the runs as one JSON array
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}

impl Cli {
    /// Reads the command line: the program's own name first, then its words.
    ///
    /// # Errors
    /// What clap says of it, or [`Misread::Hint`] where more can be said.
    pub(crate) fn read(words: Vec<OsString>) -> Result<Self, Misread> {
        let first = first_word(&words);
        let read = Self::command().try_get_matches_from(words);
        let matches = read.map_err(|error| {
            let answer = matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            match first.as_deref().and_then(mistyped_command) {
                Some(hint) if !answer => Misread::Hint(hint),
                _ => Misread::Clap(error),
            }
        })?;
        // Without this, `--time 5s measure .` would measure for 60 s.
        if let Some((command, _)) = matches.subcommand() {
            let before = MeasureArgs::augment_args(clap::Command::new(""))
                .get_arguments()
                .find(|argument| {
                    matches.value_source(argument.get_id().as_str())
                        == Some(ValueSource::CommandLine)
                })
                .map(|argument| {
                    let option = argument.get_long().map(|long| format!("--{long}"));
                    option.unwrap_or_else(|| "the target".to_owned())
                });
            if let Some(argument) = before {
                return Err(Misread::Hint(format!(
                    "{argument} stands before the command {command}; put it after it. `diskfacts \
                     {command} --help` lists its options"
                )));
            }
        }
        Self::from_arg_matches(&matches).map_err(Misread::Clap)
    }
}

/// A command line that cannot be understood, or asks for help.
#[derive(Debug)]
pub(crate) enum Misread {
    /// As clap says it; help and version are among it.
    Clap(clap::Error),
    /// A sentence that says what to type instead.
    Hint(String),
}

/// The first word that is no option and belongs to none of those that may stand
/// before a command.
fn first_word(words: &[OsString]) -> Option<String> {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    loop {
        let word = words.next()?;
        if matches!(&*word, "--store" | "--color") {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word.into_owned());
        }
    }
}

/// What to type when `word` is neither a command nor anything to measure, but
/// looks like a command.
pub(crate) fn mistyped_command(word: &str) -> Option<String> {
    let cli = Cli::command();
    let mut commands: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    commands.push("help");
    let a_word = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains('/');
    if !a_word || commands.contains(&word) || std::path::Path::new(word).exists() {
        return None;
    }
    let near = file::nearest(word, &commands)?;
    Some(format!(
        "there is no command, file, folder or device '{word}'; did you mean the command \
         `diskfacts {near}`? `diskfacts --help` lists the commands"
    ))
}

fn help_on_uses() -> String {
    let names: Vec<&str> = uses().iter().map(|known| known.name).collect();
    format!(
        "Judge for this use: exit with 3 if it fails, 4 if that cannot be judged; \
         repeatable: {}",
        names.join(", ")
    )
}

fn duration(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("0 leaves no time to measure; 60s is usual".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

fn precision(text: &str) -> Result<Precision, String> {
    if text == "off" {
        return Ok(Precision::Off);
    }
    match Share::parse(text) {
        Ok(share) if share.is_zero() => {
            Err("no number of trials reaches 0%; 3% is usual".to_owned())
        }
        Ok(share) => Ok(Precision::Within(share)),
        Err(_) => Err("write a percentage above 0% and up to 100%, as in 3%, or off".to_owned()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    units::parse_size(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    /// This command and its parts.
    fn each(command: &clap::Command) -> Vec<&clap::Command> {
        let parts = command.get_subcommands().flat_map(each);
        std::iter::once(command).chain(parts).collect()
    }

    #[test]
    fn each_command_says_what_it_is_for_in_a_line_of_the_list() {
        for command in each(&Cli::command()) {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            // Two columns, the longest name, two columns, 80 in all.
            let room = 80 - 2 - "completions".len() - 2;
            let fits = about.len() <= room && !about.contains('\n');
            assert!(fits && !about.is_empty(), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn no_line_of_an_example_or_a_list_is_broken_at_80_columns() {
        for command in each(&Cli::command()) {
            let below = command.get_after_help().map(ToString::to_string);
            for line in below.iter().flat_map(|text| text.lines()) {
                let is_set = line.starts_with("  ");
                assert!(!is_set || line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn a_bare_target_is_measured() {
        let cli = Cli::try_parse_from(["diskfacts", "/tmp", "--time", "5s"]).expect("it parses");
        assert!(cli.command.is_none());
        assert_eq!(cli.measure.target, Some("/tmp".into()));
        assert_eq!(cli.measure.time, Some(5_000_000_000));
    }

    #[test]
    fn wrong_units_and_no_time_are_refused_with_what_would_be_right() {
        for (arguments, wanted) in [
            (["diskfacts", "measure", ".", "--time", "0"], "60s is usual"),
            (
                ["diskfacts", "measure", ".", "--time", "5 parsecs"],
                "ms, s, m, h",
            ),
            (["diskfacts", "measure", ".", "--size", "4 apples"], "KiB"),
        ] {
            let error = Cli::try_parse_from(arguments)
                .expect_err("it is wrong")
                .to_string();
            assert!(error.contains(wanted), "{arguments:?}: {error}");
        }
    }
}
