//! The manual pages, read by the programs that show them.

use crate::support::{Case, diskfacts};
use diskfacts_testkit::{Program, or_skip, require_tool};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages as of one day, in a folder that was not there.
fn pages(case: &Case) -> (PathBuf, Vec<PathBuf>) {
    let folder = case.path("share/man/man1");
    let written = diskfacts(["man"])
        .arg(&folder)
        .env("SOURCE_DATE_EPOCH", "1764097200")
        .run();
    written.expect_code(0);
    assert_eq!(&*written.stdout, "", "{written}");
    let entries = fs::read_dir(&folder).expect("the pages");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("a page").path()).collect();
    pages.sort();
    (folder, pages)
}

#[test]
fn there_is_a_page_for_each_command_and_a_second_time_it_is_the_same() {
    let case = Case::new();
    let (folder, pages) = pages(&case);
    for name in [
        "diskfacts.1",
        "diskfacts-measure.1",
        "diskfacts-runs-delete.1",
    ] {
        assert!(pages.contains(&folder.join(name)), "{name}: {pages:?}");
    }
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a page");
    let before: Vec<String> = pages.iter().map(read).collect();
    assert!(before[0].contains(" 2025-11-25 "), "{}", before[0]);
    let again = diskfacts(["man", "--quiet"]).arg(&folder);
    let again = again.env("SOURCE_DATE_EPOCH", "1764097200").run();
    again.expect_code(0);
    assert_eq!(&*again.stderr, "", "{again}");
    assert_eq!(pages.iter().map(read).collect::<Vec<_>>(), before);
}

#[test]
fn the_pages_are_sound_by_mandoc_and_by_groff() {
    let mandoc = or_skip!(require_tool("mandoc", "mandoc"));
    let man = or_skip!(require_tool("man", "man-db"));
    let case = Case::new();
    let (_, pages) = pages(&case);
    let lint = Program::new(mandoc)
        .args(["-T", "lint", "-W", "warning"])
        .args(&pages)
        .run();
    lint.expect_code(0);
    assert_eq!(&*lint.stdout, "", "{lint}");
    let shown = Program::new(man)
        .args(["--warnings", "--local-file"])
        .args(&pages);
    let shown = shown
        .env("MANWIDTH", "80")
        .env("MANPAGER", "cat")
        .env("LC_ALL", "C.UTF-8")
        .run();
    shown.expect_code(0);
    assert_eq!(&*shown.stderr, "", "{shown}");
    let too_wide = shown.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);
    shown
        .expect_stdout("--destroy-data-on PATH")
        .expect_stdout("EXIT STATUS");
}

#[test]
fn a_folder_that_cannot_be_written_and_a_date_that_is_none_are_refused() {
    let case = Case::new();
    let file = case.text_file("file", "no folder");
    let written = diskfacts(["man"]).arg(file.join("man1")).run();
    written.expect_code(1).expect_stderr("making the folder");
    let written = diskfacts(["man"])
        .arg(Path::new("man1"))
        .env("SOURCE_DATE_EPOCH", "today")
        .run();
    written.expect_code(2).expect_stderr("seconds since 1970");
    assert!(!Path::new("man1").exists());
}
