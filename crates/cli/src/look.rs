//! What the terminal can do.

use crate::args::When;
use diskfacts_report::text::Look;
use std::io::IsTerminal;

/// How to print to standard output.
pub(crate) fn of_stdout(when: When) -> Look {
    let terminal = std::io::stdout().is_terminal();
    Look {
        width: width(),
        colour: has_colour(when, terminal),
        unicode: terminal && locale_is_utf8(),
    }
}

/// How to draw on the full screen of a terminal, which has its own width.
pub(crate) fn of_screen(when: When) -> Look {
    Look {
        width: 80,
        colour: has_colour(when, true),
        unicode: locale_is_utf8(),
    }
}

fn has_colour(when: When, terminal: bool) -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && !forbidden,
    }
}

/// How to print to standard error, when standard output holds data.
pub(crate) fn plain() -> Look {
    Look {
        width: 80,
        colour: false,
        unicode: false,
    }
}

/// Whether more than ASCII may be drawn.
pub(crate) fn of_stderr_is_utf8() -> bool {
    locale_is_utf8()
}

/// Columns of the terminal that standard output is; 80 without one.
fn width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .map(|size| usize::from(size.ws_col))
        .ok()
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}

/// By the first of the variables that is set, as setlocale(3) reads them.
fn locale_is_utf8() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_string_lossy().to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}
