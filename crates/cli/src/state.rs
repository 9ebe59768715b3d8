//! Settings of the kernel that are changed: where their journals are, and what is
//! done about those that were left behind.

use crate::exit::{Exit, Failure, say};
use diskfacts_host::Roots;
use diskfacts_host::settings::{
    Journal, Restored, SettingsError, StateFolder, Steps, Written, remove_stale_groups,
    restore_stale,
};
use diskfacts_host::trace::remove_stale_instances;
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// This program, for the watchdog: it stays the same when the file is replaced.
pub(crate) const EXECUTABLE: &str = "/proc/self/exe";

/// A hidden variable of the tests: `kill:7` ends the process by SIGKILL at its seventh
/// step of changing or putting back settings, `kill-both:7` its watchdog before it,
/// and `panic:7` panics there. With `kill:7,watchdog:2` the watchdog, which comes then, is
/// ended at the second step of its own.
const END_AT: &str = "DISKFACTS_TEST_END_AT";

/// Steps that were told, whoever told them: a run may put back what others left first.
static REACHED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The folders of journals: the own one first, and that of root, which everybody can
/// see.
pub(crate) fn folders() -> Result<Vec<StateFolder>, Failure> {
    let get = |name: &str| std::env::var_os(name);
    let own = StateFolder::of_environment(get, is_root()).map_err(failure)?;
    let named = get("DISKFACTS_STATE").is_some_and(|path| own.path() == Path::new(&path));
    let of_root = StateFolder::of_root();
    let also = !named && own != of_root;
    Ok([Some(own), also.then_some(of_root)]
        .into_iter()
        .flatten()
        .collect())
}

/// Who is told of the steps: nobody, but in a test.
pub(crate) fn steps() -> Steps {
    steps_to_end_at(|how| how != "watchdog")
}

/// The same of a watchdog, which has the environment of its parent.
pub(crate) fn watchdog_steps() -> Steps {
    steps_to_end_at(|how| how == "watchdog")
}

/// Those that a test wants to end at, where it says so of this process.
fn steps_to_end_at(is_meant: impl Fn(&str) -> bool) -> Steps {
    let asked = std::env::var(END_AT).unwrap_or_default();
    let mut ends = asked.split(',').filter_map(|end| {
        let (how, number) = end.split_once(':')?;
        Some((how.to_owned(), number.parse::<u64>().ok()?))
    });
    let Some((how, number)) = ends.find(|(how, _)| is_meant(how)) else {
        return Steps::default();
    };
    Steps::told_to(move |step, watchdog| {
        if REACHED.fetch_add(1, Ordering::Relaxed) + 1 != number {
            return;
        }
        assert!(how != "panic", "the test wanted a panic at: {step}");
        if how == "kill-both" {
            kill(watchdog);
        }
        kill(Some(std::process::id()));
    })
}

fn kill(process: Option<u32>) {
    let process = process.and_then(|process| i32::try_from(process).ok());
    if let Some(process) = process.and_then(Pid::from_raw) {
        // One that is dead already is as it should be.
        let _ = kill_process(process, Signal::KILL);
    }
}

/// How a command ends that could not change or put back settings.
pub(crate) fn failure(error: SettingsError) -> Failure {
    let exit = match error {
        SettingsError::NoPlace { .. }
        | SettingsError::NotAccepted { .. }
        | SettingsError::NotThere { .. }
        | SettingsError::NotAllowed { .. }
        | SettingsError::Unknown { .. }
        | SettingsError::Failed { .. }
        | SettingsError::RelativeFolder { .. }
        | SettingsError::Busy { .. } => Exit::WrongCall,
        _ => Exit::Failed,
    };
    Failure::of(exit, error)
}

/// What a command that measures does first: puts back what dead runs left changed.
/// Each is a sentence for the notes of the run; they are said too.
///
/// What cannot be looked at or put back is no reason not to measure: it is said.
///
/// # Errors
/// When a folder for journals was named and cannot be one.
pub(crate) fn before_measuring() -> Result<Vec<String>, Failure> {
    let notes: Vec<String> = match folders() {
        Ok(folders) => folders.iter().flat_map(restored).collect(),
        Err(failure) if failure.exit == Exit::WrongCall => return Err(failure),
        // Without a folder nothing was ever written there.
        Err(_) => Vec::new(),
    };
    for note in &notes {
        say(&format!("diskfacts: note: {note}"));
    }
    Ok(notes)
}

fn restored(folder: &StateFolder) -> Vec<String> {
    let roots = Roots::default();
    let restored = match restore_stale(&roots, folder, &mut steps()) {
        Ok(restored) => restored,
        Err(error) => {
            return vec![format!(
                "Whether a killed diskfacts left settings changed is not known: {error}."
            )];
        }
    };
    let notes: Vec<String> = restored.iter().filter_map(note).collect();
    if !notes.is_empty() {
        let _ = remove_stale_groups(&roots);
        let _ = remove_stale_instances(&roots);
    }
    notes
}

/// `process 4711 (diskfacts measure /dev/sdb)`.
pub(crate) fn whose(journal: &Journal) -> String {
    format!("process {} ({})", journal.process, journal.command)
}

fn note(restored: &Restored) -> Option<String> {
    match restored {
        // Whether it matters to what is measured is seen by its locks.
        Restored::Live { .. } => None,
        Restored::PutBack {
            path,
            journal,
            back,
            left,
        } => {
            let whose = whose(journal);
            let written: Vec<String> = back.written.iter().map(change).collect();
            let complete = back.is_complete();
            let mut said = if written.is_empty() && complete && back.gone.is_empty() {
                format!("{whose} was killed, and all settings were as before it.")
            } else if written.is_empty() {
                format!("{whose} was killed.")
            } else {
                let written = written.join(", ");
                format!("{whose} was killed and had left settings changed; put back: {written}.")
            };
            for gone in &back.gone {
                said.push(' ');
                said.push_str(gone);
            }
            // Writing to a string does not fail.
            for failed in &back.failed {
                let _ = write!(said, " Not put back: {failed}.");
            }
            if let Some(error) = left {
                let _ = write!(said, " Remove it by hand: {error}.");
            }
            if !complete {
                let _ = write!(
                    said,
                    " The journal stays: {}. Type these lines, or `diskfacts restore --forget`.",
                    path.display()
                );
            }
            Some(said)
        }
        Restored::Needless { path, why } => {
            Some(format!("The journal {} is dropped: {why}.", path.display()))
        }
        Restored::Kept { path, why } => Some(format!(
            "{} lists settings that may still be changed: {why}.",
            path.display()
        )),
        // Who measures without being root cannot help it.
        Restored::OfAnother { path, user } => Some(format!(
            "{} lists settings that may still be changed: it belongs to the user with number \
             {user}, who has to run `diskfacts restore`.",
            path.display()
        )),
    }
}

/// `scheduler of sdb (bfq to none)`.
fn change(written: &Written) -> String {
    let on = written.device.as_deref().unwrap_or("the machine");
    format!(
        "{} of {on} ({} to {})",
        written.setting, written.from, written.to
    )
}
