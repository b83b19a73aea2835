//! Layer 2: databases. Keys with their values and expiries, and the hooks that every change passes.
//! Touches base and types.

pub mod access;
pub mod database;
pub mod entry;
pub mod evict;
pub mod expire;
pub mod field_expiry;
pub mod field_index;
pub mod keyspace;
pub mod signals;
pub mod trash;
pub mod value;
