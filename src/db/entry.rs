//! One key: its name, access time, expiry and value behind one thin pointer, small strings in the same allocation.
//! Touches base and types. One of the few files with `unsafe`: it lays memory out by hand.
//!
//! ```text
//!  0         3       4        8
//!  | access  | facts | keylen | expire i64 (if it has one) | slot | key bytes | embedded value (cap bytes)
//!  | 24 bits | 8 bits| u32    |                            |
//!
//!  slot by kind:  narrow   i32                      4 bytes
//!                 integer  i64                      8 bytes
//!                 raw      Vec<u8>                 24 bytes
//!                 embedded cap u8, len u8           2 bytes, value bytes behind the key
//!                 others   List, Set, Hash or ZSet  16 or 24 bytes, which own what they hold
//! ```
//! Everything up to the slot is 8-byte aligned. An integer is narrow if it was one of 32 bits when it was stored; it
//! becomes a wide one, and stays so, when it outgrows that. The size of the allocation follows from the header, `keylen` and `cap`,
//! so it need not be stored. `cap` takes what the allocator would round up anyway, which lets a string be overwritten
//! in place by one of about the same length.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::base::alloc::class_bytes;
use crate::db::value::{EMBSTR_BYTES_MAX, Type, Value, ValueRef};
use crate::types::hash::Hash;
use crate::types::list::List;
use crate::types::set::Set;
use crate::types::table::Element;
use crate::types::zset::ZSet;

const HEADER: usize = 8;
const ALIGN: usize = 8;

/// Longest string stored inside the key's allocation.
const EMBEDDED_BYTES_MAX: usize = 192;

/// Longest key; the protocol's largest argument is far below.
const KEY_BYTES_MAX: usize = u32::MAX as usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    Int = 0,
    Raw = 1,
    Embedded = 2,
    List = 3,
    Set = 4,
    Hash = 5,
    ZSet = 6,
    Narrow = 7,
}

const KIND_MASK: u8 = 0x0f;
const HAS_EXPIRE: u8 = 0x10;
/// The facts that decide where things are.
const LAYOUT_MASK: u8 = KIND_MASK | HAS_EXPIRE;
/// An embedded string that an edit in place made: its encoding is `raw`, not `embstr`.
const NAMED_RAW: u8 = 0x20;

const _: () = assert!(std::mem::size_of::<Vec<u8>>() == 24);
const _: () = assert!(EMBEDDED_BYTES_MAX + ALIGN <= u8::MAX as usize);
const _: () = assert!(align_of::<List>() <= ALIGN && align_of::<Set>() <= ALIGN);
const _: () = assert!(align_of::<Hash>() <= ALIGN && align_of::<ZSet>() <= ALIGN);

/// Where the key begins, by the facts under `LAYOUT_MASK`: looked up for every key that is compared.
const KEY_OFFSETS: [u8; LAYOUT_MASK as usize + 1] = {
    let mut offsets = [0; LAYOUT_MASK as usize + 1];
    let mut facts = 0;
    while facts < offsets.len() {
        offsets[facts] = (slot_offset(facts as u8) + slot_size(kind_of(facts as u8))) as u8;
        facts += 1;
    }
    offsets
};

/// A key with its value. Owns both.
pub struct KeyEntry(NonNull<u8>);

/// A reference to an entry that some table of keys owns, for an index beside that table. It is as long as a pointer
/// and does not keep the entry alive: whoever owns the index removes or renews the reference before the entry moves
/// or goes away. [`super::keyspace::Db`] is the only user.
#[derive(Clone, Copy)]
pub struct EntryRef(NonNull<u8>);

// SAFETY: the pointer is unique to the entry (or, for a reference, only followed by the owner of the entry), and what
// it leads to is plain owned data.
unsafe impl Send for KeyEntry {}
// SAFETY: as above.
unsafe impl Send for EntryRef {}

impl Element for KeyEntry {
    #[inline]
    fn key(&self) -> &[u8] {
        key_at(&self.0)
    }
}

impl Element for EntryRef {
    #[inline]
    fn key(&self) -> &[u8] {
        key_at(&self.0)
    }
}

impl EntryRef {
    /// When the key expires, in milliseconds since the epoch.
    pub fn expire_ms(&self) -> Option<i64> {
        expire_at(&self.0)
    }

    /// As [`KeyEntry::access`].
    pub fn access(&self) -> u32 {
        access_at(&self.0)
    }
}

fn facts(raw: &NonNull<u8>) -> u8 {
    // SAFETY: every entry has a header of 8 initialised bytes.
    unsafe { raw.add(3).read() }
}

fn key_len(raw: &NonNull<u8>) -> usize {
    // SAFETY: the header holds the key length at offset 4, and the allocation is 8-byte aligned.
    unsafe { raw.add(4).cast::<u32>().read() as usize }
}

const fn slot_offset(facts: u8) -> usize {
    HEADER + if facts & HAS_EXPIRE != 0 { 8 } else { 0 }
}

#[inline]
fn key_offset(facts: u8) -> usize {
    KEY_OFFSETS[(facts & LAYOUT_MASK) as usize] as usize
}

const fn slot_size(kind: Kind) -> usize {
    match kind {
        Kind::Narrow => 4,
        Kind::Int => 8,
        Kind::Raw => 24,
        Kind::Embedded => 2,
        Kind::List => size_of::<List>(),
        Kind::Set => size_of::<Set>(),
        Kind::Hash => size_of::<Hash>(),
        Kind::ZSet => size_of::<ZSet>(),
    }
}

const fn kind_of(facts: u8) -> Kind {
    match facts & KIND_MASK {
        0 => Kind::Int,
        1 => Kind::Raw,
        2 => Kind::Embedded,
        3 => Kind::List,
        4 => Kind::Set,
        5 => Kind::Hash,
        6 => Kind::ZSet,
        _ => Kind::Narrow,
    }
}

#[inline]
fn key_at(raw: &NonNull<u8>) -> &[u8] {
    // SAFETY: the key bytes stand at `key_offset`, `key_len` of them, initialised at creation and never changed.
    unsafe { std::slice::from_raw_parts(raw.as_ptr().add(key_offset(facts(raw))), key_len(raw)) }
}

fn expire_at(raw: &NonNull<u8>) -> Option<i64> {
    if facts(raw) & HAS_EXPIRE == 0 {
        return None;
    }
    // SAFETY: an entry with HAS_EXPIRE has an aligned i64 behind its header.
    Some(unsafe { raw.add(HEADER).cast::<i64>().read() })
}

fn access_at(raw: &NonNull<u8>) -> u32 {
    // SAFETY: the header's first four bytes are initialised and aligned.
    unsafe { raw.cast::<u32>().read().to_le() & 0x00ff_ffff }
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGN).expect("a key and its embedded value fit the address space")
}

/// Room for an embedded value of `len` bytes: up to the next multiple of 8 of the whole allocation.
fn embedded_capacity(facts: u8, key_len: usize, len: usize) -> usize {
    let size = key_offset(facts) + key_len + len;
    len + (size.next_multiple_of(ALIGN) - size)
}

impl KeyEntry {
    /// A key with a value, without expiry. `access` is the 24-bit access clock.
    pub fn new(key: &[u8], value: Value, access: u32) -> KeyEntry {
        assert!(key.len() <= KEY_BYTES_MAX);
        build(key, value, access, None)
    }

    fn kind(&self) -> Kind {
        kind_of(facts(&self.0))
    }

    /// When the key expires, in milliseconds since the epoch.
    #[inline]
    pub fn expire_ms(&self) -> Option<i64> {
        expire_at(&self.0)
    }

    /// Whether its time is over: a key lives through the millisecond of its expiry, as in Redis.
    #[inline]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expire_ms().is_some_and(|at| at < now_ms)
    }

    /// A reference for an index beside the owning table.
    pub fn reference(&self) -> EntryRef {
        EntryRef(self.0)
    }

    /// The 24-bit access clock or LFU state.
    pub fn access(&self) -> u32 {
        access_at(&self.0)
    }

    /// Sets the 24-bit access clock or LFU state.
    #[inline]
    pub fn set_access(&mut self, access: u32) {
        let word = (access & 0x00ff_ffff) | (u32::from(facts(&self.0)) << 24);
        // SAFETY: as in `access_at`; the facts byte is written back unchanged.
        unsafe { self.0.cast::<u32>().write(word.to_le()) }
    }

    fn embedded(&self) -> (usize, usize) {
        debug_assert_eq!(self.kind(), Kind::Embedded);
        let at = slot_offset(facts(&self.0));
        // SAFETY: an embedded entry has capacity and length in its slot.
        unsafe { (self.0.add(at).read() as usize, self.0.add(at + 1).read() as usize) }
    }

    fn slot(&self) -> *mut u8 {
        // SAFETY: the slot lies inside the allocation.
        unsafe { self.0.as_ptr().add(slot_offset(facts(&self.0))) }
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> ValueRef<'_> {
        let slot = self.slot();
        // SAFETY: the kind in the header says what was written into the slot; the slot is 8-byte aligned, and the
        // returned references borrow `self`.
        unsafe {
            match self.kind() {
                Kind::Narrow => ValueRef::Int(i64::from(slot.cast::<i32>().read())),
                Kind::Int => ValueRef::Int(slot.cast::<i64>().read()),
                Kind::Raw => ValueRef::Str(&*slot.cast::<Vec<u8>>()),
                Kind::Embedded => ValueRef::Str(self.embedded_bytes()),
                Kind::List => ValueRef::List(&*slot.cast::<List>()),
                Kind::Set => ValueRef::Set(&*slot.cast::<Set>()),
                Kind::Hash => ValueRef::Hash(&*slot.cast::<Hash>()),
                Kind::ZSet => ValueRef::ZSet(&*slot.cast::<ZSet>()),
            }
        }
    }

    fn embedded_bytes(&self) -> &[u8] {
        let facts = facts(&self.0);
        let (_, len) = self.embedded();
        // SAFETY: `len` initialised value bytes stand behind the key.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(key_offset(facts) + key_len(&self.0)), len) }
    }

    /// The list, if it is one.
    pub fn list_mut(&mut self) -> Option<&mut List> {
        // SAFETY: the kind says that the slot holds this type; the borrow of `self` is exclusive.
        (self.kind() == Kind::List).then(|| unsafe { &mut *self.slot().cast::<List>() })
    }

    /// The set, if it is one.
    pub fn set_mut(&mut self) -> Option<&mut Set> {
        // SAFETY: as in `list_mut`.
        (self.kind() == Kind::Set).then(|| unsafe { &mut *self.slot().cast::<Set>() })
    }

    /// The hash, if it is one.
    pub fn hash_mut(&mut self) -> Option<&mut Hash> {
        // SAFETY: as in `list_mut`.
        (self.kind() == Kind::Hash).then(|| unsafe { &mut *self.slot().cast::<Hash>() })
    }

    /// The sorted set, if it is one.
    pub fn zset_mut(&mut self) -> Option<&mut ZSet> {
        // SAFETY: as in `list_mut`.
        (self.kind() == Kind::ZSet).then(|| unsafe { &mut *self.slot().cast::<ZSet>() })
    }

    /// Moves up to so many buckets of the collection's hash table, if it is being rehashed.
    pub fn rehash_step(&mut self, buckets: usize) {
        if let Some(set) = self.set_mut() {
            set.rehash_step(buckets);
        } else if let Some(hash) = self.hash_mut() {
            hash.rehash_step(buckets);
        } else if let Some(zset) = self.zset_mut() {
            zset.rehash_step(buckets);
        }
    }

    /// The integer, if the string is stored as one.
    #[inline]
    pub fn int(&self) -> Option<i64> {
        match self.value() {
            ValueRef::Int(n) => Some(n),
            _ => None,
        }
    }

    /// Replaces the value by an integer, as [`KeyEntry::set_value`] does.
    #[inline]
    #[must_use = "references to the old entry must be renewed before it goes"]
    pub fn set_int(&mut self, n: i64) -> Option<KeyEntry> {
        match (self.kind(), i32::try_from(n)) {
            // SAFETY: the slot of a narrow entry is an aligned i32.
            (Kind::Narrow, Ok(n)) => unsafe { self.slot().cast::<i32>().write(n) },
            // SAFETY: the slot of an integer entry is an aligned i64.
            (Kind::Int, _) => unsafe { self.slot().cast::<i64>().write(n) },
            _ => return Some(self.replace_value(Value::Int(n))),
        }
        None
    }

    /// Puts a new entry of the same key, expiry and access clock in the place of this one, which is returned.
    #[inline(never)]
    fn replace_value(&mut self, value: Value) -> KeyEntry {
        let new = build(self.key(), value, self.access(), self.expire_ms());
        std::mem::replace(self, new)
    }

    /// Turns an integer or an embedded string into a growable buffer, for [`KeyEntry::string_mut`]. Returns the old
    /// entry if this one moved, as [`KeyEntry::set_value`] does.
    pub fn make_growable(&mut self) -> Option<KeyEntry> {
        let bytes = match self.value() {
            ValueRef::Int(n) => n.to_string().into_bytes(),
            ValueRef::Str(bytes) if self.kind() == Kind::Embedded => bytes.to_vec(),
            _ => return None,
        };
        self.set_value(Value::Owned(bytes))
    }

    /// The string as a growable buffer, if it is one; see [`KeyEntry::make_growable`].
    pub fn string_mut(&mut self) -> Option<&mut Vec<u8>> {
        // SAFETY: the kind says that the slot holds a Vec; the borrow of `self` is exclusive.
        (self.kind() == Kind::Raw).then(|| unsafe { &mut *self.slot().cast::<Vec<u8>>() })
    }

    /// The encoding that OBJECT ENCODING names.
    pub fn encoding(&self) -> &'static str {
        match self.value() {
            ValueRef::Int(_) => "int",
            ValueRef::Str(bytes) => {
                let named_raw = self.kind() == Kind::Raw || facts(&self.0) & NAMED_RAW != 0;
                if named_raw || bytes.len() > EMBSTR_BYTES_MAX { "raw" } else { "embstr" }
            }
            ValueRef::List(list) => list.encoding(),
            ValueRef::Set(set) => set.encoding(),
            ValueRef::Hash(hash) => hash.encoding(),
            ValueRef::ZSet(zset) => zset.encoding(),
        }
    }

    /// The type of the value.
    pub fn type_of(&self) -> Type {
        match self.kind() {
            Kind::Narrow | Kind::Int | Kind::Raw | Kind::Embedded => Type::String,
            Kind::List => Type::List,
            Kind::Set => Type::Set,
            Kind::Hash => Type::Hash,
            Kind::ZSet => Type::ZSet,
        }
    }

    /// Replaces the value, keeping key, expiry and access clock. If the entry moved, the old one is returned, alive
    /// until references to it have been renewed.
    #[must_use = "references to the old entry must be renewed before it goes"]
    pub fn set_value(&mut self, value: Value) -> Option<KeyEntry> {
        match value {
            Value::Int(n) => self.set_int(n),
            Value::Bytes { bytes, raw }
                if self.kind() == Kind::Embedded && self.overwrite_embedded(bytes, raw) =>
            {
                None
            }
            value => Some(self.replace_value(value)),
        }
    }

    /// Puts `bytes` over the embedded value if they fit without waste.
    fn overwrite_embedded(&mut self, bytes: &[u8], raw: bool) -> bool {
        let (capacity, _) = self.embedded();
        if bytes.len() > capacity || capacity - bytes.len() > 2 * ALIGN {
            return false;
        }
        let facts = facts(&self.0);
        let named = if raw { facts | NAMED_RAW } else { facts & !NAMED_RAW };
        // SAFETY: capacity bytes behind the key belong to the value; `bytes` cannot overlap them, since it would need
        // a borrow of `self`. The facts byte keeps its kind and layout bits.
        unsafe {
            let to = self.0.as_ptr().add(key_offset(facts) + key_len(&self.0));
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.slot().add(1).write(bytes.len() as u8);
            self.0.as_ptr().add(3).write(named);
        }
        true
    }

    /// Sets or clears the expiry. Returns whether the entry moved.
    pub fn set_expire(&mut self, expire_ms: Option<i64>) -> bool {
        if let (Some(_), Some(at)) = (self.expire_ms(), expire_ms) {
            // SAFETY: an entry with an expiry has an aligned i64 behind its header.
            unsafe { self.0.add(HEADER).cast::<i64>().write(at) };
            return false;
        }
        if self.expire_ms() == expire_ms {
            return false;
        }
        let old = facts(&self.0);
        let size = self.alloc_size();
        let (from, rest) = (slot_offset(old), size - slot_offset(old));
        let new = if expire_ms.is_some() { old | HAS_EXPIRE } else { old & !HAS_EXPIRE };
        let new_size = slot_offset(new) + rest;
        // SAFETY: the new allocation has room for header, expiry and everything from the slot on, which is moved
        // bitwise; the old one is given back without dropping what moved.
        unsafe {
            let raw = allocate(new_size);
            raw.as_ptr().copy_from_nonoverlapping(self.0.as_ptr(), HEADER);
            raw.as_ptr().add(3).write(new);
            if let Some(at) = expire_ms {
                raw.add(HEADER).cast::<i64>().write(at);
            }
            raw.as_ptr().add(slot_offset(new)).copy_from_nonoverlapping(self.0.as_ptr().add(from), rest);
            dealloc(self.0.as_ptr(), layout(size));
            self.0 = raw;
        }
        true
    }

    /// The same entry under another key.
    pub fn renamed(self, key: &[u8]) -> KeyEntry {
        assert!(key.len() <= KEY_BYTES_MAX);
        let facts = facts(&self.0);
        let (key_at, old_size) = (key_offset(facts), self.alloc_size());
        let is_embedded = self.kind() == Kind::Embedded;
        let embedded = if is_embedded { self.embedded_bytes() } else { &[] };
        let capacity = if is_embedded { embedded_capacity(facts, key.len(), embedded.len()) } else { 0 };
        // SAFETY: header, expiry and slot, which is everything in front of the key, are moved bitwise; the size covers
        // them, the new key and the embedded value's room. The old allocation is given back without dropping what
        // its slot owned.
        unsafe {
            let raw = allocate(key_at + key.len() + capacity);
            let base = raw.as_ptr();
            base.copy_from_nonoverlapping(self.0.as_ptr(), key_at);
            base.add(4).cast::<u32>().write(key.len() as u32);
            base.add(key_at).copy_from_nonoverlapping(key.as_ptr(), key.len());
            if is_embedded {
                base.add(slot_offset(facts)).write(capacity as u8);
                base.add(key_at + key.len()).copy_from_nonoverlapping(embedded.as_ptr(), embedded.len());
            }
            let old = std::mem::ManuallyDrop::new(self);
            dealloc(old.0.as_ptr(), layout(old_size));
            KeyEntry(raw)
        }
    }

    /// A copy of the value, in the same encoding. Strings are lent.
    pub fn copied_value(&self) -> Value<'_> {
        match self.value() {
            ValueRef::Int(n) => Value::Int(n),
            ValueRef::Str(bytes) => Value::Bytes { bytes, raw: self.encoding() == "raw" },
            ValueRef::List(list) => Value::List(list.clone()),
            ValueRef::Set(set) => Value::Set(set.clone()),
            ValueRef::Hash(hash) => Value::Hash(hash.clone()),
            ValueRef::ZSet(zset) => Value::ZSet(zset.clone()),
        }
    }

    /// How much there is to free, in small allocations.
    pub fn free_effort(&self) -> usize {
        match self.value() {
            ValueRef::List(list) => list.node_count(),
            ValueRef::Set(set) if set.encoding() == "hashtable" => set.len(),
            ValueRef::Hash(hash) if hash.encoding() == "hashtable" => hash.len(),
            ValueRef::ZSet(zset) if zset.encoding() == "skiplist" => zset.len(),
            _ => 1,
        }
    }

    /// The value alone.
    pub fn into_value(self) -> Value<'static> {
        let (kind, size) = (self.kind(), self.alloc_size());
        let text = if kind == Kind::Embedded { self.embedded_bytes().to_vec() } else { Vec::new() };
        let old = std::mem::ManuallyDrop::new(self);
        let slot = old.slot();
        // SAFETY: the kind says what the slot holds; it is moved out once, and the allocation is given back without
        // dropping it.
        unsafe {
            let value = match kind {
                Kind::Narrow => Value::Int(i64::from(slot.cast::<i32>().read())),
                Kind::Int => Value::Int(slot.cast::<i64>().read()),
                Kind::Raw => Value::Owned(slot.cast::<Vec<u8>>().read()),
                Kind::Embedded => Value::Owned(text),
                Kind::List => Value::List(slot.cast::<List>().read()),
                Kind::Set => Value::Set(slot.cast::<Set>().read()),
                Kind::Hash => Value::Hash(slot.cast::<Hash>().read()),
                Kind::ZSet => Value::ZSet(slot.cast::<ZSet>().read()),
            };
            dealloc(old.0.as_ptr(), layout(size));
            value
        }
    }

    fn alloc_size(&self) -> usize {
        let facts = facts(&self.0);
        let embedded = if self.kind() == Kind::Embedded { self.embedded().0 } else { 0 };
        key_offset(facts) + key_len(&self.0) + embedded
    }

    /// Bytes of memory of key and value, as the allocator sets them aside; of a large collection, an estimate.
    pub fn mem_size(&self) -> usize {
        let value = match self.value() {
            ValueRef::Int(_) => 0,
            // SAFETY: a raw entry's slot holds a Vec.
            ValueRef::Str(_) if self.kind() == Kind::Raw => unsafe {
                class_bytes((*self.slot().cast::<Vec<u8>>()).capacity())
            },
            ValueRef::Str(_) => 0,
            ValueRef::List(list) => list.mem_size(),
            ValueRef::Set(set) => set.mem_size(),
            ValueRef::Hash(hash) => hash.mem_size(),
            ValueRef::ZSet(zset) => zset.mem_size(),
        };
        class_bytes(self.alloc_size()) + value
    }
}

/// Allocates `size` bytes.
///
/// # Safety
/// `size` is not zero.
unsafe fn allocate(size: usize) -> NonNull<u8> {
    // SAFETY: the caller passes a non-zero size.
    let raw = unsafe { alloc(layout(size)) };
    NonNull::new(raw).unwrap_or_else(|| handle_alloc_error(layout(size)))
}

fn build(key: &[u8], value: Value, access: u32, expire_ms: Option<i64>) -> KeyEntry {
    let (kind, embedded, raw) = match &value {
        Value::Int(n) if i32::try_from(*n).is_ok() => (Kind::Narrow, None, false),
        Value::Int(_) => (Kind::Int, None, false),
        Value::Bytes { bytes, raw } if bytes.len() <= EMBEDDED_BYTES_MAX => {
            (Kind::Embedded, Some(*bytes), *raw)
        }
        Value::Bytes { .. } | Value::Owned(_) => (Kind::Raw, None, false),
        Value::List(_) => (Kind::List, None, false),
        Value::Set(_) => (Kind::Set, None, false),
        Value::Hash(_) => (Kind::Hash, None, false),
        Value::ZSet(_) => (Kind::ZSet, None, false),
    };
    let mut facts = kind as u8;
    if expire_ms.is_some() {
        facts |= HAS_EXPIRE;
    }
    if raw {
        facts |= NAMED_RAW;
    }
    let capacity = embedded.map_or(0, |bytes| embedded_capacity(facts, key.len(), bytes.len()));
    let (slot_at, key_at) = (slot_offset(facts), key_offset(facts));
    // SAFETY: the size covers header, expiry, slot, key and embedded value in the order written here; the slot is
    // 8-byte aligned as header and expiry are multiples of 8; `key` and the value bytes are other memory.
    unsafe {
        let raw = allocate(key_at + key.len() + capacity);
        let base = raw.as_ptr();
        let word = (access & 0x00ff_ffff) | (u32::from(facts) << 24);
        base.cast::<u32>().write(word.to_le());
        base.add(4).cast::<u32>().write(key.len() as u32);
        if let Some(at) = expire_ms {
            base.add(HEADER).cast::<i64>().write(at);
        }
        base.add(key_at).copy_from_nonoverlapping(key.as_ptr(), key.len());
        let slot = base.add(slot_at);
        match value {
            Value::Int(n) if kind == Kind::Narrow => slot.cast::<i32>().write(n as i32),
            Value::Int(n) => slot.cast::<i64>().write(n),
            Value::Bytes { bytes, .. } if kind == Kind::Embedded => {
                slot.write(capacity as u8);
                slot.add(1).write(bytes.len() as u8);
                base.add(key_at + key.len()).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            Value::Bytes { bytes, .. } => slot.cast::<Vec<u8>>().write(bytes.to_vec()),
            Value::Owned(bytes) => slot.cast::<Vec<u8>>().write(bytes),
            Value::List(list) => slot.cast::<List>().write(list),
            Value::Set(set) => slot.cast::<Set>().write(set),
            Value::Hash(hash) => slot.cast::<Hash>().write(hash),
            Value::ZSet(zset) => slot.cast::<ZSet>().write(zset),
        }
        KeyEntry(raw)
    }
}

impl Drop for KeyEntry {
    fn drop(&mut self) {
        let size = self.alloc_size();
        let slot = self.slot();
        // SAFETY: the kind says what the slot owns; it is dropped once, then the allocation goes back with the size it
        // was made with.
        unsafe {
            match self.kind() {
                Kind::Narrow | Kind::Int | Kind::Embedded => {}
                Kind::Raw => slot.cast::<Vec<u8>>().drop_in_place(),
                Kind::List => slot.cast::<List>().drop_in_place(),
                Kind::Set => slot.cast::<Set>().drop_in_place(),
                Kind::Hash => slot.cast::<Hash>().drop_in_place(),
                Kind::ZSet => slot.cast::<ZSet>().drop_in_place(),
            }
            dealloc(self.0.as_ptr(), layout(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(entry: &KeyEntry) -> Vec<u8> {
        match entry.value() {
            ValueRef::Int(n) => n.to_string().into_bytes(),
            ValueRef::Str(bytes) => bytes.to_vec(),
            other => panic!("no string but a {}", other.kind().name()),
        }
    }

    #[test]
    fn strings_of_every_length_survive_expiry_and_overwrites() {
        for len in [0, 1, 3, 43, 44, 45, 100, EMBEDDED_BYTES_MAX, EMBEDDED_BYTES_MAX + 1, 5_000] {
            let body = vec![b'v'; len];
            let mut entry =
                KeyEntry::new(b"some:key", Value::Bytes { bytes: &body, raw: false }, 0x00ab_cdef);
            assert!(entry.set_expire(Some(1_234_567)));
            assert!(!entry.set_expire(Some(7)));
            assert_eq!((entry.expire_ms(), text(&entry)), (Some(7), body.clone()));
            for other in [len / 2, len, len + 1, len + 9, len * 2] {
                let body = vec![b'w'; other];
                let _ = entry.set_value(Value::Bytes { bytes: &body, raw: false });
                assert_eq!((entry.expire_ms(), text(&entry)), (Some(7), body));
            }
            let _ = entry.set_value(Value::Int(-5));
            entry.set_expire(None);
            assert_eq!((entry.expire_ms(), text(&entry)), (None, b"-5".to_vec()));
            assert_eq!((entry.key(), entry.access()), (&b"some:key"[..], 0x00ab_cdef));
        }
    }

    #[test]
    fn entries_survive_another_name() {
        for (from, to) in [("a", "bb"), ("some:long:name", ""), ("k", "a:name:that:is:longer:than:the:value")]
        {
            for body in [&b"12"[..], b"", b"short", &[b'x'; EMBEDDED_BYTES_MAX], &[b'x'; 5_000]] {
                let mut entry = KeyEntry::new(from.as_bytes(), Value::string(body), 77);
                entry.set_expire((body.len() > 2).then_some(9));
                let mut entry = entry.renamed(to.as_bytes());
                assert_eq!((entry.key(), text(&entry), entry.access()), (to.as_bytes(), body.to_vec(), 77));
                assert_eq!(entry.expire_ms(), (body.len() > 2).then_some(9));
                let copy = KeyEntry::new(b"copy", entry.copied_value(), 1);
                assert_eq!((text(&copy), copy.encoding()), (body.to_vec(), entry.encoding()));
                let _ = entry.set_value(Value::Bytes { bytes: b"other", raw: false });
                assert_eq!(text(&entry), b"other");
            }
        }
    }

    #[test]
    fn encoding_follows_length_and_history() {
        let mut entry = KeyEntry::new(b"k", Value::string(b"12"), 0);
        assert_eq!(entry.encoding(), "int");
        drop(entry.make_growable());
        entry.string_mut().expect("a string").extend_from_slice(b"x");
        assert_eq!((entry.encoding(), text(&entry)), ("raw", b"12x".to_vec()));
        let _ = entry.set_value(Value::string(b"abc"));
        assert_eq!(entry.encoding(), "embstr");
        let _ = entry.set_value(Value::Bytes { bytes: b"abd", raw: true });
        assert_eq!(entry.encoding(), "raw");
        let _ = entry.set_value(Value::string(&[b'x'; 45]));
        assert_eq!(entry.encoding(), "raw");
    }

    #[test]
    fn integers_widen_when_they_must() {
        let mut entry = KeyEntry::new(b"counter:000000000001", Value::Int(i64::from(i32::MAX)), 5);
        entry.set_expire(Some(77));
        assert_eq!((entry.int(), entry.kind()), (Some(i64::from(i32::MAX)), Kind::Narrow));
        assert!(entry.set_int(i64::from(i32::MIN)).is_none(), "stays where it is");
        assert_eq!(entry.int(), Some(i64::from(i32::MIN)));
        let old = entry.set_int(i64::from(i32::MIN) - 1);
        assert_eq!(old.and_then(|old| old.int()), Some(i64::from(i32::MIN)));
        for n in [i64::from(i32::MIN) - 1, i64::MAX, 3] {
            assert!(n == i64::from(i32::MIN) - 1 || entry.set_int(n).is_none(), "stays where it is");
            assert_eq!((entry.int(), entry.kind(), entry.expire_ms()), (Some(n), Kind::Int, Some(77)));
        }
        let mut text = KeyEntry::new(b"k", Value::string(b"x"), 0);
        assert_eq!(text.int(), None);
        drop(text.set_value(Value::Int(9)));
        assert_eq!((text.int(), text.encoding(), text.key()), (Some(9), "int", &b"k"[..]));
    }

    #[test]
    fn short_values_take_one_small_allocation() {
        let entry = KeyEntry::new(b"key:000000000001", Value::string(b"abc"), 0);
        assert!(entry.alloc_size() <= 32, "{} bytes", entry.alloc_size());
        let entry = KeyEntry::new(b"counter:000000000001", Value::Int(1), 0);
        assert!(entry.alloc_size() <= 32, "{} bytes", entry.alloc_size());
    }
}
