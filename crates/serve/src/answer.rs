//! What is answered, and the rules for browsers that stand above everything.

use crate::events::Draw;
use crate::gate::Refused;
use hyper::StatusCode;
use hyper::body::Bytes;
use std::fmt;

/// The header lines of every answer.
///
/// `Content-Security-Policy`: nothing is loaded, but for styles, scripts and events from this
/// server and pictures that are in the page; forms lead here, and no page is framed. Referrers,
/// because the secret stands in the address. `Cache-Control`, because a page is of this moment,
/// and of one reader.
pub const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Here it is.
    Found,
    /// What was asked cannot be so: a field that cannot be read.
    Wrong,
    /// There is none.
    NotFound,
    /// It is there, and could not be read.
    Failed,
}

/// An answer of a [`Site`](crate::Site).
pub struct Answer {
    pub(crate) status: StatusCode,
    /// Media type.
    pub(crate) media: &'static str,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    Whole(Bytes),
    Events(Draw),
}

impl Answer {
    /// A page of HTML.
    pub fn page(status: Status, html: String) -> Self {
        let status = match status {
            Status::Found => StatusCode::OK,
            Status::Wrong => StatusCode::BAD_REQUEST,
            Status::NotFound => StatusCode::NOT_FOUND,
            Status::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::whole(status, "text/html; charset=utf-8", html.into())
    }

    /// A text of another media type.
    pub fn text(media: &'static str, text: impl Into<Bytes>) -> Self {
        Self::whole(StatusCode::OK, media, text.into())
    }

    /// What is drawn anew again and again, as server-sent events (HTML Living Standard, 9.2):
    /// one for each drawing that is unlike the one before, then one of the type `end` when there
    /// are no more.
    pub fn events(draw: Draw) -> Self {
        Self {
            status: StatusCode::OK,
            media: "text/event-stream",
            content: Content::Events(draw),
        }
    }

    /// The page could not be made: a mistake in the program.
    pub(crate) fn broken() -> Self {
        Self::plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page could not be made: a mistake in diskfacts. What happened stands where \
             `diskfacts serve` runs; please report it.\n",
        )
    }

    fn plain(status: StatusCode, text: &'static str) -> Self {
        Self::whole(
            status,
            "text/plain; charset=utf-8",
            Bytes::from_static(text.as_bytes()),
        )
    }

    fn whole(status: StatusCode, media: &'static str, bytes: Bytes) -> Self {
        Self {
            status,
            media,
            content: Content::Whole(bytes),
        }
    }
}

impl From<Refused> for Answer {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NoHost => Self::plain(
                StatusCode::BAD_REQUEST,
                "A request needs one line Host: with the address that diskfacts serve printed.\n",
            ),
            Refused::OtherHost => Self::plain(
                StatusCode::MISDIRECTED_REQUEST,
                "diskfacts serve answers at the address that it printed, and no other name may \
                 lead to it. Through SSH take the same port at both ends: \
                 ssh -L PORT:127.0.0.1:PORT HOST\n",
            ),
            Refused::Method => Self::plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "Nothing can be changed here: GET and HEAD alone.\n",
            ),
            Refused::NotFound => Self::plain(
                StatusCode::NOT_FOUND,
                "Nothing is here. The address that diskfacts serve printed has a long part that \
                 belongs to it.\n",
            ),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Answer");
        shown
            .field("status", &self.status)
            .field("media", &self.media);
        match &self.content {
            Content::Whole(bytes) => shown.field("bytes", &bytes.len()),
            Content::Events(_) => shown.field("events", &true),
        };
        shown.finish()
    }
}
