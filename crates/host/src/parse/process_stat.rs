//! `/proc/PID/stat`: when a process began, what it is called, and its processor time.
//!
//! Source: proc(5). The name of the program stands in parentheses and may hold any
//! character, parentheses and spaces too, so columns are counted from the last `)`.

use super::ParseError;

const FORMAT: &str = "process stat";

/// The column `starttime` is the 22nd, and the first behind the name is the 3rd.
const START: usize = 22 - 3;

/// Clock ticks from the start of the machine to that of the process.
///
/// # Errors
/// When there is no such column, or it is no number.
pub fn parse_process_start(bytes: &[u8]) -> Result<u64, ParseError> {
    let text = String::from_utf8_lossy(bytes);
    let behind = text.rsplit_once(')').map(|(_, behind)| behind);
    behind
        .and_then(|behind| behind.split_ascii_whitespace().nth(START))
        .and_then(|start| start.parse().ok())
        .ok_or_else(|| ParseError::at(FORMAT, 0, "PID (NAME) and 20 columns", &text))
}

/// A process as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Name of its program, at most 15 bytes.
    pub name: String,
    /// The process that started it.
    pub parent: u32,
    /// Processor time of it and of the children that it has waited for, clock ticks.
    pub ticks: u64,
    /// Clock ticks from the start of the machine to its own.
    pub start: u64,
}

/// Reads name, parent, times (`utime`, `stime`, `cutime` and `cstime`) and start.
///
/// # Errors
/// When one of these columns is not there, or no number.
pub fn parse_process_stat(bytes: &[u8]) -> Result<ProcessStat, ParseError> {
    /// The columns behind the name, as `START` is counted.
    const PARENT: usize = 4 - 3;
    const TIMES: std::ops::RangeInclusive<usize> = 14 - 3..=17 - 3;
    let text = String::from_utf8_lossy(bytes);
    let bad = || ParseError::at(FORMAT, 0, "PID (NAME) and 20 columns", &text);
    let (before, behind) = text.rsplit_once(')').ok_or_else(bad)?;
    let (_, name) = before.split_once('(').ok_or_else(bad)?;
    let columns: Vec<&str> = behind.split_ascii_whitespace().collect();
    let column = |index: usize| columns.get(index).copied().ok_or_else(bad);
    let mut ticks = 0_u64;
    for index in TIMES {
        // The kernel's own threads have times of children that are below 0 now and then.
        let time: i64 = column(index)?.parse().map_err(|_| bad())?;
        ticks = ticks.saturating_add(time.max(0).cast_unsigned());
    }
    Ok(ProcessStat {
        name: name.to_owned(),
        parent: column(PARENT)?.parse().map_err(|_| bad())?,
        ticks,
        start: column(START)?.parse().map_err(|_| bad())?,
    })
}

/// Whether it has ended, and only its number is left until somebody waits for it:
/// `Z` (zombie) or `X` (dead) behind the name.
pub fn parse_process_ended(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let state = text.rsplit_once(')').map(|(_, behind)| behind.trim_start());
    state.is_some_and(|state| state.starts_with(['Z', 'X']))
}
