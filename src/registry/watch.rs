//! Keys that clients watch for an optimistic transaction, and which of those clients' transactions must fail.

use std::collections::{HashMap, HashSet};

use crate::base::session::ClientId;
use crate::registry::blocked::DbKey;

/// A watched key as one client sees it.
#[derive(Debug, Clone)]
struct Watcher {
    client: ClientId,
    /// The key had expired, unnoticed, when it was watched: its removal is no change to this client.
    was_expired: bool,
}

/// What has become of a watched key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It has another value.
    Written,
    /// It is not there.
    Gone,
    /// Another key has taken its place, one whose time is over.
    Expired,
    /// Nothing was there, and now there is a key whose time is over.
    AppearedExpired,
}

/// All watched keys.
#[derive(Debug, Default)]
pub struct Watches {
    by_key: HashMap<DbKey, Vec<Watcher>>,
    by_client: HashMap<ClientId, Vec<DbKey>>,
    failed: HashSet<ClientId>,
}

impl Watches {
    /// Whether nobody watches anything.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Clients that watch something.
    pub fn clients_len(&self) -> usize {
        self.by_client.len()
    }

    /// Watched keys.
    pub fn keys_len(&self) -> usize {
        self.by_key.len()
    }

    /// Keys that this client watches.
    pub fn count_of(&self, client: ClientId) -> usize {
        self.by_client.get(&client).map_or(0, Vec::len)
    }

    /// Watches a key for a client; watching it again changes nothing.
    pub fn add(&mut self, client: ClientId, key: DbKey, was_expired: bool) {
        let watchers = self.by_key.entry(key.clone()).or_default();
        if watchers.iter().any(|watcher| watcher.client == client) {
            return;
        }
        watchers.push(Watcher { client, was_expired });
        self.by_client.entry(client).or_default().push(key);
    }

    /// Ends all watching of a client.
    pub fn remove(&mut self, client: ClientId) {
        for key in self.by_client.remove(&client).unwrap_or_default() {
            if let Some(watchers) = self.by_key.get_mut(&key) {
                watchers.retain(|watcher| watcher.client != client);
                if watchers.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
        self.failed.remove(&client);
    }

    /// Takes note that a key has changed. Nothing and what has expired are the same to those who watch.
    pub fn touch(&mut self, key: &DbKey, change: Change) {
        for watcher in self.by_key.get_mut(key).into_iter().flatten() {
            match (watcher.was_expired, change) {
                (true, Change::Gone) => watcher.was_expired = false,
                (_, Change::AppearedExpired) => watcher.was_expired = true,
                (true, Change::Expired) => {}
                _ => {
                    self.failed.insert(watcher.client);
                }
            }
        }
    }

    /// All watched keys of a database.
    pub fn keys_in(&self, db: usize) -> Vec<DbKey> {
        self.by_key.keys().filter(|(other, _)| *other == db).cloned().collect()
    }

    /// Keys of this client whose expiry counts as a change.
    pub fn expirable(&self, client: ClientId) -> Vec<DbKey> {
        let keys = self.by_client.get(&client).into_iter().flatten();
        let counts = |key: &&DbKey| {
            let watchers = self.by_key.get(*key).into_iter().flatten();
            watchers.filter(|watcher| watcher.client == client).any(|watcher| !watcher.was_expired)
        };
        keys.filter(counts).cloned().collect()
    }

    /// Whether a key that the client watches has changed.
    pub fn failed(&self, client: ClientId) -> bool {
        self.failed.contains(&client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_fails_those_who_watch_and_nobody_else() {
        let (a, b) = ((0, b"a".to_vec()), (1, b"a".to_vec()));
        let mut watches = Watches::default();
        watches.add(1, a.clone(), false);
        watches.add(1, a.clone(), false);
        watches.add(2, b.clone(), false);
        watches.touch(&a, Change::Written);
        assert!(watches.failed(1) && !watches.failed(2));
        watches.remove(1);
        assert!(!watches.failed(1));
        watches.touch(&a, Change::Written);
        assert!(!watches.failed(1));
        watches.remove(2);
        assert!(watches.is_empty());
    }

    #[test]
    fn removal_of_what_had_expired_is_no_change() {
        let key = (0, b"k".to_vec());
        let mut watches = Watches::default();
        watches.add(7, key.clone(), true);
        watches.touch(&key, Change::Gone);
        assert!(!watches.failed(7));
        watches.touch(&key, Change::AppearedExpired);
        watches.touch(&key, Change::Expired);
        assert!(!watches.failed(7) && watches.expirable(7).is_empty());
        watches.touch(&key, Change::Written);
        assert!(watches.failed(7));
    }
}
