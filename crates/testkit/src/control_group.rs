//! Control groups that are not of storage: processors, memory, the freezer.

use crate::Missing;
use std::fs;
use std::path::{Path, PathBuf};

/// A control group of version 1, gone with this value.
#[derive(Debug)]
pub struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Under this controller, with these settings.
    ///
    /// # Errors
    /// What is missing: root, the controller in version 1, or one of its files.
    pub fn new(controller: &str, name: &str, settings: &[(&str, &str)]) -> Result<Self, Missing> {
        let name = format!("diskfacts-test-{}-{name}", std::process::id());
        let path = Path::new("/sys/fs/cgroup").join(controller).join(name);
        let missing = |what: &Path, error| Missing::new(what.display(), error);
        fs::create_dir(&path).map_err(|error| missing(&path, error))?;
        let group = Self(path);
        for (file, value) in settings {
            let file = group.0.join(file);
            fs::write(&file, value).map_err(|error| missing(&file, error))?;
        }
        Ok(group)
    }

    /// Its folder in the cgroup filesystem.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A number of one of its files, or of the line of it that begins with this word.
    ///
    /// # Panics
    /// When there is none.
    pub fn number(&self, file: &str, word: &str) -> u64 {
        let text = fs::read_to_string(self.0.join(file)).expect(file);
        let line = text.lines().find_map(|line| line.strip_prefix(word));
        line.expect(word).trim().parse().expect("a number")
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{} is left: {error}", self.0.display());
        }
    }
}
