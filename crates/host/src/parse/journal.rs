//! What journals of filesystems count: `/proc/fs/jbd2/*/info`, `/sys/fs/xfs/*/stats/stats` and
//! `/sys/fs/btrfs/*/commit_stats`.
//!
//! Source: kernel, `jbd2_seq_info_show` in `fs/jbd2/journal.c`, `fs/xfs/xfs_stats.c`, and
//! `btrfs_commit_stats_show` in `fs/btrfs/sysfs.c` (Linux 6.1).

use super::{ParseError, lines};

/// The unit of XFS's log blocks, bytes (`BBSIZE`).
const XFS_BLOCK: u64 = 512;

/// Transactions that jbd2 committed since the filesystem was mounted, of the first
/// line of `info`: `1234 transactions (1200 requested), each up to 8192 blocks`.
///
/// # Errors
/// When the first line does not begin like that.
pub fn parse_jbd2_info(bytes: &[u8]) -> Result<u64, ParseError> {
    let (index, line) = lines(bytes).next().unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    let count = words.next().and_then(|count| count.parse().ok());
    match (count, words.next()) {
        (Some(count), Some("transactions")) => Ok(count),
        _ => Err(ParseError::at(
            "jbd2 info",
            index,
            "NUMBER transactions",
            &line,
        )),
    }
}

/// What the log of an XFS filesystem wrote since it was mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct XfsLog {
    /// Writes of a log buffer.
    pub writes: u64,
    /// Bytes of these.
    pub bytes: u64,
}

/// Reads the line `log` of XFS's statistics: `log WRITES BLOCKS ...`, blocks of
/// 512 bytes. What follows it may be cut off.
///
/// # Errors
/// When there is no such line with two numbers.
pub fn parse_xfs_stats(bytes: &[u8]) -> Result<XfsLog, ParseError> {
    const FORMAT: &str = "xfs stats";
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let Some(rest) = line.strip_prefix("log ") else {
            continue;
        };
        let mut numbers = rest.split_ascii_whitespace().map(str::parse);
        let (Some(Ok(writes)), Some(Ok(blocks))) = (numbers.next(), numbers.next()) else {
            return Err(ParseError::at(FORMAT, index, "log WRITES BLOCKS", &line));
        };
        return Ok(XfsLog {
            writes,
            bytes: XFS_BLOCK.saturating_mul(blocks),
        });
    }
    Err(ParseError::at(FORMAT, last, "a line `log`", "the end"))
}

/// The transactions that btrfs committed since the filesystem was mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BtrfsCommits {
    /// How many.
    pub commits: u64,
    /// How long they took, ms.
    pub total_ms: u64,
}

/// Reads `commit_stats` of btrfs: lines `commits N` and `total_commit_ms N` among others.
///
/// # Errors
/// When one of the two is missing.
pub fn parse_btrfs_commits(bytes: &[u8]) -> Result<BtrfsCommits, ParseError> {
    let number = |name: &'static str| {
        let mut all = lines(bytes).map(|(_, line)| line);
        let found = all.find_map(|line| {
            let (word, number) = line.split_once(' ')?;
            (word == name).then(|| number.trim().parse().ok()).flatten()
        });
        let last = lines(bytes).last().map_or(0, |(index, _)| index);
        let missing = || ParseError::at("btrfs commit_stats", last, name, "the end");
        found.ok_or_else(missing)
    };
    Ok(BtrfsCommits {
        commits: number("commits")?,
        total_ms: number("total_commit_ms")?,
    })
}
