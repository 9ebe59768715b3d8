//! `diskfacts serve` from outside, by HTTP: which pages there are, what they say of a store that
//! changes meanwhile, and how it ends. How they look in a browser is tested in `tests/pages/`.

use crate::support::Case;
use diskfacts_testkit::{Finished, HOSTILE, Running};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// A server of the case's store.
struct Serving {
    running: Running,
    host: String,
    /// `/SECRET/`.
    root: String,
}

impl Case {
    fn serve(&self) -> Serving {
        let running = self.diskfacts(["serve"]).start();
        running.wait_for_stdout("\n");
        let address = running.stdout_so_far();
        let rest = address.trim().strip_prefix("http://").expect("an address");
        let (host, root) = rest.split_once('/').expect("a path");
        Serving {
            host: host.to_owned(),
            root: format!("/{root}"),
            running,
        }
    }

    fn measured(&self, name: &str) {
        let stage = ["measure", "sim:ssd-sata", "--stage", "random-read-qd1"];
        let measured = self
            .diskfacts(stage)
            .args(["--trials", "1", "--name", name])
            .run();
        measured.expect_code(0);
    }
}

impl Serving {
    /// Status and body of a page.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        let request = format!(
            "GET {}{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.root, self.host
        );
        stream
            .write_all(request.as_bytes())
            .expect("room for the request");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("an answer of text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a header");
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), body.to_owned())
    }

    /// The body of a page that is there and has these texts.
    #[track_caller]
    fn has(&self, path: &str, texts: &[&str]) -> String {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        for text in texts {
            assert!(body.contains(text), "{path} has no '{text}': {body}");
        }
        body
    }

    /// The same of one that is not.
    #[track_caller]
    fn fails(&self, path: &str, status: u16, text: &str) {
        let (found, body) = self.get(path);
        assert_eq!(found, status, "{path}: {body}");
        assert!(body.contains(text), "{path} has no '{text}': {body}");
        assert!(body.contains("<nav"), "{path} has no way back: {body}");
    }

    fn interrupted(self) -> Finished {
        self.running.interrupt();
        self.running.finish()
    }
}

#[test]
fn runs_are_listed_shown_compared_and_their_claims_read() {
    let case = Case::new();
    case.measured("before");
    case.measured("after");
    let serving = case.serve();
    let list = serving.has("", &["before", "after", "2 stored runs."]);
    let id = case.last()["run"]["id"].as_str().expect("an id").to_owned();
    assert!(
        list.contains(&format!("{}run/{id}\"", serving.root)),
        "{list}"
    );
    let narrowed = serving.has("?name=before", &["1 run of 2 stored runs."]);
    assert!(!narrowed.contains(&id), "{narrowed}");
    for selector in [&id, "after", "last", "last~0"] {
        serving.has(&format!("run/{selector}"), &[&id, "random-read-qd1"]);
    }
    serving.has("run/last/claim/a", &["/run/"]);
    serving.has("compare?a=before&b=after", &["What changed"]);
    serving.has("trends", &["Trends"]);
    serving.has("live", &["Nothing is measured at this moment", "live.js"]);
    serving.has("style.css", &["prefers-color-scheme"]);
    serving.has("live.js", &["EventSource"]);
    let ended = serving.interrupted();
    ended.expect_code(0);
    ended.expect_stderr("Ctrl-C ends it");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended}");
}

#[test]
fn what_is_not_there_or_cannot_be_asked_is_a_page_that_says_so() {
    let case = Case::new();
    case.measured("before");
    let serving = case.serve();
    serving.fails("nothing", 404, "There is no such page");
    serving.fails("run/no-such-run", 404, "no-such-run");
    serving.fails("run/last/claim/zzz", 404, "has no claim zzz");
    serving.fails("compare", 400, "Choose two runs");
    serving.fails("compare?a=last", 400, "Choose two runs");
    serving.fails("?page=0", 400, "from 1 on");
    serving.fails("?page=x", 400, "from 1 on");
    serving.has("?since=yesterday", &["write how long ago"]);
    serving.has("?page=7", &["behind their end"]);
    // The names of files, which `diskfacts show` takes, are no runs here.
    let file = case.path("run.json");
    let printed = case.run(["show", "last", "--json"]).stdout;
    fs::write(&file, printed).expect("a file");
    let name = file.display().to_string().replace('/', "%2F");
    let (status, body) = serving.get(&format!("run/{name}"));
    assert_eq!(status, 404, "{body}");
    serving.fails("run/run.json", 404, "run.json");
    serving.fails(&format!("compare?a={name}&b=last"), 404, "run.json");
    serving.interrupted().expect_code(0);
}

#[test]
fn a_store_that_is_made_changed_and_removed_meanwhile_is_shown_as_it_is() {
    let case = Case::new();
    case.measured("first");
    let serving = case.serve();
    serving.has("", &["1 stored run."]);
    case.measured("second");
    serving.has("", &["2 stored runs."]);
    serving.has("run/second", &["second"]);
    case.run(["runs", "delete", "second", "--yes"])
        .expect_code(0);
    serving.fails("run/second", 404, "No such run");
    serving.fails("compare?a=first&b=second", 404, "No such run");
    fs::remove_file(case.store()).expect("the store");
    serving.fails("", 500, "does not exist");
    case.measured("third");
    serving.has("", &["third"]);
    serving.interrupted().expect_code(0);
}

#[test]
fn a_store_that_may_only_be_read_is_served() {
    let case = Case::new();
    case.measured("only");
    let mut permissions = fs::metadata(case.store()).expect("the store").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(case.store(), permissions).expect("the right to");
    let serving = case.serve();
    serving.has("run/only", &["only"]);
    serving.interrupted().expect_code(0);
}

#[test]
fn without_any_run_it_says_how_to_make_one() {
    let case = Case::new();
    // A store that nobody named is made by the first run.
    let running = crate::support::diskfacts(["serve"]).start();
    running.wait_for_stdout("\n");
    running.terminate();
    running.finish().expect_code(143);
    let refused = case.run(["serve"]);
    refused.expect_code(1);
    refused.expect_stderr("does not exist");
}

#[test]
fn a_port_that_is_taken_is_refused_with_what_to_type() {
    let case = Case::new();
    case.measured("only");
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let refused = case.run(["serve", "--port", &port]);
    refused.expect_code(2);
    refused.expect_stderr("Leave --port out");
    drop(taken);
    for wrong in ["0", "65536", "http"] {
        case.run(["serve", "--port", wrong]).expect_code(2);
    }
}

#[test]
fn text_from_outside_is_text_on_every_page() {
    let case = Case::new();
    case.measured("plain");
    let serving = case.serve();
    // As many tags and quotes as with a plain text: none of it is markup.
    let marks = |page: &str| ['<', '>', '"'].map(|mark| page.matches(mark).count());
    let note = |text: &str| {
        // What no note can be is refused when it is given.
        let noted = case
            .diskfacts(["runs", "note", "plain", "--"])
            .arg(text)
            .run();
        noted.code() == Some(0)
    };
    assert!(note("plain"));
    let plain = marks(&serving.has("run/plain", &[]));
    for text in HOSTILE
        .iter()
        .filter(|text| text.len() > 1 && !text.contains(['\n', '\0']))
    {
        if note(text) {
            assert_eq!(marks(&serving.has("run/plain", &[])), plain, "{text:?}");
        }
        let escaped = text.bytes().fold(String::new(), |mut escaped, byte| {
            write!(escaped, "%{byte:02X}").expect("a String takes all");
            escaped
        });
        let narrowed = serving.has(
            &format!("?name={escaped}&target={escaped}&tag={escaped}"),
            &[],
        );
        let (status, missing) = serving.get(&format!("compare?a={escaped}&b=x"));
        assert!(matches!(status, 400 | 404), "{text:?}: {missing}");
        for page in [&narrowed, &missing] {
            assert!(
                !page.contains("<script>") && !page.contains("<img"),
                "{text:?}: {page}"
            );
            assert!(
                !page.contains('\u{1b}') && !page.contains('\u{202e}'),
                "{text:?}: {page}"
            );
        }
    }
    serving.interrupted().expect_code(0);
}
