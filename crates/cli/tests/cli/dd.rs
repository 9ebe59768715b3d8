//! `diskfacts dd`: what GNU dd does with the same operands, what it never
//! writes, and what it says that dd hides.

use crate::support::{Case, Content, KIB, MIB, hash, number, rules, trials};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, MountedFilesystem, Program, or_skip, require_tool,
};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// `diskfacts dd` with operands, in the folder of the case.
fn dd(case: &Case, operands: &[String]) -> Program {
    case.diskfacts(["dd"]).args(operands)
}

fn operand(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The same numbers for the same seed (xorshift64, Marsaglia 2003).
struct Drawn(u64);

impl Drawn {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let index = self.below(of.len() as u64);
        of[usize::try_from(index).expect("a small number")]
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most))
            .map(|_| u8::try_from(self.below(256)).expect("a byte"))
            .collect()
    }
}

/// Operands that change what is copied, drawn from all that both know.
fn draw_operands(drawn: &mut Drawn, input_bytes: u64) -> Vec<String> {
    let mut operands = Vec::new();
    let bs = drawn.below(700) + 1;
    let block = if drawn.below(4) == 0 { 512 } else { bs };
    if block == bs {
        operands.push(format!("bs={bs}{}", drawn.one_of(&["", "c"])));
    }
    // skip= behind the end is a mistake here; dd only complains.
    let skip_blocks = drawn.below(input_bytes / block + 1);
    match drawn.below(4) {
        0 => operands.push(format!("skip={skip_blocks}")),
        1 => operands.push(format!("skip={}B", drawn.below(input_bytes + 1))),
        2 => operands.extend([format!("skip={skip_blocks}"), "iflag=skip_bytes".into()]),
        _ => {}
    }
    match drawn.below(5) {
        0 => operands.push(format!("seek={}", drawn.below(4))),
        // Below a block, dd 9.1 clears what lies before; ours keeps it.
        1 => operands.push(format!("seek={}B", block + drawn.below(900))),
        2 => operands.extend([
            format!("seek={}x3", block + drawn.below(300)),
            "oflag=seek_bytes".into(),
        ]),
        _ => {}
    }
    match drawn.below(5) {
        0 => operands.push(format!("count={}", drawn.below(9))),
        1 => operands.push(format!("count={}B", drawn.below(3000))),
        2 => operands.extend([
            format!("count={}w", drawn.below(900)),
            "iflag=count_bytes,fullblock".into(),
        ]),
        _ => {}
    }
    match drawn.below(4) {
        0 => operands.push("conv=notrunc".into()),
        1 => operands.push(
            drawn
                .one_of(&["conv=fsync", "conv=fdatasync,notrunc"])
                .into(),
        ),
        _ => {}
    }
    match drawn.below(4) {
        0 => operands.push(
            drawn
                .one_of(&["oflag=nocache", "oflag=dsync", "iflag=nocache"])
                .into(),
        ),
        1 => operands.push("iflag=fullblock".into()),
        _ => {}
    }
    operands
}

#[test]
fn random_operands_copy_what_gnu_dd_copies_and_count_the_same_records() {
    let gnu = or_skip!(require_tool("dd", "coreutils"));
    let case = Case::new();
    let (input, ours, theirs) = (case.path("in"), case.path("ours"), case.path("theirs"));
    for seed in 1..=60 {
        let mut drawn = Drawn::new(seed);
        let data = drawn.bytes(4000);
        fs::write(&input, &data).expect("the input");
        let mut operands = draw_operands(&mut drawn, data.len() as u64);
        operands.push(operand("if", &input));
        let there = (drawn.below(3) > 0).then(|| drawn.bytes(2000));
        for path in [&ours, &theirs] {
            match &there {
                Some(old) => fs::write(path, old).expect("an old output"),
                None => drop(fs::remove_file(path)),
            }
        }
        let said = Command::new(&gnu)
            .env("LC_ALL", "C")
            .args(&operands)
            .arg(operand("of", &theirs))
            .output()
            .expect("running dd");
        assert!(said.status.success(), "seed {seed}: {operands:?}: {said:?}");
        let mut program = dd(&case, &operands)
            .arg(operand("of", &ours))
            .args(["--style", "classic"]);
        if there.is_some() {
            program = program.arg("--destroy-data-on").arg(&ours);
        }
        let finished = program.run();
        finished.expect_code(0);
        let records =
            |text: &str| -> Vec<String> { text.lines().take(2).map(str::to_owned).collect() };
        assert_eq!(
            records(&finished.stdout),
            records(&String::from_utf8_lossy(&said.stderr)),
            "seed {seed}: {operands:?}\n{finished}"
        );
        assert_eq!(
            fs::read(&ours).expect("our copy"),
            fs::read(&theirs).expect("their copy"),
            "seed {seed}: {operands:?}"
        );
    }
}

/// `diskfacts dd` that reads from a pipe.
fn from_a_pipe(case: &Case, operands: &str) -> (Child, ChildStdin) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.store())
        .arg("dd")
        .args(words(operands))
        .args(["--style", "classic"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starting diskfacts");
    let pipe = child.stdin.take().expect("a pipe");
    (child, pipe)
}

/// Writes a piece, and waits until the other side has read it.
fn feed(pipe: &mut ChildStdin, piece: &str) {
    pipe.write_all(piece.as_bytes())
        .expect("writing to the pipe");
    while rustix::io::ioctl_fionread(&*pipe).expect("the bytes in a pipe") > 0 {
        std::thread::yield_now();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What comes out when pieces come in one by one through a pipe.
fn through_a_pipe(case: &Case, operands: &str, pieces: &[&str]) -> (String, String) {
    let (child, mut pipe) = from_a_pipe(case, operands);
    for piece in pieces {
        feed(&mut pipe, piece);
    }
    drop(pipe);
    let output = child.wait_with_output().expect("diskfacts ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_pipe_can_be_named_as_the_standard_stream_that_it_is() {
    let case = Case::new();
    let operands = "if=/dev/stdin of=/dev/stdout bs=4 iflag=fullblock";
    let (copied, said) = through_a_pipe(&case, operands, &["abcdef", "gh"]);
    assert_eq!(copied, "abcdefgh");
    assert!(said.contains("2+0 records in"), "{said}");
}

#[test]
fn short_reads_of_a_pipe_are_partial_records_unless_full_blocks_are_asked_for() {
    let case = Case::new();
    let pieces = ["abc", "defgh"];
    for (operands, records) in [
        ("bs=4", "1+2 records in\n1+2 records out\n"),
        ("bs=4 iflag=fullblock", "2+0 records in\n2+0 records out\n"),
        // Without bs= blocks of 512 bytes are gathered.
        ("", "0+2 records in\n0+1 records out\n"),
        ("bs=4 status=noxfer", "1+2 records in\n1+2 records out\n"),
    ] {
        let (out, said) = through_a_pipe(&case, operands, &pieces);
        assert_eq!(out, "abcdefgh", "{operands}");
        assert!(said.starts_with(records), "{operands}: {said}");
        let has_rate = said.contains(" copied, ");
        assert_eq!(has_rate, !operands.contains("noxfer"), "{operands}: {said}");
    }
    let (out, said) = through_a_pipe(&case, "bs=4 skip=1 count=1 status=none", &["abcdefgh"]);
    assert_eq!((out.as_str(), said.contains("records")), ("efgh", false));
}

#[test]
fn a_buffered_write_says_what_dd_hides_and_is_stored() {
    let case = Case::new();
    let output = case.path("out");
    let finished = dd(&case, &words("if=/dev/zero bs=1M count=32"))
        .arg(operand("of", &output))
        .run();
    finished.expect_code(0);
    for text in [
        "What dd says of this, and what it hides",
        "33554432 bytes (34 MB, 32 MiB) copied, ",
        "32+0 in, 32+0 out",
        "is a new file, and stays",
        "Final flush",
    ] {
        finished.expect_stdout(text);
    }
    assert!(
        finished.stdout.lines().all(|line| line.len() <= 80
            || line.contains("Command")
            || line.starts_with("Command")
            || line.contains('/')),
        "{finished}"
    );
    assert_eq!(fs::metadata(&output).expect("the copy").len(), 32 * MIB);
    let document = case.last();
    assert_eq!(document["target"]["size_bytes"], 32 * MIB);
    let trial = &trials(&document)[0];
    assert_eq!(trial["bytes"], 32 * MIB);
    assert_eq!(trial["ops"], 32);
    assert_eq!(trial["workload"]["copy"]["dd"]["input"], "/dev/zero");
    let copied = &trial["evidence"]["copy"];
    assert_eq!(copied["records_in"]["full"], 32);
    assert_eq!(copied["ended"], "count");
    assert!(number(&copied["flush_ns"]) > 0.0);
    // Reads of the source and writes of the target are timed apart.
    assert_eq!(trial["latency_read_ns"]["samples"], 32);
    assert_eq!(trial["latency_write_ns"]["samples"], 32);
    assert_eq!(trial["latency_ns"], trial["latency_write_ns"]);
    assert_eq!(document["verdicts"].as_array().map(Vec::len), Some(0));
    let shown = case.run(["show", "last", "--style", "classic"]);
    shown.expect_code(0);
    shown.expect_stdout("32+0 records in\n32+0 records out\n33554432 bytes (34 MB, 32 MiB) copied");
}

#[test]
fn a_sync_that_conv_asks_for_is_within_dds_own_time() {
    let case = Case::new();
    let finished = dd(&case, &words("if=/dev/zero bs=64k count=64 conv=fdatasync"))
        .arg(operand("of", &case.path("out")))
        .run();
    finished.expect_code(0);
    let document = case.last();
    let trial = &trials(&document)[0];
    assert_eq!(trial["workload"]["sync"], "fdatasync-at-end");
    let sync_s = number(&trial["evidence"]["issued"]["final_sync_ns"]) / 1e9;
    assert!(
        sync_s > 0.0 && sync_s <= number(&trial["seconds"]),
        "{trial}"
    );
    let dirty = &trial["evidence"]["copy"]["dirty_bytes"];
    assert!(dirty.is_null() || dirty == 0, "{dirty}");
}

#[test]
fn direct_reads_come_from_the_device_and_a_short_last_block_is_read_too() {
    let case = Case::new();
    let input = case.data_file("in", MIB + 512);
    let output = case.path("out");
    let finished = dd(&case, &words("bs=64k iflag=direct oflag=direct"))
        .args([operand("if", &input), operand("of", &output)])
        .run();
    finished.expect_code(0);
    assert_eq!(hash(&input), hash(&output));
    let document = case.last();
    let trial = &trials(&document)[0];
    assert_eq!(trial["evidence"]["copy"]["records_in"]["partial"], 1);
    if trial["evidence"]["engine"]["direct"] == true {
        finished.expect_stdout("The last block is shorter than bs=");
        // As GNU dd makes up for it.
        assert!(number(&trial["evidence"]["issued"]["final_sync_ns"]) > 0.0);
    } else {
        assert!(rules(&document).contains(&"direct-refused"), "{document}");
    }
}

#[test]
fn what_exists_is_written_only_when_it_is_named() {
    let case = Case::new();
    let file = case.data_file("old", 64 * KIB);
    let folder = case.folder("folder");
    let of_file = [operand("of", &file)];
    let zeros = words("if=/dev/zero bs=4k count=1");
    let refused = |operands: &[String], more: &[&Path], said: &[&str]| {
        let mut program = dd(&case, &zeros).args(operands);
        for named in more {
            program = program.arg("--destroy-data-on").arg(named);
        }
        case.refuses(&program, said);
    };
    refused(
        &of_file,
        &[],
        &["exists, and is not written", "--destroy-data-on"],
    );
    refused(&of_file, &[&folder], &["--destroy-data-on names"]);
    refused(
        &[operand("of", &folder)],
        &[],
        &["is a folder; name a new file in it"],
    );
    refused(
        &[operand("of", &case.path("new"))],
        &[&file],
        &["a new file: nothing was written"],
    );
    refused(&words("of=/dev/null"), &[&file], &["nothing was written"]);
    refused(&words("of=/dev/no-such-disk"), &[], &["there is no device"]);
    refused(&words("of=/dev/urandom"), &[], &["may hold data"]);
    refused(
        &[operand("of", &case.path("no/such/folder"))],
        &[],
        &["there is no folder"],
    );
    let both = [operand("if", &file), operand("of", &file)];
    refused(&both, &[&file], &["if= and of= are the same"]);
    let program = dd(&case, &zeros)
        .args(of_file)
        .args(["--style", "classic", "--destroy-data-on"])
        .arg(&file);
    program.run().expect_code(0);
    assert_eq!(fs::metadata(&file).expect("the file").len(), 4 * KIB);
}

#[test]
fn standard_output_over_data_is_refused() {
    let case = Case::new();
    let file = case.data_file("old", 64 * KIB);
    let before = Content::of(&case.path("."));
    let opened = fs::File::options()
        .write(true)
        .open(&file)
        .expect("the file");
    let output = Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.store())
        .args(["dd", "if=/dev/zero", "count=1"])
        .stdout(opened)
        .output()
        .expect("starting diskfacts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("which holds data, and is not written"),
        "{said}"
    );
    assert_eq!(Content::of(&case.path(".")), before);
}

#[test]
fn wrong_operands_and_places_that_are_not_there_are_refused() {
    let case = Case::new();
    let input = case.data_file("in", 10 * KIB);
    let output = operand("of", &case.path("out"));
    for (operands, said) in [
        ("bs=4k skip=3", "skip= skips 12288 bytes"),
        ("bs=1000 iflag=direct", "is not a multiple of"),
        ("bs=4q", "'4q' is not a dd number"),
        ("conv=noerror", "ddrescue"),
        ("if", "NAME=VALUE"),
        ("if=/no/such/file", "cannot be looked at"),
    ] {
        // The last if= counts.
        let program = dd(&case, &[operand("if", &input), output.clone()]).args(words(operands));
        case.refuses(&program, &[said]);
    }
    case.refuses(
        &dd(&case, &words("if=/dev/zero --json")),
        &["no room for --json"],
    );
    case.refuses(
        &dd(&case, &[operand("if", &case.folder("folder")), output]),
        &["is a folder"],
    );
}

#[test]
fn a_device_is_written_when_it_is_named_and_a_seek_behind_its_end_is_refused() {
    let device = or_skip!(LoopDevice::new(MIB));
    let case = Case::new();
    let of = operand("of", device.path());
    let zeros = words("if=/dev/urandom bs=64k");
    let before = hash(device.backing_file());
    let program = dd(&case, &zeros).args([&of, "count=1"]);
    case.refuses(&program, &["is a device, and is not written"]);
    let named = |operands: &[&str]| {
        dd(&case, &zeros)
            .arg(&of)
            .args(operands)
            .arg("--destroy-data-on")
            .arg(device.path())
    };
    case.refuses(
        &named(&["seek=16"]),
        &["seek= begins at byte 1048576", "ends at"],
    );
    assert_eq!(hash(device.backing_file()), before);
    // Too small for all: what fits is written, counted and kept.
    let finished = named(&["count=32"]).run();
    finished.expect_code(1);
    finished.expect_stdout("17+0 in, 16+0 out");
    finished.expect_stdout("No space left on device");
    let document = case.last();
    assert_eq!(document["run"]["status"], "failed");
    assert_eq!(trials(&document)[0]["bytes"], MIB);
    assert_ne!(hash(device.backing_file()), before);
    let read = dd(&case, &words("of=/dev/null bs=64k --style classic"))
        .arg(operand("if", device.path()))
        .run();
    read.expect_code(0);
    read.expect_stdout("16+0 records in\n16+0 records out\n1048576 bytes (1.0 MB, 1.0 MiB) copied");
}

#[test]
fn a_full_filesystem_ends_the_copy_and_what_was_written_stays() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 * MIB));
    let case = Case::new();
    let output = mounted.path().join("out");
    let finished = dd(&case, &words("if=/dev/zero bs=1M count=64"))
        .arg(operand("of", &output))
        .run();
    finished.expect_code(1);
    finished.expect_stdout("No space left on device");
    let document = case.last();
    let written = number(&trials(&document)[0]["evidence"]["copy"]["write_bytes"]);
    assert!(written > 0.0 && written < 16e6, "{written}");
    let kept = fs::metadata(&output).expect("the file").len();
    assert!((kept as f64 - written).abs() < 1.0, "{kept} of {written}");
}

#[test]
fn a_source_that_ends_early_is_a_note() {
    let case = Case::new();
    let input = case.data_file("in", 10 * KIB);
    let finished = dd(&case, &words("of=/dev/null bs=4k count=9"))
        .arg(operand("if", &input))
        .run();
    finished.expect_code(0);
    finished.expect_stdout("The input ended after 10240 of the 36864 bytes");
}

#[test]
fn ctrl_c_ends_a_copy_and_keeps_what_was_copied() {
    let case = Case::new();
    let (child, mut pipe) = from_a_pipe(&case, "of=/dev/null bs=8 count=1000");
    feed(&mut pipe, "a block.");
    let id = i32::try_from(child.id()).expect("the number of a process");
    let process = rustix::process::Pid::from_raw(id).expect("a process");
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("diskfacts ends");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("stopped by Ctrl-C"), "{said}");
    let document = case.last();
    assert_eq!(document["run"]["status"], "interrupted");
    let trial = &trials(&document)[0];
    assert_eq!(trial["evidence"]["copy"]["ended"], "stopped");
    assert_eq!(trial["bytes"], 8);
}

#[test]
fn a_new_output_is_gone_again_where_the_run_cannot_be_stored() {
    let case = Case::new();
    let [stored, refused] = ["stored", "refused"].map(|name| case.path(name));
    let operands = |output: &Path| {
        let output = format!("of={}", output.display());
        ["if=/dev/zero", &output, "bs=512", "count=1"].map(str::to_owned)
    };
    case.diskfacts(["dd"])
        .args(operands(&stored))
        .run()
        .expect_code(0);
    // The store is there, and the first run that is written to it takes more than a block.
    let limited = Program::new("/bin/sh")
        .args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_diskfacts"), "dd"])
        .args(operands(&refused))
        .arg("--store")
        .arg(case.store());
    limited
        .run()
        .expect_code(1)
        .expect_stderr("storing a new run in the store");
    assert!(stored.exists() && !refused.exists());
}

#[test]
fn an_output_is_as_it_was_where_the_run_cannot_be_stored() {
    let case = Case::new();
    let output = case.text_file("output", "precious");
    let named = output.display().to_string();
    let operands = ["if=/dev/zero", &format!("of={named}"), "bs=512", "count=1"];
    let copy = |store: &Path, limit: &str| {
        let limited = Program::new("/bin/sh")
            .args(["-c", &format!("{limit} exec \"$0\" \"$@\"")])
            .args([env!("CARGO_BIN_EXE_diskfacts"), "dd"]);
        limited
            .args(operands)
            .args(["--destroy-data-on", &named, "--store"])
            .arg(store)
            .run()
    };
    // One that cannot be opened; and one to which no run can be written.
    copy(&case.path("output/runs.db"), "").expect_code(1);
    let elsewhere = case.path("elsewhere");
    case.diskfacts(["dd", "if=/dev/zero", "bs=512", "count=1"])
        .arg(format!("of={}", elsewhere.display()))
        .run()
        .expect_code(0);
    copy(&case.store(), "ulimit -f 1;")
        .expect_code(1)
        .expect_stderr("storing a new run in the store");
    let kept = fs::read_to_string(&output).expect("it is there");
    assert_eq!(kept, "precious");
    copy(&case.store(), "").expect_code(0);
    assert_eq!(fs::read(&output).expect("it is there"), [0; 512]);
}
