//! `diskfacts sim [PROFILE]`: simulated disks, and the seeds reproduced on them.

use super::print;
use crate::args::{Common, Reproduced, SimArgs};
use crate::exit::{Exit, Failure, OrFail};
use crate::look;
use crate::named_text::read_text;
use anyhow::Context;
use diskfacts_disk::profile::{self, Filled, Profile};
use diskfacts_disk::reproduce::{Reproduction, reproduce};
use diskfacts_report::{json, text};
use std::path::Path;

/// The seed of a reproduction that was given none.
const SEED: u64 = 1;

pub(crate) fn run(args: &SimArgs, common: &Common) -> Result<Exit, Failure> {
    if let (Some(seed), None) = (args.seed, args.reproduce) {
        let disk = args.profile.as_deref().unwrap_or("hdd-7200-1tb");
        return Err(Failure::wrong_call(format!(
            "--seed is for what is run, and nothing is without --reproduce: type `diskfacts sim \
             --reproduce seeds --seed {seed}`, or `diskfacts measure sim:{disk} --seed {seed}` to \
             measure on a simulated disk"
        )));
    }
    match (args.profile.as_deref(), args.reproduce) {
        (None, None) => list(args, common),
        (Some(given), None) => show(given, args, common),
        (given, Some(Reproduced::Seeds)) => seeds(given, args, common),
    }
}

fn list(args: &SimArgs, common: &Common) -> Result<Exit, Failure> {
    let profiles = profile::profiles().map(profile::profile);
    let profiles: Vec<Profile> = profiles.collect::<Result<_, _>>().or_failed()?;
    print(&if args.json {
        json::profiles(&profiles)
    } else {
        text::profiles(&profiles, &look::of_stdout(common.color))
    })?;
    Ok(Exit::Done)
}

/// A profile that was named, built in or from a file.
struct Given {
    profile: Profile,
    toml: String,
    filled: Vec<Filled>,
    is_own: bool,
}

/// A built-in profile by its name, else a file.
fn given(name: &str) -> Result<Given, Failure> {
    let path = Path::new(name);
    let (toml, is_own) = match profile::profile_text(name) {
        Ok(text) => (text.to_owned(), false),
        Err(_) if name.contains(['/', '.']) || path.exists() => {
            let hint = "; `diskfacts sim` lists those built in, and `diskfacts sim hdd-7200-1tb \
                        > my.toml` makes a file to begin with";
            (read_text(path, &format!("the profile {name}"), hint)?, true)
        }
        Err(unknown) => {
            return Err(Failure::wrong_call(format!(
                "{unknown}. `diskfacts sim` says what each is"
            )));
        }
    };
    let (profile, filled) = profile::read(&toml)
        .with_context(|| format!("the profile {name} is of no disk that can be"))
        .or_wrong_call()?;
    Ok(Given {
        profile,
        toml,
        filled,
        is_own,
    })
}

fn show(name: &str, args: &SimArgs, common: &Common) -> Result<Exit, Failure> {
    let given = given(name)?;
    if args.json {
        print(&json::profile(&given.profile, &given.toml, &given.filled))?;
        return Ok(Exit::Done);
    }
    print(&given.toml)?;
    if given.is_own {
        if !given.toml.ends_with('\n') {
            print("\n")?;
        }
        let look = look::of_stdout(common.color);
        print(&text::filled(&given.profile, &given.filled, &look))?;
    }
    Ok(Exit::Done)
}

fn seeds(name: Option<&str>, args: &SimArgs, common: &Common) -> Result<Exit, Failure> {
    let instead = name.map(given).transpose()?;
    let instead = instead.as_ref().map(|given| &given.profile);
    let result = reproduce(args.seed.unwrap_or(SEED), instead).or_wrong_call()?;
    print(&if args.json {
        json::reproduction(&result)
    } else {
        text::reproduction(&result, &look::of_stdout(common.color))
    })?;
    judge(&result)
}

fn judge(result: &Reproduction) -> Result<Exit, Failure> {
    match text::missed(result) {
        None => Ok(Exit::Done),
        Some(missed) => Err(Failure::failed(format!(
            "the simulation misses what the seeds measured: {missed}"
        ))),
    }
}
