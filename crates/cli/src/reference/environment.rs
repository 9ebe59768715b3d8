//! What diskfacts takes from its environment, and what it keeps where.

/// Variables of the environment, and what they mean.
pub(super) const ENVIRONMENT: [(&str, &str); 8] = [
    (
        "XDG_DATA_HOME",
        "runs are stored in `$XDG_DATA_HOME/diskfacts/runs.db`. A path that is not absolute is \
         ignored, as the XDG Base Directory Specification wants it",
    ),
    (
        "HOME",
        "without `XDG_DATA_HOME`: `$HOME/.local/share/diskfacts/runs.db`. With neither, `--store` \
         must be given",
    ),
    (
        "DISKFACTS_STATE",
        "the folder for the journals of changed settings of the kernel. Without it that is \
         `/var/lib/diskfacts` for root, else `diskfacts` in `XDG_STATE_HOME`, else in \
         `$HOME/.local/state`. A path that is not absolute is refused",
    ),
    (
        "NO_COLOR",
        "if it is not empty, no colour unless `--color always` is given",
    ),
    (
        "TERM",
        "`dumb`: no colour, and a line per stage instead of lines that are redrawn",
    ),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "the first that is set decides whether the terminal can show more than ASCII: it must \
         name UTF-8",
    ),
    (
        "GITHUB_STEP_SUMMARY",
        "with `diskfacts compare --format github`: the file that the table of the comparison is \
         appended to",
    ),
    (
        "SOURCE_DATE_EPOCH",
        "with `diskfacts man`: the date of the pages, in seconds since 1970",
    ),
];

/// Files that diskfacts keeps, and what is in them.
pub(super) const FILES: [(&str, &str); 2] = [
    (
        "~/.local/share/diskfacts/runs.db",
        "the stored runs, an SQLite database",
    ),
    (
        "/var/lib/diskfacts, ~/.local/state/diskfacts",
        "journals of settings of the kernel that a run has changed, until they are put back",
    ),
];
