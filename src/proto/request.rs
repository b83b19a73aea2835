//! Parses requests: RESP arrays of bulk strings, and inline lines. Touches base only.
//!
//! An incremental state machine: it is fed a buffer that starts with the first byte of a request and keeps its place,
//! so that a request may arrive in any number of pieces and nothing is parsed twice. Arguments are reported as spans
//! of that buffer; only inline words and big arguments are owned. No recursion, and nothing is allocated on the word
//! of a length alone.
//!
//! ```text
//!            '*'            count > 0        length           body + CRLF
//!  Start ─────────► Count ───────────► Length ─────► Body ──────────────► Length … until count arguments, then done
//!    │ else                              ▲            │ long and not all here
//!    └───► inline line                   └── BigBody ◄┘ the caller collects it, then calls `finish_big`
//! ```

use memchr::memchr2;

use crate::base::error::ProtoError;
use crate::base::limits::{
    ARGUMENTS_KEPT_MAX, ARGUMENTS_MAX, ARGUMENTS_RESERVE_MAX, BIG_ARGUMENT_BYTES, INLINE_BYTES_MAX,
    UNAUTHENTICATED_ARGUMENTS_MAX, UNAUTHENTICATED_BULK_BYTES_MAX,
};
use crate::base::num::parse_i64;
use crate::base::split::split_args;

/// Where one argument of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Bytes of the buffer, counted from the start of the request.
    Buffer {
        /// First byte.
        start: u32,
        /// Length in bytes.
        len: u32,
    },
    /// One of the owned arguments.
    Owned(u32),
}

/// The arguments of a request in progress. One is shared by all clients; a client with an unfinished request keeps
/// its own.
#[derive(Debug, Default)]
pub struct Arguments {
    /// The arguments found so far.
    pub spans: Vec<Span>,
    /// Those that are not part of the buffer.
    pub owned: Vec<Vec<u8>>,
}

impl Arguments {
    /// Forgets all arguments, keeps the memory of the list unless it is large.
    #[inline]
    pub fn clear(&mut self) {
        self.spans.clear();
        self.owned.clear();
        if self.spans.capacity() > ARGUMENTS_KEPT_MAX {
            self.spans = Vec::new();
        }
    }

    /// The bytes of one argument; `request` is the buffer from the start of the request.
    #[inline]
    pub fn bytes<'a>(&'a self, request: &'a [u8], span: Span) -> &'a [u8] {
        match span {
            Span::Buffer { start, len } => &request[start as usize..start as usize + len as usize],
            Span::Owned(index) => &self.owned[index as usize],
        }
    }

    /// Bytes of all arguments found so far.
    pub fn bytes_len(&self) -> usize {
        let len = |span: &Span| match *span {
            Span::Buffer { len, .. } => len as usize,
            Span::Owned(index) => self.owned[index as usize].len(),
        };
        self.spans.iter().map(len).sum()
    }

    /// Bytes of memory held.
    pub fn mem_size(&self) -> usize {
        self.spans.capacity() * std::mem::size_of::<Span>()
            + self.owned.iter().map(Vec::capacity).sum::<usize>()
    }
}

/// What the parser found.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The buffer ends before the request does. Feed the same bytes and more.
    NeedMore,
    /// An argument of `len` bytes does not fit here: everything from [`Parser::position`] on belongs to it. The
    /// caller collects `len + 2` bytes (the line end counts) and then calls [`Parser::finish_big`].
    BigBody {
        /// Length of the argument, without its line end.
        len: usize,
    },
    /// A request of the collected arguments; it took this many bytes of the buffer. Without arguments it is an empty
    /// request that gets no reply.
    Done {
        /// Length of the request in the buffer.
        consumed: usize,
    },
    /// The bytes are no request. The connection cannot go on.
    Error(ProtoError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Start,
    Length,
    Body,
    BigBody,
}

/// The place in an unfinished request.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    /// Arguments still to come.
    left: u32,
    /// Length of the argument whose body comes next.
    body: usize,
    /// Bytes of the request that are parsed.
    position: usize,
}

/// Bounds that options and login decide.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// `proto-max-bulk-len`.
    pub bulk_bytes_max: i64,
    /// Whether the client may send requests of any size.
    pub authenticated: bool,
}

enum Line {
    Number { value: i64, next: usize },
    Incomplete,
    Invalid,
}

impl Parser {
    /// Whether a request has begun.
    pub fn in_progress(&self) -> bool {
        self.state != State::Start
    }

    /// Bytes of the request that have been understood.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes on with the request that starts at `buffer[0]`, adding to `arguments` (empty when the request begins).
    #[inline]
    pub fn parse(&mut self, buffer: &[u8], bounds: Bounds, arguments: &mut Arguments) -> Step {
        if self.state == State::Start {
            match buffer.first() {
                None => return Step::NeedMore,
                Some(b'*') => match self.count(buffer, bounds, arguments) {
                    None => {}
                    Some(step) => return step,
                },
                Some(_) => return self.inline(buffer, arguments),
            }
        }
        self.bulks(buffer, bounds, arguments)
    }

    /// The line that says how many arguments come. `None`: go on with the arguments.
    #[inline]
    fn count(&mut self, buffer: &[u8], bounds: Bounds, arguments: &mut Arguments) -> Option<Step> {
        let (value, next) = match number_line(buffer, 1) {
            Line::Number { value, next } => (value, next),
            Line::Incomplete if buffer.len() > INLINE_BYTES_MAX => {
                return Some(Step::Error(ProtoError::BIG_MULTIBULK_LINE));
            }
            Line::Incomplete => return Some(Step::NeedMore),
            Line::Invalid => return Some(Step::Error(ProtoError::MULTIBULK_LENGTH)),
        };
        if value > ARGUMENTS_MAX {
            return Some(Step::Error(ProtoError::MULTIBULK_LENGTH));
        }
        if value > UNAUTHENTICATED_ARGUMENTS_MAX && !bounds.authenticated {
            return Some(Step::Error(ProtoError::UNAUTHENTICATED_MULTIBULK));
        }
        if value <= 0 {
            return Some(Step::Done { consumed: next });
        }
        self.state = State::Length;
        self.left = value as u32;
        self.position = next;
        arguments.spans.reserve((value as usize).min(ARGUMENTS_RESERVE_MAX));
        None
    }

    #[inline]
    fn bulks(&mut self, buffer: &[u8], bounds: Bounds, arguments: &mut Arguments) -> Step {
        debug_assert_ne!(self.state, State::BigBody, "finish_big comes first");
        while self.left > 0 {
            if self.state == State::Length
                && let Some(step) = self.length(buffer, bounds)
            {
                return step;
            }
            let end = self.position + self.body;
            if buffer.len() < end + 2 {
                if self.body < BIG_ARGUMENT_BYTES {
                    return Step::NeedMore;
                }
                self.state = State::BigBody;
                return Step::BigBody { len: self.body };
            }
            // Redis does not look at the two bytes of the line end, so neither do we.
            arguments.spans.push(Span::Buffer { start: self.position as u32, len: self.body as u32 });
            self.position = end + 2;
            self.left -= 1;
            self.state = State::Length;
        }
        self.done()
    }

    fn done(&mut self) -> Step {
        let consumed = self.position;
        *self = Parser::default();
        Step::Done { consumed }
    }

    /// The line with the length of the next argument. `None`: its body comes next.
    #[inline]
    fn length(&mut self, buffer: &[u8], bounds: Bounds) -> Option<Step> {
        match buffer.get(self.position) {
            None => return Some(Step::NeedMore),
            Some(b'$') => {}
            Some(_) => return Some(self.no_dollar(buffer)),
        }
        match number_line(buffer, self.position + 1) {
            Line::Number { value, next } => {
                if value < 0 || value > bounds.bulk_bytes_max {
                    return Some(Step::Error(ProtoError::BULK_LENGTH));
                }
                if value > UNAUTHENTICATED_BULK_BYTES_MAX && !bounds.authenticated {
                    return Some(Step::Error(ProtoError::UNAUTHENTICATED_BULK));
                }
                self.body = value as usize;
                self.position = next;
                self.state = State::Body;
                None
            }
            Line::Incomplete if buffer.len() - self.position > INLINE_BYTES_MAX => {
                Some(Step::Error(ProtoError::BIG_BULK_LINE))
            }
            Line::Incomplete => Some(Step::NeedMore),
            Line::Invalid => Some(Step::Error(ProtoError::BULK_LENGTH)),
        }
    }

    /// Redis waits for the end of the line before it complains, up to its bound.
    #[cold]
    fn no_dollar(&self, buffer: &[u8]) -> Step {
        let rest = &buffer[self.position..];
        match line_end(b'\r', rest) {
            Some(_) => Step::Error(ProtoError::expected_dollar(rest[0])),
            None if rest.len() > INLINE_BYTES_MAX => Step::Error(ProtoError::BIG_BULK_LINE),
            None => Step::NeedMore,
        }
    }

    /// Takes the collected big argument and goes on behind it; `resume_at` is where the buffer continues.
    pub fn finish_big(&mut self, body: Vec<u8>, resume_at: usize, arguments: &mut Arguments) {
        assert_eq!(self.state, State::BigBody);
        assert_eq!(body.len(), self.body);
        arguments.spans.push(Span::Owned(arguments.owned.len() as u32));
        arguments.owned.push(body);
        self.position = resume_at;
        self.left -= 1;
        self.state = State::Length;
    }

    fn inline(&mut self, buffer: &[u8], arguments: &mut Arguments) -> Step {
        let Some(end) = line_end(b'\n', buffer) else {
            if buffer.len() > INLINE_BYTES_MAX {
                return Step::Error(ProtoError::BIG_INLINE);
            }
            return Step::NeedMore;
        };
        let line = buffer[..end].strip_suffix(b"\r").unwrap_or(&buffer[..end]);
        let Some(words) = split_args(line) else {
            return Step::Error(ProtoError::UNBALANCED_QUOTES);
        };
        for word in words {
            arguments.spans.push(Span::Owned(arguments.owned.len() as u32));
            arguments.owned.push(word);
        }
        Step::Done { consumed: end + 1 }
    }
}

/// The place of the first `end`, unless a zero byte comes before it: Redis searches as in a C string, so such a line never
/// ends for it, and grows until it is too long.
fn line_end(end: u8, bytes: &[u8]) -> Option<usize> {
    memchr2(end, 0, bytes).filter(|&at| bytes[at] == end)
}

/// The number on the line that starts at `start`. The common case, a few digits, is read without a search.
#[inline]
fn number_line(buffer: &[u8], start: usize) -> Line {
    let mut value: i64 = 0;
    let mut at = start;
    // Up to 9 digits cannot overflow; a leading zero is only right alone, which the slow path judges.
    while at < buffer.len() && at - start < 9 {
        let digit = buffer[at].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    if at > start
        && at + 1 < buffer.len()
        && buffer[at] == b'\r'
        && (buffer[start] != b'0' || at == start + 1)
    {
        return Line::Number { value, next: at + 2 };
    }
    number_line_slow(buffer, start)
}

#[cold]
#[inline(never)]
fn number_line_slow(buffer: &[u8], start: usize) -> Line {
    let Some(len) = line_end(b'\r', &buffer[start..]) else {
        return Line::Incomplete;
    };
    let end = start + len;
    if end + 1 >= buffer.len() {
        return Line::Incomplete;
    }
    match parse_i64(&buffer[start..end]) {
        Some(value) => Line::Number { value, next: end + 2 },
        None => Line::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Bounds = Bounds { bulk_bytes_max: 512 * 1024 * 1024, authenticated: true };

    /// Feeds `input` in pieces of `piece` bytes as the network layer does, and lists the requests.
    fn requests(input: &[u8], piece: usize, bounds: Bounds) -> (Vec<Vec<Vec<u8>>>, Option<ProtoError>) {
        let mut parser = Parser::default();
        let mut arguments = Arguments::default();
        let (mut buffer, mut found, mut big): (Vec<u8>, _, Option<(usize, Vec<u8>)>) = (vec![], vec![], None);
        for chunk in input.chunks(piece) {
            let mut chunk = chunk;
            if let Some((len, mut body)) = big.take() {
                let take = (len + 2 - body.len()).min(chunk.len());
                body.extend_from_slice(&chunk[..take]);
                chunk = &chunk[take..];
                if body.len() < len + 2 {
                    big = Some((len, body));
                    continue;
                }
                body.truncate(len);
                parser.finish_big(body, buffer.len(), &mut arguments);
            }
            buffer.extend_from_slice(chunk);
            loop {
                match parser.parse(&buffer, bounds, &mut arguments) {
                    Step::NeedMore => break,
                    Step::Error(error) => return (found, Some(error)),
                    Step::BigBody { len } => {
                        big = Some((len, buffer.split_off(parser.position())));
                        break;
                    }
                    Step::Done { consumed } => {
                        if !arguments.spans.is_empty() {
                            let list = arguments.spans.iter().map(|&s| arguments.bytes(&buffer, s).to_vec());
                            found.push(list.collect());
                        }
                        arguments.clear();
                        buffer.drain(..consumed);
                    }
                }
            }
        }
        (found, None)
    }

    #[test]
    fn any_split_gives_the_same_requests() {
        let mut input =
            b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*0\r\n*-1\r\n\r\nPING \"a b\"\r\n*1\r\n$4\r\nQUIT\r\n"
                .to_vec();
        let big = vec![b'v'; BIG_ARGUMENT_BYTES + 17];
        input.extend_from_slice(format!("*3\r\n$3\r\nSET\r\n${}\r\n", big.len()).as_bytes());
        input.extend_from_slice(&big);
        input.extend_from_slice(b"\r\n$2\r\nEX\r\n*1\r\n$4\r\nPING\r\n");
        let want = requests(&input, input.len(), OPEN);
        assert_eq!(want.1, None);
        assert_eq!(want.0.len(), 5);
        assert_eq!(want.0[1], vec![b"PING".to_vec(), b"a b".to_vec()]);
        assert_eq!(want.0[3][1], big);
        for piece in (1..150).chain([1_000, 30_000]) {
            assert!(requests(&input, piece, OPEN) == want, "pieces of {piece}");
        }
    }

    #[test]
    fn malformed_requests_name_their_fault() {
        let error = |input: &[u8]| requests(input, 7, OPEN).1;
        assert_eq!(error(b"*x\r\n"), Some(ProtoError::MULTIBULK_LENGTH));
        assert_eq!(error(b"*2147483648\r\n"), Some(ProtoError::MULTIBULK_LENGTH));
        assert_eq!(error(b"*01\r\n"), Some(ProtoError::MULTIBULK_LENGTH));
        assert_eq!(error(b"*1\r\n$-5\r\n"), Some(ProtoError::BULK_LENGTH));
        assert_eq!(error(b"*1\r\n$536870913\r\n"), Some(ProtoError::BULK_LENGTH));
        assert_eq!(error(b"*1\r\nfoo\r\n"), Some(ProtoError::expected_dollar(b'f')));
        assert_eq!(error(b"\"foo\r\n"), Some(ProtoError::UNBALANCED_QUOTES));
        assert_eq!(error(&[b'*', b'1'].repeat(40_000)), Some(ProtoError::BIG_MULTIBULK_LINE));
        assert_eq!(error(&b"a".repeat(INLINE_BYTES_MAX + 10)), Some(ProtoError::BIG_INLINE));
        let mut long_line = b"*1\r\n$".to_vec();
        long_line.resize(INLINE_BYTES_MAX + 100, b'1');
        assert_eq!(error(&long_line), Some(ProtoError::BIG_BULK_LINE));
    }

    #[test]
    fn a_line_with_a_zero_byte_never_ends() {
        for input in [&b"GET \0\r\nPING\r\n"[..], b"*1\0\r\n", b"*1\r\n$4\0\r\nPING\r\n", b"*1\r\n\0\r\n"] {
            assert_eq!(requests(input, 3, OPEN), (vec![], None), "{}", input.escape_ascii());
        }
        let long = [b"\0\n".repeat(INLINE_BYTES_MAX / 2), b"ab".to_vec()].concat();
        assert_eq!(requests(&long, 5_000, OPEN).1, Some(ProtoError::BIG_INLINE));
    }

    #[test]
    fn before_login_requests_are_small() {
        let closed = Bounds { authenticated: false, ..OPEN };
        assert_eq!(requests(b"*11\r\n", 9, closed).1, Some(ProtoError::UNAUTHENTICATED_MULTIBULK));
        assert_eq!(requests(b"*1\r\n$16385\r\n", 9, closed).1, Some(ProtoError::UNAUTHENTICATED_BULK));
        assert_eq!(requests(b"*10\r\n$16384\r\n", 9, closed).1, None);
    }

    #[test]
    fn a_declared_length_reserves_nothing() {
        let mut parser = Parser::default();
        let mut arguments = Arguments::default();
        assert_eq!(parser.parse(b"*2147483647\r\n", OPEN, &mut arguments), Step::NeedMore);
        assert!(arguments.mem_size() <= ARGUMENTS_RESERVE_MAX * std::mem::size_of::<Span>());
    }
}
