//! What a run says of its stage.

use crate::case::Case;
use serde_json::Value;
use std::path::Path;

/// A measurement of one stage.
pub(crate) struct Measurement<'a> {
    target: &'a Path,
    stage: &'a str,
    writes: bool,
    group: Option<&'a Path>,
    size: Option<&'a str>,
    idle: bool,
}

/// Measures this file, folder or device with a stage of these lines.
pub(crate) fn of<'a>(target: &'a Path, stage: &'a str) -> Measurement<'a> {
    Measurement {
        target,
        stage,
        writes: false,
        group: None,
        size: None,
        idle: false,
    }
}

impl<'a> Measurement<'a> {
    /// It is written, and what it holds is lost.
    pub(crate) fn destroying(self) -> Self {
        Self {
            writes: true,
            ..self
        }
    }

    /// Within the control group with this folder.
    pub(crate) fn inside(self, group: &'a Path) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    /// With a file of this size.
    pub(crate) fn sized(self, size: &'a str) -> Self {
        Self {
            size: Some(size),
            ..self
        }
    }

    /// With the I/O class idle, which util-linux's `ionice` gives it.
    pub(crate) fn behind_others(self) -> Self {
        Self { idle: true, ..self }
    }

    /// Runs it.
    #[track_caller]
    pub(crate) fn said(&self) -> Said {
        let case = Case::new();
        let mut program = case.measure_stage(self.target, self.stage);
        program = program.args(["--trials", "2"]);
        if self.writes {
            program = program.arg("--destroy-data-on").arg(self.target);
        }
        if let Some(size) = self.size {
            program = program.args(["--size", size]);
        }
        if self.idle {
            program = program.under("ionice", &["-c", "3"]);
        }
        if let Some(group) = self.group {
            program = program.inside(group);
        }
        program.run().expect_code(0);
        let shown = case.run(["show", "last", "--json"]);
        Said(serde_json::from_str(&shown.stdout).expect("a JSON document"))
    }
}

/// How the claim begins that others keep the processors busy.
pub(crate) const BUSY: &str = "Others had the processors";

/// Part of a trial in which some task waited for a processor, or the hypervisor had one, from
/// which on a cause that is there need not be named: what limits the stage then may be the
/// processors, or what is said of a device is left unsaid because they may be: a changed speed
/// where they waited for half of what it lost, which here is two fifths of the time at least.
const STARVED: f64 = 0.2;

/// A run with one stage.
pub(crate) struct Said(Value);

impl Said {
    fn limits(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0["limits"].as_array().expect("limits").iter();
        let limits = all.flat_map(|stage| stage["limits"].as_array().expect("limits"));
        limits.map(|limit| {
            let text = |key: &str| limit[key].as_str().expect("a text");
            (text("limiter"), text("claim"))
        })
    }

    /// The first explanation is this one, and its sentence has this in it. That others had
    /// the processors may come before it: on a busy machine that is so too.
    #[track_caller]
    pub(crate) fn names(&self, limiter: &str, words: &str) -> &Self {
        let busy = |claim: &str| claim.starts_with(BUSY) && !words.starts_with(BUSY);
        let first = self.limits().find(|(_, claim)| !busy(claim));
        let found = first.is_some_and(|(name, claim)| name == limiter && claim.contains(words));
        let judged = found || self.is_starved(limiter);
        assert!(judged, "{limiter}, '{words}':\n{}", self.told());
        self
    }

    /// As `names`; where the device has most of the time, as one that is slow here, it is among
    /// the explanations.
    #[track_caller]
    pub(crate) fn names_unless_the_device_is_slow(&self, limiter: &str, words: &str) {
        let spent = &self.0["figures"][0]["budget"];
        let mut parts = spent["parts"].as_array().expect("parts").iter();
        let device = parts.find(|part| part["part"] == "device");
        let device_ns = device.map_or(0.0, |part| part["mean_ns"].as_f64().expect("a number"));
        let slow = device_ns > 0.5 * spent["latency_ns"].as_f64().expect("a number");
        let is_it = |(name, claim): (&str, &str)| name == limiter && claim.contains(words);
        if !(slow && self.limits().any(is_it)) {
            self.names(limiter, words);
        }
    }

    /// Whether what is missing cannot be judged, because processors were; then it is skipped.
    fn is_starved(&self, missing: &str) -> bool {
        let waited = self.waited();
        if waited > STARVED {
            diskfacts_testkit::skip(&format!(
                "free processors: tasks waited for one for {:.0} % of a trial, and '{missing}' is \
                 not said",
                waited * 100.0
            ));
        }
        waited > STARVED
    }

    /// Some explanation has this number in it, within 1 %; where there is one of its kind.
    #[track_caller]
    pub(crate) fn counts(&self, limiter: &str, number: f64) -> &Self {
        for (_, claim) in self.limits().filter(|(name, _)| *name == limiter) {
            let words = claim.split(|c: char| !(c.is_ascii_digit() || c == '.'));
            let mut numbers = words.filter_map(|word| word.parse::<f64>().ok());
            let found = numbers.any(|one| (one / number - 1.0).abs() <= 0.01);
            assert!(found, "{number}:\n{}", self.told());
        }
        self
    }

    /// The largest part of a trial in which some task waited for a processor, or the hypervisor
    /// had one.
    fn waited(&self) -> f64 {
        let trials = self.0["trials"].as_array().expect("trials").iter();
        let share = |trial: &Value| {
            let evidence = &trial["evidence"];
            let waited = [
                &evidence["pressure"]["cpu_some_ns"],
                &evidence["cpu_steal_ns"],
            ];
            let waited_ns: f64 = waited.iter().filter_map(|ns| ns.as_f64()).sum();
            waited_ns / 1e9 / trial["seconds"].as_f64().expect("a number")
        };
        trials.map(share).fold(0.0, f64::max)
    }

    /// The evidence of an explanation has these words.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) {
        let limits = self.0["limits"].to_string();
        let found = limits.contains(words);
        assert!(found || self.is_starved(words), "'{words}':\n{limits}");
    }

    /// Nothing of this kind is said, but for processors that others had.
    #[track_caller]
    pub(crate) fn is_silent_of(&self, limiter: &str) -> &Self {
        let mut of_kind = self.limits().filter(|(name, _)| *name == limiter);
        let found = of_kind.any(|(_, claim)| !claim.starts_with(BUSY));
        assert!(!found, "{limiter}:\n{}", self.told());
        self
    }

    /// If anything of this kind is said, it is said to be possible only.
    #[track_caller]
    pub(crate) fn is_not_sure_of(&self, limiter: &str) {
        let stages = self.0["limits"].as_array().expect("limits").iter();
        let mut limits = stages.flat_map(|stage| stage["limits"].as_array().expect("limits"));
        let sure = limits.any(|one| one["limiter"] == limiter && one["confidence"] != "possible");
        assert!(!sure, "{limiter}:\n{}", self.told());
    }

    /// A rule has found this.
    #[track_caller]
    pub(crate) fn finds(&self, rule: &str, words: &str) {
        let found = self
            .findings()
            .any(|(name, claim)| name == rule && claim.contains(words));
        assert!(
            found || self.is_starved(rule),
            "{rule}, '{words}':\n{}",
            self.told()
        );
    }

    /// A rule has not found this.
    #[track_caller]
    pub(crate) fn does_not_find(&self, rule: &str, words: &str) {
        let mut found = self.findings();
        let found = found.any(|(name, claim)| name == rule && claim.contains(words));
        assert!(!found, "{rule}, '{words}':\n{}", self.told());
    }

    fn findings(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0["findings"].as_array().expect("findings").iter();
        all.map(|finding| {
            let text = |key: &str| finding[key].as_str().expect("a text");
            (text("rule"), text("claim"))
        })
    }

    /// No explanation has these words.
    #[track_caller]
    pub(crate) fn never_says(&self, words: &str) {
        let found = self.limits().any(|(_, claim)| claim.contains(words));
        assert!(!found, "'{words}':\n{}", self.told());
    }

    /// What is shown when it is not as it should be.
    fn told(&self) -> String {
        let mut lines: Vec<String> = self
            .limits()
            .map(|(name, claim)| format!("  {name}: {claim}"))
            .collect();
        for finding in self.0["findings"].as_array().expect("findings") {
            lines.push(format!("  {}: {}", finding["rule"], finding["claim"]));
        }
        let figures = &self.0["figures"][0];
        lines.push(format!("  {} IOPS", figures["iops"]["median"]));
        lines.push(format!("  {:#}", figures["budget"]["parts"]));
        lines.join("\n")
    }
}
