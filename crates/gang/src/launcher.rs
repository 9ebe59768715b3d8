//! Which launcher started this process, as its environment says.
//!
//! A launcher and an MPI library that do not fit give as many groups of one as there are
//! processes, without an error from either. So the number that the launcher gave is held against
//! the one that the library has.

/// A launcher that was seen in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// Whose it is.
    pub kind: LauncherKind,
    /// Its name, as people know it.
    pub name: &'static str,
    /// How many processes it started; `None` where it does not say.
    pub size: Option<usize>,
    /// What says so: `OMPI_COMM_WORLD_SIZE=8`.
    pub evidence: String,
}

/// Whose launcher it is: it starts programs of one library only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LauncherKind {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// MPICH's and Intel MPI's `mpiexec`.
    Hydra,
    /// One that takes several.
    Any,
}

/// Variables in the order in which they are believed: those of a launcher of processes before
/// those of the batch system around it.
const KNOWN: [(&str, &str, LauncherKind); 5] = [
    (
        "OMPI_COMM_WORLD_SIZE",
        "Open MPI's mpirun",
        LauncherKind::OpenMpi,
    ),
    (
        "MPI_LOCALNRANKS",
        "MPICH's mpiexec (Hydra)",
        LauncherKind::Hydra,
    ),
    (
        "PMI_SIZE",
        "a PMI launcher (Hydra, srun)",
        LauncherKind::Hydra,
    ),
    ("PMIX_RANK", "a PMIx launcher", LauncherKind::Any),
    ("PMI_RANK", "a PMI launcher", LauncherKind::Hydra),
];

/// Variables that say how many processes a launcher started.
const COUNTS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The launcher that started this process; `None` where nothing says that one did.
///
/// `variable` looks a variable of the environment up. A batch script of Slurm is not started by
/// `srun`, but its environment has `SLURM_NTASKS` too: what `srun` started has `SLURM_STEP_ID`
/// and `SLURM_PROCID`, and the number of tasks of its step.
pub fn launcher(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
    let value = |name: &'static str| Some((name, variable(name)?));
    let known = |(seen, name, kind): &(&'static str, _, _)| Some((*name, *kind, value(seen)?));
    let (name, kind, seen) = if let Some(known) = KNOWN.iter().find_map(known) {
        known
    } else {
        // A batch script is a step of this number itself (SLURM_BATCH_SCRIPT in slurm.h).
        let step = value("SLURM_STEP_ID").filter(|(_, step)| step != "4294967291")?;
        value("SLURM_PROCID")?;
        ("srun", LauncherKind::Any, step)
    };
    let counted = COUNTS.iter().find_map(|count| value(count));
    let size = counted
        .as_ref()
        .and_then(|(_, count)| count.trim().parse().ok());
    let (variable, value) = counted.filter(|_| size.is_some()).unwrap_or(seen);
    Some(Launcher {
        kind,
        name,
        size,
        evidence: format!("{variable}={value}"),
    })
}

/// That launcher and library disagree, so that each process is alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{launcher} started {started} processes ({evidence}), but in the MPI library each is one of \
     {size} ({library}): they do not fit; use the launcher of that library, or name the \
     launcher's own libmpi in DISKFACTS_MPI (with srun, see `srun --mpi=list`)"
)]
pub struct WrongLauncher {
    /// The launcher's name.
    pub launcher: &'static str,
    /// How many processes it started.
    pub started: usize,
    /// What says so.
    pub evidence: String,
    /// How many the library knows.
    pub size: usize,
    /// The library, in its own words.
    pub library: String,
}

/// Holds what the launcher says against what the library says.
///
/// # Errors
/// When the launcher started several processes and the library knows another number.
pub fn check_size(
    launcher: Option<&Launcher>,
    size: usize,
    library: &str,
) -> Result<(), WrongLauncher> {
    match launcher {
        Some(Launcher {
            name,
            size: Some(started),
            evidence,
            ..
        }) if *started > 1 && *started != size => Err(WrongLauncher {
            launcher: name,
            started: *started,
            evidence: evidence.clone(),
            size,
            library: library.lines().next().unwrap_or_default().to_owned(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(variables: &[(&str, &str)]) -> Option<Launcher> {
        launcher(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn size_of(variables: &[(&str, &str)]) -> (&'static str, Option<usize>) {
        let launcher = seen(variables).expect("a launcher");
        (launcher.name, launcher.size)
    }

    #[test]
    fn nobody_started_a_process_of_a_shell_or_of_a_batch_script() {
        assert_eq!(seen(&[("PATH", "/bin")]), None);
        // What sbatch gives its script, which is a step of its own with this number.
        assert_eq!(seen(&[("SLURM_NTASKS", "64"), ("SLURM_JOB_ID", "7")]), None);
        let script = [("SLURM_STEP_ID", "4294967291"), ("SLURM_PROCID", "0")];
        assert_eq!(seen(&script), None);
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let open_mpi = [("OMPI_COMM_WORLD_SIZE", "8"), ("PMIX_RANK", "0")];
        assert_eq!(size_of(&open_mpi), ("Open MPI's mpirun", Some(8)));
        let hydra = [
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "4"),
            ("MPI_LOCALNRANKS", "2"),
        ];
        assert_eq!(size_of(&hydra), ("MPICH's mpiexec (Hydra)", Some(4)));
        let srun = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "3"),
            ("SLURM_STEP_NUM_TASKS", "16"),
            ("SLURM_NTASKS", "64"),
        ];
        assert_eq!(size_of(&srun), ("srun", Some(16)));
        let pmix = [("PMIX_RANK", "3"), ("SLURM_STEP_NUM_TASKS", "16")];
        assert_eq!(size_of(&pmix), ("a PMIx launcher", Some(16)));
        assert_eq!(size_of(&[("PMIX_RANK", "3")]).1, None);
    }

    #[test]
    fn processes_that_are_each_alone_are_refused_naming_both() {
        let hydra = seen(&[("PMI_SIZE", "4")]);
        let error = check_size(hydra.as_ref(), 1, "Open MPI v4.1.4\nmore").expect_err("alone");
        let text = error.to_string();
        assert!(text.contains("(PMI_SIZE=4)"), "{text}");
        assert!(text.contains("one of 1 (Open MPI v4.1.4)"), "{text}");
        assert_eq!(check_size(hydra.as_ref(), 4, ""), Ok(()));
        assert_eq!(check_size(None, 1, ""), Ok(()));
        assert_eq!(
            check_size(seen(&[("PMIX_RANK", "0")]).as_ref(), 1, ""),
            Ok(())
        );
    }
}
