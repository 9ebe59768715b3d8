//! The budget of every stage, as the host sees it, against where the simulated disk says
//! that the time went.

use super::setup::Setup;
use super::truth;
use diskfacts_disk::host::JournalParameters;
use diskfacts_disk::profile::{Drive, profiles};
use diskfacts_plan::SyncMode;
use diskfacts_record::evidence::TimeParts;
use diskfacts_record::{Budget, Run, Spent, StageFigures, Trial};

/// Share of the latency that a part may be off by.
const OFF: f64 = 0.05;
/// The kernel's counters of time have whole milliseconds.
const COUNTED_NS: f64 = 1e6;

#[test]
fn the_parts_are_those_of_the_truth_on_every_disk() {
    let mut wrong = Vec::new();
    let mut stages = 0;
    for name in profiles() {
        let sound = Setup::on(name);
        let mut ways = Setup::on(name);
        ways.plan = truth::plan();
        for setup in [sound, ways] {
            let run = setup.run();
            for figures in &run.figures {
                stages += 1;
                let off = differences(&run, figures);
                wrong.extend(off.into_iter().map(|text| format!("{name} {text}")));
            }
        }
    }
    assert!(stages >= 150, "{stages}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The budget of work with something planted, beside that without it.
#[derive(Debug)]
struct Grown {
    with: Budget,
    without: Budget,
    /// Where the disk says that the time of both went.
    truths: [TimeParts; 2],
}

impl Grown {
    /// Of synced writes on this disk, or what the workload makes of them.
    fn of(name: &str, plant: impl Fn(&mut Setup, bool)) -> Self {
        let [with, without] = [true, false].map(|planted| {
            let mut setup = Setup::on(name);
            setup.only("log-write").workload.stop.time_ns = Some(300_000_000);
            plant(&mut setup, planted);
            let run = setup.run();
            let figures = &run.figures[0];
            let off = differences(&run, figures);
            assert!(off.is_empty(), "{}", off.join("\n"));
            let budget = figures.budget.clone().expect("a budget");
            (budget, truth_of(&run, figures))
        });
        Self {
            truths: [with.1, without.1],
            with: with.0,
            without: without.0,
        }
    }

    /// By how much a part of the truth grew, ns an operation.
    fn truth_ns(&self, of: fn(&TimeParts) -> u64) -> f64 {
        let [with, without] = self
            .truths
            .map(|time| of(&time) as f64 / time.operations as f64);
        with - without
    }

    /// These parts grew by so much, and no other did.
    #[track_caller]
    fn is(&self, parts: &[(&[Spent], f64)]) {
        let off_ns = OFF * self.with.latency_ns;
        let grown = |part: Spent| self.with.mean_ns(part) - self.without.mean_ns(part);
        for (parts, ns) in parts {
            let found: f64 = parts.iter().copied().map(grown).sum();
            assert!(
                (found - ns).abs() <= off_ns,
                "{parts:?} {found}, not {ns}: {self:?}"
            );
        }
        let named: Vec<Spent> = parts
            .iter()
            .flat_map(|(parts, _)| *parts)
            .copied()
            .collect();
        for one in self
            .with
            .parts
            .iter()
            .filter(|one| !named.contains(&one.part))
        {
            assert!(grown(one.part) <= off_ns, "{:?} grew: {self:?}", one.part);
        }
    }
}

const FLUSH_NS: u64 = 3_000_000;

/// A drive with a cache that takes its time to be emptied.
fn slow_to_flush(setup: &mut Setup) {
    let Drive::Ssd(drive) = &mut setup.profile.drive else {
        panic!("{} turns", setup.profile.name);
    };
    drive.flush_ns = FLUSH_NS;
}

#[test]
fn a_flush_for_each_write_is_the_flush_and_nothing_else() {
    for name in ["ssd-sata", "nvme-consumer"] {
        let grown = Grown::of(name, |setup, planted| {
            slow_to_flush(setup);
            if !planted {
                setup.stage("log-write").workload.sync = SyncMode::None;
            }
        });
        let planted_ns = grown.truth_ns(TimeParts::total_ns);
        assert!(planted_ns >= FLUSH_NS as f64, "{grown:?}");
        grown.is(&[(&[Spent::Flush], planted_ns)]);
    }
}

#[test]
fn what_a_journal_adds_is_its_blocks_and_its_flush() {
    let journal = |setup: &mut Setup, planted: bool| {
        setup.plant.journal = planted.then_some(JournalParameters {
            transaction: 64 << 10,
            start: 1 << 30,
            len: 128 << 20,
        });
    };
    // The blocks, and a second flush behind the one that commits: it takes what it was planted
    // to take, and what it empties of the cache.
    let grown = Grown::of("ssd-sata", |setup, planted| {
        slow_to_flush(setup);
        journal(setup, planted);
    });
    let flush_ns = FLUSH_NS as f64 + grown.truth_ns(|time| time.cache_wait_ns);
    let blocks_ns = grown.truth_ns(TimeParts::total_ns) - flush_ns;
    let blocks: &[Spent] = &[Spent::BlockLayer, Spent::Journal];
    grown.is(&[(&[Spent::Flush], flush_ns), (blocks, blocks_ns)]);
    // Of what loses nothing no flush is asked for.
    let grown = Grown::of("nvme-datacenter", journal);
    grown.is(&[(blocks, grown.truth_ns(TimeParts::total_ns))]);
}

/// What the disk says of the trials of a stage.
fn truth_of(run: &Run, figures: &StageFigures) -> TimeParts {
    trials(run, figures)
        .filter_map(|trial| trial.evidence.truth?.time)
        .reduce(|a, b| a.plus(&b))
        .expect("it is simulated")
}

/// What the budget has otherwise than the truth.
pub(super) fn differences(run: &Run, figures: &StageFigures) -> Vec<String> {
    let truth = truth_of(run, figures);
    let Some(budget) = &figures.budget else {
        return vec![format!("{}: no budget", figures.stage)];
    };
    if pieces_side_by_side(run, figures) {
        // Nobody can tell from outside how long there was any piece of an operation.
        let known = budget.latency_ns - budget.mean_ns(Spent::Unexplained);
        return if known < OFF * budget.latency_ns {
            Vec::new()
        } else {
            vec![format!("{}: of pieces it knows {budget:?}", figures.stage)]
        };
    }
    let each = |ns: u64| ns as f64 / truth.operations as f64;
    let counted_ns = COUNTED_NS * f64::from(figures.iops.trials) / truth.operations as f64;
    // The call of a direct operation is charged to nobody: several are under way at a time.
    let uncharged_ns = if is_direct(run, figures) {
        each(truth.host_ns) - budget.mean_ns(Spent::Kernel)
    } else {
        0.0
    };
    let all = |parts: &[Spent]| -> f64 { parts.iter().map(|part| budget.mean_ns(*part)).sum() };
    let beyond = [
        Spent::Admission,
        Spent::BlockLayer,
        Spent::Flush,
        Spent::Journal,
        Spent::Cache,
        Spent::Dirty,
    ];
    let apart = apart(run, figures, &truth).into_iter().map(|(part, so)| {
        let seen = budget.mean_ns(part);
        (part.name(), seen, so.within(seen))
    });
    [
        // What is done waits while the thread is at work on others: of that the disk knows
        // nothing.
        (
            "completion",
            all(&[Spent::Completion]),
            budget.latency_ns - each(truth.total_ns()),
        ),
        (
            "host",
            all(&[Spent::Kernel, Spent::Unexplained]),
            each(truth.host_ns),
        ),
        (
            "beyond",
            all(&beyond),
            each(truth.total_ns() - truth.host_ns),
        ),
        ("unexplained", all(&[Spent::Unexplained]), uncharged_ns),
    ]
    .into_iter()
    .chain(apart)
    .filter(|(_, seen, so)| (seen - so).abs() > OFF * budget.latency_ns + counted_ns)
    .map(|(what, seen, so)| {
        format!(
            "{}: {what} is {seen:.0} ns, in truth {so:.0}: {budget:?}",
            figures.stage
        )
    })
    .collect()
}

/// What a part may be, ns.
struct Range {
    least_ns: f64,
    most_ns: f64,
}

impl Range {
    const NOTHING: Self = Self {
        least_ns: 0.0,
        most_ns: 0.0,
    };

    fn exactly(ns: f64) -> Self {
        Self {
            least_ns: ns,
            most_ns: ns,
        }
    }

    /// What of it is nearest to this.
    fn within(&self, ns: f64) -> f64 {
        ns.clamp(self.least_ns, self.most_ns)
    }
}

/// What the disk knows of the parts of which it or the workload says by itself how much there
/// is: these are not taken for each other, which their sum does not tell.
fn apart(run: &Run, figures: &StageFigures, truth: &TimeParts) -> Vec<(Spent, Range)> {
    let each = |ns: u64| ns as f64 / truth.operations as f64;
    let any = |is: fn(&Trial) -> bool| trials(run, figures).any(is);
    let direct = is_direct(run, figures);
    let writes = any(|trial| trial.workload.operation.writes());
    let reads = any(|trial| trial.workload.operation.reads());
    let synced = writes && any(|trial| trial.workload.sync.each_write());
    let limited = any(|trial| trial.evidence.io_limits.iter().flatten().next().is_some());
    let only_if = |possible: bool| Range {
        least_ns: 0.0,
        most_ns: if possible { f64::INFINITY } else { 0.0 },
    };
    let mut apart = vec![
        // A flush and a commit are what a sync waits for, and a page is waited for by who reads.
        (Spent::Flush, only_if(synced)),
        (Spent::Journal, only_if(synced)),
        (Spent::Cache, only_if(reads && !direct)),
        // What goes past the page cache, or waits for a sync of its own, is never held back for
        // what is dirty; and what is neither waits for nothing else that is called so.
        (
            Spent::Dirty,
            if direct || synced || reads {
                Range::NOTHING
            } else {
                Range::exactly(each(truth.cache_wait_ns))
            },
        ),
        // Of a group's limit the disk tells; for a place in the queue others are waited for.
        (
            Spent::Admission,
            if limited && direct && !synced {
                Range::exactly(each(truth.throttle_ns))
            } else {
                Range {
                    least_ns: 0.0,
                    most_ns: each(truth.throttle_ns + truth.queue_ns),
                }
            },
        ),
    ];
    // The host has none of these, or nobody tells there what they are of.
    let never = [
        Spent::Processor,
        Spent::Blocked,
        Spent::Mapping,
        Spent::Scheduler,
        Spent::Device,
        Spent::Client,
        Spent::Server,
    ];
    apart.extend(never.map(|part| (part, Range::NOTHING)));
    apart
}

fn trials<'a>(run: &'a Run, figures: &StageFigures) -> impl Iterator<Item = &'a Trial> {
    let of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    run.trials.iter().filter(of)
}

fn is_direct(run: &Run, figures: &StageFigures) -> bool {
    trials(run, figures).all(|trial| trial.evidence.engine.direct)
}

/// Whether several operations at a time were cut into requests.
fn pieces_side_by_side(run: &Run, figures: &StageFigures) -> bool {
    let (mut requests, mut operations, mut outstanding) = (0, 0, 1);
    for trial in trials(run, figures) {
        let direct = trial.evidence.engine.direct && !trial.workload.operation.modifies();
        outstanding = outstanding.max(if direct {
            trial.workload.outstanding()
        } else {
            1
        });
        let top = trial.evidence.devices.first();
        requests += top.map_or(0, |top| top.reads + top.writes);
        operations += trial.ops;
    }
    outstanding > 1 && requests as f64 > 1.05 * operations as f64
}
