//! The first page that the documents show is the one that the program prints.
//!
//! Where it has changed,
//!
//! ```sh
//! DOCS_UPDATE=always cargo test -p diskfacts --test docs first_page
//! ```
//!
//! writes it anew.

use super::{read, root};
use diskfacts_testkit::Program;

const SHOWN_IN: [&str; 2] = ["README.md", "docs/reference/commands.md"];
const TARGET: &str = "sim:hdd-7200-1tb";
const FENCE: &str = "```\n";

#[test]
fn the_first_page_that_is_shown_is_what_is_printed() {
    let folder = tempfile::tempdir().expect("a folder for a store");
    let measured = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["measure", TARGET, "--quiet", "--store"])
        .arg(folder.path().join("runs.db"))
        .run();
    measured.expect_code(0);
    // What follows is of this one run: its id, its store, its commands.
    let (printed, _) = measured.stdout.split_once("\n\nRun ").expect("a run");
    for path in SHOWN_IN {
        let page = read(path);
        let begin = format!("{FENCE}{TARGET}, a simulated disk");
        let from = page.find(&begin).expect("a first page") + FENCE.len();
        let length = page[from..].find("\n```").expect("its end");
        let shown = &page[from..from + length];
        if shown == printed {
            continue;
        }
        assert!(
            std::env::var_os("DOCS_UPDATE").is_some_and(|wanted| wanted == "always"),
            "{path} shows\n{shown}\n\nand the program prints\n{printed}\n\nto write it anew:\n  \
             DOCS_UPDATE=always cargo test -p diskfacts --test docs first_page"
        );
        let made = [&page[..from], printed, &page[from + length..]].concat();
        std::fs::write(root().join(path), made).expect("the page is written");
    }
}
