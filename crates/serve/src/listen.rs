//! The addresses that only this machine has.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use thiserror::Error;

/// How often another port is tried where one is free for 127.0.0.1 and taken for `::1`.
const ATTEMPTS: usize = 16;

/// Why no address can be listened on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Somebody else has the port.
    #[error(
        "port {port} of {address} is in use. Leave --port out, and a free one is taken; \
         `ss -ltnp sport = :{port}` shows who has it"
    )]
    InUse {
        /// Which port.
        port: u16,
        /// Of which address.
        address: IpAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Not everybody may have it.
    #[error(
        "port {port} may not be taken by this user: those below 1024 are root's. Leave --port out, \
         or choose a higher one"
    )]
    NotAllowed {
        /// Which port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no loopback address, no descriptor, no randomness.
    #[error("listening on 127.0.0.1 does not work here")]
    Other {
        /// What the system said.
        source: io::Error,
    },
}

/// Sockets that listen on one port of the loopback addresses.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) port: u16,
    pub(crate) sockets: Vec<TcpListener>,
}

/// Listens on this port, or on a free one.
pub(crate) fn listen(port: Option<u16>) -> Result<Sockets, ListenError> {
    if let Some(port) = port.filter(|port| *port != 0) {
        return on(port);
    }
    let mut attempt = on(0);
    for _ in 1..ATTEMPTS {
        match attempt {
            Err(ListenError::InUse { .. }) => attempt = on(0),
            done => return done,
        }
    }
    attempt
}

fn on(port: u16) -> Result<Sockets, ListenError> {
    let bind = |address: IpAddr, port| {
        let bound = TcpListener::bind(SocketAddr::new(address, port));
        bound.map_err(|source| why(source, port, address))
    };
    let first = bind(Ipv4Addr::LOCALHOST.into(), port)?;
    let address = first.local_addr();
    let port = address
        .map_err(|source| ListenError::Other { source })?
        .port();
    let second = match bind(Ipv6Addr::LOCALHOST.into(), port) {
        Ok(second) => Some(second),
        // `localhost` may lead there, and whoever has it would be asked in our place.
        Err(error @ ListenError::InUse { .. }) => return Err(error),
        // There is no IPv6 here.
        Err(_) => None,
    };
    Ok(Sockets {
        port,
        sockets: [Some(first), second].into_iter().flatten().collect(),
    })
}

fn why(source: io::Error, port: u16, address: IpAddr) -> ListenError {
    match source.kind() {
        ErrorKind::AddrInUse => ListenError::InUse {
            port,
            address,
            source,
        },
        ErrorKind::PermissionDenied => ListenError::NotAllowed { port, source },
        _ => ListenError::Other { source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_loopback_addresses_have_the_same_port_and_no_other_address_has() {
        let listening = listen(None).unwrap();
        assert_ne!(listening.port, 0);
        for socket in &listening.sockets {
            let address = socket.local_addr().unwrap();
            assert!(address.ip().is_loopback(), "{address}");
            assert_eq!(address.port(), listening.port);
        }
    }

    #[test]
    fn a_port_that_is_taken_is_an_error_that_says_what_to_type() {
        let first = listen(None).unwrap();
        let error = listen(Some(first.port)).unwrap_err();
        assert!(matches!(error, ListenError::InUse { .. }), "{error:?}");
        let text = error.to_string();
        let port = first.port.to_string();
        assert!(text.contains(&port) && text.contains("ss -ltnp"), "{text}");
    }

    #[test]
    fn a_port_that_another_has_on_the_second_address_alone_is_taken_too() {
        let Ok(other) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) else {
            return diskfacts_testkit::skip("::1: there is no IPv6 here");
        };
        let port = other.local_addr().unwrap().port();
        // Somebody may have it on the first: then it is in use as well.
        let error = listen(Some(port)).unwrap_err();
        assert!(matches!(error, ListenError::InUse { .. }), "{error:?}");
    }
}
