//! A journal on the disk that this process has taken: written, named, removed.

use super::{Journal, SafeFolder};
use crate::settings::error::SettingsError;
use crate::settings::steps::Steps;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is behind the name of a journal while it is being written.
pub(in crate::settings) const NEW: &str = ".new";

/// A journal whose lock is held here.
#[derive(Debug)]
pub struct OpenJournal {
    file: File,
    path: PathBuf,
    /// In the folder.
    name: String,
    folder: SafeFolder,
}

impl OpenJournal {
    pub(super) fn of(file: File, folder: SafeFolder, name: String) -> Self {
        Self {
            file,
            path: folder.path().join(&name),
            name,
            folder,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that it has when it is whole.
    pub(in crate::settings) fn path_when_whole(&self) -> PathBuf {
        self.folder.path().join(self.whole())
    }

    fn whole(&self) -> String {
        self.name.strip_suffix(NEW).unwrap_or(&self.name).to_owned()
    }

    /// Its open file, whose lock a child may inherit.
    pub(in crate::settings) fn file(&self) -> &File {
        &self.file
    }

    /// The open folder that it is in.
    pub(in crate::settings) fn folder(&self) -> &File {
        self.folder.file()
    }

    /// Writes it, and gives it its name when all of it is on the medium.
    pub(in crate::settings) fn write(
        &mut self,
        journal: &Journal,
        steps: &mut Steps,
    ) -> Result<(), SettingsError> {
        steps.reach("writing the journal");
        let text = journal.encode();
        // In two parts, so that a test can end the process between them.
        let (first, second) = text.as_bytes().split_at(text.len() / 2);
        let write = |mut file: &File, bytes| file.write_all(bytes);
        let failed = |path: &Path, source| refused("writing the journal", path, source);
        write(&self.file, first).map_err(|source| failed(&self.path, source))?;
        steps.reach("writing the rest of the journal");
        write(&self.file, second).map_err(|source| failed(&self.path, source))?;
        steps.reach("syncing the journal");
        self.file
            .sync_all()
            .map_err(|source| refused("syncing the journal", &self.path, source))?;
        steps.reach("naming the journal");
        let whole = self.whole();
        self.folder
            .rename(&self.name, &whole)
            .map_err(|source| refused("naming the journal", &self.path, source))?;
        self.path = self.path_when_whole();
        self.name = whole;
        steps.reach("syncing the folder of the journal");
        self.folder.sync()
    }

    /// Removes it: everything in it is put back.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(in crate::settings) fn remove(self, steps: &mut Steps) -> Result<(), SettingsError> {
        steps.reach("removing the journal");
        let removed = self.folder.remove(&self.name);
        removed.map_err(|source| refused("removing the journal", &self.path, source))?;
        steps.reach("syncing the folder without the journal");
        self.folder.sync()
    }
}

pub(super) fn refused(doing: &'static str, path: &Path, source: io::Error) -> SettingsError {
    let hint = if source.kind() == io::ErrorKind::NotADirectory {
        "no setting is changed without its old value on the disk, and this is not a folder, or lies \
         in none: name one that survives a crash by DISKFACTS_STATE"
    } else {
        "no setting is changed without its old value on the disk: make room there, or name \
         another folder that survives a crash by DISKFACTS_STATE"
    };
    SettingsError::Journal {
        doing,
        path: path.to_owned(),
        source,
        hint,
    }
}
