//! A journal on the disk that this process has taken: written, named, removed.

use super::Journal;
use crate::settings::error::SettingsError;
use crate::settings::steps::Steps;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A journal whose lock is held here.
#[derive(Debug)]
pub struct OpenJournal {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) folder: PathBuf,
}

impl OpenJournal {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that it has when it is whole.
    pub(in crate::settings) fn name(&self) -> PathBuf {
        match self.path.extension() {
            Some(end) if end == "new" => self.path.with_extension(""),
            _ => self.path.clone(),
        }
    }

    /// Its open file, whose lock a child may inherit.
    pub(in crate::settings) fn file(&self) -> &File {
        &self.file
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
        let name = self.name();
        fs::rename(&self.path, &name)
            .map_err(|source| refused("naming the journal", &self.path, source))?;
        self.path = name;
        steps.reach("syncing the folder of the journal");
        sync_folder(&self.folder)
    }

    /// Removes it: everything in it is put back.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(in crate::settings) fn remove(self, steps: &mut Steps) -> Result<(), SettingsError> {
        steps.reach("removing the journal");
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(refused("removing the journal", &self.path, source));
            }
            _ => {}
        }
        steps.reach("syncing the folder without the journal");
        sync_folder(&self.folder)
    }
}

/// Makes the names in a folder durable.
pub(in crate::settings) fn sync_folder(folder: &Path) -> Result<(), SettingsError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| refused("syncing the folder", folder, source))
}

pub(super) fn refused(doing: &'static str, path: &Path, source: io::Error) -> SettingsError {
    SettingsError::Journal {
        doing,
        path: path.to_owned(),
        source,
        hint: "no setting is changed without its old value on the disk: make room there, or name \
               another folder that survives a crash by DISKFACTS_STATE",
    }
}
