//! `measure --out FOLDER`: the run as a file, for whoever brings the runs of many hosts together.
//!
//! The file is made of what is stored, so it has what [`runs export`](crate::commands::runs) would
//! write, byte for byte. It appears by a rename, so whoever collects `*.dfrun` sees whole runs alone.

use crate::exit::{Failure, OrFail};
use crate::output_file;
use crate::session::Ended;
use diskfacts_record::Run;
use diskfacts_store::{Store, dfrun};
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A folder in which a file can be made. Folders that were made for it are gone again where none
/// was.
pub(crate) struct Outbox {
    folder: PathBuf,
    /// Those that were not there, the innermost first.
    made: Vec<PathBuf>,
}

impl Outbox {
    /// The folder, made if it is not there.
    ///
    /// # Errors
    /// Where it cannot be made, or no file in it; before anything is measured for nothing.
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display();
        let missing = folder.ancestors().take_while(|path| !path.exists());
        let outbox = Self {
            folder: folder.to_owned(),
            made: missing.map(Path::to_owned).collect(),
        };
        fs::create_dir_all(folder).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                    "; it, or what it should lie in, is no folder"
                }
                ErrorKind::PermissionDenied => "; this user may not make a folder there",
                _ => "",
            };
            refused(&shown, &format!("it cannot be made: {error}{hint}"))
        })?;
        // What may be written is what could be: rights alone say nothing of a full or read-only
        // filesystem.
        tempfile::tempfile_in(folder)
            .and_then(|mut file| file.write_all(&[0]))
            .map_err(|error| {
                let error = io::Error::from(error.kind());
                refused(&shown, &format!("no file can be made in it: {error}"))
            })?;
        Ok(outbox)
    }

    /// Writes a run that has ended; where to.
    ///
    /// # Errors
    /// Where the run is not stored as a whole, or the file cannot be written.
    pub(crate) fn put(&self, ended: &Ended) -> Result<PathBuf, Failure> {
        let path = self.folder.join(file_name(&ended.run));
        let shown = path.display().to_string();
        if ended.not_stored.is_some() {
            return Err(Failure::failed(format!(
                "{shown} was not written, because not all of the run is stored"
            )));
        }
        let kept = Store::open_existing(&ended.store)
            .and_then(|store| store.kept(&ended.run.run.id))
            .or_failed()?;
        output_file::write(&path, false, |file| {
            let mut out = BufWriter::new(file);
            let written = dfrun::write(&mut out, &kept, (1, 1));
            written
                .and_then(|_| out.flush().map_err(dfrun::Error::Io))
                .map_err(|error| Failure::failed(format!("writing {shown} failed: {error}")))
        })?;
        Ok(path)
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        for folder in &self.made {
            // Refused where something is in it, which is what decides.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

fn refused(shown: &dyn std::fmt::Display, why: &str) -> Failure {
    Failure::wrong_call(format!(
        "--out {shown}: {why}. Nothing was measured; name a folder in which this user may write"
    ))
}

/// `HOST-ID.dfrun`. A name of a host may have any bytes in it.
fn file_name(run: &Run) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let host = run.machine.host.as_deref().unwrap_or("unknown-host");
    let host: String = host
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    format!("{}-{}.dfrun", host.trim_start_matches('.'), run.run.id)
}
