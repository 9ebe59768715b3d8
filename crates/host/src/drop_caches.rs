//! Dropping the caches of the whole machine (kernel:
//! `Documentation/admin-guide/sysctl/vm.rst`, `drop_caches`).
//!
//! Everybody's pages go, not only those of what is measured; pages that are dirty
//! stay, so everything is written back first. What it does to others is the reason
//! why it is only done where it is asked for by name;
//! [`drop_cache`](crate::drop_cache) is for one file.

use crate::error::Error;
use crate::roots::Roots;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Which caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// The pages of files and devices.
    Pages,
    /// What the kernel keeps of names and attributes (dentries and inodes).
    Slab,
    /// Both.
    All,
}

impl Caches {
    /// By the word of a plan file.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "pages" => Some(Self::Pages),
            "slab" => Some(Self::Slab),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// What is written for it.
    fn number(self) -> &'static str {
        match self {
            Self::Pages => "1",
            Self::Slab => "2",
            Self::All => "3",
        }
    }

    /// Writes back all dirty pages of the machine, and drops these caches.
    ///
    /// # Errors
    /// Where that is not allowed.
    pub fn drop_all(self, roots: &Roots) -> Result<(), Error> {
        rustix::fs::sync();
        self.order(roots)
    }

    fn order(self, roots: &Roots) -> Result<(), Error> {
        let file = file(roots);
        fs::write(&file, self.number()).map_err(|source| refused(&file, source))
    }
}

fn file(roots: &Roots) -> PathBuf {
    roots.proc.join("sys/vm/drop_caches")
}

/// Whether this process may do it; nothing is dropped.
///
/// # Errors
/// Where it may not.
pub fn may_drop_caches(roots: &Roots) -> Result<(), Error> {
    let file = file(roots);
    let opened = OpenOptions::new().write(true).open(&file);
    opened.map(drop).map_err(|source| refused(&file, source))
}

fn refused(file: &Path, source: io::Error) -> Error {
    Error::System {
        doing: "dropping the machine's caches by",
        on: file.display().to_string(),
        hint:
            "only root on the host may, and not in a container; put sudo in front of the command, \
               or drop drop_caches: cache = \"cold\" empties the page cache of what is measured"
                .to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_its_number_in_the_file_of_the_kernel() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let roots = Roots::under(root.path());
        fs::create_dir_all(roots.proc.join("sys/vm")).expect("folders");
        let error = may_drop_caches(&roots).expect_err("there is no such file");
        assert!(error.to_string().contains("cache = \"cold\""), "{error}");
        fs::write(file(&roots), "").expect("a file");
        for (word, number) in [("pages", "1"), ("slab", "2"), ("all", "3")] {
            let caches = Caches::named(word).expect("a word of a plan file");
            // Without the sync before, which is of the whole machine too.
            caches.order(&roots).expect("it may be written");
            assert_eq!(fs::read_to_string(file(&roots)).expect("a file"), number);
        }
        assert_eq!(Caches::named("everything"), None);
        may_drop_caches(&roots).expect("it is there");
        // Only asked, not done.
        assert_eq!(fs::read_to_string(file(&roots)).expect("a file"), "3");
    }
}
