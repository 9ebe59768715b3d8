//! MPI, loaded when it is asked for: a program without it is the same program.
//!
//! Of MPI some twelve functions are used: those that send, receive and say who is who. Which
//! numbers stand behind the standard's names differs between libraries; they are taken from one of
//! three tables, by what the library says of itself before anything else is asked of it, and tried
//! with a frame to this rank itself.

mod abi;
mod endpoint;
mod raw;

use crate::launcher::{Launcher, WrongLauncher, check_size};
use crate::transport::{Transport, TransportError};
use endpoint::{Endpoint, Finalize};
use raw::{CallError, Handle, Library, Raw};
use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The variable of the environment that names the library, where the system does not find it.
pub const LIBRARY_VARIABLE: &str = "DISKFACTS_MPI";

/// Why there is no MPI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// No library could be loaded.
    #[error("no MPI library could be loaded: {}\n{}", .tried.join("; "), no_library())]
    NoLibrary {
        /// What each attempt came back with.
        tried: Vec<String>,
    },
    /// It is none of the three families.
    #[error(
        "{} says that it is {says:?}, which diskfacts does not know; it knows Open MPI 4 and 5, \
         MPICH and its relatives, and the ABI of the MPI standard", .library.display()
    )]
    UnknownLibrary {
        /// Where it is, or its name.
        library: PathBuf,
        /// What it says of itself, its first line.
        says: String,
    },
    /// A call failed.
    #[error("{call} of {} failed: {why}", .library.display())]
    Call {
        /// Where the library is, or its name.
        library: PathBuf,
        /// Which call.
        call: &'static str,
        /// In the library's words.
        why: String,
    },
    /// Each process is alone, because launcher and library do not fit.
    #[error(transparent)]
    WrongLauncher(#[from] WrongLauncher),
    /// Nothing started several processes.
    #[error(
        "no MPI launcher started this process; start it by one: \
         mpirun -n 8 --host c1,c2,... diskfacts ..."
    )]
    NotLaunched,
}

fn no_library() -> String {
    if cfg!(target_feature = "crt-static") {
        "This diskfacts is linked statically and cannot load libraries; use one that is not, as \
         `cargo install --path crates/cli` builds it."
            .to_owned()
    } else {
        format!(
            "Load the module of your cluster's MPI, install one (apt-get install openmpi-bin), or \
             name it: {LIBRARY_VARIABLE}=/path/to/libmpi.so"
        )
    }
}

/// MPI of this process, on the thread that started it.
pub struct Mpi {
    endpoint: Box<dyn Finalize>,
    library: PathBuf,
    says: String,
}

impl Mpi {
    /// Loads a library (`path`, or what the system finds for this launcher), initialises it and
    /// asks who this is. It can be done once in the life of a process.
    ///
    /// # Errors
    /// Where there is no library, or none that is known; where it and the launcher do not fit.
    pub fn start(path: Option<&Path>, launcher: Option<&Launcher>) -> Result<Self, MpiError> {
        let (library, name) = load(path, launcher)?;
        let failed = |error: CallError| MpiError::Call {
            library: name.clone(),
            call: error.call,
            why: error.why,
        };
        let says = library.says().map_err(failed)?;
        let Some(abi) = abi::family(&says, library.has_standard_abi()) else {
            let says = says.lines().next().unwrap_or_default().to_owned();
            return Err(MpiError::UnknownLibrary {
                library: name,
                says,
            });
        };
        let endpoint = match abi.handles {
            abi::Handles::Ints { .. } => endpoint::<c_int>(library, abi),
            abi::Handles::Symbols { .. } | abi::Handles::Pointers { .. } => {
                endpoint::<*mut c_void>(library, abi)
            }
        };
        let endpoint = endpoint.map_err(failed)?;
        let size = endpoint.size();
        check_size(launcher, size, &says)?;
        if launcher.is_none() && size == 1 {
            return Err(MpiError::NotLaunched);
        }
        Ok(Self {
            endpoint,
            library: name,
            says,
        })
    }

    /// What the library says that it is, its first line: `Open MPI v4.1.4, package: ...`.
    pub fn version(&self) -> &str {
        self.says.lines().next().unwrap_or_default()
    }

    /// Ends MPI. Where a rank was lost, `all_there` has to be false: MPI would wait for it, so it
    /// is left as it is, and the process has to end.
    ///
    /// # Errors
    /// When MPI cannot be ended.
    pub fn close(self, all_there: bool) -> Result<(), MpiError> {
        if !all_there {
            // Nothing of it is freed: transfers to a rank that is lost never end.
            std::mem::forget(self.endpoint);
            return Ok(());
        }
        self.endpoint.finalize().map_err(|error| MpiError::Call {
            library: self.library,
            call: error.call,
            why: error.why,
        })
    }
}

fn endpoint<H: Handle>(library: Library, abi: &abi::Abi) -> Result<Box<dyn Finalize>, CallError> {
    Ok(Box::new(Endpoint::new(Raw::<H>::init(library, abi)?)?))
}

fn load(path: Option<&Path>, launcher: Option<&Launcher>) -> Result<(Library, PathBuf), MpiError> {
    let names: Vec<PathBuf> = match path {
        Some(path) => vec![path.to_owned()],
        None => abi::names(launcher).iter().map(PathBuf::from).collect(),
    };
    let mut tried = Vec::new();
    for name in names {
        let Ok(c_name) = CString::new(name.as_os_str().as_bytes()) else {
            tried.push(format!("{}: a zero in the name", name.display()));
            continue;
        };
        match Library::open(&c_name) {
            Ok(library) => return Ok((library, name)),
            Err(why) => tried.push(why),
        }
    }
    Err(MpiError::NoLibrary { tried })
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.endpoint.rank()
    }

    fn size(&self) -> usize {
        self.endpoint.size()
    }

    fn send(&mut self, to: usize, frame: &[u8]) -> Result<(), TransportError> {
        self.endpoint.send(to, frame)
    }

    fn receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, TransportError> {
        self.endpoint.receive(from)
    }

    fn unsent(&mut self) -> Result<usize, TransportError> {
        self.endpoint.unsent()
    }
}
