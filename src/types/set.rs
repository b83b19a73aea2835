//! Sets: distinct byte strings in no order. Touches `types` and `base::Rand`.
//!
//! Three encodings under Redis's names, chosen by its rules (of 7.2 and later):
//! - `intset`, while all members are canonical integers and no more than `intset_entries`;
//! - `listpack`, while they are no more than `listpack_entries`, none longer than `listpack_value`;
//! - `hashtable` beyond: a table whose elements are the members.
//!
//! A set changes its encoding only in the order above, and only when something is added, but for
//! [`Set::try_intset`].

use super::intset::{self, Intset};
use super::item::{Item, canonical_int};
use super::listpack::{self, Listpack};
use super::table::{self, Drain, Seed, Table, select};
use super::thin::Thin;
use crate::base::Rand;

/// How large a set may be in its compact encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetLimits {
    /// `set-max-intset-entries`: members of an intset.
    pub intset_entries: usize,
    /// `set-max-listpack-entries`: members of a listpack.
    pub listpack_entries: usize,
    /// `set-max-listpack-value`: bytes of a listpack's member.
    pub listpack_value: usize,
}

impl Default for SetLimits {
    fn default() -> Self {
        Self { intset_entries: 512, listpack_entries: 128, listpack_value: 64 }
    }
}

impl SetLimits {
    /// An intset never has more members than 2^30, whatever the setting.
    fn intset_max(&self) -> usize {
        self.intset_entries.min(1 << 30)
    }
}

/// An integer takes at most this many bytes in a listpack.
const PACKED_INT_BYTES_MAX: usize = 11;
/// How many members of a table are measured to estimate the memory of all.
const MEASURED_MEMBERS: usize = 64;

/// A set.
pub struct Set {
    repr: Repr,
    /// For the table of the `hashtable` encoding.
    seed: Seed,
}

enum Repr {
    Ints(Intset),
    Pack(Listpack),
    Table(Box<Table<Thin>>),
}

/// A member that has been taken out of its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Popped {
    /// It was stored as an integer.
    Int(i64),
    /// It was stored as bytes.
    Bytes(Thin),
}

impl Popped {
    /// The member.
    #[must_use]
    pub fn item(&self) -> Item<'_> {
        match self {
            Self::Int(value) => Item::Int(*value),
            Self::Bytes(bytes) => Item::Str(bytes.as_slice()),
        }
    }
}

impl From<Item<'_>> for Popped {
    fn from(item: Item<'_>) -> Self {
        match item {
            Item::Int(value) => Self::Int(value),
            Item::Str(bytes) => Self::Bytes(Thin::new(bytes)),
        }
    }
}

/// Making one.
impl Set {
    /// An empty set, as a listpack. Allocates nothing.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { repr: Repr::Pack(Listpack::new()), seed }
    }

    /// An empty set, as an intset.
    #[must_use]
    pub fn new_intset(seed: Seed) -> Self {
        Self { repr: Repr::Ints(Intset::new()), seed }
    }

    /// An empty set, as a hash table for `capacity` members.
    #[must_use]
    pub fn new_table(seed: Seed, capacity: usize) -> Self {
        Self { repr: Repr::Table(Box::new(Table::with_capacity(seed, capacity))), seed }
    }

    /// An empty set in the encoding that suits `expected` members, of which `first` is one: what a command that is about
    /// to add them to a new key should begin with.
    #[must_use]
    pub fn for_members(first: &[u8], expected: usize, limits: &SetLimits, seed: Seed) -> Self {
        if expected <= limits.intset_entries && canonical_int(first).is_some() {
            Self::new_intset(seed)
        } else if expected <= limits.listpack_entries {
            Self::new(seed)
        } else {
            Self::new_table(seed, expected)
        }
    }

    /// A set from a loaded intset, converted if it is beyond the limit.
    #[must_use]
    pub fn from_intset(ints: Intset, limits: &SetLimits, seed: Seed) -> Self {
        let mut set = Self { repr: Repr::Ints(ints), seed };
        if set.len() > limits.intset_max() {
            set.convert_to_table(0);
        }
        set
    }

    /// A set from a loaded listpack, converted if it is beyond the limits. `None` if a member occurs twice.
    #[must_use]
    pub fn from_listpack(pack: Listpack, limits: &SetLimits, seed: Seed) -> Option<Self> {
        let sort_key = |item| match item {
            Item::Int(value) => (Some(value), &b""[..]),
            Item::Str(bytes) => (None, bytes),
        };
        let mut members: Vec<_> = pack.iter().map(sort_key).collect();
        members.sort_unstable();
        if members.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let mut set = Self { repr: Repr::Pack(pack), seed };
        if set.len() > limits.listpack_entries {
            set.convert_to_table(0);
        }
        Some(set)
    }
}

/// Members.
impl Set {
    /// The number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Ints(ints) => ints.len(),
            Repr::Pack(pack) => pack.len(),
            Repr::Table(table) => table.len(),
        }
    }

    /// Whether there are no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `member` is one.
    #[inline]
    #[must_use]
    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.repr {
            Repr::Ints(ints) => canonical_int(member).is_some_and(|value| ints.contains(value)),
            Repr::Pack(pack) => find_packed(pack, member).is_some(),
            Repr::Table(table) => table.find(member).is_some(),
        }
    }

    /// As [`contains`](Self::contains), for what another set yields.
    #[inline]
    #[must_use]
    pub fn contains_item(&self, member: Item<'_>) -> bool {
        match (&self.repr, member) {
            (Repr::Ints(ints), Item::Int(value)) => ints.contains(value),
            _ => self.contains(member.bytes(&mut itoa::Buffer::new())),
        }
    }

    /// Adds a member. False if it was there.
    #[inline]
    pub fn add(&mut self, member: &[u8], limits: &SetLimits) -> bool {
        match &mut self.repr {
            Repr::Table(table) => add_to_table(table, member),
            Repr::Pack(pack) => {
                if find_packed(pack, member).is_some() {
                    return false;
                }
                let fits = pack.len() < limits.listpack_entries && member.len() <= limits.listpack_value;
                if fits && pack.safe_to_add(member.len()) {
                    pack.push_back(member);
                } else {
                    self.convert_to_table(1).insert_unique(Thin::new(member));
                }
                true
            }
            Repr::Ints(_) => match canonical_int(member) {
                Some(value) => self.add_int(value, limits),
                None => {
                    self.add_text_to_intset(member, limits);
                    true
                }
            },
        }
    }

    /// As [`add`](Self::add), for what another set yields.
    #[inline]
    pub fn add_item(&mut self, member: Item<'_>, limits: &SetLimits) -> bool {
        match (&self.repr, member) {
            (Repr::Ints(_), Item::Int(value)) => self.add_int(value, limits),
            _ => self.add(member.bytes(&mut itoa::Buffer::new()), limits),
        }
    }

    /// Adds an integer to an intset.
    fn add_int(&mut self, value: i64, limits: &SetLimits) -> bool {
        let Repr::Ints(ints) = &mut self.repr else {
            return self.add(itoa::Buffer::new().format(value).as_bytes(), limits);
        };
        let added = ints.insert(value);
        if added && ints.len() > limits.intset_max() {
            self.convert_to_table(0);
        }
        added
    }

    /// Adds a member that is no integer to an intset, which so becomes something else.
    fn add_text_to_intset(&mut self, member: &[u8], limits: &SetLimits) {
        let Repr::Ints(ints) = &self.repr else {
            return;
        };
        let longest = [ints.min(), ints.max()].into_iter().flatten().map(|n| Item::Int(n).text_len()).max();
        let longest = longest.unwrap_or(0).max(member.len());
        let fits = ints.len() < limits.listpack_entries && longest <= limits.listpack_value;
        let mut pack = Listpack::new();
        if !(fits && pack.safe_to_add(ints.len() * PACKED_INT_BYTES_MAX + member.len())) {
            self.convert_to_table(1).insert_unique(Thin::new(member));
            return;
        }
        ints.iter().for_each(|value| pack.push_back_int(value));
        pack.push_back(member);
        self.repr = Repr::Pack(pack);
    }

    /// Turns any encoding into a hash table with room for `more` members.
    fn convert_to_table(&mut self, more: usize) -> &mut Table<Thin> {
        if !matches!(self.repr, Repr::Table(_)) {
            let mut table = Box::new(Table::with_capacity(self.seed, self.len() + more));
            for member in self.iter() {
                table.insert_unique(Thin::new(member.bytes(&mut itoa::Buffer::new())));
            }
            self.repr = Repr::Table(table);
        }
        match &mut self.repr {
            Repr::Table(table) => table,
            _ => unreachable!("converted above"),
        }
    }

    /// To be called before `count` members are added to a set that exists: converts it at once if so many members would
    /// not fit, instead of half-way.
    pub fn expect(&mut self, count: usize, limits: &SetLimits) {
        let too_many = match &self.repr {
            Repr::Ints(_) => count > limits.intset_entries,
            Repr::Pack(_) => count > limits.listpack_entries,
            Repr::Table(_) => false,
        };
        if too_many {
            self.convert_to_table(count);
        }
    }

    /// Turns the set into an intset if its members are integers and not too many, as is due when a command has built it
    /// as a whole.
    pub fn try_intset(&mut self, limits: &SetLimits) {
        if matches!(self.repr, Repr::Ints(_)) || self.len() > limits.intset_max() {
            return;
        }
        let mut ints = Intset::new();
        for member in self.iter() {
            let Some(value) = member.to_int() else { return };
            ints.insert(value);
        }
        self.repr = Repr::Ints(ints);
    }

    /// Removes a member. False if it was not there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.repr {
            Repr::Ints(ints) => canonical_int(member).is_some_and(|value| ints.remove(value)),
            Repr::Pack(pack) => {
                let found = find_packed(pack, member);
                if let Some(pos) = found {
                    pack.remove(pos);
                }
                found.is_some()
            }
            Repr::Table(table) => table.remove(member).is_some(),
        }
    }
}

fn find_packed(pack: &Listpack, member: &[u8]) -> Option<listpack::Pos> {
    pack.find(member, pack.first()?, 0)
}

fn add_to_table(table: &mut Table<Thin>, member: &[u8]) -> bool {
    let hash = table.hash_of(member);
    if table.find_hashed(hash, member).is_some() {
        return false;
    }
    table.insert_unique_hashed(hash, Thin::new(member));
    true
}

/// Walking and choosing.
impl Set {
    /// All members: ascending in an intset, in the order of insertion in a listpack, else in no order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        let source = match &self.repr {
            Repr::Ints(ints) => Source::Ints(ints.iter()),
            Repr::Pack(pack) => Source::Pack(pack.iter()),
            Repr::Table(table) => Source::Table(table.iter()),
        };
        Iter { source, left: self.len() }
    }

    /// Reports about `count` members and returns the next cursor, 0 at the end; begin with 0. The compact encodings give
    /// everything at once. For the guarantee see [`Table::scan`].
    pub fn scan(&self, cursor: u64, count: usize, mut report: impl FnMut(Item<'_>)) -> u64 {
        let Repr::Table(table) = &self.repr else {
            self.iter().for_each(report);
            return 0;
        };
        table.scan_some(cursor, count, |member| report(Item::Str(member.as_slice())))
    }

    /// A member, each equally likely.
    #[must_use]
    pub fn random(&self, rng: &mut Rand) -> Option<Item<'_>> {
        match &self.repr {
            Repr::Ints(ints) => ints.random(rng).map(Item::Int),
            Repr::Pack(pack) => pack.random(rng).map(|pos| pack.get(pos)),
            Repr::Table(table) => table.random(rng).map(|member| Item::Str(member.as_slice())),
        }
    }

    /// Takes a member out, each equally likely.
    pub fn pop(&mut self, rng: &mut Rand) -> Option<Popped> {
        match &mut self.repr {
            Repr::Ints(ints) => {
                let value = ints.random(rng)?;
                ints.remove(value);
                Some(Popped::Int(value))
            }
            Repr::Pack(pack) => {
                let pos = pack.random(rng)?;
                let popped = pack.get(pos).into();
                pack.remove(pos);
                Some(popped)
            }
            Repr::Table(table) => table.pop_random(rng).map(Popped::Bytes),
        }
    }

    /// Reports `count` different members (all, if there are not so many), each such choice about equally likely, in no
    /// particular order. What SRANDMEMBER with a positive count wants.
    pub fn sample_distinct(&self, rng: &mut Rand, count: usize, mut report: impl FnMut(Item<'_>)) {
        match &self.repr {
            Repr::Table(table) => {
                table.sample_distinct(rng, count, |member| report(Item::Str(member.as_slice())));
            }
            _ => select(self.iter(), rng, count, report),
        }
    }
}

/// Encoding and memory.
impl Set {
    /// The encoding's name for OBJECT ENCODING.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Ints(_) => "intset",
            Repr::Pack(_) => "listpack",
            Repr::Table(_) => "hashtable",
        }
    }

    /// The intset, if that is the encoding: what an RDB file stores.
    #[must_use]
    pub fn intset(&self) -> Option<&Intset> {
        if let Repr::Ints(ints) = &self.repr { Some(ints) } else { None }
    }

    /// The listpack, if that is the encoding: what an RDB file stores.
    #[must_use]
    pub fn listpack(&self) -> Option<&Listpack> {
        if let Repr::Pack(pack) = &self.repr { Some(pack) } else { None }
    }

    /// The table, if that is the encoding.
    #[must_use]
    pub fn table(&self) -> Option<&Table<Thin>> {
        if let Repr::Table(table) = &self.repr { Some(table) } else { None }
    }

    /// Heap bytes owned: for a big table an estimate from some members.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        match &self.repr {
            Repr::Ints(ints) => ints.mem_size(),
            Repr::Pack(pack) => pack.mem_size(),
            Repr::Table(table) => {
                let measured = table.len().min(MEASURED_MEMBERS);
                let bytes: usize = table.iter().take(measured).map(Thin::alloc_size).sum();
                let members = bytes as f64 / measured.max(1) as f64 * table.len() as f64;
                size_of::<Table<Thin>>() + table.mem_size() + members as usize
            }
        }
    }

    /// Lets a table that is being resized move up to `buckets` buckets. Says whether there is more to do.
    pub fn rehash_step(&mut self, buckets: usize) -> bool {
        if let Repr::Table(table) = &mut self.repr { table.rehash_step(buckets) } else { false }
    }

    /// For taking a hash table apart bit by bit. The other encodings are dropped at once and give `None`.
    #[must_use]
    pub fn into_drain(self) -> Option<Drain<Thin>> {
        if let Repr::Table(table) = self.repr { Some(table.into_drain()) } else { None }
    }
}

impl Clone for Set {
    fn clone(&self) -> Self {
        let repr = match &self.repr {
            Repr::Ints(ints) => Repr::Ints(ints.clone()),
            Repr::Pack(pack) => Repr::Pack(pack.clone()),
            Repr::Table(table) => {
                let mut copy = Box::new(Table::with_capacity(self.seed, table.len()));
                table.iter().for_each(|member| copy.insert_unique(member.clone()));
                Repr::Table(copy)
            }
        };
        Self { repr, seed: self.seed }
    }
}

/// All members of a set, see [`Set::iter`].
pub struct Iter<'a> {
    source: Source<'a>,
    left: usize,
}

enum Source<'a> {
    Ints(intset::Iter<'a>),
    Pack(listpack::Iter<'a>),
    Table(table::Iter<'a, Thin>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        self.left = self.left.saturating_sub(1);
        match &mut self.source {
            Source::Ints(ints) => ints.next().map(Item::Int),
            Source::Pack(pack) => pack.next(),
            Source::Table(table) => table.next().map(|member| Item::Str(member.as_slice())),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use std::collections::BTreeSet;

    const SEED: Seed = Seed(11);
    const LIMITS: SetLimits = SetLimits { intset_entries: 8, listpack_entries: 6, listpack_value: 10 };

    fn set_of(members: &[&str]) -> Set {
        let mut set = Set::for_members(members[0].as_bytes(), members.len(), &LIMITS, SEED);
        for member in members {
            set.add(member.as_bytes(), &LIMITS);
        }
        set
    }

    fn members(set: &Set) -> BTreeSet<Vec<u8>> {
        set.iter().map(|item| item.to_vec()).collect()
    }

    #[test]
    fn begins_in_the_encoding_that_suits() {
        let encoding =
            |first: &str, count| Set::for_members(first.as_bytes(), count, &LIMITS, SEED).encoding();
        assert_eq!(encoding("1", 8), "intset");
        assert_eq!(encoding("1", 9), "hashtable");
        assert_eq!(encoding("01", 6), "listpack");
        assert_eq!(encoding("a", 7), "hashtable");
        assert_eq!(Set::new(SEED).mem_size(), 0);
    }

    #[test]
    fn converts_as_redis_does() {
        let mut ints = set_of(&["1", "2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!(ints.encoding(), "intset");
        assert!(!ints.add(b"8", &LIMITS) && ints.add(b"9", &LIMITS));
        assert_eq!(ints.encoding(), "hashtable", "too many integers never become a listpack");
        let mut few = set_of(&["1", "2", "3", "4", "5"]);
        assert!(few.add(b"x", &LIMITS));
        assert_eq!((few.encoding(), few.len()), ("listpack", 6));
        assert!(!few.add(b"3", &LIMITS), "an integer is found in a listpack");
        assert!(few.add(b"6", &LIMITS));
        assert_eq!((few.encoding(), few.len()), ("hashtable", 7));
        let mut full = set_of(&["1", "2", "3", "4", "5", "6"]);
        assert!(full.add(b"x", &LIMITS));
        assert_eq!(full.encoding(), "hashtable", "six and one do not fit a listpack");
        let mut long_int = set_of(&["12345678901"]);
        assert!(long_int.add(b"x", &LIMITS));
        assert_eq!(long_int.encoding(), "hashtable", "the integer is too long for a listpack");
        let mut long = set_of(&["a"]);
        assert!(long.add(b"0123456789", &LIMITS));
        assert_eq!(long.encoding(), "listpack");
        assert!(long.add(b"0123456789a", &LIMITS));
        assert_eq!(long.encoding(), "hashtable");
        let mut expecting = set_of(&["a"]);
        expecting.expect(6, &LIMITS);
        assert_eq!(expecting.encoding(), "listpack");
        expecting.expect(7, &LIMITS);
        assert_eq!((expecting.encoding(), members(&expecting).len()), ("hashtable", 1));
    }

    #[test]
    fn becomes_an_intset_on_request() {
        let mut set = set_of(&["x", "1", "2", "-3"]);
        set.try_intset(&LIMITS);
        assert_eq!(set.encoding(), "listpack");
        set.remove(b"x");
        set.try_intset(&LIMITS);
        assert_eq!((set.encoding(), set.len()), ("intset", 3));
        assert!(set.contains(b"-3") && !set.contains(b"x"));
    }

    #[test]
    fn loads_what_is_valid() {
        let mut pack = Listpack::new();
        for n in 0..6 {
            pack.push_back_int(n);
        }
        let set = Set::from_listpack(pack.clone(), &LIMITS, SEED).expect("distinct");
        assert_eq!((set.encoding(), set.len()), ("listpack", 6));
        pack.push_back(b"x");
        let set = Set::from_listpack(pack.clone(), &LIMITS, SEED).expect("distinct");
        assert_eq!((set.encoding(), set.len()), ("hashtable", 7));
        pack.push_back(b"3");
        assert!(Set::from_listpack(pack, &LIMITS, SEED).is_none());
        let mut ints = Intset::new();
        (0..9).for_each(|n| assert!(ints.insert(n)));
        assert_eq!(Set::from_intset(ints, &LIMITS, SEED).encoding(), "hashtable");
    }

    #[test]
    fn samples_are_distinct_and_even() {
        let mut rng = Rand::seed_from_u64(3);
        let names: Vec<String> = (0..60).map(|n| format!("m{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (set, count) in [(set_of(&names), 5), (set_of(&names), 50), (set_of(&["1", "2", "3"]), 2)] {
            let mut hits = std::collections::BTreeMap::<Vec<u8>, u32>::new();
            let rounds = 4000;
            for _ in 0..rounds {
                let mut seen = BTreeSet::new();
                set.sample_distinct(&mut rng, count, |item| assert!(seen.insert(item.to_vec())));
                assert_eq!(seen.len(), count);
                seen.into_iter().for_each(|member| *hits.entry(member).or_default() += 1);
            }
            let mean = f64::from(rounds) * count as f64 / set.len() as f64;
            let spread = 6.0 * mean.sqrt();
            assert!(hits.values().all(|&n| (f64::from(n) - mean).abs() < spread), "{mean} {hits:?}");
        }
        let mut all = BTreeSet::new();
        set_of(&names).sample_distinct(&mut rng, 1000, |item| assert!(all.insert(item.to_vec())));
        assert_eq!(all.len(), 60);
    }

    #[test]
    fn scan_reports_everything() {
        let names: Vec<String> = (0..500).map(|n| format!("m{n}")).collect();
        let set = set_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let (mut seen, mut cursor, mut calls) = (BTreeSet::new(), 0, 0);
        loop {
            cursor = set.scan(cursor, 10, |item| assert!(seen.insert(item.to_vec())));
            calls += 1;
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(seen.len(), 500);
        assert!((25..=50).contains(&calls), "{calls} calls");
        let mut few = 0;
        assert_eq!(set_of(&["1", "2"]).scan(77, 1, |_| few += 1), 0);
        assert_eq!(few, 2);
    }

    #[test]
    fn behaves_like_a_set() {
        for seed in 0..30 {
            let mut rng = Rand::seed_from_u64(seed);
            let limits = SetLimits { intset_entries: rng.random_range(0..20), ..LIMITS };
            let text_percent = [0, 5, 50][rng.random_range(0..3)];
            let mut set = Set::for_members(b"1", 1, &limits, SEED);
            let mut model = BTreeSet::new();
            for step in 0..600 {
                let context = format!("seed {seed} step {step}");
                let number = rng.random_range(-20..20i64).pow(rng.random_range(1..4));
                let prefix = if rng.random_range(0..100) < text_percent { "0" } else { "" };
                let member = format!("{prefix}{number}").into_bytes();
                match rng.random_range(0..10) {
                    0..5 => assert_eq!(set.add(&member, &limits), model.insert(member), "{context}"),
                    5..8 => assert_eq!(set.remove(&member), model.remove(&member), "{context}"),
                    8 => {
                        let popped = set.pop(&mut rng).map(|popped| popped.item().to_vec());
                        assert!(popped.is_none_or(|member| model.remove(&member)), "{context}");
                    }
                    _ => assert_eq!(set.contains(&member), model.contains(&member), "{context}"),
                }
                assert_eq!(set.len(), model.len(), "{context}");
                let random = set.random(&mut rng).map(|item| item.to_vec());
                assert!(random.map_or(model.is_empty(), |member| model.contains(&member)), "{context}");
            }
            assert_eq!(members(&set), model, "seed {seed}");
            assert_eq!(members(&set.clone()), model, "seed {seed}");
            let items_known = set.iter().all(|item| set.contains_item(item));
            assert!(items_known, "seed {seed}");
        }
    }

    #[test]
    fn set_operations_take_items() {
        let from = set_of(&["1", "2", "300"]);
        let mut ints = Set::new_intset(SEED);
        let mut table = Set::new_table(SEED, 3);
        for item in from.iter() {
            assert!(ints.add_item(item, &LIMITS) && !ints.add_item(item, &LIMITS));
            assert!(table.add_item(item, &LIMITS) && table.contains_item(item));
        }
        assert_eq!((members(&ints), ints.encoding()), (members(&from), "intset"));
        assert_eq!((members(&table), table.encoding()), (members(&from), "hashtable"));
        assert!(table.mem_size() > 3 * 5);
        let mut drained = 0;
        let mut drain = table.into_drain().expect("a hash table");
        while drain.step(1, |_| drained += 1) {}
        assert_eq!(drained, 3);
        assert!(ints.into_drain().is_none());
    }
}
