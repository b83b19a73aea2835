//! Publish and subscribe: channels, patterns, shard channels, and the events of keys that are published there.

use crate::base::config::notify;
use crate::base::error::CmdError;
use crate::base::session::{ClientId, SessionFlags};
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::KeyEvent;
use crate::proto::reply::Reply;
use crate::registry::pubsub::Kind;

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "psubscribe",
        summary: "Subscribes to the channels that match patterns.",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N patterns.",
        arity: -2,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        syntax: "pattern:pattern...",
        handler: Some(psubscribe),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "publish",
        summary: "Sends a message to a channel.",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N+M) for N subscribers of the channel and M patterns of all clients.",
        arity: 3,
        flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE).or(Flags::FAST).or(Flags::MAY_REPLICATE),
        syntax: "channel message",
        handler: Some(publish),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pubsub",
        summary: "Groups the commands about channels and subscribers.",
        since: "2.8.0",
        group: Group::Pubsub,
        complexity: "Depends on the sub-command.",
        arity: -2,
        subcommands: &[
            CommandSpec {
                name: "channels",
                summary: "Lists the channels that have subscribers.",
                since: "2.8.0",
                group: Group::Pubsub,
                complexity: "O(N) for N such channels.",
                arity: -2,
                flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE),
                syntax: "[pattern:pattern]",
                handler: Some(pubsub_channels),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "help",
                summary: "Describes the sub-commands.",
                since: "6.2.0",
                group: Group::Pubsub,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::LOADING.or(Flags::STALE),
                handler: Some(pubsub_help),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "numpat",
                summary: "Counts the different patterns that are subscribed to.",
                since: "2.8.0",
                group: Group::Pubsub,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE),
                handler: Some(pubsub_numpat),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "numsub",
                summary: "Counts the subscribers of channels.",
                since: "2.8.0",
                group: Group::Pubsub,
                complexity: "O(N) for N given channels.",
                arity: -2,
                flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE),
                syntax: "[channel...]",
                handler: Some(pubsub_numsub),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "shardchannels",
                summary: "Lists the shard channels that have subscribers.",
                since: "7.0.0",
                group: Group::Pubsub,
                complexity: "O(N) for N such channels.",
                arity: -2,
                flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE),
                syntax: "[pattern:pattern]",
                handler: Some(pubsub_shardchannels),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "shardnumsub",
                summary: "Counts the subscribers of shard channels.",
                since: "7.0.0",
                group: Group::Pubsub,
                complexity: "O(N) for N given channels.",
                arity: -2,
                flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE),
                syntax: "[shardchannel...]",
                handler: Some(pubsub_shardnumsub),
                ..CommandSpec::DEFAULT
            },
        ],
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "punsubscribe",
        summary: "Unsubscribes from patterns.",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N patterns.",
        arity: -1,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        syntax: "[pattern:pattern...]",
        handler: Some(punsubscribe),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "spublish",
        summary: "Sends a message to a shard channel.",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N subscribers of the channel.",
        arity: 3,
        flags: Flags::PUBSUB.or(Flags::LOADING).or(Flags::STALE).or(Flags::FAST).or(Flags::MAY_REPLICATE),
        keys: &[KeySpec::one(KeyFlags::NOT_KEY)],
        syntax: "shardchannel message",
        handler: Some(spublish),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "ssubscribe",
        summary: "Subscribes to shard channels.",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N channels.",
        arity: -2,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        keys: &[KeySpec::one(KeyFlags::NOT_KEY).to(-1)],
        syntax: "shardchannel...",
        handler: Some(ssubscribe),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "subscribe",
        summary: "Subscribes to channels.",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N channels.",
        arity: -2,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        syntax: "channel...",
        handler: Some(subscribe),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sunsubscribe",
        summary: "Unsubscribes from shard channels.",
        since: "7.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N channels.",
        arity: -1,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        keys: &[KeySpec::one(KeyFlags::NOT_KEY).to(-1)],
        syntax: "[shardchannel...]",
        handler: Some(sunsubscribe),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "unsubscribe",
        summary: "Unsubscribes from channels.",
        since: "2.0.0",
        group: Group::Pubsub,
        complexity: "O(N) for N channels.",
        arity: -1,
        flags: Flags::PUBSUB
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::WHEN_SUBSCRIBED),
        syntax: "[channel...]",
        handler: Some(unsubscribe),
        ..CommandSpec::DEFAULT
    },
];

/// What a confirmation of a subscription is called.
fn words(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Channel => ("subscribe", "unsubscribe"),
        Kind::Pattern => ("psubscribe", "punsubscribe"),
        Kind::Shard => ("ssubscribe", "sunsubscribe"),
    }
}

fn subscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.subscribe_to(slot, Kind::Channel, &args[1..])
}

fn psubscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.subscribe_to(slot, Kind::Pattern, &args[1..])
}

fn ssubscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.subscribe_to(slot, Kind::Shard, &args[1..])
}

fn unsubscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.unsubscribe_from(slot, Kind::Channel, &args[1..]);
    Ok(())
}

fn punsubscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.unsubscribe_from(slot, Kind::Pattern, &args[1..]);
    Ok(())
}

fn sunsubscribe(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.unsubscribe_from(slot, Kind::Shard, &args[1..]);
    Ok(())
}

fn publish(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let reached = server.publish_message(args[1], args[2]);
    server.reply(slot).len(reached);
    Ok(())
}

fn spublish(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let reached = server.deliver(Kind::Shard, args[1], args[2]);
    server.reply(slot).len(reached);
    Ok(())
}

fn list_names(server: &mut Server, slot: usize, kind: Kind, pattern: Option<&[u8]>) {
    let names: Vec<Vec<u8>> = server.pubsub.names(kind, pattern).map(<[u8]>::to_vec).collect();
    let mut out = server.reply(slot);
    out.array(names.len());
    for name in names {
        out.bulk(&name);
    }
}

fn count_subscribers(server: &mut Server, slot: usize, kind: Kind, names: &[&[u8]]) {
    let counts: Vec<usize> = names.iter().map(|name| server.pubsub.subscribers(kind, name)).collect();
    let mut out = server.reply(slot);
    // A flat array, in RESP3 as well.
    out.array(2 * names.len());
    for (name, count) in names.iter().zip(counts) {
        out.bulk(name);
        out.len(count);
    }
}

fn pubsub_channels(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    list_names(server, slot, Kind::Channel, at_most_one(args)?);
    Ok(())
}

fn pubsub_shardchannels(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    list_names(server, slot, Kind::Shard, at_most_one(args)?);
    Ok(())
}

/// The optional argument of a sub-command.
fn at_most_one<'a>(args: &[&'a [u8]]) -> Result<Option<&'a [u8]>, CmdError> {
    match &args[2..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(CmdError::subcommand_syntax("pubsub", args[1])),
    }
}

fn pubsub_numsub(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    count_subscribers(server, slot, Kind::Channel, &args[2..]);
    Ok(())
}

fn pubsub_shardnumsub(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    count_subscribers(server, slot, Kind::Shard, &args[2..]);
    Ok(())
}

fn pubsub_numpat(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let count = server.pubsub.len(Kind::Pattern);
    server.reply(slot).len(count);
    Ok(())
}

fn pubsub_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let pubsub = SPECS.iter().find(|spec| spec.name == "pubsub").expect("declared above");
    super::write_help(server, slot, help::lines("pubsub", pubsub.subcommands));
    Ok(())
}

/// `kind`, name, count: the confirmation of one subscription more or less.
fn confirm(out: &mut Reply, word: &str, name: Option<&[u8]>, count: usize) {
    out.push(3);
    out.bulk(word.as_bytes());
    match name {
        Some(name) => out.bulk(name),
        None => out.null(),
    }
    out.len(count);
}

impl Server {
    /// Subscriptions that count for the confirmation: channels and patterns together, shard channels apart.
    fn subscription_count(&self, kind: Kind, client: ClientId) -> usize {
        match kind {
            Kind::Shard => self.pubsub.count_of(Kind::Shard, client),
            _ => self.pubsub.count_of(Kind::Channel, client) + self.pubsub.count_of(Kind::Pattern, client),
        }
    }

    fn subscribe_to(&mut self, slot: usize, kind: Kind, names: &[&[u8]]) -> Result<(), CmdError> {
        let session = &self.clients.get(slot).session;
        let client = session.id;
        if session.flags.any(SessionFlags::IN_EXEC) && !session.resp3() {
            // Its confirmations could not be told from the replies of the transaction.
            let word = words(kind).0;
            let text = format!("ERR {} isn't allowed for a DENY BLOCKING client", word.to_uppercase());
            return Err(CmdError::new(text));
        }
        for name in names {
            self.pubsub.subscribe(kind, client, name);
            self.clients.get_mut(slot).session.flags.set(SessionFlags::SUBSCRIBED, true);
            let count = self.subscription_count(kind, client);
            confirm(&mut self.push_reply(slot), words(kind).0, Some(name), count);
        }
        Ok(())
    }

    fn unsubscribe_from(&mut self, slot: usize, kind: Kind, names: &[&[u8]]) {
        let client = self.clients.get(slot).session.id;
        let all = if names.is_empty() { self.pubsub.names_of(kind, client) } else { Vec::new() };
        let names: Vec<&[u8]> = names.iter().copied().chain(all.iter().map(Vec::as_slice)).collect();
        if names.is_empty() {
            let count = self.subscription_count(kind, client);
            confirm(&mut self.push_reply(slot), words(kind).1, None, count);
        }
        for name in names {
            self.pubsub.unsubscribe(kind, client, name);
            let count = self.subscription_count(kind, client);
            confirm(&mut self.push_reply(slot), words(kind).1, Some(name), count);
        }
        self.note_subscribed(slot);
    }

    /// Ends all subscriptions of a client without a word.
    pub(super) fn unsubscribe_all(&mut self, slot: usize) {
        let client = self.clients.get(slot).session.id;
        self.pubsub.remove(client);
        self.note_subscribed(slot);
    }

    fn note_subscribed(&mut self, slot: usize) {
        let session = &mut self.clients.get_mut(slot).session;
        let kinds = [Kind::Channel, Kind::Pattern, Kind::Shard];
        let any = kinds.iter().any(|&kind| self.pubsub.count_of(kind, session.id) > 0);
        session.flags.set(SessionFlags::SUBSCRIBED, any);
    }

    /// Publishes on a channel: to its subscribers and to those whose pattern fits. Returns how many it reached.
    pub(super) fn publish_message(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let mut reached = self.deliver(Kind::Channel, channel, message);
        for (pattern, clients) in self.pubsub.fitting(channel) {
            for client in clients {
                reached += 1;
                self.push_to(client, |out| {
                    out.push(4);
                    out.bulk(b"pmessage");
                    out.bulk(&pattern);
                    out.bulk(channel);
                    out.bulk(message);
                });
            }
        }
        reached
    }

    fn deliver(&mut self, kind: Kind, channel: &[u8], message: &[u8]) -> usize {
        let word: &[u8] = if kind == Kind::Shard { b"smessage" } else { b"message" };
        let mut receivers = std::mem::take(&mut self.receivers);
        receivers.extend(self.pubsub.clients_of(kind, channel));
        for &client in &receivers {
            self.push_to(client, |out| {
                out.push(3);
                out.bulk(word);
                out.bulk(channel);
                out.bulk(message);
            });
        }
        let reached = receivers.len();
        receivers.clear();
        self.receivers = receivers;
        reached
    }

    /// The writer for what subscriptions bring: CLIENT REPLY OFF does not silence it.
    fn push_reply(&mut self, slot: usize) -> Reply<'_> {
        let client = self.clients.output(slot);
        let resp3 = client.session.resp3();
        Reply::new(&mut client.output, resp3)
    }

    /// Writes something that a client did not ask for. To the client whose command is running it goes behind the
    /// command's reply.
    pub(super) fn push_to(&mut self, client: ClientId, write: impl FnOnce(&mut Reply)) {
        let Some(slot) = self.clients.slot_of(client) else { return };
        if self.running == Some(slot) {
            let resp3 = self.clients.get(slot).session.resp3();
            write(&mut Reply::new(&mut self.own_pushes, resp3));
            return;
        }
        let client = self.clients.output(slot);
        let resp3 = client.session.resp3();
        write(&mut Reply::new(&mut client.output, resp3));
        self.bound_output(slot);
        self.recount(slot);
    }

    /// Tells the databases which events are to be reported: those of the chosen classes, if they are to be published in
    /// either way.
    pub(super) fn note_wanted_events(&mut self) {
        let wanted = self.engine.config.notify_keyspace_events;
        let published = wanted & (notify::KEYSPACE | notify::KEYEVENT) != 0;
        self.engine.ks.signals.wanted = if published { wanted } else { 0 };
    }

    /// Publishes an event of a key, as far as `notify-keyspace-events` asks for it.
    pub(super) fn notify(&mut self, event: &KeyEvent) {
        let wanted = self.engine.config.notify_keyspace_events;
        if wanted & event.class.0 == 0 {
            return;
        }
        if wanted & notify::KEYSPACE != 0 {
            let mut channel = format!("__keyspace@{}__:", event.db).into_bytes();
            channel.extend_from_slice(&event.key);
            self.publish_message(&channel, event.name.as_bytes());
        }
        if wanted & notify::KEYEVENT != 0 {
            let channel = format!("__keyevent@{}__:{}", event.db, event.name);
            self.publish_message(channel.as_bytes(), &event.key);
        }
    }
}
