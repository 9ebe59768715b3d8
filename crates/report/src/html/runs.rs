//! The list of stored runs: narrowed by a form, and two of them chosen to be compared.

use super::links::Links;
use crate::text::RunRow;
use crate::text::words::count;
use diskfacts_record::Status;
use maud::{Markup, html};

/// What the list is narrowed to, as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowed {
    /// Name of the plan.
    pub plan: String,
    /// Target, or a folder that targets are in.
    pub target: String,
    /// Name of the run.
    pub name: String,
    /// Tags, with spaces between them; a run has all of them.
    pub tags: String,
    /// Name of the host.
    pub host: String,
    /// Since when: `7d`, `2026-11-21`.
    pub since: String,
}

impl Narrowed {
    /// The fields of the form: name, label, value, and what may be typed.
    fn fields(&self) -> [(&'static str, &'static str, &str, &'static str); 6] {
        [
            ("plan", "Plan", &self.plan, "survey"),
            ("target", "Target, or its folder", &self.target, "/srv"),
            ("name", "Name", &self.name, "baseline"),
            ("tag", "Tags", &self.tags, "nightly ci"),
            ("host", "Host", &self.host, "db1"),
            ("since", "Since", &self.since, "7d, 2026-11-21"),
        ]
    }

    /// Whether it is narrowed at all.
    pub fn any(&self) -> bool {
        self.fields()
            .iter()
            .any(|(_, _, value, _)| !value.is_empty())
    }

    /// As the query of an address, without the question mark.
    pub fn query(&self) -> String {
        let fields = self.fields().into_iter();
        let said = fields.filter(|(_, _, value, _)| !value.is_empty());
        let pairs =
            said.map(|(name, _, value, _)| format!("{name}={}", super::links::segment(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

/// Plans and hosts of the stored runs, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Names of plans.
    pub plans: Vec<String>,
    /// Names of hosts.
    pub hosts: Vec<String>,
}

impl Known {
    /// What may stand in a field of the form.
    fn of(&self, field: &str) -> &[String] {
        match field {
            "plan" => &self.plans,
            "host" => &self.hosts,
            _ => &[],
        }
    }
}

/// A page of the list.
#[derive(Debug, Clone, Default)]
pub struct RunList {
    /// The runs of this page, latest first.
    pub rows: Vec<RunRow>,
    /// Which page it is, from 1.
    pub page: usize,
    /// Runs on a page.
    pub page_size: usize,
    /// How many runs match.
    pub matching: usize,
    /// How many are stored.
    pub stored: usize,
    /// What it is narrowed to.
    pub narrowed: Narrowed,
    /// Why it could not be narrowed so: nothing is listed then.
    pub wrong: Option<String>,
    /// What there is to choose from.
    pub known: Known,
    /// Where the runs are kept, as people name it.
    pub store: String,
}

/// The list as a page of a server.
pub fn runs(list: &RunList, links: &Links) -> Markup {
    html! {
        h1 { "Runs" }
        (narrowing(&list.narrowed, &list.known, "", links))
        @if let Some(wrong) = &list.wrong {
            p class="bad" role="alert" { (wrong) }
        } @else {
            p class="soft" role="status" { (how_many(list)) }
        }
        @if !list.rows.is_empty() {
            (chosen(list, links))
            (pages(list, links))
        }
        p class="soft" { "Kept in " code { (list.store) } "." }
    }
}

/// The form that narrows the runs of the page of this name, which may be empty.
pub fn narrowing(narrowed: &Narrowed, known: &Known, page: &str, links: &Links) -> Markup {
    html! {
        form class="filter" action=(links.page(page)) role="search" aria-label="Which runs" {
            @for (name, label, value, example) in narrowed.fields() {
                @let known = known.of(name);
                @let offered = (!known.is_empty()).then(|| format!("known-{name}"));
                div {
                    label for={ "of-" (name) } { (label) }
                    input id={ "of-" (name) } name=(name) value=(value) placeholder=(example)
                        list=[offered.as_ref()] autocomplete="off" spellcheck="false";
                    @if let Some(id) = &offered {
                        datalist id=(id) {
                            @for value in known { option value=(value) {} }
                        }
                    }
                }
            }
            button type="submit" { "Narrow" }
            @if narrowed.any() {
                a href=(links.page(page)) { "All runs" }
            }
        }
    }
}

fn how_many(list: &RunList) -> String {
    let (matching, stored) = (list.matching, count(list.stored as u64, "stored run"));
    match (matching, list.stored) {
        (_, 0) => "No run is stored yet: `diskfacts measure .` makes the first.".to_owned(),
        (0, _) => format!("None of {stored} matches."),
        _ if list.rows.is_empty() => format!(
            "{} match, and this page is behind their end.",
            count(matching as u64, "run")
        ),
        _ => {
            let first = (list.page - 1) * list.page_size + 1;
            let end = first + list.rows.len() - 1;
            let of = if matching == list.stored {
                stored
            } else {
                format!("{} of {stored}", count(matching as u64, "run"))
            };
            if list.rows.len() == matching {
                format!("{of}.")
            } else {
                format!("{first} to {end} of {of}, latest first.")
            }
        }
    }
}

/// The table in a form that compares two of its rows.
fn chosen(list: &RunList, links: &Links) -> Markup {
    let rows = &list.rows;
    let has_names = rows.iter().any(|run| run.labels.name.is_some());
    let has_tags = rows.iter().any(|run| !run.labels.tags.is_empty());
    let has_hosts = rows.iter().any(|run| run.host != rows[0].host);
    html! {
        form action=(links.page("compare")) aria-label="Compare two runs" {
            p {
                button type="submit" { "Compare A with B" }
                span class="soft" { " A is the one before, B the one after." }
            }
            div class="scroll" {
                table class="runs" {
                    thead {
                        tr {
                            th scope="col" { "A" }
                            th scope="col" { "B" }
                            th scope="col" { "Run" }
                            @if has_names { th scope="col" { "Name" } }
                            @if has_tags { th scope="col" { "Tags" } }
                            th scope="col" { "Began (UTC)" }
                            th scope="col" { "Status" }
                            th scope="col" class="n" { "Trials" }
                            th scope="col" { "Plan" }
                            th scope="col" { "Target" }
                            @if has_hosts { th scope="col" { "Host" } }
                        }
                    }
                    tbody {
                        @for run in rows {
                            tr {
                                @for side in ["a", "b"] {
                                    td {
                                        input type="radio" name=(side) value=(run.id) required
                                            aria-label={ (side.to_uppercase()) ": " (run.id) };
                                    }
                                }
                                th scope="row" { a href=(links.run(0, &run.id)) { (run.id) } }
                                @if has_names { td { (run.labels.name.as_deref().unwrap_or_default()) } }
                                @if has_tags { td { (joined(run)) } }
                                td { (moment(&run.started)) }
                                td class=[status_class(run)] { (run.word()) }
                                td class="n" { (run.trials) }
                                td { (run.plan) }
                                td class="target" { (run.target) }
                                @if has_hosts { td { (run.host.as_deref().unwrap_or_default()) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn joined(run: &RunRow) -> String {
    let tags: Vec<&str> = run.labels.tags.iter().map(String::as_str).collect();
    tags.join(", ")
}

/// What a status looks like; its word says it.
fn status_class(run: &RunRow) -> Option<&'static str> {
    match run.status {
        Some(Status::Complete) => Some("good"),
        Some(Status::Failed) => Some("bad"),
        Some(Status::Running) if run.alive == Some(true) => None,
        _ => Some("doubt"),
    }
}

/// `2026-11-21 04:00:00` of a moment in UTC; what is none, as it stands there.
pub(super) fn moment(stored: &str) -> Markup {
    let known = stored
        .split_once('T')
        .zip(stored.get(..19))
        .filter(|(_, to_second)| to_second.is_ascii() && stored.ends_with('Z'));
    let Some((_, to_second)) = known else {
        return html! { (stored) };
    };
    html! { time datetime=(stored) { (to_second.replacen('T', " ", 1)) } }
}

fn pages(list: &RunList, links: &Links) -> Markup {
    let pages = list.matching.div_ceil(list.page_size.max(1));
    let query = list.narrowed.query();
    let to = |page: usize| {
        let joint = if query.is_empty() { "" } else { "&" };
        format!("{}?{query}{joint}page={page}", links.page(""))
    };
    html! {
        @if pages > 1 {
            nav aria-label="Further runs" {
                @if list.page > 1 { a rel="prev" href=(to(list.page - 1)) { "Later" } }
                span { "Page " (list.page) " of " (pages) }
                @if list.page < pages { a rel="next" href=(to(list.page + 1)) { "Earlier" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::Labels;

    fn row(id: &str) -> RunRow {
        RunRow {
            id: id.into(),
            started: "2026-11-21T04:12:50.123456789Z".into(),
            ended: None,
            tool_version: "0.1.0".into(),
            host: Some("db1".into()),
            labels: Labels::default(),
            status: Some(Status::Complete),
            alive: None,
            trials: 30,
            plan: "survey".into(),
            target: "/srv".into(),
        }
    }

    fn list(rows: Vec<RunRow>, page: usize, matching: usize) -> RunList {
        RunList {
            rows,
            page,
            page_size: 2,
            matching,
            stored: 7,
            ..RunList::default()
        }
    }

    fn page(list: &RunList) -> String {
        let links = Links::Server {
            prefix: "/secret".into(),
        };
        runs(list, &links).into_string()
    }

    #[test]
    fn a_page_says_which_runs_of_how_many_it_has_and_leads_to_the_others_as_narrowed() {
        let mut list = list(vec![row("c"), row("d")], 2, 5);
        list.narrowed.plan = "a&b".into();
        let page = page(&list);
        assert!(
            page.contains("3 to 4 of 5 runs of 7 stored runs, latest first."),
            "{page}"
        );
        for link in [
            r#"href="/secret/run/c""#,
            r#"href="/secret/?plan=a%26b&amp;page=1""#,
            r#"href="/secret/?plan=a%26b&amp;page=3""#,
            r#"value="a&amp;b""#,
            r#"<time datetime="2026-11-21T04:12:50.123456789Z">2026-11-21 04:12:50</time>"#,
        ] {
            assert!(page.contains(link), "{link} in {page}");
        }
    }

    #[test]
    fn columns_stand_only_where_a_run_has_something_there() {
        let mut named = row("c");
        named.labels.name = Some("baseline".into());
        named.host = Some("db2".into());
        let plain = page(&list(vec![row("a"), row("b")], 1, 2));
        assert!(
            !plain.contains(">Name<") || plain.matches(">Name<").count() == 1,
            "{plain}"
        );
        assert!(!plain.contains(r#"<th scope="col">Host"#), "{plain}");
        let full = page(&list(vec![row("a"), named], 1, 2));
        assert!(full.contains(r#"<th scope="col">Name"#), "{full}");
        assert!(full.contains(r#"<th scope="col">Host"#), "{full}");
    }

    #[test]
    fn an_empty_page_says_why() {
        let mut none = list(Vec::new(), 1, 0);
        assert!(page(&none).contains("None of 7 stored runs matches."));
        none.stored = 0;
        assert!(page(&none).contains("No run is stored yet"));
        assert!(page(&list(Vec::new(), 9, 5)).contains("5 runs match, and this page is behind"));
        none.wrong = Some("write how long ago".into());
        assert!(page(&none).contains(r#"role="alert">write how long ago"#));
    }

    #[test]
    fn text_from_outside_adds_no_markup() {
        let with = |text: &str| {
            let mut list = list(vec![row("a"), row("b")], 1, 5);
            let run = &mut list.rows[0];
            for field in [&mut run.id, &mut run.plan, &mut run.target] {
                text.clone_into(field);
            }
            run.host = Some(text.into());
            run.labels.name = Some(text.into());
            run.labels.tags = [text.to_owned()].into();
            list.narrowed = Narrowed {
                plan: format!("x{text}"),
                target: text.into(),
                name: text.into(),
                tags: text.into(),
                host: text.into(),
                since: text.into(),
            };
            list.known.plans = vec![text.into()];
            list.store = text.into();
            let page = page(&list);
            ['<', '>', '"'].map(|mark| page.matches(mark).count())
        };
        let plain = with("plain");
        for text in diskfacts_testkit::HOSTILE {
            assert_eq!(with(text), plain, "{text:?}");
        }
    }

    #[test]
    fn a_moment_that_is_none_is_shown_as_it_stands() {
        for odd in [
            "",
            "yesterday",
            "2026-11-21T04:12:50+01:00",
            "äöüäöüäöüTäöüäöüäöüäöüZ",
        ] {
            let shown = moment(odd).into_string();
            assert!(!shown.contains("<time"), "{shown}");
        }
    }
}
