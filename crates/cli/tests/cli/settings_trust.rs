//! Whose journals are believed: root writes nothing that another user could have asked
//! for, and nobody waits for what is no file.

use crate::settings_support::Bench;
use crate::support::{copy_program, run_tool};
use diskfacts_testkit::{Program, Scratch, or_skip, require_tool};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

/// A user that owns nothing.
const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("another mode");
}

/// `diskfacts restore` with journals in this folder.
fn restore(bench: &Bench, state: &Path) -> Program {
    let program = bench.diskfacts(&["restore"]);
    program.env("DISKFACTS_STATE", state)
}

#[test]
fn root_takes_no_journal_from_a_folder_that_another_user_could_change() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let left = bench.settings();
    let state = bench.state();
    let link = state.with_file_name("link");
    symlink(&state, &link).expect("a link");
    let above = state.parent().expect("a folder").to_owned();
    let refuses = |folder: &Path, said: &str| {
        let finished = restore(&bench, folder).run();
        finished
            .expect_code(1)
            .expect_stderr("is not used by root")
            .expect_stderr(said)
            .expect_stderr("DISKFACTS_STATE");
        assert_eq!(bench.settings(), left, "{finished}");
        assert_eq!(bench.journals().len(), 1, "{finished}");
        // Nor is one written there.
        let measured = bench
            .measure(&crate::settings_support::matrix())
            .env("DISKFACTS_STATE", folder)
            .run();
        measured.expect_code(1).expect_stderr("is not used by root");
        assert_eq!(bench.settings(), left, "{measured}");
    };
    for (path, mode) in [
        (&state, 0o777),
        (&state, 0o1777),
        (&state, 0o775),
        (&above, 0o777),
    ] {
        let was = fs::metadata(path).expect("a folder").permissions();
        set_mode(path, mode);
        refuses(&state, "others may write");
        fs::set_permissions(path, was).expect("as it was");
    }
    for path in [&state, &above] {
        chown(path, Some(NOBODY), None).expect("another owner");
        refuses(&state, &format!("belongs to user {NOBODY}"));
        chown(path, Some(0), None).expect("as it was");
    }
    std::os::unix::fs::lchown(&link, Some(NOBODY), None).expect("another owner");
    refuses(&link, &format!("belongs to user {NOBODY}"));
    std::os::unix::fs::lchown(&link, Some(0), None).expect("as it was");
    // By a link of root's own it is the same folder.
    restore(&bench, &link)
        .run()
        .expect_code(0)
        .expect_stdout("Put back");
    assert_eq!(bench.settings(), before);
}

#[test]
fn what_is_no_file_of_ours_is_no_journal_and_holds_nobody_up() {
    let bench = or_skip!(Bench::new());
    let before = bench.settings();
    bench.leave_changed(&before);
    let (name, journal) = bench.journal();
    let elsewhere = bench.case.path("elsewhere");
    fs::rename(&journal, &elsewhere)
        .or_else(|_| fs::copy(&journal, &elsewhere).map(drop))
        .expect("the journal elsewhere");
    let _ = fs::remove_file(&journal);
    let left = bench.settings();
    let kept = |why: &str| {
        let finished = bench.diskfacts(&["restore"]).run();
        finished
            .expect_code(1)
            .expect_stderr(why)
            .expect_stderr(&name);
        bench.diskfacts(&["restore", "--show"]).run().expect_code(1);
        let plain = "name = \"plain\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n\
                     operations = 1\n";
        let measured = bench.measure(plain).run();
        measured.expect_code(0).expect_stderr(why);
        assert_eq!(bench.settings(), left);
        assert_eq!(bench.journals(), std::slice::from_ref(&name));
        fs::remove_file(&journal)
            .or_else(|_| fs::remove_dir(&journal))
            .expect("to be removed");
    };
    or_skip!(run_tool(
        "mkfifo",
        "coreutils",
        &[&journal.to_string_lossy()]
    ));
    kept("is a FIFO");
    symlink(&elsewhere, &journal).expect("a link");
    kept("is a symbolic link");
    fs::create_dir(&journal).expect("a folder");
    kept("is a folder");
    fs::copy(&elsewhere, &journal).expect("the journal");
    set_mode(&journal, 0o666);
    kept("others may write it");
    fs::copy(&elsewhere, &journal).expect("the journal");
    chown(&journal, Some(NOBODY), None).expect("another owner");
    kept("belongs to user 65534");
    let long = fs::File::create(&journal).expect("a file");
    long.set_len(1 << 40).expect("a long one");
    kept("is longer than any journal");
    fs::copy(&elsewhere, &journal).expect("the journal");
    bench.diskfacts(&["restore"]).run().expect_code(0);
    assert_eq!(bench.settings(), before);
}

#[test]
fn an_ordinary_user_keeps_journals_in_a_folder_of_his_own() {
    let bench = or_skip!(Bench::new());
    let setpriv = or_skip!(require_tool("setpriv", "util-linux"));
    let home = Scratch::new().expect("a folder");
    set_mode(home.path(), 0o755);
    let program = home.path().join("diskfacts");
    copy_program(&program);
    let state = home.path().join("state");
    fs::create_dir(&state).expect("a folder");
    // The group may write, as with most users' own groups.
    set_mode(&state, 0o775);
    let journal = state.join("settings-1-1.journal");
    let of_another_boot = "diskfacts settings journal 1\nboot x\nprocess 1 1\nbegan \ncommand \n\
                           end 0 3c2fad0a3aae5c8b\n";
    fs::write(&journal, of_another_boot).expect("a journal");
    for path in [&state, &journal] {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("his own");
    }
    // Root does not touch it.
    let refused = restore(&bench, &state).run();
    refused
        .expect_code(1)
        .expect_stderr("belongs to user 65534");
    assert!(journal.exists());
    let finished = Program::new(setpriv)
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .arg("restore")
        .env("DISKFACTS_STATE", &state)
        .run();
    finished
        .expect_code(0)
        .expect_stdout("is dropped: the machine was started anew");
    assert!(!journal.exists());
}
