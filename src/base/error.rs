//! Error texts as they go over the wire. The one place that spells `WRONGTYPE …` and `ERR …`. Touches nothing.
//!
//! Clients match on these texts, so they are Redis 7.4's to the letter. A text includes its code word and lacks the
//! leading `-` and the line end; the reply writer adds those and replaces line breaks inside.

use std::borrow::Cow;

/// Why a command failed, as the text that the client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmdError(Cow<'static, [u8]>);

impl CmdError {
    /// The key holds another type than the command works on.
    pub const WRONG_TYPE: CmdError =
        CmdError::fixed("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// Options that do not fit together, or an unknown one.
    pub const SYNTAX: CmdError = CmdError::fixed("ERR syntax error");
    /// Not a 64-bit integer.
    pub const NOT_INTEGER: CmdError = CmdError::fixed("ERR value is not an integer or out of range");
    /// An integer that does not fit 32 bits.
    pub const NOT_INT32: CmdError =
        CmdError::fixed("ERR value is out of range, value must between -2147483648 and 2147483647");
    /// Not a floating point number.
    pub const NOT_FLOAT: CmdError = CmdError::fixed("ERR value is not a valid float");
    /// A negative number where only zero or more fits.
    pub const NOT_POSITIVE: CmdError = CmdError::fixed("ERR value is out of range, must be positive");
    /// A number outside the range of the option.
    pub const OUT_OF_RANGE: CmdError = CmdError::fixed("ERR value is out of range");
    /// An increment that leaves the 64-bit range.
    pub const OVERFLOW: CmdError = CmdError::fixed("ERR increment or decrement would overflow");
    /// DECRBY of the one number that has no opposite.
    pub const DECREMENT_OVERFLOW: CmdError = CmdError::fixed("ERR decrement would overflow");
    /// A floating point increment that leaves the range.
    pub const NAN_OR_INFINITY: CmdError = CmdError::fixed("ERR increment would produce NaN or Infinity");
    /// A sorted set score that would become NaN.
    pub const SCORE_NAN: CmdError = CmdError::fixed("ERR resulting score is not a number (NaN)");
    /// HINCRBYFLOAT by something that is no finite number.
    pub const INCREMENT_NAN_OR_INFINITY: CmdError = CmdError::fixed("ERR value is NaN or Infinity");
    /// The stored value is not an integer.
    pub const HASH_NOT_INTEGER: CmdError = CmdError::fixed("ERR hash value is not an integer");
    /// The stored value is not a floating point number.
    pub const HASH_NOT_FLOAT: CmdError = CmdError::fixed("ERR hash value is not a float");
    /// FIELDS is not where it has to be.
    pub const FIELDS_MISSING: CmdError =
        CmdError::fixed("ERR Mandatory argument FIELDS is missing or not at the right position");
    /// HEXPIRE and its kin without fields.
    pub const NUMFIELDS_ZERO: CmdError =
        CmdError::fixed("ERR Parameter `numFields` should be greater than 0");
    /// HTTL and its kin without fields.
    pub const NUMFIELDS_NOT_POSITIVE: CmdError =
        CmdError::fixed("ERR Number of fields must be a positive integer");
    /// HSETEX without fields.
    pub const NUMFIELDS_INVALID: CmdError = CmdError::fixed("ERR invalid number of fields");
    /// More or fewer fields than announced.
    pub const NUMFIELDS_MISMATCH: CmdError =
        CmdError::fixed("ERR The `numfields` parameter must match the number of arguments");
    /// A field that should expire before 1970.
    pub const EXPIRE_NEGATIVE: CmdError = CmdError::fixed("ERR invalid expire time, must be >= 0");
    /// HSETEX with FNX and FXX.
    pub const FNX_FXX: CmdError = CmdError::fixed("ERR Only one of FXX or FNX arguments can be specified");
    /// HSETEX with several expiries.
    pub const HSETEX_EXPIRIES: CmdError =
        CmdError::fixed("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
    /// HSETEX with an expiry that lacks its time.
    pub const EXPIRE_MISSING: CmdError = CmdError::fixed("ERR missing expire time");
    /// The key does not exist and the command needs it.
    pub const NO_SUCH_KEY: CmdError = CmdError::fixed("ERR no such key");
    /// A list index beyond either end.
    pub const INDEX_OUT_OF_RANGE: CmdError = CmdError::fixed("ERR index out of range");
    /// A string that is no HyperLogLog.
    pub const NOT_HLL: CmdError = CmdError::fixed("WRONGTYPE Key is not a valid HyperLogLog string value.");
    /// A HyperLogLog whose registers do not add up.
    pub const HLL_CORRUPT: CmdError = CmdError::fixed("INVALIDOBJ Corrupted HLL object detected");
    /// PFDEBUG DECODE of a dense one.
    pub const HLL_NOT_SPARSE: CmdError = CmdError::fixed("ERR HLL encoding is not sparse");
    /// PFDEBUG without its key.
    pub const PFDEBUG_NO_KEY: CmdError = CmdError::fixed("ERR The specified key does not exist");
    /// LPOS RANK 0.
    pub const LPOS_RANK_ZERO: CmdError = CmdError::fixed(
        "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start \
         from the end of the list",
    );
    /// LPOS COUNT below zero, or no number.
    pub const LPOS_COUNT_NEGATIVE: CmdError = CmdError::fixed("ERR COUNT can't be negative");
    /// LPOS MAXLEN below zero, or no number.
    pub const LPOS_MAXLEN_NEGATIVE: CmdError = CmdError::fixed("ERR MAXLEN can't be negative");
    /// LMPOP and its kin without keys.
    pub const NUMKEYS_NOT_POSITIVE: CmdError = CmdError::fixed("ERR numkeys should be greater than 0");
    /// SINTERCARD and its kin with more keys announced than given.
    pub const NUMKEYS_TOO_BIG: CmdError =
        CmdError::fixed("ERR Number of keys can't be greater than number of args");
    /// LMPOP and its kin asked for no elements.
    pub const COUNT_NOT_POSITIVE: CmdError = CmdError::fixed("ERR count should be greater than 0");
    /// The least 64-bit integer, which has no opposite.
    pub const NOT_NEGATABLE: CmdError = CmdError::fixed(
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
    );
    /// An offset below zero.
    pub const OFFSET_OUT_OF_RANGE: CmdError = CmdError::fixed("ERR offset is out of range");
    /// A string that would pass `proto-max-bulk-len`.
    pub const STRING_TOO_LONG: CmdError =
        CmdError::fixed("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    /// A bit offset that is no number, negative, or past `proto-max-bulk-len`.
    pub const BIT_OFFSET: CmdError = CmdError::fixed("ERR bit offset is not an integer or out of range");
    /// SETBIT of something else than 0 and 1.
    pub const BIT_VALUE: CmdError = CmdError::fixed("ERR bit is not an integer or out of range");
    /// BITPOS of something else than 0 and 1.
    pub const BIT_ARGUMENT: CmdError = CmdError::fixed("ERR The bit argument must be 1 or 0.");
    /// BITOP NOT of several keys.
    pub const BITOP_NOT_SINGLE: CmdError =
        CmdError::fixed("ERR BITOP NOT must be called with a single source key.");
    /// A BITFIELD type other than i1 to i64 and u1 to u63.
    pub const BITFIELD_TYPE: CmdError = CmdError::fixed(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
    );
    /// An unknown word after OVERFLOW.
    pub const BITFIELD_OVERFLOW: CmdError = CmdError::fixed("ERR Invalid OVERFLOW type specified");
    /// BITFIELD_RO asked to write.
    pub const BITFIELD_READ_ONLY: CmdError =
        CmdError::fixed("ERR BITFIELD_RO only supports the GET subcommand");
    /// LCS of something else than strings.
    pub const LCS_NOT_STRINGS: CmdError =
        CmdError::fixed("ERR The specified keys must contain string values");
    /// LCS with both LEN and IDX.
    pub const LCS_LEN_IDX: CmdError =
        CmdError::fixed("ERR If you want both the length and indexes, please just use IDX.");
    /// LCS of strings whose lengths do not fit 32 bits.
    pub const LCS_TOO_LONG: CmdError = CmdError::fixed("ERR String too long for LCS");
    /// LCS of strings whose table would pass `proto-max-bulk-len`.
    pub const LCS_TOO_BIG: CmdError =
        CmdError::fixed("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    /// LCS without memory for its table.
    pub const LCS_NO_MEMORY: CmdError =
        CmdError::fixed("ERR Insufficient memory, failed allocating transient memory for LCS");
    /// A database number beyond `databases`.
    pub const DB_OUT_OF_RANGE: CmdError = CmdError::fixed("ERR DB index is out of range");
    /// SWAPDB: the first database is not a number.
    pub const INVALID_FIRST_DB: CmdError = CmdError::fixed("ERR invalid first DB index");
    /// SWAPDB: the second database is not a number.
    pub const INVALID_SECOND_DB: CmdError = CmdError::fixed("ERR invalid second DB index");
    /// MOVE or COPY of a key to itself.
    pub const SAME_OBJECT: CmdError = CmdError::fixed("ERR source and destination objects are the same");
    /// EXPIRE NX with another condition.
    pub const EXPIRE_NX_COMBINED: CmdError =
        CmdError::fixed("ERR NX and XX, GT or LT options at the same time are not compatible");
    /// EXPIRE GT LT.
    pub const EXPIRE_GT_LT: CmdError =
        CmdError::fixed("ERR GT and LT options at the same time are not compatible");
    /// OBJECT FREQ where accesses are not counted.
    pub const LFU_NOT_SELECTED: CmdError = CmdError::fixed(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching \
         between policies at runtime LRU and LFU data will take some time to adjust.",
    );
    /// OBJECT IDLETIME where accesses are counted instead of timed.
    pub const LFU_SELECTED: CmdError = CmdError::fixed(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between \
         policies at runtime LRU and LFU data will take some time to adjust.",
    );
    /// SORT by something that is no number.
    pub const SORT_NOT_FLOAT: CmdError =
        CmdError::fixed("ERR One or more scores can't be converted into double");
    /// A scan cursor that is not a number.
    pub const INVALID_CURSOR: CmdError = CmdError::fixed("ERR invalid cursor");
    /// NX and XX together.
    pub const NX_XX: CmdError = CmdError::fixed("ERR XX and NX options at the same time are not compatible");
    /// GT, LT and NX together.
    pub const GT_LT_NX: CmdError =
        CmdError::fixed("ERR GT, LT, and/or NX options at the same time are not compatible");
    /// ZADD INCR with more than one pair.
    pub const INCR_ONE_PAIR: CmdError =
        CmdError::fixed("ERR INCR option supports a single increment-element pair");
    /// A score bound that is not a number.
    pub const MIN_MAX_NOT_FLOAT: CmdError = CmdError::fixed("ERR min or max is not a float");
    /// A lexicographic bound without `[`, `(`, `-` or `+`.
    pub const MIN_MAX_NOT_STRING: CmdError = CmdError::fixed("ERR min or max not valid string range item");
    /// ZRANGE by rank with LIMIT.
    pub const LIMIT_BY_RANK: CmdError = CmdError::fixed(
        "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
    );
    /// ZRANGE BYLEX with WITHSCORES.
    pub const WITHSCORES_BYLEX: CmdError =
        CmdError::fixed("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
    /// A weight of ZUNION or ZINTER that is not a number.
    pub const WEIGHT_NOT_FLOAT: CmdError = CmdError::fixed("ERR weight value is not a float");
    /// The smallest 64-bit integer, where its opposite is needed too.
    pub const BELOW_NEGATED_MAX: CmdError = CmdError::fixed(
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
    );
    /// ZINTERCARD or SINTERCARD with a LIMIT below zero.
    pub const LIMIT_NEGATIVE: CmdError = CmdError::fixed("ERR LIMIT can't be negative");
    /// NOVALUES with a scan of something else than a hash.
    pub const NOVALUES_ONLY_HSCAN: CmdError =
        CmdError::fixed("ERR NOVALUES option can only be used in HSCAN");
    /// A unit of length other than m, km, ft and mi.
    pub const GEO_UNIT: CmdError = CmdError::fixed("ERR unsupported unit provided. please use M, KM, FT, MI");
    /// A search around a member that is not there.
    pub const GEO_NO_MEMBER: CmdError = CmdError::fixed("ERR could not decode requested zset member");
    /// A search radius that is not a number.
    pub const GEO_RADIUS_NOT_FLOAT: CmdError = CmdError::fixed("ERR need numeric radius");
    /// A search radius below zero.
    pub const GEO_RADIUS_NEGATIVE: CmdError = CmdError::fixed("ERR radius cannot be negative");
    /// The width of a search that is not a number.
    pub const GEO_WIDTH_NOT_FLOAT: CmdError = CmdError::fixed("ERR need numeric width");
    /// The height of a search that is not a number.
    pub const GEO_HEIGHT_NOT_FLOAT: CmdError = CmdError::fixed("ERR need numeric height");
    /// A width or height of a search below zero.
    pub const GEO_BOX_NEGATIVE: CmdError = CmdError::fixed("ERR height or width cannot be negative");
    /// GEOSEARCH COUNT of zero or less.
    pub const GEO_COUNT: CmdError = CmdError::fixed("ERR COUNT must be > 0");
    /// GEOSEARCH ANY without COUNT.
    pub const GEO_ANY_COUNT: CmdError = CmdError::fixed("ERR the ANY argument requires COUNT argument");
    /// GEOSEARCHSTORE with an option about the reply.
    pub const GEOSEARCHSTORE_WITH: CmdError =
        CmdError::fixed("ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
    /// GEORADIUS with STORE and an option about the reply.
    pub const GEORADIUS_STORE_WITH: CmdError = CmdError::fixed(
        "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
    );
    /// A time-out that is no number.
    pub const TIMEOUT_NOT_FLOAT: CmdError = CmdError::fixed("ERR timeout is not a float or out of range");
    /// A time-out that is no integer.
    pub const TIMEOUT_NOT_INTEGER: CmdError =
        CmdError::fixed("ERR timeout is not an integer or out of range");
    /// A time-out below zero.
    pub const TIMEOUT_NEGATIVE: CmdError = CmdError::fixed("ERR timeout is negative");
    /// A time-out that ends beyond the 64-bit range.
    pub const TIMEOUT_OUT_OF_RANGE: CmdError = CmdError::fixed("ERR timeout is out of range");
    /// EXEC of a transaction of which a command was refused.
    pub const EXEC_ABORT: CmdError =
        CmdError::fixed("EXECABORT Transaction discarded because of previous errors.");
    /// EXEC without MULTI.
    pub const EXEC_WITHOUT_MULTI: CmdError = CmdError::fixed("ERR EXEC without MULTI");
    /// DISCARD without MULTI.
    pub const DISCARD_WITHOUT_MULTI: CmdError = CmdError::fixed("ERR DISCARD without MULTI");
    /// MULTI inside MULTI.
    pub const NESTED_MULTI: CmdError = CmdError::fixed("ERR MULTI calls can not be nested");
    /// WATCH inside MULTI.
    pub const WATCH_IN_MULTI: CmdError = CmdError::fixed("ERR WATCH inside MULTI is not allowed");
    /// A command that cannot be queued.
    pub const NOT_IN_MULTI: CmdError = CmdError::fixed("ERR Command not allowed inside a transaction");
    /// A blocked client that CLIENT UNBLOCK freed with an error.
    pub const UNBLOCKED: CmdError = CmdError::fixed("UNBLOCKED client unblocked via CLIENT UNBLOCK");
    /// The client has not logged in.
    pub const NO_AUTH: CmdError = CmdError::fixed("NOAUTH Authentication required.");
    /// A wrong name or password.
    pub const WRONG_PASS: CmdError =
        CmdError::fixed("WRONGPASS invalid username-password pair or user is disabled.");
    /// AUTH with one argument while no password is set.
    pub const AUTH_WITHOUT_PASSWORD: CmdError = CmdError::fixed(
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
         configuration is correct?",
    );
    /// ACL SETUSER of a name that cannot stand in an ACL file.
    pub const USER_NAME_BLANKS: CmdError =
        CmdError::fixed("ERR Usernames can't contain spaces or null characters");
    /// ACL DELUSER default.
    pub const DEFAULT_USER_STAYS: CmdError = CmdError::fixed("ERR The 'default' user cannot be removed");
    /// ACL GENPASS with a size out of range.
    pub const GENPASS_BITS: CmdError = CmdError::fixed(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096",
    );
    /// The system gives no random numbers.
    pub const NO_RANDOMNESS: CmdError = CmdError::fixed("ERR no randomness");
    /// CONFIG REWRITE of a server that was started without a configuration file.
    pub const NO_CONFIG_FILE: CmdError = CmdError::fixed("ERR The server is running without a config file");
    /// ACL LOAD or ACL SAVE without `aclfile`.
    pub const NO_ACL_FILE: CmdError = CmdError::fixed(
        "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER \
         command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store \
         users in the Redis configuration.",
    );
    /// The ACL file could not be written.
    pub const ACL_SAVE_FAILED: CmdError = CmdError::fixed(
        "ERR There was an error trying to save the ACLs. Please check the server logs for more information",
    );
    /// SORT BY by a user who may not read every key.
    pub const SORT_BY_DENIED: CmdError =
        CmdError::fixed("ERR BY option of SORT denied due to insufficient ACL permissions.");
    /// SORT GET by a user who may not read every key.
    pub const SORT_GET_DENIED: CmdError =
        CmdError::fixed("ERR GET option of SORT denied due to insufficient ACL permissions.");
    /// Protected mode: no password, and the client is not on this machine. The connection is closed after this.
    pub const PROTECTED_MODE: CmdError = CmdError::fixed(
        "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the \
         default user. In this mode connections are only accepted from the loopback interface. If you want to connect \
         from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode \
         sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the \
         same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do \
         so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode \
         by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting \
         the server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' \
         option. 4) Set up an authentication password for the default user. NOTE: You only need to do one of the above \
         things in order for the server to start accepting connections from the outside.",
    );
    /// HELLO asked for a protocol other than 2 or 3.
    pub const NO_PROTO: CmdError = CmdError::fixed("NOPROTO unsupported protocol version");
    /// HELLO's version is not a number.
    pub const PROTO_NOT_INTEGER: CmdError =
        CmdError::fixed("ERR Protocol version is not an integer or out of range");
    /// HELLO without a login where one is needed.
    pub const HELLO_NO_AUTH: CmdError = CmdError::fixed(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> \
         <pass> option can be used to authenticate the client and select the RESP protocol version at the same time",
    );
    /// A client name or attribute with blanks, line breaks or other special characters.
    pub const CLIENT_NAME_CHARS: CmdError =
        CmdError::fixed("ERR Client names cannot contain spaces, newlines or special characters.");
    /// CLIENT TRACKING with two receivers.
    pub const TRACKING_TWO_REDIRECTS: CmdError =
        CmdError::fixed("ERR A client can only redirect to a single other client");
    /// CLIENT TRACKING with a receiver that is not connected.
    pub const TRACKING_NO_SUCH_REDIRECT: CmdError =
        CmdError::fixed("ERR The client ID you want redirect to does not exist");
    /// CLIENT TRACKING with prefixes but without BCAST.
    pub const TRACKING_PREFIX_WITHOUT_BCAST: CmdError =
        CmdError::fixed("ERR PREFIX option requires BCAST mode to be enabled");
    /// CLIENT TRACKING that would change between the two ways to track.
    pub const TRACKING_SWITCH_BCAST: CmdError = CmdError::fixed(
        "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it \
         with a different mode.",
    );
    /// CLIENT TRACKING with options that do not fit together.
    pub const TRACKING_OPT_WITH_BCAST: CmdError =
        CmdError::fixed("ERR OPTIN and OPTOUT are not compatible with BCAST");
    /// CLIENT TRACKING with options that do not fit together.
    pub const TRACKING_OPTIN_AND_OPTOUT: CmdError =
        CmdError::fixed("ERR You can't specify both OPTIN mode and OPTOUT mode");
    /// CLIENT TRACKING that would turn one of these into the other.
    pub const TRACKING_SWITCH_OPT: CmdError = CmdError::fixed(
        "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it \
         with a different mode.",
    );
    /// CLIENT CACHING of a client that does not track.
    pub const CACHING_WITHOUT_TRACKING: CmdError = CmdError::fixed(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
    );
    /// CLIENT CACHING YES in another mode.
    pub const CACHING_YES_WITHOUT_OPTIN: CmdError =
        CmdError::fixed("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
    /// CLIENT CACHING NO in another mode.
    pub const CACHING_NO_WITHOUT_OPTOUT: CmdError =
        CmdError::fixed("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    /// CLIENT KILL of an address nobody has.
    pub const NO_SUCH_CLIENT: CmdError = CmdError::fixed("ERR No such client");
    /// `maxclients` reached; the connection is closed after this.
    pub const MAX_CLIENTS: CmdError = CmdError::fixed("ERR max number of clients reached");
    /// Not answered since the connection is not in the right state.
    pub const CLUSTER_DISABLED: CmdError = CmdError::fixed("ERR This instance has cluster support disabled");
    /// A client in MONITOR, which is a kind of replica to Redis, asked for something about keys.
    pub const REPLICA_KEYSPACE: CmdError = CmdError::fixed("ERR Replica can't interact with the keyspace");
    /// MONITOR inside a transaction.
    pub const MONITOR_IN_EXEC: CmdError =
        CmdError::fixed("ERR MONITOR isn't allowed for DENY BLOCKING client");
    /// SLOWLOG GET of a negative number of entries.
    pub const SLOWLOG_COUNT: CmdError = CmdError::fixed("ERR count should be greater than or equal to -1");
    /// SHUTDOWN that could not save.
    pub const SHUTDOWN_FAILED: CmdError = CmdError::fixed("ERR Errors trying to SHUTDOWN. Check logs.");
    /// SHUTDOWN ABORT while the server is not shutting down.
    pub const NO_SHUTDOWN: CmdError = CmdError::fixed("ERR No shutdown in progress.");
    /// DEBUG PROTOCOL of an unknown type.
    pub const DEBUG_PROTOCOL_TYPE: CmdError = CmdError::fixed(
        "ERR Wrong protocol type name. Please use one of the following: \
         string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
    );
    /// COMMAND GETKEYS of a command without keys.
    pub const NO_KEY_ARGUMENTS: CmdError = CmdError::fixed("ERR The command has no key arguments");
    /// COMMAND GETKEYS of an unknown command.
    pub const INVALID_COMMAND: CmdError = CmdError::fixed("ERR Invalid command specified");
    /// COMMAND GETKEYS with a wrong number of arguments.
    pub const INVALID_COMMAND_ARGUMENTS: CmdError =
        CmdError::fixed("ERR Invalid number of arguments specified for command");
    /// Memory is at `maxmemory` and the command may need more.
    pub const OOM: CmdError = CmdError::fixed("OOM command not allowed when used memory > 'maxmemory'.");

    /// An error with a fixed text.
    pub const fn fixed(text: &'static str) -> CmdError {
        CmdError(Cow::Borrowed(text.as_bytes()))
    }

    /// An error with a text made for the occasion, code word included.
    pub fn new(text: impl Into<Vec<u8>>) -> CmdError {
        CmdError(Cow::Owned(text.into()))
    }

    /// The whole text: code word, blank, message.
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// The code word: what INFO's error statistics count by.
    pub fn code(&self) -> &[u8] {
        let end = memchr::memchr(b' ', &self.0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// Wrong number of arguments; `full_name` is `get` or `client|setname`.
    pub fn arity(full_name: &str) -> CmdError {
        CmdError::new(format!("ERR wrong number of arguments for '{full_name}' command"))
    }

    /// A queued command that the user may not run any more when its transaction runs.
    pub fn rights_changed(explanation: &str) -> CmdError {
        CmdError::new(format!(
            "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command \
             is no longer allowed for the following reason: {explanation}"
        ))
    }

    /// A command nobody knows. Redis shows the first 128 bytes of the name and of the arguments.
    pub fn unknown_command(args: &[&[u8]]) -> CmdError {
        let mut text = b"ERR unknown command '".to_vec();
        text.extend_from_slice(shown(args.first().copied().unwrap_or_default(), 128));
        text.extend_from_slice(b"', with args beginning with: ");
        let start = text.len();
        for arg in args.iter().skip(1) {
            let used = text.len() - start;
            if used >= 128 {
                break;
            }
            text.push(b'\'');
            text.extend_from_slice(shown(arg, 128 - used));
            text.extend_from_slice(b"' ");
        }
        CmdError::new(text)
    }

    /// A command that a RESP2 subscriber may not call.
    pub fn not_when_subscribed(full_name: &str) -> CmdError {
        CmdError::new(format!(
            "ERR Can't execute '{full_name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are \
             allowed in this context"
        ))
    }

    /// A command that the configuration keeps from the client; `command` in upper case.
    pub fn protected_command(command: &str, option: &str) -> CmdError {
        CmdError::new(format!(
            "ERR {command} command not allowed. If the {option} option is set to \"local\", you can run it from a \
             local connection, otherwise you need to set this option in the configuration file, and then restart the \
             server."
        ))
    }

    /// A sub-command of DEBUG that needs what this version lacks.
    pub fn debug_not_available(name: &str, needed: &str) -> CmdError {
        CmdError::new(format!(
            "ERR DEBUG {} needs {needed}, which this version lacks",
            name.to_ascii_uppercase()
        ))
    }

    /// LATENCY GRAPH of an event that has not occurred.
    pub fn no_latency_samples(event: &[u8]) -> CmdError {
        CmdError::new([b"ERR No samples available for event '", shown(event, usize::MAX), b"'"].concat())
    }

    /// A sub-command that its container lacks.
    pub fn unknown_subcommand(container: &str, word: &[u8]) -> CmdError {
        let mut text = b"ERR unknown subcommand '".to_vec();
        text.extend_from_slice(shown(word, 128));
        text.extend_from_slice(b"'. Try ");
        text.extend_from_slice(container.to_ascii_uppercase().as_bytes());
        text.extend_from_slice(b" HELP.");
        CmdError::new(text)
    }

    /// A sub-command that PFDEBUG lacks.
    pub fn unknown_pfdebug(word: &[u8]) -> CmdError {
        CmdError::new([b"ERR Unknown PFDEBUG subcommand '", shown(word, usize::MAX), b"'"].concat())
    }

    /// A sub-command with arguments that do not fit.
    pub fn subcommand_syntax(container: &str, word: &[u8]) -> CmdError {
        let mut text = b"ERR unknown subcommand or wrong number of arguments for '".to_vec();
        text.extend_from_slice(shown(word, 128));
        text.extend_from_slice(b"'. Try ");
        text.extend_from_slice(container.to_ascii_uppercase().as_bytes());
        text.extend_from_slice(b" HELP.");
        CmdError::new(text)
    }

    /// CLIENT TRACKING with two prefixes that fit the same keys; `kind` says what the other one is.
    pub fn prefix_overlap(new: &[u8], kind: &str, other: &[u8]) -> CmdError {
        // Redis prints them as C strings.
        let (new, other) = (shown(new, usize::MAX), shown(other, usize::MAX));
        let parts: [&[u8]; 7] = [
            b"ERR Prefix '",
            new,
            b"' overlaps with ",
            kind.as_bytes(),
            b" '",
            other,
            b"'. Prefixes for a single client must not overlap.",
        ];
        CmdError::new(parts.concat())
    }

    /// An EXEC that a gate refused with `error`.
    pub fn exec_aborted_by(error: &CmdError) -> CmdError {
        let reason = error.text().strip_prefix(b"ERR ").unwrap_or(error.text());
        CmdError::new([b"EXECABORT Transaction discarded because of: ", reason].concat())
    }

    /// A word that EXPIRE does not know.
    pub fn unsupported_option(word: &[u8]) -> CmdError {
        // Redis prints it as a C string, and no line ends at the end of an error.
        let word = memchr::memchr(0, word).map_or(word, |end| &word[..end]);
        let end = word.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
        CmdError::new([b"ERR Unsupported option ", &word[..end]].concat())
    }

    /// A longitude or latitude out of range, in degrees.
    pub fn invalid_coordinates(lon: f64, lat: f64) -> CmdError {
        CmdError::new(format!("ERR invalid longitude,latitude pair {lon:.6},{lat:.6}"))
    }

    /// GEOSEARCH without a centre; `command` is its name as the client wrote it.
    pub fn geo_needs_center(command: &[u8]) -> CmdError {
        let text = b"ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ";
        CmdError::new([text.as_slice(), command].concat())
    }

    /// GEOSEARCH without an outline; `command` is its name as the client wrote it.
    pub fn geo_needs_outline(command: &[u8]) -> CmdError {
        let text = b"ERR exactly one of BYRADIUS and BYBOX can be specified for ";
        CmdError::new([text.as_slice(), command].concat())
    }

    /// A word that HSETEX does not know.
    pub fn unknown_argument(word: &[u8]) -> CmdError {
        CmdError::new([b"ERR unknown argument: ", word].concat())
    }

    /// A combination of sets without a set; `command` is its name.
    pub fn no_input_keys(command: &str) -> CmdError {
        CmdError::new(format!("ERR at least 1 input key is needed for '{command}' command"))
    }

    /// An expiry that is zero, negative where that is no deletion, or beyond the 64-bit range.
    pub fn invalid_expire(command: &str) -> CmdError {
        CmdError::new(format!("ERR invalid expire time in '{command}' command"))
    }
}

/// The part of a client's word that Redis repeats in an error: C's `%.*s` ends at a zero byte.
pub fn shown(word: &[u8], bytes_max: usize) -> &[u8] {
    let word = &word[..word.len().min(bytes_max)];
    &word[..memchr::memchr(0, word).unwrap_or(word.len())]
}

/// Why a request could not be parsed. The connection is closed after the error was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtoError(Cow<'static, str>);

impl ProtoError {
    /// A multibulk length that is no number or out of bounds.
    pub const MULTIBULK_LENGTH: ProtoError = ProtoError::fixed("invalid multibulk length");
    /// A multibulk with more arguments than allowed before login.
    pub const UNAUTHENTICATED_MULTIBULK: ProtoError = ProtoError::fixed("unauthenticated multibulk length");
    /// A bulk length that is no number or out of bounds.
    pub const BULK_LENGTH: ProtoError = ProtoError::fixed("invalid bulk length");
    /// A bulk longer than allowed before login.
    pub const UNAUTHENTICATED_BULK: ProtoError = ProtoError::fixed("unauthenticated bulk length");
    /// No line end within the bound of a multibulk header.
    pub const BIG_MULTIBULK_LINE: ProtoError = ProtoError::fixed("too big mbulk count string");
    /// No line end within the bound of a bulk header.
    pub const BIG_BULK_LINE: ProtoError = ProtoError::fixed("too big bulk count string");
    /// No line end within the bound of an inline request.
    pub const BIG_INLINE: ProtoError = ProtoError::fixed("too big inline request");
    /// An inline request whose quotes do not pair.
    pub const UNBALANCED_QUOTES: ProtoError = ProtoError::fixed("unbalanced quotes in request");

    const fn fixed(text: &'static str) -> ProtoError {
        ProtoError(Cow::Borrowed(text))
    }

    /// Something else than `$` where a bulk must start.
    pub fn expected_dollar(got: u8) -> ProtoError {
        // A line break cannot stand in an error line; Redis shows a blank in its place.
        let shown = if got == b'\r' || got == b'\n' { ' ' } else { got as char };
        ProtoError(Cow::Owned(format!("expected '$', got '{shown}'")))
    }

    /// The reply: `ERR Protocol error: …`.
    pub fn to_reply(&self) -> CmdError {
        // `expected '$', got 'x'` carries one raw byte; as Latin-1 it goes out as it came in.
        let mut text = b"ERR Protocol error: ".to_vec();
        text.extend(self.0.chars().map(|c| c as u8));
        CmdError::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_command_shows_at_most_128_bytes_of_arguments() {
        let long = vec![b'x'; 200];
        let error = CmdError::unknown_command(&[b"foo", b"a", &long, b"never"]);
        let text = String::from_utf8(error.text().to_vec()).expect("ascii");
        assert_eq!(
            text,
            format!("ERR unknown command 'foo', with args beginning with: 'a' '{}' ", "x".repeat(124))
        );
    }

    #[test]
    fn code_is_the_first_word() {
        assert_eq!(CmdError::WRONG_TYPE.code(), b"WRONGTYPE");
        assert_eq!(CmdError::new("ALONE").code(), b"ALONE");
    }

    #[test]
    fn protocol_error_keeps_the_raw_byte() {
        let reply = ProtoError::expected_dollar(0xff).to_reply();
        assert_eq!(reply.text(), b"ERR Protocol error: expected '$', got '\xff'");
    }
}
