//! Where the blocks of a stage of a document lie: on a device itself, or in a
//! file of a filesystem. A strided line says `ext` or `raw`, dd and hdparm name
//! what they read or write.

use crate::stages::Stage;
use std::fmt;

/// What a document says of the place of some blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The device itself, and not a file.
    pub(crate) raw: bool,
    /// Path of the device, the file or the folder; absent where only the kind is
    /// said.
    pub(crate) path: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// Where a stage of an imported run did its I/O; `None` where its document
    /// does not say it.
    pub(crate) fn of(stage: &Stage<'a>) -> Option<Self> {
        let setting = |name: &str| stage.settings.get(name).map(String::as_str);
        if let Some(kind) = setting("place") {
            let raw = kind == "raw";
            return Some(Self {
                raw,
                path: setting("at"),
            });
        }
        let path = setting("target").filter(|path| path.starts_with('/'))?;
        let raw = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
        Some(Self {
            raw,
            path: Some(path),
        })
    }

    /// Whether both may be the same place: of the same kind, and where both have
    /// a path, one within the other.
    pub(crate) fn may_be(&self, other: &Place<'_>) -> bool {
        let within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let paths = match (self.path, other.path) {
            (Some(a), Some(b)) => within(a, b) || within(b, a),
            _ => true,
        };
        self.raw == other.raw && paths
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path, self.raw) {
            (Some(path), _) => f.write_str(path),
            (None, true) => f.write_str("raw"),
            (None, false) => f.write_str("ext"),
        }
    }
}
