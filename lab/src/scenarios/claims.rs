//! A survey, which raises claims of every kind, on disks of which most would be false.

use super::{Scenario, Set, crypt, lvm, md};
use crate::checks::{self, ensure};
use crate::guest::{Built, Guest};
use crate::product;
use crate::sysfs;
use serde_json::Value;

pub(super) const SCENARIOS: &[Scenario] = &[
    survey("claims-nvme", &["nvme-512"], Set::Short, |guest| {
        let disk = guest.disk("nvme-512")?;
        // On a busy machine the emulated drive loses interrupts. The driver looks for itself when
        // a request has taken so many milliseconds, of which it has 30 000 else.
        let timeout = format!("/sys/block/{}/queue/io_timeout", sysfs::name_of(&disk)?);
        let before = guest.sh(&format!("cat {timeout}"))?;
        guest.sh(&format!("echo 1000 > {timeout}"))?;
        let built = surveyed(guest, &disk);
        guest.sh(&format!("echo {before} > {timeout}"))?;
        built
    }),
    survey("claims-luks", &["d0"], Set::Long, |guest| {
        let disk = guest.disk("d0")?;
        let top = crypt::open(guest, &disk, "m0")?;
        surveyed(guest, &top)
    }),
    survey("claims-md-raid1", &["d0", "d1"], Set::Long, |guest| {
        let (top, _) = md::make(guest, 1, 2, "--assume-clean")?;
        surveyed(guest, &top)
    }),
    survey("claims-lvm-linear", &["d0", "d1"], Set::Long, |guest| {
        lvm::group(guest, &["d0", "d1"])?;
        let top = lvm::create(guest, "-L 32M", "v")?;
        surveyed(guest, &top)
    }),
];

const fn survey(
    name: &'static str,
    disks: &'static [&'static str],
    set: Set,
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about: "what a survey may not claim of a disk that is a file of the host",
        set,
        disks,
        seconds: 30,
        run,
    }
}

/// Seconds of a survey, whose rounds are what rules and limiters look at: longer where they were
/// too few, since an emulated processor may get a small part of a busy real one.
const SECONDS: [u32; 2] = [20, 60];

/// Stages with a figure, at the least, of a survey that claims could be made of: not all, since
/// it has seconds only, on an emulated processor.
const FIGURES_MIN: usize = 4;

fn surveyed(guest: &mut Guest, top: &str) -> Built {
    let (mut document, mut figures) = (Value::Null, 0);
    for seconds in SECONDS {
        let run = product::measure_builtin(guest, top, "survey", seconds)?;
        document = match run.whole() {
            Ok(document) => document,
            Err(why) => {
                match silences(guest)? {
                    0 => guest.check("it is surveyed", Err(why)),
                    many => guest.skip("it is surveyed", &lost(many)),
                }
                return Ok(());
            }
        };
        figures = document["figures"].as_array().map_or(0, Vec::len);
        if figures >= FIGURES_MIN {
            break;
        }
    }
    let claims = product::claims(&document);
    let several = "there are figures of several stages, and claims of them";
    match silences(guest)? {
        many if figures < FIGURES_MIN && many > 0 => guest.skip(several, &lost(many)),
        _ => guest.check(
            several,
            ensure(figures >= FIGURES_MIN && !claims.is_empty(), || {
                format!("{figures} figures, claims: {}", claims.join(", "))
            }),
        ),
    }
    guest.check("nothing false is claimed", checks::never(&document));
    // All of these stacks pass on every byte, also of requests that are cut on the way.
    let findings = document["findings"].to_string();
    guest.check(
        "no byte is said to have come to no disk",
        ensure(!findings.contains("no disk took part"), || findings.clone()),
    );
    Ok(())
}

/// How often the kernel waited in vain for an answer of an emulated drive, by its log.
fn silences(guest: &mut Guest) -> Built<usize> {
    let log = guest.sh("dmesg")?;
    let timeouts = log.lines().filter(|line| line.contains("nvme"));
    Ok(timeouts.filter(|line| line.contains("timeout,")).count())
}

fn lost(many: usize) -> String {
    format!("an emulated drive that answers: the kernel waited for it in vain {many} times")
}
