//! `diskfacts report --advise RUN...`: the page of which option to take.

use super::Made;
use crate::args::Common;
use crate::commands::advise;
use crate::exit::{Failure, OrFail};
use diskfacts_facts::advise::Weights;
use diskfacts_report::html;

pub(super) fn make(
    names: &[String],
    usage: Option<&str>,
    common: &Common,
) -> Result<Made, Failure> {
    let weights = usage.map(|usage| Weights::of_use(usage).or_wrong_call());
    let advice = advise::advice(names, weights.transpose()?, common)?;
    Ok(Made {
        page: html::report_of_advice(&advice),
        of: match advice.runs.len() {
            1 => "advice from one run".to_owned(),
            runs => format!("advice from {runs} runs"),
        },
        usual_name: "diskfacts-advise.html".into(),
    })
}
