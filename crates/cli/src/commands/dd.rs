//! `diskfacts dd`: a copy as GNU dd makes it, with the facts that its own figure
//! hides.

use super::{measure, print};
use crate::args::{Common, DdArgs, Style};
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::look;
use crate::session::{self, CopyRequest};
use crate::signals::Signals;
use diskfacts_plan::dd;
use diskfacts_record::Stack;
use diskfacts_report::{json, text};
use std::ffi::OsString;
use std::io::Write;

pub(crate) fn run(args: &DdArgs, common: &Common) -> Result<Exit, Failure> {
    let dd = dd::parse(&words(&args.operands)?).or_wrong_call()?;
    // What is copied is all that may be on standard output then.
    let to_stdout = dd.output.is_none();
    if to_stdout && args.json {
        return Err(Failure::wrong_call(
            "standard output holds what is copied, so there is no room for --json: name the \
             output with of=, or drop --json and ask later: diskfacts show last --json",
        ));
    }
    if args.style == Style::ClassicCsv {
        return Err(Failure::wrong_call(
            "--style classic-csv: dd prints no CSV; --style classic prints its lines, --json all",
        ));
    }
    let signals = Signals::listen()?;
    signals.waits_for(&Stack::default(), false);
    let request = CopyRequest {
        dd: &dd,
        destroy_data_on: args.destroy_data_on.as_deref(),
        labels: args.labels.labels().or_wrong_call()?,
        common,
    };
    let ended = session::copy(&request, &signals)?;
    let text = if args.json {
        json::run(&ended.run)
    } else if let Some(lines) = super::lines(args.style, &ended.run) {
        lines
    } else {
        let look = if to_stdout {
            look::plain()
        } else {
            look::of_stdout(common.color)
        };
        text::run(
            &ended.run,
            &measure::closing(&ended, None, false, common),
            &look,
        )
    };
    if to_stdout {
        // Who does not read standard error has the copy all the same.
        let _ = std::io::stderr().write_all(clean(&text).as_bytes());
    } else {
        print(&text)?;
    }
    Ok(measure::conclude(ended, &[], args.style, common))
}

/// The operands as text.
fn words(operands: &[OsString]) -> Result<Vec<&str>, Failure> {
    let text = |word| {
        let word: &OsString = word;
        word.to_str().ok_or_else(|| {
            Failure::wrong_call(format!(
                "'{}' is not UTF-8; name such a file by a link to it",
                word.to_string_lossy()
            ))
        })
    };
    operands.iter().map(text).collect()
}
