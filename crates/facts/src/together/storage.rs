//! What a target lies on, by a name that other hosts have for it, too.

use core::net::IpAddr;
use diskfacts_record::{BlockDevice, Stack};

/// A filesystem or device as a host knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) name: String,
    /// Whether what has another name is another: worldwide names and serial numbers. A server
    /// may be known by several names, and a device without a name of its own is only known to
    /// the kernel that found it. UUIDs of filesystems tell nothing here: images of machines are
    /// copied with them.
    pub(super) is_unique: bool,
}

/// Filesystems that lie on other machines, and whose source names them. That of virtiofs and 9p
/// is a tag that a hypervisor gives, that of `BeeGFS` and AFS one name on every host. ocfs2 and
/// gfs2 lie on devices, and their source is a path, which may be another device on each host.
const NETWORK: [&str; 8] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "lustre",
    "gpfs",
    "glusterfs",
];

impl Storage {
    /// What this stack lies on; `None` where nothing of it has a name for others.
    pub(super) fn of(stack: &Stack, boot_id: Option<&str>) -> Option<Self> {
        if let Some(filesystem) = &stack.filesystem {
            let kind = filesystem.kind.strip_prefix("fuse.");
            let kind = kind.unwrap_or(&filesystem.kind);
            if NETWORK.contains(&kind) && !is_on_this_host(&filesystem.source) {
                return Some(Self {
                    name: format!("{kind} {}", filesystem.source),
                    is_unique: false,
                });
            }
        }
        let leaves: Vec<&BlockDevice> = stack.leaves().collect();
        let named: Option<Vec<String>> = leaves.iter().map(|leaf| worldwide(leaf)).collect();
        if let Some(mut names) = named.filter(|names| !names.is_empty()) {
            names.sort_unstable();
            return Some(Self {
                name: names.join(" + "),
                is_unique: true,
            });
        }
        let boot_id = boot_id?;
        let numbers = leaves
            .iter()
            .map(|leaf| format!("{} ({}:{})", leaf.name, leaf.major, leaf.minor));
        let numbers: Vec<String> = numbers.collect();
        (!numbers.is_empty()).then(|| Self {
            name: format!("{} of boot {boot_id}", numbers.join(" + ")),
            is_unique: false,
        })
    }
}

/// Whether the server of a source is the host itself, as the near end of a tunnel is:
/// `127.0.0.1:/x`, `[::1]:/x`, `//localhost/share`, `0@lo:/x`.
fn is_on_this_host(source: &str) -> bool {
    let source = source.trim_start_matches(['/', '\\']);
    let server = match source.strip_prefix('[') {
        Some(address) => address.split(']').next(),
        None => source.split([':', '/', '\\', ',']).next(),
    };
    let server = server.unwrap_or_default().to_ascii_lowercase();
    // Lustre has the network behind the address.
    let address = server.split('@').next().unwrap_or_default();
    if let Ok(address) = address.parse::<IpAddr>() {
        let address = address.to_canonical();
        return address.is_loopback() || address.is_unspecified();
    }
    let names = [
        "localhost",
        "localhost.localdomain",
        "ip6-localhost",
        "0@lo",
    ];
    names.contains(&&*server) || server.ends_with(".localhost")
}

/// What a device is called everywhere. A serial number tells devices of one model apart; virtual
/// disks without a model have what somebody gave them, often the same on many machines.
fn worldwide(device: &BlockDevice) -> Option<String> {
    let known = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    known(&device.wwid).or_else(|| {
        let (model, serial) = (known(&device.model)?, known(&device.serial)?);
        Some(format!("{model} {serial}"))
    })
}
