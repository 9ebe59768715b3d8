//! Settings of the kernel, which look like files.

use super::Attempts;
use super::guards::{Attached, zeros};
use crate::support::{Case, MIB};
use diskfacts_testkit::{or_skip, require_root};
use std::fs;
use std::path::Path;

#[test]
fn a_setting_of_the_kernel_is_refused_by_every_door_and_keeps_its_value() {
    or_skip!(require_root());
    let case = Case::new();
    let image = case.path("image");
    zeros(&image, MIB);
    let device = or_skip!(Attached::new(&image, &[]));
    let in_sysfs = format!("/sys/block/{}/queue/nomerges", device.name());
    let in_proc = format!("/proc/{}/oom_score_adj", std::process::id());
    let mut attempts = Attempts::new(&case, "kernel setting", [&image]);
    for (path, kind) in [(in_sysfs, "sysfs"), (in_proc, "proc")] {
        let path = Path::new(&path);
        let value = || fs::read_to_string(path).expect("the setting");
        let before = value();
        let said = format!("is a setting of the kernel ({kind}), which holds no data");
        attempts.refused_by_all(path, &[&said]);
        let seen = case.run(["devices", &path.to_string_lossy()]);
        seen.expect_stdout(&said);
        assert_eq!(value(), before);
    }
    attempts.end();
}
