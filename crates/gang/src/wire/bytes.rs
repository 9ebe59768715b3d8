//! Numbers, texts and lists in a frame.

/// Why bytes are no frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {what}")]
pub struct WireError {
    /// Where, from 0, at most the length of the frame.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// Longest text: a path, or a sentence about an error.
const TEXT_BYTES_MAX: usize = 4096;

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn refuse(&self, what: &'static str) -> WireError {
        WireError { at: self.at, what }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..length) else {
            return Err(self.refuse("the frame ends here"));
        };
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Result<String, WireError> {
        let at = self.at;
        let bytes = self.bytes()?;
        if bytes.len() > TEXT_BYTES_MAX {
            let what = "a text is longer than 4096 bytes";
            return Err(WireError { at, what });
        }
        let what = "a text is not UTF-8";
        String::from_utf8(bytes.to_vec()).map_err(|_| WireError { at, what })
    }

    /// Nothing, or a value.
    pub(super) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, WireError>,
    ) -> Result<Option<T>, WireError> {
        match self.u8()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(self.refuse("neither there (1) nor absent (0)")),
        }
    }

    /// A list. Memory grows with what was read, never with the count that the frame claims.
    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let count = self.u32()? as usize;
        if count > self.bytes.len() - self.at {
            return Err(self.refuse("a list has more items than the frame has bytes"));
        }
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    pub(super) fn end(&self) -> Result<(), WireError> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(self.refuse("bytes behind the end of the message"))
    }

    /// What is left, unread.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }
}

#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// A text, cut where it is longer than a reader takes: errors of a system may be long.
    pub(super) fn text(&mut self, text: &str) {
        let mut end = text.len().min(TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes(&text.as_bytes()[..end]);
    }

    pub(super) fn option<T>(&mut self, value: Option<&T>, write: impl FnOnce(&mut Self, &T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.count(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).expect("a frame has less than 4 GiB"));
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The frame, with its length in its first four bytes.
    pub(super) fn into_frame(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).expect("a frame has less than 4 GiB");
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}
