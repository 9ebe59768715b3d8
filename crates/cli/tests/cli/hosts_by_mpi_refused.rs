//! What speaks against measuring on one host speaks for all: each is refused before anything is
//! written, and the reason is said once, by the root.

use crate::hosts_by_mpi::{Ranks, TOGETHER, mpirun, plan, runs};
use crate::support::{Case, MIB, hash, one_stage};
use diskfacts_testkit::{
    FilesystemKind, Finished, LoopDevice, Missing, MountedFilesystem, Program, Tmpfs, or_skip,
    require_tool,
};
use std::path::Path;

/// Rank 0 on one target, and rank 1, started through these words, on another.
fn both(
    case: &Case,
    (words, through): (&[String], &[&str]),
    targets: [&Path; 2],
) -> Result<Finished, Missing> {
    let store = case.path("ranks.db");
    let words_on = |target: &Path| {
        let on = |word: &String| match word.as_str() {
            "TARGET" => target.display().to_string(),
            _ => word.clone(),
        };
        words.iter().map(on).collect::<Vec<String>>()
    };
    let diskfacts = env!("CARGO_BIN_EXE_diskfacts");
    let rank = |program: Program, through: &[&str], target: &Path| {
        let program = program.args(["-n", "1"]).args(through).arg(diskfacts);
        program.arg("--store").arg(&store).args(words_on(target))
    };
    let first = rank(mpirun()?, &[], targets[0]).arg(":");
    Ok(rank(first, through, targets[1]).run())
}

/// The root has said this, once, and nobody has stored a run.
#[track_caller]
fn refused(case: &Case, finished: &Finished, said: &str) {
    finished.expect_stderr(said);
    assert_ne!(finished.code(), Some(0), "{finished}");
    let times = finished
        .stderr
        .matches("nothing was measured or written on any host")
        .count();
    assert_eq!(times, 1, "by the root alone: {finished}");
    assert_eq!(finished.stderr.matches(said).count(), 1, "{finished}");
    assert_eq!(runs(case).len(), 0, "{finished}");
}

fn words(case: &Case, size: &str) -> Vec<String> {
    let plan = plan(case, "plan.toml", "1s");
    let mut words = Ranks::new(case, &plan).with(&TOGETHER).words;
    "TARGET".clone_into(&mut words[1]);
    let place = words
        .iter()
        .position(|word| word == "4MiB")
        .expect("the size");
    size.clone_into(&mut words[place]);
    words
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder)
        .expect("the folder")
        .next()
        .is_none()
}

#[test]
fn a_disk_without_room_on_one_host() {
    let case = Case::new();
    let full = or_skip!(Tmpfs::new(24 * MIB));
    let room = case.path("room");
    std::fs::create_dir(&room).expect("a folder");
    let words = words(&case, "64MiB");
    let finished = or_skip!(both(&case, (&words, &[]), [&room, full.path()]));
    refused(&case, &finished, "no room for a file of 64 MiB");
    assert!(is_empty(&room) && is_empty(full.path()), "{finished}");
}

#[test]
fn a_host_that_may_not_write() {
    let case = Case::new();
    let setpriv = or_skip!(require_tool("setpriv", "util-linux"));
    let [own, others] = ["own", "others"].map(|name| {
        let folder = case.path(name);
        std::fs::create_dir(&folder).expect("a folder");
        folder
    });
    // Without its capabilities root asks for permission like anybody else.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(&others, mode).expect("it is ours");
    let setpriv = setpriv.display().to_string();
    let through = [&*setpriv, "--inh-caps=-all", "--bounding-set=-all"];
    let words = words(&case, "4MiB");
    let finished = or_skip!(both(&case, (&words, &through), [&own, &others]));
    refused(&case, &finished, "you may not write there");
    assert!(is_empty(&own) && is_empty(&others), "{finished}");
}

#[test]
fn a_device_that_is_in_use_on_one_host() {
    let case = Case::new();
    let free = or_skip!(LoopDevice::new(32 * MIB));
    let used = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let before = [free.backing_file(), used.device().backing_file()].map(hash);
    let stage = one_stage("operation = \"write\"\nblock_size = \"4KiB\"\ntime = \"1s\"");
    let plan = case.text_file("writes.toml", &stage).display().to_string();
    let words = [
        "measure",
        "TARGET",
        "--plan",
        &plan,
        "--destroy-data-on",
        "TARGET",
    ];
    let words: Vec<String> = words
        .iter()
        .chain(&TOGETHER)
        .map(|&word| word.to_owned())
        .collect();
    let targets = [free.path(), used.device().path()];
    let finished = or_skip!(both(&case, (&words, &[]), targets));
    refused(&case, &finished, "is mounted on");
    let after = [free.backing_file(), used.device().backing_file()].map(hash);
    assert_eq!(before, after, "{finished}");
}
