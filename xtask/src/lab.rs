//! `cargo xtask lab`: diskfacts on real kinds of devices, in guests of QEMU.
//!
//! The scenarios, what they need and what they check are in the program
//! `diskfacts-lab` (`lab/`), which runs inside. Here a kernel is fetched, an
//! image made, guests are booted side by side, and what they say is counted.
//! QEMU emulates the processor, so it runs anywhere and is slow: facts are
//! checked there, never rates.

mod catalogue;
mod cpio;
mod guest;
mod image;
mod kernel;
mod options;
mod share_out;

use crate::metadata::target_folder;
use crate::project::{Project, WHOLE, output};
use crate::test::{Outcome, Skipped};
use catalogue::{Catalogue, Disk, Scenario};
use guest::{End, Guest, Said};
use kernel::Kernel;
use options::{Options, What};
use serde_json::json;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use options::USAGE;

/// Programs that the lab cannot do without, and their packages.
const NEEDED: [(&str, &str); 6] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("depmod", "kmod"),
    ("dpkg", "dpkg"),
    ("ldd", "libc-bin"),
    ("xz", "xz-utils"),
];

/// Guests side by side: their processors are threads of ours.
const GUESTS: usize = 2;

/// How often a guest may be lost in the scenarios of one part.
const LOSSES_MAX: usize = 3;

/// Runs what the arguments ask for; says whether nothing failed.
///
/// # Errors
/// When an argument is unknown, or a guest cannot be started.
pub(crate) fn run(project: &Project, arguments: &[&str]) -> Result<bool, String> {
    let options = Options::parse(arguments)?;
    let outcome = perform(project, &options, &ALONE)?;
    for skip in &outcome.skipped {
        println!("skipped {}: {}", skip.test, skip.reason);
    }
    for failed in &outcome.failed {
        println!("failed {failed}");
    }
    println!(
        "{} passed, {} failed, {} skipped",
        outcome.passed,
        outcome.failed.len(),
        outcome.skipped.len()
    );
    Ok(outcome.failed.is_empty())
}

/// The short set, for the test command.
///
/// # Errors
/// When a guest cannot be started.
pub(crate) fn short(project: &Project) -> Result<Outcome, String> {
    perform(project, &Options::short(), &AS_TESTED)
}

fn perform(project: &Project, options: &Options, built: &[&str]) -> Result<Outcome, String> {
    let missing: Vec<String> = NEEDED
        .iter()
        .filter(|(program, _)| image::find_program(program).is_none())
        .map(|(program, package)| format!("{program}: apt-get install {package}"))
        .collect();
    if !missing.is_empty() {
        return Ok(Outcome::skipped("the lab", missing.join("; ")));
    }
    let folder = target_folder(project)?.join("lab");
    let kernels = match kernel::find(&folder) {
        Ok(kernels) => kernels,
        Err(why) => return Ok(Outcome::skipped("the lab", why)),
    };
    let programs = programs(project, &folder, built)?;
    let catalogue = Catalogue::of(&programs[1])?;
    let lab = Lab {
        kernels: options.of_kernels(kernels)?,
        catalogue,
        folder,
        programs,
    };
    if options.what == What::List {
        lab.list();
        return Ok(Outcome::default());
    }
    if options.what == What::Shell {
        lab.shell(&options.names)?;
        return Ok(Outcome::default());
    }
    let parts = lab.parts(options)?;
    lab.perform(parts)
}

/// What of the workspace is built for the guests: no more than they run.
const ALONE: [&str; 4] = ["-p", "diskfacts", "-p", "diskfacts-lab"];
/// The same where the tests have just been built: of dependencies with the features that
/// tests ask for, so that next to nothing is compiled again.
const AS_TESTED: [&str; 4] = ["--workspace", "--bins", "--tests", WHOLE];

/// The two programs of the guest, without what only a debugger reads:
/// `diskfacts` and `diskfacts-lab`.
fn programs(project: &Project, folder: &Path, built: &[&str]) -> Result<Vec<PathBuf>, String> {
    let mut cargo = project.cargo(&["build", "--locked"]);
    let status = cargo
        .args(built)
        .status()
        .map_err(|error| format!("starting cargo build: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build ended with {status}"));
    }
    let debug = target_folder(project)?.join("debug");
    let stripped = folder.join("programs");
    fs::create_dir_all(&stripped).map_err(|e| format!("making {}: {e}", stripped.display()))?;
    let mut programs = Vec::new();
    for name in ["diskfacts", "diskfacts-lab"] {
        let (from, to) = (debug.join(name), stripped.join(name));
        output(Command::new("strip").arg("-o").args([&to, &from]))?;
        programs.push(to);
    }
    Ok(programs)
}

/// Some scenarios for one boot of one kernel.
#[derive(Debug, Clone)]
struct Part {
    kernel: Kernel,
    scenarios: Vec<Scenario>,
    losses: usize,
}

struct Lab {
    kernels: Vec<Kernel>,
    catalogue: Catalogue,
    folder: PathBuf,
    programs: Vec<PathBuf>,
}

impl Lab {
    fn list(&self) {
        for scenario in &self.catalogue.scenarios {
            let set = if scenario.short { "short" } else { "all" };
            println!("  {:<22} {set:<5} {}", scenario.name, scenario.about);
        }
    }

    /// What is to be done, cut so that two guests have about as much to do.
    fn parts(&self, options: &Options) -> Result<VecDeque<Part>, String> {
        let mut parts = VecDeque::new();
        let day = today();
        for (index, kernel) in self.kernels.iter().enumerate() {
            let chosen = options.scenarios(&self.catalogue, index > 0, day)?;
            for scenarios in share_out::share_out(chosen, GUESTS) {
                parts.push_back(Part {
                    kernel: kernel.clone(),
                    scenarios,
                    losses: 0,
                });
            }
        }
        Ok(parts)
    }

    fn perform(&self, parts: VecDeque<Part>) -> Result<Outcome, String> {
        let mut bases = Vec::new();
        for kernel in &self.kernels {
            bases.push(image::base(&self.folder, kernel, &self.catalogue)?);
        }
        let images: Vec<(String, PathBuf)> = self
            .kernels
            .iter()
            .zip(&bases)
            .map(|(kernel, base)| {
                let image = self.folder.join(format!("boot-{}.cpio", kernel.version));
                image::whole(base, &self.programs, &image)?;
                Ok((kernel.version.clone(), image))
            })
            .collect::<Result<_, String>>()?;
        let runs = self.folder.join("runs");
        drop(fs::remove_dir_all(&runs));
        let queue = Mutex::new((parts, 0_usize));
        let outcome = Mutex::new(Outcome::default());
        let work = || {
            loop {
                let (part, number) = {
                    let mut queue = lock(&queue);
                    queue.1 += 1;
                    let number = queue.1;
                    match queue.0.pop_front() {
                        Some(part) => (part, number),
                        None => return,
                    }
                };
                let image = images
                    .iter()
                    .find(|(version, _)| *version == part.kernel.version)
                    .map(|(_, image)| image.as_path());
                let folder = runs.join(format!("{number}"));
                match self.boot(&part, image.unwrap_or(Path::new("")), &folder, &outcome) {
                    Ok(Some(rest)) => lock(&queue).0.push_front(rest),
                    Ok(None) => {}
                    Err(why) => lock(&outcome).failed.push(why),
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..GUESTS {
                scope.spawn(work);
            }
        });
        Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Boots a guest for a part, and counts what it says. What is left to do
    /// after it was lost comes back.
    fn boot(
        &self,
        part: &Part,
        image: &Path,
        folder: &Path,
        outcome: &Mutex<Outcome>,
    ) -> Result<Option<Part>, String> {
        fs::create_dir_all(folder).map_err(|e| format!("making {}: {e}", folder.display()))?;
        let disks = self.disks_of(&part.scenarios)?;
        let helpers = part.scenarios.iter().map(|scenario| scenario.helpers);
        let guest = Guest {
            kernel: &part.kernel.image,
            image,
            disks: &disks,
            helpers: helpers.max().unwrap_or(0),
            folder,
        };
        let names: Vec<&str> = part.scenarios.iter().map(|s| s.name.as_str()).collect();
        let (major, minor) = part.kernel.series;
        let mut current: Option<String> = None;
        let mut done: Vec<String> = Vec::new();
        let (mut passed, mut failed, mut heard) = (0, 0, 0);
        let end = guest.run(&json!({ "run": names }), |said| {
            let with_place = |check: &str| {
                let scenario = current.as_deref().unwrap_or("its boot");
                format!("lab {major}.{minor} {scenario}: {check}")
            };
            match said {
                Said::Begins(scenario) => {
                    (passed, failed, heard) = (0, 0, 0);
                    current = Some(scenario);
                }
                Said::Note(note) => println!("{}", with_place(&note)),
                Said::Passed(_) => {
                    passed += 1;
                    heard += 1;
                    lock(outcome).passed += 1;
                }
                Said::Failed { check, why } => {
                    failed += 1;
                    heard += 1;
                    let text = format!("{}: {why}", with_place(&check));
                    println!("FAILED {text}");
                    lock(outcome).failed.push(text);
                }
                Said::Skipped { check, why } => {
                    heard += 1;
                    let test = with_place(&check);
                    println!("skipped {test}: {why}");
                    lock(outcome).skipped.push(Skipped { test, reason: why });
                }
                Said::Ends {
                    scenario,
                    seconds,
                    checks,
                } => {
                    if checks != heard {
                        let text = format!(
                            "lab {major}.{minor} {scenario}: {heard} of {checks} checks were heard"
                        );
                        lock(outcome).failed.push(text);
                    }
                    println!(
                        "lab {major}.{minor} {scenario}: {passed} passed, {failed} failed \
                         in {seconds:.0} s"
                    );
                    current = None;
                    done.push(scenario);
                }
            }
        })?;
        let End::Lost(why) = end else { return Ok(None) };
        let lost = current.clone().unwrap_or_else(|| "its boot".to_owned());
        let text = format!("lab {major}.{minor} {lost}: the guest is lost: {why}");
        println!("FAILED {text}");
        lock(outcome).failed.push(text);
        let mut rest = part.clone();
        rest.losses += 1;
        rest.scenarios
            .retain(|s| !done.contains(&s.name) && s.name != lost);
        if rest.losses >= LOSSES_MAX || current.is_none() {
            let mut outcome = lock(outcome);
            for scenario in &rest.scenarios {
                let name = &scenario.name;
                let text = format!("lab {major}.{minor} {name}: not done, guests are lost");
                outcome.failed.push(text);
            }
            rest.scenarios.clear();
        }
        Ok((!rest.scenarios.is_empty()).then_some(rest))
    }

    fn disks_of(&self, scenarios: &[Scenario]) -> Result<Vec<&Disk>, String> {
        let mut disks: Vec<&Disk> = Vec::new();
        for scenario in scenarios {
            for name in &scenario.disks {
                let disk = self.catalogue.disks.iter().find(|disk| disk.name == *name);
                let disk = disk.ok_or_else(|| format!("the lab has no disk '{name}'"))?;
                if !disks.contains(&disk) {
                    disks.push(disk);
                }
            }
        }
        Ok(disks)
    }

    /// A guest with the disks of the named scenarios, and a shell in it.
    fn shell(&self, names: &[String]) -> Result<(), String> {
        let kernel = self.kernels.first().ok_or("there is no kernel")?;
        let base = image::base(&self.folder, kernel, &self.catalogue)?;
        let image = self.folder.join("boot-shell.cpio");
        image::whole(&base, &self.programs, &image)?;
        let scenarios: Vec<Scenario> = self
            .catalogue
            .scenarios
            .iter()
            .filter(|scenario| names.contains(&scenario.name))
            .cloned()
            .collect();
        let guest = Guest {
            kernel: &kernel.image,
            image: &image,
            disks: &self.disks_of(&scenarios)?,
            helpers: 0,
            folder: &self.folder.join("shell"),
        };
        guest.shell()
    }
}

/// Days since 1970; a clock that is before that is as good as any.
fn today() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs() / (24 * 60 * 60)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
