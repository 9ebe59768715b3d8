//! Who may ask, and for what.

use crate::secret::Secret;
use hyper::header::{HOST, HeaderMap};
use hyper::{Method, Uri};
use percent_encoding::percent_decode_str;

/// What is asked for, by somebody who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// With what paths of links begin: a slash and the secret.
    pub prefix: String,
    /// The parts of the path behind that, decoded, none of them empty: `["run", "20261121-..."]`.
    /// No part has a slash or a control character in it.
    pub path: Vec<String>,
    /// The fields of the query in their order, decoded; what is no UTF-8 is replaced.
    pub query: Vec<(String, String)>,
}

impl Request {
    /// The first field of this name that is not empty: a form sends those that nobody filled in.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    /// All fields of this name that are not empty.
    pub fn fields<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let fields = self.query.iter();
        fields.filter_map(move |(known, value)| {
            let value = value.trim();
            (known == name && !value.is_empty()).then_some(value)
        })
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It names no host, or several.
    NoHost,
    /// It names another.
    OtherHost,
    /// It wants to change something.
    Method,
    /// Without the secret, or for what cannot be.
    NotFound,
}

/// Decides.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The names that are listened on, as `Host` has them.
    hosts: Vec<String>,
    secret: Secret,
}

impl Gate {
    pub(crate) fn new(port: u16, secret: Secret) -> Self {
        let names = ["127.0.0.1", "[::1]", "localhost"];
        let mut hosts: Vec<String> = names.map(|name| format!("{name}:{port}")).into();
        // Browsers leave the usual port out.
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        Self { hosts, secret }
    }

    /// With what paths of links begin.
    pub(crate) fn prefix(&self) -> String {
        format!("/{}", self.secret.as_str())
    }

    /// Lets a request through, or not.
    pub(crate) fn pass(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Request, Refused> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refused::NoHost);
        };
        // Where the first line has a whole URI, that is what counts (RFC 9112, 3.2.2); both
        // have to be right here.
        let named = uri
            .authority()
            .map(|authority| authority.as_str().as_bytes());
        let mut named = [host.as_bytes()].into_iter().chain(named);
        if !named.all(|name| self.is_here(name)) {
            return Err(Refused::OtherHost);
        }
        if method != Method::GET && method != Method::HEAD {
            return Err(Refused::Method);
        }
        let path = uri.path();
        let path = path.strip_prefix('/').ok_or(Refused::NotFound)?;
        let (secret, path) = path.split_once('/').unwrap_or((path, ""));
        if !self.secret.is(secret) {
            return Err(Refused::NotFound);
        }
        let path = path.split('/').filter(|part| !part.is_empty());
        let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        Ok(Request {
            prefix: self.prefix(),
            path: path
                .map(decoded)
                .collect::<Option<_>>()
                .ok_or(Refused::NotFound)?,
            query: query.into_owned().collect(),
        })
    }

    fn is_here(&self, host: &[u8]) -> bool {
        self.hosts
            .iter()
            .any(|known| known.as_bytes().eq_ignore_ascii_case(host))
    }
}

/// A part of a path; `None` of what no name can be.
fn decoded(part: &str) -> Option<String> {
    let part = percent_decode_str(part).decode_utf8().ok()?;
    let is_plain = |c: char| c != '/' && !c.is_control();
    part.chars().all(is_plain).then(|| part.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    const HERE: &str = "127.0.0.1:4242";

    fn gate() -> Gate {
        Gate::new(4242, Secret::draw().unwrap())
    }

    fn hosts(hosts: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        headers
    }

    fn ask(gate: &Gate, host: &str, path: &str) -> Result<Request, Refused> {
        gate.pass(&Method::GET, &path.parse().unwrap(), &hosts(&[host]))
    }

    #[test]
    fn a_path_is_decoded_part_by_part_and_a_query_field_by_field() {
        let gate = gate();
        let base = gate.prefix();
        let path = format!("{base}/run//20261121-0a%20b?tag=a%26b&tag=&name=+x+&tag=c&x=%ff");
        let request = ask(&gate, HERE, &path).unwrap();
        assert_eq!(request.path, ["run", "20261121-0a b"]);
        assert_eq!(request.fields("tag").collect::<Vec<_>>(), ["a&b", "c"]);
        assert_eq!(request.field("name"), Some("x"));
        assert_eq!(request.field("x"), Some("\u{fffd}"));
        assert_eq!(request.field("y"), None);
        // The address as somebody may type it.
        assert_eq!(ask(&gate, HERE, &base).unwrap().path, [""; 0]);
    }

    #[test]
    fn only_names_that_are_listened_on_are_answered() {
        let gate = gate();
        let base = gate.prefix();
        for host in [
            "127.0.0.1:4242",
            "[::1]:4242",
            "localhost:4242",
            "LocalHost:4242",
        ] {
            assert!(ask(&gate, host, &base).is_ok(), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:4242",
            "127.0.0.1",
            "127.0.0.1:4243",
            "127.0.0.1:4242.evil.example",
            "localhost.evil.example:4242",
            "localhost.:4242",
            "user@127.0.0.1:4242",
            "2130706433:4242",
            "0.0.0.0:4242",
            "",
        ] {
            assert_eq!(ask(&gate, host, &base), Err(Refused::OtherHost), "{host}");
        }
        let ask = |headers: &HeaderMap, path: &str| {
            gate.pass(&Method::GET, &path.parse().unwrap(), headers)
        };
        for named in [&[][..], &[HERE, HERE], &[HERE, "evil.example"]] {
            assert_eq!(ask(&hosts(named), &base), Err(Refused::NoHost), "{named:?}");
        }
        let whole = |host: &str| format!("http://{host}{base}");
        assert!(ask(&hosts(&[HERE]), &whole(HERE)).is_ok());
        for (header, line) in [(HERE, "evil.example"), ("evil.example", HERE)] {
            let refused = ask(&hosts(&[header]), &whole(line));
            assert_eq!(refused, Err(Refused::OtherHost), "{header} {line}");
        }
    }

    #[test]
    fn the_usual_port_may_be_left_out_where_it_is_that() {
        let gate = Gate::new(80, Secret::draw().unwrap());
        let base = gate.prefix();
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost", "[::1]"] {
            assert!(ask(&gate, host, &base).is_ok(), "{host}");
        }
    }

    #[test]
    fn nothing_but_reading_passes_and_the_host_is_asked_first() {
        let gate = gate();
        let uri: Uri = gate.prefix().parse().unwrap();
        for method in [
            "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "BREW",
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let refused = |host| gate.pass(&method, &uri, &hosts(&[host]));
            assert_eq!(refused(HERE), Err(Refused::Method), "{method}");
            assert_eq!(refused("evil.example"), Err(Refused::OtherHost), "{method}");
        }
    }

    #[test]
    fn without_the_secret_or_for_what_no_name_can_be_nothing_is_found() {
        let gate = gate();
        let base = gate.prefix();
        let other = Gate::new(4242, Secret::draw().unwrap()).prefix();
        for path in [
            "/",
            "//",
            "/favicon.ico",
            "/..",
            "*",
            &other,
            &base[..base.len() - 1],
        ] {
            assert_eq!(ask(&gate, HERE, path), Err(Refused::NotFound), "{path}");
        }
        for path in [
            "..%2fetc%2fpasswd",
            "run/%00",
            "run/a%0db",
            "run/%c3%28",
            "%2F",
        ] {
            let path = format!("{base}/{path}");
            assert_eq!(ask(&gate, HERE, &path), Err(Refused::NotFound), "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_part_of_a_path_never_has_a_slash_or_a_control_character(path in "[!-~]{0,80}") {
            let gate = gate();
            let Ok(uri) = format!("{}/{path}", gate.prefix()).parse::<Uri>() else {
                return Ok(());
            };
            if let Ok(request) = gate.pass(&Method::GET, &uri, &hosts(&[HERE])) {
                for part in request.path {
                    prop_assert!(!part.is_empty());
                    prop_assert!(!part.contains(|c: char| c == '/' || c.is_control()));
                }
            }
        }
    }
}
