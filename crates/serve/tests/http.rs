//! The server from outside, over sockets: what it answers, and what it does with those that
//! do not keep to the rules.

use diskfacts_serve::{Answer, HEADERS, Limits, Request, Server, Site, Status, Stopper};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A site that says what it was asked.
#[derive(Default)]
struct Echo {
    /// How often it was asked.
    asked: Arc<AtomicU32>,
}

impl Site for Echo {
    fn answer(&self, request: &Request) -> Answer {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match request.path.first().map(String::as_str) {
            Some("panic") => panic!("the test wanted it"),
            Some("none") => Answer::page(Status::NotFound, "<p>none".into()),
            Some("large") => Answer::page(Status::Found, "x".repeat(32 << 20)),
            Some("events") => {
                let mut number = 0;
                Answer::events(Box::new(move || {
                    number += 1;
                    match number {
                        1 | 2 => Some("one".into()),
                        3 => Some("two\nlines".into()),
                        _ => None,
                    }
                }))
            }
            Some("forever") => Answer::events(Box::new(|| Some("the same".into()))),
            _ => Answer::page(
                Status::Found,
                format!("{:?} {:?}", request.path, request.query),
            ),
        }
    }
}

/// A server that runs, and is ended with this value.
struct Running {
    /// `127.0.0.1:PORT`.
    host: String,
    /// `/SECRET`.
    prefix: String,
    listens_on: Vec<SocketAddr>,
    asked: Arc<AtomicU32>,
    stopper: Stopper,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Running {
    fn start() -> Self {
        Self::with(Limits {
            // A test ends soon, and a slow machine has time.
            look: Duration::from_millis(1),
            ..Limits::default()
        })
    }

    fn with(limits: Limits) -> Self {
        let server = Server::listen(None, limits).expect("a free port");
        let address = server.address();
        let (host, prefix) = address
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .expect("an address");
        let site = Echo::default();
        Self {
            host: host.to_owned(),
            prefix: format!("/{}", prefix.trim_end_matches('/')),
            listens_on: server.listens_on(),
            asked: Arc::clone(&site.asked),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.run(site))),
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listens_on[0]).expect("a connection")
    }

    /// Sends these bytes and reads all that comes back until the server ends the connection.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // It may have answered, and ended, before all was sent.
        let _ = stream.write_all(bytes);
        rest(&mut stream)
    }

    /// A request with these lines; the connection is ended behind it.
    fn ask(&self, line: &str, headers: &[&str]) -> Reply {
        let headers: Vec<String> = headers.iter().map(|h| format!("{h}\r\n")).collect();
        let headers = headers.concat();
        let text = self.raw(format!("{line}\r\n{headers}Connection: close\r\n\r\n").as_bytes());
        Reply::of(&text)
    }

    /// A GET of a path behind the secret.
    fn get(&self, path: &str) -> Reply {
        let line = format!("GET {}{path} HTTP/1.1", self.prefix);
        self.ask(&line, &[&format!("Host: {}", self.host)])
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().expect("it runs").join();
        if !std::thread::panicking() {
            ended.expect("no panic").expect("no error");
        }
    }
}

/// All that comes yet; one that is cut off ends there.
fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        all.extend_from_slice(&piece[..read]);
    }
    String::from_utf8(all).expect("text")
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    #[track_caller]
    fn of(text: &str) -> Self {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no head: {text:?}"));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or_else(|| panic!("no status: {head}")),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// The value of a line of the header.
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(known, value)| (known == name).then_some(value))
    }
}

#[test]
fn a_page_is_answered_with_all_rules_for_browsers() {
    let server = Running::start();
    let reply = server.get("/run/a%20b?tag=x&tag=y");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, r#"["run", "a b"] [("tag", "x"), ("tag", "y")]"#);
    assert_eq!(
        reply.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    for (name, value) in HEADERS {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    for name in ["set-cookie", "server", "access-control-allow-origin"] {
        assert_eq!(reply.header(name), None);
    }
    let none = server.get("/none");
    assert_eq!((none.status, none.body.as_str()), (404, "<p>none"));
}

#[test]
fn every_answer_has_the_rules_also_those_that_refuse() {
    let server = Running::start();
    let host = format!("Host: {}", server.host);
    let line = |method: &str, path: &str| format!("{method} {path} HTTP/1.1");
    let root = format!("{}/", server.prefix);
    let replies = [
        server.ask(&line("GET", "/"), &[&host]),
        server.ask(&line("POST", &root), &[&host]),
        server.ask(&line("GET", &root), &["Host: evil.example"]),
        server.ask(&line("GET", &root), &[&host, &host]),
        server.get("/panic"),
    ];
    assert_eq!(
        replies.each_ref().map(|reply| reply.status),
        [404, 405, 421, 400, 500]
    );
    for reply in &replies {
        for (name, value) in HEADERS {
            assert_eq!(reply.header(name), Some(value), "{name} in {reply:?}");
        }
    }
    assert_eq!(replies[1].header("allow"), Some("get, head"));
    // One panic costs one answer.
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_head_has_the_header_of_its_page_and_no_body_and_begins_no_events() {
    let server = Running::start();
    let host = format!("Host: {}", server.host);
    let head = |path: &str| server.ask(&format!("HEAD {}{path} HTTP/1.1", server.prefix), &[&host]);
    let (page, same) = (server.get("/x"), head("/x"));
    assert_eq!(same.body, "");
    assert_eq!(same.header("content-length"), page.header("content-length"));
    assert_eq!(same.status, 200);
    let events = head("/forever");
    assert_eq!((events.status, events.body.as_str()), (200, ""));
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
}

#[test]
fn whoever_lacks_the_secret_gets_the_same_answer_and_the_site_is_not_asked() {
    let server = Running::start();
    let host = format!("Host: {}", server.host);
    let get = |path: &str| server.ask(&format!("GET {path} HTTP/1.1"), &[&host]);
    let secret = server.prefix.clone();
    let mut near = secret.clone();
    // A hexadecimal digit, too: what may stand in no address is refused by everybody.
    let last = near.pop();
    near.push(if last == Some('0') { '1' } else { '0' });
    let without_date = |reply: &Reply| {
        let lines = reply
            .head
            .lines()
            .filter(|line| !line.starts_with("date: "));
        (
            lines.map(str::to_owned).collect::<Vec<_>>(),
            reply.body.clone(),
        )
    };
    let first = get("/");
    assert_eq!(first.status, 404);
    for path in [
        "/favicon.ico",
        "/0123456789abcdef0123456789abcdef/",
        &near,
        &secret[..secret.len() - 1],
        &format!("{secret}0/"),
        &format!("/{secret}/"),
        &format!("/.{secret}/"),
        &format!("/x/..{secret}/"),
        &format!("/%2e{secret}/"),
        &secret.to_uppercase().replacen('/', "/%30", 1),
    ] {
        assert_eq!(without_date(&get(path)), without_date(&first), "{path}");
    }
    assert_eq!(server.asked(), 0);
}

#[test]
fn another_host_is_refused_before_anything_else() {
    let server = Running::start();
    let port = server.host.rsplit(':').next().expect("a port");
    let root = format!("{}/", server.prefix);
    let line = format!("GET {root} HTTP/1.1");
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:80"] {
        assert_eq!(
            server.ask(&line, &[&format!("Host: {host}")]).status,
            421,
            "{host}"
        );
    }
    assert_eq!(server.ask(&line, &[]).status, 400);
    assert_eq!(
        server
            .ask("POST / HTTP/1.1", &["Host: evil.example"])
            .status,
        421
    );
    let whole = |name: &str| format!("GET http://{name}{root} HTTP/1.1");
    let own = format!("Host: {}", server.host);
    assert_eq!(server.ask(&whole("evil.example"), &[&own]).status, 421);
    assert_eq!(
        server
            .ask(&whole(&server.host), &["Host: evil.example"])
            .status,
        421
    );
    assert_eq!(server.asked(), 0);
    for host in [&format!("localhost:{port}"), &format!("[::1]:{port}")] {
        assert_eq!(
            server.ask(&line, &[&format!("Host: {host}")]).status,
            200,
            "{host}"
        );
    }
    assert_eq!(server.ask(&whole(&server.host), &[&own]).status, 200);
}

#[test]
fn what_is_no_request_of_http_1_is_refused_and_the_next_is_answered() {
    let server = Running::start();
    let host = format!("Host: {}", server.host);
    let root = format!("{}/", server.prefix);
    let long = "x".repeat(64 << 10);
    let many: Vec<String> = (0..200).map(|n| format!("X-{n}: y\r\n")).collect();
    let many = many.concat();
    for (what, bytes, status) in [
        (
            "HTTP/2",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
            None,
        ),
        (
            "TLS",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}".to_owned(),
            Some(400),
        ),
        ("no version", format!("GET {root}\r\n\r\n"), Some(400)),
        (
            "HTTP/3.0",
            format!("GET {root} HTTP/3.0\r\n{host}\r\n\r\n"),
            Some(400),
        ),
        (
            "a NUL",
            format!("GET {root}\0 HTTP/1.1\r\n{host}\r\n\r\n"),
            Some(400),
        ),
        (
            "a NUL in a value",
            format!("GET {root} HTTP/1.1\r\n{host}\r\nX: a\0b\r\n\r\n"),
            Some(400),
        ),
        (
            "a space in a name",
            format!("GET {root} HTTP/1.1\r\n{host}\r\nX y: z\r\n\r\n"),
            Some(400),
        ),
        (
            "two lengths",
            format!(
                "GET {root} HTTP/1.1\r\n{host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"
            ),
            Some(400),
        ),
        (
            "a long path",
            format!("GET {root}{long} HTTP/1.1\r\n{host}\r\n\r\n"),
            Some(431),
        ),
        (
            "a long value",
            format!("GET {root} HTTP/1.1\r\n{host}\r\nX: {long}\r\n\r\n"),
            Some(431),
        ),
        (
            "many lines",
            format!("GET {root} HTTP/1.1\r\n{host}\r\n{many}\r\n"),
            Some(431),
        ),
    ] {
        let text = server.raw(bytes.as_bytes());
        match status {
            Some(status) => assert_eq!(Reply::of(&text).status, status, "{what}"),
            // Without an answer is as good: nobody of this protocol would understand one.
            None => assert!(!text.contains("200 OK"), "{what}: {text}"),
        }
    }
    assert_eq!(server.asked(), 0);
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn requests_one_after_the_other_are_answered_in_their_order() {
    let server = Running::start();
    let one = |path: &str, end: &str| {
        format!(
            "GET {}{path} HTTP/1.1\r\nHost: {}\r\n{end}\r\n",
            server.prefix, server.host
        )
    };
    let end = "Connection: close\r\n";
    let text = server.raw(
        [one("/1", ""), one("/2", ""), one("/3", end)]
            .concat()
            .as_bytes(),
    );
    assert_eq!(text.matches("200 OK").count(), 3, "{text}");
    let places = ["[\"1\"]", "[\"2\"]", "[\"3\"]"].map(|page| text.find(page).expect(page));
    assert!(places.is_sorted(), "{text}");
    // A smuggled one behind a body that a GET must not need has no other answer than its own.
    let body = format!(
        "GET {}/a HTTP/1.1\r\nHost: {}\r\nContent-Length: 4\r\n\r\nabcd",
        server.prefix, server.host
    );
    let text = server.raw(
        [&body, &one("/b", end)]
            .map(String::as_str)
            .concat()
            .as_bytes(),
    );
    assert!(text.contains("[\"a\"]"), "{text}");
}

#[test]
fn http_1_0_is_answered_under_the_same_rules() {
    let server = Running::start();
    let line = format!("GET {}/x HTTP/1.0", server.prefix);
    assert_eq!(
        server
            .ask(&line, &[&format!("Host: {}", server.host)])
            .status,
        200
    );
    assert_eq!(server.ask(&line, &[]).status, 400);
    assert_eq!(server.ask(&line, &["Host: evil.example"]).status, 421);
}

#[test]
fn a_header_that_does_not_come_to_its_end_ends_the_connection() {
    let server = Running::with(Limits {
        header: Duration::from_millis(20),
        ..Limits::default()
    });
    for begun in ["", "GET", "GET / HTTP/1.1\r\nHost: x\r\nX: "] {
        let mut stream = server.connect();
        stream.write_all(begun.as_bytes()).expect("room");
        // Would wait for ever if the server did.
        let text = rest(&mut stream);
        assert!(!text.contains("200"), "{text}");
    }
    assert_eq!(server.asked(), 0);
}

#[test]
fn a_connection_that_asks_nothing_more_is_ended() {
    let server = Running::with(Limits {
        connection: Duration::from_millis(20),
        grace: Duration::from_millis(20),
        ..Limits::default()
    });
    let mut stream = server.connect();
    let request = format!(
        "GET {}/x HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.prefix, server.host
    );
    // The server may have ended it before; what comes is read to its end in any case.
    let _ = stream.write_all(request.as_bytes());
    rest(&mut stream);
}

/// A connection that asked for more than the system buffers, and reads nothing.
fn who_does_not_read(server: &Running) -> TcpStream {
    let mut slow = server.connect();
    let request = format!(
        "GET {}/large HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.prefix, server.host
    );
    // A server that ends it before is what one of the tests waits for.
    let _ = slow.write_all(request.as_bytes());
    slow
}

#[test]
fn others_are_served_beside_who_does_not_read_and_the_end_does_not_wait_for_him() {
    let mut server = Running::with(Limits {
        grace: Duration::from_millis(50),
        ..Limits::default()
    });
    let mut slow = who_does_not_read(&server);
    let mut first = [0];
    slow.read_exact(&mut first).expect("the first byte");
    assert_eq!(server.get("/").status, 200);
    // Until the server has let go: then all that was under way can be read, and it is not all.
    server.stopper.stop();
    let ended = server.thread.take().expect("it runs").join();
    ended.expect("no panic").expect("no error");
    server.thread = Some(std::thread::spawn(|| Ok(())));
    assert!(rest(&mut slow).len() < 32 << 20);
}

#[test]
fn who_does_not_read_is_let_go_in_time() {
    let server = Running::with(Limits {
        connections: 1,
        connection: Duration::from_millis(50),
        grace: Duration::from_millis(50),
        ..Limits::default()
    });
    let mut slow = who_does_not_read(&server);
    // Another is taken when the slow one's place is free. On a busy machine its own time may be
    // over before it is answered, so that it asks again.
    let request = format!(
        "GET {}/x HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.prefix, server.host
    );
    loop {
        let mut next = server.connect();
        let _ = next.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = next.read_to_end(&mut answer);
        if answer.starts_with(b"HTTP/1.1 200") {
            break;
        }
    }
    assert!(rest(&mut slow).len() < 32 << 20);
}

#[test]
fn more_connections_than_there_may_be_wait_for_their_turn() {
    let server = Running::with(Limits {
        connections: 2,
        ..Limits::default()
    });
    let idle = [server.connect(), server.connect()];
    let mut third = server.connect();
    let request = format!(
        "GET {}/x HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.prefix, server.host
    );
    third.write_all(request.as_bytes()).expect("room");
    third
        .set_read_timeout(Some(Duration::from_millis(100)))
        .expect("a limit");
    let waiting = third.read(&mut [0; 1]).map_err(|error| error.kind());
    assert!(
        matches!(
            waiting,
            Err(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
        ),
        "{waiting:?}"
    );
    drop(idle);
    third.set_read_timeout(None).expect("no limit");
    assert_eq!(Reply::of(&rest(&mut third)).status, 200);
}

#[test]
fn events_are_sent_where_something_is_new_and_their_end_is_told() {
    let server = Running::start();
    let reply = server.get("/events");
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let data: Vec<&str> = reply
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    assert_eq!(data, ["one", "two", "lines"], "{}", reply.body);
    assert!(reply.body.contains("event: end"), "{}", reply.body);
    // Who comes back with what was seen last gets only what is new.
    let id = reply
        .body
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .expect("an id");
    let line = format!("GET {}/events HTTP/1.1", server.prefix);
    let host = format!("Host: {}", server.host);
    let again = server.ask(&line, &[&host, &format!("Last-Event-ID: {id}")]);
    assert!(!again.body.contains("data: one"), "{}", again.body);
    assert!(again.body.contains("data: two"), "{}", again.body);
}

#[test]
fn a_stream_of_events_ends_whole_with_its_connection_and_with_the_server() {
    let limits = Limits {
        look: Duration::from_millis(1),
        connection: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = Running::with(limits);
    // The last chunk of a body that is whole has no bytes (RFC 9112, 7.1).
    let whole = |text: &str| text.ends_with("0\r\n\r\n");
    let request = format!(
        "GET {}/forever HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.prefix, server.host
    );
    let text = server.raw(request.as_bytes());
    assert!(text.contains("data: the same") && whole(&text), "{text}");
    let server = Running::start();
    let request = format!(
        "GET {}/forever HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.prefix, server.host
    );
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).expect("room");
    let mut first = [0];
    stream.read_exact(&mut first).expect("the first byte");
    server.stopper.stop();
    assert!(whole(&rest(&mut stream)));
}
