//! `diskfacts devices [TARGET]`: what lies under a target.

use super::print;
use crate::args::{Common, DevicesArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::{look, target};
use diskfacts_host::{Roots, all_devices, stack_of};
use diskfacts_report::{json, text};

pub(crate) fn run(args: &DevicesArgs, common: &Common) -> Result<Exit, Failure> {
    let roots = Roots::default();
    let (described, stack) = match &args.target {
        Some(path) => {
            let stack = stack_of(&roots, path).or_wrong_call()?;
            (Some(target::describe(path, &stack)?), stack)
        }
        None => (None, all_devices(&roots).or_failed()?),
    };
    let text = if args.json {
        json::devices(described.as_ref(), &stack)
    } else {
        text::devices(described.as_ref(), &stack, &look::of_stdout(common.color))
    };
    print(&text)?;
    Ok(Exit::Done)
}
