//! How much each dimension counts: by the user's own weights, or by a use.

use super::Dimension;
use crate::uses::{Limit, Metric, Use, uses};
use crate::words::list;
use diskfacts_plan::file::nearest;
use std::fmt;

/// How much each dimension counts; those that are not named do not.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The use that they follow from; `None` where the user gave them.
    pub usage: Option<&'static str>,
    /// Each dimension once, in the order of [`Dimension::ALL`]; all above 0.
    pub of: Vec<(Dimension, f64)>,
    /// Where they come from, a sentence each.
    pub sources: Vec<String>,
}

/// Why weights could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadWeights {
    /// A part is not `WORD=NUMBER`.
    NotAPair(String),
    /// No dimension is called this.
    Unknown(String),
    /// The same dimension twice.
    Twice(Dimension),
    /// Its weight is no number of 0 or more.
    NotANumber(Dimension, String),
    /// None is above 0.
    Nothing,
    /// No use is called this.
    UnknownUse(String),
}

fn meant(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(
        || ".".to_owned(),
        |near| format!("; did you mean '{near}'?"),
    )
}

impl fmt::Display for BadWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Dimension::ALL.map(Dimension::name);
        match self {
            Self::NotAPair(part) => write!(
                f,
                "'{part}' is no weight: a weight is WORD=NUMBER, as in \
                 `--weights seq-read=3,seq-write=1`"
            ),
            Self::Unknown(word) => write!(
                f,
                "nothing to weigh is called '{word}'{} Known are: {}",
                meant(word, &words),
                list(words)
            ),
            Self::Twice(dimension) => write!(f, "{dimension} has two weights; give it one"),
            Self::NotANumber(dimension, text) => write!(
                f,
                "'{text}' is no weight for {dimension}: it takes a number of 0 or more"
            ),
            Self::Nothing => write!(
                f,
                "no weight is above 0, so nothing decides; give one, as in `--weights seq-read=1`"
            ),
            Self::UnknownUse(word) => {
                let known: Vec<&str> = uses().iter().map(|usage| usage.name).collect();
                write!(
                    f,
                    "no use is called '{word}'{} Known are: {}; `--weights` takes your own mix",
                    meant(word, &known),
                    list(&known)
                )
            }
        }
    }
}

impl std::error::Error for BadWeights {}

impl Weights {
    /// Reads `seq-read=3,seq-write=1`.
    ///
    /// # Errors
    /// What is wrong with it; a weight of 0 is none, and one must be above 0.
    pub fn parse(text: &str) -> Result<Self, BadWeights> {
        let mut given: Vec<(Dimension, f64)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let Some((word, number)) = part.split_once('=') else {
                return Err(BadWeights::NotAPair(part.to_owned()));
            };
            let (word, number) = (word.trim(), number.trim());
            let dimension =
                Dimension::of(word).ok_or_else(|| BadWeights::Unknown(word.to_owned()))?;
            if given.iter().any(|(known, _)| *known == dimension) {
                return Err(BadWeights::Twice(dimension));
            }
            let weight: f64 = number
                .parse()
                .ok()
                .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)
                .ok_or_else(|| BadWeights::NotANumber(dimension, number.to_owned()))?;
            given.push((dimension, weight));
        }
        Self::sorted(None, given, Vec::new())
    }

    /// The weights of a use: each of its requirements counts once, for the dimension
    /// that it is about, because the sources ask for all of them and put none before
    /// the others. Where several are rates, their weights are in the proportion of
    /// the rates that are asked for: a backup volume is written at 700 GB an hour and
    /// read at 600, so its writes count 7 where its reads count 6.
    ///
    /// # Errors
    /// That no use is called this.
    pub fn of_use(name: &str) -> Result<Self, BadWeights> {
        let usage = uses().iter().find(|usage| usage.name == name);
        let usage = usage.ok_or_else(|| BadWeights::UnknownUse(name.to_owned()))?;
        let rates: Vec<f64> = usage.requirements.iter().filter_map(rate).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let mut given: Vec<(Dimension, f64)> = Vec::new();
        for needed in usage.requirements {
            let dimension = dimension(needed.stage, needed.metric);
            let weight = rate(needed).map_or(1.0, |rate| rate / mean);
            match given.iter_mut().find(|(known, _)| *known == dimension) {
                Some((_, sum)) => *sum += weight,
                None => given.push((dimension, weight)),
            }
        }
        Self::sorted(Some(usage.name), given, sources(usage))
    }

    fn sorted(
        usage: Option<&'static str>,
        mut of: Vec<(Dimension, f64)>,
        sources: Vec<String>,
    ) -> Result<Self, BadWeights> {
        of.retain(|(_, weight)| *weight > 0.0);
        of.sort_by_key(|(dimension, _)| *dimension);
        if of.is_empty() {
            return Err(BadWeights::Nothing);
        }
        Ok(Self { usage, of, sources })
    }

    /// The weight of a dimension; 0 where it does not count.
    pub fn weight(&self, dimension: Dimension) -> f64 {
        let found = self.of.iter().find(|(known, _)| *known == dimension);
        found.map_or(0.0, |(_, weight)| *weight)
    }

    /// The sum of all.
    pub fn sum(&self) -> f64 {
        self.of.iter().map(|(_, weight)| weight).sum()
    }
}

fn rate(needed: &crate::uses::Requirement) -> Option<f64> {
    match (needed.metric, needed.limit) {
        (Metric::Throughput, Limit::AtLeast(rate)) => Some(rate),
        _ => None,
    }
}

/// The dimension that a requirement of a use is about, by its stage of the survey.
fn dimension(stage: &str, metric: Metric) -> Dimension {
    match (stage, metric) {
        (_, Metric::LatencyP99) => Dimension::TailLatency,
        ("log-write", _) => Dimension::LogWrites,
        ("sequential-read", _) => Dimension::SequentialRead,
        ("sequential-write", _) => Dimension::SequentialWrite,
        _ => Dimension::Seeks,
    }
}

fn sources(usage: &Use) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for needed in usage.requirements {
        let source = format!("{}, {}", needed.source.title, needed.source.url);
        if !said.contains(&source) {
            said.push(source);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Vec<(Dimension, f64)> {
        Weights::parse(text).expect("weights").of
    }

    #[test]
    fn weights_are_read_in_any_order_and_those_of_zero_do_not_count() {
        assert_eq!(
            parsed(" seq-write=1, seq-read=3 ,seeks=0"),
            [
                (Dimension::SequentialRead, 3.0),
                (Dimension::SequentialWrite, 1.0)
            ]
        );
        let weights = Weights::parse("cpu=0.5").expect("weights");
        assert!((weights.weight(Dimension::Cpu) - 0.5).abs() < 1e-12);
        assert!(weights.weight(Dimension::Seeks).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_weight_is_refused_with_what_would_be() {
        for (text, said) in [
            ("", "WORD=NUMBER"),
            ("seeks", "'seeks' is no weight"),
            ("seq-raed=1", "did you mean 'seq-read'?"),
            ("seeks=1,seeks=2", "seeks has two weights"),
            ("seeks=-1", "'-1' is no weight for seeks"),
            ("seeks=nan", "a number of 0 or more"),
            ("seeks=inf", "a number of 0 or more"),
            ("seeks=0", "no weight is above 0"),
        ] {
            let error = Weights::parse(text).expect_err("no weights").to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        let error = Weights::of_use("ectd").expect_err("no use").to_string();
        assert!(error.contains("did you mean 'etcd'?"), "{error}");
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_weights_above_zero_or_an_error_with_words(
            text in "[a-z=,.0-9 -]{0,40}|(seeks|cpu|rewrite)=[0-9.e-]{0,6}(,(seeks|cpu)=[0-9]{1,3})?",
        ) {
            match Weights::parse(&text) {
                Ok(weights) => {
                    prop_assert!(weights.of.iter().all(|(_, weight)| *weight > 0.0));
                    prop_assert!(weights.of.windows(2).all(|two| two[0].0 < two[1].0));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn every_use_has_weights_with_their_sources() {
        for usage in uses() {
            let weights = Weights::of_use(usage.name).expect("a use");
            assert!(weights.sum() > 0.0 && !weights.sources.is_empty());
            assert!((weights.sum() - usage.requirements.len() as f64).abs() < 1e-9);
        }
        let etcd = Weights::of_use("etcd").expect("a use").of;
        assert_eq!(
            etcd,
            [(Dimension::LogWrites, 1.0), (Dimension::TailLatency, 1.0)]
        );
        // 700 and 600 GB an hour.
        let backup = Weights::of_use("backup").expect("a use");
        let ratio =
            backup.weight(Dimension::SequentialWrite) / backup.weight(Dimension::SequentialRead);
        assert!((ratio - 7.0 / 6.0).abs() < 1e-9, "{ratio}");
    }
}
