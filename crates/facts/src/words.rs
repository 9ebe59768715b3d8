//! Numbers and commands in sentences.

use diskfacts_plan::units::{exact_duration, exact_size, rate_digits, show_duration, three_digits};
use diskfacts_plan::{CacheMode, Pattern, Stop, Workload};
use diskfacts_record::{BlockDevice, DeviceKind, Run, TargetKind};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// A share for people: `37 %`, `0.5 %`. What is not all is not shown as all,
/// and what is not nothing not as nothing.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.05 {
        return "less than 0.1 %".to_owned();
    }
    if (99.95..100.0).contains(&value) {
        return "more than 99.9 %".to_owned();
    }
    let decimals = usize::from(value.abs() < 9.95 || (value > 99.0 && value < 100.0));
    let text = format!("{value:.decimals$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// A ratio: `3.2`.
pub(crate) fn ratio(value: f64) -> String {
    three_digits(value)
}

/// A number of things: `1 trial`, `5 trials`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    if n == 1 {
        format!("1 {thing}")
    } else {
        format!("{n} {thing}s")
    }
}

/// A number of things that need not be whole: `1 flush`, `0.9 flushes`.
pub(crate) fn ratio_of(value: f64, one: &str, many: &str) -> String {
    let number = ratio(value);
    let things = if number == "1" { one } else { many };
    format!("{number} {things}")
}

/// What is said of words, where there are any.
pub(crate) fn if_any(words: String, say: impl FnOnce(String) -> String) -> Option<String> {
    (!words.is_empty()).then(|| say(words))
}

/// What is said where this is so; else nothing.
pub(crate) fn when<T: Default>(so: bool, said: impl FnOnce() -> T) -> T {
    if so { said() } else { T::default() }
}

/// The worst of what was found and how many more: `lines` with a measure of how bad
/// each is, the worst first. Where all stages are disturbed, a line for each of them
/// says no more.
pub(crate) fn worst(mut lines: Vec<(f64, String)>) -> Vec<String> {
    const SHOWN: usize = 3;
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = lines.len().saturating_sub(SHOWN) as u64;
    let shown = lines.into_iter().take(SHOWN).map(|(_, line)| line);
    let rest = (more > 0).then(|| format!("And {}, less so.", count(more, "more stage")));
    shown.chain(rest).collect()
}

/// Lines of a document: `line 5`, `lines 3, 5 and 7 to 9`.
pub(crate) fn lines(numbers: impl IntoIterator<Item = impl Borrow<u64>>) -> String {
    let numbers: BTreeSet<u64> = numbers.into_iter().map(|n| *n.borrow()).collect();
    let numbers: Vec<u64> = numbers.into_iter().collect();
    let many = if numbers.len() == 1 { "line" } else { "lines" };
    let spans = numbers.chunk_by(|a, b| a + 1 == *b);
    let spans = spans.flat_map(|span| match span {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(u64::to_string).collect(),
    });
    format!("{many} {}", list(spans))
}

/// Lines of a document behind what stands in them: ` (line 5)`; nothing where there are none.
pub(crate) fn in_lines(numbers: impl IntoIterator<Item = impl Borrow<u64>>) -> String {
    if_any(lines_behind("", numbers), |said| format!(" ({said})")).unwrap_or_default()
}

/// The same within brackets: `; line 5`.
pub(crate) fn lines_behind(
    mark: &str,
    numbers: impl IntoIterator<Item = impl Borrow<u64>>,
) -> String {
    let mut numbers = numbers.into_iter().peekable();
    if numbers.peek().is_none() {
        return String::new();
    }
    format!("{mark}{}", lines(numbers))
}

/// Words one after the other: `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<T> = words.into_iter().collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// Devices by their names.
pub(crate) fn device_list<'a>(devices: impl IntoIterator<Item = &'a BlockDevice>) -> String {
    list(devices.into_iter().map(|device| &device.name))
}

/// A word as a shell takes it.
pub(crate) fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The commands that show the health of these, as far as they are disks.
pub(crate) fn smartctl<'a>(disks: impl IntoIterator<Item = &'a BlockDevice>) -> String {
    let disks = disks.into_iter().filter(|disk| disk.backing_file.is_none());
    list(disks.map(|disk| format!("`smartctl -a {}`", shell(&disk.path))))
}

/// How to set an attribute of the queue of a device (`queue/read_ahead_kb`), the beginning of a
/// sentence.
pub(crate) fn set_attribute(device: Option<&BlockDevice>, attribute: &str, value: &str) -> String {
    // A partition has no queue of its own.
    let name = device.map(|device| match (device.kind, device.below.first()) {
        (DeviceKind::Partition, Some(disk)) => disk,
        _ => &device.name,
    });
    let name = name.map_or_else(|| "DEVICE".to_owned(), |name| name.replace('/', "!"));
    format!("Type `echo {value} > /sys/block/{name}/{attribute}` as root")
}

/// Names of stages or devices, each once.
pub(crate) fn names<'a>(stages: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in stages {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Stages within a claim: their names while these are few, else how many; the
/// finding names them all beside it.
pub(crate) fn stage_list<T: AsRef<str>>(names: &[T]) -> String {
    const FEW: usize = 3;
    if names.len() <= FEW {
        list(names)
    } else {
        format!("{} stages", names.len())
    }
}

/// The plan that a run was told to take by file; `None` for a built-in one.
fn plan_file(run: &Run) -> Option<&str> {
    let mut typed = options(&run.run.command);
    let given = typed.find_map(|(option, value)| (option == "--plan").then_some(value));
    // A file may still have the name of the plan that it was made from.
    given.filter(|given| diskfacts_plan::builtin::text(given).is_none())
}

/// The options among words that were typed, each with its value, or with the next word, which
/// is no value of an option that takes none.
fn options(words: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let typed = words.iter().enumerate();
    typed.filter_map(|(i, word)| {
        let next = || Some((word.as_str(), words.get(i + 1)?.as_str()));
        word.split_once('=').or_else(next)
    })
}

/// The command that measures the same again.
pub(crate) fn measure(run: &Run) -> String {
    typed(&words_without(run, ""))
}

/// The command that measures this target by another plan: with its size, with the leave to write
/// that was given before, where the runs are kept, and where the target is made for the run.
pub(crate) fn measure_by(run: &Run, plan: &str) -> String {
    const KEPT: [&str; 4] = ["--size", "--loop", "--destroy-data-on", "--store"];
    let target = if run.target.kind == TargetKind::Imported {
        // What a document is of may be measured.
        "TARGET"
    } else {
        &run.target.given
    };
    let mut words = vec!["measure", target, "--plan", plan];
    for (option, value) in options(&run.run.command).filter(|(option, _)| KEPT.contains(option)) {
        words.extend([option, value]);
    }
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    typed(&words)
}

/// The command that measures the same of another target.
pub(crate) fn measure_on(run: &Run, target: &str) -> String {
    let mut words = words_without(run, "");
    let given = words.iter_mut().find(|word| **word == run.target.given);
    match given {
        Some(word) => target.clone_into(word),
        // The target was not named as a word of its own.
        None => words = vec!["measure".to_owned(), target.to_owned()],
    }
    typed(&words)
}

/// The command that measures the same again, but for one option.
pub(crate) fn measure_with(run: &Run, option: &str, value: &str) -> String {
    let mut words = words_without(run, option);
    words.extend([option.to_owned(), value.to_owned()]);
    typed(&words)
}

/// The option under which a run is printed as its seed or another program prints
/// it: without findings, so the next one is not to repeat it.
const STYLE: &str = "--style";

/// Options of how a run is shown, which somebody who measures again chooses again.
const SHOWN: [&str; 3] = ["--json", "--quiet", "--live"];

/// What was typed after the name of the program, without this option and its
/// value, and without how it was shown.
fn words_without(run: &Run, option: &str) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = run.run.command.iter().skip(1);
    while let Some(word) = words.next() {
        let left_out = |name: &str| name == option || name == STYLE;
        let with_value = word.split_once('=').is_some_and(|(name, _)| left_out(name));
        if left_out(word) {
            words.next();
        } else if !with_value && !SHOWN.contains(&word.as_str()) {
            left.push(word.clone());
        }
    }
    if run.target.kind == TargetKind::Imported {
        // An import measures nothing again: what it is of may be measured.
        return vec!["measure".to_owned(), "TARGET".to_owned()];
    }
    if left.is_empty() {
        // A run whose command is not known, or did not name a target.
        left = vec!["measure".to_owned(), run.target.given.clone()];
    }
    left
}

fn typed(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| shell(word)).collect();
    format!("diskfacts {}", words.join(" "))
}

/// Whether the run is a copy, which has operands instead of a plan.
pub(crate) fn is_copy(run: &Run) -> bool {
    let mut stages = run.plan.stages.iter();
    stages.any(|stage| stage.workload.copy.is_some())
}

/// The most that `--trials` takes.
const TRIALS_MAX: u64 = 1000;

/// The command that measures the same again for `factor` times as long.
pub(crate) fn measure_longer(run: &Run, factor: u64) -> String {
    // What is done in full takes no time from the call, and does not take --time.
    if run.run.command.iter().any(|word| word == "--full") {
        let trials = u64::from(run.plan.trials).saturating_mul(factor);
        return measure_with(run, "--trials", &trials.min(TRIALS_MAX).to_string());
    }
    let budget_ns = run.run.budget_ns.unwrap_or(60_000_000_000);
    let longer = exact_duration(budget_ns.saturating_mul(factor));
    measure_with(run, "--time", &longer)
}

/// What to do about figures of a document, where diskfacts can be told nothing:
/// `what` is what the other program has to do, as `measure longer`. `None` for a
/// run of our own.
pub(crate) fn of_document(run: &Run, what: &str) -> Option<String> {
    (run.target.kind == TargetKind::Imported).then(|| {
        format!(
            "A document cannot be asked again: let the program that wrote it {what}, with nothing \
             else running, and import that."
        )
    })
}

/// How to measure these stages longer, the end of a sentence: by the time of the
/// run, or by their own stop rules where the plan gives them some.
pub(crate) fn longer(run: &Run, stages: &[String], factor: u64) -> String {
    if let Some(said) = of_document(run, "measure longer") {
        return said;
    }
    if is_copy(run) {
        return "Copy more, with a larger count= or from a longer input.".to_owned();
    }
    let concerned = || {
        let named = run.plan.stages.iter().filter(|s| stages.contains(&s.name));
        named.map(|stage| &stage.workload)
    };
    let on_files = |workload: &Workload| workload.operation.on_files();
    // A trial on files ends with its last file, whatever time it has.
    if concerned().next().is_some() && concerned().all(on_files) {
        return edit_plan(run, "give these stages more `files`");
    }
    // A pass over a cold span ends where the span ends.
    let one_pass = |workload: &Workload| {
        workload.cache == CacheMode::Cold && workload.pattern == Pattern::Sequential
    };
    if concerned().all(one_pass) && run.target.kind == TargetKind::Folder {
        let size = exact_size(run.target.size_bytes.saturating_mul(factor.max(2)));
        return format!(
            "Type `{}`: a pass over an empty page cache ends where the file ends.",
            measure_with(run, "--size", &size)
        );
    }
    if concerned().any(|workload| workload.stop != Stop::default()) {
        return edit_plan(
            run,
            "give these stages more `time`, `bytes` or `operations`",
        );
    }
    format!("Type `{}`.", measure_longer(run, factor))
}

/// How to change something in the plan and measure with it: `what` continues
/// "in it, ...".
pub(crate) fn edit_plan(run: &Run, what: &str) -> String {
    if let Some(said) = of_document(run, "measure otherwise") {
        return said;
    }
    if is_copy(run) {
        return "Copy again with other operands: iflag= and oflag= take direct, dsync and sync, \
                conv= takes fsync and fdatasync, bs= and count= say how much."
            .to_owned();
    }
    match plan_file(run) {
        Some(file) => format!("In {}, {what}, and type `{}`.", shell(file), measure(run)),
        None => format!(
            "Type `diskfacts plans {} > my.toml`, in it {what}{}, then type `{}`.",
            run.plan.name,
            spans_to_cut(run),
            measure_with(run, "--plan", "my.toml")
        ),
    }
}

/// A built-in plan is cut to fit a small target; a plan file has to fit it.
fn spans_to_cut(run: &Run) -> String {
    let size = run.target.size_bytes;
    let whole = diskfacts_plan::builtin::known(&run.plan.name);
    let beyond = whole.is_some_and(|plan| {
        let mut spans = plan.stages.iter().filter_map(|s| s.workload.span);
        spans.any(|span| span > size)
    });
    if beyond {
        format!(" and every span to at most \"{}\"", exact_size(size))
    } else {
        String::new()
    }
}

/// How to change a key of stages in the plan and measure with it: `what`
/// continues "in it, ...". Where a stage varies its keys, that is the place.
pub(crate) fn edit_stages(run: &Run, what: &str) -> String {
    let varied = run.plan.stages.iter().any(|s| !s.settings.is_empty());
    if varied {
        edit_plan(
            run,
            &format!("{what}, or in the values of its `vary` where it is varied"),
        )
    } else {
        edit_plan(run, what)
    }
}

/// Nanoseconds for people.
pub(crate) fn duration(ns: f64) -> String {
    // Latencies are far below 2^53 ns.
    show_duration(ns.max(0.0).round() as u64)
}

/// How many are in service, by throughput and the shortest latency: the utilisation law.
pub(crate) fn in_service(per_s: f64, what: &str, alone_ns: f64) -> String {
    format!(
        "{} {what}/s x {} (the shortest) = {} in service",
        rate_digits(per_s),
        duration(alone_ns),
        ratio(per_s * alone_ns / 1e9)
    )
}

/// Words as the beginning of a sentence.
pub(crate) fn upper_first(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A sentence as the end of another.
pub(crate) fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn shares_are_short_and_never_hide_a_rest() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.0001, "less than 0.1 %"),
            (0.005, "0.5 %"),
            (0.02, "2 %"),
            (0.374, "37 %"),
            (0.997, "99.7 %"),
            (0.9999, "more than 99.9 %"),
            (1.0, "100 %"),
            (2.5, "250 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn words_make_a_list() {
        assert_eq!(list(["a"]), "a");
        assert_eq!(list(["a", "b"]), "a and b");
        assert_eq!(list(["a", "b", "c"]), "a, b and c");
        assert_eq!(list([""; 0]), "");
    }

    #[test]
    fn of_many_lines_the_worst_three_are_told_and_how_many_more() {
        let lines = |n: u32| -> Vec<(f64, String)> {
            (0..n)
                .map(|i| (f64::from(i), format!("line {i}")))
                .collect()
        };
        assert_eq!(worst(lines(2)), ["line 1", "line 0"]);
        assert_eq!(worst(lines(3)).len(), 3);
        assert_eq!(
            worst(lines(4)),
            ["line 3", "line 2", "line 1", "And 1 more stage, less so."]
        );
        assert_eq!(worst(lines(9))[3], "And 6 more stages, less so.");
        assert_eq!(ratio_of(1.0, "flush", "flushes"), "1 flush");
        assert_eq!(ratio_of(0.94, "flush", "flushes"), "0.94 flushes");
    }

    #[test]
    fn many_stages_are_counted_and_few_are_named() {
        assert_eq!(stage_list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(stage_list(&["a", "b", "c", "d"]), "4 stages");
    }

    #[test]
    fn what_to_do_about_a_document_is_no_command_of_ours() {
        let mut run = testing::healthy();
        run.target.kind = TargetKind::Imported;
        run.plan.name = "imported-dd".into();
        run.run.command = ["diskfacts", "import", "results.txt"]
            .map(str::to_owned)
            .into();
        let stages: Vec<String> = run.plan.stages.iter().map(|s| s.name.clone()).collect();
        for said in [
            longer(&run, &stages, 2),
            edit_plan(&run, "set streams = 2"),
            edit_stages(&run, "set streams = 2"),
        ] {
            assert!(
                said.starts_with("A document cannot be asked again"),
                "{said}"
            );
            assert!(!said.contains('`'), "{said}");
        }
        for command in [measure(&run), measure_longer(&run, 2)] {
            assert!(command.starts_with("diskfacts measure TARGET"), "{command}");
        }
    }

    #[test]
    fn commands_can_be_typed_as_they_are() {
        let mut run = testing::healthy();
        assert_eq!(
            measure_longer(&run, 2),
            "diskfacts measure /srv/data --time 120s"
        );
        run.run.command = [
            "/usr/bin/diskfacts",
            "my disk's",
            "--time=5s",
            "--stage",
            "a",
        ]
        .map(str::to_owned)
        .into();
        assert_eq!(
            measure(&run),
            r"diskfacts 'my disk'\''s' --time=5s --stage a"
        );
        assert_eq!(
            measure_longer(&run, 2),
            r"diskfacts 'my disk'\''s' --stage a --time 120s"
        );
        run.run.command = ["diskfacts", "/srv", "--full"].map(str::to_owned).into();
        run.plan.trials = 3;
        assert_eq!(measure_longer(&run, 2), "diskfacts /srv --full --trials 6");
        run.run.command = ["diskfacts", "/srv", "--style", "classic", "--style=classic"]
            .map(str::to_owned)
            .into();
        assert_eq!(measure(&run), "diskfacts /srv");
        run.run.command.clear();
        assert_eq!(measure(&run), "diskfacts measure /srv/data");
        run.plan.name = "mine".into();
        run.run.command = ["diskfacts", "measure", "/x", "--plan", "mine.toml"]
            .map(str::to_owned)
            .into();
        assert_eq!(measure(&run), "diskfacts measure /x --plan mine.toml");
        assert_eq!(
            edit_plan(&run, "set streams = 2"),
            "In mine.toml, set streams = 2, and type `diskfacts measure /x --plan mine.toml`."
        );
    }
}
