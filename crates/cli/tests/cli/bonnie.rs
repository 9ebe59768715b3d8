//! The plan `bonnie`, in the tables and the CSV of bonnie++ 2.00.

use crate::support::{Case, MIB, trials};
use diskfacts_testkit::{Program, or_skip, require_root, require_tool, skip};
use std::path::Path;

fn simulated(case: &Case, style: &str) -> String {
    let mut arguments = vec!["measure", "sim:hdd-7200-1tb", "--plan", "bonnie"];
    for stage in ["putc-locked", "put-block", "rewrite", "get-block", "seeks"] {
        arguments.extend(["--stage", stage]);
    }
    arguments.extend(["--time", "30s", "--style", style]);
    let finished = case.run(arguments);
    finished.expect_code(0);
    finished.stdout
}

#[test]
fn the_tables_of_a_simulated_disk_have_its_rates_and_no_files() {
    let case = Case::new();
    let tables = simulated(&case, "classic");
    let lines: Vec<&str> = tables.lines().collect();
    let [version, groups, _, rates, latencies] = lines[..] else {
        panic!("one table of five lines:\n{tables}");
    };
    assert_eq!(
        version,
        "Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-"
    );
    assert!(groups.contains("-Per Chr- --Block-- -Rewrite-"), "{groups}");
    assert!(latencies.starts_with("Latency  "), "{latencies}");
    assert_eq!(rates.len(), version.len(), "{tables}");
    // A disk of 137 MiB a second and 8.3 ms a revolution; processor time is
    // nobody's there.
    let shown = case.run(["show", "last", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&shown.stdout).expect("a document");
    let median = |stage: &str| {
        let figures = run["figures"].as_array().expect("figures");
        let figures = figures.iter().find(|figures| figures["stage"] == stage);
        figures.expect("the stage")["iops"]["median"]
            .as_f64()
            .expect("a number")
    };
    let seeks = median("seeks");
    assert!((50.0..300.0).contains(&seeks), "{seeks}");
    assert!(rates.contains(&format!(" {seeks:>5.1} ")), "{tables}");
    let read = median("get-block") * 8.0 / 1024.0;
    assert!(
        rates.contains(&format!(" {:>4.0}m", (read + 0.5).trunc())),
        "{read}\n{tables}"
    );
    // Each byte of a rewrite counts once.
    let rewrite = median("rewrite") * 8.0 / 1024.0;
    assert!(
        rates.contains(&format!("{rewrite:>4.1}m")),
        "{rewrite}\n{tables}"
    );
}

#[test]
fn the_csv_has_fifty_fields_and_a_stored_run_prints_it_again() {
    let case = Case::new();
    let line = simulated(&case, "classic-csv");
    assert_eq!(line.lines().count(), 1);
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    assert_eq!(fields.len(), 50, "{line}");
    assert_eq!(fields[..2], ["1.98", "2.00a"]);
    // No files, so nothing from field 21 to 37 and from 44 on.
    assert!(
        fields[21..38]
            .iter()
            .chain(&fields[44..])
            .all(|f| f.is_empty()),
        "{line}"
    );
    let measured = fields[38..44].iter().map(|f| f.ends_with('s'));
    assert!(
        measured.eq([false, true, true, false, true, true]),
        "{line}"
    );
    let again = case.run(["show", "last", "--style", "classic-csv"]);
    again.expect_code(0);
    assert_eq!(again.stdout, line);
    again.expect_stderr("has no column for putc-locked");
}

#[test]
fn bon_csv2html_reads_the_csv_of_a_folder() {
    let tool = or_skip!(require_tool("bon_csv2html", "bonnie++"));
    let case = Case::new();
    let folder = case.folder("data");
    let mut arguments = vec![
        "measure", "--plan", "bonnie", "--size", "8MiB", "--time", "6s",
    ];
    for stage in ["get-block", "rewrite", "seeks", "seq-create", "ran-delete"] {
        arguments.extend(["--stage", stage]);
    }
    let finished = case
        .diskfacts(arguments)
        .args(["--trials", "1", "--style", "classic-csv"])
        .arg(&folder)
        .run();
    finished.expect_code(0);
    let csv = case.text_file("line.csv", &finished.stdout);
    let fields: Vec<&str> = finished.stdout.trim_end().split(',').collect();
    assert_eq!(fields.len(), 50, "{}", finished.stdout);
    assert_eq!((fields[5], fields[8], fields[21]), ("8M", "5", "16"));
    let html = Program::new("sh")
        .args(["-c", "exec \"$1\" < \"$2\"", "sh"])
        .args([tool.as_path(), Path::new(&csv)])
        .run();
    html.expect_code(0);
    assert!(html.stderr.is_empty(), "{html}");
    // It leaves out no number that it was given.
    for field in fields[13..15]
        .iter()
        .chain(&fields[26..28])
        .chain(&fields[38..])
    {
        if !field.is_empty() {
            assert!(
                html.stdout.contains(&format!(">{field}</td>")),
                "{field}\n{html}"
            );
        }
    }
}

#[test]
fn a_plan_without_such_a_csv_is_refused_before_anything_is_measured() {
    let case = Case::new();
    let program = case.diskfacts(["measure", "sim:ssd-sata", "--style", "classic-csv"]);
    case.refuses(&program, &["bonnie can, survey cannot"]);
}

#[test]
fn the_way_against_the_page_cache_is_said_and_recorded() {
    let case = Case::new();
    let measured = |way: &str| {
        let finished = case.run([
            "measure",
            "--explain",
            "sim:ssd-sata",
            "--plan",
            "bonnie",
            "--stage",
            "putc",
            "--stage",
            "get-block",
            "--time",
            "1s",
            "--cache-proof",
            way,
        ]);
        finished.expect_code(0);
        let said = format!("--cache-proof {way}");
        finished.expect_stdout(&said);
        let run = case.last();
        let notes = run["run"]["notes"].as_array().expect("notes");
        assert!(
            notes
                .iter()
                .any(|note| note.as_str().is_some_and(|n| n.contains(&said)))
        );
        let stages = run["plan"]["stages"].as_array().expect("stages");
        let caches = stages
            .iter()
            .map(|stage| stage["workload"]["cache"].clone());
        caches.collect::<Vec<_>>()
    };
    assert_eq!(measured("drop"), ["cold", "cold"]);
    // Single bytes are no whole sectors.
    assert_eq!(measured("direct"), ["cold", "direct"]);
}

#[test]
fn a_way_against_the_page_cache_that_cannot_work_is_refused() {
    let case = Case::new();
    let sim = [
        "measure",
        "sim:ssd-sata",
        "--plan",
        "bonnie",
        "--cache-proof",
    ];
    for way in ["memory-limit", "twice-memory"] {
        let program = case.diskfacts(sim).arg(way);
        case.refuses(&program, &["a simulated disk has a simulated page cache"]);
    }
    let program = case.diskfacts([
        "measure",
        ".",
        "--plan",
        "overhead",
        "--cache-proof",
        "direct",
    ]);
    case.refuses(
        &program,
        &["cache = \"cold\"", "`diskfacts plans bonnie` has"],
    );
    let folder = case.folder("data");
    let program = case
        .diskfacts(["measure", "--plan", "bonnie", "--size", "64MiB"])
        .args(["--cache-proof", "memory-limit"])
        .arg(&folder);
    case.refuses(&program, &["take a file of at least --size 128MiB"]);
}

#[test]
fn a_memory_limit_keeps_most_of_the_file_out_of_memory_and_is_put_back() {
    or_skip!(require_root());
    let case = Case::new();
    let folder = case.folder("data");
    let finished = case
        .diskfacts([
            "measure",
            "--explain",
            "--plan",
            "bonnie",
            "--size",
            "256MiB",
            "--time",
            "4s",
        ])
        .args([
            "--stage",
            "get-block",
            "--trials",
            "1",
            "--cache-proof",
            "memory-limit",
        ])
        .arg(&folder)
        .run();
    if finished.code() == Some(1) && finished.stderr.contains("control group") {
        skip("a control group with a limit on memory: closed here");
        return;
    }
    finished
        .expect_code(0)
        .expect_stdout("--cache-proof memory-limit");
    let run = case.last();
    let evidence = &trials(&run)[0]["evidence"];
    let cached = evidence["residency_after"]["cached_bytes"].as_u64();
    assert!(cached.is_some_and(|bytes| bytes <= 64 * MIB), "{cached:?}");
    let group = run["run"]["notes"]
        .as_array()
        .and_then(|notes| {
            notes
                .iter()
                .find_map(|note| note.as_str()?.split('(').nth(1))
        })
        .and_then(|rest| rest.split(',').next())
        .expect("the group")
        .to_owned();
    assert!(group.contains("diskfacts-memory-"), "{group}");
    assert!(!Path::new(&group).exists(), "{group}");
    // Its limit is evidence of the trial, and so is what it drove out.
    let observed = &evidence["control_group"];
    assert_eq!(observed["folder"], *group);
    assert_eq!(observed["memory"]["limited_by"], *group);
    assert_eq!(observed["memory"]["limit_bytes"], 64 * MIB);
    let used = observed["memory"]["used_after_bytes"].as_u64();
    assert!(used.is_some_and(|bytes| bytes <= 64 * MIB), "{used:?}");
    let after = &evidence["residency_after"];
    if after["method"] == "cachestat" {
        let evicted = after["evicted_bytes"].as_u64().expect("a number");
        assert!(
            evicted > 0 && evicted + cached.unwrap_or(0) <= 256 * MIB,
            "{after}"
        );
    }
}

/// 'And why are the rewrites tipped the other way?' asks the author of this table.
#[test]
fn why_the_slowest_writer_of_an_imported_table_rewrites_the_fastest_is_a_finding() {
    let case = Case::new();
    let table = case.text_file(
        "table.txt",
        "           ------Sequential Output------   --Sequential Input- --Random-\n           \
         -Per Chr- --Block-- -Rewrite-   -Per Chr- --Block-- --Seeks--\n\
         Machine   K/sec %CP  K/sec %CP  K/sec %CP K/sec %CP K/sec  %CP  /sec %CP\n\
         Raid6       800  92 108776  14 103820  11  3276  76 606148  23 170.3   8\n\
         Raid10      753  94 175905  21  91956   9  2700  76 227793  10 409.2  15\n",
    );
    case.diskfacts(["import"]).arg(&table).run().expect_code(0);
    let run = case.last();
    let findings = run["findings"].as_array().expect("findings");
    let rewriting: Vec<&serde_json::Value> = findings
        .iter()
        .filter(|finding| finding["rule"] == "rewrite-rate")
        .collect();
    let [raid6, raid10, both] = rewriting[..] else {
        panic!("one for each volume, and one for both: {findings:?}");
    };
    let claim = both["claim"].as_str().expect("a claim");
    assert!(
        claim.ends_with(
            "Raid6 writes at 62 % of Raid10's rate and rewrites 1.13 times as fast, because it \
             reads 2.66 times as fast."
        ),
        "{claim}"
    );
    for (finding, rate, dearer) in [
        (raid6, "106.3 MB/s", "writing"),
        (raid10, "94.2 MB/s", "writing"),
    ] {
        let claim = finding["claim"].as_str().expect("a claim");
        assert!(claim.contains(rate), "{claim}");
        assert!(claim.contains("the times of both add up"), "{claim}");
        let evidence = finding["evidence"].to_string();
        assert!(
            evidence.contains(&format!("{dearer} costs more")),
            "{evidence}"
        );
    }
}
