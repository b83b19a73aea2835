//! The expiry cycle: finds keys whose time is over though nobody asks for them. Touches its siblings.
//!
//! Walks the index of expiries bucket by bucket, a little from every database in turn, and goes on with a database as
//! long as a fair share of what it finds is due. Each call has a time budget; time is asked of the caller.

use crate::db::keyspace::Keyspace;
use crate::types::table::Element;

/// Keys looked at per database before the share of due ones decides whether to go on.
const KEYS_PER_ROUND: usize = 20;

/// Buckets looked at per round, so that a sparse index does not hold the cycle up.
const BUCKETS_PER_ROUND: usize = 400;

/// How hard a cycle works.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Keys per round; more with a higher `active-expire-effort`.
    keys_per_round: usize,
    /// A database is done when less than this share of a round, in percent, was due.
    acceptable_stale_percent: usize,
}

impl Effort {
    /// The effort of `active-expire-effort`, 1 to 10.
    pub fn new(option: i64) -> Effort {
        let extra = (option.clamp(1, 10) - 1) as usize;
        Effort {
            keys_per_round: KEYS_PER_ROUND + KEYS_PER_ROUND / 4 * extra,
            acceptable_stale_percent: 10usize.saturating_sub(extra).max(1),
        }
    }
}

/// Removes due keys until every database has few of them, or `out_of_time` says so. `start` is the database to begin
/// with; the one to begin with next time is returned.
pub fn cycle(
    ks: &mut Keyspace,
    start: usize,
    effort: Effort,
    mut out_of_time: impl FnMut() -> bool,
) -> usize {
    let count = ks.count();
    let (mut seen, mut due) = (0, 0);
    let mut next = start;
    'databases: for offset in 0..count {
        let db = (start + offset) % count;
        next = (db + 1) % count;
        loop {
            let round = round(ks, db, effort.keys_per_round);
            seen += round.seen;
            due += round.due;
            if round.seen == 0 || round.due * 100 <= round.seen * effort.acceptable_stale_percent {
                break;
            }
            if out_of_time() {
                ks.stats.expire_cycle_capped += 1;
                break 'databases;
            }
        }
    }
    let share = if seen == 0 { 0.0 } else { due as f64 / seen as f64 };
    ks.stats.expired_stale_share = share * 0.05 + ks.stats.expired_stale_share * 0.95;
    next
}

struct Round {
    seen: usize,
    due: usize,
}

fn round(ks: &mut Keyspace, db: usize, keys: usize) -> Round {
    let now = ks.now_ms;
    let mut round = Round { seen: 0, due: 0 };
    let (mut ttl_sum, mut ttl_count) = (0i64, 0i64);
    let mut victims: Vec<Vec<u8>> = Vec::new();
    let space = ks.db_mut(db);
    let mut buckets = 0;
    while !space.expires.is_empty() && round.seen < keys && buckets < BUCKETS_PER_ROUND {
        let cursor = space.expires.scan(space.expire_cursor, |entry| {
            round.seen += 1;
            let ttl = entry.expire_ms().map_or(0, |at| at.saturating_sub(now));
            if ttl < 0 {
                victims.push(entry.key().to_vec());
            } else {
                ttl_sum = ttl_sum.saturating_add(ttl);
                ttl_count += 1;
            }
        });
        space.expire_cursor = cursor;
        buckets += 1;
        if cursor == 0 {
            break;
        }
    }
    if ttl_count > 0 {
        let mean = ttl_sum / ttl_count;
        let old = space.avg_ttl_ms;
        space.avg_ttl_ms = if old == 0 { mean } else { old / 50 * 49 + mean / 50 };
    }
    round.due = victims.len();
    for key in victims {
        let hash = ks.db(db).keys.hash_of(&key);
        ks.expire_now(db, hash, &key);
    }
    round
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::value::Value;
    use crate::types::table::Seed;

    #[test]
    fn cycle_removes_what_is_due_and_nothing_else() {
        let mut ks = Keyspace::new(3, Seed(9));
        ks.now_ms = 1_000;
        for i in 0..6_000u32 {
            let (db, key) = (i as usize % 3, format!("key{i}"));
            ks.set(db, key.as_bytes(), Value::Int(1), false);
            ks.set_expire(db, key.as_bytes(), Some(if i % 2 == 0 { 2_000 } else { 900_000 }));
        }
        ks.now_ms = 2_001;
        let mut start = 0;
        for _ in 0..400 {
            start = cycle(&mut ks, start, Effort::new(1), || false);
        }
        let left: usize = (0..3).map(|db| ks.db(db).len()).sum();
        assert_eq!((left, ks.stats.expired), (3_000, 3_000));
    }

    #[test]
    fn cycle_stops_when_its_time_is_over() {
        let mut ks = Keyspace::new(1, Seed(9));
        for i in 0..5_000u32 {
            ks.set(0, format!("key{i}").as_bytes(), Value::Int(1), false);
            ks.set_expire(0, format!("key{i}").as_bytes(), Some(5));
        }
        ks.now_ms = 10;
        let mut asked = 0;
        cycle(&mut ks, 0, Effort::new(1), || {
            asked += 1;
            asked == 3
        });
        assert_eq!(ks.stats.expire_cycle_capped, 1);
        assert!(ks.stats.expired > 0 && ks.db(0).len() > 4_000, "{} left", ks.db(0).len());
    }
}
