//! The arguments, as data. Nothing here looks at the system, but for whether a
//! mistyped word is a path.

mod completions;
mod iostat;
mod readahead;
mod restore;
mod runs;
mod show;
mod tune;
mod watch;

pub(crate) use completions::{CompletionsArgs, Shell};
pub(crate) use iostat::{IostatArgs, IostatStyle};
pub(crate) use readahead::ReadaheadArgs;
pub(crate) use restore::RestoreArgs;
pub(crate) use runs::{DeleteArgs, ListArgs, RunsArgs, RunsCommand};
pub(crate) use show::ShowArgs;
pub(crate) use tune::TuneArgs;
pub(crate) use watch::WatchArgs;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use diskfacts_facts::compare::Demanded;
use diskfacts_facts::uses;
use diskfacts_plan::{Observe, Share, file, units};
use std::ffi::OsString;
use std::path::PathBuf;

/// Get the facts about your storage.
///
/// Measures a folder, a file or a block device, and says which layer served the
/// bytes, whether the figures can be trusted, and what they mean. `diskfacts
/// TARGET` is the same as `diskfacts measure TARGET`.
#[derive(Debug, Parser)]
#[command(
    name = "diskfacts",
    version,
    subcommand_negates_reqs = true,
    subcommand_precedence_over_arg = true,
    arg_required_else_help = true,
    max_term_width = 80,
    override_usage = "diskfacts [OPTIONS] <TARGET>\n       diskfacts <COMMAND> [OPTIONS]",
    after_help = "\
Examples:
  diskfacts .                        the disk under this folder, in a minute
  diskfacts measure /srv --for etcd  whether it is good enough for etcd
  diskfacts measure /dev/sdb         a device, only read
  diskfacts measure sim:ssd-sata     a simulated disk, in virtual time
  diskfacts devices .                what lies under this folder
  diskfacts show --json              the last run, for programs

Exit codes: 0 done; 1 an operation failed; 2 the call was wrong; 3 a verdict \
asked for with --for failed, or a condition of --fail-if held; 4 one of them could not be judged; 130 stopped by Ctrl-C; 143 stopped by SIGTERM, 129 by SIGHUP, 131 by SIGQUIT."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a folder, a file or a block device and state the facts
    Measure(MeasureArgs),
    /// Measure under each combination of settings, and say which is best
    Tune(TuneArgs),
    /// List the built-in plans, or print one as TOML, ready to edit
    Plans(PlansArgs),
    /// Show what lies under a target: filesystem, devices, settings
    Devices(DevicesArgs),
    /// Copy as dd does, and say what its figure hides
    Dd(DdArgs),
    /// Show what the machine's devices do now, in iostat's columns
    Iostat(IostatArgs),
    /// Show what becomes of each I/O request, as it happens
    Watch(WatchArgs),
    /// Watch what the kernel's read-ahead decides while somebody reads
    Readahead(ReadaheadArgs),
    /// List the stored runs, latest first
    Runs(RunsArgs),
    /// Show a stored run again
    Show(ShowArgs),
    /// Say what changed between two runs, and how sure that is
    Compare(CompareArgs),
    /// Store results of dd, bonnie++, iostat, fio and others as runs
    Import(ImportArgs),
    /// Say which of the options that were measured to take
    Advise(AdviseArgs),
    /// List the simulated disks, print one, or reproduce the seeds
    Sim(SimArgs),
    /// Put back settings of the kernel that a killed run had changed
    Restore(RestoreArgs),
    /// Print what makes a shell complete options, plans, runs and stages
    Completions(CompletionsArgs),
}

/// Headings of `--help`. What people use first stands above them, under "Options".
const TARGET: &str = "Target";
const WHAT: &str = "What to measure";
const HOW: &str = "How to measure it";
const OUTPUT: &str = "Output";

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[arg(
        long,
        global = true,
        help_heading = OUTPUT,
        value_name = "PATH",
        help = "Where runs are stored [default: $XDG_DATA_HOME/diskfacts/runs.db]"
    )]
    pub(crate) store: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, help_heading = OUTPUT, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// Say nothing on standard error but errors and warnings: no progress
    #[arg(long, global = true)]
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
    /// All that is known, with findings and verdicts
    Facts,
    /// The lines of the program that the plan was taken from
    Classic,
    /// The line of CSV of that program, for `bon_csv2html` (bonnie)
    ClassicCsv,
    /// What each device did in each trial, in the columns of `iostat -x`
    Iostat,
    /// What the kernel's read-ahead decided in each trial, where it was observed
    Readahead,
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
    /// Bypass it with direct I/O
    Direct,
    /// Limit it to an eighth of the file with a control group; needs root
    MemoryLimit,
    /// Make the file twice the memory, as bonnie++ wants it
    TwiceMemory,
}

#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// The folder, file or block device to measure, or a simulated disk:
    /// sim:PROFILE, sim:FILE.toml
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
    /// Run the full amounts of a plan that has some, however long it takes; not
    /// with --time
    #[arg(long, help_heading = WHAT, conflicts_with = "time")]
    pub(crate) full: bool,
    /// Size of the file made in a folder: 512MiB, 4G (binary), 4GB (decimal)
    /// [default: 1GiB, or what fits]
    #[arg(long, help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub(crate) size: Option<u64>,
    /// Measure a loop device of this size over a temporary file in the folder;
    /// needs root
    #[arg(long = "loop", help_heading = TARGET, value_name = "SIZE", value_parser = size, allow_hyphen_values = true, conflicts_with = "size")]
    pub(crate) loop_size: Option<u64>,
    /// How to keep the page cache from serving stages that start cold (bonnie)
    /// [default: drop]
    #[arg(long, help_heading = HOW, value_name = "WAY")]
    pub(crate) cache_proof: Option<CacheProof>,
    /// Trials of each stage, whatever its precision [default: the plan's]
    #[arg(long, help_heading = HOW, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), allow_hyphen_values = true)]
    pub(crate) trials: Option<u32>,
    /// Repeat stages, within the time, until the 95 % interval of the median is
    /// within this on either side, or off [default: the plan's; 3% for survey]
    #[arg(long, help_heading = HOW, value_name = "SHARE", value_parser = precision, allow_hyphen_values = true)]
    pub(crate) precision: Option<Precision>,
    /// Observers of the trials: auto, counters, none, all, or names separated by
    /// commas [default: the plan's; mostly auto]
    #[arg(long, help_heading = HOW, value_name = "WHO")]
    pub(crate) observe: Option<Observe>,
    /// Test the N least certain claims after --time, each with two alternating
    /// stages; 0 for none [default: what fits into the time,
    /// of survey; 3 without N]
    #[arg(long, help_heading = HOW, value_name = "N", num_args = 0..=1, default_missing_value = "3", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) settle: Option<u32>,
    #[arg(long = "for", value_name = "USE", help = help_on_uses())]
    pub(crate) uses: Vec<String>,
    /// Exit with 0, not 4, if a use of --for could not be judged
    #[arg(long, help_heading = OUTPUT, requires = "uses")]
    pub(crate) allow_unjudged: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What every command takes that makes a run of a plan.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// How to print the figures
    #[arg(long, help_heading = OUTPUT, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Seed of all random choices, to repeat a run [default: random; 1 on a
    /// simulated disk]
    #[arg(long, help_heading = HOW, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print everything, not only the first page
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["style", "json"])]
    pub(crate) explain: bool,
    /// Print the run as one JSON document
    #[arg(long, help_heading = OUTPUT, conflicts_with = "style")]
    pub(crate) json: bool,
    /// Allow writes to an existing file or device, destroying its data; must name
    /// exactly the target
    #[arg(long, help_heading = TARGET, value_name = "PATH")]
    pub(crate) destroy_data_on: Option<PathBuf>,
}

/// Copy as GNU dd does, and say what its figure hides: how much lay only in the
/// page cache when its clock stopped, and how long the final flush took.
#[derive(Debug, Args)]
#[command(after_help = "\
Operands, as those of GNU dd:
  if=FILE      what is read [default: standard input]
  of=FILE      what is written: a new file, /dev/null, a pipe; what exists only
               with --destroy-data-on [default: standard output]
  bs=N         bytes of a block [default: 512]
  count=N      blocks to copy [default: all]
  skip=N       blocks of the input to pass over first
  seek=N       blocks of the output to pass over first
  iflag=LIST   direct, dsync, sync, nocache, fullblock, skip_bytes, count_bytes
  oflag=LIST   direct, dsync, sync, nocache, seek_bytes
  conv=LIST    fsync, fdatasync, notrunc
  status=WORD  none or noxfer: fewer lines of --style classic; progress

N takes c (1), w (2), b (512), k, M, G, ... (powers of 1024), kB, MB, ... (of
1000), and products: 2x512. A B behind it means bytes instead of blocks.

Example:
  diskfacts dd if=/dev/zero of=/srv/test bs=1M count=1024")]
pub(crate) struct DdArgs {
    /// NAME=VALUE, in any order
    #[arg(value_name = "OPERAND")]
    pub(crate) operands: Vec<OsString>,
    /// How the figures are printed
    #[arg(long, value_name = "STYLE", default_value = "facts")]
    pub(crate) style: Style,
    /// Print the run as one JSON document
    #[arg(long, conflicts_with = "style")]
    pub(crate) json: bool,
    /// Write to an existing file or a device, destroying what it holds; must
    /// name what of= names
    #[arg(long, value_name = "PATH")]
    pub(crate) destroy_data_on: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PlansArgs {
    /// The plan to print
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// The folder, file, device or simulated disk to look under [default: all
    /// devices]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A and B are runs, or sets of runs with commas between them:
  last, last~1, an id or its beginning   a stored run
  baseline.json, results.txt             a run that was printed with --json, or
                                         results that `import` reads
  last:scheduler=none                    those of its trials with this setting

Conditions of --fail-if: [STAGE:][p50|p90|p99|p99.9:]CHANGE:PERCENT%, where
CHANGE is slower, faster or changed (by so much or more, and not by chance), or
not-same (not shown to be the same within so much).

Examples:
  diskfacts compare last~1 last
  diskfacts compare baseline.json last --fail-if slower:5%
  diskfacts compare last:scheduler=none last:scheduler=bfq")]
pub(crate) struct CompareArgs {
    /// What to compare with: before, the reference
    #[arg(value_name = "A", required = true)]
    pub(crate) a: String,
    /// What to compare: after, the new one
    #[arg(value_name = "B", required = true)]
    pub(crate) b: String,
    /// Exit with 3 if this holds of a stage, as in slower:5%; may be given
    /// several times
    #[arg(long, value_name = "CONDITION", value_parser = Demanded::parse)]
    pub(crate) fail_if: Vec<Demanded>,
    /// Exit with 0, not 4, where a condition could not be judged in some stage
    #[arg(long, requires = "fail_if")]
    pub(crate) allow_unjudged: bool,
    /// Differences that are surely smaller count as none
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "5%")]
    pub(crate) same_within: f64,
    /// Print the comparison as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Documents with results; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print what was read as one JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Weights, each a number of 0 or more; what is not named does not count:
  seq-read      reading in order
  shared-read   reading in order while others use the disk
  seq-write     writing in order
  rewrite       rewriting in order
  seeks         operations far from each other
  log-writes    writes that are synced one by one
  tail-latency  99th percentile of log writes and seeks
  cpu           processor time per byte or operation

Examples:
  diskfacts advise last last~1 --for etcd
  diskfacts advise last --weights seq-read=3,seq-write=1")]
pub(crate) struct AdviseArgs {
    /// Runs as `show` takes them: ids, beginnings of ids, `last`, `last~1`, files
    /// [default: last]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Weigh as this use does (see `measure --help`) [default: each thing by
    /// itself]
    #[arg(long = "for", value_name = "USE")]
    pub(crate) usage: Option<String>,
    /// Weigh so: seq-read=3,seq-write=1; not with --for
    #[arg(long, value_name = "LIST", conflicts_with = "usage")]
    pub(crate) weights: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// The profile to print, or a TOML file to check and print
    #[arg(value_name = "PROFILE|FILE")]
    pub(crate) profile: Option<String>,
    /// Run the access patterns of the seed documents, and print measured,
    /// simulated and error, cell by cell; a PROFILE stands in for the built-in
    /// one that has its name
    #[arg(long, value_name = "WHAT")]
    pub(crate) reproduce: Option<Reproduced>,
    /// Seed of all random choices of --reproduce [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reproduced {
    /// The five documents that the project starts from
    Seeds,
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
                    "{argument} stands before the command {command}; options of a command stand \
                     behind it, and `diskfacts {command} --help` lists them"
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
        "Judge for this use only; exit with 3 if it fails, 4 if it could not be judged; \
         repeatable: {}",
        names.join(", ")
    )
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

fn duration(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("0 leaves no time to measure anything; 60s is usual".to_owned()),
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
            Err("0% is reached by no number of trials; 3% is usual".to_owned())
        }
        Ok(share) => Ok(Precision::Within(share)),
        Err(_) => Err("write a number above 0, up to 100, and %, as in 3%, or off".to_owned()),
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
