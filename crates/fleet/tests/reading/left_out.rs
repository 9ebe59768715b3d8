//! What is left out of a read, by statistics and because nobody asks for it, changes nothing of what is read.

use crate::made::{BEGAN_S, add, fleet, run};
use crate::rewritten::rewrite;
use diskfacts_facts::fleet::{Disturbance, Member, Peers, Sample, TrialSample};
use diskfacts_plan::rng::Rng;
use diskfacts_record::comparison::Measure;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sample with what one may ask for.
struct Whole {
    sample: Sample,
    group: Option<String>,
    stage: String,
}

/// All samples of a folder, row by row, by the crate `parquet` alone; of a run in several files those of
/// the first.
fn whole(folder: &Path) -> Vec<Whole> {
    let mut all: Vec<Whole> = Vec::new();
    let mut known: BTreeSet<(Member, String)> = BTreeSet::new();
    for path in files(folder) {
        let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("a file");
        let mut of_file: Vec<Whole> = Vec::new();
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).expect("a row group");
            let mut last: Option<Whole> = None;
            for row in group.get_row_iter(None).expect("its rows") {
                let mut row = of_row(&row.expect("a row"));
                match &mut last {
                    Some(last) if is_one(&last.sample, &row.sample) => {
                        last.sample.trials.append(&mut row.sample.trials);
                    }
                    _ => of_file.extend(last.replace(row)),
                }
            }
            of_file.extend(last);
        }
        let key = |whole: &Whole| (whole.sample.member.clone(), whole.sample.run.clone());
        of_file.retain(|whole| !known.contains(&key(whole)));
        known.extend(of_file.iter().map(key));
        all.extend(of_file);
    }
    all
}

fn is_one(a: &Sample, b: &Sample) -> bool {
    let of = |sample: &Sample| {
        (
            sample.member.clone(),
            sample.run.clone(),
            sample.stage.clone(),
        )
    };
    of(a) == of(b)
}

fn of_row(row: &Row) -> Whole {
    let field = |name: &str| {
        let mut fields = row.get_column_iter();
        let found = fields.find(|(known, _)| *known == name);
        found.map(|(_, field)| field.clone()).expect("the column")
    };
    let known = |name: &str| match field(name) {
        Field::Str(text) => Some(text),
        Field::Null => None,
        other => panic!("{name} is {other}"),
    };
    let text = |name: &str| known(name).expect("every row has it");
    let Field::TimestampMicros(started_us) = field("started") else {
        panic!("no moment");
    };
    let peers: BTreeMap<String, String> = serde_json::from_str(&text("peers")).expect("JSON");
    let value = match field("value") {
        Field::Double(value) => value,
        _ => f64::NAN,
    };
    Whole {
        sample: Sample {
            member: Member {
                host: text("host"),
                machine: None,
                target: text("target"),
            },
            run: text("run"),
            started_s: started_us.div_euclid(1_000_000),
            peers: Arc::new(Peers(peers)),
            stage: text("stage_label"),
            measure: Measure::of_word(&text("measure")).expect("a measure"),
            trials: vec![TrialSample {
                value,
                disturbed: known("disturbed_by")
                    .map(|by| Disturbance::of_word(&by).expect("a disturbance")),
            }],
        },
        group: known("run_group"),
        stage: text("stage"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

/// A few files with runs of a few hosts, each in row groups, pages and encodings of its own.
fn fill(folder: &Path, rng: &mut Rng) {
    for file in 0..=rng.below(3) {
        let hosts = 2 + rng.below(8);
        let mut runs = Vec::new();
        for at in 0..2 + rng.below(12) {
            let host = format!("c{:02}", rng.below(hosts) + 4 * file);
            let started_s = BEGAN_S + (rng.below(200) * 3600).cast_signed();
            let mut run = run(
                &host,
                &format!("{file}-{at}"),
                started_s,
                1000.0 * rng.unit(),
            );
            run.run.membership.group = match rng.below(3) {
                0 => None,
                1 => Some("monday".to_owned()),
                _ => Some("today".to_owned()),
            };
            if rng.below(5) == 0 {
                run.machine.kernel = Some("Linux 7.1".to_owned());
            }
            if rng.below(5) == 0 {
                "/other".clone_into(&mut run.target.path);
            }
            let of_stages = std::mem::take(&mut run.trials);
            let mut order = 0;
            for trial in of_stages {
                for number in 1..=1 + rng.below(12) as u32 {
                    let mut trial = trial.clone();
                    order += 1;
                    (trial.number, trial.order) = (number, order);
                    trial.iops = 500.0 + 500.0 * rng.unit();
                    trial.errors = u64::from(rng.below(6) == 0);
                    run.trials.push(trial);
                }
            }
            runs.push(run);
        }
        add(folder, &runs);
    }
    for path in files(folder) {
        let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
        let statistics = [
            EnabledStatistics::None,
            EnabledStatistics::Chunk,
            EnabledStatistics::Page,
        ];
        let compression = [Compression::UNCOMPRESSED, Compression::SNAPPY];
        let properties = WriterProperties::builder()
            .set_writer_version(version[rng.below(2) as usize])
            .set_statistics_enabled(statistics[rng.below(3) as usize])
            .set_compression(compression[rng.below(2) as usize])
            .set_dictionary_enabled(rng.below(4) > 0)
            // So small that some columns go on without it.
            .set_dictionary_page_size_limit(if rng.below(3) == 0 { 64 } else { 1 << 20 })
            .set_data_page_row_count_limit(1 + rng.below(40) as usize)
            .set_write_batch_size(1 + rng.below(20) as usize)
            .build();
        rewrite(&path, 1 + rng.below(120) as usize, properties);
    }
    // What two added at once is there twice.
    if rng.below(2) == 0 {
        std::fs::copy(&files(folder)[0], folder.join("copy.parquet")).expect("a copy");
    }
}

/// As text, in which what is no number is equal to itself.
fn shown(samples: &[Sample]) -> String {
    format!("{samples:#?}")
}

#[test]
fn what_is_asked_for_is_read_as_it_stands_in_a_read_of_everything() {
    for seed in 1..=24 {
        println!("seed {seed}");
        let mut rng = Rng::new(seed);
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("fleet");
        fill(&folder, &mut rng);
        let whole = whole(&folder);
        let expected = |of: &dyn Fn(&Whole) -> bool| -> String {
            let of = whole.iter().filter(|whole| of(whole));
            shown(&of.map(|whole| whole.sample.clone()).collect::<Vec<_>>())
        };
        let fleet = fleet(&folder);
        let runs = fleet.runs(None).expect("the files are read");
        for stage in [None, Some("write"), Some("nothing")] {
            let is_stage = |whole: &Whole| stage.is_none_or(|stage| whole.stage == stage);
            let read = |chosen| shown(&fleet.samples(&chosen, stage).expect("the files are read"));
            assert_eq!(read(runs.all()), expected(&is_stage), "seed {seed}");
            let from_s = BEGAN_S + 100 * 3600;
            let is_later = |whole: &Whole| is_stage(whole) && whole.sample.started_s >= from_s;
            assert_eq!(read(runs.since(from_s)), expected(&is_later), "seed {seed}");
            let host = format!("c{:02}", rng.below(16));
            let own = whole.iter().map(|whole| &whole.sample);
            let own = own.filter(|sample| sample.member.host == host);
            let peers: BTreeSet<&Peers> = own.map(|sample| &*sample.peers).collect();
            let is_beside = |whole: &Whole| {
                is_stage(whole)
                    && (whole.sample.member.host == host || peers.contains(&*whole.sample.peers))
            };
            assert_eq!(
                read(runs.of_host(&host)),
                expected(&is_beside),
                "seed {seed}"
            );
        }
        let known: BTreeSet<String> = whole.iter().filter_map(|w| w.group.clone()).collect();
        assert_eq!(fleet.groups().expect("the files are read"), known);
        for group in ["monday", "today", "nobody"] {
            let of_group = fleet.runs(Some(group)).expect("the files are read");
            let read = fleet.samples(&of_group.all(), None);
            let is_of = |whole: &Whole| whole.group.as_deref() == Some(group);
            let read = shown(&read.expect("the files are read"));
            assert_eq!(read, expected(&is_of), "seed {seed}: {group}");
        }
    }
}
