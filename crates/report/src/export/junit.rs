//! A comparison as `JUnit`'s XML, which GitLab, Jenkins and others show: a test case for each
//! stage. It fails where a condition of `--fail-if` holds; where one could not be judged it is an
//! error, or skipped when that is allowed.

use super::clean;
use super::judged::{Judged, stages, word};
use diskfacts_record::Comparison;
use diskfacts_record::comparison::Change;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// The document. Without `allow_unjudged` what could not be judged is an error.
///
/// # Panics
/// Never: memory takes what is written.
pub fn junit(comparison: &Comparison, allow_unjudged: bool) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, comparison, allow_unjudged).expect("memory takes what is written");
    let mut text = String::from_utf8(writer.into_inner()).expect("all that is written is text");
    text.push('\n');
    text
}

/// What a test case is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Passes,
    Fails,
    Errs,
    Skipped,
}

impl Case {
    fn of(stage: &Judged<'_>, allow_unjudged: bool) -> Self {
        let is_comparable = !matches!(stage.change, None | Some(Change::NotComparable));
        if !stage.holds.is_empty() {
            Self::Fails
        } else if !stage.unjudged.is_empty() && !allow_unjudged {
            Self::Errs
        } else if !stage.unjudged.is_empty() || !is_comparable {
            Self::Skipped
        } else {
            Self::Passes
        }
    }
}

/// Text that XML may have: `clean` leaves nothing else but two noncharacters.
fn text(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn write(
    writer: &mut Writer<Vec<u8>>,
    comparison: &Comparison,
    allow_unjudged: bool,
) -> io::Result<()> {
    let stages = stages(comparison);
    let cases: Vec<(Judged<'_>, Case)> = stages
        .into_iter()
        .map(|stage| {
            let case = Case::of(&stage, allow_unjudged);
            (stage, case)
        })
        .collect();
    let number = |case| {
        cases
            .iter()
            .filter(|(_, of)| *of == case)
            .count()
            .to_string()
    };
    let (all, failures, errors, skipped) = (
        cases.len().to_string(),
        number(Case::Fails),
        number(Case::Errs),
        number(Case::Skipped),
    );
    let name = text(&format!(
        "{} against {}",
        comparison.b.given, comparison.a.given
    ));
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = [
        ("tests", all.as_str()),
        ("failures", &failures),
        ("errors", &errors),
        ("time", "0"),
    ];
    let suites = writer.create_element("testsuites");
    let suites = suites.with_attribute(("name", "diskfacts compare"));
    suites
        .with_attributes(counts)
        .write_inner_content(|writer| {
            let suite = writer.create_element("testsuite");
            let suite = suite.with_attribute(("name", name.as_str()));
            let suite = suite
                .with_attributes(counts)
                .with_attribute(("skipped", skipped.as_str()));
            suite.write_inner_content(|writer| {
                for (stage, case) in &cases {
                    self::case(writer, stage, *case)?;
                }
                let out = writer.create_element("system-out");
                out.write_text_content(BytesText::new(&text(&comparison.summary)))?;
                Ok(())
            })?;
            Ok(())
        })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, stage: &Judged<'_>, case: Case) -> io::Result<()> {
    let name = text(stage.stage);
    let said = text(&stage.said);
    let element = writer
        .create_element("testcase")
        .with_attribute(("classname", "diskfacts.compare"))
        .with_attribute(("name", name.as_str()))
        .with_attribute(("time", "0"));
    let (tag, kind, message) = match case {
        Case::Passes => {
            element.write_inner_content(|writer| {
                let out = writer.create_element("system-out");
                out.write_text_content(BytesText::new(&said))?;
                Ok(())
            })?;
            return Ok(());
        }
        Case::Fails => (
            "failure",
            "fail-if",
            format!("{} holds", stage.holds.join(", ")),
        ),
        Case::Errs => {
            let unjudged = stage.unjudged.join(", ");
            (
                "error",
                "unjudged",
                format!("{unjudged} could not be judged"),
            )
        }
        Case::Skipped => ("skipped", "", word(stage.change).to_owned()),
    };
    let message = text(&message);
    element.write_inner_content(|writer| {
        let mut inner = writer.create_element(tag);
        inner = inner.with_attribute(("message", message.as_str()));
        if !kind.is_empty() {
            inner = inner.with_attribute(("type", kind));
        }
        inner.write_text_content(BytesText::new(&said))?;
        Ok(())
    })?;
    Ok(())
}
