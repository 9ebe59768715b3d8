//! How long a large fleet takes to be read: `cargo bench -p diskfacts-fleet`. `cargo test` runs it small,
//! only to see that it works.
//!
//! The fleet has 10 000 hosts, each measured in 125 nights: 30 million rows in 125 files, some 4 GB, made
//! in five minutes. `-- --folder DIR` keeps them there, and takes those that are there; `--nights 25` makes
//! fewer.
//!
//! The aim: who is odd is read in 5 s on two processors. It prints the median of five, with the time of the
//! processors, which says more on a busy machine, and the most memory that was held; then whether the aim was
//! met, of the whole fleet, and exits with 1 where it was missed.

use diskfacts_facts::fleet::{Options, screen};
use diskfacts_fleet::{Added, Adding, Fleet};
use diskfacts_plan::rng::Rng;
use diskfacts_record::{Histogram, Run, Trial};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::{Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const STAGES: usize = 4;
const TRIALS: u32 = 6;

/// Nights of the fleet that the aim is of.
const NIGHTS: usize = 125;
/// Who is odd in it is read in so many seconds, at most.
const ODD_S_MAX: f64 = 5.0;

/// How large the fleet is.
#[derive(Clone, Copy)]
struct Size {
    hosts: usize,
    nights: usize,
    repeats: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let mut size = if is_bench {
        Size {
            hosts: 10_000,
            nights: NIGHTS,
            repeats: 5,
        }
    } else {
        Size {
            hosts: 20,
            nights: 3,
            repeats: 1,
        }
    };
    let value = |of: &str| {
        let mut from = arguments.iter().skip_while(move |argument| *argument != of);
        from.nth(1)
    };
    if let Some(nights) = value("--nights") {
        size.nights = nights.parse().expect("a number of nights");
    }
    let kept = value("--folder").map(PathBuf::from);
    let temporary = tempfile::tempdir().expect("a folder for the files");
    let folder = kept.unwrap_or_else(|| temporary.path().join("fleet"));
    if !folder.exists() {
        println!("written: {}", Costs::of(|| fill(&folder, size)));
    }
    let (files, bytes) = on_disk(&folder);
    let rows = size.hosts * STAGES * TRIALS as usize * size.nights;
    println!("{rows} rows in {files} files, {} MB", bytes / 1_000_000);

    let odd_s = measured("odd", size.repeats, || {
        let fleet = Fleet::open(&folder).expect("a fleet");
        let runs = fleet.runs(None).expect("the files are read");
        let newest = runs.newest(None);
        let samples = fleet.samples(&newest, None).expect("the files are read");
        let screen = screen(&samples, &Options::default());
        assert_eq!(screen.members, size.hosts);
        assert_eq!(newest.older, (size.hosts * (size.nights - 1)) as u64);
    });
    measured("trend", size.repeats, || {
        let fleet = Fleet::open(&folder).expect("a fleet");
        let runs = fleet.runs(None).expect("the files are read");
        let samples = fleet.samples(&runs.of_host("c00007"), Some("stage-1"));
        let samples = samples.expect("the files are read");
        assert_eq!(samples.len() % size.nights, 0);
        assert!(samples.len() > size.nights);
    });
    measured("nothing new to add", size.repeats, || {
        let adding = Adding::into(&folder).expect("a file");
        assert!(adding.finish().expect("nothing to write").is_none());
    });
    many_files(temporary.path(), size);
    // Fewer nights would meet any aim.
    if !is_bench || size.nights < NIGHTS {
        return ExitCode::SUCCESS;
    }
    let is_met = odd_s <= ODD_S_MAX;
    let said = if is_met { "met" } else { "missed" };
    println!("{said}: who is odd in {odd_s:.2} s, the aim is {ODD_S_MAX} s");
    ExitCode::from(u8::from(!is_met))
}

/// As many files as there are hosts, as where each adds its own run: one file under many names, since what
/// is in it is read as often.
fn many_files(temporary: &Path, size: Size) {
    let one = Size {
        hosts: 1,
        nights: 1,
        ..size
    };
    let (of_one, folder) = (temporary.join("one"), temporary.join("many"));
    fill(&of_one, one);
    let file = fs::read_dir(&of_one).expect("the folder").next();
    let file = file.expect("a file").expect("a file").path();
    fs::create_dir(&folder).expect("the folder");
    for name in 0..size.hosts {
        fs::hard_link(&file, folder.join(format!("{name}.parquet"))).expect("a name");
    }
    measured(&format!("odd, {} files", size.hosts), size.repeats, || {
        let fleet = Fleet::open(&folder).expect("a fleet");
        let newest = fleet.runs(None).expect("the files are read").newest(None);
        let samples = fleet.samples(&newest, None).expect("the files are read");
        assert_eq!(samples.len(), STAGES);
    });
}

/// Prints what it costs, the median of so many times; answers how many seconds that is.
fn measured(what: &str, repeats: usize, mut run: impl FnMut()) -> f64 {
    let mut all: Vec<Costs> = (0..repeats).map(|_| Costs::of(&mut run)).collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let median = &all[repeats / 2];
    println!("{what}: {median}");
    median.seconds
}

/// One in a hundred hosts is slower by a quarter.
fn fill(folder: &Path, size: Size) {
    const RUN: &str = include_str!("../../store/tests/store/sample/run.json");
    const TRIAL: &str = include_str!("../../store/tests/store/sample/trial.json");
    let mut run: Run = serde_json::from_str(RUN).expect("the document of a run");
    let mut trial: Trial = serde_json::from_str(TRIAL).expect("the document of a trial");
    trial.errors = 0;
    trial.settings.clear();
    run.plan.stages = (0..STAGES)
        .map(|stage| {
            let mut of = run.plan.stages[0].clone();
            of.settings.clear();
            of.name = format!("stage-{stage}");
            of
        })
        .collect();
    run.trials = (0..STAGES as u32 * TRIALS)
        .map(|at| {
            let mut trial = trial.clone();
            trial.stage = format!("stage-{}", at / TRIALS);
            trial.workload = run.plan.stages[0].workload.clone();
            (trial.number, trial.order) = (at % TRIALS + 1, at + 1);
            let mut histogram = Histogram::new();
            for latency in 0..80 {
                histogram.record(60_000 + latency * latency * 100);
            }
            trial.histograms.read = (&histogram).into();
            trial
        })
        .collect();
    let mut rng = Rng::new(1);
    for night in 0..size.nights {
        // Each night in a file of its own: they are put in one folder when all are made, since
        // asking each time what is known is another thing to measure.
        let own = folder.with_extension(format!("night-{night}"));
        let mut adding = Adding::into(&own).expect("a file");
        for host in 0..size.hosts {
            let began = 1_767_225_600 + (night as u64 * 86_400 + rng.below(3600)).cast_signed();
            let began = moment(began);
            run.run.id = format!(
                "{}-{:08x}",
                began.replace(['-', ':', 'Z'], "").replace('T', "-"),
                rng.next_u64() as u32
            );
            run.run.started = began;
            run.machine.host = Some(format!("c{host:05}"));
            let at = if host % 100 == 7 { 0.75 } else { 1.0 };
            for trial in &mut run.trials {
                trial.iops = 1000.0 * at * (1.0 + 0.05 * rng.unit());
                trial.throughput_bytes_per_s = trial.iops * 4096.0;
            }
            let added = adding.run(&run).expect("a run is added");
            assert_eq!(
                added,
                Added::Taken {
                    trials: STAGES * TRIALS as usize
                }
            );
        }
        let path = adding.finish().expect("a file").expect("runs");
        fs::create_dir_all(folder).expect("the folder");
        fs::rename(&path, folder.join(path.file_name().expect("a name"))).expect("a file");
        fs::remove_dir(&own).expect("an empty folder");
    }
}

/// A moment as runs have it.
fn moment(s: i64) -> String {
    jiff::Timestamp::from_second(s)
        .expect("a moment")
        .to_string()
}

fn on_disk(folder: &Path) -> (usize, u64) {
    let files = fs::read_dir(folder).expect("the folder");
    let sizes = files.map(|file| file.expect("a file").metadata().expect("its size").len());
    sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size))
}

/// What something took.
struct Costs {
    seconds: f64,
    /// Of all processors.
    cpu_s: f64,
    /// The most memory that the process had meanwhile.
    peak_mb: u64,
}

impl Costs {
    fn of(run: impl FnOnce()) -> Self {
        // The most so far is what there is now; see proc_pid_clear_refs(5).
        fs::write("/proc/self/clear_refs", "5").expect("the process's own file");
        let (began, cpu_s) = (Instant::now(), cpu_s());
        run();
        Self {
            seconds: began.elapsed().as_secs_f64(),
            cpu_s: self::cpu_s() - cpu_s,
            peak_mb: peak_mb(),
        }
    }
}

impl Display for Costs {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self {
            seconds,
            cpu_s,
            peak_mb,
        } = self;
        write!(
            f,
            "{seconds:.2} s, {cpu_s:.2} s of processors, {peak_mb} MB"
        )
    }
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// `VmHWM`, in 10^6 bytes.
fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the process's own file");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<u64>().ok()).expect("a size") * 1024 / 1_000_000
}
