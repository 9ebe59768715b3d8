//! `/proc/self/mountstats`: what NFS clients counted, a section for each mount.
//!
//! Source: kernel, `show_vfsstat` in `fs/proc_namespace.c`, `nfs_show_stats` in `fs/nfs/super.c`,
//! `rpc_clnt_show_stats` and `_print_rpc_iostats` in `net/sunrpc/stats.c`; columns of `bytes:` in
//! `enum nfs_stat_bytecounters`, `include/linux/nfs_iostat.h` (Linux 6.1).

use super::mountinfo::unescape;
use super::{ParseError, lines};
use diskfacts_record::evidence::{NfsCalls, NfsMount};

const FORMAT: &str = "mountstats";
const NS_PER_MS: u64 = 1_000_000;

/// What the NFS client counted since the mount at `mount_point` was made; `None` where no NFS is
/// mounted there. Of several mounts one over the other it is the last, which is the one seen.
///
/// # Errors
/// When a section of NFS there lacks its bytes, or a line of it its numbers.
pub fn parse_mountstats(bytes: &[u8], mount_point: &str) -> Result<Option<NfsMount>, ParseError> {
    let mut found: Option<Section> = None;
    let mut is_inside = false;
    for (index, line) in lines(bytes) {
        if let Some(place) = mounted_at(&line) {
            is_inside = place.is_nfs && place.mount_point == mount_point;
            if is_inside {
                finished(found.take())?;
                found = Some(Section::new(index));
            }
        } else if is_inside && let Some(section) = &mut found {
            section.take(index, &line)?;
        }
    }
    finished(found)
}

/// Whose section begins.
struct Place {
    mount_point: String,
    is_nfs: bool,
}

/// `device SOURCE mounted on FOLDER with fstype KIND statvers=1.1`. Blanks within the names are
/// escaped.
fn mounted_at(line: &str) -> Option<Place> {
    let (before, after) = line.split_once(" mounted on ")?;
    let begins = before.starts_with("device ") || before == "no device";
    let (folder, kind) = after.split_once(" with fstype ").filter(|_| begins)?;
    let kind = kind.split(' ').next().unwrap_or_default();
    Some(Place {
        mount_point: unescape(folder),
        is_nfs: matches!(kind, "nfs" | "nfs4"),
    })
}

/// What was read of a section, from the line with this index on.
struct Section {
    index: usize,
    has_bytes: bool,
    counted: NfsMount,
}

impl Section {
    fn new(index: usize) -> Self {
        Self {
            index,
            has_bytes: false,
            counted: NfsMount::default(),
        }
    }

    fn take(&mut self, index: usize, line: &str) -> Result<(), ParseError> {
        let Some((name, rest)) = line.trim_start().split_once(':') else {
            return Ok(());
        };
        let counted = &mut self.counted;
        match name {
            "bytes" => {
                let [
                    cached_read,
                    cached_write,
                    direct_read,
                    direct_write,
                    read,
                    written,
                ] = numbers(rest, index, "six numbers of bytes", line)?;
                counted.cached_read_bytes = cached_read;
                counted.cached_write_bytes = cached_write;
                counted.direct_read_bytes = direct_read;
                counted.direct_write_bytes = direct_write;
                counted.server_read_bytes = read;
                counted.server_write_bytes = written;
                self.has_bytes = true;
            }
            // Of version 4.2, where the kernel was built with it: a READ that leaves out holes.
            "READ" | "READ_PLUS" => {
                let known = counted.reads.unwrap_or_default();
                counted.reads = Some(sum(known, calls(rest, index, line)?));
            }
            "WRITE" => counted.writes = Some(calls(rest, index, line)?),
            "COMMIT" => counted.commits = Some(calls(rest, index, line)?),
            _ => {}
        }
        Ok(())
    }
}

fn sum(a: NfsCalls, b: NfsCalls) -> NfsCalls {
    NfsCalls {
        calls: a.calls.saturating_add(b.calls),
        sent: a.sent.saturating_add(b.sent),
        timeouts: a.timeouts.saturating_add(b.timeouts),
        queued_ns: a.queued_ns.saturating_add(b.queued_ns),
        round_trip_ns: a.round_trip_ns.saturating_add(b.round_trip_ns),
        total_ns: a.total_ns.saturating_add(b.total_ns),
    }
}

/// `READ: CALLS SENT TIMEOUTS BYTES_OUT BYTES_IN QUEUE_MS RTT_MS EXECUTE_MS [ERRORS]`.
fn calls(rest: &str, index: usize, line: &str) -> Result<NfsCalls, ParseError> {
    let [calls, sent, timeouts, _, _, queue, round_trip, total] =
        numbers(rest, index, "eight numbers of a procedure", line)?;
    Ok(NfsCalls {
        calls,
        sent,
        timeouts,
        queued_ns: queue.saturating_mul(NS_PER_MS),
        round_trip_ns: round_trip.saturating_mul(NS_PER_MS),
        total_ns: total.saturating_mul(NS_PER_MS),
    })
}

/// The first numbers of a line; newer kernels have more of them.
fn numbers<const N: usize>(
    rest: &str,
    index: usize,
    expected: &'static str,
    line: &str,
) -> Result<[u64; N], ParseError> {
    let mut words = rest.split_ascii_whitespace().map(str::parse);
    let mut all = [0; N];
    for number in &mut all {
        let next = words.next().and_then(Result::ok);
        *number = next.ok_or_else(|| ParseError::at(FORMAT, index, expected, line))?;
    }
    Ok(all)
}

fn finished(section: Option<Section>) -> Result<Option<NfsMount>, ParseError> {
    match section {
        Some(section) if !section.has_bytes => Err(ParseError::at(
            FORMAT,
            section.index,
            "a line `bytes:` in the section of a mount of NFS",
            "the end of the section",
        )),
        section => Ok(section.map(|section| section.counted)),
    }
}
