//! The arguments of `diskfacts runs`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use diskfacts_record::labels;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;

/// List the stored runs; name, tag, delete, export and import them
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// What is done with stored runs, where they are not listed.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Give a run a name, or take it away
    Rename(RenameArgs),
    /// Keep a text with a run, or take it away
    Note(NoteArgs),
    /// Tag runs with words to find them by, or take these away
    Tag(TagArgs),
    /// Delete stored runs: list them, ask, delete
    Delete(DeleteArgs),
    /// Write whole runs to a file, for another machine
    Export(RunsExportArgs),
    /// Store the runs of files that `export` wrote
    Import(TakeArgs),
    /// Bring the figures that SQL sees up to date
    Figures,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// The run: `last`, its name, its id, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Its name from now on, which other runs may have too
    #[arg(value_name = "NAME", value_parser = labels::name, required_unless_present = "remove", conflicts_with = "remove")]
    pub(crate) name: Option<String>,
    /// Take its name away
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    /// The run: `last`, its name, its id, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// What is to be known of it, in the place of an older note
    #[arg(value_name = "TEXT", value_parser = labels::note, required_unless_present = "remove", conflicts_with = "remove")]
    pub(crate) text: Option<String>,
    /// Take its note away
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// The run: `last`, its name, its id, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The words
    #[arg(value_name = "TAG", value_parser = labels::tag, required = true)]
    pub(crate) tags: Vec<String>,
    /// Take these tags away
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsExportArgs {
    /// The runs: `last`, names, ids, beginnings of ids
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// The file, a new one, FILE.dfrun for example; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// The files; `-` is standard input
    #[arg(value_name = "FILE.dfrun", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The runs: `last`, names, ids, beginnings of ids
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Delete without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also delete unfinished runs whose process cannot be seen from here, and may
    /// still be running
    #[arg(long)]
    pub(crate) unfinished: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List at most this many, latest first [default: 50]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which of the stored runs are meant: those that are all of what is said here.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only runs of this target, or of targets in this folder
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    /// Only runs begun since then: 7d, 2h, 2026-11-21 (local midnight),
    /// 2026-11-21T04:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    pub(crate) since: Option<Since>,
    /// Only runs of the plan of this name
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Only runs of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only runs with this tag; repeatable, all of them are asked for
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only runs made on this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
}

impl FilterArgs {
    /// Whether anything was said.
    pub(crate) fn any(&self) -> bool {
        let narrowed = self.target.is_some() || self.since.is_some() || self.host.is_some();
        narrowed || self.plan.is_some() || self.name.is_some() || !self.tags.is_empty()
    }
}

impl ListArgs {
    /// Whether anything was said of the list.
    pub(crate) fn any(&self) -> bool {
        self.filter.any() || self.limit.is_some() || self.json
    }
}

/// A moment as it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// So long before now.
    Ago(SignedDuration),
    /// The midnight with which this day begins where the program runs.
    Day(Date),
    /// This moment.
    At(Timestamp),
}

impl Since {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let at = text.len() - text.chars().next_back().map_or(0, char::len_utf8);
        let seconds = match &text[at..] {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            "d" => Some(86_400),
            "w" => Some(7 * 86_400),
            _ => None,
        };
        let number = text[..at].parse::<u32>().ok();
        if let Some((seconds, number)) = seconds.zip(number) {
            return Ok(Self::Ago(SignedDuration::from_secs(
                seconds * i64::from(number),
            )));
        }
        let at = text.parse().map(Self::At);
        at.or_else(|_| text.parse().map(Self::Day)).map_err(|_| {
            "write how long ago (30m, 2h, 7d, 1w), a day (2026-11-21), or a moment \
             (2026-11-21T04:00:00Z)"
                .to_owned()
        })
    }

    /// The moment that is meant when it is `now`, in this time zone. What lies before all
    /// time is its beginning.
    pub(crate) fn moment(self, now: Timestamp, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
            Self::Day(day) => day
                .to_zoned(zone.clone())
                .map_or(Timestamp::MIN, |midnight| midnight.timestamp()),
            Self::At(moment) => moment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_given_by_how_long_ago_by_a_day_or_by_itself() {
        let now: Timestamp = "2026-11-21T04:12:50Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        for (given, meant) in [
            ("2h", "2026-11-21T02:12:50Z"),
            ("90m", "2026-11-21T02:42:50Z"),
            ("7d", "2026-11-14T04:12:50Z"),
            ("1w", "2026-11-14T04:12:50Z"),
            ("2026-11-21", "2026-11-20T22:00:00Z"),
            ("2026-11-21T01:00:00Z", "2026-11-21T01:00:00Z"),
        ] {
            let moment = Since::parse(given).unwrap().moment(now, &zone);
            assert_eq!(moment.to_string(), meant, "{given}");
        }
        for wrong in ["", "7", "d", "-2h", "7 fortnights", "2026-13-01", "ä"] {
            let error = Since::parse(wrong).expect_err(wrong);
            assert!(error.contains("7d"), "{error}");
        }
    }
}
