//! Hashes: distinct fields, each with a value and perhaps an expiry time. Touches `types` and `base::Rand`.
//!
//! Three encodings under Redis's names, chosen by its rules:
//! - `listpack`, while there are no more than `listpack_entries` fields and neither names nor values are longer than
//!   `listpack_value`: `field value field value …` in the order of insertion;
//! - `listpackex`, the same from the moment at which a field is given an expiry time: `field value expiry …`, ordered by
//!   expiry, with those without (0) at the end;
//! - `hashtable` beyond: a table with one allocation for each field, see `field`. An index orders those that expire.
//!
//! A hash changes its encoding only in the order above. Times are Unix times in ms. Nothing here looks at the clock: a field
//! that is due stays until [`Hash::pop_expired`] takes it out, which the caller is to do before it looks.

use std::collections::BTreeSet;

use rand::Rng;

use super::item::Item;
use super::listpack::{self, Listpack, Pos};
use super::table::{self, Drain, Element, Seed, Table, select};
use crate::base::Rand;

#[path = "hash/field.rs"]
mod field;
use field::Field;

/// How large a hash may be in its compact encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashLimits {
    /// `hash-max-listpack-entries`: fields.
    pub listpack_entries: usize,
    /// `hash-max-listpack-value`: bytes of a name or a value.
    pub listpack_value: usize,
}

impl Default for HashLimits {
    fn default() -> Self {
        Self { listpack_entries: 512, listpack_value: 64 }
    }
}

/// How many fields of a table are measured to estimate the memory of all.
const MEASURED_FIELDS: usize = 64;
/// Bytes of the expiry index for each field in it, as `BTreeSet` spends them with nodes two thirds full.
const INDEX_ENTRY_BYTES: usize = 26;

/// A hash.
pub struct Hash {
    repr: Repr,
    /// For the table of the `hashtable` encoding.
    seed: Seed,
}

enum Repr {
    /// Field, value.
    Pack(Listpack),
    /// Field, value, expiry or 0.
    PackEx(Listpack),
    Table(Box<Fields>),
}

/// The `hashtable` encoding.
struct Fields {
    table: Table<Field>,
    /// (expiry, hash of the name) of every field that has an expiry. Two fields may share an entry, in theory.
    due: BTreeSet<(i64, u64)>,
}

/// A field as the compact encodings or the table hold it: name, value, expiry.
pub type Entry<'a> = (Item<'a>, Item<'a>, Option<i64>);

/// Making one.
impl Hash {
    /// An empty hash, as a listpack. Allocates nothing.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { repr: Repr::Pack(Listpack::new()), seed }
    }

    /// A hash from a loaded listpack of fields and values, or of fields, values and expiry times if `with_expiry`; converted
    /// if it is beyond the limits or out of order. `None` if the entries do not come in such groups, or a field occurs twice.
    #[must_use]
    pub fn from_listpack(pack: Listpack, with_expiry: bool, limits: &HashLimits, seed: Seed) -> Option<Self> {
        let group = if with_expiry { 3 } else { 2 };
        if !pack.len().is_multiple_of(group) {
            return None;
        }
        let mut names = Table::with_capacity(seed, pack.len() / group);
        let mut last = i64::MIN;
        let mut ordered = true;
        let mut items = pack.iter();
        while let (Some(name), Some(_)) = (items.next(), items.next()) {
            if names.insert(Field::new(name.bytes(&mut itoa::Buffer::new()), b"", None)).is_some() {
                return None;
            }
            if with_expiry {
                let Some(Item::Int(at @ 0..)) = items.next() else { return None };
                let at = if at == 0 { i64::MAX } else { at };
                ordered &= at >= last;
                last = at;
            }
        }
        let mut hash = Self { repr: if with_expiry { Repr::PackEx(pack) } else { Repr::Pack(pack) }, seed };
        if !ordered || hash.len() > limits.listpack_entries {
            hash.convert_to_table(0);
        }
        Some(hash)
    }

    /// To be called before `count` fields are set: converts the hash at once if so many would not fit, instead of half-way.
    pub fn expect(&mut self, count: usize, limits: &HashLimits) {
        if count > limits.listpack_entries {
            self.convert_to_table(count);
        }
    }
}

/// Fields and values.
impl Hash {
    /// The listpack and how many entries make a field.
    fn pack(&self) -> Option<(&Listpack, usize)> {
        match &self.repr {
            Repr::Pack(pack) => Some((pack, 2)),
            Repr::PackEx(pack) => Some((pack, 3)),
            Repr::Table(_) => None,
        }
    }

    /// The number of fields.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Pack(pack) => pack.len() / 2,
            Repr::PackEx(pack) => pack.len() / 3,
            Repr::Table(fields) => fields.table.len(),
        }
    }

    /// Whether there are no fields.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a field.
    #[inline]
    #[must_use]
    pub fn get(&self, field: &[u8]) -> Option<Item<'_>> {
        let (pack, group) = match &self.repr {
            Repr::Table(fields) => return fields.table.find(field).map(|found| Item::Str(found.value())),
            Repr::Pack(pack) => (pack, 2),
            Repr::PackEx(pack) => (pack, 3),
        };
        let pos = find_packed(pack, group, field)?;
        Some(pack.get(pack.next(pos)?))
    }

    /// Whether there is such a field.
    #[inline]
    #[must_use]
    pub fn contains(&self, field: &[u8]) -> bool {
        match &self.repr {
            Repr::Table(fields) => fields.table.find(field).is_some(),
            Repr::Pack(pack) => find_packed(pack, 2, field).is_some(),
            Repr::PackEx(pack) => find_packed(pack, 3, field).is_some(),
        }
    }

    /// Sets a field to a value; it loses its expiry time, if it had one. True if the field is new.
    #[inline]
    pub fn set(&mut self, field: &[u8], value: &[u8], limits: &HashLimits) -> bool {
        self.put(field, value, false, limits)
    }

    /// As [`set`](Self::set), but the field keeps its expiry time.
    #[inline]
    pub fn set_keeping_expiry(&mut self, field: &[u8], value: &[u8], limits: &HashLimits) -> bool {
        self.put(field, value, true, limits)
    }

    fn put(&mut self, field: &[u8], value: &[u8], keep_expiry: bool, limits: &HashLimits) -> bool {
        if let Repr::Table(fields) = &mut self.repr {
            return fields.put(field, value, keep_expiry);
        }
        let longest = field.len().max(value.len());
        let (pack, group) = match &mut self.repr {
            Repr::Pack(pack) => (pack, 2),
            Repr::PackEx(pack) => (pack, 3),
            Repr::Table(_) => unreachable!("returned above"),
        };
        if longest > limits.listpack_value || !pack.safe_to_add(field.len() + value.len()) {
            return self.convert_to_table(1).put(field, value, keep_expiry);
        }
        let created = put_packed(pack, group, field, value, keep_expiry);
        if self.len() > limits.listpack_entries {
            self.convert_to_table(0);
        }
        created
    }

    /// Turns any encoding into a hash table with room for `more` fields.
    fn convert_to_table(&mut self, more: usize) -> &mut Fields {
        if !matches!(self.repr, Repr::Table(_)) {
            let mut fields = Box::new(Fields {
                table: Table::with_capacity(self.seed, self.len() + more),
                due: BTreeSet::new(),
            });
            for (name, value, expiry) in self.entries() {
                let (mut name_buf, mut value_buf) = (itoa::Buffer::new(), itoa::Buffer::new());
                fields.add_new(name.bytes(&mut name_buf), value.bytes(&mut value_buf), expiry);
            }
            self.repr = Repr::Table(fields);
        }
        match &mut self.repr {
            Repr::Table(fields) => fields,
            _ => unreachable!("converted above"),
        }
    }

    /// Removes a field. False if there was none.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        let (pack, group) = match &mut self.repr {
            Repr::Table(fields) => return fields.remove(field),
            Repr::Pack(pack) => (pack, 2),
            Repr::PackEx(pack) => (pack, 3),
        };
        let found = find_packed(pack, group, field);
        if let Some(pos) = found {
            pack.remove_n(pos, group);
        }
        found.is_some()
    }
}

fn find_packed(pack: &Listpack, group: usize, field: &[u8]) -> Option<Pos> {
    pack.find(field, pack.first()?, group - 1)
}

/// Sets a field in a pack. True if it is new.
fn put_packed(pack: &mut Listpack, group: usize, field: &[u8], value: &[u8], keep_expiry: bool) -> bool {
    let Some(pos) = find_packed(pack, group, field) else {
        pack.push_back(field);
        pack.push_back(value);
        if group == 3 {
            pack.push_back_int(0);
        }
        return true;
    };
    let value_pos = pack.next(pos).expect("a value follows its field");
    if keep_expiry || group == 2 || expiry_behind(pack, value_pos).is_none() {
        pack.replace(value_pos, value);
    } else {
        pack.remove_n(pos, 3);
        pack.push_back(field);
        pack.push_back(value);
        pack.push_back_int(0);
    }
    false
}

/// The expiry time that follows a value in a pack with expiry times.
fn expiry_behind(pack: &Listpack, value: Pos) -> Option<i64> {
    pack.next(value).and_then(|pos| expiry_of_item(pack.get(pos)))
}

/// The expiry time that an item spells; 0 is none.
fn expiry_of_item(item: Item<'_>) -> Option<i64> {
    item.to_int().filter(|&at| at != 0)
}

impl Fields {
    fn add_new(&mut self, name: &[u8], value: &[u8], expiry: Option<i64>) {
        let hash = self.table.hash_of(name);
        self.table.insert_unique_hashed(hash, Field::new(name, value, expiry));
        self.due.extend(expiry.map(|at| (at, hash)));
    }

    fn put(&mut self, name: &[u8], value: &[u8], keep_expiry: bool) -> bool {
        let hash = self.table.hash_of(name);
        let Some(found) = self.table.find_mut_hashed(hash, name) else {
            self.table.insert_unique_hashed(hash, Field::new(name, value, None));
            return true;
        };
        found.set_value(value);
        if !keep_expiry && let Some(old) = found.expiry() {
            found.set_expiry(None);
            self.forget_due(old, hash);
        }
        false
    }

    fn remove(&mut self, name: &[u8]) -> bool {
        let hash = self.table.hash_of(name);
        let Some(removed) = self.table.remove_hashed(hash, name) else { return false };
        if let Some(old) = removed.expiry() {
            self.forget_due(old, hash);
        }
        true
    }

    fn set_expiry(&mut self, name: &[u8], expiry: Option<i64>) -> bool {
        let hash = self.table.hash_of(name);
        let Some(found) = self.table.find_mut_hashed(hash, name) else { return false };
        let old = found.expiry();
        found.set_expiry(expiry);
        if let Some(old) = old {
            self.forget_due(old, hash);
        }
        self.due.extend(expiry.map(|at| (at, hash)));
        true
    }

    /// A field with an expiry time and a name with this hash.
    fn is_due(table: &Table<Field>, field: &Field, (at, hash): (i64, u64)) -> bool {
        field.expiry() == Some(at) && table.hash_of(field.key()) == hash
    }

    /// Takes an entry out of the index, unless another field shares it.
    fn forget_due(&mut self, at: i64, hash: u64) {
        let table = &self.table;
        if table.find_where(hash, |field| Self::is_due(table, field, (at, hash))).is_none() {
            self.due.remove(&(at, hash));
        }
    }

    fn pop_expired(&mut self, now_ms: i64, max: usize, report: &mut impl FnMut(Item<'_>)) -> usize {
        let mut popped = 0;
        while popped < max
            && let Some(&due) = self.due.first().filter(|due| due.0 < now_ms)
        {
            let table = &self.table;
            let found = table.find_where(due.1, |field| Self::is_due(table, field, due));
            let Some(name) = found.map(|field| field.key().to_vec()) else {
                self.due.remove(&due);
                continue;
            };
            self.remove(&name);
            report(Item::Str(&name));
            popped += 1;
        }
        popped
    }
}

/// Expiry of fields.
impl Hash {
    /// Whether a field may have an expiry time. If not, there is nothing to do about expiry.
    #[inline]
    #[must_use]
    pub fn may_expire(&self) -> bool {
        match &self.repr {
            Repr::Pack(_) => false,
            Repr::PackEx(_) => true,
            Repr::Table(fields) => !fields.due.is_empty(),
        }
    }

    /// The expiry time of a field: outer `None` if there is no such field, inner if it does not expire.
    #[must_use]
    pub fn expire_of(&self, field: &[u8]) -> Option<Option<i64>> {
        match &self.repr {
            Repr::Pack(pack) => find_packed(pack, 2, field).map(|_| None),
            Repr::PackEx(pack) => {
                let value = pack.next(find_packed(pack, 3, field)?)?;
                Some(expiry_behind(pack, value))
            }
            Repr::Table(fields) => fields.table.find(field).map(Field::expiry),
        }
    }

    /// Gives a field an expiry time above 0, or takes it away. False if there is no such field.
    pub fn set_expire(&mut self, field: &[u8], at_ms: Option<i64>) -> bool {
        debug_assert!(at_ms.is_none_or(|at| at > 0));
        if let (Repr::Pack(pack), Some(_)) = (&self.repr, at_ms)
            && find_packed(pack, 2, field).is_some()
        {
            self.repr = Repr::PackEx(with_expiries(pack));
        }
        match &mut self.repr {
            Repr::Table(fields) => fields.set_expiry(field, at_ms),
            Repr::Pack(pack) => find_packed(pack, 2, field).is_some(),
            Repr::PackEx(pack) => {
                let found = find_packed(pack, 3, field);
                if let Some(pos) = found {
                    move_packed(pack, pos, field, at_ms);
                }
                found.is_some()
            }
        }
    }

    /// When the next field expires.
    #[must_use]
    pub fn min_expire(&self) -> Option<i64> {
        match &self.repr {
            Repr::Pack(_) => None,
            Repr::PackEx(pack) => pack.seek(2).and_then(|pos| expiry_of_item(pack.get(pos))),
            Repr::Table(fields) => fields.due.first().map(|due| due.0),
        }
    }

    /// Takes out fields that expired before `now_ms`, up to `max` of them, and reports their names, the earliest first.
    /// Returns how many.
    pub fn pop_expired(&mut self, now_ms: i64, max: usize, mut report: impl FnMut(Item<'_>)) -> usize {
        match &mut self.repr {
            Repr::Pack(_) => 0,
            Repr::Table(fields) => fields.pop_expired(now_ms, max, &mut report),
            Repr::PackEx(pack) => {
                let mut count = 0;
                let due = |expiry: Option<i64>| expiry.is_some_and(|at| at < now_ms);
                for (name, _, _) in Groups::new(pack, 3).take_while(|entry| due(entry.2)).take(max) {
                    report(name);
                    count += 1;
                }
                pack.remove_range(0, 3 * count);
                count
            }
        }
    }
}

/// The pack with no expiry time behind each field and value.
fn with_expiries(pack: &Listpack) -> Listpack {
    let mut with = Listpack::new();
    for (name, value, _) in Groups::new(pack, 2) {
        with.push_back_item(name);
        with.push_back_item(value);
        with.push_back_int(0);
    }
    with
}

/// Gives the field at `pos` an expiry time, and moves it to where that belongs: in front of the first that is as late.
fn move_packed(pack: &mut Listpack, pos: Pos, field: &[u8], expiry: Option<i64>) {
    let value = pack.next(pos).map(|pos| pack.get(pos).to_vec()).unwrap_or_default();
    pack.remove_n(pos, 3);
    let at = expiry.unwrap_or(0);
    let later = |other: Option<i64>| other.is_none_or(|other| other >= at);
    let behind = Groups::new(pack, 3).take_while(|entry| expiry.is_none() || !later(entry.2)).count();
    match pack.seek(3 * behind as i64) {
        Some(before) => {
            let name_pos = pack.insert_before(before, field);
            let value_pos = pack.insert_after(name_pos, &value);
            pack.insert_after(value_pos, itoa::Buffer::new().format(at).as_bytes());
        }
        None => {
            pack.push_back(field);
            pack.push_back(&value);
            pack.push_back_int(at);
        }
    }
}

/// Walking and choosing.
impl Hash {
    /// All fields and their values.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.entries())
    }

    /// All fields with values and expiry times.
    #[must_use]
    pub fn entries(&self) -> Entries<'_> {
        Entries(match (&self.repr, self.pack()) {
            (Repr::Table(fields), _) => Source::Table(fields.table.iter()),
            (_, Some((pack, group))) => Source::Pack(Groups::new(pack, group)),
            (_, None) => unreachable!("what is no table is a pack"),
        })
    }

    /// Reports about `count` fields with their values and returns the next cursor, 0 at the end; begin with 0. The compact
    /// encodings give everything at once. For the guarantee see [`Table::scan`].
    pub fn scan(&self, cursor: u64, count: usize, mut report: impl FnMut(Item<'_>, Item<'_>)) -> u64 {
        let Repr::Table(fields) = &self.repr else {
            self.iter().for_each(|(name, value)| report(name, value));
            return 0;
        };
        fields.table.scan_some(cursor, count, |field| {
            let (name, value) = field.pair();
            report(Item::Str(name), Item::Str(value));
        })
    }

    /// A field and its value, each equally likely.
    #[must_use]
    pub fn random(&self, rng: &mut Rand) -> Option<(Item<'_>, Item<'_>)> {
        if let Repr::Table(fields) = &self.repr {
            return fields.table.random(rng).map(as_items);
        }
        let (pack, group) = self.pack()?;
        let index = if self.is_empty() { return None } else { rng.random_range(0..self.len()) };
        let name = pack.seek((index * group) as i64)?;
        Some((pack.get(name), pack.get(pack.next(name)?)))
    }

    /// Reports `count` different fields (all, if there are not so many), each such choice about equally likely, in no
    /// particular order. What HRANDFIELD with a positive count wants.
    pub fn sample_distinct(&self, rng: &mut Rand, count: usize, mut report: impl FnMut(Item<'_>, Item<'_>)) {
        match &self.repr {
            Repr::Table(fields) => fields.table.sample_distinct(rng, count, |field| {
                let (name, value) = as_items(field);
                report(name, value);
            }),
            _ => select(self.iter(), rng, count, |(name, value)| report(name, value)),
        }
    }
}

fn as_items(field: &Field) -> (Item<'_>, Item<'_>) {
    let (name, value) = field.pair();
    (Item::Str(name), Item::Str(value))
}

/// Encoding and memory.
impl Hash {
    /// The encoding's name for OBJECT ENCODING.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Pack(_) => "listpack",
            Repr::PackEx(_) => "listpackex",
            Repr::Table(_) => "hashtable",
        }
    }

    /// The listpack and whether expiry times are in it, if that is the encoding: what an RDB file stores.
    #[must_use]
    pub fn listpack(&self) -> Option<(&Listpack, bool)> {
        self.pack().map(|(pack, group)| (pack, group == 3))
    }

    /// Counts of the table for people, if that is the encoding. Visits every bucket.
    #[must_use]
    pub fn table_stats(&self) -> Option<Vec<table::TableStats>> {
        if let Repr::Table(fields) = &self.repr { Some(fields.table.stats()) } else { None }
    }

    /// Heap bytes owned: for a big table an estimate from some fields.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        let fields = match &self.repr {
            Repr::Pack(pack) | Repr::PackEx(pack) => return pack.mem_size(),
            Repr::Table(fields) => fields,
        };
        let table = &fields.table;
        let measured = table.len().min(MEASURED_FIELDS);
        let bytes: usize = table.iter().take(measured).map(Field::alloc_size).sum();
        let all = (bytes as f64 / measured.max(1) as f64 * table.len() as f64) as usize;
        size_of::<Fields>() + table.mem_size() + all + fields.due.len() * INDEX_ENTRY_BYTES
    }

    /// Lets a table that is being resized move up to `buckets` buckets. Says whether there is more to do.
    pub fn rehash_step(&mut self, buckets: usize) -> bool {
        if let Repr::Table(fields) = &mut self.repr { fields.table.rehash_step(buckets) } else { false }
    }

    /// For taking a hash table apart bit by bit. The other encodings are dropped at once and give `None`.
    #[must_use]
    pub fn into_drain(self) -> Option<HashDrain> {
        let Repr::Table(fields) = self.repr else { return None };
        let Fields { table, due } = *fields;
        Some(HashDrain { fields: table.into_drain(), due })
    }
}

impl Clone for Hash {
    fn clone(&self) -> Self {
        let repr = match &self.repr {
            Repr::Pack(pack) => Repr::Pack(pack.clone()),
            Repr::PackEx(pack) => Repr::PackEx(pack.clone()),
            Repr::Table(fields) => {
                let mut table = Table::with_capacity(self.seed, fields.table.len());
                fields.table.iter().for_each(|field| table.insert_unique(field.clone()));
                Repr::Table(Box::new(Fields { table, due: fields.due.clone() }))
            }
        };
        Self { repr, seed: self.seed }
    }
}

/// A hash table that is being taken apart, see [`Hash::into_drain`].
pub struct HashDrain {
    fields: Drain<Field>,
    due: BTreeSet<(i64, u64)>,
}

impl HashDrain {
    /// Fields left, or a little more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len().max(self.due.len())
    }

    /// Whether all fields are gone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops the fields of the next `buckets` buckets. Says whether there is more to do.
    pub fn step(&mut self, buckets: usize) -> bool {
        // As many as a bucket holds, so that the index is gone when the fields are.
        for _ in 0..buckets * 6 {
            self.due.pop_last();
        }
        self.fields.step(buckets, drop) || !self.due.is_empty()
    }
}

/// A pack's fields in groups of two or three entries.
struct Groups<'a> {
    items: listpack::Iter<'a>,
    group: usize,
    left: usize,
}

impl<'a> Groups<'a> {
    fn new(pack: &'a Listpack, group: usize) -> Self {
        Self { items: pack.iter(), group, left: pack.len() / group }
    }
}

impl<'a> Iterator for Groups<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        let (name, value) = (self.items.next()?, self.items.next()?);
        let expiry = if self.group == 3 { expiry_of_item(self.items.next()?) } else { None };
        self.left -= 1;
        Some((name, value, expiry))
    }
}

/// All fields of a hash with values and expiry times, see [`Hash::entries`].
pub struct Entries<'a>(Source<'a>);

enum Source<'a> {
    Pack(Groups<'a>),
    Table(table::Iter<'a, Field>),
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        match &mut self.0 {
            Source::Pack(groups) => groups.next(),
            Source::Table(fields) => fields.next().map(|field| {
                let (name, value) = as_items(field);
                (name, value, field.expiry())
            }),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Source::Pack(groups) => (groups.left, Some(groups.left)),
            Source::Table(fields) => fields.size_hint(),
        }
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// All fields of a hash and their values, see [`Hash::iter`].
pub struct Iter<'a>(Entries<'a>);

impl<'a> Iterator for Iter<'a> {
    type Item = (Item<'a>, Item<'a>);

    #[inline]
    fn next(&mut self) -> Option<(Item<'a>, Item<'a>)> {
        match &mut self.0.0 {
            Source::Pack(groups) => groups.next().map(|(name, value, _)| (name, value)),
            Source::Table(fields) => fields.next().map(as_items),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
#[path = "hash/tests.rs"]
mod tests;
