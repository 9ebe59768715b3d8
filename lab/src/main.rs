//! The program that runs inside the lab's guests: it builds stacks of devices,
//! runs diskfacts on them, and holds what it says against what the guest's
//! kernel says. `cargo xtask lab` boots the guests.
//!
//! `list` prints what there is, for the host; `guest` does the scenarios that
//! the host asks for, as root in a machine that is thrown away afterwards. It
//! overwrites disks without asking: never start that elsewhere. `helper` does
//! what a scenario in another guest tells it.

mod checks;
mod command;
mod disks;
mod fuzz;
mod guest;
mod needs;
mod product;
mod remote_shell;
mod scenarios;
mod sum;
mod sysfs;
mod wire;

use checks::Before;
use guest::{Guest, Trouble};
use scenarios::Scenario;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            println!("{}", scenarios::listed());
            ExitCode::SUCCESS
        }
        // The first program of a guest, or its child.
        ["guest"] if std::path::Path::new("/init").exists() => match wire::ready() {
            Ok(names) => {
                for name in names {
                    perform(&name);
                }
                wire::tell(&json!({ "done": true }));
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("diskfacts-lab: {error}");
                ExitCode::from(2)
            }
        },
        // A guest that helps another one.
        ["helper"] if std::path::Path::new("/init").exists() => match remote_shell::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("diskfacts-lab: {error}");
                ExitCode::from(2)
            }
        },
        _ => {
            eprintln!("usage: diskfacts-lab list\nThe rest is for guests: cargo xtask lab");
            ExitCode::from(2)
        }
    }
}

/// Does one scenario, and takes down what it built.
fn perform(name: &str) {
    wire::tell(&json!({ "begin": name }));
    let start = Instant::now();
    let mut guest = Guest::new(name);
    let before = Before::look();
    let done = match (scenarios::find(name), fuzz::Number::parse(name)) {
        (Some(Scenario { run, .. }), _) => run(&mut guest),
        (None, Some(number)) => fuzz::random(&mut guest, number),
        (None, None) => Err(Trouble::Failed("there is no such scenario".to_owned())),
    };
    match done {
        Ok(()) => {}
        Err(Trouble::Failed(why)) => guest.check("it can be built and looked at", Err(why)),
        Err(Trouble::Missing(what)) => guest.skip("all of it", &what),
    }
    let down = guest.take_down();
    guest.check("it is taken down", down);
    guest.check("nothing is left of it", before.compare());
    let seconds = start.elapsed().as_secs_f64();
    wire::tell(&json!({ "end": name, "seconds": seconds, "checks": guest.checks() }));
}
