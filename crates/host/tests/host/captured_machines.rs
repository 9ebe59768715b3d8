//! What kind of machine a captured tree is of.

use crate::tree::Tree;
use diskfacts_host::machine;

#[test]
fn a_virtual_machine_is_described_by_what_its_kernel_tells() {
    let tree = Tree::unpack("vda-and-loop");
    let machine = machine(&tree.roots());
    assert_eq!(machine.host.as_deref(), Some("vm"));
    assert_eq!(
        machine.os.as_deref(),
        Some("Debian GNU/Linux 12 (bookworm)")
    );
    assert_eq!(machine.kernel.as_deref(), Some("Linux 6.18.44-fc-v669"));
    assert_eq!(machine.architecture, "x86_64");
    assert_eq!(machine.cpu_model.as_deref(), Some("AMD EPYC"));
    assert_eq!(machine.cpus, 2);
    assert_eq!(machine.virtualization.as_deref(), Some("KVM"));
    assert_eq!(machine.clock_source.as_deref(), Some("tsc"));
    assert!(machine.memory_bytes.is_some_and(|bytes| bytes % 1024 == 0));
    assert!(machine.root);
    // Not among what is captured.
    assert_eq!((machine.boot_id, machine.machine_id), (None, None));
}

#[test]
fn a_machine_is_told_from_others_without_its_machine_id() {
    let tree = Tree::unpack("vda-and-loop");
    let (boot, id) = (
        "61cb1a5c-3f2e-4f13-a9f7-1c9f1c8f5a10",
        "0123456789abcdef0123456789abcdef",
    );
    tree.put("proc/sys/kernel/random/boot_id", &format!("{boot}\n"));
    tree.put("etc/machine-id", &format!("{id}\n"));
    let machine = machine(&tree.roots());
    assert_eq!(machine.boot_id.as_deref(), Some(boot));
    let known = machine.machine_id.expect("an id");
    assert!(known.len() == 32 && known != id, "{known}");
}

#[test]
fn a_container_is_known_by_its_overlay_and_arm_by_its_numbers() {
    let tree = Tree::unpack("container");
    let machine = machine(&tree.roots());
    assert_eq!(
        machine.virtualization.as_deref(),
        Some("container (docker)")
    );
    assert_eq!(
        machine.cpu_model.as_deref(),
        Some("ARM implementer 0x41 part 0xd0c")
    );
    assert_eq!(machine.cpus, 3);
    assert!(!machine.root);
}

#[test]
fn the_names_of_the_firmware_count_only_under_a_hypervisor() {
    let tree = Tree::unpack("vda-and-loop");
    tree.put("sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_eq!(
        machine(&tree.roots()).virtualization.as_deref(),
        Some("KVM, QEMU")
    );
    tree.put(
        "proc/cpuinfo",
        "model name\t: Intel(R) Xeon(R)\nflags\t\t: fpu vme\n",
    );
    tree.put(
        "sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet acpi_pm\n",
    );
    assert_eq!(machine(&tree.roots()).virtualization, None);
}

#[test]
fn what_a_machine_does_not_show_is_absent_and_no_panic() {
    let tree = Tree::unpack("loop-circle");
    let machine = machine(&tree.roots());
    assert_eq!(machine.host, None);
    assert_eq!(machine.os, None);
    assert_eq!(machine.memory_bytes, None);
    assert_eq!(machine.architecture, std::env::consts::ARCH);
    assert!(machine.cpus >= 1);
    assert!(!machine.root);
}
