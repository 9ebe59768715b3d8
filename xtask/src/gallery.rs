//! `cargo xtask gallery`: reports of the five documents that the project starts from, and of
//! simulated disks, in `target/gallery`. `docs/gallery.md` says what each shows.

use crate::project::Project;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) const USAGE: &str =
    "  cargo xtask gallery            reports of well-known documents and simulated disks,
                                 in target/gallery
";

/// What a report of the gallery is of.
enum Of {
    /// All results of a document, by its number.
    Document(&'static str),
    /// Which option of a document to take, whose report has this name.
    Advice(&'static str),
    /// A run that is measured, by the words of the command; stored under this name.
    Run(&'static [&'static str]),
    /// What changed from one run of the gallery to another.
    Comparison(&'static str, &'static str),
}

/// The reports by name.
const REPORTS: [(&str, Of); 11] = [
    ("strides", Of::Document("000")),
    ("read-ahead", Of::Document("001")),
    ("read-ahead-advice", Of::Advice("read-ahead")),
    ("volumes", Of::Document("002")),
    ("volumes-advice", Of::Advice("volumes")),
    ("ways-to-write", Of::Document("003")),
    ("iostat", Of::Document("004")),
    ("survey", Of::Run(&["sim:ssd-sata"])),
    ("survey-nvme", Of::Run(&["sim:nvme-consumer"])),
    ("zones", Of::Run(&["sim:hdd-7200-1tb", "--plan", "zones"])),
    ("compared", Of::Comparison("survey", "survey-nvme")),
];

/// Makes the gallery anew; says whether all of it was made.
///
/// # Errors
/// When the call is wrong, or the program cannot be built or run.
pub(crate) fn run(project: &Project, arguments: &[&str]) -> Result<bool, String> {
    if let [unknown, ..] = arguments {
        return Err(format!("gallery takes no '{unknown}'"));
    }
    let folder = project.root.join("target/gallery");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("emptying {}: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let mut gallery = Gallery {
        project,
        folder: &folder,
        documents: BTreeMap::new(),
    };
    for (name, of) in &REPORTS {
        gallery.make(name, of)?;
    }
    Ok(true)
}

struct Gallery<'a> {
    project: &'a Project,
    folder: &'a Path,
    /// Ids of the runs of each document, by the name of its report.
    documents: BTreeMap<&'static str, Vec<String>>,
}

impl Gallery<'_> {
    fn make(&mut self, name: &'static str, of: &Of) -> Result<(), String> {
        match of {
            Of::Document(number) => {
                let ids = self.import(number)?;
                self.report(name, &words(&ids))?;
                self.documents.insert(name, ids);
                Ok(())
            }
            Of::Advice(document) => {
                let ids = self.documents.get(document);
                let ids = ids.ok_or_else(|| format!("{document} comes after {name}"))?;
                self.report(name, &[&["--advise"], &words(ids)[..]].concat())
            }
            Of::Run(words) => {
                self.program(&[&["measure", "--quiet", "--name", name], *words].concat())?;
                self.report(name, &[name])
            }
            Of::Comparison(before, after) => self.report(name, &["--compare", before, after]),
        }
    }

    /// Stores the results of a document: the ids of its runs.
    fn import(&self, number: &str) -> Result<Vec<String>, String> {
        let prefix = format!("crates/report/tests/documents/{number}_");
        let files = self.project.files()?;
        let file = files.iter().find(|file| file.starts_with(&prefix));
        let file = file.ok_or_else(|| format!("there is no {prefix}*"))?;
        let printed = self.program(&["import", "--json", file])?;
        let imported: Vec<Value> = serde_json::from_str(&printed)
            .map_err(|error| format!("what import prints: {error}"))?;
        let runs = imported.iter().filter_map(|one| one["runs"].as_array());
        let ids = runs.flatten().filter_map(Value::as_str);
        Ok(ids.map(str::to_owned).collect())
    }

    fn report(&self, name: &str, words: &[&str]) -> Result<(), String> {
        let output = format!("target/gallery/{name}.html");
        let printed = self.program(&[&["report", "-o", &output], words].concat())?;
        print!("{printed}");
        Ok(())
    }

    /// What the program prints, with a store of the gallery's own.
    fn program(&self, words: &[&str]) -> Result<String, String> {
        let store = self.folder.join("runs.db").display().to_string();
        let call = ["run", "--quiet", "-p", "diskfacts", "--"];
        let mut command = self
            .project
            .cargo(&[&call, words, &["--store", &store]].concat());
        command.stderr(std::process::Stdio::inherit());
        let output = command
            .output()
            .map_err(|error| format!("starting cargo: {error}"))?;
        // A verdict that is no pass has an exit code of its own, and a report nevertheless.
        if !output.status.success() && output.stdout.is_empty() {
            return Err(format!("diskfacts {}: {}", words.join(" "), output.status));
        }
        String::from_utf8(output.stdout).map_err(|error| format!("what diskfacts prints: {error}"))
    }
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
