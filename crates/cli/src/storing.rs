//! Where runs are kept.

use crate::args::Common;
use crate::exit::{Failure, OrFail};
use diskfacts_host::{Roots, machine};
use diskfacts_record::Status;
use diskfacts_store::{RunSummary, Store, Writer, default_path};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) fn path(common: &Common) -> Result<PathBuf, Failure> {
    match &common.store {
        Some(path) => Ok(path.clone()),
        None => default_path(|name| std::env::var_os(name)).or_wrong_call(),
    }
}

/// The store, made if it is not there.
pub(crate) fn open(common: &Common) -> Result<Store, Failure> {
    Store::open(&path(common)?).or_failed()
}

/// Refuses a run that would write into its own store: to the file `written`, by filesystem
/// and inode, or, where that is yet to be made, to what will be at `path`.
pub(crate) fn is_not(
    common: &Common,
    (path, written): (&Path, Option<(u64, u64)>),
) -> Result<(), Failure> {
    let store = self::path(common)?;
    let same = match (std::fs::metadata(&store), written) {
        (Ok(store), Some(written)) => (store.dev(), store.ino()) == written,
        (Err(_), None) => {
            let folder = store
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok();
            let at = folder.zip(store.file_name());
            at.is_some_and(|(folder, name)| folder.join(name) == path)
        }
        _ => false,
    };
    if !same {
        return Ok(());
    }
    let shown = store.display();
    Err(Failure::wrong_call(format!(
        "{shown} is the store in which this run would be kept, with all runs before it; nothing \
         was written. Keep the run elsewhere: --store OTHER.db, or name another target"
    )))
}

/// The store for reading; `None` when there is none yet.
pub(crate) fn existing(common: &Common) -> Result<Option<Store>, Failure> {
    let path = path(common)?;
    if common.store.is_none() && !path.exists() {
        return Ok(None);
    }
    Store::open_existing(&path).map(Some).or_failed()
}

/// The store for changing what is in it: one that is there.
pub(crate) fn open_existing(common: &Common) -> Result<Store, Failure> {
    Store::open_existing(&path(common)?).or_failed()
}

/// `--store PATH` as it was given, with a space before it, for commands to type.
pub(crate) fn option(common: &Common) -> String {
    let store = common.store.as_ref();
    store.map_or_else(String::new, |path| {
        format!(" --store {}", quoted(&path.display().to_string()))
    })
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Who writes: process, boot and moment of start.
pub(crate) fn writer_of(process: &str) -> Option<Writer> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let boot_id = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let mut writer = Writer::parse(&stat, &boot_id)?;
    // Of processes of others it cannot be read.
    let namespace = std::fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    let namespace = namespace.as_ref().and_then(|link| link.to_str());
    let number = namespace.and_then(|text| text.strip_prefix("pid:[")?.strip_suffix(']'));
    writer.namespace = number.and_then(|number| number.parse().ok());
    Some(writer)
}

/// From where it is looked at runs that have not ended.
pub(crate) struct Here {
    /// Name of this host.
    host: Option<String>,
}

impl Here {
    pub(crate) fn new() -> Self {
        Self {
            host: machine(&Roots::default()).host,
        }
    }

    /// Whether the process that makes a run lives. `None` when that cannot be seen from here:
    /// it may be in a container, or on another machine that has the same store.
    pub(crate) fn alive(&self, run: &RunSummary) -> Option<bool> {
        let writer = run.writer.as_ref()?;
        // Without /proc nothing is known.
        let own = writer_of("self")?;
        // A process that is gone has no stat file; its number, boot and moment are one's own.
        if writer_of(&writer.pid.to_string()).is_some_and(|found| found.is_same(writer)) {
            return Some(true);
        }
        // While the machine was not booted again, the processes of another namespace may live, and
        // have other numbers here. Containers may have the name of their host.
        let namespaces = writer.namespace.zip(own.namespace);
        let is_elsewhere = writer.boot_id == own.boot_id && namespaces.is_some_and(|(a, b)| a != b);
        let is_of_here = self.host.is_some() && run.host == self.host && !is_elsewhere;
        is_of_here.then_some(false)
    }

    /// Whether somebody is making a run at this moment, as far as can be seen.
    pub(crate) fn is_made(&self, run: &RunSummary) -> bool {
        run.status == Some(Status::Running) && self.alive(run) == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::Labels;

    #[test]
    fn who_is_in_another_process_namespace_may_live() {
        let Some(own) = writer_of("self") else {
            return diskfacts_testkit::skip("/proc: a Linux with it mounted");
        };
        let here = Here::new();
        let run = |writer| RunSummary {
            id: "20260101-000000-00000001".to_owned(),
            status: Some(Status::Running),
            started: String::new(),
            ended: None,
            tool_version: String::new(),
            host: here.host.clone(),
            target: String::new(),
            target_path: String::new(),
            plan: String::new(),
            trials: 0,
            writer: Some(writer),
            labels: Labels::default(),
        };
        assert_eq!(here.alive(&run(own.clone())), Some(true));
        // Not this process, nor another that was started with it.
        let mut gone = own.clone();
        gone.start_ticks += 1;
        assert_eq!(here.alive(&run(gone.clone())), Some(false));
        let mut elsewhere = gone.clone();
        elsewhere.namespace = own.namespace.map(|number| number + 1);
        assert_eq!(here.alive(&run(elsewhere.clone())), None);
        // What was started before this boot is gone, wherever it was.
        elsewhere.boot_id = "0d4ca65c-4f6e-4f3b-8b6c-0e1d7f5ac2b1".to_owned();
        assert_eq!(here.alive(&run(elsewhere)), Some(false));
    }
}
