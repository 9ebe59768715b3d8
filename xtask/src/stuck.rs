//! Processes that say nothing for long: what they wait for, and their end.
//!
//! A test that hangs would otherwise hold up all the others until somebody
//! stops the machine, and nobody would learn where it hung.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// The processes that a process has started, and those that they have; the
/// nearest first. Empty where the system has no `/proc`.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    let parents = parents();
    let mut found = Vec::new();
    let mut next = VecDeque::from([process]);
    while let Some(parent) = next.pop_front() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        for (child, _) in children {
            found.push(*child);
            next.push_back(*child);
        }
    }
    found
}

/// Every process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // `pid (name) state ppid`, and the name may have brackets.
            let (_, rest) = stat.rsplit_once(") ")?;
            Some((process, rest.split(' ').nth(1)?.parse().ok()?))
        })
        .collect()
}

/// Each thread of these processes, with its state and where in the kernel it is
/// (`proc_pid_stack(5)`: only root is told).
pub(crate) fn threads(processes: &[u32]) -> String {
    let mut text = String::new();
    for process in processes {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let _ = writeln!(text, "process {process}: {}", command.trim_end());
        let tasks = fs::read_dir(format!("/proc/{process}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let (name, stat) = (read("comm"), read("stat"));
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.get(..1));
            let _ = writeln!(text, "  {} {}", state.unwrap_or("?"), name.trim_end());
            for place in read("stack").lines() {
                let _ = writeln!(text, "      {}", place.trim_start_matches("[<0>] "));
            }
        }
    }
    text
}

/// Ends these processes; one that the kernel holds ends when it is let go.
pub(crate) fn end(processes: &[u32]) {
    for process in processes {
        // It may have ended by itself, with another that is ended here.
        drop(
            Command::new("kill")
                .args(["-KILL", &process.to_string()])
                .stderr(std::process::Stdio::null())
                .status(),
        );
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn what_a_process_started_is_found_shown_and_ended() {
        let mut shell = Command::new("sh")
            .args([
                "-c",
                "exec 3>&1; tail -f /dev/null >&3 3>&- & echo started; wait",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh");
        let mut said = [0; 8];
        let mut output = shell.stdout.take().expect("a pipe");
        std::io::Read::read_exact(&mut output, &mut said).expect("its word");
        let found = descendants(shell.id());
        assert_eq!(found.len(), 1, "{found:?}");
        // Between fork and exec it still has the name of the shell.
        let shown = threads(&found);
        assert!(shown.contains("/dev/null"), "{shown}");
        end(&found);
        // `wait` of a shell succeeds whatever ended.
        assert!(shell.wait().expect("its end").success());
    }
}
