//! What differs between MPI libraries: the numbers behind the names of the standard.
//!
//! Three families. Open MPI (4 and 5; `mpi.h`: handles are addresses of its own data). MPICH's
//! common ABI (`libmpi.so.12`, since 2014 kept by MPICH, Intel MPI, MVAPICH and Cray; handles are
//! `int`). The ABI of the MPI standard 5.0 (`libmpi_abi.so`, chapter 20; handles are small numbers
//! in pointers).

use crate::launcher::{Launcher, LauncherKind};

/// One family of libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abi {
    pub(super) name: &'static str,
    /// How the library's own name for itself begins.
    pub(super) says: &'static [&'static str],
    pub(super) handles: Handles,
    pub(super) thread_funneled: i32,
    /// Where `MPI_Status` has the sender, in ints, and how large it is, in bytes.
    pub(super) status_source: usize,
    pub(super) status_bytes: usize,
}

/// What handles are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handles {
    /// The addresses of these symbols.
    Symbols {
        world: &'static str,
        byte: &'static str,
        errors_return: &'static str,
    },
    /// These numbers, in an `int`.
    Ints {
        world: i32,
        byte: i32,
        errors_return: i32,
    },
    /// These numbers, in a pointer.
    Pointers {
        world: usize,
        byte: usize,
        errors_return: usize,
    },
}

/// The largest status of all, in ints.
pub(super) const STATUS_INTS: usize = 8;

pub(super) const OPEN_MPI: Abi = Abi {
    name: "Open MPI",
    says: &["Open MPI v4.", "Open MPI v5."],
    handles: Handles::Symbols {
        world: "ompi_mpi_comm_world",
        byte: "ompi_mpi_byte",
        errors_return: "ompi_mpi_errors_return",
    },
    thread_funneled: 1,
    status_source: 0,
    status_bytes: 24,
};

pub(super) const MPICH: Abi = Abi {
    name: "MPICH",
    says: &[
        "MPICH Version",
        "Intel(R) MPI",
        "MVAPICH",
        "MPI VERSION    : CRAY MPICH",
    ],
    handles: Handles::Ints {
        world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
    },
    thread_funneled: 1,
    status_source: 2,
    status_bytes: 20,
};

pub(super) const STANDARD: Abi = Abi {
    name: "the MPI standard",
    // Any library may be behind it.
    says: &[""],
    handles: Handles::Pointers {
        world: 0x101,
        byte: 0x247,
        errors_return: 0x143,
    },
    thread_funneled: 1024,
    status_source: 0,
    status_bytes: 32,
};

/// Libraries of Open MPI, as the system finds them.
const OF_OPEN_MPI: [&str; 1] = ["libmpi.so.40"];

/// Libraries of MPICH and its relatives.
const OF_MPICH: [&str; 2] = ["libmpi.so.12", "libmpi_abi.so.1"];

/// Names of libraries in the order in which they are tried. A launcher is of one library: those
/// of its kind come first, where it says which. Whether what was found fits is seen by the number
/// of ranks.
pub(super) fn names(launcher: Option<&Launcher>) -> Vec<&'static str> {
    let of_mpich = launcher.is_some_and(|launcher| launcher.kind == LauncherKind::Hydra);
    let mut names: Vec<&str> = OF_OPEN_MPI.into_iter().chain(OF_MPICH).collect();
    if of_mpich {
        names.rotate_left(OF_OPEN_MPI.len());
    }
    // What a distribution or a module calls the library of its choice.
    names.push("libmpi.so");
    names
}

/// The family of a library, by what it says of itself before anything else is asked of it.
/// `standard` says whether it has the standard's ABI.
pub(super) fn family(says: &str, standard: bool) -> Option<&'static Abi> {
    if standard {
        return Some(&STANDARD);
    }
    [&OPEN_MPI, &MPICH]
        .into_iter()
        .find(|abi| abi.says.iter().any(|begin| says.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_what_it_says_of_itself() {
        let name = |says, standard| family(says, standard).map(|abi| abi.name);
        assert_eq!(
            name("Open MPI v4.1.4, package: Debian", false),
            Some("Open MPI")
        );
        assert_eq!(
            name("Open MPI v5.0.11, package: wheel", false),
            Some("Open MPI")
        );
        assert_eq!(
            name("MPICH Version:      5.0.2\nMPICH", false),
            Some("MPICH")
        );
        assert_eq!(name("Intel(R) MPI Library 2021.11", false), Some("MPICH"));
        assert_eq!(
            name("MPICH Version:      5.0.2", true),
            Some("the MPI standard")
        );
    }

    #[test]
    fn a_library_whose_numbers_are_not_known_has_no_family() {
        for says in ["", "Open MPI v6.0.0", "Open MPI v3.1.0", "Some MPI 1.0"] {
            assert_eq!(family(says, false), None, "{says}");
        }
    }

    #[test]
    fn the_libraries_of_the_launcher_come_first() {
        let launcher = |kind| Launcher {
            kind,
            name: "",
            size: None,
            evidence: String::new(),
        };
        assert_eq!(names(None)[0], "libmpi.so.40");
        assert_eq!(
            names(Some(&launcher(LauncherKind::OpenMpi)))[0],
            "libmpi.so.40"
        );
        let hydra = names(Some(&launcher(LauncherKind::Hydra)));
        assert_eq!(
            hydra,
            [
                "libmpi.so.12",
                "libmpi_abi.so.1",
                "libmpi.so.40",
                "libmpi.so"
            ]
        );
    }

    #[test]
    fn every_status_fits_where_it_is_kept() {
        for abi in [OPEN_MPI, MPICH, STANDARD] {
            assert!(abi.status_bytes <= STATUS_INTS * 4, "{}", abi.name);
            assert!(abi.status_source * 4 < abi.status_bytes, "{}", abi.name);
        }
    }
}
