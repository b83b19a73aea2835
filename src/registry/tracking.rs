//! Client-side caching: which clients are to be told when which keys change. Two plain tables:
//!
//! - by key: what a client has read, forgotten as soon as it has been told once. Bounded; a random entry gives way.
//! - by prefix (mode BCAST): whoever asked for a prefix is told of all changes below it, once a turn of the loop.
//!
//! The ids of clients that are gone, or no longer track, stay in the first table until their key changes: finding them
//! would cost more than they do. Ids are never used again, so they mean nobody else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::base::Rand;
use crate::base::session::ClientId;
use rand::Rng;

/// How a client wants to track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// By prefix instead of by what it reads.
    pub bcast: bool,
    /// Remember only what is read right after CLIENT CACHING YES.
    pub opt_in: bool,
    /// Do not remember what is read right after CLIENT CACHING NO.
    pub opt_out: bool,
    /// Do not tell it of its own changes.
    pub no_loop: bool,
}

/// What is known of a client that tracks.
#[derive(Debug, Default)]
pub struct Tracker {
    /// See [`Options`].
    pub options: Options,
    /// The client that is told in its place.
    pub redirect: Option<ClientId>,
    /// That client was gone when it should have been told.
    pub broken: bool,
    /// What it is told of in mode BCAST.
    pub prefixes: BTreeSet<Vec<u8>>,
}

/// Why prefixes are refused: `new` and the prefix `other` would both fit some keys.
#[derive(Debug, PartialEq, Eq)]
pub struct Overlap {
    /// A prefix that was asked for.
    pub new: Vec<u8>,
    /// The one it overlaps with.
    pub other: Vec<u8>,
    /// The client has `other` already; otherwise it was asked for in the same command.
    pub existing: bool,
}

/// Changed keys below one prefix, each with the client that changed it last.
pub type Changes = BTreeMap<Vec<u8>, Option<ClientId>>;

/// What is to be told at the end of a turn.
#[derive(Debug)]
pub struct Broadcast {
    /// The keys.
    pub changes: Changes,
    /// Whom to tell; `true`: not of what it changed itself.
    pub clients: Vec<(ClientId, bool)>,
}

#[derive(Debug, Default)]
struct Prefix {
    clients: BTreeSet<ClientId>,
    changes: Changes,
}

/// The readers of every key; a list of entries, so that one can be drawn by lot, and an index into it.
#[derive(Debug, Default)]
struct Readers {
    entries: Vec<(Arc<[u8]>, Vec<ClientId>)>,
    index: HashMap<Arc<[u8]>, usize>,
    items: usize,
}

impl Readers {
    fn add(&mut self, key: &[u8], client: ClientId) {
        let Some(&at) = self.index.get(key) else {
            let key: Arc<[u8]> = key.into();
            self.index.insert(key.clone(), self.entries.len());
            self.entries.push((key, vec![client]));
            self.items += 1;
            return;
        };
        let clients = &mut self.entries[at].1;
        if let Err(place) = clients.binary_search(&client) {
            clients.insert(place, client);
            self.items += 1;
        }
    }

    fn remove_at(&mut self, at: usize) -> (Arc<[u8]>, Vec<ClientId>) {
        let (key, clients) = self.entries.swap_remove(at);
        self.index.remove(&key);
        if let Some((moved, _)) = self.entries.get(at) {
            *self.index.get_mut(moved).expect("every entry is in the index") = at;
        }
        self.items -= clients.len();
        (key, clients)
    }
}

/// Both tables.
#[derive(Debug, Default)]
pub struct Tracking {
    clients: HashMap<ClientId, Tracker>,
    readers: Readers,
    prefixes: BTreeMap<Vec<u8>, Prefix>,
    /// Whether some prefix has changes to tell of.
    changed: bool,
}

impl Tracking {
    /// Whether nobody tracks, and nobody is remembered as a reader who did.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.readers.entries.is_empty()
    }

    /// Clients that track.
    pub fn clients_len(&self) -> usize {
        self.clients.len()
    }

    /// Keys whose readers are remembered.
    pub fn keys_len(&self) -> usize {
        self.readers.entries.len()
    }

    /// Readers of all those keys.
    pub fn items_len(&self) -> usize {
        self.readers.items
    }

    /// Prefixes that somebody asked for.
    pub fn prefixes_len(&self) -> usize {
        self.prefixes.len()
    }

    /// What is known of a client; `None` if it does not track.
    pub fn get(&self, client: ClientId) -> Option<&Tracker> {
        self.clients.get(&client)
    }

    /// As [`Tracking::get`], for changing what is known.
    pub fn get_mut(&mut self, client: ClientId) -> Option<&mut Tracker> {
        self.clients.get_mut(&client)
    }

    /// All clients that track, oldest first.
    pub fn clients(&self) -> Vec<ClientId> {
        let mut clients: Vec<ClientId> = self.clients.keys().copied().collect();
        clients.sort_unstable();
        clients
    }

    /// Says whether a client may ask for these prefixes: no two of one client may fit the same key.
    pub fn check_prefixes(&self, client: ClientId, new: &[&[u8]]) -> Result<(), Overlap> {
        let overlap = |new: &[u8], other: &[u8], existing: bool| {
            let shorter = new.len().min(other.len());
            if new[..shorter] != other[..shorter] {
                return Ok(());
            }
            Err(Overlap { new: new.to_vec(), other: other.to_vec(), existing })
        };
        for (at, prefix) in new.iter().enumerate() {
            for existing in self.clients.get(&client).into_iter().flat_map(|tracker| &tracker.prefixes) {
                overlap(prefix, existing, true)?;
            }
            for other in &new[at + 1..] {
                overlap(prefix, other, false)?;
            }
        }
        Ok(())
    }

    /// Lets a client track, or changes how it does. Prefixes (in mode BCAST; none is the empty one) are added to those
    /// that it has.
    pub fn enable(
        &mut self,
        client: ClientId,
        options: Options,
        redirect: Option<ClientId>,
        prefixes: &[&[u8]],
    ) {
        let tracker = self.clients.entry(client).or_default();
        tracker.options = options;
        tracker.redirect = redirect;
        tracker.broken = false;
        if !options.bcast {
            return;
        }
        let everything: &[&[u8]] = &[b""];
        for prefix in if prefixes.is_empty() { everything } else { prefixes } {
            tracker.prefixes.insert(prefix.to_vec());
            self.prefixes.entry(prefix.to_vec()).or_default().clients.insert(client);
        }
    }

    /// Ends a client's tracking. Returns whether it tracked.
    pub fn disable(&mut self, client: ClientId) -> bool {
        let Some(tracker) = self.clients.remove(&client) else { return false };
        for name in tracker.prefixes {
            let prefix = self.prefixes.get_mut(&name).expect("both sides know of a prefix");
            prefix.clients.remove(&client);
            if prefix.clients.is_empty() {
                self.prefixes.remove(&name);
            }
        }
        true
    }

    /// Ends the tracking of a client that has gone. Returns whether it tracked. One that only ended its tracking is still
    /// remembered as a reader, in case it begins again.
    pub fn forget(&mut self, client: ClientId) -> bool {
        let tracked = self.disable(client);
        if self.clients.is_empty() {
            // Hardly anybody is left to be told what is remembered.
            self.clear_keys();
        }
        tracked
    }

    /// Remembers that a client has read a key.
    pub fn remember(&mut self, client: ClientId, key: &[u8]) {
        self.readers.add(key, client);
    }

    /// Takes those who have read a key. Some may be gone, or track in another way by now.
    pub fn take_readers(&mut self, key: &[u8]) -> Vec<ClientId> {
        match self.readers.index.get(key) {
            Some(&at) => self.readers.remove_at(at).1,
            None => Vec::new(),
        }
    }

    /// Takes a random key and those who have read it.
    pub fn take_random(&mut self, rng: &mut Rand) -> Option<(Arc<[u8]>, Vec<ClientId>)> {
        if self.readers.entries.is_empty() {
            return None;
        }
        let at = rng.random_range(0..self.readers.entries.len());
        Some(self.readers.remove_at(at))
    }

    /// Forgets who has read what.
    pub fn clear_keys(&mut self) {
        self.readers = Readers::default();
    }

    /// Takes note of a changed key for those who asked for a prefix of it. `by` is who changed it.
    pub fn note_change(&mut self, key: &[u8], by: Option<ClientId>) {
        for (name, prefix) in &mut self.prefixes {
            if key.starts_with(name) {
                prefix.changes.insert(key.to_vec(), by);
                self.changed = true;
            }
        }
    }

    /// Whether [`Tracking::take_broadcasts`] has anything to tell.
    #[inline]
    pub fn has_broadcasts(&self) -> bool {
        self.changed
    }

    /// Takes what has changed below the prefixes since the last call.
    pub fn take_broadcasts(&mut self) -> Vec<Broadcast> {
        self.changed = false;
        let changed = self.prefixes.values_mut().filter(|prefix| !prefix.changes.is_empty());
        let broadcast = |prefix: &mut Prefix| Broadcast {
            changes: std::mem::take(&mut prefix.changes),
            clients: prefix.clients.iter().map(|id| (*id, self.clients[id].options.no_loop)).collect(),
        };
        changed.map(broadcast).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn overlapping_prefixes_are_refused() {
        let mut tracking = Tracking::default();
        let bcast = Options { bcast: true, ..Options::default() };
        tracking.enable(1, bcast, None, &[b"foo"]);
        assert!(tracking.check_prefixes(1, &[b"bar", b"baz"]).is_ok());
        let overlap = tracking.check_prefixes(1, &[b"fo"]).expect_err("overlaps");
        assert_eq!((overlap.other.as_slice(), overlap.existing), (&b"foo"[..], true));
        let overlap = tracking.check_prefixes(2, &[b"a", b"b", b"ab"]).expect_err("overlaps");
        assert_eq!((overlap.new.as_slice(), overlap.existing), (&b"a"[..], false));
        assert!(tracking.check_prefixes(2, &[b"foo"]).is_ok(), "other clients may overlap");
    }

    #[test]
    fn changes_below_a_prefix_are_told_once() {
        let mut tracking = Tracking::default();
        let bcast = Options { bcast: true, no_loop: true, ..Options::default() };
        tracking.enable(1, bcast, None, &[b"a:", b"b:"]);
        tracking.enable(2, Options { bcast: true, ..Options::default() }, None, &[]);
        tracking.note_change(b"a:1", Some(1));
        tracking.note_change(b"a:1", None);
        tracking.note_change(b"c", Some(2));
        let told = tracking.take_broadcasts();
        assert_eq!(told.len(), 2);
        assert_eq!((told[0].clients.as_slice(), told[0].changes.len()), (&[(2, false)][..], 2));
        assert_eq!(told[1].clients, [(1, true)]);
        assert_eq!(told[1].changes.get(&b"a:1"[..]), Some(&None), "the last change counts");
        assert!(!tracking.has_broadcasts() && tracking.take_broadcasts().is_empty());
        assert!(tracking.disable(1) && !tracking.disable(1));
        assert_eq!(tracking.prefixes_len(), 1);
    }

    #[test]
    fn readers_against_a_naive_model() {
        for seed in 0..20 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut tracking = Tracking::default();
            (1..=5).for_each(|client| tracking.enable(client, Options::default(), None, &[]));
            let mut model: BTreeMap<Vec<u8>, BTreeSet<ClientId>> = BTreeMap::new();
            for step in 0..2_000 {
                let key = format!("k{}", rng.random_range(0..60)).into_bytes();
                let told = match rng.random_range(0..10) {
                    0 => tracking.take_random(&mut rng).map(|(key, clients)| (key.to_vec(), clients)),
                    1 | 2 => Some((key.clone(), tracking.take_readers(&key))),
                    _ => {
                        let client = rng.random_range(1..6);
                        tracking.remember(client, &key);
                        model.entry(key).or_default().insert(client);
                        None
                    }
                };
                if let Some((key, clients)) = told {
                    let want: Vec<ClientId> = model.remove(&key).unwrap_or_default().into_iter().collect();
                    assert_eq!(clients, want, "seed {seed}, step {step}");
                }
                let items: usize = model.values().map(BTreeSet::len).sum();
                let counts = (tracking.keys_len(), tracking.items_len());
                assert_eq!(counts, (model.len(), items), "seed {seed}, step {step}");
            }
            (1..=5).for_each(|client| assert!(tracking.forget(client)));
            assert_eq!((tracking.keys_len(), tracking.items_len()), (0, 0));
        }
    }
}
