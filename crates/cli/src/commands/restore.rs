//! `diskfacts restore`: puts back what a killed run had changed.

use super::{print, print_on};
use crate::args::RestoreArgs;
use crate::exit::{Exit, Failure, clean, say};
use crate::state::{self, whose};
use diskfacts_host::Roots;
use diskfacts_host::settings::{
    Comparison, Forgettable, Found, Journal, Now, Restored, SettingsError, StateFolder, Steps,
    forgettable, present, remove_stale_groups, restore_stale, stale_groups,
};
use diskfacts_host::trace::{
    TraceError, instances_elsewhere, remove_stale_instances, stale_instances,
};
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(args: &RestoreArgs) -> Result<Exit, Failure> {
    let folders = state::folders()?;
    let mut said = Said {
        steps: state::steps(),
        ..Said::default()
    };
    if args.forget {
        said.forget(&folders)?;
    }
    for folder in folders.iter().filter(|_| !args.forget) {
        let done = if args.show {
            said.shown(folder)
        } else {
            said.restored(folder)
        };
        // The other folder is looked at all the same.
        said.failed
            .extend(done.err().map(|error| error.to_string()));
    }
    said.leftovers(args.show);
    if said.text.is_empty() && said.failed.is_empty() && !said.shown {
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
    print(&clean(&said.text))?;
    for failed in &said.failed {
        say(&format!("diskfacts: not put back: {failed}"));
    }
    if said.by_hand {
        say(
            "diskfacts: the journal stays until all of it is as it was: type these lines and \
             `diskfacts restore`, or `diskfacts restore --forget` to leave the settings as they are",
        );
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
    /// Whether something was printed already.
    shown: bool,
    failed: Vec<String>,
    /// Whether a journal stays whose settings are named among what failed.
    by_hand: bool,
    /// Who is told of the steps of putting back.
    steps: Steps,
}

impl Said {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// What stands at the head of a journal's lines.
    fn head(&mut self, path: &Path, journal: &Journal) {
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

    fn restored(&mut self, folder: &StateFolder) -> Result<(), SettingsError> {
        let roots = Roots::default();
        for restored in restore_stale(&roots, folder, &mut self.steps)? {
            match restored {
                Restored::Live { process, journal } => self.live(process, journal.as_ref()),
                Restored::PutBack {
                    path,
                    journal,
                    back,
                    left,
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
                    let nothing = back.written.is_empty() && back.gone.is_empty();
                    self.line(match (complete, nothing, &left) {
                        (true, _, Some(_)) => {
                            "All is as before, and the journal could NOT be removed."
                        }
                        (true, true, None) => "All was as before already; the journal is removed.",
                        (true, false, None) if back.written.is_empty() => {
                            "Nothing was left to be put back; the journal is removed."
                        }
                        (true, false, None) => "Put back; the journal is removed.",
                        (false, ..) => "NOT all was put back; the journal stays.",
                    });
                    self.by_hand |= !complete;
                    self.failed.extend(back.failed);
                    self.failed.extend(
                        left.map(|error| format!("{error}; remove {} by hand", path.display())),
                    );
                }
                Restored::Needless { path, why } => {
                    self.line(&format!("{} is dropped: {why}.", path.display()));
                }
                Restored::Kept { path, why } => self.kept(&path, &why),
                Restored::OfAnother { path, user } => self.of_another(&path, user),
            }
        }
        Ok(())
    }

    /// A journal that nothing could be done with.
    fn kept(&mut self, path: &Path, why: &str) {
        self.failed
            .push(format!("{} is left as it is: {why}", path.display()));
    }

    fn of_another(&mut self, path: &Path, user: u32) {
        self.line(&format!(
            "{} is left as it is: it belongs to the user with number {user}, who has to run \
             `diskfacts restore`.",
            path.display()
        ));
    }

    fn shown(&mut self, folder: &StateFolder) -> Result<(), SettingsError> {
        let roots = Roots::default();
        for found in folder.list(&roots)? {
            match found {
                Found::Live { journal, .. } => {
                    let process = journal.as_ref().map(|journal| journal.process);
                    self.live(process, journal.as_ref());
                }
                Found::Stale { journal, taken } => {
                    self.stale = true;
                    self.head(taken.path(), &journal);
                    self.compared(&present(&roots, &journal));
                }
                Found::OfEarlierBoot { taken } => self.line(&format!(
                    "{} is of an earlier start of the machine: its settings went with it.",
                    taken.path().display()
                )),
                Found::Torn { taken } => self.line(&format!(
                    "{} was not written to its end: nothing had been changed.",
                    taken.path().display()
                )),
                Found::Unseen { path, why, .. } | Found::Kept { path, why } => {
                    self.kept(&path, &why);
                }
                Found::OfAnother { path, user } => self.of_another(&path, user),
            }
        }
        Ok(())
    }

    /// The values of a journal beside those in force.
    fn compared(&mut self, comparison: &Comparison) {
        for device in &comparison.devices {
            self.line(&format!("  {device}"));
        }
        self.line(&format!(
            "  {:<10} {:<24} {:<14} now",
            "device", "setting", "before"
        ));
        for value in &comparison.values {
            let on = value.device.as_deref().unwrap_or("machine");
            let now = match &value.now {
                Now::Value(now) if *now == value.old => "the same".to_owned(),
                Now::Value(now) => now.clone(),
                Now::Gone => "none any more".to_owned(),
                Now::Unknown(why) => {
                    let setting = value.setting.name();
                    self.failed
                        .push(format!("`{setting}` of {on} is unknown: it {why}"));
                    format!("unknown: it {why}")
                }
            };
            self.line(&format!(
                "  {on:<10} {:<24} {:<14} {now}",
                value.setting.name(),
                value.old
            ));
        }
    }

    /// Forgets the journals of these folders, once all that is in them was shown: nobody
    /// else knows the values.
    fn forget(&mut self, folders: &[StateFolder]) -> Result<(), Failure> {
        let mut found = Vec::new();
        for folder in folders {
            match forgettable(&Roots::default(), folder) {
                Ok(of_folder) => found.extend(of_folder.into_iter().map(|one| (folder, one))),
                // The other folder is looked at all the same.
                Err(error) => self.failed.push(error.to_string()),
            }
        }
        for (_, one) in &found {
            self.forgettable(one);
        }
        let text = std::mem::take(&mut self.text);
        self.shown = !text.is_empty();
        let nothing_removed = "No journal was removed, since nobody has seen what it holds: type \
                               `diskfacts restore --forget` again where its output is read";
        match print_on(&clean(&text)) {
            Ok(Some(())) => {}
            Ok(None) => {
                return Err(Failure::failed(format!(
                    "writing to standard output failed: its reader went away. {nothing_removed}"
                )));
            }
            Err(failure) => return Err(failure.and(nothing_removed)),
        }
        for (folder, one) in found {
            match one.forget(folder) {
                Ok(Some(path)) => self.line(&format!(
                    "{} is forgotten. No setting was written.",
                    path.display()
                )),
                Ok(None) => {}
                Err(error) => self.failed.push(error.to_string()),
            }
        }
        Ok(())
    }

    fn forgettable(&mut self, one: &Forgettable) {
        match one {
            Forgettable::Journal {
                journal,
                comparison,
                taken,
            } => {
                self.head(taken.path(), journal);
                // That it is not known now is what is accepted here.
                let failed = std::mem::take(&mut self.failed);
                self.compared(comparison);
                self.failed = failed;
            }
            Forgettable::Damaged { path, why } => {
                self.line(&format!("{} cannot be used: {why}.", path.display()));
            }
            Forgettable::Kept { path, why } => self.kept(path, why),
            Forgettable::Live { journal } => {
                let process = journal.as_ref().map(|journal| journal.process);
                self.live(process, journal.as_ref());
            }
        }
    }

    /// Control groups and trace buffers of dead processes.
    fn leftovers(&mut self, show: bool) {
        let roots = Roots::default();
        if show {
            self.leftovers_shown(&roots);
        } else {
            self.leftovers_removed(&roots);
        }
        for path in self.seen(instances_elsewhere(&roots)).unwrap_or_default() {
            self.line(&format!(
                "{} is the trace buffer of a process in another pid namespace, of which is not \
                 known whether it runs: left alone. If it does not: rmdir {}",
                path.display(),
                path.display()
            ));
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
