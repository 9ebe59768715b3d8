//! Asking device mapper what the targets of a device say of themselves.
//!
//! The ioctl `DM_TABLE_STATUS` on `/dev/mapper/control`, for root. It changes nothing:
//! with `DM_NOFLUSH_FLAG` a thin pool does not even write its metadata for it, and a
//! device that is suspended answers, too. Of the table itself, which holds the keys of
//! `crypt`, nothing is asked.
//!
//! Source: kernel, `include/uapi/linux/dm-ioctl.h`.

#[cfg(target_os = "linux")]
use crate::parse::dm_status::parse_dm_status;

use super::mapper::Told;

/// What the targets of a device say.
///
/// # Errors
/// Why that is not known.
#[cfg(target_os = "linux")]
pub(super) fn told(major: u32, minor: u32) -> Result<Told, String> {
    use rustix::io::Errno;
    use std::fs::OpenOptions;

    const CONTROL: &str = "/dev/mapper/control";
    let control = OpenOptions::new()
        .read(true)
        .write(true)
        .open(CONTROL)
        .map_err(|error| {
            let hint = crate::error::hint(&error);
            format!("opening {CONTROL} failed: {error}; {hint}")
        })?;
    let mut request = linux::Request::of(major, minor);
    match request.ask(&control) {
        Ok(()) => {}
        Err(Errno::ACCESS | Errno::PERM) => {
            return Err("device mapper tells it to root only".to_owned());
        }
        Err(error) => return Err(format!("asking device mapper failed: {error}")),
    }
    let (head, buffer) = request.answer()?;
    let targets = parse_dm_status(buffer, head.target_count).map_err(|error| error.to_string())?;
    Ok(Told {
        targets,
        suspended: head.is_suspended(),
    })
}

/// There is no device mapper on this operating system.
#[cfg(not(target_os = "linux"))]
pub(super) fn told(_major: u32, _minor: u32) -> Result<Told, String> {
    Err("device mapper is a part of Linux".to_owned())
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::Errno;
    use rustix::ioctl::{Opcode, Updater, ioctl};
    use std::fs::File;

    /// `_IOWR(0xfd, 12, struct dm_ioctl)`; the structure has 312 bytes.
    const DM_TABLE_STATUS: Opcode = 0xC138_FD0C;
    const SUSPENDED: u32 = 1 << 1;
    const BUFFER_FULL: u32 = 1 << 8;
    const NO_FLUSH: u32 = 1 << 11;
    /// Room for what targets say: 48 bytes for each piece of a volume, which says nothing,
    /// and some hundred for what does.
    const ROOM: usize = 15 << 10;

    /// `struct dm_ioctl`.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub(super) struct Head {
        version: [u32; 3],
        data_size: u32,
        data_start: u32,
        pub(super) target_count: u32,
        open_count: i32,
        flags: u32,
        event_nr: u32,
        padding: u32,
        dev: u64,
        name: [u8; 128],
        uuid: [u8; 129],
        data: [u8; 7],
    }

    impl Head {
        pub(super) fn is_suspended(&self) -> bool {
            self.flags & SUSPENDED != 0
        }
    }

    #[repr(C)]
    struct Message {
        head: Head,
        data: [u8; ROOM],
    }

    pub(super) struct Request(Box<Message>);

    impl Request {
        pub(super) fn of(major: u32, minor: u32) -> Self {
            // As the kernel's `huge_encode_dev` packs it.
            let (major, minor) = (u64::from(major), u64::from(minor));
            let dev = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
            Self(Box::new(Message {
                head: Head {
                    // Any kernel of this interface (4) does.
                    version: [4, 0, 0],
                    data_size: size_of::<Message>() as u32,
                    data_start: size_of::<Head>() as u32,
                    target_count: 0,
                    open_count: 0,
                    flags: NO_FLUSH,
                    event_nr: 0,
                    padding: 0,
                    dev,
                    name: [0; 128],
                    uuid: [0; 129],
                    data: [0; 7],
                },
                data: [0; ROOM],
            }))
        }

        pub(super) fn ask(&mut self, control: &File) -> Result<(), Errno> {
            // SAFETY: the opcode is that of this head, which says truly how many bytes the
            // message has; the kernel writes within them and keeps no pointer.
            unsafe { ioctl(control, Updater::<DM_TABLE_STATUS, _>::new(&mut *self.0)) }
        }

        /// The head, and what stands behind it.
        pub(super) fn answer(&self) -> Result<(&Head, &[u8]), String> {
            let head = &self.0.head;
            if head.flags & BUFFER_FULL != 0 {
                return Err(format!(
                    "its targets say more than the {ROOM} bytes that there is room for"
                ));
            }
            // The kernel may begin later than it was told, for alignment.
            let start = (head.data_start as usize).checked_sub(size_of::<Head>());
            let end = (head.data_size as usize)
                .checked_sub(size_of::<Head>())
                .map(|end| end.min(ROOM));
            let data = start
                .zip(end)
                .and_then(|(start, end)| self.0.data.get(start..end))
                .ok_or("device mapper answered with a head that cannot be")?;
            Ok((head, data))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_head_is_laid_out_as_the_kernel_has_it() {
            assert_eq!(size_of::<Head>(), 312);
            assert_eq!(std::mem::offset_of!(Head, dev), 40);
            assert_eq!(std::mem::offset_of!(Head, uuid), 176);
            assert_eq!(Request::of(253, 0x1_02ff).0.head.dev, 0x1020_fdff);
        }
    }
}
