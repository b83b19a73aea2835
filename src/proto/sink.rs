//! The byte sink that replies are written into: a chain of chunks that a socket drains from the front.
//! Pure memory, no I/O; touches base only.
//!
//! ```text
//!   full: [chunk|chunk|…]   tail: [bytes … spare]
//!          ^ written bytes of the front chunk have been sent
//! ```
//! Small writes go into `tail`, a buffer of fixed capacity; when it is full it moves to the end of `full` and a new one
//! takes its place, so nothing already written is ever copied. A body larger than a chunk gets a chunk of its own.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::base::limits::REPLY_CHUNK_BYTES;

/// Most slices handed to one vectored write.
pub const SLICES_MAX: usize = 64;

/// Reply bytes waiting to be sent.
#[derive(Debug, Default)]
pub struct Sink {
    full: VecDeque<Vec<u8>>,
    full_bytes: usize,
    /// Memory of the full chunks.
    full_capacity: usize,
    tail: Vec<u8>,
    /// Bytes of the first chunk that have been sent.
    sent: usize,
}

/// Where a header of yet unknown length has to be put in; see [`Sink::insert`].
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    chunk: usize,
    offset: usize,
}

impl Sink {
    /// An empty sink without memory of its own.
    pub fn new() -> Sink {
        Sink::default()
    }

    /// An empty sink that starts with a used buffer, emptied here.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Sink {
        buffer.clear();
        Sink { tail: buffer, ..Sink::default() }
    }

    /// Bytes waiting.
    pub fn len(&self) -> usize {
        self.full_bytes + self.tail.len() - self.sent
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.full.is_empty() && self.tail.len() == self.sent
    }

    /// Whether the sink has its chunk already.
    pub fn has_buffer(&self) -> bool {
        self.tail.capacity() != 0
    }

    /// Bytes of memory held, used or not.
    #[inline]
    pub fn mem_size(&self) -> usize {
        self.full_capacity + self.tail.capacity()
    }

    /// Bytes of memory held beyond the one chunk that every client with replies has: what the output buffer limits are
    /// about.
    #[inline]
    pub fn excess_bytes(&self) -> usize {
        self.mem_size().saturating_sub(REPLY_CHUNK_BYTES)
    }

    /// Full chunks in the chain, without the one being filled.
    pub fn chunks(&self) -> usize {
        self.full.len()
    }

    /// Bytes in the chunk being filled.
    pub fn tail_len(&self) -> usize {
        self.tail.len()
    }

    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        if bytes.len() <= self.tail.capacity() - self.tail.len() {
            self.tail.extend_from_slice(bytes);
        } else {
            self.put_slow(bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_slow(&mut self, bytes: &[u8]) {
        if bytes.len() >= REPLY_CHUNK_BYTES {
            self.seal();
            self.push_full(bytes.to_vec());
            return;
        }
        self.room(bytes.len()).extend_from_slice(bytes);
    }

    /// The chunk being filled, with room for at least `bytes` more; for writers that know a bound of what they add.
    /// They must not grow it beyond that room.
    #[inline]
    pub fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        if self.tail.capacity() - self.tail.len() < bytes {
            self.new_tail(bytes);
        }
        &mut self.tail
    }

    #[cold]
    #[inline(never)]
    fn new_tail(&mut self, bytes: usize) {
        self.seal();
        if self.tail.capacity() < bytes {
            self.tail = Vec::with_capacity(bytes.max(REPLY_CHUNK_BYTES));
        }
    }

    /// Moves what is in the tail to the chain.
    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let chunk = std::mem::take(&mut self.tail);
            self.push_full(chunk);
        }
    }

    fn push_full(&mut self, chunk: Vec<u8>) {
        self.full_bytes += chunk.len();
        self.full_capacity += chunk.capacity();
        self.full.push_back(chunk);
    }

    /// Remembers this place for [`Sink::insert`].
    pub fn mark(&self) -> Mark {
        Mark { chunk: self.full.len(), offset: self.tail.len() }
    }

    /// Puts a short header in at a mark. The mark is valid as long as nothing has been sent since.
    pub fn insert(&mut self, mark: Mark, header: &[u8]) {
        if mark.chunk == self.full.len() {
            let end = self.tail.len();
            if self.tail.capacity() - end >= header.len() {
                self.tail.extend_from_slice(header);
                self.tail[mark.offset..].rotate_right(header.len());
                return;
            }
            self.seal();
            if mark.chunk == self.full.len() {
                // Nothing has been written at all.
                return self.put(header);
            }
            // The tail is one of the full chunks now: cut it in two below.
        }
        let chunk = &mut self.full[mark.chunk];
        self.full_capacity -= chunk.capacity();
        let rest = chunk.split_off(mark.offset);
        chunk.extend_from_slice(header);
        self.full_bytes += header.len();
        self.full_capacity += chunk.capacity() + rest.capacity();
        if !rest.is_empty() {
            self.full.insert(mark.chunk + 1, rest);
        }
    }

    /// The waiting bytes when they are in one piece.
    pub fn single(&self) -> Option<&[u8]> {
        self.full.is_empty().then(|| &self.tail[self.sent..])
    }

    /// Fills `slices` with the waiting bytes in order; returns how many were used.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; SLICES_MAX]) -> usize {
        let chunks = self.full.iter().chain(std::iter::once(&self.tail));
        let mut used = 0;
        for (i, chunk) in chunks.take(SLICES_MAX).enumerate() {
            let from = if i == 0 { self.sent } else { 0 };
            slices[i] = IoSlice::new(&chunk[from..]);
            used += 1;
        }
        used
    }

    /// Takes note that `n` bytes have been sent, and frees the chunks that are done.
    pub fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.len());
        self.sent += n;
        while let Some(front) = self.full.front() {
            if self.sent < front.len() {
                return;
            }
            self.sent -= front.len();
            self.full_bytes -= front.len();
            self.full_capacity -= front.capacity();
            self.full.pop_front();
        }
        if self.sent == self.tail.len() {
            self.tail.clear();
            self.sent = 0;
        }
    }

    /// Takes everything of `other` behind what is here.
    pub fn append(&mut self, mut other: Sink) {
        debug_assert_eq!(other.sent, 0);
        if other.full.is_empty() {
            self.put(&other.tail);
            return;
        }
        self.seal();
        self.full_bytes += other.full_bytes;
        self.full_capacity += other.full_capacity;
        self.full.append(&mut other.full);
        self.tail = other.tail;
    }

    /// Drops what waits and hands the buffer out for reuse.
    pub fn into_buffer(self) -> Vec<u8> {
        self.tail
    }

    /// All waiting bytes in one piece; for tests and for callers that need the reply as data.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        for chunk in self.full.iter().chain(std::iter::once(&self.tail)) {
            out.extend_from_slice(chunk);
        }
        out.drain(..self.sent);
        out
    }
}

#[cfg(test)]
impl Sink {
    fn check(&self) {
        assert_eq!(self.full_bytes, self.full.iter().map(Vec::len).sum::<usize>());
        assert_eq!(self.full_capacity, self.full.iter().map(Vec::capacity).sum::<usize>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_keeps_order_across_chunks_and_partial_sends() {
        let mut sink = Sink::new();
        let mut want = Vec::new();
        for i in 0..5_000u32 {
            let piece = vec![(i % 251) as u8; (i % 97) as usize];
            sink.put(&piece);
            want.extend_from_slice(&piece);
        }
        let big = vec![7u8; REPLY_CHUNK_BYTES * 3];
        sink.put(&big);
        want.extend_from_slice(&big);
        sink.put(b"end");
        want.extend_from_slice(b"end");
        let mut got = Vec::new();
        while !sink.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let used = sink.slices(&mut slices);
            let all: Vec<u8> = slices[..used].iter().flat_map(|s| s.to_vec()).collect();
            let n = all.len().min(1_000);
            got.extend_from_slice(&all[..n]);
            sink.consume(n);
            sink.check();
        }
        assert!(got == want);
        assert_eq!(sink.len(), 0);
    }

    #[test]
    fn header_goes_into_a_sink_without_memory() {
        let mut sink = Sink::new();
        let mark = sink.mark();
        sink.insert(mark, b"*0\r\n");
        assert_eq!(sink.to_vec(), b"*0\r\n");
    }

    #[test]
    fn header_goes_in_at_its_mark_in_any_state_of_the_chain() {
        for body in [0, 10, REPLY_CHUNK_BYTES - 3, REPLY_CHUNK_BYTES, 5 * REPLY_CHUNK_BYTES] {
            let mut sink = Sink::new();
            sink.put(b"ab");
            let mark = sink.mark();
            for _ in 0..body {
                sink.put(b"x");
            }
            sink.insert(mark, b"*12\r\n");
            sink.check();
            sink.put(b"z");
            let mut want = b"ab*12\r\n".to_vec();
            want.resize(want.len() + body, b'x');
            want.push(b'z');
            assert!(sink.to_vec() == want, "body of {body}");
            assert_eq!(sink.len(), want.len());
        }
    }
}
