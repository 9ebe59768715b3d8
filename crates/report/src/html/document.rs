//! A whole page: what stands around its body, and what may be in it.
//!
//! A file has the style in it and a policy that lets it load nothing and run nothing. A server
//! sends the style as a file of its own, and the policy as a header.

use super::links::Links;
use super::style::{STYLE, source};
use crate::text::is_harmless;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fmt::Write as _;

/// A page.
pub struct Document<'a> {
    /// What a tab or a list of files calls it.
    pub title: String,
    /// Where its links lead, and so whether it is a file.
    pub links: &'a Links,
    /// Links to other pages, above the body; of a server.
    pub navigation: Option<Markup>,
    /// Paths of scripts, of a server only: a file has none.
    pub scripts: Vec<String>,
    /// What stands in `<main>`.
    pub body: Markup,
}

impl Document<'_> {
    /// The page, to its last byte.
    pub fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(GENERATOR);
                    @match self.links {
                        Links::File => {
                            meta http-equiv="Content-Security-Policy" content=(policy());
                            title { (self.title) }
                            style { (PreEscaped(STYLE)) }
                        }
                        Links::Server { prefix } => {
                            title { (self.title) }
                            // Else a browser asks for one outside of the prefix.
                            link rel="icon" href="data:,";
                            link rel="stylesheet" href={ (prefix) "/style.css" };
                            @for script in &self.scripts {
                                script src=(script) defer {}
                            }
                        }
                    }
                }
                body {
                    @if let Some(navigation) = &self.navigation {
                        nav aria-label="Pages" { (navigation) }
                    }
                    main { (self.body) }
                }
            }
        };
        visible(page)
    }
}

/// By which a file is known to be one of ours.
pub const GENERATOR: &str = "diskfacts";

/// Whether a document is one that this program wrote, by its first bytes.
pub fn is_report(first: &[u8]) -> bool {
    let mark = format!("<meta name=\"generator\" content=\"{GENERATOR}\">");
    let head = &first[..first.len().min(1024)];
    head.starts_with(b"<!DOCTYPE html>")
        && head.windows(mark.len()).any(|part| part == mark.as_bytes())
}

/// What a file may load and run: its own style, and nothing else.
fn policy() -> String {
    let style = source(STYLE);
    format!(
        "default-src 'none'; style-src '{style}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

/// Markup as text, with the control characters and those that change the direction of writing
/// escaped, as they are in a terminal: whoever named something cannot make it look otherwise.
pub fn visible(markup: Markup) -> String {
    let markup = markup.into_string();
    let shown = |c: char| c == '\n' || is_harmless(c);
    if markup.chars().all(shown) {
        return markup;
    }
    let mut out = String::with_capacity(markup.len());
    for c in markup.chars() {
        if shown(c) {
            out.push(c);
        } else {
            // Writing to a String cannot fail. What it writes are no characters of markup.
            let _ = write!(out, "{}", c.escape_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(links: &Links) -> String {
        let document = Document {
            title: "a < b".into(),
            links,
            navigation: None,
            scripts: vec!["/secret/live.js".into()],
            body: html! { p { "x\u{202e}y\u{1b}[2J<script>" } },
        };
        document.render()
    }

    #[test]
    fn a_file_loads_and_runs_nothing() {
        let page = document(&Links::File);
        assert!(
            page.starts_with("<!DOCTYPE html><html lang=\"en\">"),
            "{page}"
        );
        assert!(!page.contains("<script") && !page.contains("<link") && !page.contains(" style="));
        assert!(
            page.contains("default-src &apos;none&apos;") || page.contains("default-src 'none'")
        );
        assert!(is_report(page.as_bytes()));
        assert!(!is_report(
            b"<!DOCTYPE html><html><head><meta charset=\"utf-8\">"
        ));
        assert!(!is_report(b""));
    }

    #[test]
    fn the_policy_names_the_one_style() {
        let page = document(&Links::File);
        let (_, rest) = page.split_once("<style>").expect("a style");
        let (style, _) = rest.split_once("</style>").expect("its end");
        assert!(
            page.contains(&format!("style-src '{}'", source(style))),
            "{page}"
        );
    }

    #[test]
    fn a_server_sends_style_and_scripts_as_files() {
        let page = document(&Links::Server {
            prefix: "/secret".into(),
        });
        assert!(
            page.contains(r#"<link rel="stylesheet" href="/secret/style.css">"#),
            "{page}"
        );
        assert!(
            page.contains(r#"<script src="/secret/live.js" defer></script>"#),
            "{page}"
        );
        assert!(!page.contains("<style"));
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        let page = document(&Links::File);
        assert!(
            page.contains(r"x\u{202e}y\u{1b}[2J&lt;script&gt;"),
            "{page}"
        );
        assert!(page.contains("<title>a &lt; b</title>"), "{page}");
    }
}
