//! What loop devices and swap areas stand on: files and block devices, by what
//! cannot be renamed.

use crate::absence::Absent;
use crate::error::{Error, hint};
use crate::parse::swaps::parse_swaps;
use crate::roots::Roots;
use crate::stack::device_of_source;
use crate::sysfs::DeviceDir;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One file, whatever its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileId {
    /// Number of its filesystem, as stat(2) has it, and of its inode there.
    Inode { filesystem: (u32, u32), inode: u64 },
    /// In the captured tree of another machine: all that is known there.
    Path(PathBuf),
}

/// What something stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StandsOn {
    /// The block device of this number.
    Device(u32, u32),
    /// A file.
    File(FileId),
}

impl StandsOn {
    /// What lies at a path.
    #[cfg(unix)]
    pub(super) fn of(metadata: &fs::Metadata) -> Option<Self> {
        use crate::stack::split_number;
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let kind = metadata.file_type();
        if kind.is_block_device() {
            let (major, minor) = split_number(metadata.rdev());
            return Some(Self::Device(major, minor));
        }
        kind.is_file().then(|| {
            Self::File(FileId::Inode {
                filesystem: split_number(metadata.dev()),
                inode: metadata.ino(),
            })
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &fs::Metadata) -> Option<Self> {
        None
    }
}

/// What could not be found out of something, and what to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unknown {
    /// Why, as the end of a sentence that names it.
    pub(super) why: String,
    pub(super) how_to_go_on: String,
}

/// A loop device to which something is attached.
pub(super) struct Loop {
    pub(super) device: DeviceDir,
    /// What it stands on, and where it begins there, bytes.
    pub(super) on: Result<(StandsOn, u64), Unknown>,
}

/// The loop devices among these.
pub(super) fn loops(roots: &Roots, devices: &[DeviceDir]) -> Result<Vec<Loop>, Error> {
    let attached: Vec<&DeviceDir> = devices
        .iter()
        .filter(|device| is_loop(&device.name) && attached(device))
        .collect();
    let on = if roots.live() {
        ask(roots, &attached)
    } else {
        let captured = attached.iter().map(|device| as_captured(roots, device));
        let captured: Vec<_> = captured.collect::<Result<_, _>>()?;
        captured.into_iter().map(Ok).collect()
    };
    let found = attached.into_iter().zip(on);
    Ok(found
        .filter_map(|(device, on)| {
            Some(Loop {
                device: device.clone(),
                on: on.transpose()?,
            })
        })
        .collect())
}

/// What a loop device stands on, and where it begins there; `None` when nothing is
/// attached after all.
type Asked = Result<Option<(StandsOn, u64)>, Unknown>;

/// Whether the kernel names a loop device so (`loop_add` in `drivers/block/loop.c`). The
/// attributes do not say it of a partition of one: while it comes and while it goes, they
/// are not all there.
fn is_loop(name: &str) -> bool {
    name.strip_prefix("loop")
        .is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Whether something may be attached: the folder of its attributes is there, or it
/// has a size (kernel: `loop_configure` in `drivers/block/loop.c`).
fn attached(device: &DeviceDir) -> bool {
    !matches!(device.path.join("loop").try_exists(), Ok(false))
        || !matches!(device.number("size"), Ok(0))
}

/// What the driver says of each of them.
#[cfg(target_os = "linux")]
fn ask(roots: &Roots, devices: &[&DeviceDir]) -> Vec<Asked> {
    use crate::loop_device::of_loop_devices;
    let node = |device: &&DeviceDir| (roots.node(&device.name), (device.major, device.minor));
    let nodes: Vec<_> = devices.iter().map(node).collect();
    let told = of_loop_devices(&nodes);
    let told = devices.iter().zip(told);
    told.map(|(device, told)| understood(roots, device, told))
        .collect()
}

#[cfg(target_os = "linux")]
fn understood(
    roots: &Roots,
    device: &DeviceDir,
    told: io::Result<crate::loop_device::Told>,
) -> Asked {
    use crate::answering::ANSWERS_WITHIN;
    use crate::loop_device::Told;
    let node = roots.node(&device.name);
    let unknown = |why: String, how_to_go_on: &str| {
        Err(Unknown {
            why,
            how_to_go_on: how_to_go_on.to_owned(),
        })
    };
    let (major, minor) = (device.major, device.minor);
    match told {
        Ok(Told::Nothing) => Ok(None),
        Ok(Told::Backing(backing)) => {
            let on = match backing.block_device {
                Some((major, minor)) => StandsOn::Device(major, minor),
                None => StandsOn::File(FileId::Inode {
                    filesystem: backing.filesystem,
                    inode: backing.inode,
                }),
            };
            Ok(Some((on, backing.offset_bytes)))
        }
        // It is being detached.
        Ok(Told::Another) | Err(_) if !attached(device) => Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => unknown(
            format!(
                "it did not say what it stands on within {} s",
                ANSWERS_WITHIN.as_secs()
            ),
            "what it stands on may hang, as the filesystem of a server that is gone does; the \
             kernel log (`dmesg`) may say what it waits for",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // It was removed meanwhile.
            if Absent::prove(roots, (major, minor)).is_ok() {
                return Ok(None);
            }
            unknown(
                format!("has no node at {}", node.display()),
                &format!("mknod {} b {major} {minor}", node.display()),
            )
        }
        Err(error) => unknown(format!("cannot be opened ({error})"), hint(&error)),
        Ok(Told::Another) => unknown(
            format!(
                "cannot be opened ({} is not the device {major}:{minor})",
                node.display()
            ),
            "see the kernel log (`dmesg`) for the cause",
        ),
        Ok(Told::Refused(errno)) => {
            let error = io::Error::from(errno);
            unknown(
                format!("does not answer what it stands on ({error})"),
                hint(&error),
            )
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn ask(_: &Roots, devices: &[&DeviceDir]) -> Vec<Asked> {
    let unknown = |_: &&DeviceDir| {
        Err(Unknown {
            why: "can be asked on Linux only".to_owned(),
            how_to_go_on: "run diskfacts on Linux".to_owned(),
        })
    };
    devices.iter().map(unknown).collect()
}

/// What sysfs says of it, where there is no driver to ask.
fn as_captured(roots: &Roots, device: &DeviceDir) -> Result<Option<(StandsOn, u64)>, Error> {
    let Some(path) = device.optional_text("loop/backing_file") else {
        return Ok(None);
    };
    let path = path.trim_end_matches(" (deleted)");
    let on = as_captured_at(roots, Path::new(path))?;
    Ok(Some((on, device.number("loop/offset").unwrap_or(0))))
}

/// What lies at a path of another machine.
fn as_captured_at(roots: &Roots, path: &Path) -> Result<StandsOn, Error> {
    Ok(match device_of_source(roots, &path.to_string_lossy())? {
        Some(device) => StandsOn::Device(device.major, device.minor),
        None => StandsOn::File(FileId::Path(path.to_owned())),
    })
}

/// Something that memory is swapped to.
pub(super) struct SwapArea {
    /// As the kernel names it.
    pub(super) path: PathBuf,
    /// Whether the kernel says that it is a block device.
    pub(super) is_device: bool,
    pub(super) on: Result<StandsOn, Unknown>,
}

/// All that memory is swapped to.
pub(super) fn swap_areas(roots: &Roots) -> Result<Vec<SwapArea>, Error> {
    let table = roots.proc.join("swaps");
    let bytes = match fs::read(&table) {
        Ok(bytes) => bytes,
        // A kernel without swap has no such file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::on_path("reading", &table, error)),
    };
    let swaps = parse_swaps(&bytes).map_err(|source| Error::Form {
        path: table,
        source,
    })?;
    swaps
        .into_iter()
        .map(|swap| {
            let is_device = swap.kind == "partition";
            let on = match lies_at(roots, &swap.path)? {
                // The node of a device may have been made again; another file at the
                // path of a removed one is another.
                Ok(on @ StandsOn::Device(..)) if is_device => Ok(on),
                Ok(StandsOn::File(_)) if swap.deleted => {
                    Err("was removed, and is swapped to all the same".to_owned())
                }
                Ok(on @ StandsOn::File(_)) if !is_device && !is_another(roots, &swap.path) => {
                    Ok(on)
                }
                Ok(_) => Err("its path leads to something else by now".to_owned()),
                Err(why) => Err(why),
            };
            Ok(SwapArea {
                on: on.map_err(|why| Unknown {
                    why,
                    how_to_go_on: "`swapon --show` lists what is swapped to; `swapoff --all` \
                                   ends it"
                        .to_owned(),
                }),
                path: swap.path,
                is_device,
            })
        })
        .collect()
}

/// Whether the file at this path is certainly not swapped to, because it has no mark of
/// that (`SWAPSPACE2` at the end of its first page, of 4 to 64 KiB): something was
/// mounted over it, or it has that path in another mount namespace.
#[cfg(unix)]
fn is_another(roots: &Roots, path: &Path) -> bool {
    use std::os::unix::fs::FileExt;
    // Who may not read it has its path only.
    let Some(file) = roots.live().then(|| fs::File::open(path).ok()).flatten() else {
        return false;
    };
    let marked = |page: u64| {
        let mut mark = [0; 10];
        let read = file.read_exact_at(&mut mark, page - 10);
        read.is_ok() && matches!(&mark, b"SWAPSPACE2" | b"SWAP-SPACE")
    };
    ![4096, 8192, 16384, 32768, 65536].into_iter().any(marked)
}

#[cfg(not(unix))]
fn is_another(_: &Roots, _: &Path) -> bool {
    false
}

fn lies_at(roots: &Roots, path: &Path) -> Result<Result<StandsOn, String>, Error> {
    if !roots.live() {
        return Ok(Ok(as_captured_at(roots, path)?));
    }
    Ok(match fs::metadata(path) {
        Ok(metadata) => StandsOn::of(&metadata)
            .ok_or_else(|| "is neither a file nor a block device by now".to_owned()),
        // In a container the node may be missing of what sysfs shows.
        Err(error) => match device_of_source(roots, &path.to_string_lossy())? {
            Some(device) => Ok(StandsOn::Device(device.major, device.minor)),
            None => Err(format!("cannot be looked at from here ({error})")),
        },
    })
}
