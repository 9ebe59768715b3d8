use super::*;
use diskfacts_record::Filesystem;
use diskfacts_record::evidence::{NfsCalls, NfsMount};

fn nfs_stack(options: &[&str]) -> Stack {
    Stack {
        filesystem: Some(Filesystem {
            kind: "nfs4".into(),
            mount_point: "/mnt/nfs".into(),
            source: "10.0.0.1:/".into(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..Filesystem::default()
        }),
        ..Stack::default()
    }
}

/// A trial of which the server sent and took so much, as the client counted it.
fn from_server(workload: &Workload, [sent, took]: [u64; 2]) -> Evidence {
    let mut seen = evidence(workload, OPS, &nfs_stack(&[]));
    seen.nfs = Some(NfsMount {
        server_read_bytes: sent,
        server_write_bytes: took,
        reads: Some(NfsCalls::default()),
        ..NfsMount::default()
    });
    seen
}

/// Shares of the page cache, of the server, and of nobody knows whom, per cent; none of a device.
fn shares(workload: &Workload, seen: &Evidence, options: &[&str]) -> [u64; 3] {
    let layers = layers(workload, seen, &nfs_stack(options));
    assert!(layers.device.is_none() && layers.media <= 0.0, "{layers:?}");
    [layers.page_cache, layers.server, layers.unknown].map(|share| (share * 100.0).round() as u64)
}

#[test]
fn direct_reads_of_nfs_are_the_servers_and_no_devices() {
    let workload = reading(CacheMode::Direct);
    let seen = from_server(&workload, [BYTES, 0]);
    assert_eq!(shares(&workload, &seen, &[]), [0, 100, 0]);
}

#[test]
fn what_the_server_did_not_send_was_in_the_clients_page_cache() {
    for (sent, page_cache) in [(0, 100), (BYTES / 4, 75), (BYTES, 0), (9 * BYTES, 0)] {
        let workload = reading(CacheMode::Buffered);
        let mut seen = from_server(&workload, [sent, 0]);
        // Linux 6.1 charges a process for nothing of it but its own code.
        seen.process_io.as_mut().unwrap().read_bytes = 4096;
        let expected = [page_cache, 100 - page_cache, 0];
        assert_eq!(shares(&workload, &seen, &[]), expected, "{sent}");
    }
}

#[test]
fn what_a_local_disk_may_have_kept_of_nfs_is_not_laid_to_memory() {
    let workload = reading(CacheMode::Buffered);
    let seen = from_server(&workload, [BYTES / 4, 0]);
    assert_eq!(shares(&workload, &seen, &["rw", "fsc"]), [0, 25, 75]);
}

#[test]
fn synced_writes_to_a_server_are_on_no_medium_that_is_known() {
    for (cache, sync) in [
        (CacheMode::Direct, SyncMode::None),
        (CacheMode::Direct, SyncMode::ODsync),
        (CacheMode::Buffered, SyncMode::Fdatasync),
    ] {
        let workload = writing(cache, sync);
        let seen = from_server(&workload, [0, BYTES]);
        assert_eq!(shares(&workload, &seen, &[]), [0, 100, 0]);
    }
    let workload = writing(CacheMode::Buffered, SyncMode::None);
    let seen = from_server(&workload, [0, BYTES / 4]);
    assert_eq!(shares(&workload, &seen, &[]), [75, 25, 0]);
}

#[test]
fn of_nfs_without_its_counters_direct_io_is_still_the_servers() {
    let workload = reading(CacheMode::Direct);
    let mut seen = evidence(&workload, OPS, &nfs_stack(&[]));
    assert_eq!(shares(&workload, &seen, &[]), [0, 100, 0]);
    seen.process_io = None;
    assert_eq!(shares(&workload, &seen, &[]), [0, 0, 100]);
}
