//! What shells offer, asked by the shells themselves.

use crate::support::{Case, diskfacts};
use diskfacts_testkit::{Program, or_skip, require_tool};
use std::path::Path;

/// What bash offers behind `diskfacts`, the last word being the one that is typed.
fn bash_offers(bash: &Path, script: &Path, words: &str) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_diskfacts");
    // Without a terminal there is no `compopt`.
    let asked = format!(
        "compopt() {{ :; }}\n\
         source '{}'\n\
         COMP_LINE='{program} {words}' COMP_POINT=${{#COMP_LINE}}\n\
         COMP_POINT=${{#COMP_LINE}}\n\
         _diskfacts\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let finished = Program::new(bash).args(["--norc", "-c", &asked]).run();
    finished.expect_code(0);
    assert_eq!(&*finished.stderr, "", "{finished}");
    finished.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_values_and_the_stages_of_a_stored_run() {
    let bash = or_skip!(require_tool("bash", "bash"));
    let case = Case::new();
    let store = case.store();
    case.one_trial();
    let id = case.last()["run"]["id"].as_str().expect("an id").to_owned();
    let script = diskfacts(["completions", "bash"]).run();
    script.expect_code(0);
    let script = case.text_file("diskfacts.bash", &script.stdout);
    let offers = |words: &str| bash_offers(&bash, &script, words);

    assert_eq!(offers("resto"), ["restore"]);
    assert_eq!(offers("measure . --plan sur"), ["survey"]);
    // bash replaces only what stands behind = and :.
    assert_eq!(offers("measure . --plan=sur"), ["survey"]);
    assert_eq!(offers("measure sim:nvme-d"), ["nvme-datacenter"]);
    assert_eq!(offers("import ./resu"), [""]);

    let store = store.display();
    let stage = format!("show --store {store} --stage rand");
    assert_eq!(offers(&stage), ["random-read-qd1"]);
    let stage = format!("--store={store} show {id} --stage ");
    assert_eq!(offers(&stage), ["random-read-qd1"]);
    let run = format!("show --store {store} {}", &id[..8]);
    assert_eq!(offers(&run), [id]);
    let run = format!("compare --store {store} la");
    assert_eq!(offers(&run), ["last"]);
}

#[test]
fn a_look_for_completions_makes_no_store_and_changes_none() {
    let case = Case::new();
    let ask = |words: &[&str]| {
        let store = case.store();
        let asked = diskfacts(["completion-candidates", "show", "--store"]).arg(store);
        let finished = asked.args(words).run();
        finished.expect_code(0);
        assert_eq!(&*finished.stderr, "", "{finished}");
        finished.stdout
    };
    assert_eq!(&*ask(&["--stage", ""]), "");
    assert!(!case.store().exists());
    // What is no store is left as it is, and nothing is said of it.
    std::fs::write(case.store(), "no database").expect("a file");
    assert_eq!(&*ask(&["--stage", ""]), "");
    let kept = std::fs::read_to_string(case.store()).expect("the file");
    assert_eq!(kept, "no database");
    let beside = std::fs::read_dir(case.store().parent().expect("its folder")).expect("a list");
    let names = beside.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    assert!(
        !names.iter().any(|name| name.starts_with("runs.db-")),
        "{names:?}"
    );
}

#[test]
fn the_scripts_are_sound_by_their_own_shells() {
    let case = Case::new();
    for (shell, package) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let program = or_skip!(require_tool(shell, package));
        let script = diskfacts(["completions", shell]).run();
        script.expect_code(0);
        let file = case.text_file(shell, &script.stdout);
        let checked = Program::new(program).arg("-n").arg(file).run();
        checked.expect_code(0);
        assert_eq!(&*checked.stderr, "", "{checked}");
    }
}

#[test]
fn fish_completes_through_its_script() {
    let fish = or_skip!(require_tool("fish", "fish"));
    let case = Case::new();
    let script = diskfacts(["completions", "fish"]).run();
    let script = case.text_file("diskfacts.fish", &script.stdout);
    let folder = Path::new(env!("CARGO_BIN_EXE_diskfacts"));
    let asked = format!(
        "set -gx PATH '{}' $PATH; source '{}'; complete -C 'diskfacts measure . --plan sur'",
        folder.parent().expect("its folder").display(),
        script.display()
    );
    let finished = Program::new(fish).args(["--no-config", "-c", &asked]).run();
    finished.expect_code(0).expect_stdout("survey\t");
    assert_eq!(finished.stdout.lines().count(), 1, "{finished}");
}
