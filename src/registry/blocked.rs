//! Clients that wait for keys, in the order in which they began to wait, and the deadlines of all waiting clients.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::base::session::ClientId;

/// A key in a database.
pub type DbKey = (usize, Vec<u8>);

/// What one client waits for.
#[derive(Debug, Clone)]
struct Wait {
    keys: Vec<DbKey>,
    deadline_ms: Option<i64>,
}

/// All waiting clients.
#[derive(Debug, Default)]
pub struct Blocked {
    waits: HashMap<ClientId, Wait>,
    by_key: HashMap<DbKey, VecDeque<ClientId>>,
    deadlines: BTreeSet<(i64, ClientId)>,
}

impl Blocked {
    /// Waiting clients.
    pub fn len(&self) -> usize {
        self.waits.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Whether somebody waits for a key.
    pub fn any_keys(&self) -> bool {
        !self.by_key.is_empty()
    }

    /// Clients that do not wait for ever.
    pub fn deadlines_len(&self) -> usize {
        self.deadlines.len()
    }

    /// Keys that somebody waits for.
    pub fn keys_len(&self) -> usize {
        self.by_key.len()
    }

    /// Lets a client wait for any of `keys`, behind those that wait already, until a deadline in milliseconds since the
    /// epoch or for ever. A key that is named twice counts once.
    pub fn add(&mut self, client: ClientId, keys: Vec<DbKey>, deadline_ms: Option<i64>) {
        debug_assert!(!self.waits.contains_key(&client));
        let mut distinct: Vec<DbKey> = Vec::with_capacity(keys.len());
        for key in keys {
            let line = self.by_key.entry(key.clone()).or_default();
            // A client is at the end of the line only if it was put there just now.
            if line.back() != Some(&client) {
                line.push_back(client);
                distinct.push(key);
            }
        }
        if let Some(deadline) = deadline_ms {
            self.deadlines.insert((deadline, client));
        }
        self.waits.insert(client, Wait { keys: distinct, deadline_ms });
    }

    /// Ends the waiting of a client. Returns whether it waited.
    pub fn remove(&mut self, client: ClientId) -> bool {
        let Some(wait) = self.waits.remove(&client) else { return false };
        for key in wait.keys {
            if let Some(line) = self.by_key.get_mut(&key) {
                line.retain(|&other| other != client);
                if line.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
        if let Some(deadline) = wait.deadline_ms {
            self.deadlines.remove(&(deadline, client));
        }
        true
    }

    /// Whether the client waits.
    pub fn contains(&self, client: ClientId) -> bool {
        self.waits.contains_key(&client)
    }

    /// Whether anybody waits for this key.
    pub fn waits_for(&self, key: &DbKey) -> bool {
        self.by_key.contains_key(key)
    }

    /// Those who wait for a key, the longest waiting first.
    pub fn line(&self, key: &DbKey) -> Vec<ClientId> {
        self.by_key.get(key).map(|line| line.iter().copied().collect()).unwrap_or_default()
    }

    /// All keys of a database that somebody waits for.
    pub fn keys_in(&self, db: usize) -> Vec<Vec<u8>> {
        self.by_key.keys().filter(|(other, _)| *other == db).map(|(_, key)| key.clone()).collect()
    }

    /// The nearest deadline.
    pub fn next_deadline_ms(&self) -> Option<i64> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// A client whose deadline has come, if there is one; it goes on waiting until it is removed.
    pub fn overdue(&self, now_ms: i64) -> Option<ClientId> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now_ms).map(|(_, client)| *client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first_served_on_every_key() {
        let key = |name: &str| (0, name.as_bytes().to_vec());
        let mut blocked = Blocked::default();
        blocked.add(1, vec![key("a"), key("b"), key("a")], Some(50));
        blocked.add(2, vec![key("b")], Some(20));
        blocked.add(3, vec![key("b"), key("c")], None);
        assert_eq!(blocked.line(&key("b")), [1, 2, 3]);
        assert_eq!((blocked.overdue(19), blocked.overdue(20)), (None, Some(2)));
        assert!(blocked.remove(2) && !blocked.remove(2));
        assert_eq!((blocked.line(&key("b")), blocked.next_deadline_ms()), (vec![1, 3], Some(50)));
        blocked.remove(1);
        assert!(!blocked.waits_for(&key("a")));
        blocked.remove(3);
        assert!(blocked.is_empty() && !blocked.any_keys());
    }
}
