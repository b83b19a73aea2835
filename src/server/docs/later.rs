//! The commands of Redis 7.4 that redae does not have yet, for the reference page. A row goes when its command comes: a test
//! sees to it. Touches the groups of commands only.

use crate::cmd::spec::Group;

/// A command that is to come.
pub struct Later {
    /// Its full name, as the page shows it.
    pub name: &'static str,
    /// The version of Redis that has it first.
    pub since: &'static str,
    /// The family whose table it stands in.
    pub group: Group,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// What has to be built first.
    pub awaits: &'static str,
}

const fn later(
    awaits: &'static str,
    group: Group,
    since: &'static str,
    name: &'static str,
    summary: &'static str,
) -> Later {
    Later { name, since, group, summary, awaits }
}

/// All of them.
pub const LATER: &[Later] = &[
    later("dumps", Group::Generic, "2.6.0", "DUMP", "Serializes a value."),
    later("dumps", Group::Generic, "2.6.0", "MIGRATE", "Moves keys to another server."),
    later("dumps", Group::Generic, "2.6.0", "RESTORE", "Creates a key from a serialized value."),
    later(
        "dumps",
        Group::Server,
        "3.0.0",
        "RESTORE-ASKING",
        "Creates a key from a serialized value while its cluster slot is moving.",
    ),
    later(
        "replication",
        Group::Server,
        "2.8.0",
        "PSYNC",
        "Begins a full or partial replication, for use between servers.",
    ),
    later(
        "replication",
        Group::Server,
        "3.0.0",
        "REPLCONF",
        "Negotiates the details of a replication, for use between servers.",
    ),
    later(
        "replication",
        Group::Server,
        "1.0.0",
        "SYNC",
        "Begins a full replication, for use between servers.",
    ),
    later("scripting", Group::Scripting, "2.6.0", "EVAL", "Runs a Lua script."),
    later("scripting", Group::Scripting, "7.0.0", "EVAL_RO", "Runs a Lua script that only reads."),
    later("scripting", Group::Scripting, "2.6.0", "EVALSHA", "Runs a cached Lua script, named by its SHA1."),
    later(
        "scripting",
        Group::Scripting,
        "7.0.0",
        "EVALSHA_RO",
        "Runs a cached Lua script, named by its SHA1, that only reads.",
    ),
    later("scripting", Group::Scripting, "7.0.0", "FCALL", "Calls a library function."),
    later("scripting", Group::Scripting, "7.0.0", "FCALL_RO", "Calls a library function that only reads."),
    later(
        "scripting",
        Group::Scripting,
        "7.0.0",
        "FUNCTION",
        "Groups the commands about function libraries.",
    ),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION DELETE", "Deletes a library."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION DUMP", "Serializes all libraries."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION FLUSH", "Deletes all libraries."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION HELP", "Describes the sub-commands."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION KILL", "Stops the function that is running."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION LIST", "Describes the libraries."),
    later("scripting", Group::Scripting, "7.0.0", "FUNCTION LOAD", "Creates a library from its source."),
    later(
        "scripting",
        Group::Scripting,
        "7.0.0",
        "FUNCTION RESTORE",
        "Creates libraries from a serialized form.",
    ),
    later(
        "scripting",
        Group::Scripting,
        "7.0.0",
        "FUNCTION STATS",
        "Describes the running function and the engines.",
    ),
    later("scripting", Group::Scripting, "2.6.0", "SCRIPT", "Groups the commands about cached scripts."),
    later(
        "scripting",
        Group::Scripting,
        "3.2.0",
        "SCRIPT DEBUG",
        "Sets how scripts of this connection are debugged.",
    ),
    later(
        "scripting",
        Group::Scripting,
        "2.6.0",
        "SCRIPT EXISTS",
        "Tells of each SHA1 whether its script is cached.",
    ),
    later("scripting", Group::Scripting, "2.6.0", "SCRIPT FLUSH", "Empties the script cache."),
    later("scripting", Group::Scripting, "5.0.0", "SCRIPT HELP", "Describes the sub-commands."),
    later("scripting", Group::Scripting, "2.6.0", "SCRIPT KILL", "Stops the script that is running."),
    later("scripting", Group::Scripting, "2.6.0", "SCRIPT LOAD", "Caches a script and returns its SHA1."),
    later(
        "persistence",
        Group::Server,
        "1.0.0",
        "BGREWRITEAOF",
        "Rewrites the append-only file in the background.",
    ),
    later("persistence", Group::Server, "1.0.0", "BGSAVE", "Saves the databases in the background."),
    later(
        "persistence",
        Group::Server,
        "1.0.0",
        "LASTSAVE",
        "Tells the Unix time of the last successful save.",
    ),
    later("persistence", Group::Server, "1.0.0", "SAVE", "Saves the databases at once."),
    later("streams", Group::Stream, "5.0.0", "XACK", "Acknowledges messages on behalf of a consumer group."),
    later("streams", Group::Stream, "5.0.0", "XADD", "Appends an entry to a stream, and may trim it."),
    later(
        "streams",
        Group::Stream,
        "6.2.0",
        "XAUTOCLAIM",
        "Takes over messages that another consumer has left pending for long.",
    ),
    later("streams", Group::Stream, "5.0.0", "XCLAIM", "Takes over pending messages of another consumer."),
    later("streams", Group::Stream, "5.0.0", "XDEL", "Removes entries from a stream."),
    later("streams", Group::Stream, "5.0.0", "XGROUP", "Groups the commands about consumer groups."),
    later("streams", Group::Stream, "5.0.0", "XGROUP CREATE", "Starts a consumer group on a stream."),
    later("streams", Group::Stream, "6.2.0", "XGROUP CREATECONSUMER", "Adds a consumer to a group."),
    later("streams", Group::Stream, "5.0.0", "XGROUP DELCONSUMER", "Removes a consumer from a group."),
    later("streams", Group::Stream, "5.0.0", "XGROUP DESTROY", "Removes a consumer group."),
    later("streams", Group::Stream, "5.0.0", "XGROUP HELP", "Describes the sub-commands."),
    later(
        "streams",
        Group::Stream,
        "5.0.0",
        "XGROUP SETID",
        "Sets the last id that a group counts as delivered.",
    ),
    later("streams", Group::Stream, "5.0.0", "XINFO", "Groups the commands that look inside a stream."),
    later("streams", Group::Stream, "5.0.0", "XINFO CONSUMERS", "Lists the consumers of a group."),
    later("streams", Group::Stream, "5.0.0", "XINFO GROUPS", "Lists the consumer groups of a stream."),
    later("streams", Group::Stream, "5.0.0", "XINFO HELP", "Describes the sub-commands."),
    later("streams", Group::Stream, "5.0.0", "XINFO STREAM", "Describes a stream, in brief or in full."),
    later("streams", Group::Stream, "5.0.0", "XLEN", "Counts the entries of a stream."),
    later(
        "streams",
        Group::Stream,
        "5.0.0",
        "XPENDING",
        "Sums up or lists the pending messages of a consumer group.",
    ),
    later("streams", Group::Stream, "5.0.0", "XRANGE", "Lists the entries between two ids."),
    later(
        "streams",
        Group::Stream,
        "5.0.0",
        "XREAD",
        "Reads the entries after given ids, waiting for new ones if asked to.",
    ),
    later(
        "streams",
        Group::Stream,
        "5.0.0",
        "XREADGROUP",
        "Reads new or pending entries as a consumer of a group, waiting for new ones if asked to.",
    ),
    later(
        "streams",
        Group::Stream,
        "5.0.0",
        "XREVRANGE",
        "Lists the entries between two ids in reverse order.",
    ),
    later("streams", Group::Stream, "5.0.0", "XSETID", "Sets the last id of a stream, for replication."),
    later("streams", Group::Stream, "5.0.0", "XTRIM", "Removes the oldest entries of a stream."),
];
