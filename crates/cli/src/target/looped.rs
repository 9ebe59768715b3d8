//! A loop device over a file that diskfacts makes in a folder
//! (`--loop SIZE`): a block device that anyone who is root can try things on.
//! Nothing of it stays, not even after SIGKILL.

use super::{Beside, Measured, Medium, OpenFile, Wanted, own_file};
use crate::exit::{Failure, OrFail};
use anyhow::Context;
use diskfacts_host::{LoopDevice, Place, Roots, stack_of};
use diskfacts_record::{Stack, TargetKind};

/// Makes the file and the device over it, and a second file for the stages that are
/// done on one; answers what lies under the device, too. The device is gone when its
/// open file is dropped.
pub(super) fn open(
    wanted: &Wanted<'_>,
    place: &Place,
    folder: Stack,
) -> Result<(Measured, Stack), Failure> {
    let path = place.subject.path.display();
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::wrong_call(format!(
            "--loop needs root, because only root may make a loop device: type the same with \
             sudo; or measure the folder, which needs no rights: diskfacts measure {path}"
        )));
    }
    if !std::path::Path::new("/dev/loop-control").exists() {
        return Err(Failure::wrong_call(format!(
            "--loop needs loop devices, and this kernel shows none (/dev/loop-control): load \
             them with `modprobe loop`; or measure the folder: diskfacts measure {path}"
        )));
    }
    let mount_point = folder.filesystem.as_ref().map(|f| f.mount_point.as_str());
    let mut measured = own_file::open(wanted, place, mount_point)?;
    let size_bytes = measured.target.size_bytes;
    let beside = wanted.beside.then(|| {
        let wanted = Wanted {
            size: Some(size_bytes),
            ..*wanted
        };
        own_file::open(&wanted, place, mount_point)
    });
    let beside = beside.transpose()?;
    let Medium::File(under) = measured.medium else {
        return Ok((measured, folder));
    };
    let device = LoopDevice::over(&under.file)
        .context("--loop could not be done; nothing is left behind")
        .or_failed()?;
    let mut stack = stack_of(&Roots::default(), &device.path).or_failed()?;
    stand_on(&mut stack, &folder);
    let through = match device.direct_refused {
        None => "with direct I/O to it; both".to_owned(),
        Some(reason) => format!("through the page cache: {reason}. Both"),
    };
    measured.notes.push(format!(
        "{} stands on a file of our own in {path}, {through} are gone when diskfacts ends.",
        device.path.display()
    ));
    let alignment = directio::direct_alignment(&device.file).ok();
    measured.target.kind = TargetKind::Loop;
    measured.target.direct = alignment.as_ref().map(super::direct_io);
    measured.target.path = device.path.display().to_string();
    measured.medium = Medium::File(OpenFile {
        // The file's name, if it has one, lives as long as the device.
        name: under.name,
        ..OpenFile::new(device.file, alignment)
    });
    measured.under = Some(under.file);
    measured.beside = beside.and_then(|beside| match beside.medium {
        Medium::File(file) => Some(Beside {
            file,
            stack: folder,
            size_bytes: beside.target.size_bytes,
        }),
        Medium::Simulated(_) => None,
    });
    Ok((measured, stack))
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
