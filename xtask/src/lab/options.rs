//! The arguments of `cargo xtask lab`, and which scenarios they mean.

use super::catalogue::{Catalogue, Scenario};
use super::kernel::Kernel;

pub(crate) const USAGE: &str =
    "  cargo xtask lab [SCENARIO...]  run diskfacts on real kinds of devices, in QEMU:
                                 the short set, or these scenarios
      --all                      all scenarios, on both kernels
      --kernel 6.1               on this kernel only
      --fuzz N --seed S          and N random stacks; fuzz:S:I is one of them
      --list                     only list the scenarios
      --shell                    a guest with their disks, and a shell in it
";

/// Random stacks in the short set, and their seed unless another is given: one of RAID 5 on
/// stripes on a linear mapping, which takes a quarter of a minute. Others take three times as
/// long (encryption on an emulated processor), which is for the long run.
const FUZZ_SHORT: u64 = 1;
const SEED: u64 = 4;

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
    fuzz: u64,
    seed: u64,
}

impl Options {
    pub(super) fn short() -> Self {
        Self {
            fuzz: FUZZ_SHORT,
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
                "--fuzz" => options.fuzz = number()?,
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
        if options.what == What::Short && (options.fuzz > 0 || !options.names.is_empty()) {
            options.what = What::Named;
        } else if options.what == What::Short {
            options.fuzz = FUZZ_SHORT;
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

    /// The scenarios for a kernel: of the second one fewer in the short set.
    ///
    /// # Errors
    /// When a name is unknown.
    pub(super) fn scenarios(
        &self,
        catalogue: &Catalogue,
        second: bool,
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
        if !second {
            let names = (0..self.fuzz).map(|index| format!("fuzz:{}:{index}", self.seed));
            chosen.extend(names.filter_map(|name| catalogue.fuzz(&name)));
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_arguments_it_is_the_short_set_with_a_random_stack() {
        assert_eq!(Options::parse(&[]), Ok(Options::short()));
    }

    #[test]
    fn what_is_named_is_done_alone() {
        let options = Options::parse(&["md-raid5", "--kernel", "6.12"]).expect("options");
        assert_eq!((options.what, options.fuzz), (What::Named, 0));
        assert_eq!(options.kernel, Some((6, 12)));
        let options = Options::parse(&["--fuzz", "200", "--seed", "7"]).expect("options");
        assert_eq!(
            (options.what, options.fuzz, options.seed),
            (What::Named, 200, 7)
        );
        assert!(Options::parse(&["--kernel", "new"]).is_err());
        assert!(Options::parse(&["--fast"]).is_err());
    }
}
