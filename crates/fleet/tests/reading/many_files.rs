use crate::made::{BEGAN_S, add, fleet, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that the process may have, the harness's own among them.
const DESCRIPTORS: u64 = 64;

#[test]
fn a_fleet_of_more_files_than_a_process_may_open_is_read() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("fleet");
    let one = temporary.path().join("one");
    for host in 0..8 {
        add(&one, &[run(&format!("c{host}"), "first", BEGAN_S, 1000.0)]);
    }
    std::fs::create_dir(&folder).expect("a folder");
    // Copies count as nothing new, and have to be opened all the same.
    for (place, file) in std::fs::read_dir(&one).expect("the files").enumerate() {
        let file = file.expect("a file").path();
        for copy in 0..2 * DESCRIPTORS / 8 {
            std::fs::copy(&file, folder.join(format!("{place}-{copy}.parquet"))).expect("a copy");
        }
    }
    let before = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(DESCRIPTORS),
        ..before
    };
    setrlimit(Resource::Nofile, few).expect("a lower limit");
    let runs = fleet(&folder).runs(None);
    let samples = runs
        .as_ref()
        .map(|runs| fleet(&folder).samples(&runs.newest(None), None));
    let nothing = diskfacts_fleet::Adding::into(&folder).and_then(diskfacts_fleet::Adding::finish);
    setrlimit(Resource::Nofile, before).expect("the limit of before");
    let samples = samples.expect("the runs").expect("the samples");
    assert_eq!(samples.len(), 2 * 8);
    assert_eq!(nothing.expect("the files are read"), None);
}
