//! What is asked of a device.

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Bring bytes from the device.
    Read,
    /// Give bytes to the device. Acknowledged does not mean durable: a
    /// volatile write cache may hold them until a flush.
    Write,
    /// Make every write durable that was acknowledged before this was
    /// submitted. Offset and length do not matter.
    Flush,
    /// Say that the content of the range does not matter any more.
    Trim,
}

/// How to do it. The default is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Force unit access: a write is acknowledged only when it is durable.
    pub fua: bool,
    /// Flush the write cache before this write begins.
    pub preflush: bool,
    /// Pass by the host's page cache (`O_DIRECT`). Only a host layer looks at it.
    pub direct: bool,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The caller's name for it, given back in its completion. The caller
    /// keeps the tags of requests in flight distinct.
    pub tag: u64,
    /// What to do.
    pub kind: Kind,
    /// First byte, from the start of the device.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// How to do it.
    pub flags: Flags,
    /// Which stream it belongs to, that is which open file: read-ahead windows
    /// go by it.
    pub stream: u32,
    /// Which I/O context it is of, that is who asks: fair scheduling goes by it.
    /// The stream's own, unless several threads serve it or one serves several.
    pub context: u32,
}

impl Request {
    /// A direct read of stream 0.
    pub fn read(tag: u64, offset: u64, len: u64) -> Self {
        Self::new(tag, Kind::Read, offset, len)
    }

    /// A direct write of stream 0.
    pub fn write(tag: u64, offset: u64, len: u64) -> Self {
        Self::new(tag, Kind::Write, offset, len)
    }

    /// A flush.
    pub fn flush(tag: u64) -> Self {
        Self::new(tag, Kind::Flush, 0, 0)
    }

    /// A trim of a range.
    pub fn trim(tag: u64, offset: u64, len: u64) -> Self {
        Self::new(tag, Kind::Trim, offset, len)
    }

    fn new(tag: u64, kind: Kind, offset: u64, len: u64) -> Self {
        Self {
            tag,
            kind,
            offset,
            len,
            flags: Flags {
                direct: true,
                ..Flags::default()
            },
            stream: 0,
            context: 0,
        }
    }

    /// The same request through the host's page cache.
    #[must_use]
    pub fn buffered(mut self) -> Self {
        self.flags.direct = false;
        self
    }

    /// The same write, acknowledged only when durable.
    #[must_use]
    pub fn fua(mut self) -> Self {
        self.flags.fua = true;
        self
    }

    /// The same write, after a flush of the write cache.
    #[must_use]
    pub fn preflush(mut self) -> Self {
        self.flags.preflush = true;
        self
    }

    /// The same request of another stream, in an I/O context of its own.
    #[must_use]
    pub fn of_stream(mut self, stream: u32) -> Self {
        self.stream = stream;
        self.context = stream;
        self
    }

    /// The same request in another I/O context.
    #[must_use]
    pub fn in_context(mut self, context: u32) -> Self {
        self.context = context;
        self
    }

    /// One past the last byte; saturates, so that a range beyond every device
    /// stays beyond it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}
