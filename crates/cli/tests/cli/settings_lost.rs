//! SIGKILL of a run and its watchdog together, at every step, and then a restore at the
//! worst moment: nothing that is not as it was goes without being named.

use crate::settings_support::{Bench, CHOSEN, READ_ONLY, Settings, TRIES};
use crate::support::MIB;
use diskfacts_testkit::{Finished, LoopOptions, Missing, Tmpfs, or_skip, require_tool};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is so when the first restore comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Nothing is odd.
    Plain,
    /// Another filesystem lies over sysfs.
    SysfsHidden,
    /// Another filesystem lies over procfs, which says of which boot a journal is.
    ProcHidden,
    /// The process may have few files open.
    NoDescriptors,
    /// The device has another file, which was put there while it stayed.
    Refilled,
    /// The device was detached, and attached to its file again.
    Reattached,
    /// The folder of the journals is mounted for reading only.
    ReadOnlyFolder,
    /// There is no room in it.
    FullFolder,
}

const MOMENTS: [Moment; 8] = [
    Moment::Plain,
    Moment::SysfsHidden,
    Moment::ProcHidden,
    Moment::NoDescriptors,
    Moment::Refilled,
    Moment::Reattached,
    Moment::ReadOnlyFolder,
    Moment::FullFolder,
];

/// Runs of one moment that are killed side by side, each at its own steps.
const SIDE_BY_SIDE: u64 = 3;

/// A device, and a small filesystem for its journals.
struct Place {
    bench: Bench,
    _folder: Tmpfs,
}

impl Place {
    fn new(moment: Moment) -> Result<Self, Missing> {
        require_tool("unshare", "util-linux")?;
        let options = match moment {
            // It is attached for writing again.
            Moment::Reattached => LoopOptions::default(),
            _ => READ_ONLY,
        };
        let folder = Tmpfs::new(64 << 10)?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
            .expect("a folder of root alone");
        let bench = Bench::with(MIB, options)?.with_state(folder.path().join("state"));
        Ok(Self {
            bench,
            _folder: folder,
        })
    }

    /// The first restore after a kill; none where another test has taken the device.
    fn restore(&mut self, moment: Moment, step: u64) -> Result<Option<Finished>, Missing> {
        let bench = &mut self.bench;
        let restore = &["restore"];
        let finished = match moment {
            Moment::SysfsHidden => bench
                .diskfacts_apart("mount -t tmpfs tmpfs /sys", restore)?
                .run(),
            Moment::Plain => bench.diskfacts(restore).run(),
            Moment::ProcHidden => bench
                .diskfacts_apart("mount -t tmpfs tmpfs /proc", restore)?
                .run(),
            Moment::NoDescriptors => {
                let limit = format!("ulimit -n {}", 4 + step % 6);
                bench.diskfacts_after(&limit, restore).run()
            }
            Moment::Refilled => {
                bench.device.change_file()?;
                bench.diskfacts(restore).run()
            }
            Moment::Reattached => {
                if !bench.attach_again(|_| true) {
                    return Ok(None);
                }
                bench.diskfacts(restore).run()
            }
            Moment::ReadOnlyFolder => {
                let state = bench.state();
                fs::create_dir_all(&state).expect("the folder, which may not be there yet");
                let state = state.display();
                let script =
                    format!("mount --bind {state} {state} && mount -o remount,ro,bind {state}");
                bench.diskfacts_apart(&script, restore)?.run()
            }
            Moment::FullFolder => {
                let full = bench.state().with_file_name("full");
                let mut filler = File::create(&full).expect("a file");
                while filler.write_all(&[0; 512]).is_ok() {}
                let finished = bench.diskfacts(restore).run();
                fs::remove_file(full).expect("the filler");
                finished
            }
        };
        Ok(Some(finished))
    }
}

impl Moment {
    /// Whether the kernel itself sets this anew in it, so that it is not put back.
    fn sets(self, setting: &str) -> bool {
        self == Self::Reattached && CHOSEN.contains(&setting)
    }
}

/// What a killed run left: what was before it, and the names of what is not as it was.
struct Left {
    before: Settings,
    changed: Vec<String>,
}

/// It was put back, or all that was not is named and its journal stays.
fn check(bench: &Bench, (moment, left): (Moment, &Left), finished: &Finished, at: &str) {
    let said = format!("{}{}", finished.stdout, finished.stderr);
    let (chosen, changed): (Vec<String>, Vec<String>) = bench
        .changed(&left.before)
        .into_iter()
        .partition(|name| moment.sets(name));
    for name in chosen.iter().filter(|name| left.changed.contains(name)) {
        assert!(said.contains(&format!("`{name}`")), "{at}: {finished}");
    }
    // Below a number of descriptors the program is not even loaded.
    let loaded = finished.code() != Some(127);
    for name in &changed {
        let folder = bench.state().display().to_string();
        // What cannot be read cannot be told but by its place.
        let unread = !said.contains("; to set it yourself: echo") && said.contains(&folder);
        let named = said.contains(&format!("`{name}`")) || unread;
        assert!(!loaded || named, "{at}: `{name}` is not named:\n{finished}");
        assert!(!bench.journals().is_empty(), "{at}: {finished}");
    }
    assert!(
        changed.is_empty() || !said.contains("All was as before"),
        "{at}: {finished}"
    );
    assert!(
        changed.is_empty() || finished.code() != Some(0),
        "{at}: {changed:?}\n{finished}"
    );
}

/// Kills at every step `first`, `first + SIDE_BY_SIDE`, ...; how many, and how many of
/// them left settings changed.
fn kill_at_every(moment: Moment, first: u64) -> Result<(u64, u64), Missing> {
    let mut place = Place::new(moment)?;
    let (mut kills, mut changed, mut taken) = (0, 0, 0);
    let mut step = first;
    loop {
        let at = format!("{moment:?} after step {step}");
        let before = place.bench.settings();
        let killed = place.bench.ended_at("kill-both", step);
        if killed.code() == Some(0) {
            return Ok((kills, changed));
        }
        assert_eq!(killed.code(), None, "{at}: {killed}");
        place.bench.wait_for_watchdog();
        let left = Left {
            changed: place.bench.changed(&before),
            before,
        };
        let Some(finished) = place.restore(moment, step)? else {
            taken += 1;
            assert!(taken < TRIES, "other tests took the device {taken} times");
            place = Place::new(moment)?;
            continue;
        };
        kills += 1;
        changed += u64::from(!left.changed.is_empty());
        check(&place.bench, (moment, &left), &finished, &at);
        let restored = place.bench.diskfacts(&["restore"]).run();
        restored.expect_code(0);
        let mut not_back = place.bench.changed(&left.before);
        not_back.retain(|name| !moment.sets(name));
        assert_eq!(not_back, [""; 0], "{at}: {finished}\n{restored}");
        assert_eq!(place.bench.journals(), [""; 0], "{at}: {restored}");
        step += SIDE_BY_SIDE;
    }
}

#[test]
fn of_two_hundred_kills_no_setting_is_lost_without_being_named() {
    let (kills, changed) = (AtomicU64::new(0), AtomicU64::new(0));
    let missing = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for moment in MOMENTS {
            for first in 1..=SIDE_BY_SIDE {
                let (kills, changed) = (&kills, &changed);
                threads.push(scope.spawn(move || {
                    let (of_these, of_changed) = kill_at_every(moment, first)?;
                    kills.fetch_add(of_these, Ordering::Relaxed);
                    changed.fetch_add(of_changed, Ordering::Relaxed);
                    Ok::<(), Missing>(())
                }));
            }
        }
        let results = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        let results: Vec<_> = results
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        results.into_iter().collect::<Result<Vec<()>, Missing>>()
    });
    or_skip!(missing);
    let (kills, changed) = (kills.into_inner(), changed.into_inner());
    assert!(kills >= 200, "{kills} kills");
    // Else there was nothing to be lost.
    assert!(changed >= 100, "{changed} of {kills}");
}
