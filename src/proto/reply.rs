//! Writes replies in RESP2 or RESP3 into a [`Sink`]. Touches base only.
//!
//! The protocol: <https://redis.io/docs/latest/develop/reference/protocol-spec/>. A handler calls the method that
//! names what it answers (`map`, `double`, `null`, …) and need not know which version the client speaks.

use crate::base::error::CmdError;
use crate::base::num;
use crate::proto::sink::{Mark, Sink};

/// Longest header: type byte, 20 digits, line end.
const HEADER_BYTES_MAX: usize = 24;

/// The writer of one command's reply.
pub struct Reply<'a> {
    sink: &'a mut Sink,
    resp3: bool,
}

/// A collection whose length is known only when its last element has been written; see [`Reply::deferred`].
#[must_use = "a deferred collection needs its length"]
pub struct Deferred(Mark);

impl<'a> Reply<'a> {
    /// Writes into `sink`, in RESP3 if so asked.
    pub fn new(sink: &'a mut Sink, resp3: bool) -> Reply<'a> {
        Reply { sink, resp3 }
    }

    /// Whether the client speaks RESP3; for the few commands whose RESP2 form is not the natural flattening.
    pub fn resp3(&self) -> bool {
        self.resp3
    }

    /// Bytes written and not yet sent, of this and earlier replies.
    pub fn pending(&self) -> usize {
        self.sink.len()
    }

    /// The sink, for writers that format in bulk.
    pub fn sink(&mut self) -> &mut Sink {
        self.sink
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        self.sink.put(b"+OK\r\n");
    }

    /// A status line. `text` has no line breaks.
    pub fn simple(&mut self, text: &str) {
        let room = self.sink.room(text.len() + 3);
        room.push(b'+');
        room.extend_from_slice(text.as_bytes());
        room.extend_from_slice(b"\r\n");
    }

    /// An error line. Line breaks inside become blanks, as in Redis.
    pub fn error(&mut self, error: &CmdError) {
        let text = error.text();
        let room = self.sink.room(text.len() + 3);
        room.push(b'-');
        room.extend(text.iter().map(|&b| if b == b'\r' || b == b'\n' { b' ' } else { b }));
        room.extend_from_slice(b"\r\n");
    }

    /// An integer.
    #[inline]
    pub fn int(&mut self, value: i64) {
        match value {
            0 => self.sink.put(b":0\r\n"),
            1 => self.sink.put(b":1\r\n"),
            _ => self.header(b':', value),
        }
    }

    /// A count.
    #[inline]
    pub fn len(&mut self, value: usize) {
        self.int(value as i64);
    }

    #[inline]
    fn header(&mut self, kind: u8, value: i64) {
        let room = self.sink.room(HEADER_BYTES_MAX);
        room.push(kind);
        num::write_i64(room, value);
        room.extend_from_slice(b"\r\n");
    }

    /// A byte string.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        if bytes.len() < 128 {
            let room = self.sink.room(bytes.len() + HEADER_BYTES_MAX);
            push_short_bulk_head(room, bytes.len());
            room.extend_from_slice(bytes);
            room.extend_from_slice(b"\r\n");
        } else {
            self.header(b'$', bytes.len() as i64);
            self.sink.put(bytes);
            self.sink.put(b"\r\n");
        }
    }

    /// An integer as a byte string.
    pub fn bulk_int(&mut self, value: i64) {
        let mut buffer = itoa::Buffer::new();
        self.bulk(buffer.format(value).as_bytes());
    }

    /// Text made up for humans: a verbatim string in RESP3, a byte string in RESP2. `format` is `txt` or `mkd`.
    pub fn verbatim(&mut self, format: &str, text: &[u8]) {
        if !self.resp3 {
            return self.bulk(text);
        }
        debug_assert_eq!(format.len(), 3);
        self.header(b'=', text.len() as i64 + 4);
        self.sink.put(format.as_bytes());
        self.sink.put(b":");
        self.sink.put(text);
        self.sink.put(b"\r\n");
    }

    /// Nothing where a string could be: `$-1` in RESP2.
    #[inline]
    pub fn null(&mut self) {
        self.sink.put(if self.resp3 { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// Nothing where an array could be: `*-1` in RESP2.
    pub fn null_array(&mut self) {
        self.sink.put(if self.resp3 { b"_\r\n" } else { b"*-1\r\n" });
    }

    /// The head of an array; its `len` elements follow.
    #[inline]
    pub fn array(&mut self, len: usize) {
        self.header(b'*', len as i64);
    }

    /// The head of a map; `pairs` keys and values follow in turn.
    pub fn map(&mut self, pairs: usize) {
        if self.resp3 {
            self.header(b'%', pairs as i64);
        } else {
            self.header(b'*', pairs as i64 * 2);
        }
    }

    /// The head of a set; its `len` elements follow.
    pub fn set(&mut self, len: usize) {
        self.header(if self.resp3 { b'~' } else { b'*' }, len as i64);
    }

    /// The head of an out-of-band push (an array in RESP2); its `len` elements follow.
    pub fn push(&mut self, len: usize) {
        self.header(if self.resp3 { b'>' } else { b'*' }, len as i64);
    }

    /// A floating point number: a double in RESP3, a byte string in RESP2.
    pub fn double(&mut self, value: f64) {
        let mut text = Vec::with_capacity(32);
        num::format_f64(value, &mut text);
        if self.resp3 {
            let room = self.sink.room(text.len() + 3);
            room.push(b',');
            room.extend_from_slice(&text);
            room.extend_from_slice(b"\r\n");
        } else {
            self.bulk(&text);
        }
    }

    /// A truth value: a boolean in RESP3, 1 or 0 in RESP2.
    pub fn boolean(&mut self, value: bool) {
        match (self.resp3, value) {
            (true, true) => self.sink.put(b"#t\r\n"),
            (true, false) => self.sink.put(b"#f\r\n"),
            (false, _) => self.int(value as i64),
        }
    }

    /// Starts a collection of unknown length. Write the elements, then call one of the `end_` methods.
    pub fn deferred(&mut self) -> Deferred {
        Deferred(self.sink.mark())
    }

    /// Ends a deferred array of `len` elements.
    pub fn end_array(&mut self, deferred: Deferred, len: usize) {
        self.insert_header(deferred, b'*', len);
    }

    /// Ends a deferred set of `len` elements.
    pub fn end_set(&mut self, deferred: Deferred, len: usize) {
        self.insert_header(deferred, if self.resp3 { b'~' } else { b'*' }, len);
    }

    /// Ends a deferred map of `pairs` pairs.
    pub fn end_map(&mut self, deferred: Deferred, pairs: usize) {
        if self.resp3 {
            self.insert_header(deferred, b'%', pairs);
        } else {
            self.insert_header(deferred, b'*', pairs * 2);
        }
    }

    fn insert_header(&mut self, deferred: Deferred, kind: u8, len: usize) {
        let mut header = Vec::with_capacity(HEADER_BYTES_MAX);
        header.push(kind);
        num::write_i64(&mut header, len as i64);
        header.extend_from_slice(b"\r\n");
        self.sink.insert(deferred.0, &header);
    }
}

/// Writes `$<len>\r\n` for a length below 128, without a division.
#[inline]
fn push_short_bulk_head(out: &mut Vec<u8>, len: usize) {
    let mut head = *b"$000\r\n";
    if len < 10 {
        out.extend_from_slice(&[b'$', b'0' + len as u8, b'\r', b'\n']);
    } else if len < 100 {
        out.extend_from_slice(&[b'$', b'0' + (len / 10) as u8, b'0' + (len % 10) as u8, b'\r', b'\n']);
    } else {
        head[1] = b'0' + (len / 100) as u8;
        head[2] = b'0' + (len / 10 % 10) as u8;
        head[3] = b'0' + (len % 10) as u8;
        out.extend_from_slice(&head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(resp3: bool, write: impl Fn(&mut Reply)) -> String {
        let mut sink = Sink::new();
        write(&mut Reply::new(&mut sink, resp3));
        String::from_utf8(sink.to_vec()).expect("ascii")
    }

    #[test]
    fn shapes_differ_by_protocol_version() {
        let nulls = |r: &mut Reply| {
            r.null();
            r.null_array();
            r.map(2);
            r.set(3);
            r.double(1.5);
            r.boolean(true);
            r.verbatim("txt", b"hi");
        };
        assert_eq!(written(false, nulls), "$-1\r\n*-1\r\n*4\r\n*3\r\n$3\r\n1.5\r\n:1\r\n$2\r\nhi\r\n");
        assert_eq!(written(true, nulls), "_\r\n_\r\n%2\r\n~3\r\n,1.5\r\n#t\r\n=6\r\ntxt:hi\r\n");
    }

    #[test]
    fn bulk_heads_of_every_length() {
        for len in (0..300).chain([1_000, 20_000]) {
            let body = "x".repeat(len);
            assert_eq!(written(false, |r| r.bulk(body.as_bytes())), format!("${len}\r\n{body}\r\n"));
        }
    }

    #[test]
    fn line_breaks_in_errors_become_blanks() {
        assert_eq!(written(false, |r| r.error(&CmdError::new("ERR a\r\nb"))), "-ERR a  b\r\n");
    }

    #[test]
    fn deferred_collections_nest() {
        let text = written(true, |r| {
            let outer = r.deferred();
            let inner = r.deferred();
            r.int(7);
            r.end_set(inner, 1);
            r.bulk(b"x");
            r.end_array(outer, 2);
        });
        assert_eq!(text, "*2\r\n~1\r\n:7\r\n$1\r\nx\r\n");
    }
}
