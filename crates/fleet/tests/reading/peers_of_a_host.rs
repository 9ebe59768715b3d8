use crate::made::{BEGAN_S, add, fleet, run};
use diskfacts_facts::fleet::Sample;
use std::collections::BTreeSet;

/// Who is beside the host `c000`, among so many of two nights.
fn beside(hosts: usize) -> (usize, BTreeSet<String>, Vec<Sample>) {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("fleet");
    for night in 0..2 {
        let of_host = |host: usize| {
            let started_s = BEGAN_S + 86_400 * night;
            run(
                &format!("c{host:03}"),
                &format!("n{night}"),
                started_s,
                1000.0,
            )
        };
        let mut runs: Vec<_> = (0..hosts).map(of_host).collect();
        let mut other = run("x", "other", BEGAN_S, 1000.0);
        other.machine.kernel = Some("Linux 7.1".to_owned());
        runs.push(other);
        add(&folder, &runs);
    }
    let fleet = fleet(&folder);
    let runs = fleet.runs(None).expect("the files are read");
    let samples = fleet.samples(&runs.of_host("c000"), None);
    let samples = samples.expect("the files are read");
    let own = samples.iter().filter(|s| s.member.host == "c000").count();
    let others = samples.iter().map(|sample| sample.member.host.clone());
    let others = others.filter(|host| host != "c000").collect();
    (own, others, samples)
}

#[test]
fn a_host_is_followed_beside_all_of_its_peers_and_nobody_else() {
    let (own, others, samples) = beside(30);
    assert_eq!((own, others.len()), (4, 29));
    assert_eq!(samples.len(), 30 * 4);
    assert!(!others.contains("x"));
}

#[test]
fn of_more_peers_two_hundred_are_drawn_and_the_same_of_the_same_fleet() {
    let (own, others, samples) = beside(260);
    assert_eq!((own, others.len()), (4, 200));
    assert_eq!(samples.len(), 201 * 4);
    assert_eq!(beside(260).1, others);
    // They are not those whose names come first.
    assert!(others.iter().any(|host| host.as_str() > "c230"));
}
