//! Whether a block device answers, asked before this process opens it.
//!
//! Who opens or reads a device that does not answer waits in the kernel, where no signal
//! reaches him, and a process with such a thread cannot end. So a process beside this
//! one asks, and is left behind where it gets no answer.

use crate::exit::{Exit, Failure, OrFail, say};
use crate::signals::Signals;
use crate::state;
use anyhow::Context;
use diskfacts_host::{ANSWERS_WITHIN, Place, Roots, not_answering};
use diskfacts_record::Stack;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Advice, OFlags};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The first word of the process that asks.
pub(crate) const PROBE: &str = "device-probe";

/// A disk that sleeps needs up to half of it to turn again.
const PATIENCE_FOR_SLEEPERS: Duration = Duration::from_secs(30);

/// Bytes that are read, at the beginning.
const BYTES: usize = 4096;

/// What the process beside does: it reads the beginning of the device, from the device
/// and not from memory. Whatever comes back is an answer, an error too. Its standard input
/// holds the device; the path in its arguments is for who looks at the processes.
pub(crate) fn ask() -> Exit {
    let opened = OpenOptions::new()
        .read(true)
        // A drive without a medium is not waited for.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open("/proc/self/fd/0");
    if let Ok(file) = opened {
        let length = std::num::NonZeroU64::new(BYTES as u64);
        // Advice is not always taken; then memory answers.
        let _ = rustix::fs::fadvise(&file, 0, None, Advice::Random);
        let _ = rustix::fs::fadvise(&file, 0, length, Advice::DontNeed);
        let _ = file.read_at(&mut [0; BYTES], 0);
    }
    Exit::Done
}

/// Why the device `place`, on top of `stack`, does not answer; `None` when it does.
pub(crate) fn silence(place: &Place, stack: &Stack) -> Result<Option<String>, Failure> {
    let shown = place.subject.path.display();
    if let Some(why) = not_answering(&Roots::default(), stack) {
        return Ok(Some(format!("{shown} waits for {why}")));
    }
    let mut asking = Asking::begin(place)?;
    let answered = asking.answers(&Signals::default(), Instant::now() + ANSWERS_WITHIN)?;
    Ok((!answered).then(|| {
        let seconds = ANSWERS_WITHIN.as_secs();
        let unsound = unsound(stack);
        format!("{shown} did not answer within {seconds} s{unsound}")
    }))
}

/// Fails where the device does not answer: before it is measured. A disk that sleeps is
/// given time to wake up.
pub(crate) fn must_answer(place: &Place, stack: &Stack, signals: &Signals) -> Result<(), Failure> {
    let shown = place.subject.path.display();
    if let Some(why) = not_answering(&Roots::default(), stack) {
        return Err(Failure::failed(format!(
            "{shown} cannot be measured: it waits for {why}"
        )));
    }
    let began = Instant::now();
    let mut asking = Asking::begin(place)?;
    let mut answered = asking.answers(signals, began + ANSWERS_WITHIN)?;
    if !answered {
        let (so_far, most) = (ANSWERS_WITHIN.as_secs(), PATIENCE_FOR_SLEEPERS.as_secs());
        say(&format!(
            "diskfacts: {shown} has not answered for {so_far} s{}; waiting up to {most} s, as a disk \
             that sleeps needs some of it; Ctrl-C ends it",
            unsound(stack)
        ));
        answered = asking.answers(signals, began + PATIENCE_FOR_SLEEPERS)?;
    }
    if answered {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "{shown} did not answer a read of its first block within {} s{}, so it is not measured; the \
         kernel log (`dmesg`) may say what it waits for",
        PATIENCE_FOR_SLEEPERS.as_secs(),
        unsound(stack)
    )))
}

/// What the kernel says is not sound below a device that does not answer, in brackets: a
/// multipath device whose paths have all failed keeps its reads until one comes back.
fn unsound(stack: &Stack) -> String {
    let said: Vec<String> = stack
        .devices
        .iter()
        .flat_map(|device| device.impaired.iter().map(move |found| (device, found)))
        .map(|(device, found)| format!("{}: {}", device.name, found.what))
        .collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({})", said.join("; "))
    }
}

/// The process beside, which asks.
struct Asking {
    child: std::process::Child,
}

impl Asking {
    fn begin(place: &Place) -> Result<Self, Failure> {
        let path = &place.subject.path;
        let held = place.file().try_clone().or_failed()?;
        let child = Command::new(state::EXECUTABLE)
            .arg0("diskfacts")
            .arg(PROBE)
            .arg(path)
            .current_dir("/")
            .stdin(held)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| {
                format!(
                    "starting a process that asks {} for an answer",
                    path.display()
                )
            })
            .or_failed()?;
        Ok(Self { child })
    }

    /// Whether it has ended until then: its end of the pipe is closed with it.
    fn answers(&mut self, signals: &Signals, until: Instant) -> Result<bool, Failure> {
        let Some(out) = &self.child.stdout else {
            return Ok(true);
        };
        let ended = [PollFd::new(out, PollFlags::IN)];
        signals.waker()?.wait_beside(&ended, until)?;
        signals.check()?;
        let (mut ended, now) = (ended, Timespec::default());
        let answered = poll(&mut ended, Some(&now)).or_failed()? > 0;
        if answered {
            // It has closed the device, and holds nothing that could keep it.
            self.child.wait().or_failed()?;
        }
        Ok(answered)
    }
}

impl Drop for Asking {
    /// What waits for the device ends when that answers, or is removed; it is not waited
    /// for.
    fn drop(&mut self) {
        // That fails only when it has ended.
        let _ = self.child.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::{BlockDevice, DeviceKind, Impairment, ImpairmentKind};

    #[test]
    fn a_device_that_does_not_answer_is_told_with_what_is_not_sound_below_it() {
        let mut mapped = BlockDevice::unknown("dm-0", 253, 0, DeviceKind::DeviceMapper);
        let disk = BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk);
        let stack = |mapped: &BlockDevice| Stack {
            devices: vec![mapped.clone(), disk.clone()],
            ..Stack::default()
        };
        assert_eq!(unsound(&stack(&mapped)), "");
        mapped.impaired = vec![Impairment {
            kind: ImpairmentKind::Failed,
            what: "2 of its 2 paths failed (8:0, 8:16)".to_owned(),
            source: "the status of its target".to_owned(),
        }];
        assert_eq!(
            unsound(&stack(&mapped)),
            " (dm-0: 2 of its 2 paths failed (8:0, 8:16))"
        );
    }
}
