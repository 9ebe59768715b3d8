//! How patient the group is.

/// Times of the protocol, in nanoseconds, and who has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The group goes on without hosts that are missing at the beginning, as long as there are
    /// this many; `None` asks for all.
    pub at_least: Option<usize>,
    /// How long the root waits for all hosts to say who they are.
    pub hello_within_ns: i64,
    /// How often a rank says that it is alive.
    pub heartbeat_ns: i64,
    /// A child that was silent for so long is lost. Less than `root_silent_ns`, so that the root
    /// can tell those below a lost host before they stop.
    pub lost_after_ns: i64,
    /// A host that has not heard of the root for so long stops.
    pub root_silent_ns: i64,
    /// A host that measures so long behind the agreed end of a trial, or has not stopped what was
    /// cancelled after so long, is lost. A sync of all that a large machine holds in memory takes
    /// minutes; a disk that hangs takes for ever.
    pub overdue_after_ns: i64,
    /// A host that prepares a trial for so long is lost, once [all that is done
    /// once](crate::Work::is_set_up) is done. Who fills a page cache of 1 TiB at 200 MB/s takes an hour
    /// and a half, and says nothing meanwhile.
    pub prepared_within_ns: i64,
    /// The agreed start is at least so far away.
    pub slack_min_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            at_least: None,
            hello_within_ns: 60 * SECOND_NS,
            heartbeat_ns: SECOND_NS,
            lost_after_ns: 5 * SECOND_NS,
            root_silent_ns: 10 * SECOND_NS,
            overdue_after_ns: 900 * SECOND_NS,
            prepared_within_ns: 7200 * SECOND_NS,
            slack_min_ns: 50_000_000,
        }
    }
}

const SECOND_NS: i64 = 1_000_000_000;

/// How long before the agreed start a host stops to sleep and spins: the kernel wakes a thread
/// 50 to 100 µs late on a machine that saves power.
pub const SPIN_NS: i64 = 300_000;

/// How many ranks that are waited for are named in a frame.
pub const STRAGGLERS_MAX: usize = 8;

/// The slack before a start is at least so many times the longest path.
pub(crate) const SLACK_PATHS: u64 = 4;

/// A host that starts later than this share of the trial makes it void.
pub(crate) const LATE_PER_MILLE_MAX: u64 = 10;

/// How long a rank naps between two looks at its frames.
pub(crate) const NAP_NS: i64 = 1_000_000;
