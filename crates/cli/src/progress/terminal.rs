//! One line of a terminal on standard error, written again and again in its place.

use crate::look;
use diskfacts_report::text::Look;
use std::io::{IsTerminal, Write};

/// Whether standard error is a terminal on which a line can be rewritten.
pub(super) fn is_there() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !is_dumb
}

/// What the line may look like now: a window changes its size. The last column stays free,
/// because a terminal may begin a new line behind it. There is no colour.
pub(super) fn look_now() -> Look {
    let columns = rustix::termios::tcgetwinsize(std::io::stderr())
        .map(|size| usize::from(size.ws_col))
        .ok()
        .filter(|columns| *columns > 0);
    Look {
        width: columns.unwrap_or(80) - 1,
        colour: false,
        unicode: look::of_stderr_is_utf8(),
    }
}

/// Writes the line in its place; in one call, so that nothing comes between its parts.
pub(super) fn draw(line: &str) {
    // ECMA-48: EL erases to the end of the line.
    put(&format!("\r{line}\x1b[K"));
}

/// Takes the line away.
pub(super) fn clear() {
    draw("");
}

fn put(text: &str) {
    // A terminal that is gone reads nothing.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
