//! The control group of this process's own, on the machine as it is. A process is in
//! one group of a kind, so all of it is one test in a program of its own.
#![cfg(target_os = "linux")]

use diskfacts_host::{IoWeight, Roots};
use diskfacts_testkit::{or_skip, require_root, skip};

fn groups() -> String {
    std::fs::read_to_string("/proc/self/cgroup").expect("the groups of this process")
}

#[test]
fn a_weight_holds_while_it_lives_and_nothing_is_left_of_its_group() {
    or_skip!(require_root());
    let roots = Roots::default();
    let before = groups();
    for weight in ["500", "1"] {
        let entered = match IoWeight::enter(&roots, weight) {
            Ok(entered) => entered,
            Err(error) => {
                assert_eq!(groups(), before, "{error}");
                skip(&format!("a control group with an I/O weight: {error}"));
                return;
            }
        };
        let group = entered.group().to_owned();
        let name = format!("diskfacts-weight-{}", std::process::id());
        assert!(group.ends_with(&name), "{}", group.display());
        assert!(groups().contains(&name), "{}", groups());
        assert_eq!(entered.in_force().as_deref(), Some(weight));
        drop(entered);
        assert_eq!(groups(), before);
        assert!(!group.exists(), "{}", group.display());
    }
    // What the kernel refuses leaves nothing either.
    let error = IoWeight::enter(&roots, "1001").expect_err("it is too much");
    assert!(error.to_string().contains("drop io_weight"), "{error}");
    assert_eq!(groups(), before);
    let blkio = std::path::Path::new("/sys/fs/cgroup/blkio");
    let name = format!("diskfacts-weight-{}", std::process::id());
    assert!(!blkio.join(name).exists());
}
