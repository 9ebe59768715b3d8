//! Whole transfers, of calls that may stop short.
//!
//! `step` is what direct I/O asks of address, length and offset alike. A call
//! that ends between two steps cannot be continued where it ended; so the next
//! one begins at the step before, and moves some bytes a second time.
//!
//! For example 12288 bytes in steps of 512, of which the first call moved 1000:
//! the second one begins at 512.

/// A transfer that was not completed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stopped<E> {
    /// How many bytes had been moved.
    pub(crate) done: usize,
    /// What the call reported; `None` when it moved nothing and reported
    /// nothing.
    pub(crate) why: Option<E>,
}

/// Reads `length` bytes, or up to where a call brings nothing new: the end. The
/// number of bytes read.
///
/// `read` is given where to begin, and says how many bytes it read from there.
/// `again` says which errors mean nothing but to try again.
pub(crate) fn read_whole<E>(
    length: usize,
    step: usize,
    again: impl Fn(&E) -> bool,
    mut read: impl FnMut(usize) -> Result<usize, E>,
) -> Result<usize, E> {
    let mut done = 0;
    while done < length {
        let start = done - done % step;
        match read(start) {
            Ok(count) if start + count > done => done = start + count,
            Ok(_) => break,
            Err(error) if again(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes `length` bytes, or says how many of them it wrote.
///
/// `write` and `again` are as those of [`read_whole`].
pub(crate) fn write_whole<E>(
    length: usize,
    step: usize,
    again: impl Fn(&E) -> bool,
    mut write: impl FnMut(usize) -> Result<usize, E>,
) -> Result<(), Stopped<E>> {
    let mut done = 0;
    while done < length {
        let start = done - done % step;
        match write(start) {
            Ok(count) if start + count > done => done = start + count,
            Ok(_) => return Err(Stopped { done, why: None }),
            Err(error) if again(&error) => {}
            Err(error) => {
                return Err(Stopped {
                    done,
                    why: Some(error),
                });
            }
        }
    }
    Ok(())
}
