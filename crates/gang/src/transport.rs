//! Frames from one rank to another: all that the protocol asks of MPI.

/// A way to the other ranks of the group. Nothing here waits, and nothing is collective: a
/// barrier or a reduction never returns where one rank is dead, and promises nothing about time.
///
/// Frames of one pair arrive in the order in which they were sent (as MPI and TCP promise);
/// between pairs there is no order.
pub trait Transport {
    /// This process, from 0. Rank 0 is the root.
    fn rank(&self) -> usize;

    /// How many processes the launcher started; at least 1.
    fn size(&self) -> usize;

    /// Hands a frame over, and keeps a copy until it is sent.
    ///
    /// # Errors
    /// When the other rank is known to be gone, or nothing can be sent at all.
    fn send(&mut self, to: usize, frame: &[u8]) -> Result<(), TransportError>;

    /// The next frame of a rank, if one is there.
    ///
    /// # Errors
    /// When that rank is known to be gone, or nothing can be received at all.
    fn receive(&mut self, from: usize) -> Result<Option<Vec<u8>>, TransportError>;

    /// How many frames were handed over and are not known to be sent.
    ///
    /// # Errors
    /// When nothing can be sent at all.
    fn unsent(&mut self) -> Result<usize, TransportError>;
}

/// What a transport could not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// One rank is gone; the others can still be reached.
    #[error("rank {rank} cannot be reached: {why}")]
    Gone {
        /// Which.
        rank: usize,
        /// In the words of the transport.
        why: String,
    },
    /// This process reaches nobody any more.
    #[error("{call}: {why}")]
    Broken {
        /// What was tried.
        call: &'static str,
        /// In the words of the transport.
        why: String,
    },
}
