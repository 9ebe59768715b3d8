//! Which of the stored runs are wanted, where they are listed.

use crate::args::FilterArgs;
use diskfacts_store::RunSummary;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};

/// What a run has to have to be wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// As it was given, and its real path where something is there.
    pub(crate) target: Option<(PathBuf, PathBuf)>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) host: Option<String>,
    pub(crate) plan: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) tags: Vec<String>,
}

impl Wanted {
    /// What was asked for on the command line.
    pub(crate) fn of(args: &FilterArgs) -> Self {
        let target = args.target.as_ref().map(|given| {
            let real = std::fs::canonicalize(given).unwrap_or_else(|_| given.clone());
            (given.clone(), real)
        });
        let since = args.since;
        Self {
            target,
            since: since.map(|since| since.moment(Timestamp::now(), &TimeZone::system())),
            host: args.host.clone(),
            plan: args.plan.clone(),
            name: args.name.clone(),
            tags: args.tags.clone(),
        }
    }

    pub(crate) fn has(&self, run: &RunSummary) -> bool {
        // By whole names, so that /srv/data is not in /srv/da. What a relative path was
        // given as says nothing, because where one stood then is not known.
        let target = self.target.as_ref().is_none_or(|(given, real)| {
            let path = Path::new(&run.target_path);
            path.starts_with(real)
                || path.starts_with(given)
                || given == Path::new(&run.target) && run.target.starts_with("sim:")
        });
        let since = self.since.is_none_or(|since| {
            let started = run.started.parse::<Timestamp>();
            started.is_ok_and(|started| started >= since)
        });
        let is = |wanted: &Option<String>, has: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| has == Some(wanted))
        };
        let labels = &run.labels;
        target
            && since
            && is(&self.host, run.host.as_deref())
            && is(&self.plan, Some(&run.plan))
            && is(&self.name, labels.name.as_deref())
            && self.tags.iter().all(|tag| labels.tags.contains(tag))
    }
}
