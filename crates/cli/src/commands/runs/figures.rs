//! `diskfacts runs figures`: the table that other programs ask with SQL.

use crate::args::Common;
use crate::commands::print;
use crate::exit::{Exit, Failure, OrFail, say};
use crate::session::conclude_document;
use crate::storing;
use diskfacts_record::ARITHMETIC;

/// Works out anew what older arithmetic made, run by run, and what nobody has worked out yet:
/// of runs that were killed.
pub(super) fn run(common: &Common) -> Result<Exit, Failure> {
    let mut store = storing::open_existing(common)?;
    let older = store.of_older_arithmetic().or_failed()?;
    let mut anew = 0;
    if store.is_read_only().or_failed()? {
        if !older.is_empty() {
            say(&format!(
                "diskfacts: note: the figures of {} runs are as an older diskfacts made them, or \
                 missing, and the store may only be read here",
                older.len()
            ));
        }
    } else {
        for id in &older {
            // One that cannot be read is no reason to leave the others as they are.
            match store.load(id) {
                Ok(run) => {
                    let mut explained = [run];
                    conclude_document(&mut explained);
                    let figures = &explained[0].figures;
                    store.figure_anew(id, figures).or_failed()?;
                    anew += 1;
                }
                Err(error) => say(&format!("diskfacts: note: {error}")),
            }
        }
    }
    let (rows, runs) = store.count_figures().or_failed()?;
    let path = storing::quoted(&store.path().display().to_string());
    print(&format!(
        "stage_figures has {rows} rows, of {runs} runs; {anew} were worked out anew (arithmetic \
         {ARITHMETIC}).\n\
         \x20 sqlite3 -header -column {path} 'SELECT run, stage, iops FROM stage_figures'\n"
    ))?;
    Ok(Exit::Done)
}
