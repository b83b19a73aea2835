//! What a command declares about itself, once: the row that COMMAND, COMMAND DOCS, ACL categories, the admission gates,
//! statistics and docs/commands.md are derived from. Plain data; touches nothing but its siblings.
//!
//! The vocabulary (flags, key specifications, tips) is Redis's; see
//! <https://redis.io/docs/latest/develop/reference/command-arguments/> and
//! <https://redis.io/docs/latest/develop/reference/key-specs/>.

/// One command or sub-command. `F` is the type of its handler: commands over data and commands over the whole server
/// are declared alike and differ in what their handler is lent.
pub struct CommandSpec<F: 'static> {
    /// Name in lower case; a sub-command has just its own word.
    pub name: &'static str,
    /// One sentence for users.
    pub summary: &'static str,
    /// The Redis version that brought it.
    pub since: &'static str,
    /// What family it is listed in.
    pub group: Group,
    /// Its cost, for users.
    pub complexity: &'static str,
    /// Arguments, the name included; negative: at least that many. For a sub-command the container's name counts.
    pub arity: i32,
    /// What the gates, ACL and clients go by.
    pub flags: Flags,
    /// Categories beyond those that follow from the flags.
    pub acl: Acl,
    /// Where its keys are.
    pub keys: &'static [KeySpec],
    /// Its arguments, in the notation of `syntax`.
    pub syntax: &'static str,
    /// Hints for clients and proxies.
    pub tips: &'static [&'static str],
    /// Whether a newer command should be used instead.
    pub deprecated: Option<Deprecated>,
    /// Its sub-commands, if it is a container.
    pub subcommands: &'static [CommandSpec<F>],
    /// What runs; `None` for a container that does nothing by itself.
    pub handler: Option<F>,
}

impl<F> CommandSpec<F> {
    /// What a row may leave out.
    pub const DEFAULT: CommandSpec<F> = CommandSpec {
        name: "",
        summary: "",
        since: "",
        group: Group::Generic,
        complexity: "",
        arity: 0,
        flags: Flags::NONE,
        acl: Acl::NONE,
        keys: &[],
        syntax: "",
        tips: &[],
        deprecated: None,
        subcommands: &[],
        handler: None,
    };
}

/// Since when a command is deprecated, and what to use.
#[derive(Debug, Clone, Copy)]
pub struct Deprecated {
    /// The Redis version.
    pub since: &'static str,
    /// For users: what replaces it.
    pub replaced_by: &'static str,
}

/// Families of commands, as COMMAND DOCS groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Group {
    Generic,
    String,
    List,
    Set,
    SortedSet,
    Hash,
    Pubsub,
    Transactions,
    Connection,
    Server,
    Scripting,
    Hyperloglog,
    Cluster,
    Geo,
    Stream,
    Bitmap,
}

impl Group {
    /// The word in COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Generic => "generic",
            Group::String => "string",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hash => "hash",
            Group::Pubsub => "pubsub",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Scripting => "scripting",
            Group::Hyperloglog => "hyperloglog",
            Group::Cluster => "cluster",
            Group::Geo => "geo",
            Group::Stream => "stream",
            Group::Bitmap => "bitmap",
        }
    }
}

/// A set of named bits; the body of [`Flags`], [`Acl`] and [`KeyFlags`].
macro_rules! bit_set {
    ($(#[$doc:meta])* $name:ident { $($(#[$bit_doc:meta])* $bit:ident = $shift:literal $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct $name(u32);

        #[allow(missing_docs, reason = "the words of the protocol")]
        impl $name {
            /// Nothing set.
            pub const NONE: $name = $name(0);
            $($(#[$bit_doc])* pub const $bit: $name = $name(1 << $shift);)*
            /// Every bit with its word in the protocol, in the protocol's order.
            pub const WORDS: &'static [($name, &'static str)] = &[$(($name::$bit, $word),)*];

            /// Both sets.
            pub const fn or(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// Whether any bit of `other` is in this set.
            #[inline]
            pub const fn any(self, other: $name) -> bool {
                self.0 & other.0 != 0
            }

            /// The words of the bits in this set.
            pub fn words(self) -> impl Iterator<Item = &'static str> {
                $name::WORDS.iter().filter(move |(bit, word)| self.any(*bit) && !word.is_empty()).map(|(_, word)| *word)
            }
        }
    };
}

bit_set! {
    /// What a command is and may do; the words are COMMAND INFO's.
    Flags {
        WRITE = 0 "write",
        READONLY = 1 "readonly",
        DENYOOM = 2 "denyoom",
        ADMIN = 4 "admin",
        PUBSUB = 5 "pubsub",
        NOSCRIPT = 6 "noscript",
        BLOCKING = 8 "blocking",
        LOADING = 9 "loading",
        STALE = 10 "stale",
        SKIP_MONITOR = 11 "skip_monitor",
        SKIP_SLOWLOG = 12 "skip_slowlog",
        ASKING = 13 "asking",
        FAST = 14 "fast",
        NO_AUTH = 15 "no_auth",
        /// Not shown by COMMAND.
        MAY_REPLICATE = 16 "",
        NO_ASYNC_LOADING = 21 "no_async_loading",
        NO_MULTI = 22 "no_multi",
        MOVABLEKEYS = 23 "movablekeys",
        ALLOW_BUSY = 24 "allow_busy",
        NO_MANDATORY_KEYS = 18 "no_mandatory_keys",
        /// Not shown by COMMAND.
        PROTECTED = 19 "",
        /// Not shown by COMMAND.
        TOUCHES_ARBITRARY_KEYS = 25 "",
        /// Runs at once while a transaction is being queued. Not shown by COMMAND.
        NOT_QUEUED = 27 "",
        /// Runs the queued commands of a transaction. Not shown by COMMAND.
        RUNS_QUEUE = 29 "",
        /// Meant for other servers and for tests. Shown by COMMAND DOCS only.
        SYSCMD = 30 "",
        /// Allowed in RESP2 while subscribed. Not shown by COMMAND.
        WHEN_SUBSCRIBED = 28 "",
        /// The handler takes a big last argument's allocation over; see `Ctx::take_value`. Not shown by COMMAND.
        ADOPTS_VALUE = 26 "",
    }
}

bit_set! {
    /// ACL categories.
    Acl {
        KEYSPACE = 0 "keyspace",
        READ = 1 "read",
        WRITE = 2 "write",
        SET = 3 "set",
        SORTEDSET = 4 "sortedset",
        LIST = 5 "list",
        HASH = 6 "hash",
        STRING = 7 "string",
        BITMAP = 8 "bitmap",
        HYPERLOGLOG = 9 "hyperloglog",
        GEO = 10 "geo",
        STREAM = 11 "stream",
        PUBSUB = 12 "pubsub",
        ADMIN = 13 "admin",
        FAST = 14 "fast",
        SLOW = 15 "slow",
        BLOCKING = 16 "blocking",
        DANGEROUS = 17 "dangerous",
        CONNECTION = 18 "connection",
        TRANSACTION = 19 "transaction",
        SCRIPTING = 20 "scripting",
    }
}

bit_set! {
    /// What a command does with a key; the words are COMMAND INFO's.
    KeyFlags {
        RO = 0 "RO",
        RW = 1 "RW",
        OW = 2 "OW",
        RM = 3 "RM",
        ACCESS = 4 "access",
        UPDATE = 5 "update",
        INSERT = 6 "insert",
        DELETE = 7 "delete",
        NOT_KEY = 8 "not_key",
        INCOMPLETE = 9 "incomplete",
        VARIABLE_FLAGS = 10 "variable_flags",
        CHANNEL = 11 "channel",
    }
}

impl Acl {
    /// All categories of a command: the declared ones and those that its flags bring.
    pub fn with_implied(self, flags: Flags) -> Acl {
        let mut all = self;
        let mut add = |when: bool, what: Acl| {
            if when {
                all = all.or(what);
            }
        };
        add(flags.any(Flags::WRITE), Acl::WRITE);
        // Scripting commands read nothing by themselves.
        add(flags.any(Flags::READONLY) && !self.any(Acl::SCRIPTING), Acl::READ);
        add(flags.any(Flags::ADMIN), Acl::ADMIN.or(Acl::DANGEROUS));
        add(flags.any(Flags::PUBSUB), Acl::PUBSUB);
        add(flags.any(Flags::FAST), Acl::FAST);
        add(flags.any(Flags::BLOCKING), Acl::BLOCKING);
        add(!flags.any(Flags::FAST), Acl::SLOW);
        all
    }
}

/// Where some of a command's keys are, and what happens to them.
#[derive(Debug, Clone, Copy)]
pub struct KeySpec {
    /// What the command does with them.
    pub flags: KeyFlags,
    /// A remark for COMMAND INFO.
    pub notes: &'static str,
    /// Where the search begins.
    pub begin: Begin,
    /// How the keys go on from there.
    pub find: Find,
}

/// Where the search for keys begins.
#[derive(Debug, Clone, Copy)]
pub enum Begin {
    /// At this argument.
    Index(u32),
    /// Behind this word.
    Keyword {
        /// The word, in any case.
        word: &'static str,
        /// The argument from which it is looked for; negative: from the end, backwards.
        start_from: i32,
    },
    /// No rule finds it.
    Unknown,
}

/// How keys go on from where they begin.
#[derive(Debug, Clone, Copy)]
pub enum Find {
    /// A run of arguments.
    Range {
        /// The last one, counted from the first; negative: from the end (-1 is the last argument).
        last: i32,
        /// Every so manyth argument is a key.
        step: u32,
        /// With `last` -1: only this part of the rest (2: half of it); 0 and 1 mean all.
        limit: u32,
    },
    /// As many as an argument says.
    KeyNum {
        /// That argument, counted from the beginning of the search.
        at: u32,
        /// The first key, counted likewise.
        first: u32,
        /// Every so manyth argument is a key.
        step: u32,
    },
    /// No rule finds them.
    Unknown,
}

impl KeyFlags {
    /// Read and its value used.
    pub const RO_ACCESS: Self = Self::RO.or(Self::ACCESS);
    /// Changed, the old value unused.
    pub const RW_UPDATE: Self = Self::RW.or(Self::UPDATE);
    /// Changed, the old value used.
    pub const RW_ACCESS_UPDATE: Self = Self::RW.or(Self::ACCESS).or(Self::UPDATE);
    /// Something is added.
    pub const RW_INSERT: Self = Self::RW.or(Self::INSERT);
    /// Something is removed.
    pub const RW_DELETE: Self = Self::RW.or(Self::DELETE);
    /// Something is removed and returned.
    pub const RW_ACCESS_DELETE: Self = Self::RW.or(Self::ACCESS).or(Self::DELETE);
    /// Overwritten.
    pub const OW_UPDATE: Self = Self::OW.or(Self::UPDATE);
}

impl KeySpec {
    /// One key, whose value is read, as the first argument.
    pub const READ: &'static [Self] = &[Self::one(KeyFlags::RO_ACCESS)];
    /// One key, about whose value something is told, as the first argument.
    pub const STAT: &'static [Self] = &[Self::one(KeyFlags::RO)];
    /// One key, whose value changes unseen, as the first argument.
    pub const UPDATE: &'static [Self] = &[Self::one(KeyFlags::RW_UPDATE)];
    /// One key, whose value is read and changed, as the first argument.
    pub const MODIFY: &'static [Self] = &[Self::one(KeyFlags::RW_ACCESS_UPDATE)];
    /// One key, to whose value something is added, as the first argument.
    pub const INSERT: &'static [Self] = &[Self::one(KeyFlags::RW_INSERT)];
    /// One key, from whose value something is removed, as the first argument.
    pub const DELETE: &'static [Self] = &[Self::one(KeyFlags::RW_DELETE)];
    /// One key, from whose value something is removed and returned, as the first argument.
    pub const TAKE: &'static [Self] = &[Self::one(KeyFlags::RW_ACCESS_DELETE)];

    /// A single key as the first argument; to be moved and stretched by the functions below.
    pub const fn one(flags: KeyFlags) -> Self {
        Self { flags, notes: "", begin: Begin::Index(1), find: Find::Range { last: 0, step: 1, limit: 0 } }
    }

    /// As many keys as argument `index` says, right after it.
    pub const fn counted(index: u32, flags: KeyFlags) -> Self {
        Self { flags, notes: "", begin: Begin::Index(index), find: Find::KeyNum { at: 0, first: 1, step: 1 } }
    }

    /// A single key after `word`, which is looked for from argument `start_from` on (negative: from the end backwards).
    pub const fn after(word: &'static str, start_from: i32, flags: KeyFlags) -> Self {
        Self { begin: Begin::Keyword { word, start_from }, ..Self::one(flags) }
    }

    /// Keys that no rule finds.
    pub const fn unknown(flags: KeyFlags) -> Self {
        Self { flags, notes: "", begin: Begin::Unknown, find: Find::Unknown }
    }

    /// Begins at argument `index`.
    pub const fn at(self, index: u32) -> Self {
        Self { begin: Begin::Index(index), ..self }
    }

    /// The last key: so many arguments after the first, or, if negative, counted from the end (-1 is the last argument).
    pub const fn to(self, last: i32) -> Self {
        let (_, step, limit) = self.range();
        Self { find: Find::Range { last, step, limit }, ..self }
    }

    /// Every `step`th argument is a key.
    pub const fn step(self, step: u32) -> Self {
        let (last, _, limit) = self.range();
        Self { find: Find::Range { last, step, limit }, ..self }
    }

    /// Only the first `limit`th part of the rest is keys.
    pub const fn limit(self, limit: u32) -> Self {
        let (last, step, _) = self.range();
        Self { find: Find::Range { last, step, limit }, ..self }
    }

    /// Adds a remark for COMMAND INFO.
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    const fn range(&self) -> (i32, u32, u32) {
        match self.find {
            Find::Range { last, step, limit } => (last, step, limit),
            _ => panic!("only ranges of keys can be stretched"),
        }
    }
}
