//! A transport and a clock for the length of one poll, and what failed meanwhile.

use crate::time::Clock;
use crate::transport::{Transport, TransportError};
use crate::wire::{Message, encode};

pub(crate) struct Link<'a> {
    transport: &'a mut dyn Transport,
    clock: &'a dyn Clock,
    /// Ranks that the transport found gone, and how.
    pub(crate) gone: Vec<(usize, String)>,
    /// Why nobody can be reached.
    pub(crate) broken: Option<String>,
}

impl<'a> Link<'a> {
    pub(crate) fn new(transport: &'a mut dyn Transport, clock: &'a dyn Clock) -> Self {
        Self {
            transport,
            clock,
            gone: Vec::new(),
            broken: None,
        }
    }

    pub(crate) fn now_ns(&self) -> i64 {
        self.clock.now_ns()
    }

    pub(crate) fn send(&mut self, epoch: u32, to: usize, message: &Message) {
        let sent = self.transport.send(to, &encode(epoch, message));
        self.keep_error(sent);
    }

    pub(crate) fn send_all(&mut self, epoch: u32, to: &[usize], message: &Message) {
        let frame = encode(epoch, message);
        for rank in to {
            let sent = self.transport.send(*rank, &frame);
            self.keep_error(sent);
        }
    }

    pub(crate) fn receive(&mut self, from: usize) -> Option<Vec<u8>> {
        let received = self.transport.receive(from);
        self.keep_error(received).flatten()
    }

    /// How many frames are not known to be sent; none where nothing can be sent.
    pub(crate) fn unsent(&mut self) -> usize {
        let unsent = self.transport.unsent();
        self.keep_error(unsent).unwrap_or(0)
    }

    fn keep_error<T>(&mut self, result: Result<T, TransportError>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(TransportError::Gone { rank, why }) => self.gone.push((rank, why)),
            Err(error @ TransportError::Broken { .. }) => {
                self.broken.get_or_insert(error.to_string());
            }
        }
        None
    }
}
