//! The machine, as far as a figure may depend on it.

use crate::parse::cpuinfo::parse_cpuinfo;
use crate::parse::meminfo::parse_meminfo;
use crate::parse::os_release::parse_os_release;
use crate::parse::process_status::parse_process_status;
use crate::roots::Roots;
use crate::stack::read_mounts;
use diskfacts_record::Machine;
use std::fs;
use std::path::Path;

/// What this machine is. What cannot be read stays `None`.
pub fn machine(roots: &Roots) -> Machine {
    let status = fs::read(roots.proc.join("self/status"))
        .map(|bytes| parse_process_status(&bytes))
        .unwrap_or_default();
    let cpuinfo = fs::read(roots.proc.join("cpuinfo"))
        .map(|bytes| parse_cpuinfo(&bytes))
        .unwrap_or_default();
    Machine {
        host: text(&roots.proc.join("sys/kernel/hostname")),
        os: fs::read(roots.etc.join("os-release"))
            .ok()
            .and_then(|bytes| parse_os_release(&bytes)),
        kernel: kernel(roots),
        // Since Linux 6.1 the kernel says it itself; else it is what this
        // program was compiled for.
        architecture: text(&roots.proc.join("sys/kernel/arch"))
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpu_model: cpuinfo.model,
        cpus: status.cpus.unwrap_or_else(cpus_by_std),
        memory_bytes: fs::read(roots.proc.join("meminfo"))
            .ok()
            .and_then(|bytes| parse_meminfo(&bytes).ok())
            .map(|meminfo| meminfo.total_bytes),
        virtualization: virtualization(roots, cpuinfo.hypervisor),
        clock_source: text(&clocksource(roots).join("current_clocksource")),
        root: status.effective_user == Some(0),
        boot_id: text(&roots.proc.join("sys/kernel/random/boot_id")),
        machine_id: text(&roots.etc.join("machine-id"))
            .as_deref()
            .and_then(diskfacts_record::machine::id_of),
    }
}

/// Processors by the standard library, which counts a cgroup's quota too.
fn cpus_by_std() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// The content of a small file without the blanks around it.
fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn kernel(roots: &Roots) -> Option<String> {
    let name = text(&roots.proc.join("sys/kernel/ostype"))?;
    let release = text(&roots.proc.join("sys/kernel/osrelease"))?;
    Some(format!("{name} {release}"))
}

fn clocksource(roots: &Roots) -> std::path::PathBuf {
    roots.sys.join("devices/system/clocksource/clocksource0")
}

/// What the kernel shows of a hypervisor and a container, most telling first:
/// the name in `/sys/hypervisor` (Xen), the firmware's names (DMI), the clock
/// that only one hypervisor offers, the processor's flag, and the cgroup that
/// a container runtime made.
fn virtualization(roots: &Roots, hypervisor_flag: Option<bool>) -> Option<String> {
    let machine = text(&roots.sys.join("hypervisor/type"))
        .or_else(|| hypervisor_by_clock(roots).map(str::to_owned));
    let dmi = || {
        let dmi = roots.sys.join("class/dmi/id");
        let names: Vec<String> = ["sys_vendor", "product_name"]
            .iter()
            .filter_map(|file| text(&dmi.join(file)))
            .collect();
        (!names.is_empty()).then(|| names.join(" "))
    };
    // The firmware of real hardware has names too: they only tell something
    // once it is known that there is a hypervisor.
    let virtual_machine = if machine.is_some() || hypervisor_flag == Some(true) {
        let parts: Vec<String> = machine.into_iter().chain(dmi()).collect();
        Some(if parts.is_empty() {
            "a hypervisor that does not name itself".to_owned()
        } else {
            parts.join(", ")
        })
    } else {
        None
    };
    let parts: Vec<String> = virtual_machine
        .into_iter()
        .chain(container(roots))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn hypervisor_by_clock(roots: &Roots) -> Option<&'static str> {
    let clocks = text(&clocksource(roots).join("available_clocksource"))?;
    clocks.split_ascii_whitespace().find_map(|clock| {
        if clock == "kvm-clock" {
            Some("KVM")
        } else if clock.starts_with("hyperv") {
            Some("Hyper-V")
        } else if clock == "xen" {
            Some("Xen")
        } else {
            None
        }
    })
}

/// The container runtime, by what it leaves in the kernel's tables: its name in
/// this process's cgroup, or in the folders that the root overlay joins. Files
/// like `/.dockerenv` only say where the image came from.
fn container(roots: &Roots) -> Option<String> {
    const MARKS: [&str; 6] = [
        "kubepods",
        "docker",
        "libpod",
        "lxc",
        "containerd",
        "containers",
    ];
    let cgroup = text(&roots.proc.join("self/cgroup")).unwrap_or_default();
    let overlay = read_mounts(roots)
        .unwrap_or_default()
        .into_iter()
        .rfind(|mount| mount.mount_point == "/" && mount.kind == "overlay")
        .map(|mount| mount.super_options.join(","))
        .unwrap_or_default();
    let names = |text: &str, mark: &str| {
        text.split(|character: char| !character.is_ascii_alphanumeric())
            .any(|word| word == mark)
    };
    MARKS
        .iter()
        .find(|mark| names(&cgroup, mark) || names(&overlay, mark))
        .map(|mark| format!("container ({mark})"))
}
