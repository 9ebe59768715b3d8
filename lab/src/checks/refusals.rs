//! Writes that must be refused: attempted in earnest, with a sum over all of
//! the device before and after.

use crate::guest::{Built, Guest, Trouble};
use crate::product::{self, OVERWRITE};
use crate::{sum, sysfs};
use std::time::Duration;

/// A write that must be refused.
pub(crate) struct Attempt {
    /// What is named as target and by `--destroy-data-on`.
    target: String,
    /// A word that the refusal must have, to be one for the right reason.
    because: Option<String>,
}

impl Attempt {
    /// On a device or a file.
    pub(crate) fn on(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            because: None,
        }
    }

    /// The same, refused with this in what is said, in any case of letters.
    pub(crate) fn because(mut self, word: &str) -> Self {
        self.because = Some(word.to_lowercase());
        self
    }
}

/// Attempts them all. Each is one check: it is refused before anything is
/// written, says so, and not one bit has changed since before the first.
pub(crate) fn refused(guest: &mut Guest, attempts: &[Attempt]) -> Built {
    let mut before = settled(guest, attempts)?;
    for (place, attempt) in attempts.iter().enumerate() {
        let target = &attempt.target;
        let name = sysfs::name_of(target).unwrap_or_else(|_| target.clone());
        let destroy = ["--destroy-data-on", target];
        let run = product::measure(guest, target, OVERWRITE, &destroy)?;
        let after = sum_of(target)?;
        let said = run.ended.stderr.to_lowercase();
        let says = |word: &str| said.contains(word);
        let summary = || run.ended.summary();
        let changed = before[place] != after;
        if changed {
            // The others lie on the same bytes, perhaps: each is judged alone.
            before = settled(guest, attempts)?;
        }
        let found = if changed {
            Err(format!("its bytes have changed; diskfacts {}", summary()))
        } else if !matches!(run.ended.code, Some(1 | 2)) {
            Err(format!("diskfacts {}", summary()))
        } else if let Some(word) = attempt.because.as_ref().filter(|w| !says(w)) {
            Err(format!("it does not say '{word}': {}", summary()))
        } else if !says("not written") && !says("nothing was written") {
            Err(format!("no word of refusal: {}", summary()))
        } else {
            Ok(())
        };
        guest.check(&format!("writing {name} is refused"), found);
    }
    Ok(())
}

/// What makes the filesystem of [`refused_with_data`]: all of it at once, nothing later.
const MAKE: &str = "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0";

/// A device that nobody uses gets a filesystem: writing is refused for its mark, and, when
/// it is mounted, for the mount.
pub(crate) fn refused_with_data(guest: &mut Guest, device: &str) -> Built {
    can_make(guest)?;
    guest.sh(&format!("{MAKE} {device}"))?;
    refused_and_mounted(guest, device, "")
}

/// The same of a device whose flushes fail: the filesystem is made elsewhere, and mounted
/// without its journal, which would be made durable.
pub(crate) fn refused_with_copied_data(guest: &mut Guest, device: &str) -> Built {
    can_make(guest)?;
    guest.sh(&format!(
        "truncate -s $(blockdev --getsize64 {device}) /tmp/image && {MAKE} /tmp/image && \
         dd if=/tmp/image of={device} bs=1M oflag=direct && rm /tmp/image"
    ))?;
    refused_and_mounted(guest, device, "-o ro,noload")
}

fn can_make(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.ext4", "e2fsprogs")])?;
    guest.modules(&["ext4"])
}

fn refused_and_mounted(guest: &mut Guest, device: &str, options: &str) -> Built {
    refused(guest, &[Attempt::on(device).because("ext4")])?;
    let folder = guest.mount(options, device)?;
    guest.sh("sync")?;
    refused(guest, &[Attempt::on(device).because(&folder)])
}

/// The sums once they stay: what was built just now may still write its own
/// records, as an array does some time after the last write.
fn settled(guest: &mut Guest, attempts: &[Attempt]) -> Built<Vec<u64>> {
    let sums = || -> Built<Vec<u64>> {
        attempts
            .iter()
            .map(|attempt| sum_of(&attempt.target))
            .collect()
    };
    // A pool writes what it knows once a second (kernel: `COMMIT_PERIOD` in
    // `drivers/md/dm-thin.c`).
    let pools = guest.try_sh("dmsetup ls --target thin-pool")?;
    let pause = if pools.ok() && pools.stdout.contains('(') {
        Duration::from_millis(1500)
    } else {
        Duration::ZERO
    };
    let mut before = sums()?;
    for _ in 0..20 {
        std::thread::sleep(pause);
        let now = sums()?;
        if now == before {
            return Ok(now);
        }
        before = now;
    }
    Err(Trouble::Failed(
        "what was built goes on writing by itself".to_owned(),
    ))
}

fn sum_of(target: &str) -> Built<u64> {
    Ok(sum::of(target).map_err(|error| format!("summing up {target}: {error}"))?)
}
