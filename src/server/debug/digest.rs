//! DEBUG DIGEST and DEBUG DIGEST-VALUE: a fingerprint of data that is the same for equal data, however it is encoded and
//! wherever it was made, and the same as Redis's, so that the contents of two servers can be compared.
//!
//! A digest is 20 bytes, at first zero, and grows in two ways:
//!
//! ```text
//!   add(d, x)  d := d xor SHA1(x)             in any order: members, fields, keys
//!   mix(d, x)  d := SHA1(d xor SHA1(x))       the order counts: list elements, field before value, member before score
//! ```
//!
//! A value is its type number mixed, then its content. A key is its name mixed, then its value. An expiry counts as being
//! there, not with its time.

use sha1::{Digest as _, Sha1};

use crate::base::num::format_f64_17g;
use crate::db::entry::KeyEntry;
use crate::db::keyspace::Keyspace;
use crate::db::value::{Type, ValueRef};
use crate::types::item::Item;
use crate::types::table::Element;

/// A fingerprint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest([u8; 20]);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        let hash: [u8; 20] = Sha1::digest(bytes).into();
        self.0.iter_mut().zip(hash).for_each(|(byte, other)| *byte ^= other);
    }

    fn mix(&mut self, bytes: &[u8]) {
        self.add(bytes);
        self.0 = Sha1::digest(self.0).into();
    }

    fn mix_item(&mut self, item: &Item) {
        self.mix(item.bytes(&mut itoa::Buffer::new()));
    }

    /// In hexadecimal.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn mix_number(&mut self, number: u32) {
        self.mix(&number.to_be_bytes());
    }

    fn mix_value(&mut self, entry: &KeyEntry) {
        self.mix_number(type_number(entry.type_of()));
        match entry.value() {
            ValueRef::Int(n) => self.mix_item(&Item::Int(n)),
            ValueRef::Str(bytes) => self.mix(bytes),
            ValueRef::List(list) => list.for_each(|element| self.mix_item(&element)),
            ValueRef::Set(set) => {
                for member in set.iter() {
                    self.add(member.bytes(&mut itoa::Buffer::new()));
                }
            }
            ValueRef::Hash(hash) => {
                for (field, value, expiry) in hash.entries() {
                    let mut pair = Digest::default();
                    pair.mix_item(&field);
                    pair.mix_item(&value);
                    if expiry.is_some() {
                        pair.add(b"!!hexpire!!");
                    }
                    self.add(&pair.0);
                }
            }
            ValueRef::ZSet(zset) => {
                for (member, score) in zset.iter() {
                    let mut pair = Digest::default();
                    let mut text = Vec::with_capacity(32);
                    format_f64_17g(score, &mut text);
                    pair.mix_item(&member);
                    pair.mix(&text);
                    self.add(&pair.0);
                }
            }
        }
        if entry.expire_ms().is_some() {
            self.add(b"!!expire!!");
        }
    }
}

/// The number of a type in Redis.
fn type_number(kind: Type) -> u32 {
    match kind {
        Type::String => 0,
        Type::List => 1,
        Type::Set => 2,
        Type::ZSet => 3,
        Type::Hash => 4,
    }
}

/// The digest of one key's value; its name does not count.
pub fn of_value(entry: &KeyEntry) -> Digest {
    let mut digest = Digest::default();
    digest.mix_value(entry);
    digest
}

/// The digest of all keys in all databases. Takes time with the size of the data.
pub fn of_everything(ks: &Keyspace) -> Digest {
    let mut all = Digest::default();
    for db in (0..ks.count()).filter(|&db| !ks.db(db).is_empty()) {
        all.mix_number(db as u32);
        for entry in ks.db(db).iter() {
            let mut digest = Digest::default();
            digest.mix(entry.key());
            digest.mix_value(entry);
            all.add(&digest.0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::value::Value;
    use crate::types::set::{Set, SetLimits};
    use crate::types::table::Seed;

    fn set(members: &[&str], intset_entries: usize) -> KeyEntry {
        let limits = SetLimits { intset_entries, listpack_entries: 2, listpack_value: 64 };
        let mut set = Set::new_intset(Seed(5));
        for member in members {
            set.add(member.as_bytes(), &limits);
        }
        KeyEntry::new(b"key", Value::Set(set), 0)
    }

    #[test]
    fn encoding_and_order_of_members_do_not_matter_but_content_does() {
        let members = ["1", "2", "3", "4"];
        let digest = of_value(&set(&members, 100));
        assert_eq!(digest, of_value(&set(&["4", "2", "1", "3"], 1)));
        assert_ne!(digest, of_value(&set(&members[1..], 100)));
    }

    #[test]
    fn digests_are_those_of_redis() {
        // As Redis 7.0.15 gives them: DEBUG DIGEST-VALUE, then DEBUG DIGEST, after SET key value.
        let mut ks = Keyspace::new(16, Seed(5));
        assert_eq!(of_everything(&ks).hex(), "0".repeat(40));
        ks.set(0, b"key", Value::string(b"value"), false);
        let entry = ks.db(0).find(b"key").expect("just set");
        assert_eq!(of_value(entry).hex(), "d59ec93db87f4cd915db3cdf44bb63755bc4a635");
        assert_eq!(of_everything(&ks).hex(), "f149f3abd419a8d7d8c5673c73a100bb87404213");
    }
}
