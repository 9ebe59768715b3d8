//! Rows are trials of one sample only where the document says the same of them.

use super::{import, notes, runs_of};
use diskfacts_record::{Run, Trial};

fn setting<'t>(trial: &'t Trial, name: &str) -> &'t str {
    trial.settings.get(name).map_or("", String::as_str)
}

fn column<'r>(run: &'r Run, name: &str) -> Vec<(&'r str, u32)> {
    let trials = run.trials.iter();
    trials
        .map(|trial| (setting(trial, name), trial.number))
        .collect()
}

fn says(text: &str, said: &str) {
    let notes = notes(&import(text));
    assert!(notes.iter().any(|n| n == said), "{said}: {notes:#?}");
}

const HDPARM: &str = "\n/dev/sda:\n Timing buffered disk reads: 1126 MB in  3.00 seconds = 375.31 MB/sec\n\
                      \n/dev/sdb:\n Timing buffered disk reads: 400 MB in  3.01 seconds = 132.89 MB/sec\n \
                      Timing O_DIRECT disk reads: 410 MB in  3.01 seconds = 136.21 MB/sec\n";

#[test]
fn lines_of_hdparm_are_kept_apart_by_device_and_by_direct() {
    let run = runs_of(HDPARM).remove(0);
    assert_eq!(
        column(&run, "target"),
        [("/dev/sda", 1), ("/dev/sdb", 1), ("/dev/sdb", 1)]
    );
    assert_eq!(column(&run, "direct"), [("", 1), ("", 1), ("yes", 1)]);
    let text = HDPARM.replace("\n/dev/sdb:", "After:\n\n/dev/sda:");
    let run = runs_of(&text).remove(0);
    assert_eq!(
        column(&run, "heading"),
        [("", 1), ("After", 1), ("After", 1)]
    );
    assert_eq!(setting(&run.trials[1], "target"), "/dev/sda");
}

const LINE: &str = "4294967296 bytes (4.3 GB, 4.0 GiB) copied, 34.1914 s, 126 MB/s\n";

#[test]
fn bare_lines_of_dd_repeat_only_lines_of_the_same_bytes() {
    let text = format!("{LINE}{LINE}1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.01 s, 105 MB/s\n");
    let run = runs_of(&text).remove(0);
    assert_eq!(
        column(&run, "bytes"),
        [("4GiB", 1), ("4GiB", 2), ("1MiB", 1)]
    );
}

#[test]
fn headings_of_every_kind_tell_rows_apart() {
    for (before, after) in [
        ("# before the upgrade", "# after the upgrade"),
        ("before the upgrade:", "after the upgrade:"),
        (
            "before the upgrade\n--------------------",
            "after the upgrade\n====================",
        ),
    ] {
        let text = format!("{before}\n{LINE}{LINE}\n{after}\n{LINE}");
        let run = runs_of(&text).remove(0);
        assert_eq!(
            column(&run, "heading"),
            [
                ("before the upgrade", 1),
                ("before the upgrade", 2),
                ("after the upgrade", 1)
            ]
        );
    }
    // A label in the line itself, and a heading above all rows.
    let run = runs_of(&format!("ext4: {LINE}xfs: {LINE}")).remove(0);
    assert_eq!(column(&run, "label"), [("ext4", 1), ("xfs", 1)]);
    let text =
        format!("# before the upgrade\n# dd if=/dev/sda of=/dev/null bs=1M count=4096\n{LINE}");
    let run = runs_of(&text).remove(0);
    assert_eq!(column(&run, "heading"), [("", 1)]);
    says(&text, "3: Above these rows stands 'before the upgrade'.");
}

#[test]
fn a_line_that_is_none_of_the_command_above_does_not_get_it() {
    let command = "$ dd if=/dev/sda of=/dev/null bs=1M count=4096\n";
    let text = format!("{command}{LINE}1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.01 s, 105 MB/s\n");
    let run = runs_of(&text).remove(0);
    assert_eq!(column(&run, "target"), [("/dev/sda", 1), ("", 1)]);
    assert_eq!(run.trials[1].workload.block_size, 0);
    says(
        &text,
        "3: The command above would copy 4294967296 bytes, and this line has 1048576: it was not \
         read as a line of that command.",
    );
}

#[test]
fn the_figure_of_dd_is_its_bytes_in_its_seconds() {
    let run = runs_of(LINE).remove(0);
    let rate = run.trials[0].throughput_bytes_per_s;
    assert!((rate - 4_294_967_296.0 / 34.1914).abs() < 1e-3, "{rate}");
    assert!(!notes(&import(LINE)).iter().any(|n| n.contains("disagree")));
    let text = LINE.replace("126 MB/s", "226 MB/s");
    let run = runs_of(&text).remove(0);
    assert_eq!(
        run.trials[0].throughput_bytes_per_s.to_bits(),
        rate.to_bits()
    );
    says(
        &text,
        "1: The numbers disagree: 4294967296 bytes in 34.1914 s are 125615427 bytes per second, \
         and the line says 226 MB/s. It was read by its bytes and seconds.",
    );
    // Half of the last digit is within what dd rounds, a whole one is not.
    for (rate, agrees) in [("126", true), ("125", false), ("127", false)] {
        let text = LINE.replace("126 MB/s", &format!("{rate} MB/s"));
        let disagrees = notes(&import(&text)).iter().any(|n| n.contains("disagree"));
        assert_eq!(disagrees, !agrees, "{rate}");
    }
}

const NAMES: &str = "Device            r/s     w/s     rkB/s     wkB/s   %util\n";

#[test]
fn the_first_report_of_iostat_is_kept_apart_from_the_intervals() {
    let table = |requests: u32| {
        format!("{NAMES}sda              {requests}.00    0.00    400.00      0.00   10.00\n\n")
    };
    let tables = [7, 101, 102].map(table).concat();
    let banner = "Linux 6.1.0 (web1) \t11/21/26 \t_x86_64_\t(4 CPU)\n\n";
    let apart = [("since boot", 1), ("interval", 1), ("interval", 2)];
    for text in [tables.clone(), format!("{banner}{tables}")] {
        let run = runs_of(&text).remove(0);
        assert_eq!(column(&run, "report"), apart);
        let rates = run.trials.iter().map(|trial| trial.iops.to_bits());
        assert!(rates.eq([7.0_f64, 101.0, 102.0].map(f64::to_bits)));
    }
    let alone = format!("{banner}{}", table(7));
    let run = runs_of(&alone).remove(0);
    assert_eq!(column(&run, "report"), [("since boot", 1)]);
    // -y leaves it out.
    let run = runs_of(&format!("$ iostat -xy 1\n{banner}{tables}")).remove(0);
    assert_eq!(
        column(&run, "report"),
        [("interval", 1), ("interval", 2), ("interval", 3)]
    );
    let run = runs_of(&table(7)).remove(0);
    assert_eq!(column(&run, "report"), [("", 1)]);
}

const JOB: &str = r#"{"jobname":"db","job options":{"rw":"write","bs":"4k","fdatasync":"1","numjobs":"2"},
"write":{"io_bytes":4096000,"bw_bytes":1000000,"iops":250,"runtime":4096,"total_ios":1000,
"lat_ns":{"min":2000,"max":90000,"mean":5000,"N":1000},
"clat_ns":{"min":1000,"max":80000,"mean":4000,"N":1000,"percentile":{"50.000000":3500}}},
"sync":{"total_ios":999,"lat_ns":{"min":100000,"max":9000000,"mean":1200000,"N":999,
"percentile":{"99.000000":3400000}}}}"#;

fn fio(jobs: &[&str]) -> String {
    let jobs = jobs.join(",");
    format!("{{\n\"fio version\": \"fio-3.33\",\n\"jobs\": [{jobs}]\n}}\n")
}

#[test]
fn clones_of_a_job_of_fio_are_streams_and_no_repeats() {
    let text = fio(&[JOB, JOB]);
    let run = runs_of(&text).remove(0);
    assert_eq!(column(&run, "clone"), [("1 of 2", 1), ("2 of 2", 1)]);
    assert!(run.trials.iter().all(|trial| trial.workload.streams == 1));
    says(
        &text,
        "1: Job db has 2 entries, its clones that ran at the same time: each is kept by its number \
         and is no repeat. Together they did 2 MB/s.",
    );
    let syncs = notes(&import(&text));
    assert!(
        syncs
            .iter()
            .any(|note| note.starts_with("1: Job db (2 of 2) synced 999 times"))
    );
    // With group_reporting there is one, of all streams; a second document repeats it.
    let one = fio(&[JOB]);
    let run = runs_of(&format!("{one}{one}")).remove(0);
    assert_eq!(column(&run, "clone"), [("", 1), ("", 2)]);
    assert_eq!(run.trials[0].workload.streams, 2);
}

#[test]
fn which_latency_of_fio_was_read_is_said_and_what_syncs_took() {
    let text = fio(&[JOB]);
    says(
        &text,
        "1: Latencies are fio's clat, from submission to completion, without the time of the \
         submission: percentiles of lat are not in this document (lat_percentiles=1).",
    );
    says(
        &text,
        "1: Job db synced 999 times, mean 1.200 ms, p99 3.400 ms, longest 9.000 ms: the latencies \
         of its writes are without this.",
    );
    assert_eq!(runs_of(&text)[0].trials[0].latency_ns.max, Some(80_000));
    let whole = text.replace(
        r#""mean":5000,"N":1000}"#,
        r#""mean":5000,"N":1000,"percentile":{"50.000000":4500}}"#,
    );
    let latency = &runs_of(&whole)[0].trials[0].latency_ns;
    assert_eq!((latency.p50, latency.max), (Some(4500), Some(90_000)));
    assert!(!notes(&import(&whole)).iter().any(|n| n.contains("clat")));
}

#[test]
fn the_csv_of_bonnie_below_its_table_is_counted_once() {
    let table = "Version  1.96       ------Sequential Output------ --Sequential Input- --Random-\n\
                 Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
                 Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n\
                 web1             1G   800  92 108776  14 103820  11  3276  76 606148  23 170.3   8\n";
    let csv = "1.97,1.96,web1,1,1390000000,1G,,800,92,108776,14,103820,11,3276,76,606148,23,170.3,8,\
               ,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
    assert_eq!(csv.matches(',').count(), 47);
    let both = format!("{table}\n{csv}\n");
    let document = import(&both);
    assert_eq!(document.rows.len(), 1, "{document:#?}");
    says(
        &both,
        "6: This is the same test as the table at line 4, and is counted once.",
    );
    let run = runs_of(&both).remove(0);
    assert_eq!(run.trials.len(), 6);
    assert!(run.trials.iter().all(|trial| trial.number == 1));
    assert_eq!(setting(&run.trials[0], "concurrency"), "1");
    // Another rate is another test, and so is another machine.
    for other in [
        both.replace(",108776,", ",108976,"),
        both.replace(",web1,", ",web2,"),
    ] {
        assert_eq!(import(&other).rows.len(), 2);
    }
}

#[test]
fn notes_are_with_the_run_of_their_rows() {
    let text = format!("{HDPARM}\nIt felt like 5 MB/s to me.\n{LINE}It felt like 6 MB/s to me.\n");
    let runs = runs_of(&text);
    let notes_of = |run: &Run, word: &str| {
        let notes = run.run.notes.iter();
        notes.filter(|note| note.contains(word)).count()
    };
    assert_eq!(runs.len(), 2);
    let (dd, hdparm) = (&runs[0], &runs[1]);
    assert_eq!(dd.run.source.as_ref().unwrap().format, "dd");
    assert_eq!(
        (notes_of(dd, "MB of dd"), notes_of(dd, "MB of hdparm")),
        (1, 0)
    );
    assert_eq!(
        (
            notes_of(hdparm, "MB of dd"),
            notes_of(hdparm, "MB of hdparm")
        ),
        (0, 1)
    );
    assert_eq!((notes_of(dd, "5 MB/s"), notes_of(dd, "6 MB/s")), (0, 1));
    assert_eq!(
        (notes_of(hdparm, "5 MB/s"), notes_of(hdparm, "6 MB/s")),
        (1, 0)
    );
}

#[test]
fn letters_that_begin_anew_are_another_series() {
    let command = "$ dd if=/dev/sdb of=/dev/null bs=64K count=80000\n";
    let text =
        format!("{command}a) 102 MB/s\nb) 104 MB/s\nWith the patch\na) 130 MB/s\nb) 131 MB/s\n");
    let run = runs_of(&text).remove(0);
    assert_eq!(
        column(&run, "series"),
        [("", 1), ("", 2), ("2", 1), ("2", 2)]
    );
    let same = super::DOCUMENTS.map(|text| {
        let rows = import(text).rows;
        rows.iter()
            .filter(|row| row.settings.contains_key("series"))
            .count()
    });
    assert_eq!(same, [0; 5]);
}
