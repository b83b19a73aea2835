//! Layer 0: plain data and pure helpers that every other layer may use. Touches nothing above itself.

pub mod alloc;
pub mod config;
pub mod error;
pub mod glob;
pub mod histogram;
pub mod limits;
pub mod longdouble;
pub mod lzf;
pub mod num;
pub mod session;
pub mod split;
pub mod title;

/// The random generator of the server: one instance, owned by the server and passed in where chance is needed,
/// so that a seeded run can be repeated.
pub type Rand = rand::rngs::SmallRng;
