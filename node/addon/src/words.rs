//! The words of JavaScript in the place of Rust's.
//!
//! The hints of `directio` name its own functions and options; whoever reads
//! them here has other names for them.

/// What `directio` says, and what it is called here; the longer ones first.
const WORDS: [(&str, &str); 10] = [
    (
        "call read(true) or write(true)",
        "set read or write to true",
    ),
    ("write(true)", "write: true"),
    ("Direct::IfPossible", "direct: 'preferred'"),
    ("OpenOptions::exclusive", "exclusive: true"),
    (" (Patience::Wait)", ""),
    ("(VolumeLock)", "(setFSCTL_LOCK_VOLUME)"),
    ("geometry_under", "getGeometryUnder"),
    ("ask geometry", "ask getGeometry"),
    ("create_new", "createNew"),
    ("sync_all (fsync)", "sync('all') (fsync)"),
];

pub(crate) fn for_javascript(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (rust, here)| {
        text.replace(rust, here)
    })
}
