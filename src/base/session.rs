//! What the server knows about one client apart from its socket: plain data that command handlers may read and
//! change. Touches nothing.

/// The number a client keeps for as long as it is connected; never reused. What CLIENT ID answers.
pub type ClientId = u64;

/// Facts about a client that are on or off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SessionFlags(u32);

impl SessionFlags {
    /// Nothing set.
    pub const NONE: SessionFlags = SessionFlags(0);
    /// CLIENT REPLY OFF: no replies until ON.
    pub const REPLY_OFF: SessionFlags = SessionFlags(1);
    /// CLIENT REPLY SKIP was just asked for: the next command gets no reply.
    pub const REPLY_SKIP_NEXT: SessionFlags = SessionFlags(1 << 1);
    /// This very command gets no reply.
    pub const REPLY_SKIP: SessionFlags = SessionFlags(1 << 2);
    /// Close the connection once the replies are out.
    pub const CLOSE_AFTER_REPLY: SessionFlags = SessionFlags(1 << 3);
    /// CLIENT NO-EVICT ON.
    pub const NO_EVICT: SessionFlags = SessionFlags(1 << 4);
    /// CLIENT NO-TOUCH ON: its reads leave access times alone.
    pub const NO_TOUCH: SessionFlags = SessionFlags(1 << 5);
    /// Connected through the Unix socket.
    pub const UNIX_SOCKET: SessionFlags = SessionFlags(1 << 6);
    /// A transaction is being queued.
    pub const MULTI: SessionFlags = SessionFlags(1 << 8);
    /// A queued command was refused: the transaction cannot run.
    pub const MULTI_ABORTED: SessionFlags = SessionFlags(1 << 9);
    /// A command that writes is queued.
    pub const MULTI_WRITES: SessionFlags = SessionFlags(1 << 15);
    /// Commands of a transaction are running: nothing may block.
    pub const IN_EXEC: SessionFlags = SessionFlags(1 << 10);
    /// Has subscribed to something.
    pub const SUBSCRIBED: SessionFlags = SessionFlags(1 << 11);
    /// Waits for keys, time or the end of a pause; runs nothing meanwhile.
    pub const BLOCKED: SessionFlags = SessionFlags(1 << 12);
    /// Sees every command that runs.
    pub const MONITOR: SessionFlags = SessionFlags(1 << 13);
    /// A command of a blocked client is being tried again.
    pub const RETRYING: SessionFlags = SessionFlags(1 << 14);
    /// The user may not do everything: rights are to be checked.
    pub const RESTRICTED: SessionFlags = SessionFlags(1 << 20);
    /// The user may not read every key, which matters to a running command that reads keys its line does not name.
    pub const READS_SOME_KEYS: SessionFlags = SessionFlags(1 << 21);
    /// What it reads is remembered for CLIENT TRACKING.
    pub const TRACKS_READS: SessionFlags = SessionFlags(1 << 16);
    /// CLIENT CACHING was just called: the next command's keys are, or are not, remembered.
    pub const CACHING: SessionFlags = SessionFlags(1 << 17);
    /// Speaks RESP3.
    pub const RESP3: SessionFlags = SessionFlags(1 << 7);

    /// Whether any flag of `other` is set.
    pub const fn any(self, other: SessionFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets of flags.
    pub const fn or(self, other: SessionFlags) -> SessionFlags {
        SessionFlags(self.0 | other.0)
    }

    /// The flags that are in `other` too.
    pub const fn only(self, other: SessionFlags) -> SessionFlags {
        SessionFlags(self.0 & other.0)
    }

    /// Sets or clears the flags of `other`.
    pub fn set(&mut self, other: SessionFlags, on: bool) {
        if on {
            self.0 |= other.0;
        } else {
            self.0 &= !other.0;
        }
    }
}

/// Per-client state of the conversation.
#[derive(Debug)]
pub struct Session {
    /// See [`ClientId`].
    pub id: ClientId,
    /// The selected database.
    pub db: usize,
    /// On/off facts.
    pub flags: SessionFlags,
    /// Whether commands other than the login ones may run.
    pub authenticated: bool,
    /// The user the client is logged in as.
    pub user: Vec<u8>,
    /// CLIENT SETNAME; empty when unset.
    pub name: Vec<u8>,
    /// CLIENT SETINFO LIB-NAME; empty when unset.
    pub lib_name: Vec<u8>,
    /// CLIENT SETINFO LIB-VER; empty when unset.
    pub lib_ver: Vec<u8>,
    /// When the client connected, in milliseconds since the epoch.
    pub connected_ms: i64,
    /// When it last sent something, in milliseconds since the epoch.
    pub active_ms: i64,
    /// The queued commands of a transaction.
    pub queue: Vec<Vec<Vec<u8>>>,
    /// Bytes of all arguments in `queue`.
    pub queue_bytes: usize,
    /// The last command that ran, as an index into the command registry.
    pub last_command: Option<u16>,
}

impl Session {
    /// A client that just connected.
    pub fn new(id: ClientId, authenticated: bool, now_ms: i64) -> Session {
        Session {
            id,
            db: 0,
            flags: SessionFlags::NONE,
            authenticated,
            user: b"default".to_vec(),
            name: Vec::new(),
            lib_name: Vec::new(),
            lib_ver: Vec::new(),
            connected_ms: now_ms,
            active_ms: now_ms,
            queue: Vec::new(),
            queue_bytes: 0,
            last_command: None,
        }
    }

    /// Whether replies go out in RESP3.
    pub fn resp3(&self) -> bool {
        self.flags.any(SessionFlags::RESP3)
    }

    /// Whether the reply of the running command is dropped.
    pub fn muted(&self) -> bool {
        self.flags.any(SessionFlags::REPLY_OFF.or(SessionFlags::REPLY_SKIP))
    }
}
