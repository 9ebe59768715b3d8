//! `diskfacts report --together RUN|FILE...`: the page of hosts that measured together.

use super::{Made, plain};
use crate::args::{Common, HostsFormat, ReportArgs};
use crate::commands::together;
use crate::exit::Failure;
use diskfacts_report::export::markdown;
use diskfacts_report::html;

pub(super) fn make(args: &ReportArgs, common: &Common) -> Result<Made, Failure> {
    if args.runs.is_empty() && args.hosts.group.is_none() {
        return Err(Failure::wrong_call(
            "--together takes the runs of the hosts, as in `diskfacts report --together \
             results/*.dfrun`, or --group NAME for the stored runs of a group",
        ));
    }
    let merged = together::merged(
        &args.runs,
        args.hosts.group.as_deref(),
        args.hosts.expect,
        common,
    )?;
    let hosts = match (merged.hosts_complete, merged.hosts_expected) {
        (1, 1) => "one host".to_owned(),
        (here, of) if here == of => format!("{of} hosts"),
        (here, of) => format!("{here} of {of} hosts"),
    };
    let (page, ending) = match args.hosts.format {
        None | Some(HostsFormat::Html) => (html::report_of_hosts(&merged), "html"),
        Some(HostsFormat::Markdown) => (markdown::hosts(&merged), "md"),
    };
    Ok(Made {
        page,
        of: format!("{hosts} of the group {}", merged.group),
        usual_name: format!("diskfacts-together-{}.{ending}", plain(&merged.group)).into(),
    })
}
