//! What changes of keys leave behind for the caller of a command: counts, events, and which keys were touched. Touches
//! nothing.

/// Classes of key events, as `notify-keyspace-events` names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventClass(pub u32);

impl EventClass {
    /// `g`: commands of no type, like DEL and EXPIRE.
    pub const GENERIC: EventClass = EventClass(1 << 2);
    /// `$`
    pub const STRING: EventClass = EventClass(1 << 3);
    /// `l`
    pub const LIST: EventClass = EventClass(1 << 4);
    /// `s`
    pub const SET: EventClass = EventClass(1 << 5);
    /// `h`
    pub const HASH: EventClass = EventClass(1 << 6);
    /// `z`
    pub const ZSET: EventClass = EventClass(1 << 7);
    /// `x`
    pub const EXPIRED: EventClass = EventClass(1 << 8);
    /// `e`
    pub const EVICTED: EventClass = EventClass(1 << 9);
    /// `m`: somebody wanted to read a key that is not there.
    pub const MISS: EventClass = EventClass(1 << 11);
    /// `n`: a key came into being.
    pub const NEW: EventClass = EventClass(1 << 14);
}

/// Something that happened to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEvent {
    /// Its database.
    pub db: usize,
    /// Its class.
    pub class: EventClass,
    /// Its name, like `set`.
    pub name: &'static str,
    /// The key.
    pub key: Vec<u8>,
}

/// Whose doing a change of a key was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The running command's.
    Command,
    /// The server's own: the key's time was over, or memory short.
    Server,
    /// It went with its whole database, or was exchanged with it.
    Database,
    /// Databases were exchanged, and where nothing was there is now a key whose time is over.
    AppearedExpired,
}

/// A key that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Its database.
    pub db: usize,
    /// The key.
    pub key: Vec<u8>,
    /// Whose doing it was.
    pub cause: Cause,
}

/// What changes leave behind for the caller of a command.
#[derive(Debug, Default)]
pub struct Signals {
    /// Changes since the start: what a save would have to write.
    pub dirty: u64,
    /// Event classes that somebody wants to hear of.
    pub wanted: u32,
    /// Wanted events in order, taken by the executor after each command.
    pub events: Vec<KeyEvent>,
    /// Whether anybody wants to hear of changed keys at all: watchers, blocked and tracking clients.
    pub listening: bool,
    /// Changed keys in order, if anybody listens.
    pub touched: Vec<Touched>,
    /// Keys that came into being, in order, if anybody listens: whoever waits for them can be served.
    pub created: Vec<(usize, Vec<u8>)>,
    /// Keys that clients watch. When a whole database is emptied or swapped, the changed keys are found among these.
    pub watched: Vec<(usize, Vec<u8>)>,
    /// Databases whose whole content was exchanged for another.
    pub swapped: Vec<usize>,
    /// Whether databases were emptied.
    pub flushed: bool,
}

impl Signals {
    /// Raises the event of a read that found nothing, if anybody wants it.
    #[inline]
    pub(super) fn missed(&mut self, db: usize, key: &[u8]) {
        if self.wanted & EventClass::MISS.0 != 0 {
            self.events.push(KeyEvent { db, class: EventClass::MISS, name: "keymiss", key: key.to_vec() });
        }
    }
}
