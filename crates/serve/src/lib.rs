//! Pages over HTTP, for the people of this machine alone.
//!
//! What the pages say is another's business: a [`Site`] answers a [`Request`]. This crate
//! decides who may ask, and how long anybody may take for it.
//!
//! # Promises
//! * It listens on 127.0.0.1, and on `::1` where there is one, with the same port: no other machine
//!   reaches it.
//! * The first part of every path is a secret of 128 random bits, new with each [`Server`]. What
//!   is asked without it gets one and the same answer, by a comparison whose time does not depend
//!   on what was asked: other users of the machine can connect, and learn nothing.
//! * A request is answered only under a name that it listens on (`Host`). A page of somebody
//!   else's whose own name was made to lead here (DNS rebinding) is refused.
//! * GET and HEAD alone; bodies of requests are not read.
//! * No cookies, and no page may be framed, kept, or told where its reader came from; scripts,
//!   styles and connections are those of this server, or none ([`HEADERS`]).
//! * A [`Site`] that panics costs one answer.
//! * Memory and time are bounded ([`Limits`]), whatever the other side does: so many connections,
//!   so large a header, so long a connection.
//!
//! # What it does not promise
//! Whoever may read the memory or the standard output of this process may read the secret. There
//! is no encryption: on a loopback address nobody is between the two ends but the kernel.

#![forbid(unsafe_code)]

mod answer;
mod body;
mod events;
mod gate;
mod limits;
mod listen;
mod secret;
mod server;

pub use answer::{Answer, HEADERS, Status};
pub use events::Draw;
pub use gate::Request;
pub use limits::Limits;
pub use listen::ListenError;
pub use server::{Server, Stopper};

/// What is served.
pub trait Site: Send + Sync + 'static {
    /// Answers a request of somebody who may ask. It may read files: it is called on a thread
    /// that may wait.
    fn answer(&self, request: &Request) -> Answer;
}
