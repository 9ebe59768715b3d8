//! `diskfacts devices [TARGET]`: what lies under a target.

use super::print;
use crate::args::{Common, DevicesArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::{look, target};
use diskfacts_host::{Roots, all_devices};
use diskfacts_report::{json, text};

pub(crate) fn run(args: &DevicesArgs, common: &Common) -> Result<Exit, Failure> {
    let (described, stack) = match &args.target {
        Some(path) => {
            let (target, stack) = target::describe(path)?;
            (Some(target), stack)
        }
        None => (None, all_devices(&Roots::default()).or_failed()?),
    };
    let text = if args.json {
        json::devices(described.as_ref(), &stack)
    } else {
        text::devices(described.as_ref(), &stack, &look::of_stdout(common.color))
    };
    print(&text)?;
    Ok(Exit::Done)
}
