//! The kernel's trace events, for tests of what follows them.

use diskfacts_host::Roots;
use diskfacts_host::trace::Tracefs;
use diskfacts_testkit::{Missing, require_root};
use std::fs;

/// Whether this machine shows the events of the block layer.
pub(crate) fn events() -> Result<Tracefs, Missing> {
    require_root()?;
    let missing = |error| Missing::new("events of the block layer", error);
    let tracefs = Tracefs::open(&Roots::default()).map_err(missing)?;
    let needed = ["block/block_io_start", "block/block_rq_issue"];
    tracefs.need_events(&needed).map_err(missing)?;
    Ok(tracefs)
}

/// The instances of a process, by their names.
pub(crate) fn instances(tracefs: &Tracefs, process: u32) -> Vec<String> {
    let entries = fs::read_dir(tracefs.instances()).expect("instances");
    entries
        .map(|entry| {
            entry
                .expect("one")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.contains(&format!("-{process}-")))
        .collect()
}
