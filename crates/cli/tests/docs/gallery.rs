//! The pictures of the gallery are those of the reports that the program writes.
//!
//! Where they have changed,
//!
//! ```sh
//! DOCS_UPDATE=always cargo test -p diskfacts --test docs gallery
//! ```
//!
//! writes them anew.

use super::{read, root};
use diskfacts_testkit::Program;
use std::collections::BTreeSet;
use std::path::Path;

/// A picture: its file, the document, what else the report is told, and the id of its figure.
const PICTURES: [(&str, &str, &[&str], &str); 4] = [
    ("strides", "000_406dd5c1dd98a7d4", &[], "r1-stride-1"),
    (
        "read-ahead",
        "001_b18fe905e4c757db",
        &["--advise"],
        "order-1-2",
    ),
    (
        "volumes",
        "002_216efc4d5ed1186a",
        &["--advise"],
        "order-2-4",
    ),
    ("ways-to-write", "003_2351a42a53108e94", &[], "r1-curves-1"),
];
/// Bytes of all of them together.
const BYTES_MAX: usize = 200_000;

/// The report of a document's results.
fn report(document: &str, words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder for a store");
    let store = folder.path().join("runs.db");
    let program = |words: &[&str]| {
        let done = Program::new(env!("CARGO_BIN_EXE_diskfacts"))
            .args(words)
            .arg("--store")
            .arg(&store)
            .run();
        done.expect_code(0);
        done.stdout
    };
    let path = root().join(format!("crates/report/tests/documents/{document}.txt"));
    let printed = program(&["import", "--json", &path.display().to_string()]);
    let imported: serde_json::Value = serde_json::from_str(&printed).expect("what was imported");
    let ids = imported[0]["runs"].as_array().expect("runs").iter();
    let ids: Vec<&str> = ids.filter_map(serde_json::Value::as_str).collect();
    program(&[&["report", "-o", "-"], words, &ids].concat())
}

/// The drawing of a figure of a page, as a file of its own, with the page's style in it.
fn picture(page: &str, figure: &str) -> String {
    let between = |text: &str, from: &str, to: &str| -> String {
        let (_, rest) = text
            .split_once(from)
            .unwrap_or_else(|| panic!("{from} of {figure}"));
        let (inner, _) = rest
            .split_once(to)
            .unwrap_or_else(|| panic!("{to} of {figure}"));
        inner.to_owned()
    };
    let page_style = between(page, "<style>", "</style>");
    let figure = between(page, &format!("<figure id=\"{figure}\""), "</figure>");
    let drawing = between(&figure, "<svg viewBox=\"0 0 ", "</svg>");
    let (size, _) = drawing.split_once('"').expect("a size");
    let (width, height) = size.split_once(' ').expect("a width and a height");
    let (attributes, elements) = drawing.split_once('>').expect("elements");
    let style = style_of(&page_style, elements);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {attributes}><style>{style}\nsvg {{ background: var(--page); font-family: \
         sans-serif; }}\n</style>{elements}</svg>\n"
    )
}

/// The colours of a style, and the rules for what is drawn: a picture does not age with the rest.
fn style_of(style: &str, elements: &str) -> String {
    let (screen, _) = style.split_once("@media print").expect("rules for paper");
    let (colours, rules) = screen.split_once("* {").expect("rules behind the colours");
    let classes = elements
        .split(" class=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let classes: BTreeSet<&str> = classes.flat_map(str::split_whitespace).collect();
    let is_for = |rule: &&str| {
        let selector = rule.split('{').next().unwrap_or_default();
        let names = selector.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let mut names = names.filter(|name| !name.is_empty());
        names.any(|name| name == "svg" || classes.contains(name))
    };
    let kept: Vec<&str> = rules.lines().filter(is_for).collect();
    format!("{colours}{}", kept.join("\n"))
}

#[test]
fn the_pictures_of_the_gallery_are_those_of_the_reports() {
    let page = read("docs/gallery.md");
    let mut bytes = 0;
    for (name, document, words, figure) in PICTURES {
        let made = picture(&report(document, words), figure);
        let path = format!("docs/gallery/{name}.svg");
        bytes += made.len();
        assert!(
            page.contains(&format!("gallery/{name}.svg")),
            "{name} is not in the gallery"
        );
        let known = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
        if known == made {
            continue;
        }
        assert!(
            std::env::var_os("DOCS_UPDATE").is_some_and(|wanted| wanted == "always"),
            "{path} is not what the report has; to write it anew:\n  DOCS_UPDATE=always cargo \
             test -p diskfacts --test docs gallery"
        );
        write(&root().join(&path), &made);
    }
    assert!(bytes <= BYTES_MAX, "{bytes} bytes of pictures");
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a folder");
    std::fs::create_dir_all(folder).expect("the folder of the gallery");
    std::fs::write(path, text).expect("a picture");
}
