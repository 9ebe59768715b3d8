//! `diskfacts report`: where the page goes, of which runs it is, and what it leaves as it is.

use crate::support::Case;
use std::fs;

/// Two runs of the same stage on different disks, the later called `fast`.
fn two_runs() -> Case {
    let case = Case::new();
    for (disk, name) in [("sim:hdd-7200-1tb", "slow"), ("sim:ssd-sata", "fast")] {
        let stage = ["--stage", "random-read-qd1", "--trials", "2"];
        let call = case
            .diskfacts(["measure", disk, "--name", name])
            .args(stage);
        call.run().expect_code(0);
    }
    case
}

#[test]
fn a_report_is_a_whole_page_of_the_last_run_or_of_those_that_are_named() {
    let case = two_runs();
    let page = case.run(["report", "-o", "-"]);
    page.expect_code(0);
    let page = page.stdout;
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"),
        "{page:.200}"
    );
    assert!(page.contains("sim:ssd-sata") && !page.contains("sim:hdd-7200-1tb"));
    assert!(
        page.contains("How long operations take"),
        "the latencies are drawn"
    );
    let both = case.path("both.html");
    let call = case.diskfacts(["report", "slow", "fast", "-o"]).arg(&both);
    call.run().expect_code(0).expect_stdout("2 runs");
    let both = fs::read_to_string(both).expect("a page");
    assert!(both.contains("sim:ssd-sata") && both.contains("sim:hdd-7200-1tb"));
    assert!(
        both.contains("How long it takes: random-read-qd1"),
        "they are over each other"
    );
}

#[test]
fn files_of_runs_are_reported_without_a_store() {
    let case = two_runs();
    let file = case.path("both.dfrun");
    let call = case
        .diskfacts(["runs", "export", "slow", "fast", "-o"])
        .arg(&file);
    call.run().expect_code(0);
    let printed = case.path("fast.json");
    fs::write(&printed, case.run(["show", "fast", "--json"]).stdout).expect("written");
    let elsewhere = Case::new();
    let page = elsewhere.diskfacts(["report", "-o", "-"]).arg(&file).run();
    page.expect_code(0)
        .expect_stdout("sim:hdd-7200-1tb")
        .expect_stdout("sim:ssd-sata");
    let page = elsewhere
        .diskfacts(["report", "-o", "-"])
        .arg(&printed)
        .run();
    page.expect_code(0).expect_stdout("sim:ssd-sata");
}

#[test]
fn only_a_report_is_replaced_unasked() {
    let case = two_runs();
    let folder = case.folder("pages");
    let report = |more: &[&str]| {
        case.diskfacts(["report"])
            .args(more)
            .current_dir(&folder)
            .run()
    };
    // Without a name it is named by its run.
    report(&["fast"])
        .expect_code(0)
        .expect_stdout("diskfacts-2");
    let pages: Vec<_> = fs::read_dir(&folder).expect("a folder").flatten().collect();
    assert_eq!(pages.len(), 1, "and nothing else is left");
    report(&["fast", "-o", "run.html"]).expect_code(0);
    report(&["slow", "-o", "run.html"]).expect_code(0);
    let page = fs::read_to_string(folder.join("run.html")).expect("a page");
    assert!(page.contains("sim:hdd-7200-1tb"));
    let other = folder.join("notes.html");
    fs::write(&other, "<!DOCTYPE html><p>mine").expect("written");
    report(&["-o", "notes.html"])
        .expect_code(2)
        .expect_stderr("--overwrite replaces it");
    assert_eq!(
        fs::read_to_string(&other).expect("kept"),
        "<!DOCTYPE html><p>mine"
    );
    report(&["-o", "notes.html", "--overwrite"]).expect_code(0);
    assert!(
        fs::read_to_string(&other)
            .expect("a page")
            .contains("sim:ssd-sata")
    );
    report(&["-o", "."])
        .expect_code(2)
        .expect_stderr("is a folder");
    report(&["-o", "none/run.html"])
        .expect_code(1)
        .expect_stderr("no such folder");
    report(&["nigthly"]).expect_code(2).expect_stderr("nigthly");
}

/// The walk of the README.
#[test]
fn runs_of_two_machines_are_brought_together_compared_and_reported() {
    let here = Case::new();
    for (disk, name) in [("sim:hdd-7200-1tb", "web1"), ("sim:ssd-sata", "web2")] {
        let machine = Case::new();
        let stage = ["--stage", "random-read-qd1", "--trials", "2"];
        let call = machine
            .diskfacts(["measure", disk, "--name", name])
            .args(stage);
        call.run().expect_code(0);
        let file = here.path(&format!("{name}.dfrun"));
        let export = machine.diskfacts(["runs", "export", name, "-o"]).arg(&file);
        export.run().expect_code(0);
    }
    let files = ["web1.dfrun", "web2.dfrun"].map(|file| here.path(file));
    let import = here.diskfacts(["runs", "import"]).args(&files);
    import.run().expect_code(0).expect_stdout("web2: ");
    let compared = here.run(["compare", "web1", "web2"]);
    compared.expect_code(0).expect_stdout("B is faster than A");
    let page = here.path("compared.html");
    let report = here
        .diskfacts(["report", "--compare", "web1", "web2", "-o"])
        .arg(&page);
    report.run().expect_code(0);
    let page = fs::read_to_string(page).expect("a page");
    for what in ["hdd-7200-1tb", "ssd-sata", "random-read-qd1"] {
        assert!(page.contains(what), "{what} is on the page");
    }
}
