//! The ways to have diskfacts write to what exists already.

use crate::support::Case;
use diskfacts_testkit::Program;
use std::path::Path;

/// A call that would write to its target, which it names as what may be destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// The plan that is done when none is named.
    Survey,
    /// A stage of direct writes, one after the other.
    Sequential,
    /// A stage of random writes through the page cache.
    Random,
    /// The built-in plan of all ways to write.
    WriteMatrix,
    /// A plan that only reads, after it has filled the target.
    Precondition,
    Tune,
    Dd,
    /// `dd` into the middle, past the page cache.
    DdDirect,
}

const SEQUENTIAL: &str = "[[stage]]
name = \"w\"
operation = \"write\"
pattern = \"sequential\"
block_size = \"64KiB\"
operations = 32
";

const RANDOM: &str = "[[stage]]
name = \"w\"
operation = \"write\"
pattern = \"random\"
cache = \"buffered\"
block_size = \"4KiB\"
operations = 64
";

const PRECONDITION: &str = "[[precondition]]
name = \"fill\"
operation = \"write\"
pattern = \"sequential\"
block_size = \"1MiB\"

[[stage]]
name = \"r\"
operation = \"read\"
pattern = \"random\"
block_size = \"4KiB\"
operations = 16
";

impl Door {
    /// One that follows a plan, and one that copies.
    pub(super) const OF_EACH_KIND: [Self; 2] = [Self::Sequential, Self::Dd];

    pub(super) const ALL: [Self; 8] = [
        Self::Survey,
        Self::Sequential,
        Self::Random,
        Self::WriteMatrix,
        Self::Precondition,
        Self::Tune,
        Self::Dd,
        Self::DdDirect,
    ];

    pub(super) fn program(self, case: &Case, target: &Path) -> Program {
        let plan = |text: &str| {
            let text = format!("name = \"door\"\ntrials = 1\n\n{text}");
            case.text_file("door.toml", &text)
        };
        let measure = |plan: &Path| {
            case.diskfacts(["measure", "--time", "1s", "--plan"])
                .arg(plan)
        };
        let program = match self {
            Self::Survey => measure(Path::new("survey")),
            Self::Sequential => measure(&plan(SEQUENTIAL)),
            Self::Random => measure(&plan(RANDOM)),
            Self::WriteMatrix => measure(Path::new("write-matrix")),
            Self::Precondition => measure(&plan(PRECONDITION)),
            Self::Tune => case
                .diskfacts(["tune", "--vary", "queue_depth=1,2", "--plan"])
                .arg(plan(SEQUENTIAL)),
            Self::Dd | Self::DdDirect => {
                let mut of = std::ffi::OsString::from("of=");
                of.push(target);
                let dd = case
                    .diskfacts(["dd", "if=/dev/zero", "bs=64K", "count=8"])
                    .arg(of);
                let dd = match self {
                    // Other bytes than those that are there.
                    Self::Dd => dd.arg("if=/dev/urandom"),
                    _ => dd.args(["oflag=direct", "conv=notrunc", "seek=3"]),
                };
                return dd.arg("--destroy-data-on").arg(target);
            }
        };
        program.arg("--destroy-data-on").args([target, target])
    }
}
