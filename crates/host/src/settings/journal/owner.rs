//! The process that a journal is of.

use crate::look;
use crate::parse::process_stat::parse_process_start;
use crate::roots::Roots;
use crate::settings::error::SettingsError;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The process that changes settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Of this boot.
    pub boot_id: String,
    /// Number of the process.
    pub process: u32,
    /// When it was started, clock ticks since boot.
    pub start_ticks: u64,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// When /proc does not show it.
    pub fn this(roots: &Roots) -> Result<Self, SettingsError> {
        let failed = |path: &Path, source| {
            SettingsError::from(crate::Error::on_path("reading", path, source))
        };
        let path = roots.proc.join("self/stat");
        let stat = fs::read(&path).map_err(|source| failed(&path, source))?;
        let start_ticks = parse_process_start(&stat)
            .map_err(|source| SettingsError::from(crate::Error::Form { path, source }))?;
        Ok(Self {
            boot_id: boot_id(roots)?,
            process: std::process::id(),
            start_ticks,
        })
    }
}

/// The name of this boot (`random(4)`).
pub(super) fn boot_id(roots: &Roots) -> Result<String, SettingsError> {
    let path = roots.proc.join("sys/kernel/random/boot_id");
    let failed = |source| SettingsError::from(crate::Error::on_path("reading", &path, source));
    let mut file = look::open(&path).map_err(failed)?;
    // A container may have a name of its own there, which is not that of the settings.
    look::is_procfs(roots, &file).map_err(failed)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(text.trim().to_owned())
}
