//! What observing costs: one plan whose stage varies `observe`, so that diskfacts itself
//! alternates the observers on one target, in rounds of random order.
//!
//! There are three targets. A loop device over a file in memory (`/dev/shm`) is asked
//! for 75 000 operations per second, which a small machine can just do: what is missing
//! of them is the cost. Then it is asked for as many as the processors can: there
//! whatever an observer takes from them is missing in the rate, which is the worst that
//! it can do, and no goal. Last comes the disk under the folder, for as many as it
//! gives: what is handed over to it later reaches it later. Within each round the rate of a trial with
//! observers is divided by that of the trial without; the median of these ratios is
//! what is printed. The processor time is that of diskfacts per operation; that of the
//! threads which read events is not in it and stands beside it.

use crate::Options;
use crate::alternate::median;
use crate::display;
use crate::ours::{Diskfacts, filled_file};
use anyhow::{Context, Result};
use diskfacts_plan::observe::OBSERVERS;
use serde_json::Value;
use std::path::Path;

/// All observers together may take this share of the operations per second.
const COST_MAX: f64 = 0.03;
/// When so many are asked for.
const OPERATIONS_PER_S: u64 = 75_000;

/// Where memory is mounted as a filesystem.
const IN_MEMORY: &str = "/dev/shm";

/// Trials are short and many: what else a machine does changes within seconds, and
/// those of a round should meet the same.
const SECONDS: f64 = 0.3;
/// Of a disk, long enough for several bursts of the block layer's events.
const SECONDS_OF_DISK: f64 = 1.0;

/// Long enough for a display to be drawn some times.
const SECONDS_OF_DISPLAY: f64 = 1.5;

/// Direct random reads of 4 KiB, at most 32 in flight, under each choice of observers.
fn plan(choices: &[&str], rate: Option<u64>, rounds: usize, seconds: f64) -> String {
    let choices: Vec<String> = choices.iter().map(|c| format!("\"{c}\"")).collect();
    let rate = rate.map_or_else(String::new, |rate| format!("rate = {rate}\n"));
    format!(
        "name = \"observers\"\ntrials = {rounds}\n[[stage]]\nname = \"reads\"\n\
         operation = \"read\"\nqueue_depth = 32\ncache = \"direct\"\ntime = \"{}ms\"\n{rate}\
         [stage.vary]\nobserve = [{}]\n",
        (seconds * 1e3).round(),
        choices.join(", ")
    )
}

/// What one trial under a choice gave.
struct Observed {
    choice: String,
    round: u64,
    iops: f64,
    cpu_ns: f64,
    /// Processor time of reading events, share of the trial's time.
    reader: f64,
    /// Share of the time in which requests were followed.
    followed: f64,
    /// Events per second, and those lost.
    events_per_s: f64,
    lost: u64,
}

impl Observed {
    fn of(trial: &Value) -> Result<Self> {
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        let seconds = number(&trial["seconds"])?;
        let followed = &trial["evidence"]["block_layer"];
        let of_events = |key: &str| followed[key].as_f64().unwrap_or(0.0);
        Ok(Self {
            choice: trial["settings"]["observe"]
                .as_str()
                .context("a trial without its choice")?
                .to_owned(),
            round: trial["number"]
                .as_u64()
                .context("a trial without its number")?,
            iops: number(&trial["iops"])?,
            cpu_ns: number(&trial["cpu"]["user_ns_per_io"])?
                + number(&trial["cpu"]["system_ns_per_io"])?,
            reader: of_events("reader_cpu_ns") / (seconds * 1e9),
            followed: of_events("followed_ns") / of_events("window_ns").max(1.0),
            events_per_s: of_events("events") / seconds,
            lost: followed["lost_events"].as_u64().unwrap_or(0),
        })
    }
}

/// Each observer alone, and all of them, beside none.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        println!("loop devices and trace events need root, so nothing was compared: use sudo");
        return Ok(options.small);
    }
    let in_memory = Path::new(IN_MEMORY);
    let folder = if options.small || !in_memory.is_dir() {
        &*options.folder
    } else {
        in_memory
    };
    let names = OBSERVERS.iter().map(|observer| observer.name);
    let choices: Vec<&str> = if options.small {
        vec!["none", "block_layer", "all"]
    } else {
        ["none"].into_iter().chain(names).chain(["all"]).collect()
    };
    let bytes = options.file_bytes.min(256 << 20);
    println!(
        "4 KiB direct random reads, 32 in flight, {} rounds\n\
         IOPS: median, and ratio to none within each round (smallest to largest)",
        options.rounds
    );
    let diskfacts = Diskfacts::find()?;
    let cost = |rate| -> Result<f64> {
        let plan = plan(&choices, rate, options.rounds, options.seconds.min(SECONDS));
        table(&choices, &diskfacts.looped(folder, bytes, &plan)?)
    };
    let memory = folder.display();
    println!("\na loop device over a file in {memory}, asked for {OPERATIONS_PER_S} IOPS");
    let mut met = judged(cost(Some(OPERATIONS_PER_S))?);
    println!("\nthe same, as many as the processors can ask for");
    println!(
        "  all observers together take {} of the IOPS",
        percent(cost(None)?)
    );
    println!(
        "\na file in {}, as many as the disk gives",
        options.folder.display()
    );
    let file = filled_file(&options.folder, options.file_bytes)?;
    let choices = ["none", "counters", "block_layer", "all"];
    let seconds = options.seconds.min(SECONDS_OF_DISK);
    let plan = plan(&choices, None, options.rounds, seconds);
    met &= judged(table(&choices, &diskfacts.of_file(file.path(), &plan)?)?);
    let Some(script) = display::script() else {
        println!("\nscript is missing, so no display was compared: apt-get install bsdutils");
        return Ok(met || options.small);
    };
    let shown = |rate| {
        let seconds = options.seconds.min(SECONDS_OF_DISPLAY);
        let on = (folder, bytes);
        display::case(&diskfacts, &script, on, (rate, seconds), options.rounds)
    };
    println!("\na display, beside a loop device that is asked for {OPERATIONS_PER_S} IOPS");
    met &= shown(Some(OPERATIONS_PER_S))?;
    println!("\nthe same, as many as the processors can ask for");
    met &= shown(None)?;
    // In the small mode the figures mean nothing.
    Ok(met || options.small)
}

/// Says whether a cost, a share, is as small as it should be.
fn judged(cost: f64) -> bool {
    let met = cost < COST_MAX;
    println!(
        "  {} all observers together take {} of the IOPS, less than {:.0} %",
        if met { "met:   " } else { "MISSED:" },
        percent(cost),
        COST_MAX * 100.0
    );
    met
}

/// `2.1 %`. What is less than noise may be less than nothing, but not `-0.0 %`.
fn percent(share: f64) -> String {
    format!("{:.1} %", (share * 1e3).round() / 10.0 + 0.0)
}

/// Prints a line for each choice; returns what all observers cost, a share.
fn table(choices: &[&str], trials: &[Value]) -> Result<f64> {
    let observed: Result<Vec<Observed>> = trials.iter().map(Observed::of).collect();
    let observed = observed?;
    let mut cost = f64::NAN;
    for choice in choices {
        let here: Vec<&Observed> = observed.iter().filter(|o| o.choice == *choice).collect();
        let ratios = here.iter().filter_map(|one| ratio(one, &observed));
        let ratios: Vec<f64> = ratios.collect();
        if *choice == "all" {
            cost = 1.0 - median(ratios.iter().copied());
        }
        println!("{}", line(choice, &here, &ratios));
    }
    Ok(cost)
}

/// The rate of a trial over that without observers in the same round.
fn ratio(one: &Observed, all: &[Observed]) -> Option<f64> {
    let mut without = all.iter().filter(|other| other.choice == "none");
    let without = without.find(|other| other.round == one.round)?;
    Some(one.iops / without.iops)
}

fn line(choice: &str, here: &[&Observed], ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let of = |figure: fn(&Observed) -> f64| median(here.iter().map(|one| figure(one)));
    let events = of(|one| one.events_per_s);
    let reading = if events > 0.0 {
        let lost: u64 = here.iter().map(|one| one.lost).sum();
        format!(
            "  {events:.0} events/s in {:.0} % of the time, read in {:.1} % of a processor, {lost} lost",
            of(|one| one.followed) * 100.0,
            of(|one| one.reader) * 100.0
        )
    } else {
        String::new()
    };
    format!(
        "  {choice:<14} {:>7.0} IOPS  {:.3} ({least:.3} to {most:.3})  CPU {:>6.0} ns per I/O{reading}",
        of(|one| one.iops),
        median(ratios.iter().copied()),
        of(|one| one.cpu_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(choice: &str, round: u64, iops: f64) -> Observed {
        Observed {
            choice: choice.to_owned(),
            round,
            iops,
            cpu_ns: 1.0,
            reader: 0.0,
            followed: 0.0,
            events_per_s: 0.0,
            lost: 0,
        }
    }

    #[test]
    fn a_trial_is_compared_with_the_one_without_observers_in_its_round() {
        let all = [
            observed("none", 1, 100.0),
            observed("all", 1, 99.0),
            observed("none", 2, 200.0),
            observed("all", 2, 190.0),
        ];
        let ratios: Vec<_> = all.iter().map(|one| ratio(one, &all)).collect();
        assert_eq!(ratios, [Some(1.0), Some(0.99), Some(1.0), Some(0.95)]);
        assert_eq!(ratio(&observed("all", 3, 1.0), &all), None);
    }

    #[test]
    fn a_cost_below_nothing_is_told_without_a_sign_that_means_nothing() {
        let told = [0.0208, -0.0241, -0.000_04].map(percent);
        assert_eq!(told, ["2.1 %", "-2.4 %", "0.0 %"]);
    }

    #[test]
    fn the_plan_varies_nothing_but_the_observers() {
        let text = plan(&["none", "all"], Some(75_000), 5, 0.3);
        let plan = diskfacts_plan::file::parse(&text).expect("a plan");
        assert_eq!((plan.stages.len(), plan.trials), (2, 5));
        let rate = plan.stages[0].workload.rate.expect("a rate");
        assert_eq!(rate.operations_per_s, 75_000);
        let mut second = plan.stages[1].workload.clone();
        second.observe = plan.stages[0].workload.observe.clone();
        assert_eq!(second, plan.stages[0].workload);
        assert_eq!(plan.problems(), []);
    }
}
