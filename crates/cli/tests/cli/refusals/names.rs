//! Paths that lead to one file or device when they are opened, and to another when their
//! text is looked up again.

use super::doors::Door;
use super::guards::{ALONE, Attached, Elsewhere, zeros};
use super::{Attempts, sum};
use crate::support::{Case, MIB, diskfacts, hash, one_stage};
use diskfacts_testkit::{Finished, Missing, Program, or_skip, require_root, require_tool};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const DISKFACTS: &str = env!("CARGO_BIN_EXE_diskfacts");
const NO_PATH: &str = "has no path here";

/// A shell in the case's folder, with a file of random data, `$O`, that something precious
/// is a copy of. It writes a file with `dd`, makes one with `make`, and measures with
/// `read_it`; each says how diskfacts ended.
fn shell(case: &Case, commands: &str, unshared: bool) -> Result<Finished, Missing> {
    let shell = require_tool("sh", "dash")?;
    let precious = case.data_file("precious", MIB);
    let commands = format!(
        "dd() {{ \"$D\" --store \"$S\" dd if=/dev/zero count=8 of=\"$1\" --destroy-data-on \"$1\"; \
         echo \"ended $?\"; }}; read_it() {{ \"$D\" --store \"$S\" measure --plan \"$P\" \"$1\"; \
         echo \"ended $?\"; }}; make() {{ \"$D\" --store \"$S\" dd if=/dev/zero count=8 of=\"$1\"; \
         echo \"ended $?\"; }}; D=\"$0\"; S=\"$1\"; O=\"$2\"; P=\"$3\"; cd \"$4\"; {commands}"
    );
    let program = if unshared {
        require_root()?;
        let unshare = require_tool("unshare", "util-linux")?;
        let alone = format!("{ALONE}; {commands}");
        Program::new(unshare)
            .args(["--mount", "--propagation", "private"])
            .args([shell.as_os_str(), "-c".as_ref(), alone.as_ref()])
    } else {
        Program::new(shell).args(["-c", &commands])
    };
    let plan = one_stage("operation = \"read\"\noperations = 4\ncache = \"buffered\"");
    let plan = case.text_file("read.toml", &plan);
    Ok(program
        .arg(DISKFACTS)
        .args([&case.store(), &precious, &plan, &case.path("")])
        .run())
}

/// All were refused for want of a path, and the precious file is as it was.
#[track_caller]
fn all_refused(finished: &Finished, calls: usize) {
    finished.expect_code(0).expect_stdout("as it was");
    let ended = |line: &&str| line.starts_with("ended ");
    let ends: Vec<&str> = finished.stdout.lines().filter(ended).collect();
    assert_eq!(ends, vec!["ended 2"; calls], "{finished}");
    assert_eq!(
        finished.stderr.matches(NO_PATH).count(),
        calls,
        "{finished}"
    );
}

#[test]
fn a_file_of_another_mount_namespace_is_not_taken_for_that_of_its_path_here() {
    let case = Case::new();
    let folder = case.folder("mnt");
    let image = folder.join("image");
    crate::support::write_data(&image, 8 * MIB);
    let elsewhere = or_skip!(Elsewhere::new(
        "mount -t tmpfs none \"$1\"; head -c 8388608 /dev/zero > \"$1/image\"; echo $$",
        &[&folder]
    ));
    let theirs = PathBuf::from(format!("/proc/{}/root{}", elsewhere.said, image.display()));
    let mut attempts = Attempts::new(&case, "named elsewhere", [&image, &theirs]);
    for door in Door::OF_EACH_KIND {
        attempts.refused_call(&door.program(&case, &theirs), &[NO_PATH, "nsenter"]);
    }
    let reading = case.diskfacts(["measure"]).arg(&theirs);
    attempts.refused_call(&reading, &[NO_PATH]);
    let of = format!("of={}", theirs.with_file_name("new").display());
    let new = case.diskfacts(["dd", "if=/dev/zero", "count=1", &of]);
    attempts.refused_call(&new, &[NO_PATH]);
    attempts.end();
    // Where it has its name, it is written.
    let nsenter = or_skip!(require_tool("nsenter", "util-linux"));
    let before = (sum(&image), sum(&theirs));
    let of = format!("of={}", image.display());
    Program::new(nsenter)
        .args(["--target", &elsewhere.said, "--mount", DISKFACTS, "--store"])
        .arg(case.store())
        .args(["dd", "if=/dev/urandom", "count=8", &of, "--destroy-data-on"])
        .arg(&image)
        .run()
        .expect_code(0);
    assert_eq!(sum(&image), before.0);
    assert_ne!(sum(&theirs), before.1);
}

#[test]
fn a_device_node_of_another_mount_namespace_is_not_taken_for_that_of_its_path_here() {
    let case = Case::new();
    let [ours, theirs] = ["ours", "theirs"].map(|name| case.path(name));
    for image in [&ours, &theirs] {
        zeros(image, 16 * MIB);
    }
    let device = or_skip!(Attached::new(&ours, &[]));
    let other = or_skip!(Attached::new(&theirs, &[]));
    let commands = format!(
        "mount -t tmpfs none /dev; mknod /dev/{} b 7 {}; echo $$",
        device.name(),
        other.name().trim_start_matches("loop")
    );
    let elsewhere = or_skip!(Elsewhere::new(&commands, &[]));
    let node = format!("/proc/{}/root{}", elsewhere.said, device.path.display());
    let mut attempts = Attempts::new(&case, "device elsewhere", [&ours, &theirs]);
    for door in Door::OF_EACH_KIND {
        attempts.refused_call(&door.program(&case, Path::new(&node)), &[NO_PATH]);
    }
    attempts.end();
}

#[test]
fn a_working_folder_that_was_mounted_over_leads_to_nothing_in_the_new_mount() {
    let case = Case::new();
    let finished = or_skip!(shell(
        &case,
        "mkdir om; cp \"$O\" om/f; cd om; mount -t tmpfs none ../om; cp \"$O\" ../om/f; \
         dd f; make new; read_it f; read_it .; \
         cmp \"$O\" ../om/f && cmp \"$O\" f && test \"$(ls ../om)\" = f && echo as it was",
        true
    ));
    all_refused(&finished, 4);
}

#[test]
fn an_open_file_that_was_mounted_over_is_not_taken_for_that_of_its_path() {
    let case = Case::new();
    let finished = or_skip!(shell(
        &case,
        "mkdir mo; cp \"$O\" mo/f; exec 4<>mo/f; mount -t tmpfs none mo; cp \"$O\" mo/f; \
         dd /dev/fd/4; read_it /dev/fd/4; cmp \"$O\" mo/f && cmp \"$O\" /dev/fd/4 && echo as it was",
        true
    ));
    all_refused(&finished, 2);
}

#[test]
fn an_open_file_of_a_mount_that_was_let_go_is_not_taken_for_that_of_its_path() {
    let case = Case::new();
    // Once the mount is gone, the path of the file begins at its root.
    let finished = or_skip!(shell(
        &case,
        "mkdir at; mount -t tmpfs none at; mkdir -p \"at$PWD\"; cp \"$O\" \"at$PWD/f\"; \
         exec 5<>\"at$PWD/f\"; umount -l at; cp \"$O\" f; \
         dd /dev/fd/5; read_it /dev/fd/5; cmp \"$O\" f && echo as it was",
        true
    ));
    all_refused(&finished, 2);
}

#[test]
fn a_removed_file_is_not_taken_for_one_that_is_called_deleted() {
    let case = Case::new();
    let finished = or_skip!(shell(
        &case,
        "cp \"$O\" x; exec 3<>x; rm x; cp \"$O\" 'x (deleted)'; \
         dd /proc/self/fd/3; read_it /dev/fd/3; cmp \"$O\" 'x (deleted)' && echo as it was",
        false
    ));
    all_refused(&finished, 2);
}

#[test]
fn an_open_file_that_has_its_name_is_written_and_read_by_its_descriptor() {
    let case = Case::new();
    let finished = or_skip!(shell(
        &case,
        "cp \"$O\" f; ln -s f link; exec 4<>link; dd /dev/fd/4; read_it /dev/fd/4; \
         test \"$(stat -c %s f)\" = 4096 && cmp -n 4096 f /dev/zero && echo written",
        false
    ));
    finished.expect_code(0).expect_stdout("written");
    assert_eq!(finished.stdout.matches("ended 0").count(), 2, "{finished}");
}

#[test]
fn an_open_file_that_is_seen_through_another_mount_is_the_same_file() {
    or_skip!(require_root());
    or_skip!(require_tool("unshare", "util-linux"));
    let case = Case::new();
    // The shell opened it, and the program has a mount namespace of its own, as with
    // `ip netns exec`.
    let commands = format!(
        "cp \"$O\" f; exec 4<>f; unshare --mount --propagation private sh -c '{ALONE}; \
         exec \"$0\" --store \"$1\" dd if=/dev/zero count=8 of=/dev/fd/4 --destroy-data-on \"$2\"' \
         \"$D\" \"$S\" \"$PWD/f\" && cmp -n 4096 f /dev/zero && echo written"
    );
    let finished = or_skip!(shell(&case, &commands, false));
    finished.expect_code(0).expect_stdout("written");
}

#[test]
fn links_that_lead_nowhere_or_in_a_circle_are_told_as_that() {
    let case = Case::new();
    let [dangling, circle, back] = ["dangling", "circle", "back"].map(|name| case.path(name));
    symlink("nothere", &dangling).expect("a link");
    let nowhere = ["is a link to nothere, which does not exist"];
    let of = |path: &Path| format!("of={}", path.display());
    for program in [
        case.diskfacts(["measure"]).arg(&dangling),
        case.diskfacts(["dd", "if=/dev/zero", "count=1", &of(&dangling)]),
    ] {
        let finished = program.run();
        finished.expect_code(2).expect_stderr(nowhere[0]);
    }
    symlink("back", &circle).expect("a link");
    symlink("circle", &back).expect("a link");
    for program in [
        case.diskfacts(["measure"]).arg(&circle),
        case.diskfacts(["dd", "if=/dev/zero", "count=1", &of(&circle)]),
    ] {
        let finished = program.run();
        finished.expect_code(2).expect_stderr("lead in a circle");
    }
    assert!(!case.store().exists());
}

#[test]
fn a_character_device_is_told_as_that_whatever_is_named() {
    or_skip!(require_root());
    let case = Case::new();
    for device in ["/dev/mem", "/dev/loop-control"] {
        if !Path::new(device).exists() {
            continue;
        }
        let of = format!("of={device}");
        let arguments = [
            "dd",
            "if=/dev/zero",
            "count=1",
            &of,
            "--destroy-data-on",
            device,
        ];
        case.refuses(
            &case.diskfacts(arguments),
            &["is neither a file nor a block device"],
        );
    }
}

#[test]
fn the_store_of_a_run_is_no_target_of_it() {
    let case = Case::new();
    let file = case.data_file("file", MIB);
    let of = format!("of={}", case.store().display());
    // There is none yet: it would be the copy.
    case.refuses(
        &case.diskfacts(["dd", "if=/dev/zero", "count=1", &of]),
        &["is the store in which this run would be kept", "--store"],
    );
    let reads = "operation = \"read\"\noperations = 4\ncache = \"buffered\"";
    case.measure_stage(&file, reads).run().expect_code(0);
    let before = hash(&case.store());
    let link = case.path("link");
    fs::hard_link(case.store(), &link).expect("a link");
    for door in Door::OF_EACH_KIND {
        for name in [&case.store(), &link] {
            door.program(&case, name)
                .run()
                .expect_code(2)
                .expect_stderr("is the store in which this run would be kept");
            assert_eq!(hash(&case.store()), before, "{door:?}");
        }
    }
    // Kept elsewhere, it is a file as any other.
    let elsewhere = case.path("other.db");
    diskfacts(["--store"])
        .arg(elsewhere)
        .args(["dd", "if=/dev/zero", "count=1", &of, "--destroy-data-on"])
        .arg(case.store())
        .run()
        .expect_code(0);
}
