//! Frames over MPI's point-to-point calls.

use super::raw::{CallError, Handle, Raw, Request, Tested};
use crate::transport::{Transport, TransportError};
use std::collections::BTreeMap;

/// One rank, whatever handles are.
pub(super) struct Endpoint<H> {
    raw: Raw<H>,
    rank: usize,
    size: usize,
    sending: Vec<(usize, Request<H>)>,
    /// One of each rank, so that its frames stay in order.
    receiving: BTreeMap<usize, Request<H>>,
    /// Ranks to which a frame could not be sent, and why.
    failed: BTreeMap<usize, String>,
}

/// What is asked of an endpoint besides frames.
pub(super) trait Finalize: Transport {
    fn finalize(self: Box<Self>) -> Result<(), CallError>;
}

/// How often a frame to this rank itself is looked for: it needs no network.
const LOOKS_MAX: usize = 1_000_000;

impl<H: Handle> Endpoint<H> {
    /// Asks who this is, and holds the family's numbers against what MPI does with them.
    pub(super) fn new(raw: Raw<H>) -> Result<Self, CallError> {
        let (rank, size) = (raw.rank()?, raw.size()?);
        let mut endpoint = Self {
            raw,
            rank,
            size,
            sending: Vec::new(),
            receiving: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        endpoint.try_numbers()?;
        Ok(endpoint)
    }

    /// A frame to this rank itself: its length and its sender come out of the status, so they are
    /// right only where the status is the one that the library writes.
    fn try_numbers(&mut self) -> Result<(), CallError> {
        let refuse = |what: &str| CallError {
            call: "a frame to itself",
            why: format!("{what}: this library is none of the families that are known"),
        };
        if self.raw.byte_size()? != 1 {
            return Err(refuse("MPI_BYTE is not a byte"));
        }
        let frame = b"diskfacts gang";
        let mut sent = Some(self.raw.send(self.rank, frame)?);
        let mut received = None;
        for _ in 0..LOOKS_MAX {
            if let Some(request) = sent.take() {
                sent = pending(self.raw.test(request)?).err();
            }
            if let Some(request) = received.take() {
                match pending(self.raw.test(request)?) {
                    Ok(bytes) if *bytes == *frame => return Ok(()),
                    Ok(_) => return Err(refuse("other bytes came back")),
                    Err(request) => received = Some(request),
                }
            } else if let Some(probed) = self.raw.probe(self.rank)? {
                if (probed.from, probed.bytes) != (self.rank, frame.len()) {
                    return Err(refuse("the status has another sender or length"));
                }
                received = Some(self.raw.receive(self.rank, frame.len())?);
            }
        }
        Err(refuse("it did not come back"))
    }

    fn look_after_sending(&mut self) {
        for (to, request) in std::mem::take(&mut self.sending) {
            match self.raw.test(request) {
                Ok(Tested::Pending(request)) => self.sending.push((to, request)),
                Ok(Tested::Done(_)) => {}
                Err(error) => {
                    self.failed.insert(to, words(&error));
                }
            }
        }
    }

    fn gone(&self, rank: usize) -> Result<(), TransportError> {
        match self.failed.get(&rank) {
            Some(why) => Err(TransportError::Gone {
                rank,
                why: why.clone(),
            }),
            None => Ok(()),
        }
    }

    fn try_receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, CallError> {
        let request = match self.receiving.remove(&from) {
            Some(request) => request,
            None => match self.raw.probe(from)? {
                Some(probed) => self.raw.receive(from, probed.bytes)?,
                None => return Ok(None),
            },
        };
        match pending(self.raw.test(request)?) {
            Ok(frame) => Ok(Some(frame.into_vec())),
            Err(request) => {
                self.receiving.insert(from, request);
                Ok(None)
            }
        }
    }
}

fn pending<H>(tested: Tested<H>) -> Result<Box<[u8]>, Request<H>> {
    match tested {
        Tested::Done(bytes) => Ok(bytes),
        Tested::Pending(request) => Err(request),
    }
}

fn words(error: &CallError) -> String {
    format!("{}: {}", error.call, error.why)
}

impl<H: Handle> Transport for Endpoint<H> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, frame: &[u8]) -> Result<(), TransportError> {
        self.gone(to)?;
        match self.raw.send(to, frame) {
            Ok(request) => self.sending.push((to, request)),
            Err(error) => {
                self.failed.insert(to, words(&error));
            }
        }
        self.look_after_sending();
        self.gone(to)
    }

    fn receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, TransportError> {
        self.look_after_sending();
        // What came before it was gone counts.
        let received = self.try_receive(from);
        let why = match received {
            Ok(None) => return self.gone(from).map(|()| None),
            Ok(frame) => return Ok(frame),
            Err(error) => words(&error),
        };
        Err(TransportError::Gone { rank: from, why })
    }

    fn unsent(&mut self) -> Result<usize, TransportError> {
        self.look_after_sending();
        Ok(self.sending.len())
    }
}

impl<H: Handle> Finalize for Endpoint<H> {
    fn finalize(self: Box<Self>) -> Result<(), CallError> {
        self.raw.finalize()
    }
}
