//! A loop device over a file without a name that diskfacts makes in a folder
//! (`--loop SIZE`): a block device that anyone who is root can try things on.
//! Nothing of it stays, not even after SIGKILL.

use super::{Beside, Measured, Medium, OpenFile, Wanted, own_file};
use crate::exit::{Failure, OrFail};
use anyhow::Context;
use diskfacts_host::{LoopDevice, Roots, Subject, stack_of};
use diskfacts_record::{Stack, TargetKind};
use std::fs::File;

/// Makes the file under the device; [`attach`] makes the device, when the file
/// has been filled.
pub(super) fn open(
    wanted: &Wanted<'_>,
    subject: &Subject,
    mount_point: Option<&str>,
) -> Result<Measured, Failure> {
    let folder = subject.path.display();
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::wrong_call(format!(
            "--loop needs root, because only root may make a loop device: type the same with \
             sudo; or measure the folder, which needs no rights: diskfacts measure {folder}"
        )));
    }
    if !std::path::Path::new("/dev/loop-control").exists() {
        return Err(Failure::wrong_call(format!(
            "--loop needs loop devices, and this kernel shows none (/dev/loop-control): load \
             them with `modprobe loop`; or measure the folder: diskfacts measure {folder}"
        )));
    }
    let mut measured = own_file::open(wanted, subject, mount_point)?;
    measured.target.kind = TargetKind::Loop;
    Ok(measured)
}

/// Makes a second file, for the stages that are done on a file of the folder.
pub(crate) fn beside(
    wanted: &Wanted<'_>,
    measured: &Measured,
    stack: &Stack,
) -> Result<Measured, Failure> {
    let subject = super::look(wanted.given)?;
    let wanted = Wanted {
        size: Some(measured.target.size_bytes),
        ..*wanted
    };
    let mount_point = stack.filesystem.as_ref().map(|f| f.mount_point.as_str());
    own_file::open(&wanted, &subject, mount_point)
}

/// Puts the device over the file that was made and filled, and answers what lies
/// under it; `beside` is a second file and its bytes. The file lives on as long as the device does.
pub(crate) fn attach(
    measured: &mut Measured,
    beside: Option<(OpenFile, u64)>,
    folder: Stack,
) -> Result<Stack, Failure> {
    let Medium::File(file) = &measured.medium else {
        return Ok(folder);
    };
    let (device, stack) = over(&file.file, &folder)?;
    measured.notes.push(match device.direct_refused {
        None => format!(
            "{} stands on a file without a name in {}, with direct I/O to it; both are gone when \
             diskfacts ends.",
            device.path.display(),
            measured.target.path
        ),
        Some(reason) => format!(
            "{} stands on a file without a name in {}, through the page cache: {reason}. Both are \
             gone when diskfacts ends.",
            device.path.display(),
            measured.target.path
        ),
    });
    let alignment = directio::direct_alignment(&device.file).ok();
    measured.target.direct = alignment.as_ref().map(super::direct_io);
    measured.target.path = device.path.display().to_string();
    measured.medium = Medium::File(OpenFile {
        file: device.file,
        path: device.path,
        alignment,
    });
    measured.beside = beside.map(|(file, size_bytes)| Beside {
        file,
        stack: folder,
        size_bytes,
    });
    Ok(stack)
}

/// A device over `file`, which lies in `folder`, and what lies under it. It is gone
/// when its open file is dropped.
pub(crate) fn over(file: &File, folder: &Stack) -> Result<(LoopDevice, Stack), Failure> {
    let device = LoopDevice::over(file)
        .context("--loop could not be done; nothing is left behind")
        .or_failed()?;
    let mut stack = stack_of(&Roots::default(), &device.path).or_failed()?;
    stand_on(&mut stack, folder);
    Ok((device, stack))
}

/// The kernel shows the file without a name as one that was deleted, so that its
/// disk cannot be found by it; it is that of the folder.
fn stand_on(stack: &mut Stack, folder: &Stack) {
    let below = |name: &String| folder.devices.iter().any(|d| d.below.contains(name));
    let tops: Vec<String> = folder
        .devices
        .iter()
        .map(|device| device.name.clone())
        .filter(|name| !below(name))
        .collect();
    if let Some(device) = stack.devices.first_mut()
        && device.below.is_empty()
    {
        device.below = tops;
        device.backing_file = None;
        let name = device.name.clone();
        stack.unseen.retain(|unseen| !unseen.what.contains(&name));
        stack.devices.extend(folder.devices.iter().cloned());
    }
}
