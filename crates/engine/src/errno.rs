//! What an error number of a read, a write or a sync says of the storage below.
//!
//! The block layer gives each way in which a device can fail a number of its own
//! (`blk_errors` in `block/blk-core.c`, Linux 6.12), and filesystems hand it on. The system's
//! words for these numbers are those of networks and streams: "No data available" is a
//! sector that cannot be read.

/// The name of an error number and what it means; the system's own words where there is
/// nothing to add.
pub fn said(errno: i32) -> String {
    let words = std::io::Error::from_raw_os_error(errno).to_string();
    match meaning(errno) {
        Some((name, meaning)) => format!("{name}, {meaning}"),
        None => words,
    }
}

#[cfg(target_os = "linux")]
fn meaning(errno: i32) -> Option<(&'static str, &'static str)> {
    Some(match errno {
        libc::EIO => (
            "EIO",
            "Input/output error: the device or something under it failed, and did not say how",
        ),
        libc::ENODATA => (
            "ENODATA",
            "medium error: the device cannot read or write these sectors",
        ),
        libc::EREMOTEIO => (
            "EREMOTEIO",
            "target error: the device failed the command, or does not know it",
        ),
        libc::EILSEQ => (
            "EILSEQ",
            "protection error: the data and their integrity information do not agree",
        ),
        libc::ENOLINK => (
            "ENOLINK",
            "transport error: the link to the device failed (a cable, a path, a fabric)",
        ),
        libc::EBADE => (
            "EBADE",
            "reservation conflict: another host has the device reserved",
        ),
        libc::ETIMEDOUT => (
            "ETIMEDOUT",
            "timeout: the device did not answer within the kernel's time",
        ),
        libc::ENOSPC => ("ENOSPC", "No space left on device"),
        libc::EDQUOT => ("EDQUOT", "Disk quota exceeded"),
        libc::EOPNOTSUPP => (
            "EOPNOTSUPP",
            "Operation not supported by the device or the filesystem",
        ),
        libc::ENOMEM => (
            "ENOMEM",
            "Cannot allocate memory: the kernel had none for it",
        ),
        libc::EBUSY => ("EBUSY", "the device had no resources for it"),
        libc::EAGAIN => (
            "EAGAIN",
            "it would have had to wait, and did so at every further attempt",
        ),
        libc::ENODEV => (
            "ENODEV",
            "the device is offline: unplugged, detached or switched off",
        ),
        libc::ENXIO => (
            "ENXIO",
            "No such device or address: the device is gone, or ends before this place",
        ),
        libc::ETOOMANYREFS => ("ETOOMANYREFS", "more zones were opened than the device can"),
        libc::EOVERFLOW => (
            "EOVERFLOW",
            "more zones were active than the device can have",
        ),
        libc::ETIME => (
            "ETIME",
            "the device gave up because it was given no more time (command duration limit)",
        ),
        libc::EREMCHG => (
            "EREMCHG",
            "device-mapper asked for another attempt, and none was made",
        ),
        libc::EINVAL => (
            "EINVAL",
            "Invalid argument: for direct I/O, an offset, a length or an address that is not aligned",
        ),
        libc::EROFS => (
            "EROFS",
            "Read-only file system: it may have made itself so after an error",
        ),
        // The filesystems' own names for them are EFSBADCRC and EFSCORRUPTED.
        libc::EBADMSG => ("EBADMSG", "the filesystem found a wrong checksum"),
        libc::EUCLEAN => (
            "EUCLEAN",
            "the filesystem is damaged and needs a check (fsck)",
        ),
        _ => return None,
    })
}

#[cfg(not(target_os = "linux"))]
fn meaning(_: i32) -> Option<(&'static str, &'static str)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_block_layer_are_told_by_what_they_mean_there() {
        for (errno, said_so) in [
            (libc::ENODATA, "ENODATA, medium error"),
            (libc::EREMOTEIO, "EREMOTEIO, target error"),
            (libc::EILSEQ, "EILSEQ, protection error"),
            (libc::ENOLINK, "ENOLINK, transport error"),
            (libc::EBADE, "EBADE, reservation conflict"),
            (libc::ETIMEDOUT, "ETIMEDOUT, timeout"),
            (libc::ENODEV, "ENODEV, the device is offline"),
            (libc::EIO, "EIO, Input/output error"),
        ] {
            assert!(said(errno).starts_with(said_so), "{}", said(errno));
        }
        // Nothing to add.
        assert_eq!(said(libc::EBADF), "Bad file descriptor (os error 9)");
    }
}
