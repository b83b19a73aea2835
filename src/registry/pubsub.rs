//! Subscriptions to channels, patterns and shard channels. Clients are reached in the order in which they subscribed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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

/// A subscribed name, shared by the tables that hold it.
type Name = Arc<[u8]>;

/// One name space: who has subscribed to a name, and to which names a client has. Subscriptions and names are numbered
/// as they come, which keeps both in order and quickly found.
#[derive(Debug, Default)]
struct Space {
    topics: HashMap<Name, Topic>,
    /// Names in the order in which they were first subscribed; patterns are matched in it.
    order: BTreeMap<u64, Name>,
    by_client: HashMap<ClientId, Subscriptions>,
    last_number: u64,
}

#[derive(Debug)]
struct Topic {
    number: u64,
    clients: BTreeMap<u64, ClientId>,
}

/// The subscriptions of one client.
#[derive(Debug, Default)]
struct Subscriptions {
    numbers: HashMap<Name, u64>,
    order: BTreeMap<u64, Name>,
}

impl Space {
    fn subscribe(&mut self, client: ClientId, name: &[u8]) -> bool {
        let subscriptions = self.by_client.entry(client).or_default();
        if subscriptions.numbers.contains_key(name) {
            return false;
        }
        self.last_number += 1;
        let number = self.last_number;
        let shared: Name = match self.topics.get_key_value(name) {
            Some((shared, _)) => shared.clone(),
            None => {
                let shared: Name = name.into();
                self.order.insert(number, shared.clone());
                self.topics.insert(shared.clone(), Topic { number, clients: BTreeMap::new() });
                shared
            }
        };
        self.topics.get_mut(name).expect("found or just made").clients.insert(number, client);
        subscriptions.numbers.insert(shared.clone(), number);
        subscriptions.order.insert(number, shared);
        true
    }

    fn unsubscribe(&mut self, client: ClientId, name: &[u8]) -> bool {
        let Some(subscriptions) = self.by_client.get_mut(&client) else { return false };
        let Some(number) = subscriptions.numbers.remove(name) else { return false };
        subscriptions.order.remove(&number);
        if subscriptions.order.is_empty() {
            self.by_client.remove(&client);
        }
        let topic = self.topics.get_mut(name).expect("both sides of a subscription are kept");
        topic.clients.remove(&number);
        if topic.clients.is_empty() {
            self.order.remove(&topic.number);
            self.topics.remove(name);
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
        let subscriptions = self.space(kind).by_client.get(&client);
        subscriptions.into_iter().flat_map(|s| s.order.values()).map(|name| name.to_vec()).collect()
    }

    /// How many names a client has subscribed to.
    pub fn count_of(&self, kind: Kind, client: ClientId) -> usize {
        self.space(kind).by_client.get(&client).map_or(0, |subscriptions| subscriptions.order.len())
    }

    /// Clients that have subscribed to something of this kind.
    pub fn clients_len(&self, kind: Kind) -> usize {
        self.space(kind).by_client.len()
    }

    /// How many clients have subscribed to a name.
    pub fn subscribers(&self, kind: Kind, name: &[u8]) -> usize {
        self.space(kind).topics.get(name).map_or(0, |topic| topic.clients.len())
    }

    /// Clients that have subscribed to a name.
    pub fn clients_of(&self, kind: Kind, name: &[u8]) -> impl Iterator<Item = ClientId> {
        self.space(kind).topics.get(name).into_iter().flat_map(|topic| topic.clients.values().copied())
    }

    /// Names that somebody has subscribed to, those that fit a pattern if one is given.
    pub fn names<'a>(&'a self, kind: Kind, pattern: Option<&'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
        let names = self.space(kind).order.values().map(|name| &**name);
        names.filter(move |name| pattern.is_none_or(|pattern| fits(pattern, name)))
    }

    /// How many names have a subscriber.
    pub fn len(&self, kind: Kind) -> usize {
        self.space(kind).topics.len()
    }

    /// Whether nobody has subscribed to anything.
    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(|space| space.topics.is_empty())
    }

    /// Patterns that fit a channel, with their clients.
    pub fn fitting(&self, channel: &[u8]) -> Vec<(Vec<u8>, Vec<ClientId>)> {
        let patterns = &self.space(Kind::Pattern);
        let fitting = patterns.order.values().filter(|pattern| fits(pattern, channel));
        fitting.map(|name| (name.to_vec(), self.clients_of(Kind::Pattern, name).collect())).collect()
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    glob::matches(pattern, name, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Rand;
    use rand::{Rng, SeedableRng};

    #[test]
    fn both_directions_stay_in_step() {
        let mut pubsub = PubSub::default();
        assert!(pubsub.subscribe(Kind::Channel, 1, b"a"));
        assert!(!pubsub.subscribe(Kind::Channel, 1, b"a"));
        assert!(pubsub.subscribe(Kind::Channel, 2, b"a"));
        assert!(pubsub.subscribe(Kind::Pattern, 2, b"a*"));
        assert!(pubsub.clients_of(Kind::Channel, b"a").eq([1, 2]));
        assert_eq!(pubsub.fitting(b"abc"), [(b"a*".to_vec(), vec![2])]);
        assert!(!pubsub.unsubscribe(Kind::Shard, 1, b"a"));
        pubsub.remove(2);
        assert!(pubsub.clients_of(Kind::Channel, b"a").eq([1]));
        assert!(pubsub.fitting(b"abc").is_empty());
        assert!(pubsub.unsubscribe(Kind::Channel, 1, b"a"));
        assert!(pubsub.is_empty());
    }

    #[test]
    fn random_subscriptions_against_a_naive_model() {
        for seed in 0..20 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut pubsub = PubSub::default();
            // Subscriptions in the order in which they were made.
            let mut model: Vec<(ClientId, Vec<u8>)> = Vec::new();
            for step in 0..2_000 {
                let client = rng.random_range(0..8);
                let name = format!("c{}", rng.random_range(0..12)).into_bytes();
                let place = model.iter().position(|pair| *pair == (client, name.clone()));
                if rng.random_bool(0.5) {
                    let new = pubsub.subscribe(Kind::Channel, client, &name);
                    assert_eq!(new, place.is_none(), "seed {seed}, step {step}");
                    if new {
                        model.push((client, name.clone()));
                    }
                } else if rng.random_bool(0.9) {
                    let gone = pubsub.unsubscribe(Kind::Channel, client, &name);
                    assert_eq!(gone, place.is_some(), "seed {seed}, step {step}");
                    place.map(|at| model.remove(at));
                } else {
                    pubsub.remove(client);
                    model.retain(|pair| pair.0 != client);
                }
                let clients = model.iter().filter(|pair| pair.1 == name).map(|pair| pair.0);
                assert!(pubsub.clients_of(Kind::Channel, &name).eq(clients), "seed {seed}, step {step}");
                let names: Vec<_> =
                    model.iter().filter(|pair| pair.0 == client).map(|pair| pair.1.clone()).collect();
                assert_eq!(pubsub.names_of(Kind::Channel, client), names, "seed {seed}, step {step}");
            }
        }
    }
}
