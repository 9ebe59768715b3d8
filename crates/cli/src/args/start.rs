//! How a run starts together with those of other hosts.

use clap::{Args, ValueEnum};
use diskfacts_plan::units;
use diskfacts_record::together::Layout;
use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

/// Heading of `--help`.
const TOGETHER: &str = "With other hosts";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StartArgs {
    /// Start at this moment, as other hosts do: 2027-01-31T13:00:00Z, or 13:00:00Z
    /// for the next one
    #[arg(long, help_heading = TOGETHER, value_name = "TIME", value_parser = StartAt::parse, requires = "group", allow_hyphen_values = true, conflicts_with_all = ["precision", "settle", "full", "together", "alone"])]
    pub(crate) start_at: Option<StartAt>,
    /// This host's clock is off by no more than this [default: what the kernel
    /// says]
    #[arg(long, help_heading = TOGETHER, value_name = "DURATION", value_parser = clock_error, requires = "start_at", allow_hyphen_values = true)]
    pub(crate) clock_error: Option<u64>,
    /// Time to prepare each trial in [default: a quarter of the trial, at least 1s]
    #[arg(long, help_heading = TOGETHER, value_name = "DURATION", value_parser = super::duration, requires = "start_at", allow_hyphen_values = true)]
    pub(crate) gap: Option<u64>,
    /// Measure together with the other processes that mpirun, mpiexec or srun
    /// started, one on each host
    #[arg(long, help_heading = TOGETHER, conflicts_with_all = ["precision", "settle", "full", "live", "alone"])]
    pub(crate) together: bool,
    /// Begin, and go on, when at least so many hosts are there [default: all to
    /// begin, two to go on]
    #[arg(long, help_heading = TOGETHER, value_name = "N", requires = "together", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_hyphen_values = true)]
    pub(crate) at_least: Option<u32>,
    /// Several processes may measure one device of one machine
    #[arg(long, help_heading = TOGETHER, requires = "together")]
    pub(crate) several_per_host: bool,
    /// Which bytes each host uses: `own`, a file of its own; `slice`, its part of one
    /// file; `same`, one file that all use whole [default: own]
    #[arg(long, help_heading = TOGETHER, value_name = "LAYOUT", value_enum, hide_possible_values = true, requires = "together", conflicts_with = "at_least")]
    pub(crate) layout: Option<LayoutArg>,
    /// Read what the host N ranks on has written, so that no host reads what its own
    /// memory still holds [default N: 1]
    #[arg(long, help_heading = TOGETHER, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", requires = "together", conflicts_with = "at_least", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) shift: Option<u32>,
    /// Measure as if nothing but this process had been started, though a launcher
    /// of MPI started several
    #[arg(long, help_heading = TOGETHER)]
    pub(crate) alone: bool,
}

/// [`Layout`], as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutArg {
    /// A file for each host.
    Own,
    /// A part of one file for each host.
    Slice,
    /// One file, whole, for all hosts.
    Same,
}

impl From<LayoutArg> for Layout {
    fn from(asked: LayoutArg) -> Self {
        match asked {
            LayoutArg::Own => Self::Own,
            LayoutArg::Slice => Self::Slice,
            LayoutArg::Same => Self::Same,
        }
    }
}

/// A moment that all hosts mean alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartAt {
    Moment(Timestamp),
    /// A time of the day in UTC.
    Daily(Time),
}

const FORMS: &str = "give a moment that every host takes for the same one, in UTC or with an \
                     offset: 2027-01-31T13:00:00Z, or 13:00:00Z for the next time that it is so \
                     late; `date -u -d '+2 min' +%FT%TZ` prints one";

impl StartAt {
    fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('+') || text == "now" {
            return Err(format!(
                "each host would count from the moment at which it was started itself, and they \
                 would not start together; {FORMS}"
            ));
        }
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(Self::Moment(moment));
        }
        let time = text.strip_suffix(['Z', 'z']).map(str::parse::<Time>);
        match time {
            Some(Ok(time)) => Ok(Self::Daily(time)),
            Some(Err(error)) => Err(format!("{error}; {FORMS}")),
            None => Err(format!(
                "without Z or an offset each host would take it in a zone of its own; {FORMS}"
            )),
        }
    }

    /// The moment that is meant now: of a time of the day the nearest, which is at most twelve
    /// hours away on either side. So a host that comes a second too late is told so, and does
    /// not wait for a day.
    ///
    /// # Errors
    /// When it is over.
    pub(crate) fn after(self, now: Timestamp) -> Result<Timestamp, String> {
        let moment = match self {
            Self::Moment(moment) => moment,
            Self::Daily(time) => nearest(time, now),
        };
        if moment > now {
            return Ok(moment);
        }
        Err(format!(
            "--start-at {moment} is over: it is {now} here, and the other hosts have begun \
             without this one; give all of them a later moment, with time enough to start them \
             and to fill their files"
        ))
    }
}

/// The moment nearest to `now` at which it is so late in UTC.
fn nearest(time: Time, now: Timestamp) -> Timestamp {
    let today = now.to_zoned(TimeZone::UTC).date();
    let days = [today.yesterday(), Ok(today), today.tomorrow()];
    let moments = days.into_iter().flatten().filter_map(|day| {
        let moment = TimeZone::UTC.to_timestamp(day.to_datetime(time));
        moment.ok()
    });
    let distance = |moment: &Timestamp| moment.as_nanosecond().abs_diff(now.as_nanosecond());
    // A calendar without any of the three days has no now either.
    moments.min_by_key(distance).unwrap_or(now)
}

fn clock_error(text: &str) -> Result<u64, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    fn of(text: &str, now: &str) -> Result<Timestamp, String> {
        StartAt::parse(text).and_then(|start| start.after(at(now)))
    }

    #[test]
    fn a_moment_means_the_same_everywhere() {
        let now = "2026-11-27T12:59:30Z";
        for text in [
            "2026-11-27T13:00:00Z",
            "2026-11-27T14:00:00+01:00",
            "13:00:00Z",
        ] {
            assert_eq!(of(text, now), Ok(at("2026-11-27T13:00:00Z")), "{text}");
        }
    }

    #[test]
    fn a_time_of_the_day_is_the_nearest_one_also_past_midnight() {
        let late = of("00:00:30Z", "2026-12-31T23:59:50Z");
        assert_eq!(late, Ok(at("2027-01-01T00:00:30Z")));
        // Not that of tomorrow.
        let over = of("13:00:00Z", "2026-11-27T13:00:01Z").expect_err("over");
        assert!(over.contains("2026-11-27T13:00:00Z is over"), "{over}");
        let over = of("23:59:00Z", "2027-01-01T00:00:10Z").expect_err("over");
        assert!(over.contains("2026-12-31T23:59:00Z is over"), "{over}");
    }

    #[test]
    fn what_each_host_would_take_for_another_moment_is_refused() {
        let now = "2026-11-27T12:59:30Z";
        for (text, why) in [
            ("+30s", "count from the moment"),
            ("now", "count from the moment"),
            ("13:00:00", "a zone of its own"),
            ("2026-11-27T13:00:00", "a zone of its own"),
            ("25:00:00Z", "2027-01-31T13:00:00Z"),
            ("2026-11-27T12:59:30Z", "is over"),
            ("", "a zone of its own"),
        ] {
            let refused = of(text, now).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
