//! Where the kernel shows its trace events.

use super::error::{FORBIDDEN_TO_ROOT, TraceError, is_root};
use crate::parse::trace::format::{EventFormat, parse_event_format};
use crate::parse::trace::header_page::{PageLayout, parse_header_page};
use crate::roots::Roots;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longer than any file that is read at once.
const SMALL_FILE_BYTES: usize = 16 << 10;

/// A tracefs.
///
/// A mount of our own is nobody else's: it is in no mount table, and gone when this
/// and all that was made from it are dropped.
#[derive(Debug, Clone)]
pub struct Tracefs {
    root: PathBuf,
    /// Keeps a mount of our own.
    _mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// The one that is mounted in `/sys/kernel/tracing` or
    /// `/sys/kernel/debug/tracing`; else, on this machine, a mount of our own.
    ///
    /// # Errors
    /// When this user may not, or the kernel has none.
    pub fn open(roots: &Roots) -> Result<Self, TraceError> {
        let usual = roots.sys.join("kernel/tracing");
        let old = roots.sys.join("kernel/debug/tracing");
        let mut refused = None;
        for root in [&usual, &old] {
            match fs::metadata(root.join("events")) {
                Ok(_) => return Ok(Self::at(root)),
                // There it is, but closed to this user.
                Err(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                    refused.get_or_insert(TraceError::on("looking into", root, source));
                }
                Err(_) => {}
            }
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        if roots.live() {
            return Self::detached(MountAttrFlags::empty(), usual);
        }
        Err(TraceError::NoTracefs {
            tried: usual,
            source: io::ErrorKind::NotFound.into(),
            hint: "it can be mounted on a running machine only",
        })
    }

    /// A tracefs, or a captured one, in this folder.
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            _mount: None,
        }
    }

    /// A mount that is in no mount table.
    pub(super) fn detached(
        attributes: MountAttrFlags,
        looked_for: PathBuf,
    ) -> Result<Self, TraceError> {
        let harmless = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).and_then(|context| {
            fsconfig_create(&context)?;
            fsmount(
                &context,
                FsMountFlags::FSMOUNT_CLOEXEC,
                attributes | harmless,
            )
        });
        match mount {
            Ok(mount) => Ok(Self {
                root: PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())),
                _mount: Some(Arc::new(mount)),
            }),
            Err(errno) => Err(refused(errno, is_root(), looked_for)),
        }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of its instances; kernels before Linux 3.10 have none.
    pub fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// The form of an event, `block/block_rq_issue`.
    ///
    /// # Errors
    /// [`TraceError::NoEvent`], or when its file cannot be read.
    pub fn format(&self, event: &str) -> Result<EventFormat, TraceError> {
        let path = self.root.join("events").join(event).join("format");
        let bytes = fs::read(&path).map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                TraceError::NoEvent {
                    names: vec![event.to_owned()],
                }
            } else {
                TraceError::on("reading", &path, source)
            }
        })?;
        parse_event_format(&bytes).map_err(|source| TraceError::Form { path, source })
    }

    /// Whether the kernel has an event.
    pub fn has_event(&self, event: &str) -> bool {
        self.root.join("events").join(event).join("format").exists()
    }

    /// Nothing, when the kernel has all these events.
    ///
    /// # Errors
    /// [`TraceError::NoEvent`] with all that it lacks.
    pub fn need_events(&self, events: &[&str]) -> Result<(), TraceError> {
        let missing = events.iter().filter(|event| !self.has_event(event));
        let names: Vec<String> = missing.map(|event| (*event).to_owned()).collect();
        if names.is_empty() {
            Ok(())
        } else {
            Err(TraceError::NoEvent { names })
        }
    }

    /// How pages of the buffer in `folder`, an instance or the root, begin.
    pub(super) fn page_layout(folder: &Path) -> Result<PageLayout, TraceError> {
        let path = folder.join("events/header_page");
        let bytes =
            read_at_once(&path).map_err(|source| TraceError::on("reading", &path, source))?;
        parse_header_page(&bytes).map_err(|source| TraceError::Form { path, source })
    }
}

/// Reads a small file with one system call. The kernel writes `header_page` to the
/// first one only (`show_header`, `kernel/trace/trace_events.c`), and counts anew for
/// each reading of `stats`.
pub(super) fn read_at_once(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; SMALL_FILE_BYTES];
    let length = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Why mounting failed.
fn refused(errno: Errno, is_root: bool, tried: PathBuf) -> TraceError {
    let forbidden = matches!(errno, Errno::PERM | Errno::ACCESS);
    if forbidden && !is_root {
        return TraceError::NotRoot {
            doing: "mounting tracefs, which is not mounted in",
            on: tried.display().to_string(),
            source: errno.into(),
        };
    }
    TraceError::NoTracefs {
        tried,
        source: errno.into(),
        hint: match errno {
            _ if forbidden => FORBIDDEN_TO_ROOT,
            Errno::NODEV => {
                "this kernel was built without it (CONFIG_TRACING): there are no trace events"
            }
            Errno::NOSYS => {
                "kernels before Linux 5.2 need it mounted: \
                 `mount -t tracefs tracefs /sys/kernel/tracing` as root"
            }
            _ => "`mount -t tracefs tracefs /sys/kernel/tracing` as root may say more",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(errno: Errno, is_root: bool) -> String {
        refused(errno, is_root, PathBuf::from("/sys/kernel/tracing")).to_string()
    }

    #[test]
    fn what_a_refused_mount_means_is_said_with_what_to_do() {
        let not_root = said(Errno::PERM, false);
        assert!(
            not_root.contains("not mounted in /sys/kernel/tracing"),
            "{not_root}"
        );
        assert!(not_root.contains("need root"), "{not_root}");
        let container = said(Errno::PERM, true);
        assert!(
            container.contains("container without CAP_SYS_ADMIN"),
            "{container}"
        );
        assert!(!container.contains("sudo"), "{container}");
        assert!(said(Errno::NODEV, true).contains("CONFIG_TRACING"));
        assert!(said(Errno::NOSYS, true).contains("mount -t tracefs"));
    }

    #[test]
    fn a_tree_without_tracefs_is_not_mounted_over_with_this_machines() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Tracefs::open(&Roots::under(folder.path())).expect_err("none there");
        assert!(matches!(error, TraceError::NoTracefs { .. }), "{error}");
    }

    #[test]
    fn events_that_the_kernel_lacks_are_all_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let sys = folder
            .path()
            .join("sys/kernel/tracing/events/block/block_rq_issue");
        fs::create_dir_all(&sys).expect("a tree");
        fs::write(sys.join("format"), "name: block_rq_issue\nID: 7\n").expect("a format");
        let tracefs = Tracefs::open(&Roots::under(folder.path())).expect("the tree");
        assert_eq!(tracefs.format("block/block_rq_issue").expect("it").id, 7);
        let error = tracefs
            .need_events(&["block/block_io_start", "block/block_rq_issue", "x/y"])
            .expect_err("two are missing");
        let said = error.to_string();
        assert!(said.contains("event block/block_io_start, x/y;"), "{said}");
    }
}
