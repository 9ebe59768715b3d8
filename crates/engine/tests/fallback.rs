//! What happens where an ability is missing: the reason is told, and the
//! workload is done all the same.

#![cfg(target_os = "linux")]

use diskfacts_engine::{Progress, StreamFile, Trial, TrialError, TrialOutcome, run_trial};
use diskfacts_plan::{CacheMode, EngineChoice, Pattern, Stop, Workload};
use std::io::Write;

const SIZE: u64 = 4 << 20;

/// Makes `io_uring_setup(2)` answer EPERM on this thread and those it starts,
/// as a container's seccomp profile does.
fn forbid_io_uring() {
    let filter = [
        // The number of the system call, the first field of seccomp_data.
        libc::sock_filter {
            code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
            jt: 0,
            jf: 0,
            k: 0,
        },
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: u32::try_from(libc::SYS_io_uring_setup).expect("a small number"),
        },
        libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs(),
        },
        libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ALLOW,
        },
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program is valid BPF, copied by the kernel before the call
    // returns; it concerns this thread and its later children only.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    assert!(installed, "{}", std::io::Error::last_os_error());
}

fn run(workload: &Workload) -> Result<TrialOutcome, TrialError> {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let mut file = tempfile::NamedTempFile::new_in(folder).expect("a temporary file");
    file.write_all(&vec![7; usize::try_from(SIZE).expect("it is small")])
        .expect("writing the file");
    let file = StreamFile {
        path: file.path(),
        size: SIZE,
        alignment: 4096,
    };
    run_trial(
        Trial {
            file,
            workload,
            seed: 1,
        },
        &Progress::default(),
        &mut (),
    )
}

fn workload(engine: EngineChoice) -> Workload {
    Workload {
        engine,
        queue_depth: 8,
        stop: Stop {
            operations: Some(1024),
            ..Stop::default()
        },
        ..Workload::default()
    }
}

#[test]
fn without_io_uring_a_queue_depth_becomes_threads_and_the_reason_is_told() {
    forbid_io_uring();
    for pattern in [Pattern::Random, Pattern::Sequential] {
        let workload = Workload {
            pattern,
            ..workload(EngineChoice::Auto)
        };
        let outcome = run(&workload).expect("system calls do it");
        assert_eq!(outcome.ops, 1024);
        assert_eq!(outcome.engine.name, "sync");
        assert_eq!(outcome.engine.threads, 8);
        let reason = outcome.engine.fallbacks.join(" ");
        assert!(
            reason.contains("8 threads") && reason.contains("seccomp"),
            "{reason}"
        );
    }
}

#[test]
fn io_uring_asked_for_by_name_is_an_error_with_the_reason() {
    forbid_io_uring();
    let error = run(&workload(EngineChoice::IoUring)).expect_err("it is forbidden");
    let said = error.to_string();
    assert!(
        said.contains("seccomp") && said.contains("engine = \"auto\""),
        "{said}"
    );
}

#[test]
fn polling_is_done_or_the_reason_why_not_is_told() {
    for (polled, feature) in [(true, "iopoll"), (false, "sqpoll")] {
        let workload = Workload {
            iopoll: polled,
            sqpoll: !polled,
            cache: CacheMode::Direct,
            ..workload(EngineChoice::Auto)
        };
        let outcome = run(&workload).expect("it runs, polled or not");
        if outcome.engine.name != "io_uring" {
            diskfacts_testkit::skip(&outcome.engine.fallbacks.join("; "));
            return;
        }
        assert_eq!((outcome.ops, outcome.errors), (1024, 0));
        let has = outcome.engine.features.iter().any(|f| f == feature);
        let told = outcome
            .engine
            .fallbacks
            .iter()
            .any(|f| f.contains("not polled"));
        assert!(has != told, "{:?}", outcome.engine);
    }
}
