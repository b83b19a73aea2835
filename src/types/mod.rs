//! Data structures of values: pure, no clocks, no sockets; may touch base only. Encodings stay private to each type.

pub mod hash;
pub mod hll;
pub mod intset;
pub mod item;
pub mod list;
pub mod listpack;
pub mod rankset;
pub mod ranktree;
pub mod set;
pub mod table;
pub mod thin;
pub mod zrange;
pub mod zset;

pub use item::Item;
