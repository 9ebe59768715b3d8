//! Profiles of simulated disks.

use diskfacts_disk::profile::read;

/// What is read is a disk that can be; what is refused says where and why. The
/// disk is not built: its tables may be as large as it is.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match read(text) {
        Ok((profile, filled)) => {
            let sector = profile.drive.logical_sector();
            assert!(sector > 0 && profile.physical_sector() >= sector);
            assert!(profile.capacity() >= sector);
            for key in filled {
                assert!(key.table.starts_with('[') && !key.value.is_empty());
            }
        }
        Err(error) => {
            let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.message.is_empty());
        }
    }
}
