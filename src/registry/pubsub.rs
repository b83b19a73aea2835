//! Subscriptions to channels, patterns and shard channels. Clients are reached in the order in which they subscribed.

use std::collections::HashMap;

use crate::base::glob;
use crate::base::session::ClientId;

/// The three name spaces of subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SUBSCRIBE.
    Channel,
    /// PSUBSCRIBE.
    Pattern,
    /// SSUBSCRIBE.
    Shard,
}

const KINDS: usize = 3;

/// One name space: who has subscribed to a name, and to which names a client has.
#[derive(Debug, Default)]
struct Space {
    by_name: HashMap<Vec<u8>, Vec<ClientId>>,
    by_client: HashMap<ClientId, Vec<Vec<u8>>>,
    /// Names in the order in which they were first subscribed; patterns are matched in it.
    order: Vec<Vec<u8>>,
}

impl Space {
    fn subscribe(&mut self, client: ClientId, name: &[u8]) -> bool {
        let names = self.by_client.entry(client).or_default();
        if names.iter().any(|other| other == name) {
            return false;
        }
        names.push(name.to_vec());
        let clients = self.by_name.entry(name.to_vec()).or_insert_with(|| {
            self.order.push(name.to_vec());
            Vec::new()
        });
        clients.push(client);
        true
    }

    fn unsubscribe(&mut self, client: ClientId, name: &[u8]) -> bool {
        let Some(names) = self.by_client.get_mut(&client) else { return false };
        let Some(at) = names.iter().position(|other| other == name) else { return false };
        names.remove(at);
        if names.is_empty() {
            self.by_client.remove(&client);
        }
        let clients = self.by_name.get_mut(name).expect("both sides of a subscription are kept");
        clients.retain(|&other| other != client);
        if clients.is_empty() {
            self.by_name.remove(name);
            self.order.retain(|other| other != name);
        }
        true
    }
}

/// All subscriptions.
#[derive(Debug, Default)]
pub struct PubSub {
    spaces: [Space; KINDS],
}

impl PubSub {
    fn space(&self, kind: Kind) -> &Space {
        &self.spaces[kind as usize]
    }

    /// Subscribes; `false` if the client had subscribed already.
    pub fn subscribe(&mut self, kind: Kind, client: ClientId, name: &[u8]) -> bool {
        self.spaces[kind as usize].subscribe(client, name)
    }

    /// Ends a subscription; `false` if there was none.
    pub fn unsubscribe(&mut self, kind: Kind, client: ClientId, name: &[u8]) -> bool {
        self.spaces[kind as usize].unsubscribe(client, name)
    }

    /// Ends all subscriptions of a client.
    pub fn remove(&mut self, client: ClientId) {
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            for name in self.names_of(kind, client) {
                self.unsubscribe(kind, client, &name);
            }
        }
    }

    /// What a client has subscribed to, oldest first.
    pub fn names_of(&self, kind: Kind, client: ClientId) -> Vec<Vec<u8>> {
        self.space(kind).by_client.get(&client).cloned().unwrap_or_default()
    }

    /// How many names a client has subscribed to.
    pub fn count_of(&self, kind: Kind, client: ClientId) -> usize {
        self.space(kind).by_client.get(&client).map_or(0, Vec::len)
    }

    /// How many clients have subscribed to a name.
    pub fn subscribers(&self, kind: Kind, name: &[u8]) -> usize {
        self.space(kind).by_name.get(name).map_or(0, Vec::len)
    }

    /// Clients that have subscribed to a name.
    pub fn clients_of(&self, kind: Kind, name: &[u8]) -> Vec<ClientId> {
        self.space(kind).by_name.get(name).cloned().unwrap_or_default()
    }

    /// Names that somebody has subscribed to, those that fit a pattern if one is given.
    pub fn names<'a>(&'a self, kind: Kind, pattern: Option<&'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
        let names = self.space(kind).order.iter().map(Vec::as_slice);
        names.filter(move |name| pattern.is_none_or(|pattern| fits(pattern, name)))
    }

    /// How many names have a subscriber.
    pub fn len(&self, kind: Kind) -> usize {
        self.space(kind).by_name.len()
    }

    /// Whether nobody has subscribed to anything.
    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(|space| space.by_name.is_empty())
    }

    /// Patterns that fit a channel, with their clients.
    pub fn fitting(&self, channel: &[u8]) -> Vec<(Vec<u8>, Vec<ClientId>)> {
        let patterns = &self.space(Kind::Pattern);
        let fitting = patterns.order.iter().filter(|pattern| fits(pattern, channel));
        fitting.map(|pattern| (pattern.clone(), patterns.by_name[pattern].clone())).collect()
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    pattern == b"*" || glob::matches(pattern, name, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_stay_in_step() {
        let mut pubsub = PubSub::default();
        assert!(pubsub.subscribe(Kind::Channel, 1, b"a"));
        assert!(!pubsub.subscribe(Kind::Channel, 1, b"a"));
        assert!(pubsub.subscribe(Kind::Channel, 2, b"a"));
        assert!(pubsub.subscribe(Kind::Pattern, 2, b"a*"));
        assert_eq!(pubsub.clients_of(Kind::Channel, b"a"), [1, 2]);
        assert_eq!(pubsub.fitting(b"abc"), [(b"a*".to_vec(), vec![2])]);
        assert!(!pubsub.unsubscribe(Kind::Shard, 1, b"a"));
        pubsub.remove(2);
        assert_eq!(pubsub.clients_of(Kind::Channel, b"a"), [1]);
        assert!(pubsub.fitting(b"abc").is_empty());
        assert!(pubsub.unsubscribe(Kind::Channel, 1, b"a"));
        assert!(pubsub.is_empty());
    }
}
