//! A place for a test: a store, and room for files. Every program of tests here uses it.

use diskfacts_testkit::{Finished, Program, Scratch};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) const MIB: u64 = 1 << 20;

/// A store, and room for files, both gone with the case.
pub(crate) struct Case {
    pub(crate) scratch: Scratch,
}

impl Case {
    /// In the folder that cargo gives to tests: a real filesystem, mostly.
    pub(crate) fn new() -> Self {
        Self {
            scratch: Scratch::inside(Path::new(env!("CARGO_TARGET_TMPDIR")))
                .expect("the folder for tests"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("runs.db")
    }

    /// A file with this text.
    pub(crate) fn text_file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        fs::write(&file, text).expect("a file");
        file
    }

    /// A file of random data on the disk.
    pub(crate) fn data_file(&self, name: &str, bytes: u64) -> PathBuf {
        let file = self.path(name);
        write_data(&file, bytes);
        file
    }

    /// `diskfacts` with these arguments, and the case's store.
    pub(crate) fn diskfacts<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Program {
        diskfacts(["--store"]).arg(self.store()).args(arguments)
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Finished {
        self.diskfacts(arguments).run()
    }

    /// `diskfacts measure TARGET` with a plan file of one stage, given by these
    /// lines; whatever the target and the plan, in seconds.
    pub(crate) fn measure_stage(&self, target: &Path, stage: &str) -> Program {
        let plan = self.text_file("plan.toml", &one_stage(stage));
        self.diskfacts(["measure"])
            .arg(target)
            .args(["--time", "2s", "--plan"])
            .arg(plan)
    }
}

pub(crate) fn diskfacts<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Program {
    Program::new(env!("CARGO_BIN_EXE_diskfacts")).args(arguments)
}

/// A plan of one trial of one stage.
pub(crate) fn one_stage(lines: &str) -> String {
    format!("name = \"test\"\ntrials = 1\n\n[[stage]]\nname = \"stage\"\n{lines}\n")
}

/// Random data, on the disk when this returns.
pub(crate) fn write_data(path: &Path, bytes: u64) {
    let mut file = File::create(path).expect("a file");
    let mut piece = vec![0_u8; usize::try_from(MIB).expect("a mebibyte")];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut left = bytes;
    while left > 0 {
        for eight in piece.chunks_exact_mut(8) {
            // xorshift64 (Marsaglia, 2003): not to be compressed is enough.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            eight.copy_from_slice(&random.to_le_bytes());
        }
        let now = left.min(MIB);
        file.write_all(&piece[..usize::try_from(now).expect("at most a mebibyte")])
            .expect("room for the data");
        left -= now;
    }
    file.sync_all().expect("the data on the disk");
}
