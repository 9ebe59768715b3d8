//! The figures of each stage.
//!
//! Up to 110 columns a stage takes three lines, else two. Each number stands
//! beside its name, and the same numbers stand under each other.

use super::apart;
use super::budget;
use super::files;
use super::look::Style;
use super::matrix;
use super::page::Page;
use super::parts;
use super::pivot;
use super::words::{count, grouped, half_width, known_rate, percent, workload};
use super::wrap::columns;
use diskfacts_plan::Operation;
use diskfacts_plan::units::{rate_digits, show_throughput};
use diskfacts_record::evidence::ErrorCount;
use diskfacts_record::{Figure, Latency, Layers, Run, StageFigures, TargetKind, Trial};

/// From here on the figures stand beside the name of their stage.
const WIDE: usize = 118;
const INDENT: usize = 4;
/// Longest name beside which figures stand.
const NAME: usize = 20;

pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    if run.figures.is_empty()
        && run
            .run
            .source
            .as_ref()
            .is_some_and(|s| !s.readings.is_empty())
    {
        return;
    }
    if run.figures.is_empty() {
        page.heading("No figures");
        page.paragraph(
            0,
            Style::Plain,
            "No trial was completed, so there are no figures.",
        );
        return;
    }
    page.heading(&title(page, run));
    let wide = page.look.columns() >= WIDE;
    let listed = listed(run);
    for (i, figures) in listed.iter().enumerate() {
        if wide {
            beside(page, run, figures);
            failures(page, run, figures, NAME + 2);
        } else {
            if i > 0 {
                page.blank();
            }
            one(page, run, figures);
        }
    }
    if !listed.is_empty() {
        page.blank();
        legend(page, run, &listed);
    }
    if listed.len() < run.figures.len() {
        if !listed.is_empty() {
            page.blank();
        }
        let pivoted = |figures: &&StageFigures| pivot::effects_of(run, figures).is_some();
        let pivoted = run.figures.iter().filter(pivoted).count();
        if pivot::write(page, run) && listed.len() + pivoted < run.figures.len() {
            page.blank();
        }
        matrix::write(page, run);
    }
}

/// Those that stand in no table of a matrix.
pub(crate) fn listed(run: &Run) -> Vec<&StageFigures> {
    let tabled = matrix::tabled(run);
    let is_tabled = |figures: &StageFigures| {
        let mut tabled = tabled.iter();
        tabled.any(|(_, other)| std::ptr::eq(*other, figures))
    };
    let listed =
        |figures: &&StageFigures| !is_tabled(figures) && pivot::effects_of(run, figures).is_none();
    run.figures.iter().filter(listed).collect()
}

fn title(page: &Page<'_>, run: &Run) -> String {
    let trials = run
        .figures
        .iter()
        .map(|f| f.iops.trials.max(f.throughput_bytes_per_s.trials));
    let most = trials.clone().max().unwrap_or(0);
    if most < 2 {
        return "Figures of one trial of each stage".to_owned();
    }
    let up_to = if trials.min() == Some(most) {
        ""
    } else {
        "up to "
    };
    format!(
        "Figures: medians of {up_to}{}; {} is half their 95 % interval, of few trials half the range",
        count(u64::from(most), "trial"),
        page.look.plus_minus()
    )
}

/// A stage by itself, with what failed of it.
pub(super) fn one(page: &mut Page<'_>, run: &Run, figures: &StageFigures) {
    below(page, run, figures);
    failures(page, run, figures, INDENT);
}

/// The 95 % intervals of its figures, as far as they are known:
/// `95 % intervals: 0.30 to 0.32 MB/s; 74.2 to 79.0 IOPS; p50 12.8 ms to 13.4 ms`.
pub(super) fn intervals(page: &mut Page<'_>, figures: &StageFigures) {
    let rate = |figure: &Figure, unit: f64, name: &str| {
        let [low, high] = figure.ci95?.map(|end| grouped(&rate_digits(end / unit)));
        Some(format!("{low} to {high} {name}"))
    };
    let mut parts = vec![
        rate(&figures.throughput_bytes_per_s, 1e6, "MB/s"),
        rate(&figures.iops, 1.0, "IOPS"),
    ];
    let latency = &figures.latency_ci95_ns;
    for (name, interval) in [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("p99.99", latency.p99_99),
    ] {
        parts.push(interval.map(|ends| {
            let [low, high] = ends.map(|end| page.look.duration(end));
            format!("{name} {low} to {high}")
        }));
    }
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        let text = format!("95 % intervals: {}", parts.join("; "));
        page.paragraph(INDENT, Style::Minor, &text);
    }
}

/// Name and purpose on a line, then the figures.
fn below(page: &mut Page<'_>, run: &Run, figures: &StageFigures) {
    let style = Style::Heading;
    let indent = " ".repeat(INDENT);
    if run.target.kind == TargetKind::Imported {
        // What the document says of it is all that is known of the stage.
        let settings: Vec<String> = figures
            .settings
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let label = format!("{}:", figures.stage);
        page.titled(
            0,
            (style, &label),
            INDENT,
            Style::Plain,
            &settings.join(", "),
        );
        page.line(&format!("{indent}{}", rates(page, run, figures)));
        rewritten(page, run, INDENT, figures);
        if figures.latency_ns.max.is_some() {
            page.line(&format!("{indent}{}", latency(page, &figures.latency_ns)));
        }
        return;
    }
    let name = name(figures);
    page.titled(
        0,
        (style, &format!("{name}:")),
        INDENT,
        Style::Plain,
        &about(run, figures),
    );
    let cpu = cpu(page, figures);
    page.line(&format!("{indent}{}   {cpu}", rates(page, run, figures)));
    let latency = latency(page, &figures.latency_ns);
    let line = format!("{indent}{latency}");
    if tells_layers(run, figures) {
        served_beside(page, INDENT, &line, figures);
    } else {
        page.line(&line);
    }
    rewritten(page, run, INDENT, figures);
    mixed(page, INDENT, figures);
    spent(page, run, INDENT, figures);
    apart::write(page, run, INDENT, figures);
}

/// A line that ends with who served the bytes, or a line more if that is long.
fn served_beside(page: &mut Page<'_>, indent: usize, line: &str, figures: &StageFigures) {
    let served = served(&figures.layers);
    let whole = format!("{line}   {served}");
    if columns(&whole) <= page.look.columns() {
        page.line(&whole);
    } else {
        page.line(line);
        page.paragraph(indent, Style::Plain, &format!("served by {served}"));
    }
}

/// Name and rates on a line, latencies and purpose on the next.
fn beside(page: &mut Page<'_>, run: &Run, figures: &StageFigures) {
    if run.target.kind == TargetKind::Imported {
        below(page, run, figures);
        return;
    }
    let indent = NAME + 2;
    let name = page.look.clean(&name(figures)).into_owned();
    let figures_line = format!("{}   {}", rates(page, run, figures), cpu(page, figures));
    let painted = page.look.paint(Style::Heading, &name);
    let line = if columns(&name) > NAME {
        page.line(&painted);
        format!("{}{figures_line}", " ".repeat(indent))
    } else {
        format!(
            "{painted}{}{figures_line}",
            " ".repeat(indent - columns(&name))
        )
    };
    if tells_layers(run, figures) {
        served_beside(page, indent, &line, figures);
    } else {
        page.line(&line);
    }
    let latency = latency(page, &figures.latency_ns);
    page.labelled(
        indent,
        (Style::Plain, &latency),
        columns(&latency) + 3,
        Style::Minor,
        &about(run, figures),
    );
    rewritten(page, run, indent, figures);
    mixed(page, indent, figures);
    spent(page, run, indent, figures);
    apart::write(page, run, indent, figures);
}

/// Its name, with what was varied.
pub(crate) fn name(figures: &StageFigures) -> String {
    if figures.settings.is_empty() {
        return figures.stage.clone();
    }
    let settings: Vec<String> = figures
        .settings
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    format!("{} [{}]", figures.stage, settings.join(", "))
}

/// What the plan says the stage shows, else what it does.
pub(crate) fn about(run: &Run, figures: &StageFigures) -> String {
    match run.plan.stage(&figures.stage) {
        Some(stage) if !stage.about.is_empty() => stage.about.clone(),
        Some(stage) => workload(&stage.workload),
        None => String::new(),
    }
}

/// Names and attributes of files are served by nobody in particular, unless the
/// whole filesystem is memory.
pub(crate) fn tells_layers(run: &Run, figures: &StageFigures) -> bool {
    !files::are_of(run, figures) || figures.layers.unknown < 1.0
}

fn rates(page: &Page<'_>, run: &Run, figures: &StageFigures) -> String {
    let throughput = figures.throughput_bytes_per_s.median;
    // As wide as `±9.5 %`.
    let spread = columns(page.look.plus_minus()) + 5;
    if files::are_of(run, figures) {
        return files::rates(figures, &self::spread(page, &figures.iops), spread);
    }
    let of_bytes = &figures.throughput_bytes_per_s;
    let spread_of = if figures.iops.trials > 0 {
        &figures.iops
    } else {
        of_bytes
    };
    format!(
        "{:>7} MB/s  {:>10} IOPS {:>spread$}",
        known_rate(of_bytes, throughput / 1e6),
        known_rate(&figures.iops, figures.iops.median),
        self::spread(page, spread_of),
    )
}

fn spread(page: &Page<'_>, figure: &Figure) -> String {
    let half = half_width(figure);
    half.map_or_else(String::new, |half| {
        format!("{}{half}", page.look.plus_minus())
    })
}

fn cpu(page: &Page<'_>, figures: &StageFigures) -> String {
    match (figures.cpu_user_ns_per_io, figures.cpu_system_ns_per_io) {
        (Some(user), Some(system)) => {
            let time = page.look.duration((user + system).round() as u64);
            format!("CPU {time:>7}/IO")
        }
        _ => "CPU unknown   ".to_owned(),
    }
}

fn latency(page: &Page<'_>, latency: &Latency) -> String {
    let part = |name: &str, ns: Option<u64>| {
        let time = ns.map_or_else(|| "n/a".to_owned(), |ns| page.look.duration(ns));
        format!("{name} {time:>7}")
    };
    [
        part("p50", latency.p50),
        part("p99", latency.p99),
        part("p99.9", latency.p99_9),
        part("max", latency.max),
    ]
    .join("   ")
}

/// How fast a stage comes along that writes back all that it reads: its rate counts both, and
/// other programs print the half.
fn rewritten(page: &mut Page<'_>, run: &Run, indent: usize, figures: &StageFigures) {
    let of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    let trial = run.trials.iter().find(of);
    let rewrites = |trial: &Trial| trial.workload.operation == Operation::Modify { percent: 100 };
    let figure = &figures.throughput_bytes_per_s;
    if trial.is_some_and(rewrites) && figure.trials > 0 {
        let along = show_throughput(figure.median / 2.0);
        let text = format!("read and written, both counted: {along} of the file");
        page.paragraph(indent, Style::Minor, &text);
    }
}

/// Reads and writes of a mixed stage apart.
fn mixed(page: &mut Page<'_>, indent: usize, figures: &StageFigures) {
    for (name, of) in [
        ("reads", &figures.latency_read_ns),
        ("writes", &figures.latency_write_ns),
    ] {
        if let Some(of) = of {
            let line = format!("{}{}   {name} alone", " ".repeat(indent), latency(page, of));
            page.line(&line);
        }
    }
}

/// Where the time went: of a simulated disk as it knows itself, else as the host saw it.
pub(super) fn spent(page: &mut Page<'_>, run: &Run, indent: usize, figures: &StageFigures) {
    let known = parts::of_stage(run, figures, page.look).map(|line| vec![line]);
    let seen = || Some(budget::lines(figures.budget.as_ref()?, page.look));
    for line in known.or_else(seen).into_iter().flatten() {
        page.paragraph(indent, Style::Plain, &line);
    }
}

/// Who served the bytes: each layer with its share, from this machine's memory down.
pub(crate) fn shares(layers: &Layers) -> [(f64, &'static str); 7] {
    let to_device = layers.device.unwrap_or(0.0) - layers.drive_cache - layers.media;
    let device = to_device.clamp(0.0, layers.unknown.max(0.0));
    [
        (layers.page_cache, "page cache"),
        (layers.mapping, "mapping, no disk"),
        (layers.server, "server, memory or disk"),
        (layers.drive_cache, "drive cache"),
        (layers.media, "media"),
        (device, "device"),
        (layers.unknown - device, "unknown"),
    ]
}

/// The parts of the layers that are not nothing, largest first.
fn served(layers: &Layers) -> String {
    let mut parts = shares(layers).to_vec();
    parts.retain(|(share, _)| *share >= 0.0005);
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(share, layer)| format!("{layer} {}", percent(share)))
        .collect();
    if parts.is_empty() {
        "unknown".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Which operations of the stage failed, and how.
pub(crate) fn failures(page: &mut Page<'_>, run: &Run, figures: &StageFigures, indent: usize) {
    if figures.errors == 0 {
        return;
    }
    let mut kinds: Vec<ErrorCount> = Vec::new();
    let trials = run
        .trials
        .iter()
        .filter(|trial| trial.stage == figures.stage && trial.settings == figures.settings);
    for error in trials.flat_map(|trial| &trial.evidence.errors) {
        let same = |known: &&mut ErrorCount| {
            known.operation == error.operation && known.errno == error.errno
        };
        match kinds.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => kinds.push(error.clone()),
        }
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|kind| {
            let number = if kind.errno == 0 {
                String::new()
            } else {
                format!(" (errno {})", kind.errno)
            };
            let what = if kind.of_files() { "file" } else { "byte" };
            format!(
                "{}: {}{number}, first at {what} {}",
                count(kind.count, &kind.operation),
                kind.message,
                grouped(&kind.first_offset.to_string())
            )
        })
        .collect();
    page.labelled(
        indent,
        (Style::Bad, "FAILED:"),
        8,
        Style::Plain,
        &format!(
            "{}. {}",
            count(figures.errors, "operation"),
            kinds.join("; ")
        ),
    );
}

/// What the words above mean, as far as they occur.
fn legend(page: &mut Page<'_>, run: &Run, figures: &[&StageFigures]) {
    let occurs = |layer: &str| {
        let told = figures.iter().filter(|figures| tells_layers(run, figures));
        let mut all = told.map(|figures| served(&figures.layers));
        all.any(|served| served.contains(layer))
    };
    if run.target.kind == TargetKind::Imported {
        page.paragraph(
            0,
            Style::Minor,
            "n/a means that the document does not say it. MB are 10^6 bytes and MiB 2^20, whatever \
             the document calls a MB.",
        );
        return;
    }
    let mut sentences = vec![
        "p50 to max are latencies of single operations, over all trials.",
        "CPU is user and system time of diskfacts per operation.",
    ];
    for (layer, meaning) in [
        ("page cache", "The page cache is memory of this machine."),
        (
            "device",
            "The device is the disk: whether its own cache or its media answered cannot be told.",
        ),
        ("drive cache", "The drive cache is memory of the disk."),
        ("media", "The media is where the disk keeps its data."),
        (
            "unknown",
            "Unknown means that who served these bytes could not be observed.",
        ),
    ] {
        if occurs(layer) {
            sentences.push(meaning);
        }
    }
    let has_rate = |figures: &&StageFigures| {
        let stage = run.plan.stage(&figures.stage);
        stage.is_some_and(|stage| stage.workload.rate.is_some())
    };
    if figures.iter().any(has_rate) {
        sentences.push("Under a rate, latencies count from when an operation was meant to start.");
    }
    let lacks = |latency: &Latency| latency.p50.and(latency.p99).and(latency.p99_9).is_none();
    if figures.iter().any(|figures| lacks(&figures.latency_ns)) {
        let is_copy = run.plan.stages.iter().any(|s| s.workload.copy.is_some());
        sentences.push(if is_copy {
            "n/a means too few operations to state that percentile: p99 needs 299, p99.9 needs \
             2995."
        } else {
            "n/a means too few operations to state that percentile: p99 needs 299, p99.9 needs \
             2995, and a longer --time gives more."
        });
    }
    page.paragraph(0, Style::Minor, &sentences.join(" "));
}
