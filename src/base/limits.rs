//! Every fixed bound of the server, its unit in its name, and what happens at the bound. Touches nothing.
//!
//! Bounds that a user may change are options (see `config`); these are the ones that are part of the design.

/// Size of the loop-owned read buffer: the most that one client may hand in per turn. What does not fit waits in the
/// socket for the next turn.
pub const READ_BUFFER_BYTES: usize = 64 * 1024;

/// An unfinished request up to this size is copied in front of the next read into the loop's buffer; a larger one
/// grows in a buffer of its own instead.
pub const CARRY_OVER_BYTES_MAX: usize = 16 * 1024;

/// Size of one reply chunk. Replies beyond it form a chain under the output-buffer limits.
pub const REPLY_CHUNK_BYTES: usize = 16 * 1024;

/// Reply chunks kept for reuse; more are given back to the allocator.
pub const REPLY_POOL_CHUNKS_MAX: usize = 128;

/// Commands that one client may run per turn before the others get theirs; the rest stays queued.
pub const COMMANDS_PER_TURN_MAX: usize = 2_000;

/// Reply bytes that one client may produce per turn before the others get their turn.
pub const REPLY_BYTES_PER_TURN_MAX: usize = 1024 * 1024;

/// Reply bytes written to one client per turn; the rest waits for the next turn.
pub const WRITE_BYTES_PER_TURN_MAX: usize = 4 * 1024 * 1024;

/// Connections accepted per turn and listener.
pub const ACCEPTS_PER_TURN_MAX: usize = 1_000;

/// With `dynamic-hz`, the clients that one tick of the timer looks after at most.
pub const CLIENTS_PER_TICK_MAX: i64 = 200;

/// Events taken from the kernel per turn.
pub const EVENTS_PER_TURN_MAX: usize = 1_024;

/// An inline request, or the length line of a bulk or multibulk, longer than this is a protocol error.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Arguments of one request: the largest count a multibulk header may announce (`INT_MAX`, as in Redis).
pub const ARGUMENTS_MAX: i64 = i32::MAX as i64;

/// Arguments whose list stays allocated for the next request.
pub const ARGUMENTS_KEPT_MAX: usize = 4_096;

/// Room for arguments reserved on the word of a multibulk header; beyond it the list grows as arguments arrive.
pub const ARGUMENTS_RESERVE_MAX: usize = 1_024;

/// Arguments that a client may send in one request before it has logged in.
pub const UNAUTHENTICATED_ARGUMENTS_MAX: i64 = 10;

/// Bytes of one argument that a client may send before it has logged in.
pub const UNAUTHENTICATED_BULK_BYTES_MAX: i64 = 16 * 1024;

/// Unprocessed input of a client that has not logged in; beyond it the client is dropped.
pub const UNAUTHENTICATED_INPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Replies that may wait for a client that has not logged in and does not read; beyond it the client is dropped.
pub const UNAUTHENTICATED_REPLY_BYTES_MAX: u64 = 32 * 1024;

/// An argument of at least this size that has not fully arrived streams into an allocation of its own.
pub const BIG_ARGUMENT_BYTES: usize = 32 * 1024;

/// A big argument's allocation grows by this factor as its bytes arrive, up to the announced length: what an
/// announcement alone can reserve stays within this factor of what was really sent.
pub const BIG_ARGUMENT_GROWTH: usize = 16;

/// Owned buffers that one client may keep while its request is incomplete and idle.
pub const IDLE_BUFFER_BYTES_MAX: usize = 32 * 1024;

/// Files the process needs beside its clients: listeners, epoll, signal pipe, logs, dumps.
pub const RESERVED_FILES: u64 = 32;

/// Buckets of the key table moved per timer tick and database while rehashing goes on.
pub const REHASH_BUCKETS_PER_TICK: usize = 2_000;

/// Buckets of a collection's table moved by a command that picks elements at random.
pub const REHASH_BUCKETS_PER_PICK: usize = 16;

/// Clients that the timer looks after each time, if there are so many; more if it would not get round in a second.
pub const CLIENTS_TENDED_PER_TICK_MIN: usize = 5;

/// Keys beyond `tracking-table-max-keys` that are given up at a time; the timer goes on with the rest.
pub const TRACKING_EVICTIONS_MAX: usize = 1_000;

const _: () = assert!(CARRY_OVER_BYTES_MAX < READ_BUFFER_BYTES);
const _: () = assert!(BIG_ARGUMENT_BYTES < READ_BUFFER_BYTES);
const _: () = assert!(UNAUTHENTICATED_BULK_BYTES_MAX as usize <= BIG_ARGUMENT_BYTES);
const _: () = assert!(REPLY_CHUNK_BYTES < REPLY_BYTES_PER_TURN_MAX);
