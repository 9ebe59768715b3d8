//! Events of read-ahead as the kernel prints them: lines of
//! `/sys/kernel/tracing/trace`, of `trace_pipe`, or of `trace-cmd report`.
//!
//! Source: kernel, `print_trace_line` in `kernel/trace/trace_output.c`, and the
//! `TP_printk` of `include/trace/events/readahead.h` and `filemap.h` (6.18):
//!
//! ```text
//!   dd-5908  [001] ..... 35276.204191: page_cache_sync_ra: dev=0:3 ino=700000 index=0 req_count=16 ...
//!   dd-5908  [001] ..... 35276.204196: mm_filemap_add_to_page_cache: dev 0:3 ino 700000 pfn=0x1243b7 ofs=0 order=0
//!   dd-5908  [001] ..... 35276.213870: mm_filemap_get_pages: dev=0:3 ino=700000 ofs=0-65535
//! ```

use crate::parse::{ParseError, lines};
use crate::read_ahead::{Event, FileId, NEEDED, OF_PAGES, What, kernel_device};

const FORMAT: &str = "trace text";

/// An event, and the name of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEvent {
    /// What happened.
    pub event: Event,
    /// Name of the thread, at most 15 bytes.
    pub comm: String,
}

/// What a text holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceText {
    /// Events of read-ahead and of the page cache, in the order of the text; other
    /// events are left out.
    pub events: Vec<TextEvent>,
    /// Events that the kernel says it dropped (`CPU:1 [LOST 17 EVENTS]`).
    pub lost: u64,
}

/// Reads a text; `page_bytes` is the page size of the machine that wrote it.
///
/// # Errors
/// When a line bears the name of one of the events, and is not of its form.
pub fn parse_trace_text(bytes: &[u8], page_bytes: u64) -> Result<TraceText, ParseError> {
    let mut text = TraceText::default();
    for (index, line) in lines(bytes) {
        if let Some(lost) = lost(&line) {
            text.lost = text.lost.saturating_add(lost);
        }
        let Some((before, name, fields)) = split(&line) else {
            continue;
        };
        let wrong = |expected| ParseError::at(FORMAT, index, expected, &line);
        let (comm, thread, at_ns) =
            head(before).ok_or_else(|| wrong("NAME-THREAD [CPU] FLAGS SECONDS:"))?;
        let (file, what) =
            body(name, fields, page_bytes).ok_or_else(|| wrong("the fields of this event"))?;
        text.events.push(TextEvent {
            event: Event {
                at_ns,
                thread,
                file,
                what,
            },
            comm,
        });
    }
    Ok(text)
}

/// `CPU:1 [LOST 17 EVENTS]`; without a number the kernel does not know how many.
fn lost(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("CPU:")?;
    let (_, rest) = rest.split_once(" [LOST ")?;
    let (count, _) = rest.split_once("EVENTS]")?;
    Some(count.trim().parse().unwrap_or(1))
}

/// What stands before the name of an event, the name, and what stands behind it.
fn split(line: &str) -> Option<(&str, &'static str, &str)> {
    if line.starts_with('#') {
        return None;
    }
    NEEDED.iter().chain(&OF_PAGES).find_map(|(_, name)| {
        let mut places = line.match_indices(name);
        places.find_map(|(at, _)| {
            let before = line[..at].strip_suffix(": ")?;
            let after = line[at + name.len()..].strip_prefix(':')?;
            Some((before, *name, after))
        })
    })
}

/// `comm-thread [cpu] flags seconds`; `trace-cmd report` leaves out the flags.
fn head(text: &str) -> Option<(String, u32, u64)> {
    let (rest, seconds) = text.trim_end().rsplit_once(' ')?;
    let at_ns = nanoseconds(seconds)?;
    let rest = rest.trim_end();
    let who = if rest.ends_with(']') {
        rest
    } else {
        rest.rsplit_once(' ')?.0.trim_end()
    };
    let (who, cpu) = who.rsplit_once('[')?;
    let digits = cpu.strip_suffix(']')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (comm, thread) = who.trim().rsplit_once('-')?;
    Some((comm.to_owned(), thread.parse().ok()?, at_ns))
}

/// `35276.204191`, with up to nine digits behind the point.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, parts) = text.split_once('.')?;
    let digits = u32::try_from(parts.len()).ok().filter(|len| *len <= 9)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(seconds) || !is_number(parts) {
        return None;
    }
    let parts: u64 = parts.parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(parts * 10_u64.pow(9 - digits))
}

/// The fields of an event: `key=value`, or `key value` of those that are older.
fn body(name: &str, fields: &str, page_bytes: u64) -> Option<(FileId, What)> {
    let words: Vec<&str> = fields.split_ascii_whitespace().collect();
    let value = |key: &str| {
        words.iter().enumerate().find_map(|(at, word)| {
            let rest = word.strip_prefix(key)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() => words.get(at + 1).copied(),
                None => None,
            }
        })
    };
    let (major, minor) = value("dev")?.split_once(':')?;
    let file = FileId {
        device: kernel_device(major.parse().ok()?, minor.parse().ok()?),
        inode: u64::from_str_radix(value("ino")?, 16).ok()?,
    };
    let page = |bytes: &str| Some(bytes.parse::<u64>().ok()? / page_bytes.max(1));
    let what = What::from_fields(name, |key| match key {
        "index" if value(key).is_none() => page(value("ofs")?.split('-').next()?),
        "last_index" => page(value("ofs")?.split_once('-')?.1),
        "prev_pos" => Some(value(key)?.parse::<i64>().ok()?.cast_unsigned()),
        _ => value(key)?.parse().ok(),
    })?;
    Some((file, what))
}
