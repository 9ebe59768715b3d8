//! `diskfacts restore`: puts back what a killed run had changed.

use super::print;
use crate::args::RestoreArgs;
use crate::exit::{Exit, Failure, say};
use crate::state::{self, whose};
use diskfacts_host::Roots;
use diskfacts_host::settings::{
    Found, Journal, Restored, StateFolder, Steps, present, remove_stale_groups, restore_stale,
    stale_groups,
};
use diskfacts_host::trace::{TraceError, remove_stale_instances, stale_instances};
use std::fmt::Write as _;

pub(crate) fn run(args: &RestoreArgs) -> Result<Exit, Failure> {
    let folders = state::folders()?;
    let mut said = Said::default();
    for folder in &folders {
        if args.show {
            said.shown(folder)?;
        } else {
            said.restored(folder)?;
        }
    }
    said.leftovers(args.show);
    if said.text.is_empty() {
        let paths: Vec<String> = folders
            .iter()
            .map(|folder| folder.path().display().to_string())
            .collect();
        let _ = writeln!(
            said.text,
            "Nothing to put back: no journal of changed settings in {}.",
            paths.join(" or ")
        );
    } else if args.show && said.stale {
        let _ = writeln!(said.text, "`diskfacts restore` puts this right.");
    }
    if !state::is_root() {
        let _ = writeln!(
            said.text,
            "Settings, control groups and trace buffers of runs of root: sudo diskfacts restore"
        );
    }
    print(&said.text)?;
    for failed in &said.failed {
        say(&format!("diskfacts: not put back: {failed}"));
    }
    Ok(if said.failed.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// What is printed; writing to a string does not fail.
#[derive(Default)]
struct Said {
    text: String,
    /// Whether there is anything to put back.
    stale: bool,
    failed: Vec<String>,
}

impl Said {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// What stands at the head of a journal's lines.
    fn head(&mut self, path: &std::path::Path, journal: &Journal) {
        self.line(&format!("{}", path.display()));
        self.line(&format!("  {}", whose(journal)));
        self.line(&format!("  began {} and was killed", journal.began));
    }

    fn live(&mut self, process: Option<u32>, journal: Option<&Journal>) {
        let line = match (journal, process) {
            (Some(journal), _) => format!(
                "{} is changing settings, and puts them back itself: left alone.",
                whose(journal)
            ),
            (None, Some(process)) => format!("process {process} is beginning: left alone."),
            (None, None) => {
                "A process is about to change settings, and puts them back itself: left alone."
                    .to_owned()
            }
        };
        self.line(&line);
    }

    fn restored(&mut self, folder: &StateFolder) -> Result<(), Failure> {
        let roots = Roots::default();
        let all = restore_stale(&roots, folder, &mut Steps::default()).map_err(state::failure)?;
        for restored in all {
            match restored {
                Restored::Live { process, journal } => self.live(process, journal.as_ref()),
                Restored::PutBack {
                    path,
                    journal,
                    back,
                } => {
                    self.head(&path, &journal);
                    for written in &back.written {
                        let on = written.device.as_deref().unwrap_or("machine");
                        self.line(&format!(
                            "  {on:<10} {:<24} {} -> {}",
                            written.setting.name(),
                            written.from,
                            written.to
                        ));
                    }
                    for gone in &back.gone {
                        self.line(&format!("  {gone}"));
                    }
                    let complete = back.is_complete();
                    self.line(match (complete, back.written.is_empty()) {
                        (true, true) => "All was as before already; the journal is removed.",
                        (true, false) => "Put back; the journal is removed.",
                        (false, _) => "NOT all was put back; the journal stays.",
                    });
                    self.failed.extend(back.failed);
                }
                Restored::Needless { path, why } => {
                    self.line(&format!("{} is dropped: {why}.", path.display()));
                }
                Restored::Kept { path, why } => {
                    self.line(&format!("{} is left as it is: {why}.", path.display()));
                }
            }
        }
        Ok(())
    }

    fn shown(&mut self, folder: &StateFolder) -> Result<(), Failure> {
        let roots = Roots::default();
        for found in folder.list(&roots).map_err(state::failure)? {
            match found {
                Found::Live { journal, .. } => {
                    let process = journal.as_ref().map(|journal| journal.process);
                    self.live(process, journal.as_ref());
                }
                Found::Stale { journal, taken } => {
                    self.stale = true;
                    self.head(taken.path(), &journal);
                    self.line(&format!(
                        "  {:<10} {:<24} {:<14} now",
                        "device", "setting", "before"
                    ));
                    for value in present(&roots, &journal) {
                        let now = match value.now {
                            Ok(now) if now == value.old => "the same".to_owned(),
                            Ok(now) => now,
                            Err(why) => format!("unknown: the device {why}"),
                        };
                        self.line(&format!(
                            "  {:<10} {:<24} {:<14} {now}",
                            value.device.as_deref().unwrap_or("machine"),
                            value.setting.name(),
                            value.old
                        ));
                    }
                }
                Found::OfEarlierBoot { taken } => self.line(&format!(
                    "{} is of an earlier start of the machine: its settings went with it.",
                    taken.path().display()
                )),
                Found::Torn { taken } => self.line(&format!(
                    "{} was not written to its end: nothing had been changed.",
                    taken.path().display()
                )),
                Found::Kept { path, why } => {
                    self.line(&format!("{} is left as it is: {why}.", path.display()));
                }
            }
        }
        Ok(())
    }

    /// Control groups and trace buffers of dead processes.
    fn leftovers(&mut self, show: bool) {
        let roots = Roots::default();
        if show {
            self.leftovers_shown(&roots);
        } else {
            self.leftovers_removed(&roots);
        }
    }

    fn leftovers_shown(&mut self, roots: &Roots) {
        for group in stale_groups(roots) {
            self.stale = true;
            self.line(&format!(
                "{} is the control group of a dead run.",
                group.display()
            ));
        }
        for name in self.seen(stale_instances(roots)).unwrap_or_default() {
            self.stale = true;
            self.line(&format!("{name} is the trace buffer of a dead run."));
        }
    }

    fn leftovers_removed(&mut self, roots: &Roots) {
        for group in remove_stale_groups(roots) {
            self.line(&format!("Removed the control group {}.", group.display()));
        }
        let found = self.seen(remove_stale_instances(roots)).unwrap_or_default();
        for name in found.removed {
            self.line(&format!("Removed the trace buffer {name}."));
        }
        for (name, why) in found.kept {
            self.failed.push(format!("the trace buffer {name}: {why}"));
        }
    }

    /// What was found of trace buffers, where they can be looked at.
    fn seen<T>(&mut self, found: Result<T, TraceError>) -> Option<T> {
        match found {
            Ok(found) => return Some(found),
            // Who may not look made none, and a kernel without them has none.
            Err(TraceError::NotRoot { .. } | TraceError::NoTracefs { .. }) => {}
            Err(error) => self.failed.push(format!("trace buffers: {error}")),
        }
        None
    }
}
