//! The reports of `diskfacts iostat --style linux` and `--style json` beside those
//! of sysstat's iostat, when both read the same captured `/proc` and `/sys`: they
//! agree to the character.
//!
//! sysstat is made to read a captured tree by mounting it over `/proc` and `/sys` in
//! a mount namespace of its own. It makes its second report when it gets the
//! `SIGALRM` that it waits for; the test sends it after the second tree has taken
//! the place of the first.

use diskfacts_host::Roots;
use diskfacts_host::activity::{Reading, Wanted};
use diskfacts_report::iostat::{self, Dialect, Parts};
use diskfacts_testkit::{
    Missing, Program, Scratch, or_skip, require_root, require_tool, unpack_tree, write_in_tree,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};

/// The kernels whose counters were captured, each with a device that is the last
/// one of a report of disks, and of one of partitions too.
const KERNELS: [(&str, &str, &str); 4] = [
    ("linux-2.6.18", "md0", "md0"),
    ("linux-3.10", "sdk", "dm-0"),
    ("linux-4.19", "nvme1n1", "nvme1n1"),
    ("linux-6.18", "vda", "vda1"),
];

/// A report of sysstat, and what makes ours.
struct Case {
    options: &'static [&'static str],
    wanted: Wanted,
    unused: bool,
    parts: Parts,
}

fn cases() -> Vec<Case> {
    let parts = |dialect, basic, cpu| Parts {
        dialect,
        basic,
        cpu,
    };
    let (linux, json) = (Dialect::Linux, Dialect::Json);
    let (disks, everything) = (Wanted::Disks, Wanted::Everything);
    [
        (&["-x"][..], disks.clone(), false, parts(linux, false, true)),
        (&["-d"], disks.clone(), false, parts(linux, true, false)),
        (
            &["-x", "ALL"],
            disks.clone(),
            true,
            parts(linux, false, true),
        ),
        (
            &["-x", "-p", "ALL"],
            everything.clone(),
            true,
            parts(linux, false, true),
        ),
        (&["-p"], everything, false, parts(linux, true, true)),
        (
            &["-o", "JSON", "-x"],
            disks.clone(),
            false,
            parts(json, false, true),
        ),
        (&["-o", "JSON"], disks, false, parts(json, true, true)),
    ]
    .map(|(options, wanted, unused, parts)| Case {
        options,
        wanted,
        unused,
        parts,
    })
    .into()
}

fn tree(kernel: &str, which: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../host/tests/trees/iostat")
        .join(format!("{kernel}-{which}.tree"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Both reports as sysstat prints them, without its first line.
fn sysstat(kernel: &str, last: &str, case: &Case) -> Result<String, Missing> {
    let iostat = require_tool("iostat", "sysstat")?;
    let scratch = Scratch::new()?;
    let root = scratch.path();
    unpack_tree(&tree(kernel, "first"), root);
    let running = seeing(root, &iostat)?
        .args(case.options)
        .args(["3600", "2"])
        .env("LC_ALL", "C")
        .start();
    let id = running.id();
    running.wait_for_stdout(last);
    until_it_waits(id)?;
    unpack_tree(&tree(kernel, "second"), root);
    remove_what_is_gone(root, &tree(kernel, "second"));
    let pid = Pid::from_raw(id.cast_signed()).expect("its number");
    kill_process(pid, Signal::ALARM).expect("the signal is sent");
    let finished = running.finish();
    finished.expect_code(0);
    let all = &finished.stdout;
    let begin = match case.parts.dialect {
        Dialect::Json => "\"statistics\": [\n",
        _ => "CPU)\n\n",
    };
    let (_, reports) = all.split_once(begin).expect("its first lines");
    Ok(reports.to_owned())
}

/// A program that sees a captured tree in place of this machine's `/proc` and
/// `/sys`.
fn seeing(root: &Path, program: &Path) -> Result<Program, Missing> {
    let unshare = require_tool("unshare", "util-linux")?;
    let mount = "mount --bind \"$0/sys\" /sys || exit 77; \
                 for file in uptime stat diskstats; do \
                 mount --bind \"$0/proc/$file\" \"/proc/$file\" || exit 77; done; exec \"$@\"";
    Ok(Program::new(unshare)
        .args(["--mount", "--propagation", "private", "sh", "-c", mount])
        .arg(root)
        .arg(program))
}

/// Until a process waits for a signal, by what the kernel says of it.
pub(crate) fn until_it_waits(id: u32) -> Result<(), Missing> {
    for _ in 0..1_000_000 {
        let place = fs::read_to_string(format!("/proc/{id}/wchan")).unwrap_or_default();
        // pause(2) is ppoll(2) in the C library of some architectures.
        if place.contains("pause") || place.contains("poll") {
            return Ok(());
        }
        std::thread::yield_now();
    }
    Err(Missing::new(
        "where a process waits (/proc/PID/wchan)",
        "run the tests on a kernel with CONFIG_KALLSYMS",
    ))
}

/// Unpacking adds and writes over; a device that the second tree does not have is
/// pulled.
fn remove_what_is_gone(root: &Path, second: &str) {
    for entry in fs::read_dir(root.join("sys/block")).expect("the devices") {
        let entry = entry.expect("a device");
        let name = entry.file_name().to_string_lossy().into_owned();
        if !second.contains(&format!("> sys/block/{name}/stat")) {
            fs::remove_dir_all(entry.path()).expect("a device is pulled");
        }
    }
}

/// Both reports as we print them.
fn ours(kernel: &str, case: &Case) -> String {
    let reading = |which: &str| {
        let scratch = Scratch::new().expect("a temporary folder");
        unpack_tree(&tree(kernel, which), scratch.path());
        let reading =
            Reading::take(&Roots::under(scratch.path()), &case.wanted).expect("a reading");
        if case.unused {
            reading
        } else {
            reading.without_unused()
        }
    };
    let (first, second) = (reading("first"), reading("second"));
    [
        &iostat::report(case.parts, &first.since_start()),
        iostat::after(case.parts, true),
        &iostat::report(case.parts, &second.since(&first)),
        iostat::after(case.parts, false),
        iostat::closing(case.parts),
    ]
    .concat()
}

fn both_agree(kernel: &str, case: &Case, last: &str) -> Result<(), Missing> {
    let theirs = sysstat(kernel, last, case)?;
    let ours = ours(kernel, case);
    assert_eq!(ours, theirs, "{kernel}, iostat {}", case.options.join(" "));
    Ok(())
}

#[test]
fn captured_counters_give_the_digits_of_sysstat() {
    or_skip!(require_root());
    for (kernel, disk, partition) in KERNELS {
        for case in cases() {
            let last = match case.wanted {
                Wanted::Everything => partition,
                _ => disk,
            };
            or_skip!(both_agree(kernel, &case, last));
        }
    }
}

#[test]
fn a_named_disk_alone_is_that_of_sysstat() {
    or_skip!(require_root());
    let case = Case {
        options: &["-x", "sda"],
        wanted: Wanted::Named(vec!["sda".to_owned()]),
        unused: true,
        parts: Parts {
            dialect: Dialect::Linux,
            basic: false,
            cpu: true,
        },
    };
    or_skip!(both_agree("linux-3.10", &case, "sda"));
}

#[test]
fn a_device_that_goes_and_comes_is_said() {
    or_skip!(require_root());
    let scratch = or_skip!(Scratch::new());
    let root = scratch.path();
    let (first, second) = (tree("linux-4.19", "first"), tree("linux-4.19", "second"));
    unpack_tree(&first, root);
    let running = or_skip!(seeing(root, Path::new(env!("CARGO_BIN_EXE_diskfacts"))))
        .args(["iostat", "--style", "linux", "--interval", "20ms"])
        .start();
    running.wait_for_stdout("nvme1n1");
    running.while_stopped(|| remove_what_is_gone(root, &second));
    running.wait_for_stderr("nvme1n1 is gone");
    running.while_stopped(|| unpack_tree(&second, root));
    running.wait_for_stderr("nvme2n1 appeared: its row is of the time since then");
    // The same name, and counters that begin anew.
    let fallen = "3 0 24 1 0 0 0 0 0 1 1 0 0 0 0\n";
    running.while_stopped(|| {
        write_in_tree(root, "sys/block/nvme0n1/stat", fallen.as_bytes());
    });
    running.wait_for_stderr("nvme0n1 was removed, and it or another device came");
    running.interrupt();
    running.finish().expect_code(0);
}

#[test]
fn what_the_kernel_does_not_show_is_said_with_its_file() {
    or_skip!(require_root());
    let scratch = or_skip!(Scratch::new());
    let root = scratch.path();
    unpack_tree(&tree("linux-6.18", "first"), root);
    fs::remove_dir_all(root.join("sys/block")).expect("no devices");
    let program = Path::new(env!("CARGO_BIN_EXE_diskfacts"));
    let run = |option: &[&str]| {
        let seeing = seeing(root, program)?;
        Ok::<_, Missing>(seeing.arg("iostat").args(option).run())
    };
    or_skip!(run(&[]))
        .expect_code(1)
        .expect_stderr("listing /sys/block")
        .expect_stderr("with --partitions /proc/diskstats is read instead");
    or_skip!(run(&["-p"])).expect_code(0).expect_stdout("vda1");
    write_in_tree(root, "proc/diskstats", b"8 0 sda 1 2 three\n");
    or_skip!(run(&["-p"]))
        .expect_code(1)
        .expect_stderr("reading /proc/diskstats: diskstats, line 1")
        .expect_stderr("found `three`");
}

/// Where the trees lie, so that a missing one fails here by its name.
#[test]
fn each_captured_kernel_has_two_readings() {
    for (kernel, ..) in KERNELS {
        for which in ["first", "second"] {
            let scratch = Scratch::new().expect("a temporary folder");
            unpack_tree(&tree(kernel, which), scratch.path());
            let root: PathBuf = scratch.path().to_owned();
            for wanted in [Wanted::Disks, Wanted::Everything] {
                Reading::take(&Roots::under(&root), &wanted)
                    .unwrap_or_else(|error| panic!("{kernel}, {which}: {error}"));
            }
        }
    }
}
