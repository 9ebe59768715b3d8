//! What is removed, and what is not.

use super::*;
use std::fs;
use std::mem::forget;

fn parent() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// A folder with a file of ours in it.
fn used(parent: &Path) -> OwnFolder {
    let own = OwnFolder::make(parent, 2).expect("a folder of our own");
    let names = names::Names::new(3, true, 1);
    for index in 0..3 {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        openat(own.part(1), names.get(index), flags, Mode::RUSR).expect("a file");
    }
    own
}

/// As after SIGKILL: nothing is dropped, and nobody holds the lock.
fn killed(own: OwnFolder) -> PathBuf {
    let path = own.path.clone();
    #[expect(clippy::used_underscore_binding, reason = "the program only holds it")]
    own._mark.unlock().expect("letting go of the lock");
    forget(own);
    path
}

#[test]
fn it_is_gone_after_use_after_a_drop_and_after_a_panic() {
    let parent = parent();
    used(parent.path()).remove().expect("removing it");
    assert_eq!(listed(parent.path()), [""; 0]);
    drop(used(parent.path()));
    assert_eq!(listed(parent.path()), [""; 0]);
    let path = parent.path().to_owned();
    let panicked = std::thread::spawn(move || {
        let _own = used(&path);
        panic!("planted");
    })
    .join();
    assert!(panicked.is_err());
    assert_eq!(listed(parent.path()), [""; 0]);
}

#[test]
fn the_next_start_removes_what_a_killed_process_left_and_keeps_what_is_in_use() {
    let parent = parent();
    let living = used(parent.path());
    let dead = killed(used(parent.path()));
    let name = dead
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let found = remove_leftovers(parent.path()).expect("looking");
    assert_eq!((found.removed, found.kept), (vec![name], vec![]));
    assert!(!dead.exists());
    assert_eq!(listed(&living.path.join("001")).len(), 3);
}

/// Where locks are local to a machine, those of others' living folders are free.
#[test]
fn where_others_locks_may_not_be_seen_only_folders_of_this_boot_and_mount_are_removed() {
    let parent = parent();
    let opened = openat(CWD, parent.path(), FOLDER, Mode::empty()).expect("a folder");
    let own = mark_in(&opened).expect("it is seen").expect("a boot");
    let left = killed(used(parent.path()));
    let left = left.file_name().expect("a name").to_string_lossy();
    let living = used(parent.path());
    let others = [Some(own ^ 1), None].map(|mark| {
        let name = drawn_name(0, mark);
        drop(claim(&opened, &name).expect("a folder"));
        name.to_string_lossy().into_owned()
    });
    let before = listed(parent.path());
    let found = remove(&opened, Whose::Marked(None)).expect("a sweep");
    // What is in use here is not said to be nobody's of this machine.
    let in_use = living.path.file_name().expect("a name").to_string_lossy();
    assert!(found.kept.iter().all(|(name, _)| *name != in_use));
    assert_eq!((found.removed, found.kept.len()), (Vec::new(), 3));
    assert_eq!(listed(parent.path()), before);
    let found = remove(&opened, Whose::Marked(Some(own))).expect("a sweep");
    assert_eq!(found.removed, [left]);
    let kept: Vec<&String> = found.kept.iter().map(|(name, _)| name).collect();
    assert!(kept.len() == 2 && others.iter().all(|name| kept.contains(&name)));
    assert!(listed(parent.path()).len() > others.len());
    drop(living);
}

#[test]
fn a_folder_of_another_boot_or_of_a_client_stays_until_it_is_old() {
    let parent = parent();
    let opened = openat(CWD, parent.path(), FOLDER, Mode::empty()).expect("a folder");
    let own = mark_in(&opened).expect("it is seen").expect("a boot");
    let whose = Whose::OfOneMachine(Some(own));
    let name = drawn_name(0, Some(own ^ 1));
    let (_folder, mark) = claim(&opened, &name).expect("a folder");
    let in_use = remove(&opened, whose).expect("a sweep");
    assert_eq!((in_use.removed.len(), in_use.kept.len()), (0, 0));
    mark.unlock().expect("letting go of the lock");
    let found = remove(&opened, whose).expect("a sweep");
    let shown = name.to_string_lossy().into_owned();
    let why = Whose::MAY_BE_A_CLIENTS.to_owned();
    assert_eq!(
        (found.removed, found.kept),
        (vec![], vec![(shown.clone(), why)])
    );
    let nine_days = std::time::Duration::from_hours(9 * 24);
    let then = std::time::SystemTime::now() - nine_days;
    mark.set_modified(then).expect("another time");
    let found = remove(&opened, whose).expect("a sweep");
    assert_eq!((found.removed, found.kept), (vec![shown], vec![]));
}

#[test]
fn a_folder_of_somebody_elses_files_stays_though_its_name_clashes() {
    let parent = parent();
    let make = |digits: char| {
        let path = parent
            .path()
            .join(format!("{PREFIX}{}", digits.to_string().repeat(16)));
        fs::create_dir(&path).expect("a folder");
        path
    };
    let unmarked = make('1');
    fs::write(unmarked.join("thesis.txt"), "years").expect("a file");
    let other_mark = make('2');
    fs::write(other_mark.join("owner"), "Alice").expect("a file");
    let not_a_folder = parent.path().join(format!("{PREFIX}{}", "3".repeat(16)));
    fs::write(&not_a_folder, "a file").expect("a file");
    let elsewhere = parent.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("owner"), MAGIC).expect("a file");
    let link = parent.path().join(format!("{PREFIX}{}", "4".repeat(16)));
    std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
    let before = listed(parent.path());

    let found = remove_leftovers(parent.path()).expect("looking");
    assert_eq!(found.removed, [""; 0]);
    let why: Vec<&str> = found.kept.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(
        why,
        [
            "it has no mark of diskfacts",
            "its mark is not one of diskfacts",
            "it is not a folder",
            "it is not a folder",
        ]
    );
    assert_eq!(listed(parent.path()), before);
    assert_eq!(listed(&unmarked), ["thesis.txt"]);
    assert_eq!(listed(&elsewhere), ["owner"]);
}

#[test]
fn what_somebody_put_into_a_leftover_stays_and_is_named() {
    let parent = parent();
    let dead = killed(used(parent.path()));
    fs::write(dead.join("001/thesis.txt"), "years").expect("a file");
    let found = remove_leftovers(parent.path()).expect("looking");
    assert_eq!(found.removed, [""; 0]);
    let [(_, why)] = found.kept.as_slice() else {
        panic!("one is kept: {found:?}");
    };
    assert!(why.contains("did not make"), "{why}");
    assert_eq!(listed(&dead.join("001")), ["thesis.txt"]);
    // Once that is gone, the rest goes too.
    fs::remove_file(dead.join("001/thesis.txt")).expect("the file");
    assert_eq!(
        remove_leftovers(parent.path())
            .expect("looking")
            .removed
            .len(),
        1
    );
    assert_eq!(listed(parent.path()), [""; 0]);
}

#[test]
fn a_process_killed_before_it_had_marked_its_folder_leaves_nothing_that_stays() {
    let parent = parent();
    let path = |digit: &str| parent.path().join(format!("{PREFIX}{}", digit.repeat(16)));
    fs::create_dir(path("a")).expect("a folder");
    fs::create_dir(path("b")).expect("a folder");
    fs::write(path("b").join("owner"), &MAGIC[..9]).expect("half a mark");
    let found = remove_leftovers(parent.path()).expect("looking");
    assert_eq!((found.removed.len(), found.kept.len()), (2, 0));
    assert_eq!(listed(parent.path()), [""; 0]);
}

#[test]
fn a_parent_that_is_not_there_is_named() {
    let parent = parent();
    let missing = parent.path().join("missing");
    let error = OwnFolder::make(&missing, 1).expect_err("it is not there");
    assert_eq!(
        error.to_string(),
        format!("opening the folder in {} failed", missing.display())
    );
    assert!(remove_leftovers(&missing).is_err());
}
