//! `diskfacts export RUN... --format FORMAT`: runs in the formats of other tools.

use super::{print, stdout_is_there};
use crate::args::{Common, ExportArgs, Format};
use crate::dfrun;
use crate::exit::{Exit, Failure, OrFail, clean};
use crate::named::{self, InFile, Named, is_document};
use crate::output_file::{self, told};
use crate::signals::Signals;
use crate::storing::{self, Here};
use crate::wanted::Wanted;
use diskfacts_facts::figures;
use diskfacts_plan::units::show_size;
use diskfacts_record::Run;
use diskfacts_report::export::csv::{self, Csv};
use diskfacts_report::export::{hgrm, hlog, openmetrics, perfetto};
use diskfacts_store::{RunSummary, Store};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ExportArgs, common: &Common) -> Result<Exit, Failure> {
    if args.table.is_some() && args.format != Format::Csv {
        return Err(Failure::wrong_call(
            "--table says what the rows of a CSV are; --format csv has some",
        ));
    }
    let signals = Signals::listen()?;
    let chosen = Chosen::of(args, common)?;
    let shown = args.output.display().to_string();
    if shown == "-" {
        stdout_is_there()?;
        let mut out = io::stdout().lock();
        write(&mut out, &chosen, args, &signals)?;
        return Ok(Exit::Done);
    }
    let bytes = output_file::write(&args.output, args.overwrite, |file| {
        write(file, &chosen, args, &signals)
    })?;
    let bytes = show_size(bytes);
    print(&clean(&format!("Exported to {shown}, {bytes}.\n")))?;
    Ok(Exit::Done)
}

/// Where the runs are that were asked for.
struct Chosen {
    store: Option<Store>,
    sources: Vec<Source>,
}

enum Source {
    /// The id of a stored run.
    Stored(String),
    /// A file, of several runs perhaps.
    File(PathBuf),
}

impl Chosen {
    fn of(args: &ExportArgs, common: &Common) -> Result<Self, Failure> {
        if args.all || args.filter.any() {
            return Self::matching(args, common);
        }
        let mut stored = Named::new(common);
        let mut sources = Vec::new();
        let last = ["last".to_owned()];
        let names = if args.runs.is_empty() {
            &last[..]
        } else {
            &args.runs
        };
        for name in names {
            if is_document(name) {
                sources.push(Source::File(name.into()));
                continue;
            }
            let none_yet = "no run is stored yet; `diskfacts measure .` makes the first";
            sources.push(Source::Stored(stored.id(name, none_yet)?));
        }
        Ok(Self {
            store: stored.into_store(),
            sources,
        })
    }

    /// The stored runs that are as it was said, in the order in which they began. Those that
    /// somebody makes have no figures yet.
    fn matching(args: &ExportArgs, common: &Common) -> Result<Self, Failure> {
        let store = storing::existing(common)?;
        let summaries = match &store {
            Some(store) => store.runs(usize::MAX).or_failed()?,
            None => Vec::new(),
        };
        let wanted = Wanted::of(&args.filter);
        let here = Here::new();
        let mut summaries: Vec<RunSummary> = summaries
            .into_iter()
            .filter(|summary| wanted.has(summary) && !here.is_made(summary))
            .collect();
        if args.format == Format::Openmetrics {
            // The others would not be shown.
            let mut seen = BTreeSet::new();
            summaries.retain(|run| {
                let key = (run.host.clone(), run.target_path.clone(), run.plan.clone());
                seen.insert(key)
            });
        }
        if summaries.is_empty() {
            return Err(Failure::wrong_call(
                "there is no stored run like that; `diskfacts runs` lists those that there are",
            ));
        }
        let ids = summaries.into_iter().rev().map(|summary| summary.id);
        Ok(Self {
            store,
            sources: ids.map(Source::Stored).collect(),
        })
    }

    /// The runs, one after the other.
    fn runs(&self) -> impl Iterator<Item = Result<Run, Failure>> + '_ {
        self.sources
            .iter()
            .flat_map(|source| self.of_source(source))
    }

    fn of_source<'a>(
        &'a self,
        source: &'a Source,
    ) -> Box<dyn Iterator<Item = Result<Run, Failure>> + 'a> {
        match source {
            Source::Stored(id) => {
                let store = self.store.as_ref();
                let loaded = store.map(|store| store.load(id).or_wrong_call());
                Box::new(loaded.into_iter())
            }
            Source::File(path) => of_file(path),
        }
    }
}

/// The runs of a file, one after the other where it has several.
fn of_file(path: &Path) -> Box<dyn Iterator<Item = Result<Run, Failure>> + '_> {
    match dfrun::open(path) {
        Ok(Some(parcels)) => return Box::new(parcels.map(|parcel| Ok(parcel?.run))),
        Ok(None) => {}
        Err(failure) => return Box::new(std::iter::once(Err(failure))),
    }
    let run = match named::in_file(path) {
        Ok(Some(InFile::Printed(run))) => Ok(*run),
        Ok(_) => Err(Failure::wrong_call(format!(
            "{0} is no run that diskfacts has exported, or printed with --json; `diskfacts import \
             {0}` reads results of other programs",
            path.display()
        ))),
        Err(failure) => Err(failure),
    };
    Box::new(std::iter::once(run))
}

/// Leaves the stages that are wanted. A name that the run does not have is a mistake, unless the
/// run was one of many: then it has nothing of what is wanted.
fn narrowed(mut run: Run, stages: &[String], is_one_of_many: bool) -> Result<Option<Run>, Failure> {
    if run.figures.is_empty() {
        // It was killed, or an older version made it.
        run.figures = figures(&run);
    }
    if stages.is_empty() {
        return Ok(Some(run));
    }
    let known: BTreeSet<&str> = run
        .trials
        .iter()
        .map(|trial| trial.stage.as_str())
        .collect();
    let mut unknown = stages
        .iter()
        .filter(|stage| !known.contains(stage.as_str()));
    if is_one_of_many {
        if unknown.count() == stages.len() {
            return Ok(None);
        }
    } else if let Some(unknown) = unknown.next() {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::wrong_call(format!(
            "the run {} has no stage '{unknown}'; it has {}",
            run.run.id,
            known.join(", ")
        )));
    }
    run.trials.retain(|trial| stages.contains(&trial.stage));
    run.figures
        .retain(|figures| stages.contains(&figures.stage));
    Ok(Some(run))
}

fn write(
    out: &mut impl Write,
    chosen: &Chosen,
    args: &ExportArgs,
    signals: &Signals,
) -> Result<(), Failure> {
    let shown = match args.output.to_str() {
        Some("-") => "standard output".to_owned(),
        _ => args.output.display().to_string(),
    };
    let is_one_of_many = args.runs.is_empty() && (args.all || args.filter.any());
    let runs = chosen.runs().map(|run| {
        if let Some(exit) = signals.came() {
            let why = anyhow::anyhow!("stopped before all runs were exported");
            return Err(Failure::of(exit, why));
        }
        narrowed(run?, &args.stages, is_one_of_many)
    });
    let runs = runs.filter_map(Result::transpose);
    let text = match args.format {
        // Run after run: there may be thousands.
        Format::Csv => {
            return write_csv(out, runs, args).or_else(|stopped| match stopped {
                Stopped::Output(error) => told(&error, &shown),
                Stopped::Run(failure) => Err(failure),
            });
        }
        Format::Openmetrics => openmetrics(&all(runs, |_| true, "")?),
        Format::Hlog => hlog::hlog(&all(runs, has_histograms, NO_HISTOGRAMS)?),
        Format::Hgrm => percentiles(&all(runs, has_histograms, NO_HISTOGRAMS)?)?,
        Format::Perfetto => perfetto::perfetto(&all(runs, has_bursts, NO_BURSTS)?),
    };
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .or_else(|error| told(&error, &shown))
}

const NO_HISTOGRAMS: &str = "whole distributions are not known of these runs: of what was \
                             imported they never are, and a document has them with --json=full \
                             alone";

const NO_BURSTS: &str = "there are no single requests in these runs: they are followed on \
                         simulated disks, and as root on Linux, unless --observe leaves \
                         block_layer out; a document has them with --json=full alone";

/// All runs, of which one at least has what is to be written.
fn all(
    runs: impl Iterator<Item = Result<Run, Failure>>,
    has: impl Fn(&Run) -> bool,
    none: &'static str,
) -> Result<Vec<Run>, Failure> {
    let runs = runs.collect::<Result<Vec<Run>, Failure>>()?;
    if runs.iter().any(has) {
        Ok(runs)
    } else {
        Err(Failure::wrong_call(none))
    }
}

fn has_histograms(run: &Run) -> bool {
    run.trials.iter().any(|trial| trial.histograms.count() > 0)
}

fn has_bursts(run: &Run) -> bool {
    run.trials
        .iter()
        .any(|trial| trial.evidence.bursts.is_some())
}

/// Why a table ends early.
enum Stopped {
    Output(io::Error),
    Run(Failure),
}

fn write_csv(
    out: &mut impl Write,
    mut runs: impl Iterator<Item = Result<Run, Failure>>,
    args: &ExportArgs,
) -> Result<(), Stopped> {
    // What is wrong with the first is told before there is a head without rows.
    let first = runs.next().transpose().map_err(Stopped::Run)?;
    let table = args.table.map_or(csv::Table::Stages, csv::Table::from);
    let mut csv = Csv::new(out, table).map_err(Stopped::Output)?;
    let mut has_bins = table != csv::Table::Bins;
    for run in first.map(Ok).into_iter().chain(runs) {
        let run = run.map_err(Stopped::Run)?;
        has_bins |= has_histograms(&run);
        csv.run(&run).map_err(Stopped::Output)?;
    }
    if !has_bins {
        return Err(Stopped::Run(Failure::wrong_call(NO_HISTOGRAMS)));
    }
    let out = csv.finish().map_err(Stopped::Output)?;
    out.flush().map_err(Stopped::Output)
}

/// The percentiles of the one stage that there is.
fn percentiles(runs: &[Run]) -> Result<String, Failure> {
    let stages: Vec<_> = runs.iter().flat_map(hgrm::stages).collect();
    match &stages[..] {
        [(_, histogram)] => Ok(hgrm::hgrm(histogram)),
        several => {
            let labels: Vec<&str> = several.iter().map(|(label, _)| label.as_str()).collect();
            Err(Failure::wrong_call(format!(
                "hgrm is of one stage of one run, and here are {}; name one with --stage",
                labels.join(", ")
            )))
        }
    }
}
