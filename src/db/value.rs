//! Values as they go into and come out of a key: names of types and encodings. Touches base and types.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::types::hash::Hash;
use crate::types::list::List;
use crate::types::set::Set;
use crate::types::zset::ZSet;

/// Longest string that Redis stores in one piece with its header, and so calls `embstr`.
pub const EMBSTR_BYTES_MAX: usize = 44;

/// Longest text of a 64-bit integer.
const INTEGER_TEXT_BYTES_MAX: usize = 20;

/// What kind of value a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Bytes or an integer.
    String,
    /// See [`List`].
    List,
    /// See [`Set`].
    Set,
    /// See [`Hash`].
    Hash,
    /// See [`ZSet`].
    ZSet,
}

impl Type {
    /// The word that TYPE answers.
    pub fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::List => "list",
            Type::Set => "set",
            Type::Hash => "hash",
            Type::ZSet => "zset",
        }
    }

    /// The type of that name, in any case.
    pub fn by_name(name: &[u8]) -> Option<Type> {
        [Type::String, Type::List, Type::Set, Type::Hash, Type::ZSet]
            .into_iter()
            .find(|t| t.name().as_bytes().eq_ignore_ascii_case(name))
    }
}

/// A value on its way into a key.
pub enum Value<'a> {
    /// A string that is an integer.
    Int(i64),
    /// A string; short ones are stored inside the key's allocation. `raw` keeps it from being called `embstr`.
    Bytes {
        /// The content.
        bytes: &'a [u8],
        /// Whether it was made by an edit in place, which Redis shows as the encoding `raw`.
        raw: bool,
    },
    /// A string whose allocation the key takes over.
    Owned(Vec<u8>),
    /// A list.
    List(List),
    /// A set.
    Set(Set),
    /// A hash.
    Hash(Hash),
    /// A sorted set.
    ZSet(ZSet),
}

impl<'a> Value<'a> {
    /// A string as SET stores it: as an integer when its text is one.
    #[inline]
    pub fn string(bytes: &'a [u8]) -> Value<'a> {
        if bytes.len() <= INTEGER_TEXT_BYTES_MAX
            && let Some(n) = parse_i64(bytes)
        {
            return Value::Int(n);
        }
        Value::Bytes { bytes, raw: false }
    }
}

/// A value as it stands in its key.
#[derive(Clone, Copy)]
pub enum ValueRef<'a> {
    /// A string that is stored as an integer.
    Int(i64),
    /// A string.
    Str(&'a [u8]),
    /// A list.
    List(&'a List),
    /// A set.
    Set(&'a Set),
    /// A hash.
    Hash(&'a Hash),
    /// A sorted set.
    ZSet(&'a ZSet),
}

impl<'a> ValueRef<'a> {
    /// The set in it.
    #[inline]
    pub fn set(self) -> Result<&'a Set, CmdError> {
        if let ValueRef::Set(set) = self { Ok(set) } else { Err(CmdError::WRONG_TYPE) }
    }

    /// The hash in it.
    #[inline]
    pub fn hash(self) -> Result<&'a Hash, CmdError> {
        if let ValueRef::Hash(hash) = self { Ok(hash) } else { Err(CmdError::WRONG_TYPE) }
    }

    /// The sorted set in it.
    #[inline]
    pub fn zset(self) -> Result<&'a ZSet, CmdError> {
        if let ValueRef::ZSet(zset) = self { Ok(zset) } else { Err(CmdError::WRONG_TYPE) }
    }

    /// Its type.
    pub fn kind(&self) -> Type {
        match self {
            ValueRef::Int(_) | ValueRef::Str(_) => Type::String,
            ValueRef::List(_) => Type::List,
            ValueRef::Set(_) => Type::Set,
            ValueRef::Hash(_) => Type::Hash,
            ValueRef::ZSet(_) => Type::ZSet,
        }
    }

    /// Elements in it; a string counts as one. What deleting it costs.
    pub fn len(&self) -> usize {
        match self {
            ValueRef::Int(_) | ValueRef::Str(_) => 1,
            ValueRef::List(list) => list.len(),
            ValueRef::Set(set) => set.len(),
            ValueRef::Hash(hash) => hash.len(),
            ValueRef::ZSet(zset) => zset.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
