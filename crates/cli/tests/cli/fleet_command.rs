//! Runs of many hosts, brought together: hosts are UTS namespaces, their disks simulated.

use crate::support::Case;
use diskfacts_testkit::{Missing, Program, or_skip, require_root, require_tool};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Measures a simulated disk as this host does, as one of this group.
pub(crate) fn measured_in(
    group: &str,
    case: &Case,
    host: &str,
    disk: &Path,
    seed: u64,
) -> Result<(), Missing> {
    require_root()?;
    let unshare = require_tool("unshare", "util-linux")?;
    let name = r#"printf %s "$1" > /proc/sys/kernel/hostname && shift && exec "$@""#;
    Program::new(unshare)
        .args(["--uts", "sh", "-c", name, "sh", host])
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.path(&format!("{host}-{seed}.db")))
        .arg("measure")
        .arg(format!("sim:{}", disk.display()))
        .args([
            "--plan",
            "fleet",
            "--stage",
            "commit-latency",
            "--stage",
            "short-read",
        ])
        .args(["--group", group, "--label", "rack=r1", "--quiet"])
        .args(["--seed", &seed.to_string(), "--out"])
        .arg(case.path("results"))
        .run()
        .expect_code(0);
    Ok(())
}

/// Hosts of which one has a disk whose flushes take half as long again, as the group `monday`, and
/// `again` after the first look.
fn fleet(case: &Case, hosts: &[usize], look: u64) -> Result<(), Missing> {
    let healthy = case.run(["sim", "ssd-sata"]).stdout;
    let slow = healthy.replacen("flush = \"3.2ms\"", "flush = \"4.8ms\"", 1);
    assert_ne!(slow, healthy, "the profile says how long a flush takes");
    let healthy = case.text_file("healthy.toml", &healthy);
    let slow = case.text_file("slow.toml", &slow);
    for host in hosts {
        let disk = if *host == 7 { &slow } else { &healthy };
        measured_in(
            if look == 1 { "monday" } else { "again" },
            case,
            &format!("c{host:02}"),
            disk,
            look * 100 + *host as u64,
        )?;
    }
    Ok(())
}

/// Lets all files say that their runs began on another day, so that what is measured now is a look
/// at another time.
fn of_long_ago(case: &Case) -> Result<(), Missing> {
    began_on(case, "2026-01-01", results(case))
}

/// Lets these files say that their runs began on this day.
fn began_on(case: &Case, day: &str, files: Vec<PathBuf>) -> Result<(), Missing> {
    let gzip = require_tool("gzip", "gzip")?;
    let aged = r#""$2" -dc "$1" | sed -E "s/\"started\":\"[0-9-]+T/\"started\":\"$3T/" > "$4"
                  "$2" < "$4" > "$1""#;
    for file in files {
        let sh = Program::new("sh")
            .args(["-ec", aged, "sh"])
            .arg(file)
            .arg(&gzip)
            .arg(day)
            .arg(case.path("aged"));
        sh.run().expect_code(0);
    }
    Ok(())
}

/// One look of these hosts on this day, added.
fn look_on(case: &Case, day: &str, hosts: &[usize], look: u64) -> Result<(), Missing> {
    let before = results(case);
    fleet(case, hosts, look)?;
    let mut files = results(case);
    files.retain(|file| !before.contains(file));
    began_on(case, day, files)?;
    added(case).expect_code(0);
    Ok(())
}

/// The looks of the suspect that is slow, by the document of `fleet odd` with these words.
fn looks_at_the_slow_disk(case: &Case, words: &[&str]) -> Value {
    let document = json(&odd(case, words).expect_code(0).stdout);
    let mut suspects = document["suspects"].as_array().expect("suspects").iter();
    let slow = suspects.find(|s| s["host"] == "c07" && s["stage"] == "commit-latency");
    let slow = slow.unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(slow["outcome"], "odd", "{document:#}");
    slow["looks"].clone()
}

#[test]
fn a_third_look_counts_as_the_second_does() {
    let case = Case::new();
    let _ = case.folder("results");
    let all: Vec<usize> = (1..=15).collect();
    let some: Vec<usize> = (1..=10).collect();
    or_skip!(look_on(&case, "2026-01-01", &all, 1));
    or_skip!(look_on(&case, "2026-01-02", &some, 2));
    or_skip!(look_on(&case, "2026-01-03", &some, 3));
    let words = ["--after-second-look", "--json"];
    assert_eq!(looks_at_the_slow_disk(&case, &words), 3);
    // A fourth would be at another time than the third, 2026-01-03, and not at one that is over.
    let document = json(&odd(&case, &words).expect_code(0).stdout);
    let not_before_s = document["second_look"]["not_before_s"].as_i64();
    assert!(not_before_s >= Some(1_767_398_400 + 3600), "{document:#}");
    // The group says which look is the first.
    let of_group = [&words[..], &["--group", "monday"]].concat();
    assert_eq!(looks_at_the_slow_disk(&case, &of_group), 3);
    odd(&case, &["--after-second-look", "--group", "again"])
        .expect_code(2)
        .expect_stderr("began after those of the group 'again'");
}

/// Adds all files that there are.
pub(crate) fn added(case: &Case) -> diskfacts_testkit::Finished {
    let add = case
        .diskfacts(["fleet", "add", "--into"])
        .arg(case.path("fleet"));
    add.args(results(case)).run()
}

fn results(case: &Case) -> Vec<PathBuf> {
    let entries = fs::read_dir(case.path("results")).expect("the results");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("one").path()).collect();
    files.sort();
    files
}

fn odd(case: &Case, words: &[&str]) -> diskfacts_testkit::Finished {
    case.diskfacts(["fleet", "odd"])
        .arg(case.path("fleet"))
        .args(words)
        .run()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON document")
}

#[test]
fn the_slow_disk_of_a_fleet_is_suspected_and_after_a_second_look_odd() {
    let case = Case::new();
    let all: Vec<usize> = (1..=12).collect();
    or_skip!(fleet(&case, &all, 1));
    or_skip!(of_long_ago(&case));
    added(&case).expect_code(0).expect_stdout("Added 12 runs");
    let first = json(&odd(&case, &["--json"]).expect_code(0).stdout);
    assert_eq!(first["members"], 12);
    let suspects = first["suspects"].as_array().expect("suspects");
    assert!(
        suspects
            .iter()
            .any(|s| s["host"] == "c07" && s["stage"] == "commit-latency"),
        "{first:#}"
    );
    let hosts = odd(&case, &["--hosts"]);
    let hosts: Vec<&str> = hosts.expect_code(0).stdout.lines().collect();
    assert!(hosts.contains(&"c07") && hosts.len() >= 9, "{hosts:?}");
    let text = odd(&case, &[]);
    text.expect_code(0)
        .expect_stdout("c07")
        .expect_stdout("--after-second-look");
    // What is to be typed on the hosts works as it stands there, and whoever types it is a peer.
    let mut typed = text.stdout.lines().map(str::trim);
    let typed = typed.find(|line| line.starts_with("diskfacts measure sim:"));
    let words = typed.expect("a command").split(' ').skip(1);
    let measure = case.diskfacts(words).args(["--quiet", "--out"]);
    let typed = case.path("typed");
    measure.arg(&typed).run().expect_code(0);
    let typed = fs::read_dir(&typed).expect("its file").next();
    let add = case.diskfacts(["fleet", "add", "--into"]);
    let add = add.arg(case.path("with-typed")).args(results(&case));
    add.arg(typed.expect("one").expect("a file").path())
        .run()
        .expect_code(0);
    let with_typed = case.diskfacts(["fleet", "odd", "--json"]);
    let with_typed = with_typed.arg(case.path("with-typed")).run();
    let with_typed = json(&with_typed.expect_code(0).stdout);
    assert_eq!(first["suspects"][0]["peers"], 11, "{first:#}");
    assert_eq!(with_typed["suspects"][0]["peers"], 12, "{with_typed:#}");
    // There is no second look yet.
    odd(&case, &["--after-second-look"])
        .expect_code(2)
        .expect_stderr("one look");

    or_skip!(fleet(&case, &all, 2));
    added(&case)
        .expect_code(0)
        .expect_stdout("Added 12 runs")
        .expect_stdout("Already there: 12 runs");
    let later = odd(&case, &["--after-second-look", "--json"]);
    let later = json(&later.expect_code(0).stdout);
    let suspects = later["suspects"].as_array().expect("suspects");
    for suspect in suspects {
        let is_slow = suspect["host"] == "c07" && suspect["stage"] == "commit-latency";
        assert_eq!(suspect["outcome"] == "odd", is_slow, "{suspect:#}");
    }
    assert!(
        suspects.iter().any(|suspect| suspect["outcome"] == "odd"),
        "{later:#}"
    );
    case.diskfacts(["fleet", "trend"])
        .arg(case.path("fleet"))
        .args(["--host", "c07", "--stage", "commit-latency"])
        .run()
        .expect_code(0)
        .expect_stdout("2 runs");
    case.diskfacts(["fleet", "trend"])
        .arg(case.path("fleet"))
        .args(["--host", "c99"])
        .run()
        .expect_code(2)
        .expect_stderr("c01, c02");
}

#[test]
fn a_bad_file_spoils_no_other_and_a_run_counts_once() {
    let case = Case::new();
    or_skip!(fleet(&case, &[1, 2], 1));
    let good = results(&case);
    let bytes = fs::read(&good[0]).expect("a file");
    fs::write(case.path("results/cut.dfrun"), &bytes[..bytes.len() / 2]).expect("a file");
    fs::write(case.path("results/text.dfrun"), "no run").expect("a file");
    fs::write(case.path("results/empty.dfrun"), "").expect("a file");
    fs::write(case.path("results/twice.dfrun"), &bytes).expect("a file");
    added(&case)
        .expect_code(1)
        .expect_stdout("Added 2 runs")
        .expect_stdout("Already there: 1 run")
        .expect_stderr("cut.dfrun")
        .expect_stderr("text.dfrun")
        .expect_stderr("empty.dfrun")
        .expect_stderr("3 of 6 files");
    added(&case).expect_code(1).expect_stdout("Nothing new");
    // Of the same runs in two files, as two make that add at once, the first counts.
    let files: Vec<_> = fs::read_dir(case.path("fleet"))
        .expect("the fleet")
        .collect();
    let [Ok(file)] = &files[..] else {
        panic!("{files:?}");
    };
    fs::copy(file.path(), case.path("fleet/zz.parquet")).expect("a copy");
    let odd = odd(&case, &["--json"]);
    let document = json(&odd.expect_code(0).stdout);
    assert_eq!(
        (&document["members"], &document["older_runs"]),
        (&2.into(), &0.into())
    );
    // Peers are too few for a claim, which is said.
    assert_eq!(
        document["too_few"].as_array().map(Vec::len),
        Some(2),
        "{document:#}"
    );
}

#[test]
fn a_folder_that_is_no_fleet_is_said_to_be_none() {
    let case = Case::new();
    let folder = case.folder("fleet");
    odd(&case, &[]).expect_code(2).expect_stderr("fleet add");
    fs::write(folder.join("x.parquet"), "PAR1 and nothing of it").expect("a file");
    odd(&case, &[]).expect_code(1).expect_stderr("x.parquet");
    assert!(case.path("fleet").is_dir());
}

/// The Python of the virtual environment that the variable names, or any that has the module.
fn python_with_duckdb() -> Result<PathBuf, Missing> {
    let python = match std::env::var_os("DISKFACTS_TEST_DUCKDB") {
        Some(folder) => Path::new(&folder).join("bin/python3"),
        None => require_tool("python3", "python3")?,
    };
    let has_it = Program::new(&python).args(["-c", "import duckdb"]).run();
    if has_it.code() == Some(0) {
        Ok(python)
    } else {
        let remedy =
            "pip install duckdb==2.0.1 into a venv, and DISKFACTS_TEST_DUCKDB=FOLDER of it";
        Err(Missing::new("the module duckdb of Python", remedy))
    }
}

#[test]
fn duckdb_reads_the_columns_and_the_numbers() {
    let case = Case::new();
    let python = or_skip!(python_with_duckdb());
    or_skip!(fleet(&case, &[1, 7], 1));
    added(&case).expect_code(0);
    let recipe = include_str!("../../../../docs/fleet.md");
    let (_, after) = recipe.split_once("```sql\n").expect("a statement");
    let (documented, _) = after.split_once("```").expect("its end");
    let script = r#"
import duckdb, sys
files = sys.argv[1] + "/*.parquet"
of = lambda sql: duckdb.sql(sql.replace("FLEET", f"'{files}'")).fetchall()
hosts = of("SELECT host, count(*), min(started) > TIMESTAMPTZ '2020-01-01' FROM FLEET GROUP BY host ORDER BY host")
print(hosts)
print(of("SELECT DISTINCT labels ->> 'rack', run_group, plan FROM FLEET"))
slow, = of("SELECT median(value) FILTER (host = 'c07') / median(value) FILTER (host = 'c01') FROM FLEET WHERE stage = 'commit-latency'")
print("slower" if slow[0] > 1.2 else "alike")
print(of(sys.argv[2].replace("'fleet/*.parquet'", "FLEET")))
print(of("SELECT count(*) FROM FLEET WHERE (histogram_read IS NULL) = (histogram_write IS NULL)"))
"#;
    Program::new(python)
        .args(["-c", script])
        .arg(case.path("fleet"))
        .arg(documented.replace("read-latency", "commit-latency"))
        .run()
        .expect_code(0)
        .expect_stdout("(None, 2, ")
        .expect_stdout("'c07 ")
        .expect_stdout("[('c01', 12, True), ('c07', 12, True)]")
        .expect_stdout("[('r1', 'monday', 'fleet')]")
        .expect_stdout("slower")
        .expect_stdout("[(0,)]");
}
