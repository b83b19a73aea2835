//! Connected clients: their sockets, the bytes that came in unfinished, the replies that wait, and the queues of those
//! that need attention. Reads and writes sockets, parses and executes nothing. Touches base, ae and proto.
//!
//! Memory is owned only while in use: a read goes into a buffer of the loop, and just an unfinished rest is kept here;
//! the reply buffer comes from a pool and goes back when it is empty.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::SocketAddr;

use foldhash::fast::FixedState;
use slab::Slab;

use crate::ae::{Id, Poller};
use crate::base::limits::{
    BIG_ARGUMENT_BYTES, BIG_ARGUMENT_GROWTH, CARRY_OVER_BYTES_MAX, IDLE_BUFFER_BYTES_MAX, READ_BUFFER_BYTES,
    REPLY_CHUNK_BYTES, REPLY_POOL_CHUNKS_MAX, WRITE_BYTES_PER_TURN_MAX,
};
use crate::base::session::{ClientId, Session};
use crate::net::room::{InputRoom, ReplyRoom};
use crate::net::stream::Stream;
use crate::proto::request::{Arguments, Parser};
use crate::proto::sink::{SLICES_MAX, Sink};

/// An argument too long for a buffer, on its way in.
#[derive(Debug)]
pub struct BigArgument {
    body: Vec<u8>,
    /// Length of the argument, without its line end.
    len: usize,
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    generation: u32,
    /// The conversation.
    pub session: Session,
    /// The place in an unfinished request.
    pub parser: Parser,
    /// The arguments of an unfinished request.
    pub arguments: Arguments,
    /// Bytes received and not yet executed, from the start of the unfinished request.
    pub input: Vec<u8>,
    /// Whether `input` holds requests that the client's last turn did not get to.
    pub input_waits: bool,
    /// An argument that is being collected.
    pub big: Option<BigArgument>,
    /// Replies that wait.
    pub output: Sink,
    /// How much room the replies take.
    pub room: ReplyRoom,
    /// How much room the requests take.
    pub request_room: InputRoom,
    /// Bytes that the client's entries in tables of the server take, as last worked out.
    pub table_bytes: usize,
    /// Bytes that count for client eviction; see [`Clients::recount`].
    counted_bytes: usize,
    /// The peer's and our own address; none for a Unix socket.
    pub addresses: (Option<SocketAddr>, Option<SocketAddr>),
    /// When the waiting replies passed the soft limit, in milliseconds since the epoch.
    pub soft_limit_since_ms: Option<i64>,
    write_queued: bool,
    read_queued: bool,
    waits_for_room: bool,
    /// The other side sends no more: there is an end to be read behind the data, and no event will tell of it again.
    hung_up: bool,
    closing: bool,
}

impl Client {
    /// Whether the connection is being closed; it gets no more attention.
    pub fn closing(&self) -> bool {
        self.closing
    }

    /// Whether it has input that has not been looked at.
    pub fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// Bytes received and not yet executed.
    pub fn input_bytes(&self) -> usize {
        self.input.len() + self.big.as_ref().map_or(0, |big| big.body.len())
    }

    /// Bytes of an unfinished request, or of its argument that is being collected, and room for more of it: what is
    /// allocated, or at least what a client that was just active would have of its own.
    pub fn input_room(&self) -> (usize, usize) {
        let buffer = self.big.as_ref().map_or(&self.input, |big| &big.body);
        (buffer.len(), self.request_room.size().max(buffer.capacity()) - buffer.len())
    }

    /// Whether the socket is full and replies wait for room.
    pub fn waits_for_room(&self) -> bool {
        self.waits_for_room
    }

    /// The number of the open file.
    pub fn fd(&self) -> i32 {
        self.stream.fd()
    }

    /// Bytes of memory that the connection takes.
    pub fn mem_size(&self) -> usize {
        let big = self.big.as_ref().map_or(0, |big| big.body.capacity());
        std::mem::size_of::<Client>()
            + self.input.capacity()
            + self.arguments.mem_size()
            + self.output.mem_size()
            + big
            + self.session.queue_bytes
            + self.table_bytes
    }

    /// Gives back memory that the connection does not need: what stands empty and is large, or unused for long.
    pub fn trim(&mut self, idle: bool) {
        if self.input.is_empty() && (idle || self.input.capacity() > IDLE_BUFFER_BYTES_MAX) {
            self.input = Vec::new();
        }
        if idle {
            self.input.shrink_to_fit();
        }
        if !self.parser.in_progress() {
            self.arguments = Arguments::default();
        }
    }
}

/// What a read brought.
#[derive(Debug)]
pub enum Received {
    /// Nothing now.
    Nothing,
    /// The loop's buffer holds this many bytes, the client's unfinished rest first.
    InBuffer(usize),
    /// The client's own input has grown.
    InClient,
    /// The last bytes of a big argument.
    BigArgument(Vec<u8>),
    /// Bytes of a big argument, of which more are to come.
    Progress,
    /// The peer has closed, or the connection failed.
    Closed,
}

/// All connections and the queues of those that need attention in this turn.
#[derive(Default)]
pub struct Clients {
    slab: Slab<Client>,
    generations: Vec<u32>,
    /// Ids are numbers of our own: nobody can choose them so that they collide.
    by_id: HashMap<ClientId, usize, FixedState>,
    last_id: ClientId,
    pool: Vec<Vec<u8>>,
    pending_write: Vec<usize>,
    still_readable: Vec<usize>,
    to_free: Vec<usize>,
    /// Bytes read from all clients.
    pub bytes_in: u64,
    /// Bytes written to all clients.
    pub bytes_out: u64,
    /// Bytes that count for client eviction, of all clients.
    counted_bytes: usize,
    /// Reads that brought something.
    pub reads: u64,
    /// Times that replies were sent to a client.
    pub writes: u64,
}

impl Clients {
    /// Connected clients, those being closed included.
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// Sets the counts of bytes, reads and writes back.
    pub fn reset_counts(&mut self) {
        (self.bytes_in, self.bytes_out, self.reads, self.writes) = (0, 0, 0, 0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slab.is_empty()
    }

    /// The client in a slot that is known to be taken.
    #[inline]
    pub fn get(&self, slot: usize) -> &Client {
        &self.slab[slot]
    }

    /// The client in a slot that is known to be taken.
    #[inline]
    pub fn get_mut(&mut self, slot: usize) -> &mut Client {
        &mut self.slab[slot]
    }

    /// The slot of an event's client, unless that client is gone or going.
    #[inline]
    pub fn current(&self, slot: usize, generation: u32) -> Option<usize> {
        let client = self.slab.get(slot)?;
        (client.generation == generation && !client.closing).then_some(slot)
    }

    /// The slot of the client with this id.
    pub fn slot_of(&self, id: ClientId) -> Option<usize> {
        self.by_id.get(&id).copied().filter(|&slot| !self.slab[slot].closing)
    }

    /// All clients that are not being closed.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Client)> {
        self.slab.iter().filter(|(_, client)| !client.closing)
    }

    /// Slots of all clients that are not being closed, in the order of their ids.
    pub fn slots_by_id(&self) -> Vec<usize> {
        let mut slots: Vec<(ClientId, usize)> = self.iter().map(|(slot, c)| (c.session.id, slot)).collect();
        slots.sort_unstable();
        slots.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Takes a new connection in.
    pub fn add(
        &mut self,
        mut stream: Stream,
        authenticated: bool,
        now_ms: i64,
        poller: &Poller,
    ) -> io::Result<usize> {
        let entry = self.slab.vacant_entry();
        let slot = entry.key();
        if self.generations.len() <= slot {
            self.generations.resize(slot + 1, 0);
        }
        let generation = self.generations[slot];
        poller.watch(&mut stream, Id::Client { slot, generation })?;
        self.last_id += 1;
        let addresses = stream.addresses();
        let session = Session::new(self.last_id, authenticated, now_ms);
        entry.insert(Client {
            stream,
            generation,
            session,
            parser: Parser::default(),
            arguments: Arguments::default(),
            input: Vec::new(),
            input_waits: false,
            big: None,
            output: Sink::new(),
            room: ReplyRoom::new(now_ms),
            request_room: InputRoom::default(),
            table_bytes: 0,
            counted_bytes: 0,
            addresses,
            soft_limit_since_ms: None,
            write_queued: false,
            read_queued: false,
            waits_for_room: false,
            hung_up: false,
            closing: false,
        });
        self.by_id.insert(self.last_id, slot);
        Ok(slot)
    }

    /// Closes a connection at the end of the turn: until then its slot stays taken, so that no later event of the same
    /// batch meets another client there.
    pub fn close(&mut self, slot: usize) {
        let client = &mut self.slab[slot];
        if !client.closing {
            client.closing = true;
            self.counted_bytes -= client.counted_bytes;
            client.counted_bytes = 0;
            self.to_free.push(slot);
        }
    }

    /// Counts the memory of a client anew, if it may be evicted for it; one that may not does not count.
    pub fn recount(&mut self, slot: usize, evictable: bool) {
        let client = &mut self.slab[slot];
        let bytes = if evictable && !client.closing { client.mem_size() } else { 0 };
        self.counted_bytes = self.counted_bytes - client.counted_bytes + bytes;
        client.counted_bytes = bytes;
    }

    /// Bytes counted of all clients.
    pub fn counted_bytes(&self) -> usize {
        self.counted_bytes
    }

    /// The clients that count, those that take most first.
    pub fn largest_first(&self) -> Vec<usize> {
        let counted = self.iter().filter(|(_, client)| client.counted_bytes > 0);
        let mut slots: Vec<_> = counted.map(|(slot, client)| (client.counted_bytes, slot)).collect();
        slots.sort_unstable_by(|a, b| b.cmp(a));
        slots.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Up to `count` slots of open clients, going round: from `from` on, which moves behind them.
    pub fn next_slots(&self, from: &mut usize, count: usize) -> Vec<usize> {
        let open = |&slot: &usize| self.slab.get(slot).is_some_and(|client| !client.closing);
        let end = self.generations.len();
        let start = (*from).min(end);
        let slots: Vec<usize> = (start..end).chain(0..start).filter(open).take(count).collect();
        *from = slots.last().map_or(0, |last| last + 1);
        slots
    }

    /// The clients closed in this turn and not yet freed.
    pub fn closed(&self) -> Vec<ClientId> {
        self.to_free.iter().map(|&slot| self.slab[slot].session.id).collect()
    }

    /// Bytes that are kept for coming replies, and those of closed connections, which are freed with the turn.
    pub fn spare_bytes(&self) -> usize {
        let closed = self.to_free.iter().map(|&slot| self.slab[slot].mem_size());
        self.pool.len() * REPLY_CHUNK_BYTES + closed.sum::<usize>()
    }

    /// Frees the connections closed in this turn. Returns how many.
    pub fn free_closed(&mut self, poller: &Poller) -> usize {
        let count = self.to_free.len();
        for slot in std::mem::take(&mut self.to_free) {
            let mut client = self.slab.remove(slot);
            self.by_id.remove(&client.session.id);
            if client.read_queued {
                // Nobody may look for it in its slot.
                self.still_readable.retain(|&queued| queued != slot);
            }
            self.generations[slot] = (client.generation + 1) & Id::GENERATION_MASK;
            // Closing the socket would do it as well; a failure changes nothing.
            let _ = poller.forget(&mut client.stream);
            recycle(&mut self.pool, client.output);
        }
        count
    }

    /// The client's waiting replies, for adding to them: makes sure of a buffer and of the client's place in the queue
    /// of those to write to.
    #[inline]
    pub fn output(&mut self, slot: usize) -> &mut Client {
        let client = &mut self.slab[slot];
        if !client.output.has_buffer() {
            let buffer = self.pool.pop().unwrap_or_else(|| Vec::with_capacity(REPLY_CHUNK_BYTES));
            client.output = Sink::with_buffer(buffer);
        }
        if !client.write_queued && !client.waits_for_room {
            client.write_queued = true;
            self.pending_write.push(slot);
        }
        client
    }

    /// Remembers that the client has more to read, or input that its turn did not reach.
    pub fn queue_read(&mut self, slot: usize) {
        let client = &mut self.slab[slot];
        if !client.read_queued && !client.closing {
            client.read_queued = true;
            self.still_readable.push(slot);
        }
    }

    /// Whether some client has more to read or to write, so that the loop must not wait.
    pub fn any_work(&self) -> bool {
        !self.still_readable.is_empty() || !self.pending_write.is_empty()
    }

    /// Takes the clients that have more to read.
    pub fn take_still_readable(&mut self, into: &mut Vec<usize>) {
        into.clear();
        std::mem::swap(into, &mut self.still_readable);
        into.retain(|&slot| {
            let client = &mut self.slab[slot];
            client.read_queued = false;
            !client.closing
        });
    }

    /// Takes note that the other side has hung up.
    pub fn note_hang_up(&mut self, slot: usize) {
        self.slab[slot].hung_up = true;
    }

    /// Reads once from a client: into `buffer` (of [`READ_BUFFER_BYTES`]), behind its unfinished rest, or into memory
    /// of its own where that is larger. Queues it again if there may be more.
    pub fn receive(&mut self, slot: usize, buffer: &mut [u8]) -> Received {
        debug_assert_eq!(buffer.len(), READ_BUFFER_BYTES);
        let client = &mut self.slab[slot];
        let (result, room) = if client.big.is_some() {
            return self.receive_big(slot);
        } else if client.input.len() <= CARRY_OVER_BYTES_MAX {
            let carried = client.input.len();
            buffer[..carried].copy_from_slice(&client.input);
            let room = buffer.len() - carried;
            let result = client.stream.read(&mut buffer[carried..]);
            if matches!(result, Ok(n) if n > 0) {
                client.input.clear();
            }
            (result.map(|n| (n, Received::InBuffer(carried + n))), room)
        } else {
            return self.receive_more(slot);
        };
        self.received(slot, result, room)
    }

    /// Reads once from a client into its own input, behind what is there.
    pub fn receive_more(&mut self, slot: usize) -> Received {
        let client = &mut self.slab[slot];
        client.input.reserve(READ_BUFFER_BYTES);
        let room = client.input.capacity() - client.input.len();
        let result = client.stream.read_spare(&mut client.input, room);
        self.received(slot, result.map(|n| (n, Received::InClient)), room)
    }

    fn received(&mut self, slot: usize, result: io::Result<(usize, Received)>, room: usize) -> Received {
        match result {
            Ok((0, _)) => Received::Closed,
            Ok((n, received)) => {
                let client = &mut self.slab[slot];
                client.request_room.note(match (&received, &client.big) {
                    (Received::InBuffer(len), _) => *len,
                    (_, Some(big)) => big.body.len(),
                    _ => client.input.len(),
                });
                self.bytes_in += n as u64;
                self.reads += 1;
                if n == room || client.hung_up {
                    self.queue_read(slot);
                }
                received
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Received::Nothing,
                io::ErrorKind::Interrupted => {
                    self.queue_read(slot);
                    Received::Nothing
                }
                _ => Received::Closed,
            },
        }
    }

    /// Begins to collect an argument of `len` bytes, of which `start` is here already (its line end counts).
    pub fn begin_big(&mut self, slot: usize, len: usize, start: &[u8]) {
        debug_assert!(start.len() < len + 2);
        let mut body = Vec::with_capacity((len + 2).min(BIG_ARGUMENT_BYTES * BIG_ARGUMENT_GROWTH));
        body.extend_from_slice(start);
        self.slab[slot].big = Some(BigArgument { body, len });
    }

    fn receive_big(&mut self, slot: usize) -> Received {
        let client = &mut self.slab[slot];
        let Some(big) = &mut client.big else { return Received::Nothing };
        let whole = big.len + 2;
        if big.body.len() == big.body.capacity() {
            let capacity = whole.min(big.body.capacity().saturating_mul(BIG_ARGUMENT_GROWTH));
            big.body.reserve_exact(capacity - big.body.len());
        }
        let room = (whole - big.body.len()).min(big.body.capacity() - big.body.len());
        let result = client.stream.read_spare(&mut big.body, room);
        let done = big.body.len() == whole;
        match self.received(slot, result.map(|n| (n, Received::Progress)), room) {
            Received::Progress if done => {
                let mut big = self.slab[slot].big.take().expect("it was there above");
                big.body.truncate(big.len);
                Received::BigArgument(big.body)
            }
            other => other,
        }
    }

    /// Writes the waiting replies of every queued client. `sent` is told of each client whose replies are all out;
    /// one whose socket is full waits for room, one that failed is closed.
    pub fn flush(&mut self, poller: &Poller, mut sent: impl FnMut(&mut Clients, usize)) {
        let mut queue = std::mem::take(&mut self.pending_write);
        for &slot in &queue {
            let Some(client) = self.slab.get_mut(slot) else { continue };
            client.write_queued = false;
            if client.closing {
                continue;
            }
            if self.write(slot, poller) {
                sent(self, slot);
            }
        }
        queue.clear();
        // Clients that were queued on the way, if any, keep their place behind the emptied list.
        queue.append(&mut self.pending_write);
        self.pending_write = queue;
    }

    /// Writes what waits for one client, up to the budget of a turn. Returns whether everything is out.
    pub fn write(&mut self, slot: usize, poller: &Poller) -> bool {
        self.writes += 1;
        let client = &mut self.slab[slot];
        client.room.note(client.output.len());
        let mut written = 0;
        while !client.output.is_empty() {
            match write_once(&client.stream, &client.output) {
                Ok(n) => {
                    client.output.consume(n);
                    written += n;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.bytes_out += written as u64;
                    self.wait_for_room(slot, poller);
                    return false;
                }
                Err(_) => {
                    self.close(slot);
                    return false;
                }
            }
            if written >= WRITE_BYTES_PER_TURN_MAX {
                break;
            }
        }
        self.bytes_out += written as u64;
        let client = &mut self.slab[slot];
        if !client.output.is_empty() {
            // The socket would take more; it is the others' turn first.
            if !client.write_queued {
                client.write_queued = true;
                self.pending_write.push(slot);
            }
            return false;
        }
        recycle(&mut self.pool, std::mem::take(&mut client.output));
        client.soft_limit_since_ms = None;
        if client.waits_for_room {
            client.waits_for_room = false;
            let id = Id::Client { slot, generation: client.generation };
            if poller.watch_writable(&mut client.stream, id, false).is_err() {
                self.close(slot);
            }
        }
        true
    }

    fn wait_for_room(&mut self, slot: usize, poller: &Poller) {
        let client = &mut self.slab[slot];
        if client.waits_for_room {
            return;
        }
        client.waits_for_room = true;
        let id = Id::Client { slot, generation: client.generation };
        if poller.watch_writable(&mut client.stream, id, true).is_err() {
            self.close(slot);
        }
    }

    /// Tries to hand a last message to a connection that is not taken in. What does not fit the socket is lost.
    pub fn refuse(stream: &Stream, message: &[u8]) {
        let _ = stream.write(message);
    }
}

#[inline]
fn write_once(stream: &Stream, output: &Sink) -> io::Result<usize> {
    if let Some(bytes) = output.single() {
        return stream.write(bytes);
    }
    let mut slices = [IoSlice::new(&[]); SLICES_MAX];
    let used = output.slices(&mut slices);
    stream.write_vectored(&slices[..used])
}

fn recycle(pool: &mut Vec<Vec<u8>>, output: Sink) {
    let buffer = output.into_buffer();
    if buffer.capacity() == REPLY_CHUNK_BYTES && pool.len() < REPLY_POOL_CHUNKS_MAX {
        pool.push(buffer);
    }
}
