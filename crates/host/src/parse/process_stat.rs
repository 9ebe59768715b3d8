//! `/proc/PID/stat`: when a process began.
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
