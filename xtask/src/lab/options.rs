//! The arguments of `cargo xtask lab`, and which scenarios they mean.

use super::catalogue::{Catalogue, Scenario};
use super::kernel::Kernel;

pub(crate) const USAGE: &str =
    "  cargo xtask lab [SCENARIO...]  run diskfacts on real kinds of devices, in QEMU:
                                 the short set, or these scenarios
      --all                      all scenarios, on both kernels, and 200 random stacks
      --kernel 6.1               on this kernel only
      --fuzz N --seed S          N random stacks; fuzz:S:I is one of them
      --list                     only list the scenarios
      --shell                    a guest with their disks, and a shell in it
";

/// Random stacks in the long run, unless another number is given.
const FUZZ_LONG: u64 = 200;

/// Their seed, unless another is given.
const SEED: u64 = 4;

/// Which random stacks are built.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Fuzz {
    #[default]
    None,
    /// The one of the day, of those that take a quarter of a minute.
    OfTheDay,
    /// So many of a seed.
    First(u64),
}

/// What is to be done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The short set.
    #[default]
    Short,
    /// What was named, and random stacks.
    Named,
    All,
    List,
    Shell,
}

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) what: What,
    pub(super) names: Vec<String>,
    kernel: Option<(u64, u64)>,
    fuzz: Fuzz,
    seed: u64,
}

impl Options {
    pub(super) fn short() -> Self {
        Self {
            fuzz: Fuzz::OfTheDay,
            seed: SEED,
            ..Self::default()
        }
    }

    /// # Errors
    /// When an argument is unknown or lacks its value.
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            seed: SEED,
            ..Self::default()
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().and_then(|value| value.parse().ok());
                value.ok_or_else(|| format!("{word} needs a number"))
            };
            match *word {
                "--all" => options.what = What::All,
                "--list" => options.what = What::List,
                "--shell" => options.what = What::Shell,
                "--fuzz" => options.fuzz = Fuzz::First(number()?),
                "--seed" => options.seed = number()?,
                "--kernel" => {
                    let value = words.next().and_then(|value| value.split_once('.'));
                    let series = value.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                    options.kernel = Some(series.ok_or("--kernel needs a series: --kernel 6.1")?);
                }
                unknown if unknown.starts_with('-') => {
                    return Err(format!("there is no option '{unknown}'\n\n{USAGE}"));
                }
                name => options.names.push(name.to_owned()),
            }
        }
        let no_fuzz = options.fuzz == Fuzz::None;
        match options.what {
            What::Short if !no_fuzz || !options.names.is_empty() => options.what = What::Named,
            What::Short => options.fuzz = Fuzz::OfTheDay,
            What::All if no_fuzz => options.fuzz = Fuzz::First(FUZZ_LONG),
            _ => {}
        }
        Ok(options)
    }

    /// The kernels that are wanted.
    ///
    /// # Errors
    /// When there is none of the series.
    pub(super) fn of_kernels(&self, kernels: Vec<Kernel>) -> Result<Vec<Kernel>, String> {
        let Some(series) = self.kernel else {
            return Ok(kernels);
        };
        let known: Vec<String> = kernels
            .iter()
            .map(|kernel| kernel.version.clone())
            .collect();
        let wanted: Vec<Kernel> = kernels.into_iter().filter(|k| k.series == series).collect();
        if wanted.is_empty() {
            let (major, minor) = series;
            let known = known.join(", ");
            return Err(format!(
                "there is no kernel {major}.{minor} here; there are {known}"
            ));
        }
        Ok(wanted)
    }

    /// The scenarios for a kernel on a day: of the second one fewer in the short set.
    ///
    /// # Errors
    /// When a name is unknown.
    pub(super) fn scenarios(
        &self,
        catalogue: &Catalogue,
        second: bool,
        day: u64,
    ) -> Result<Vec<Scenario>, String> {
        let mut chosen: Vec<Scenario> = Vec::new();
        for name in &self.names {
            let known = catalogue.scenarios.iter().find(|s| s.name == *name);
            let scenario = known.cloned().or_else(|| catalogue.fuzz(name));
            chosen.push(scenario.ok_or_else(|| {
                format!("there is no scenario '{name}'; `cargo xtask lab --list` names them")
            })?);
        }
        let in_set = |s: &&Scenario| match self.what {
            What::All => true,
            What::Short => s.short && (!second || s.every_kernel),
            _ => false,
        };
        chosen.extend(catalogue.scenarios.iter().filter(in_set).cloned());
        match self.fuzz {
            _ if second => {}
            Fuzz::None => {}
            Fuzz::OfTheDay => chosen.extend(catalogue.fuzz_of_day(day)),
            Fuzz::First(count) => {
                let names = (0..count).map(|index| format!("fuzz:{}:{index}", self.seed));
                chosen.extend(names.filter_map(|name| catalogue.fuzz(&name)));
            }
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn without_arguments_it_is_the_short_set_with_a_random_stack() {
        assert_eq!(Options::parse(&[]), Ok(Options::short()));
    }

    #[test]
    fn what_is_named_is_done_alone() {
        let options = Options::parse(&["md-raid5", "--kernel", "6.12"]).expect("options");
        assert_eq!((options.what, options.fuzz), (What::Named, Fuzz::None));
        assert_eq!(options.kernel, Some((6, 12)));
        let options = Options::parse(&["--fuzz", "200", "--seed", "7"]).expect("options");
        assert_eq!(
            (options.what, options.fuzz, options.seed),
            (What::Named, Fuzz::First(200), 7)
        );
        assert!(Options::parse(&["--kernel", "new"]).is_err());
        assert!(Options::parse(&["--fast"]).is_err());
    }

    /// The names of what is done on the first kernel, and on the second.
    fn names(arguments: &[&str], day: u64) -> [Vec<String>; 2] {
        let scenario = json!({
            "name": "a", "about": "", "short": true, "every_kernel": true, "disks": [],
            "helpers": 0, "seconds": 1,
        });
        let listed = json!({
            "scenarios": [scenario], "fuzz": scenario, "fuzz_of_days": ["fuzz:4:0", "fuzz:4:3"],
            "disks": [], "tools": [], "modules": [],
        });
        let catalogue = Catalogue::read(&listed).expect("a catalogue");
        let options = Options::parse(arguments).expect("options");
        [false, true].map(|second| {
            let chosen = options.scenarios(&catalogue, second, day);
            let chosen = chosen.expect("scenarios").into_iter();
            chosen.map(|scenario| scenario.name).collect()
        })
    }

    #[test]
    fn the_long_run_has_two_hundred_random_stacks_or_as_many_as_are_wanted() {
        let [first, second] = names(&["--all"], 0);
        assert_eq!((first.len(), second.len()), (201, 1));
        assert_eq!((&*first[1], &*first[200]), ("fuzz:4:0", "fuzz:4:199"));
        let [first, _] = names(&["--all", "--fuzz", "3", "--seed", "9"], 0);
        assert_eq!(first, ["a", "fuzz:9:0", "fuzz:9:1", "fuzz:9:2"]);
        let [first, _] = names(&["--all", "--fuzz", "0"], 0);
        assert_eq!(first, ["a"]);
    }

    #[test]
    fn the_random_stack_of_the_short_set_is_another_each_day_and_one_on_a_day() {
        let on = |day| names(&[], day);
        let with = |stack: &str| [vec!["a".to_owned(), stack.to_owned()], vec!["a".to_owned()]];
        assert_eq!(on(20_000), with("fuzz:4:0"));
        assert_eq!(on(20_001), with("fuzz:4:3"));
        assert_eq!(on(20_002), on(20_000));
    }
}
