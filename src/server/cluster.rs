//! CLUSTER, and what else only a node of a cluster can do. This server is none: every one of these commands answers that
//! cluster support is disabled.

use crate::base::error::CmdError;
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group};

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "asking",
        summary: "Lets the next command into a slot that is being imported.",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::FAST,
        acl: Acl::CONNECTION,
        handler: Some(disabled),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "cluster",
        summary: "Groups the commands about the cluster.",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "Depends on the sub-command.",
        arity: -2,
        subcommands: &[
            CommandSpec {
                name: "addslots",
                summary: "Gives slots to this node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N slots.",
                arity: -3,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "slot:int...",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "addslotsrange",
                summary: "Gives ranges of slots to this node.",
                since: "7.0.0",
                group: Group::Cluster,
                complexity: "O(N), N being the slots of all ranges.",
                arity: -4,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "range{start-slot:int end-slot:int}...",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "bumpepoch",
                summary: "Moves this node to a new configuration epoch.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "count-failure-reports",
                summary: "Counts the failure reports about a node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N reports.",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE),
                syntax: "node-id",
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "countkeysinslot",
                summary: "Counts the keys in a slot.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 3,
                flags: Flags::STALE,
                syntax: "slot:int",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "delslots",
                summary: "Takes slots away from their node, as this node sees it.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N slots.",
                arity: -3,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "slot:int...",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "delslotsrange",
                summary: "Takes ranges of slots away from their node, as this node sees it.",
                since: "7.0.0",
                group: Group::Cluster,
                complexity: "O(N), N being the slots of all ranges.",
                arity: -4,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "range{start-slot:int end-slot:int}...",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "failover",
                summary: "Makes this replica take over from its master.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: -2,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "[options(FORCE|TAKEOVER)]",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "flushslots",
                summary: "Takes all slots away from this node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "forget",
                summary: "Removes a node from the table of nodes.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "node-id",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "getkeysinslot",
                summary: "Lists keys of a slot.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N keys.",
                arity: 4,
                flags: Flags::STALE,
                syntax: "slot:int count:int",
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "help",
                summary: "Describes the sub-commands.",
                since: "5.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::LOADING.or(Flags::STALE),
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "info",
                summary: "Describes the state of the cluster.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::STALE,
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "keyslot",
                summary: "Tells the slot of a key.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N), N being the length of the key.",
                arity: 3,
                flags: Flags::STALE,
                syntax: "key:string",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "links",
                summary: "Lists the connections to and from other nodes.",
                since: "7.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N nodes.",
                arity: 2,
                flags: Flags::STALE,
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "meet",
                summary: "Introduces another node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: -4,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "ip port:int [cluster-bus-port:int@4.0.0]",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "myid",
                summary: "Tells the id of this node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::STALE,
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "myshardid",
                summary: "Tells the id of this node's shard.",
                since: "7.2.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::STALE,
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "nodes",
                summary: "Describes all nodes, as in the cluster's configuration file.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N nodes.",
                arity: 2,
                flags: Flags::STALE,
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "replicas",
                summary: "Lists the replicas of a master.",
                since: "5.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N replicas.",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE),
                syntax: "node-id",
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "replicate",
                summary: "Makes this node a replica of another.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "node-id",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "reset",
                summary: "Takes this node out of its cluster.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N known nodes, plus that of FLUSHALL if it runs.",
                arity: -2,
                flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::STALE),
                syntax: "[reset-type(HARD|SOFT)]",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "saveconfig",
                summary: "Writes the cluster's configuration file.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "set-config-epoch",
                summary: "Sets the configuration epoch of a fresh node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "config-epoch:int",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "setslot",
                summary: "Sets the state of a slot while it moves, or its node.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(1)",
                arity: -4,
                flags: Flags::ADMIN.or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
                syntax: "slot:int subcommand(IMPORTING importing\"node-id\"|MIGRATING migrating\"node-id\"|\
                    NODE node\"node-id\"|STABLE)",
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "shards",
                summary: "Describes the shards with their slots and nodes.",
                since: "7.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N nodes.",
                arity: 2,
                flags: Flags::LOADING.or(Flags::STALE),
                tips: &["nondeterministic_output"],
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "slaves",
                summary: "Lists the replicas of a master, under the old name of CLUSTER REPLICAS.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N replicas.",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::STALE),
                syntax: "node-id",
                tips: &["nondeterministic_output"],
                deprecated: Some(Deprecated { since: "5.0.0", replaced_by: "`CLUSTER REPLICAS`" }),
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "slots",
                summary: "Lists the ranges of slots with their nodes.",
                since: "3.0.0",
                group: Group::Cluster,
                complexity: "O(N) for N nodes.",
                arity: 2,
                flags: Flags::LOADING.or(Flags::STALE),
                tips: &["nondeterministic_output"],
                deprecated: Some(Deprecated { since: "7.0.0", replaced_by: "`CLUSTER SHARDS`" }),
                handler: Some(disabled),
                ..CommandSpec::DEFAULT
            },
        ],
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "readonly",
        summary: "Lets this connection read from a cluster replica.",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::LOADING.or(Flags::STALE).or(Flags::FAST),
        acl: Acl::CONNECTION,
        handler: Some(disabled),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "readwrite",
        summary: "Ends what READONLY began.",
        since: "3.0.0",
        group: Group::Cluster,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::LOADING.or(Flags::STALE).or(Flags::FAST),
        acl: Acl::CONNECTION,
        handler: Some(disabled),
        ..CommandSpec::DEFAULT
    },
];

fn disabled(_: &mut Server, _: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    Err(CmdError::CLUSTER_DISABLED)
}
