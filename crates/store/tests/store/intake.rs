//! Runs from one store to another.

use crate::{figures, sample};
use diskfacts_record::Labels;
use diskfacts_store::dfrun::{Reader, write};
use diskfacts_store::{Error, Parcel, Store, Taken};
use std::path::Path;

/// The runs of a store with these ids, as a file has them.
fn exported(store: &Store, ids: &[&str]) -> Vec<Parcel> {
    let mut bytes = Vec::new();
    let of = u32::try_from(ids.len()).unwrap();
    for (number, id) in (1..).zip(ids) {
        write(&mut bytes, &store.kept(id).unwrap(), (number, of)).unwrap();
    }
    Reader::new(&bytes[..]).map(Result::unwrap).collect()
}

fn open(folder: &Path, name: &str) -> Store {
    Store::open(&folder.join(name)).unwrap()
}

#[test]
fn a_run_comes_whole_and_a_second_time_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = open(folder.path(), "here.db");
    let (complete, mut killed) = (sample::explained("a"), sample::explained("b"));
    killed.figures.clear();
    here.add(std::slice::from_ref(&complete)).unwrap();
    here.begin(&killed, None).unwrap();
    let parcels = exported(&here, &["a", "b"]);
    let mut there = open(folder.path(), "there.db");
    let intake = there.intake().unwrap();
    for parcel in &parcels {
        let figures = diskfacts_facts::figures(&parcel.run);
        assert_eq!(intake.take(parcel, &figures).unwrap(), Taken::Stored);
        assert_eq!(intake.take(parcel, &figures).unwrap(), Taken::Known);
    }
    intake.commit().unwrap();
    assert!(there.load("a").unwrap() == complete);
    assert!(there.load("b").unwrap() == killed);
    assert!(there.kept("a").unwrap() == here.kept("a").unwrap());
    assert_eq!(there.runs(9).unwrap(), here.runs(9).unwrap());
    let rows = figures::rows(&folder.path().join("there.db"));
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[..2], figures::rows(&folder.path().join("here.db")));
    assert_eq!(there.of_older_arithmetic().unwrap(), [""; 0]);
    // Whatever it is called here or there it is the same, and keeps what it is called.
    let rename = |labels: &mut Labels| labels.name = Some("mine".into());
    there.relabel(&["a"], rename).unwrap();
    let intake = there.intake().unwrap();
    assert_eq!(intake.take(&parcels[0], &[]).unwrap(), Taken::Known);
    intake.commit().unwrap();
    assert_eq!(there.load("mine").unwrap().run.id, "a");
    assert_eq!(there.count_figures().unwrap(), (4, 2));
}

#[test]
fn another_run_of_the_same_id_is_refused_and_nothing_is_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = open(folder.path(), "here.db");
    here.add(&[sample::explained("new"), sample::explained("a")])
        .unwrap();
    let parcels = exported(&here, &["new", "a"]);
    let mut there = open(folder.path(), "there.db");
    let mut other = sample::explained("a");
    other.trials.pop();
    there.add(&[other]).unwrap();
    let intake = there.intake().unwrap();
    intake.take(&parcels[0], &[]).unwrap();
    let error = intake.take(&parcels[1], &[]).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error:?}");
    assert!(error.to_string().contains("runs delete a"), "{error}");
    drop(intake);
    let ids: Vec<String> = there
        .runs(9)
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(ids, ["a"]);
}

/// A run of a host with this id.
fn made_on(host: &str, id: &str) -> diskfacts_record::Run {
    let mut run = sample::explained(id);
    run.machine.host = Some(host.to_owned());
    run
}

#[test]
fn a_run_of_another_host_with_the_same_id_is_stored_under_one_of_its_own_and_known_again() {
    const ID: &str = "20261127-130000-00c0ffee";
    let folder = tempfile::tempdir().unwrap();
    let mut there = open(folder.path(), "there.db");
    let mut taken = Vec::new();
    for host in ["c1", "c2", "c1", "c2"] {
        let mut here = open(folder.path(), &format!("{host}-{}.db", taken.len()));
        here.add(&[made_on(host, ID)]).unwrap();
        let parcels = exported(&here, &[ID]);
        let intake = there.intake().unwrap();
        taken.push(intake.take(&parcels[0], &[]).unwrap());
        intake.commit().unwrap();
    }
    let Taken::StoredAs { id } = &taken[1] else {
        panic!("{taken:?}");
    };
    assert_eq!(taken[0], Taken::Stored);
    assert_eq!(taken[2], Taken::Known);
    assert_eq!(taken[3], Taken::KnownAs { id: id.clone() });
    assert!(id.starts_with("20261127-130000-") && id != ID, "{id}");
    let mut of_other = made_on("c2", id);
    assert!(there.load(ID).unwrap() == made_on("c1", ID));
    assert!(there.load(id).unwrap() == of_other);
    // It goes on as what it is here.
    let again = exported(&there, &[id]);
    of_other.run.id.clone_from(id);
    assert!(again[0].run == of_other);
}
