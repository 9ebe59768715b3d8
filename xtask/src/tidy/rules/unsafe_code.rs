//! Unsafe code is read by few; it stays where the system is called.

use super::text::lines_with;
use crate::tidy::{File, Violation};

/// Where it may stand: the crates that talk to the kernel, and the one file that calls MPI.
const ALLOWED: [&str; 5] = [
    "crates/direct/",
    "crates/engine/",
    "crates/host/",
    "crates/gang/src/mpi/raw.rs",
    "node/",
];

pub(super) fn find(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(source) = &file.source else { continue };
        if ALLOWED.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        violations.extend(lines_with(&source.code, "unsafe").map(|line| {
            Violation {
                rule: "unsafe-elsewhere",
                path: file.path.clone(),
                line,
                what: "unsafe: move the call into direct, engine or host, behind a safe function"
                    .to_owned(),
                weight: 1,
            }
        }));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn unsafe_code_is_found_where_it_does_not_belong() {
        let text = "#![deny(unsafe_code)]\n// unsafe\nunsafe { call() }\n";
        let path = "crates/store/src/lib.rs";
        assert_eq!(found(find, &[(path, text)]), [(path.to_owned(), 3)]);
        let path = "crates/gang/src/mpi.rs";
        assert_eq!(found(find, &[(path, text)]), [(path.to_owned(), 3)]);
        for path in ["crates/direct/src/lib.rs", "crates/gang/src/mpi/raw.rs"] {
            assert_eq!(found(find, &[(path, text)]), []);
        }
    }
}
