//! The documentation says what the program does: its keys, options, rules,
//! uses, examples and links are held against the program itself.
//!
//! What is compared is written as Markdown that people read: a table whose
//! first head cell is `key`, `option`, `refused` or `percentile`, a heading
//! that is a name in backticks, a fence marked `toml plan`.

#[path = "docs/first_page.rs"]
mod first_page;
#[path = "docs/gallery.rs"]
mod gallery;
#[path = "docs/plan_keys.rs"]
mod plan_keys;
#[path = "docs/simulated_disks.rs"]
mod simulated_disks;

use diskfacts_facts::explanations;
use diskfacts_plan::builtin;
use diskfacts_record::{Histogram, Run};
use diskfacts_testkit::Program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every page: those beside the crates, and all under `docs`.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    let mut folders = vec![String::new(), "docs/".to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).expect("a folder of the project");
        for entry in entries {
            let entry = entry.expect("an entry of a folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}{name}");
            if entry.path().extension().is_some_and(|end| end == "md") {
                pages.push(path);
            } else if folder.starts_with("docs/") && entry.path().is_dir() {
                folders.push(format!("{path}/"));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 5, "{pages:?}");
    pages
}

/// A block between two lines of three backticks.
#[derive(Debug, Default)]
struct Fence {
    /// What stands behind the first backticks.
    mark: String,
    text: String,
}

/// A page without its fences, and the fences.
fn split(page: &str) -> (String, Vec<Fence>) {
    let (mut prose, mut fences) = (String::new(), Vec::new());
    let mut open: Option<Fence> = None;
    for line in page.lines() {
        let mark = line.trim_start().strip_prefix("```");
        match (&mut open, mark) {
            (None, Some(mark)) => {
                open = Some(Fence {
                    mark: mark.trim().to_owned(),
                    text: String::new(),
                });
            }
            (None, None) => {
                prose.push_str(line);
                prose.push('\n');
            }
            (Some(_), Some(_)) => fences.extend(open.take()),
            (Some(fence), None) => {
                fence.text.push_str(line);
                fence.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a fence does not end:\n{page}");
    (prose, fences)
}

/// The headings of this level, each with what follows up to the next of this
/// level or above.
fn sections(prose: &str, level: usize) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in prose.lines() {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        let heading = line[hashes..].strip_prefix(' ').filter(|_| hashes > 0);
        match heading {
            Some(heading) if hashes == level => {
                sections.push((heading.trim().to_owned(), String::new()));
                inside = true;
                continue;
            }
            Some(_) if hashes < level => inside = false,
            _ => {}
        }
        if let Some((_, text)) = sections.last_mut().filter(|_| inside) {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections
}

fn section(prose: &str, level: usize, heading: &str) -> String {
    let mut sections = sections(prose, level).into_iter();
    let found = sections.find(|(name, _)| name == heading);
    found.unwrap_or_else(|| panic!("no section {heading}")).1
}

/// The rows of all tables whose first head cell is this.
fn rows(prose: &str, head: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut wanted = None;
    for line in prose.lines() {
        let Some(inner) = line.trim().strip_prefix('|') else {
            wanted = None;
            continue;
        };
        let inner = inner.strip_suffix('|').unwrap_or(inner);
        let cells: Vec<String> = inner
            .replace("\\|", "\u{0}")
            .split('|')
            .map(|cell| cell.replace('\u{0}', "|").trim().to_owned())
            .collect();
        match wanted {
            None => wanted = Some(cells[0] == head),
            Some(true) if !cells[0].starts_with("--- ") && cells[0] != "---" => rows.push(cells),
            Some(_) => {}
        }
    }
    rows
}

/// What stands between backticks.
fn spans(text: &str) -> Vec<String> {
    let parts = text.split('`');
    parts.skip(1).step_by(2).map(str::to_owned).collect()
}

/// The text between backticks, if there is nothing else.
fn only_span(text: &str) -> Option<String> {
    let inner = text.strip_prefix('`')?.strip_suffix('`')?;
    (!inner.contains('`')).then(|| inner.to_owned())
}

const PLAN_FILE: &str = "docs/reference/plan-file.md";

#[test]
fn every_built_in_plan_and_every_stage_of_the_survey_is_documented() {
    let (prose, _) = split(&read(PLAN_FILE));
    let plans = section(&prose, 2, "The built-in plans");
    let headings: Vec<String> = sections(&plans, 3).into_iter().map(|(h, _)| h).collect();
    let names: Vec<&str> = builtin::names().collect();
    assert_eq!(headings, names);
    let documented: Vec<String> = rows(&section(&plans, 3, "survey"), "stage")
        .iter()
        .filter_map(|row| only_span(&row[0]))
        .collect();
    let survey = builtin::plan("survey").expect("it is built in");
    let stages: Vec<&str> = survey.stages.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(documented, stages);
}

const EXPLANATIONS: &str = "docs/reference/explanations.md";

/// The sections of one part of the page of explanations, by name.
fn explained(part: &str) -> Vec<(String, String)> {
    let (prose, _) = split(&read(EXPLANATIONS));
    sections(&section(&prose, 2, part), 3)
        .into_iter()
        .map(|(heading, text)| {
            let name = only_span(&heading).unwrap_or_else(|| panic!("{heading}: no name"));
            for label in ["**Evidence**", "**Threshold**"] {
                assert!(text.contains(label), "{name}: no {label}");
            }
            (name, text.split_whitespace().collect::<Vec<_>>().join(" "))
        })
        .collect()
}

#[test]
fn the_sections_of_the_page_of_explanations_are_those_that_the_program_says() {
    const FIRST: &str = "## What limited a stage";
    let page = read(EXPLANATIONS);
    let (head, _) = page.split_once(FIRST).expect("the sections of limiters");
    let [limits, findings] =
        [explanations::LIMITS, explanations::FINDINGS].map(explanations::on_page);
    let made = format!("{head}{FIRST}\n\n{limits}\n## What the figures mean\n\n{findings}");
    if page == made {
        return;
    }
    assert!(
        std::env::var_os("DOCS_UPDATE").is_some_and(|wanted| wanted == "always"),
        "{EXPLANATIONS} is not made of crates/facts/src/explanations/; change those, and:\n  \
         DOCS_UPDATE=always cargo test -p diskfacts --test docs explanations"
    );
    std::fs::write(root().join(EXPLANATIONS), made).expect("the page can be written");
}

/// It was once two pages, of which the shorter had so many lines and words; what else is to be
/// known of a claim is said by `diskfacts explain NAME`.
#[test]
fn the_page_of_explanations_stays_one_that_is_read() {
    const LINES: usize = 745;
    const WORDS: usize = 8196;
    let page = read(EXPLANATIONS);
    let (lines, words) = (page.lines().count(), page.split_whitespace().count());
    assert!(
        lines < LINES && words < WORDS,
        "{EXPLANATIONS} has {lines} lines and {words} words; below {LINES} and {WORDS} it is read: \
         say it shorter in crates/facts/src/explanations/, or under another label than Evidence and \
         Threshold, which `diskfacts explain` prints alone"
    );
    assert!(
        page.contains("`diskfacts explain NAME`"),
        "where the rest is"
    );
}

const SEVERITIES: [&str; 3] = ["Error", "Warning", "Note, "];

#[test]
fn every_limiter_has_a_section_and_every_section_is_a_limiter() {
    let documented = explained("What limited a stage");
    let limiters = diskfacts_facts::limits::all();
    let names: Vec<&str> = limiters.map(|limiter| limiter.name).collect();
    let headings: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headings, names);
    let kinds = rows(&split(&read(EXPLANATIONS)).0, "kind");
    for (name, text) in &documented {
        let kind = text.split_once(". *").map(|(_, kind)| kind.to_lowercase());
        let kind = kind.unwrap_or_else(|| panic!("{name}: no kind"));
        assert!(
            kinds.iter().any(|known| kind.starts_with(&known[0])),
            "{name}: {kind}"
        );
    }
}

#[test]
fn every_claim_about_hosts_together_has_a_section_and_every_section_is_a_claim() {
    let page = read("docs/reference/together.md");
    let headings = page.lines().filter_map(|line| line.strip_prefix("### `"));
    let mut headings: Vec<&str> = headings.filter_map(|name| name.strip_suffix('`')).collect();
    let mut claims = diskfacts_facts::together::CLAIMS.to_vec();
    headings.sort_unstable();
    claims.sort_unstable();
    assert_eq!(headings, claims);
}

#[test]
fn every_rule_has_a_section_and_every_section_is_a_rule() {
    let of_runs = diskfacts_facts::rules::all().iter();
    let of_documents = diskfacts_facts::documents::rules().iter();
    let mut rules: Vec<&str> = Vec::new();
    for rule in of_runs.chain(of_documents) {
        // One may speak of runs and of documents.
        if !rules.contains(&rule.name) {
            rules.push(rule.name);
        }
    }
    // What is a limiter too stands among these, once.
    let limiters = explained("What limited a stage");
    let documented = explained("What the figures mean");
    let is_limiter = |name: &str| limiters.iter().any(|(limiter, _)| limiter == name);
    let own = rules.iter().copied();
    let own: Vec<&str> = own.filter(|name| !is_limiter(name)).collect();
    let headings: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headings, own);
    for name in rules {
        let sections = [&documented, &limiters];
        let mut found = sections.into_iter().flatten();
        let (_, text) = found.find(|(section, _)| section == name).expect("seen");
        assert!(
            SEVERITIES.iter().any(|severity| text.contains(severity)),
            "{name}: no severity"
        );
    }
}

/// A run of nothing: its verdicts say what is needed.
fn empty_run() -> Run {
    serde_json::from_value(serde_json::json!({
        "schema": 1,
        "run": {
            "id": "x", "started": "", "tool_version": "", "command": [],
            "status": "complete", "seed": 0, "notes": []
        },
        "machine": { "architecture": "", "cpus": 1, "root": false },
        "target": {
            "given": "", "path": "", "kind": "folder", "size_bytes": 0, "writable": false
        },
        "stack": { "devices": [], "unseen": [] },
        "plan": { "name": "x", "about": "", "trials": 1, "stages": [] },
        "trials": []
    }))
    .expect("a run without anything")
}

#[test]
fn every_use_is_documented_with_its_thresholds_and_their_sources() {
    let (prose, _) = split(&read("docs/reference/uses.md"));
    let documented: Vec<(String, String)> = sections(&prose, 2)
        .into_iter()
        .filter_map(|(heading, text)| Some((only_span(&heading)?, text)))
        .collect();
    let uses = diskfacts_facts::uses();
    let names: Vec<&str> = documented.iter().map(|(name, _)| name.as_str()).collect();
    let known: Vec<&str> = uses.iter().map(|usage| usage.name).collect();
    assert_eq!(names, known);
    let verdicts = diskfacts_facts::verdicts(&empty_run());
    for (usage, (name, text)) in uses.iter().zip(&documented) {
        let about = usage.about.to_lowercase();
        assert!(text.to_lowercase().contains(&about), "{name}: {about}");
        let rows = rows(text, "needs");
        let needs: Vec<_> = verdicts.iter().filter(|v| v.profile == *name).collect();
        assert_eq!(rows.len(), needs.len(), "{name}");
        for ((row, verdict), requirement) in rows.iter().zip(needs).zip(usage.requirements) {
            assert_eq!(row[0], verdict.needed, "{name}");
            assert_eq!(only_span(&row[1]).as_deref(), Some(requirement.stage));
            assert!(row[2].contains(requirement.source.url), "{name}: {row:?}");
        }
    }
}

#[test]
fn a_percentile_needs_as_many_operations_as_documented() {
    let (prose, _) = split(&read("docs/method.md"));
    let table = rows(&prose, "percentile");
    assert!(table.len() >= 5, "{table:?}");
    for row in table {
        let percent: f64 = row[0].trim_start_matches('p').parse().expect("p99");
        let needed: u64 = row[1].replace(' ', "").parse().expect("a number");
        let mut histogram = Histogram::new();
        for _ in 1..needed {
            histogram.record(1);
        }
        assert_eq!(histogram.supported_quantile(percent / 100.0), None);
        histogram.record(1);
        assert_eq!(histogram.supported_quantile(percent / 100.0), Some(1));
    }
}

fn help(command: &[&str]) -> String {
    let program = Program::new(env!("CARGO_BIN_EXE_diskfacts"));
    let finished = program.args(command).arg("--help").run();
    finished.expect_code(0);
    finished.stdout
}

/// The long options in a help text, or in the first cells of tables.
fn long_options<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    words
        // In a synopsis they stand in brackets.
        .map(|word| word.trim_start_matches('['))
        .filter(|word| word.starts_with("--"))
        .map(|word| {
            let end = word.find(|c: char| c != '-' && !c.is_ascii_alphanumeric());
            word[..end.unwrap_or(word.len())].to_owned()
        })
        .filter(|option| option.len() > 2)
        .collect()
}

/// The commands that a help text lists, if it lists some; `help` is not among them.
fn listed(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n");
    let lines = list.into_iter().flat_map(|(_, list)| list.lines());
    let names = lines.take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// Each command with its long options, and those of its parts, as `runs delete`; the first is
/// that without a command.
fn commands() -> Vec<(Option<String>, BTreeSet<String>)> {
    let options = |text: &str| {
        let lines = text.lines().filter(|line| line.trim().starts_with('-'));
        long_options(lines.flat_map(str::split_whitespace))
    };
    let main = help(&[]);
    let mut commands = vec![(None, options(&main))];
    for name in listed(&main) {
        let text = help(&[&name]);
        commands.push((Some(name.clone()), options(&text)));
        for part in listed(&text) {
            let options = options(&help(&[&name, &part]));
            commands.push((Some(format!("{name} {part}")), options));
        }
    }
    assert!(commands.len() > 3, "{main}");
    commands
}

/// The tables are made from the definitions of the arguments; here they are held against
/// what the program prints.
#[test]
fn every_command_and_every_option_is_documented_and_no_other() {
    let (prose, _) = split(&read("docs/reference/commands.md"));
    let commands = commands();
    let documented = |heading: &str| {
        let rows = rows(&section(&prose, 2, heading), "option");
        let cells: Vec<String> = rows.iter().flat_map(|row| spans(&row[0])).collect();
        long_options(cells.iter().map(String::as_str))
    };
    let of_every_command = documented("diskfacts");
    for (name, known) in &commands {
        let mut known = known.clone();
        let name = name.as_deref();
        // Without a command they are those of `measure`.
        let heading = format!("diskfacts {}", name.unwrap_or("measure"));
        if name.is_some() {
            known.insert("--version".to_owned());
        }
        let own = documented(&heading);
        let documented: BTreeSet<String> = own.union(&of_every_command).cloned().collect();
        assert_eq!(documented, known, "{heading}");
        assert!(own.is_disjoint(&of_every_command), "{heading}");
    }
    let documented = sections(&prose, 2)
        .into_iter()
        .filter(|(heading, _)| heading.starts_with("diskfacts"))
        .count();
    // `help` is documented and has no options.
    assert_eq!(documented, commands.len() + 1);
}

#[test]
fn every_exit_code_that_the_help_names_is_documented() {
    let main = help(&[]);
    // Lines are broken anywhere.
    let main = main.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, codes) = main.split_once("Exit codes: ").expect("exit codes");
    let (prose, _) = split(&read("docs/reference/commands.md"));
    let documented: Vec<String> = rows(&section(&prose, 2, "Exit codes"), "code")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    for code in codes.split("; ").filter_map(|s| s.split(' ').next()) {
        assert!(documented.contains(&code.to_owned()), "{code}");
    }
}

#[test]
fn commands_in_examples_use_options_that_exist() {
    let commands = commands();
    for page in pages() {
        let (_, fences) = split(&read(&page));
        for line in fences.iter().flat_map(|fence| fence.text.lines()) {
            let line = line.trim().trim_start_matches("$ ");
            let Some(call) = line.strip_prefix("diskfacts ") else {
                continue;
            };
            let call = call.split(['|', '>', '#', ';', '&']).next().unwrap_or(call);
            let words: Vec<&str> = call.split_whitespace().collect();
            let find = |words: &[&str]| {
                let name = words.join(" ");
                let mut commands = commands.iter();
                commands.find(|(command, _)| command.as_deref() == Some(&*name))
            };
            let (_, known) = words
                .get(..2)
                .and_then(find)
                .or_else(|| find(words.get(..1)?))
                .unwrap_or(&commands[0]);
            let used = long_options(call.split_whitespace());
            assert!(used.is_subset(known), "{page}: {line}");
        }
    }
}

/// The name that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn anchors(page: &str) -> Vec<String> {
    let (prose, _) = split(page);
    let levels = (1..=6).flat_map(|level| sections(&prose, level));
    levels.map(|(heading, _)| anchor(&heading)).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let (prose, _) = split(&read(&page));
        let folder = Path::new(&page).parent().unwrap_or(Path::new(""));
        for part in prose.split("](").skip(1) {
            let link = part.split(')').next().unwrap_or_default();
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                root().join(&page)
            } else {
                root().join(folder).join(path)
            };
            assert!(target.exists(), "{page}: nothing at {link}");
            if !place.is_empty() {
                let text = std::fs::read_to_string(&target).expect("a page");
                assert!(anchors(&text).iter().any(|a| a == place), "{page}: {link}");
            }
            links += 1;
        }
    }
    assert!(links > 20, "{links}");
}
