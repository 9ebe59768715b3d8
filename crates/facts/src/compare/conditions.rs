//! The conditions that are not the same on both sides.

use super::cells::{Cell, Pair};
use super::comparable::{is_known, layers, span};
use super::{Selection, workload};
use crate::words::{count, percent};
use diskfacts_plan::units::{exact_size, show_duration, show_size};
use diskfacts_record::comparison::Condition;
use diskfacts_record::{BlockDevice, DeviceKind, Run, Stack, TargetKind, Unsound};

/// Memory and sizes that differ by less are the same: what the kernel keeps for
/// itself varies with its version.
const SIZE_TOLERANCE: f64 = 0.02;
/// A filesystem is as full as another within five points.
const FILL_TOLERANCE: f64 = 0.05;
/// A file is as fragmented as another within a factor.
const EXTENTS_FACTOR: f64 = 4.0;
/// Trials as long as others within a factor.
const LENGTH_FACTOR: f64 = 2.0;

/// Values of a condition in a run; none where it is not known.
type Read = fn(&Run) -> Vec<String>;

fn one(value: Option<impl ToString>) -> Vec<String> {
    value.into_iter().map(|value| value.to_string()).collect()
}

fn of_disks(run: &Run, read: fn(&BlockDevice) -> Option<String>) -> Vec<String> {
    run.stack.leaves().filter_map(read).collect()
}

fn of_top(run: &Run, read: fn(&BlockDevice) -> Option<String>) -> Vec<String> {
    one(run.stack.top().and_then(read))
}

fn filesystem(stack: &Stack) -> Option<String> {
    let filesystem = stack.filesystem.as_ref()?;
    let mut options = filesystem.options.clone();
    options.sort();
    Some(format!("{} ({})", filesystem.kind, options.join(", ")))
}

/// `fill (2 rounds), age (7 rounds, steady)`, or `nothing`.
fn before_the_trials(run: &Run) -> String {
    let told = run.preconditioning.iter().map(|done| {
        let steady = match done.steady {
            None => "",
            Some(true) => ", steady",
            Some(false) => ", not steady",
        };
        let rounds = count(done.rounds.len() as u64, "round");
        format!("{} ({rounds}{steady})", done.name)
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        "nothing".to_owned()
    } else {
        told.join(", ")
    }
}

/// What is read of each run, the most telling first.
const OF_RUNS: [(&str, Read); 29] = [
    ("kind of target", |run| {
        one(Some(match run.target.kind {
            TargetKind::Folder | TargetKind::File => "file",
            TargetKind::Device => "device",
            TargetKind::Simulated => "simulated disk",
            TargetKind::Stream => "stream",
            TargetKind::Loop => "loop device",
            TargetKind::Imported => "another program's document",
        }))
    }),
    ("target", |run| one(Some(&run.target.path))),
    ("disk", |run| of_disks(run, |disk| disk.model.clone())),
    ("serial number", |run| {
        of_disks(run, |disk| disk.serial.clone())
    }),
    ("backing file", |run| {
        of_disks(run, |disk| disk.backing_file.clone())
    }),
    ("size of the device", |run| {
        of_disks(run, |disk| disk.size_bytes.map(exact_size))
    }),
    ("kind of device", |run| {
        of_top(run, |top| {
            (top.kind != DeviceKind::Partition).then(|| format!("{:?}", top.kind))
        })
    }),
    ("layout", |run| of_top(run, |top| top.layout.clone())),
    ("not sound", |run| {
        let words = |one: &Unsound<'_>| format!("{}: {}{}", one.name, one.kind.words(), one.when());
        run.unsound().iter().map(words).collect()
    }),
    ("rotating", |run| {
        of_disks(run, |disk| {
            let word = |turns| if turns { "yes" } else { "no" };
            disk.rotational.map(|turns| word(turns).to_owned())
        })
    }),
    ("write cache", |run| {
        of_disks(run, |disk| disk.write_cache.clone())
    }),
    ("scheduler", |run| {
        of_disks(run, |disk| disk.scheduler.clone())
    }),
    ("read-ahead", |run| {
        of_top(run, |top| top.read_ahead_bytes.map(show_size))
    }),
    ("largest request", |run| {
        of_top(run, |top| top.max_request_bytes.map(show_size))
    }),
    ("scheduler's queue", |run| {
        of_disks(run, |disk| disk.nr_requests.map(|n| n.to_string()))
    }),
    ("logical sector", |run| {
        of_disks(run, |disk| {
            disk.logical_sector_bytes.map(|n| format!("{n} B"))
        })
    }),
    ("start of the partition", |run| {
        of_top(run, |top| top.start_bytes.map(show_size))
    }),
    ("filesystem", |run| one(filesystem(&run.stack))),
    ("kernel", |run| one(run.machine.kernel.as_ref())),
    ("system", |run| one(run.machine.os.as_ref())),
    ("host", |run| one(run.machine.host.as_ref())),
    ("processor", |run| one(run.machine.cpu_model.as_ref())),
    ("processors", |run| {
        one((run.machine.cpus > 0).then_some(run.machine.cpus))
    }),
    ("architecture", |run| {
        let name = &run.machine.architecture;
        one((!name.is_empty()).then_some(name))
    }),
    ("virtualization", |run| {
        one(run.machine.virtualization.as_ref())
    }),
    ("version of diskfacts", |run| {
        let measured = run.target.kind != TargetKind::Imported;
        one(measured.then_some(&run.run.tool_version))
    }),
    ("plan", |run| one(Some(&run.plan.name))),
    ("done before the trials", |run| {
        let measured = run.target.kind != TargetKind::Imported;
        one(measured.then(|| before_the_trials(run)))
    }),
    ("status", |run| {
        let status = format!("{:?}", run.run.status).to_lowercase();
        one((status != "complete").then_some(status))
    }),
];

/// What tells targets apart that look alike. Older diskfacts did not record it, so it is
/// told where both sides have it.
const IDENTITY: [(&str, Read); 2] = [
    ("worldwide name", |run| {
        of_disks(run, |disk| disk.wwid.clone())
    }),
    ("UUID of the filesystem", |run| {
        let filesystem = run.stack.filesystem.as_ref();
        one(filesystem.and_then(|filesystem| filesystem.uuid.as_ref()))
    }),
];

/// A size of a run, bytes.
type ReadSize = fn(&Run) -> Option<u64>;

/// Sizes that need not be equal to the byte.
const SIZES: [(&str, ReadSize); 2] = [
    ("memory", |run| run.machine.memory_bytes),
    ("size of the target", |run| {
        (run.target.size_bytes > 0).then_some(run.target.size_bytes)
    }),
];

/// What differs between the runs of the two sides.
pub(super) fn of_runs(a: &Selection<'_>, b: &Selection<'_>) -> Vec<Condition> {
    let mut conditions = limits(a, b);
    for (what, read) in OF_RUNS {
        let values = |side: &Selection<'_>| {
            let runs = side.parts.iter().map(|part| part.run);
            once(runs.flat_map(read))
        };
        conditions.extend(unlike(what, values(a), values(b), Vec::new()));
    }
    for (what, read) in IDENTITY {
        let values = |side: &Selection<'_>| {
            let runs = side.parts.iter().map(|part| part.run);
            once(runs.flat_map(read))
        };
        let (of_a, of_b) = (values(a), values(b));
        if !of_a.is_empty() && !of_b.is_empty() {
            conditions.extend(unlike(what, of_a, of_b, Vec::new()));
        }
    }
    for (what, read) in SIZES {
        let sizes = |side: &Selection<'_>| -> Vec<f64> {
            let runs = side.parts.iter().map(|part| part.run);
            runs.filter_map(read).map(|size| size as f64).collect()
        };
        let (of_a, of_b) = (sizes(a), sizes(b));
        if !within(&of_a, &of_b, |a, b| {
            (a - b).abs() <= SIZE_TOLERANCE * a.max(b)
        }) {
            let words = |sizes: Vec<f64>| once(sizes.into_iter().map(|s| show_size(s as u64)));
            conditions.extend(unlike(what, words(of_a), words(of_b), Vec::new()));
        }
    }
    let extents = |side: &Selection<'_>| -> Vec<f64> {
        let runs = side.parts.iter().map(|part| part.run.target.extents);
        let counts = runs.filter_map(|extents| extents?.extents);
        counts.map(|count| count as f64).collect()
    };
    let (of_a, of_b) = (extents(a), extents(b));
    if !within(&of_a, &of_b, |a, b| {
        a.max(1.0) / b.max(1.0) <= EXTENTS_FACTOR && b.max(1.0) / a.max(1.0) <= EXTENTS_FACTOR
    }) {
        let words = |counts: Vec<f64>| once(counts.iter().map(ToString::to_string));
        conditions.extend(unlike(
            "extents of the file",
            words(of_a),
            words(of_b),
            Vec::new(),
        ));
    }
    let fill = |side: &Selection<'_>| -> Vec<f64> {
        let runs = side.parts.iter().map(|part| part.run);
        runs.filter_map(|run| {
            let filesystem = run.stack.filesystem.as_ref()?;
            let size = filesystem.size_bytes.filter(|size| *size > 0)?;
            Some(1.0 - filesystem.available_bytes? as f64 / size as f64)
        })
        .collect()
    };
    let (of_a, of_b) = (fill(a), fill(b));
    if !within(&of_a, &of_b, |a, b| (a - b).abs() <= FILL_TOLERANCE) {
        let words = |fills: Vec<f64>| once(fills.into_iter().map(percent));
        conditions.extend(unlike("full", words(of_a), words(of_b), Vec::new()));
    }
    conditions
}

/// What the sides were limited to.
fn limits(a: &Selection<'_>, b: &Selection<'_>) -> Vec<Condition> {
    let keys = |side: &Selection<'_>| -> Vec<String> {
        let keys = side.parts.iter().flat_map(|part| part.only.keys().cloned());
        once(keys)
    };
    once(keys(a).into_iter().chain(keys(b)))
        .into_iter()
        .filter_map(|key| {
            let values = |side: &Selection<'_>| {
                once(side.parts.iter().filter_map(|p| p.only.get(&key).cloned()))
            };
            unlike(&key, values(a), values(b), Vec::new())
        })
        .collect()
}

/// Whether every value of one side is near to one of the other.
fn within(a: &[f64], b: &[f64], near: fn(f64, f64) -> bool) -> bool {
    let all = |of: &[f64], to: &[f64]| of.iter().all(|x| to.iter().any(|y| near(*x, *y)));
    all(a, b) && all(b, a)
}

/// What differs between the two of each pair, stages with the same difference
/// together.
pub(super) fn of_stages(pairs: &[Pair<'_>]) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = Vec::new();
    for pair in pairs {
        for condition in of_pair(pair) {
            let known = conditions.iter_mut().find(|known| {
                known.what == condition.what && known.a == condition.a && known.b == condition.b
            });
            match known {
                Some(known) => known.stages.extend(condition.stages),
                None => conditions.push(condition),
            }
        }
    }
    // What holds for all stages is one of the run.
    for condition in &mut conditions {
        if condition.stages.len() == pairs.len() {
            condition.stages.clear();
        }
    }
    conditions
}

fn of_pair(pair: &Pair<'_>) -> Vec<Condition> {
    let label = || vec![pair.a.label()];
    let mut conditions = Vec::new();
    let mut differ = |what: &str, a: Vec<String>, b: Vec<String>| {
        conditions.extend(unlike(what, a, b, label()));
    };
    if pair.a.settings != pair.b.settings {
        differ("name", vec![pair.a.label()], vec![pair.b.label()]);
    }
    for (key, a, b) in workload::unlike(pair.a.first(), pair.b.first()) {
        // Where both are known and nobody meant it, the pair is not comparable.
        if pair.meant || a.is_none() || b.is_none() {
            differ(key, one(a), one(b));
        }
    }
    let engines = |cell: &Cell<'_>| {
        let names = cell.trials().map(|t| t.evidence.engine.name.clone());
        once(names.filter(|name| !name.is_empty()))
    };
    differ("engine", engines(&pair.a), engines(&pair.b));
    let spans = (span(&pair.a), span(&pair.b));
    let near = |(a, b): (u64, u64)| (a as f64 - b as f64).abs() <= SIZE_TOLERANCE * a.max(b) as f64;
    if !spans.0.zip(spans.1).is_some_and(near) {
        differ(
            "span",
            one(spans.0.map(show_size)),
            one(spans.1.map(show_size)),
        );
    }
    let length = |cell: &Cell<'_>| -> Option<f64> {
        let seconds: Vec<f64> = cell.trials().map(|t| t.seconds).collect();
        crate::stats::median(&seconds).filter(|seconds| *seconds > 0.0)
    };
    if let (Some(a), Some(b)) = (length(&pair.a), length(&pair.b))
        && (a / b).max(b / a) > LENGTH_FACTOR
    {
        let words = |seconds: f64| vec![show_duration((seconds * 1e9) as u64)];
        differ("length of a trial", words(a), words(b));
    }
    let served = (layers(&pair.a), layers(&pair.b));
    let medium = |l: &diskfacts_record::Layers| {
        is_known(l).then_some(if l.media > 0.5 { "yes" } else { "not known" })
    };
    if pair.a.workload().operation.writes() {
        differ(
            "on the medium",
            one(medium(&served.0)),
            one(medium(&served.1)),
        );
    }
    let errors = |cell: &Cell<'_>| {
        let failed = cell.all_trials().map(|t| t.errors);
        let failed = failed.fold(0, u64::saturating_add);
        vec![failed.to_string()]
    };
    differ("failed operations", errors(&pair.a), errors(&pair.b));
    conditions
}

/// A condition, where the two sides do not agree on it.
fn unlike(
    what: &str,
    mut a: Vec<String>,
    mut b: Vec<String>,
    stages: Vec<String>,
) -> Option<Condition> {
    a.sort();
    b.sort();
    (a != b).then(|| Condition {
        what: what.to_owned(),
        a,
        b,
        stages,
    })
}

fn once(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}
