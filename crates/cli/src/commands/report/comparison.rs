//! `diskfacts report --compare A B`: the page of what changed.

use super::Made;
use crate::args::Common;
use crate::exit::Failure;
use crate::groups;
use crate::sides::Side;
use diskfacts_facts::compare;
use diskfacts_facts::compare::SAME_WITHIN;
use diskfacts_record::Run;
use diskfacts_report::html;

pub(super) fn make(sides: &[String], common: &Common) -> Result<Made, Failure> {
    let [a, b] = sides else {
        return Err(Failure::wrong_call(
            "--compare takes two sides, as in `diskfacts report --compare last~1 last`; several \
             runs of a side have commas between them: A1,A2 B1,B2",
        ));
    };
    if let Some(comparison) = groups::compared(a, b, SAME_WITHIN, &[])? {
        return Ok(Made {
            page: html::report_of_comparison(&comparison, (&[], &[])),
            of: format!("what changed from {a} to {b}"),
            usual_name: "diskfacts-compare.html".into(),
        });
    }
    let (a, b) = (Side::read(a, common)?, Side::read(b, common)?);
    let (a, b) = (a.selection(), b.selection());
    let comparison = compare(&a, &b, SAME_WITHIN, &[]);
    let [before, after] =
        [&a, &b].map(|side| -> Vec<&Run> { side.parts.iter().map(|part| part.run).collect() });
    Ok(Made {
        page: html::report_of_comparison(&comparison, (&before, &after)),
        of: format!("what changed from {} to {}", a.given, b.given),
        usual_name: "diskfacts-compare.html".into(),
    })
}
