//! Hosts side by side, the worst first, on one logarithmic axis: of hosts that measured together how
//! the rate of each stands to that of the median host, of two groups of a fleet what each changed.

use super::forest::{Kind, Row};
use super::ratios::{Ratios, ratios};
use crate::html::LOOK;
use crate::html::figure::{Figure, Key};
use crate::html::table::{Cell, Table};
use crate::text::compare::signed;
use crate::text::words::{count, percent, rate};
use diskfacts_record::comparison::{HostName, Moved, Mover, StageOfHosts};
use diskfacts_record::together::{HostFigures, MergedStage};

/// Hosts of a drawing, so that it fits on a page of paper; its table has all.
const HOSTS_MAX: usize = 30;
/// Share by which hosts that do the same differ without being marked.
const ALIKE: f64 = 0.1;

/// The hosts of a stage that measured together, the slowest first; `None` of one host, and without
/// a rate of the median host.
pub(crate) fn together(stage: &MergedStage) -> Option<Ratios> {
    if stage.hosts.len() < 2 || !stage.hosts.iter().any(|host| host.of_median.is_some()) {
        return None;
    }
    let row = |host: &HostFigures| Row {
        name: host.host.clone(),
        said: format!("{} IOPS", rate(host.iops)),
        at: host.of_median.filter(|ratio| *ratio > 0.0),
        ends: None,
        kind: match host.of_median {
            Some(ratio) if ratio < 1.0 / (1.0 + ALIKE) => Kind::Bad,
            Some(ratio) if ratio > 1.0 + ALIKE => Kind::Good,
            Some(_) => Kind::Same,
            None => Kind::Unclear,
        },
    };
    ratios(
        stage.hosts.iter().take(HOSTS_MAX).map(row).collect(),
        Some(ALIKE),
    )
}

/// The same as a figure.
pub(crate) fn figure_of_together(stage: &MergedStage, label: &str, id: String) -> Option<Figure> {
    let ratios = together(stage)?;
    let mut numbers = Table::new(
        "hosts",
        &[
            "host",
            "IOPS",
            "MB/s",
            "of the median",
            "p50",
            "p99",
            "max",
            "failed",
        ],
    );
    for host in &stage.hosts {
        let latency = &host.latency_ns;
        let ns = |ns: Option<u64>| Cell::known(ns.map(|ns| LOOK.duration(ns)));
        numbers.push(vec![
            Cell::Text(host.host.clone()),
            Cell::Number(rate(host.iops)),
            Cell::Number(rate(host.throughput_bytes_per_s / 1e6)),
            Cell::known(host.of_median.map(|ratio| format!("{ratio:.3}"))),
            ns(latency.p50),
            ns(latency.p99),
            ns(latency.max),
            Cell::known((host.errors > 0).then(|| host.errors.to_string())),
        ]);
    }
    let of_median = |host: &HostFigures| Some((host.of_median?, host.host.clone()));
    let ends = [stage.hosts.first(), stage.hosts.last()].map(|host| host.and_then(of_median));
    let seen = match ends {
        [Some((slow, slowest)), Some((fast, fastest))] => format!(
            "The slowest host, {slowest}, did {} of what the median host did; the fastest, \
             {fastest}, {}.{}",
            percent(slow),
            percent(fast),
            left_out(stage.hosts.len(), "the slowest")
        ),
        _ => "Rates of hosts stand to that of the median host as drawn.".to_owned(),
    };
    let forest = ratios.forest("IOPS over the median host's; further right is faster");
    Some(Figure {
        id,
        title: format!("{label}: hosts, the slowest first"),
        seen,
        drawing: forest.draw(),
        legend: vec![Key::area(
            "same",
            "",
            format!("within {} of the median", percent(ALIKE)),
        )],
        numbers: numbers.without_empty_columns(),
    })
}

/// What hosts of two groups changed in a stage, those that moved by themselves first; then those
/// that changed most for the worse. `None` without a host.
pub(crate) fn changes(
    stage: &StageOfHosts,
    same_within: f64,
    called: impl Fn(&HostName) -> String,
) -> Option<Ratios> {
    let mut pairs: Vec<_> = (stage.pairs.iter())
        .map(|pair| {
            let mut movers = stage.movers.iter().flatten();
            (pair, movers.find(|mover| mover.name == pair.name))
        })
        .collect();
    let worse = |change: f64| {
        let ln = change.ln_1p();
        if stage.measure.more_is_better() {
            -ln
        } else {
            ln
        }
    };
    let rank = |mover: Option<&Mover>| match mover.map(|mover| mover.moved) {
        Some(Moved::ByItself) => 0,
        Some(Moved::Suspect) => 1,
        None => 2,
    };
    pairs.sort_by(|(a, of_a), (b, of_b)| {
        let ranks = rank(*of_a).cmp(&rank(*of_b));
        ranks.then(worse(b.change).total_cmp(&worse(a.change)))
    });
    let rows = pairs.into_iter().take(HOSTS_MAX).map(|(pair, mover)| Row {
        name: called(&pair.name),
        said: match mover.map(|mover| mover.moved) {
            Some(Moved::ByItself) => format!("{}, by itself", signed(pair.change)),
            Some(Moved::Suspect) => format!("{}, a suspect", signed(pair.change)),
            None => signed(pair.change),
        },
        at: Some(1.0 + pair.change).filter(|ratio| *ratio > 0.0 && ratio.is_finite()),
        ends: None,
        kind: match mover {
            Some(mover) if mover.moved == Moved::Suspect => Kind::Unclear,
            Some(mover) if mover.worse => Kind::Bad,
            Some(_) => Kind::Good,
            None => Kind::Same,
        },
    });
    ratios(rows.collect(), Some(same_within))
}

/// The same as a figure.
pub(crate) fn figure_of_changes(
    stage: &StageOfHosts,
    same_within: f64,
    called: impl Fn(&HostName) -> String,
    id: String,
) -> Option<Figure> {
    let ratios = changes(stage, same_within, &called)?;
    let (rate_like, unit) = match crate::text::compare::name(stage.measure) {
        ("", unit) => (true, unit),
        (_, unit) => (false, unit),
    };
    let mut numbers = Table::new("hosts", &["host", "A", "B", "change", "moved"]);
    let value = |value: f64| match (rate_like, unit) {
        (true, " MB/s") => format!("{} MB/s", rate(value / 1e6)),
        (true, unit) => format!("{}{unit}", rate(value)),
        (false, _) => LOOK.duration(value as u64),
    };
    for pair in &stage.pairs {
        let mut movers = stage.movers.iter().flatten();
        let moved = movers.find(|mover| mover.name == pair.name);
        numbers.push(vec![
            Cell::Text(called(&pair.name)),
            Cell::Number(value(pair.a)),
            Cell::Number(value(pair.b)),
            Cell::Number(signed(pair.change)),
            Cell::Text(moved.map_or_else(String::new, crate::text::fleet::groups::moved)),
        ]);
    }
    let movers = stage.movers.iter().flatten().count();
    let further = if stage.measure.more_is_better() {
        "faster"
    } else {
        "slower"
    };
    let forest = ratios.forest(&format!("B over A; further right is {further}"));
    Some(Figure {
        id,
        title: format!("{}: what each host changed", stage.stage),
        seen: format!(
            "Of {} {} unlike the others.{}",
            count(stage.pairs.len() as u64, "host"),
            match movers {
                0 => "none changed".to_owned(),
                movers => format!("{movers} changed"),
            },
            left_out(stage.pairs.len(), "those that moved and got worse")
        ),
        drawing: forest.draw(),
        legend: vec![Key::area(
            "same",
            "",
            format!("within {}: counts as the same", percent(same_within)),
        )],
        numbers: numbers.without_empty_columns(),
    })
}

fn left_out(hosts: usize, which: &str) -> String {
    if hosts <= HOSTS_MAX {
        return String::new();
    }
    format!(
        " {HOSTS_MAX} of {} are drawn, {which}.",
        count(hosts as u64, "host")
    )
}

#[cfg(test)]
mod tests {
    use super::super::forest;
    use super::*;
    use crate::html::figure::Drawing;
    use diskfacts_record::Latency;
    use diskfacts_record::comparison::{HostChange, Measure};
    use diskfacts_record::trial::Layers;
    use diskfacts_record::{Figure as StageFigure, together::MergedStage};

    fn host(name: &str, iops: f64, of_median: Option<f64>) -> HostFigures {
        HostFigures {
            host: name.into(),
            iops,
            throughput_bytes_per_s: iops * 4096.0,
            of_median,
            latency_ns: Latency::default(),
            errors: 0,
        }
    }

    const NO_FIGURE: StageFigure = StageFigure {
        median: f64::NAN,
        min: f64::NAN,
        max: f64::NAN,
        spread: None,
        ci95: None,
        ci_method: None,
        trials: 0,
    };

    fn stage(hosts: Vec<HostFigures>) -> MergedStage {
        MergedStage {
            stage: "random-read".into(),
            settings: std::collections::BTreeMap::default(),
            hosts_counted: 3,
            throughput_bytes_per_s: NO_FIGURE,
            iops: NO_FIGURE,
            latency_ns: Latency::default(),
            layers: Layers::default(),
            cpu_user_ns_per_io: None,
            cpu_system_ns_per_io: None,
            errors: 0,
            spread: None,
            hosts,
            trials: Vec::new(),
            devices: Vec::new(),
        }
    }

    #[test]
    fn marks_stand_at_the_shares_of_the_median_the_slowest_first() {
        let shares = [0.4, 0.97, 1.0, 1.3];
        let hosts = shares.iter().enumerate();
        let hosts =
            hosts.map(|(at, share)| host(&format!("<c{at}>"), 1000.0 * share, Some(*share)));
        let stage = stage(hosts.collect());
        let ratios = together(&stage).unwrap();
        let kinds: Vec<Kind> = ratios.rows.iter().map(|row| row.kind).collect();
        assert_eq!(kinds, [Kind::Bad, Kind::Same, Kind::Same, Kind::Good]);
        let forest = ratios.forest("");
        let Drawing::Svg(_, drawn) = forest.draw() else {
            panic!("a drawing");
        };
        let drawn = drawn.into_string();
        // The name of a host is text.
        assert!(
            drawn.contains("&lt;c0&gt;") && !drawn.contains("<c0>"),
            "{drawn}"
        );
        let (at, _) = forest::read(&drawn, forest.scale());
        assert_eq!(at.len(), shares.len());
        for (at, share) in at.iter().zip(shares) {
            assert!((at / share - 1.0).abs() < 2e-3, "{at} {share}");
        }
        let figure = figure_of_together(&stage, "random-read", "hosts-1".into()).unwrap();
        assert!(
            figure.seen.starts_with("The slowest host, <c0>, did 40 %"),
            "{}",
            figure.seen
        );
    }

    #[test]
    fn one_host_and_hosts_that_did_nothing_are_not_drawn_and_of_many_the_slowest_are() {
        assert_eq!(together(&stage(vec![host("a", 1.0, Some(1.0))])), None);
        assert_eq!(
            together(&stage(vec![host("a", 0.0, None), host("b", 0.0, None)])),
            None
        );
        let hosts =
            (0..100).map(|at| host(&format!("c{at}"), 1.0, Some(0.5 + f64::from(at) / 100.0)));
        let ratios = together(&stage(hosts.collect())).unwrap();
        assert_eq!(ratios.rows.len(), HOSTS_MAX);
        assert_eq!(ratios.rows[0].name, "c0");
    }

    #[test]
    fn who_moved_by_itself_is_drawn_first_and_then_who_got_worse() {
        let name = |host: &str| HostName {
            host: host.into(),
            target: "/data".into(),
        };
        let pair = |host: &str, change: f64| HostChange {
            name: name(host),
            a: 1e6,
            b: 1e6 * (1.0 + change),
            change,
        };
        let stage = StageOfHosts {
            stage: "log-write".into(),
            measure: Measure::LatencyP50Ns,
            spread: Some(0.02),
            movers: Some(vec![Mover {
                name: name("c2"),
                change: -0.3,
                beyond: -0.33,
                worse: false,
                looks: 2,
                moved: Moved::ByItself,
                q: Some(0.01),
            }]),
            pairs: vec![pair("c0", 0.01), pair("c1", 0.05), pair("c2", -0.3)],
            without: Vec::new(),
            times: Vec::new(),
        };
        let ratios = changes(&stage, 0.05, |name| name.host.clone()).unwrap();
        let names: Vec<&str> = ratios.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["c2", "c1", "c0"]);
        assert_eq!(ratios.rows[0].kind, Kind::Good);
        assert_eq!(ratios.rows[0].at, Some(0.7));
    }
}
