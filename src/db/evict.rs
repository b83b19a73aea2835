//! Which keys go when memory is short. Touches its siblings, base and types; what is in use and when time is over is
//! asked of the caller.
//!
//! As in Redis, the policies that look for the oldest, rarest or soonest to expire do so by sampling: a few keys that lie
//! together at a random place join a pool of good candidates from earlier samples, ordered by how well they qualify,
//! and the best of the pool goes. The pool stays from one eviction to the next, which lets few samples find nearly as
//! old keys as a sorted list of all would. A candidate that has been used since it was sampled is passed over.

use rand::Rng;

use crate::base::Rand;
use crate::base::config::EvictionPolicy;
use crate::db::access::{Frequency, decayed, idle_secs};
use crate::db::keyspace::{Db, Keyspace};
use crate::types::table::Element;

/// Candidates kept.
const POOL_SIZE: usize = 16;
/// Longest key whose copy stays allocated in the pool.
const KEPT_KEY_BYTES_MAX: usize = 255;
/// Samples taken in vain before a random key has to do.
const FRUITLESS_SAMPLES_MAX: usize = 16;
/// Evictions, or steps of freeing, between two looks at the clock.
const STEPS_PER_CHECK: usize = 16;
/// Buckets of the trash freed in a step.
const BUCKETS_PER_STEP: usize = 4;

/// How room was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There is enough.
    Enough,
    /// More keys have to go, but the time is over.
    OutOfTime,
    /// There is nothing left that may go.
    OutOfKeys,
}

/// What qualifies a key to go: the higher, the better.
type Merit = u64;

struct Candidate {
    merit: Merit,
    db: usize,
    key: Vec<u8>,
}

/// Chooses and evicts keys.
pub struct Evictor {
    policy: EvictionPolicy,
    samples: usize,
    /// By merit, the best one last.
    pool: Vec<Candidate>,
    /// Memory of candidates that have left the pool.
    spare: Vec<Vec<u8>>,
    /// With which database a random policy goes on.
    next_db: usize,
}

/// By what a policy judges.
fn merit(ks: &Keyspace, policy: EvictionPolicy, access: u32, expire_ms: Option<i64>) -> Merit {
    match policy {
        EvictionPolicy::AllkeysLfu | EvictionPolicy::VolatileLfu => {
            let count = ks.frequency.as_ref().map_or_else(
                || decayed(access, ks.now_ms, 1),
                |frequency: &Frequency| frequency.count(access, ks.now_ms),
            );
            Merit::from(u8::MAX) - Merit::from(count)
        }
        EvictionPolicy::VolatileTtl => Merit::MAX - expire_ms.map_or(0, |at| at.max(0) as u64),
        _ => Merit::from(idle_secs(access, ks.access_clock)),
    }
}

/// Whether a policy takes keys with an expiry only.
fn volatile_only(policy: EvictionPolicy) -> bool {
    matches!(
        policy,
        EvictionPolicy::VolatileLru
            | EvictionPolicy::VolatileLfu
            | EvictionPolicy::VolatileRandom
            | EvictionPolicy::VolatileTtl
    )
}

fn is_random(policy: EvictionPolicy) -> bool {
    matches!(policy, EvictionPolicy::AllkeysRandom | EvictionPolicy::VolatileRandom)
}

impl Default for Evictor {
    fn default() -> Evictor {
        Evictor {
            policy: EvictionPolicy::NoEviction,
            samples: 0,
            pool: Vec::with_capacity(POOL_SIZE),
            spare: Vec::with_capacity(POOL_SIZE),
            next_db: 0,
        }
    }
}

impl Evictor {
    /// Sets what to judge by, and how many keys a sample has.
    pub fn configure(&mut self, policy: EvictionPolicy, samples: usize) {
        if policy != self.policy {
            // Merits of different policies cannot be compared.
            self.pool.clear();
        }
        (self.policy, self.samples) = (policy, samples);
    }

    /// Evicts keys until `excess` bytes have been freed. `used` tells the bytes in use.
    ///
    /// Only what removing keys frees is counted, so that messages about the removals, which take memory themselves, do
    /// not empty the databases. What lies in the trash is freed before more keys go.
    pub fn make_room(
        &mut self,
        ks: &mut Keyspace,
        rng: &mut Rand,
        excess: usize,
        used: &impl Fn() -> usize,
        out_of_time: &mut impl FnMut() -> bool,
    ) -> Room {
        let mut freed = 0;
        for steps in 1.. {
            if !ks.trash.is_empty() {
                let before = used();
                ks.trash.step(BUCKETS_PER_STEP);
                freed += before.saturating_sub(used());
            } else if let Some((db, key)) = self.choose(ks, rng) {
                let before = used();
                ks.evict(db, &key, || freed += before.saturating_sub(used()));
                self.give_back(key);
            } else {
                return Room::OutOfKeys;
            }
            if freed >= excess {
                break;
            }
            if steps % STEPS_PER_CHECK == 0 && out_of_time() {
                return Room::OutOfTime;
            }
        }
        Room::Enough
    }

    /// The key that is to go next; `None` if there is none that may.
    fn choose(&mut self, ks: &Keyspace, rng: &mut Rand) -> Option<(usize, Vec<u8>)> {
        if self.policy == EvictionPolicy::NoEviction {
            return None;
        }
        if is_random(self.policy) {
            return self.choose_randomly(ks, rng);
        }
        for _ in 0..FRUITLESS_SAMPLES_MAX {
            let mut any = false;
            for db in 0..ks.count() {
                any |= self.eligible(ks.db(db)) > 0;
                self.sample(ks, db, rng);
            }
            if !any {
                return None;
            }
            while let Some(best) = self.pool.pop() {
                if self.still_qualifies(ks, &best) {
                    return Some((best.db, best.key));
                }
                self.give_back(best.key);
            }
        }
        self.choose_randomly(ks, rng)
    }

    fn eligible(&self, db: &Db) -> usize {
        if volatile_only(self.policy) { db.expires_len() } else { db.len() }
    }

    /// From one database after the other, a random key.
    fn choose_randomly(&mut self, ks: &Keyspace, rng: &mut Rand) -> Option<(usize, Vec<u8>)> {
        for _ in 0..ks.count() {
            let db = self.next_db % ks.count();
            self.next_db = (db + 1) % ks.count();
            let space = ks.db(db);
            let key = if volatile_only(self.policy) {
                space.expires.random(rng).map(Element::key)
            } else {
                space.keys.random(rng).map(Element::key)
            };
            if let Some(key) = key {
                return Some((db, self.copy(key)));
            }
        }
        None
    }

    /// Lets a few keys of a database join the pool.
    fn sample(&mut self, ks: &Keyspace, db: usize, rng: &mut Rand) {
        let (policy, samples, space) = (self.policy, self.samples, ks.db(db));
        if volatile_only(policy) {
            space.expires.sample(rng, samples, |entry| {
                self.offer(db, entry.key(), merit(ks, policy, entry.access(), entry.expire_ms()));
            });
        } else {
            space.keys.sample(rng, samples, |entry| {
                self.offer(db, entry.key(), merit(ks, policy, entry.access(), entry.expire_ms()));
            });
        }
    }

    fn offer(&mut self, db: usize, key: &[u8], merit: Merit) {
        let at = self.pool.partition_point(|candidate| candidate.merit < merit);
        let full = self.pool.len() == POOL_SIZE;
        if full && at == 0 {
            return;
        }
        // Samples overlap; the same key stands beside itself, unless its merit has changed.
        if self.pool.get(at).is_some_and(|there| there.db == db && there.key == key) {
            return;
        }
        let key = self.copy(key);
        self.pool.insert(at, Candidate { merit, db, key });
        if full {
            let worst = self.pool.remove(0);
            self.give_back(worst.key);
        }
    }

    fn still_qualifies(&self, ks: &Keyspace, candidate: &Candidate) -> bool {
        // The number of databases does not change, but what is in them does.
        ks.db(candidate.db).find(&candidate.key).is_some_and(|entry| {
            let allowed = !volatile_only(self.policy) || entry.expire_ms().is_some();
            allowed && merit(ks, self.policy, entry.access(), entry.expire_ms()) >= candidate.merit
        })
    }

    fn copy(&mut self, key: &[u8]) -> Vec<u8> {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(key);
        copy
    }

    fn give_back(&mut self, key: Vec<u8>) {
        if key.capacity() <= KEPT_KEY_BYTES_MAX && self.spare.len() < POOL_SIZE {
            self.spare.push(key);
        }
    }
}

/// Draws the seed for [`Frequency`] when a frequency policy comes into force.
pub fn frequency_for(
    policy: EvictionPolicy,
    log_factor: i64,
    decay_minutes: i64,
    rng: &mut Rand,
) -> Option<Frequency> {
    matches!(policy, EvictionPolicy::AllkeysLfu | EvictionPolicy::VolatileLfu)
        .then(|| Frequency::new(log_factor, decay_minutes, rng.random()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rand::SeedableRng;

    use super::*;
    use crate::db::value::Value;
    use crate::types::table::Seed;

    const KEY_BYTES: usize = 100;
    const ALL: [EvictionPolicy; 7] = [
        EvictionPolicy::AllkeysLru,
        EvictionPolicy::AllkeysLfu,
        EvictionPolicy::AllkeysRandom,
        EvictionPolicy::VolatileLru,
        EvictionPolicy::VolatileLfu,
        EvictionPolicy::VolatileRandom,
        EvictionPolicy::VolatileTtl,
    ];

    struct World {
        ks: Keyspace,
        evictor: Evictor,
        rng: Rand,
    }

    fn name(i: usize) -> Vec<u8> {
        format!("key{i}").into_bytes()
    }

    /// 2000 keys in two databases, used one a second; those with odd numbers expire, the later the sooner.
    fn world(policy: EvictionPolicy) -> World {
        let mut rng = Rand::seed_from_u64(7);
        let mut ks = Keyspace::new(3, Seed(rng.random()));
        ks.now_ms = 1_000_000_000;
        ks.frequency = frequency_for(policy, 1, 1, &mut rng);
        for i in 0..2_000 {
            let (db, key) = (i % 4 / 2, name(i));
            ks.access_clock = i as u32;
            ks.set(db, &key, Value::Int(1), false);
            if i % 2 == 1 {
                ks.set_expire(db, &key, Some(2_000_000_000 - i as i64 * 100_000));
            }
            for _ in 0..i / 100 {
                ks.read(db, &key);
            }
        }
        let mut evictor = Evictor::default();
        evictor.configure(policy, 5);
        World { ks, evictor, rng }
    }

    impl World {
        fn left(&self) -> Vec<usize> {
            (0..2_000).filter(|&i| self.ks.db(i % 4 / 2).find(&name(i)).is_some()).collect()
        }

        /// Evicts until so many keys are gone, as if each had the same size.
        fn evict(&mut self, keys: usize) -> Room {
            let used = || 0;
            let mut gone = 0;
            loop {
                // A used-up clock ends a call after 16 keys.
                let before = self.ks.stats.evicted;
                let room = self.evictor.make_room(&mut self.ks, &mut self.rng, 1, &used, &mut || true);
                gone += (self.ks.stats.evicted - before) as usize;
                if gone >= keys || room == Room::OutOfKeys {
                    return room;
                }
            }
        }
    }

    #[test]
    fn each_policy_takes_what_it_should() {
        for policy in ALL {
            let mut world = world(policy);
            assert_eq!(world.evict(480), Room::OutOfTime);
            let left = world.left();
            assert_eq!(left.len(), 2_000 - 480, "{policy:?}");
            let mean = |of: Vec<usize>| of.iter().sum::<usize>() / of.len();
            let gone = (0..2_000).filter(|i| !left.contains(i)).collect::<Vec<_>>();
            if volatile_only(policy) {
                assert!(gone.iter().all(|i| i % 2 == 1), "{policy:?}");
            }
            let mean = mean(gone);
            match policy {
                EvictionPolicy::AllkeysRandom | EvictionPolicy::VolatileRandom => {
                    assert!((900..1_100).contains(&mean), "{policy:?}: {mean}")
                }
                EvictionPolicy::VolatileTtl => assert!(mean > 1_350, "{policy:?}: {mean}"),
                _ if volatile_only(policy) => assert!(mean < 650, "{policy:?}: {mean}"),
                _ => assert!(mean < 400, "{policy:?}: {mean}"),
            }
        }
    }

    #[test]
    fn everything_that_may_go_goes_in_the_end() {
        for policy in ALL {
            let mut world = world(policy);
            assert_eq!(world.evict(usize::MAX), Room::OutOfKeys);
            let left = world.left();
            if volatile_only(policy) {
                assert_eq!(left, (0..2_000).step_by(2).collect::<Vec<_>>(), "{policy:?}");
            } else {
                assert!(left.is_empty(), "{policy:?}");
            }
        }
        let mut none = world(EvictionPolicy::NoEviction);
        assert_eq!((none.evict(1), none.left().len()), (Room::OutOfKeys, 2_000));
    }

    #[test]
    fn no_more_goes_than_is_needed() {
        let mut world = world(EvictionPolicy::AllkeysLru);
        let in_use = Cell::new(2_000 * KEY_BYTES);
        // The bytes in use fall whenever somebody looks behind an eviction, which is every second time.
        let looks = Cell::new(0);
        let used = || {
            looks.set(looks.get() + 1);
            if looks.get() % 2 == 0 {
                in_use.set(in_use.get() - KEY_BYTES);
            }
            in_use.get()
        };
        let room = world.evictor.make_room(&mut world.ks, &mut world.rng, 950, &used, &mut || false);
        assert_eq!((room, world.ks.stats.evicted), (Room::Enough, 10));
    }

    #[test]
    fn a_key_that_is_used_again_is_spared() {
        let mut world = world(EvictionPolicy::AllkeysLru);
        world.evict(16);
        let pooled: Vec<(usize, Vec<u8>)> =
            world.evictor.pool.iter().map(|c| (c.db, c.key.clone())).collect();
        assert!(pooled.len() > 5);
        for (db, key) in &pooled {
            world.ks.read(*db, key);
        }
        world.evict(100);
        let spared = pooled.iter().filter(|(db, key)| world.ks.db(*db).find(key).is_some()).count();
        assert_eq!(spared, pooled.len());
    }
}
