//! Layer 3: commands over data, one file a family: declarations first, handlers next, unit tests last.
//! May touch base, proto, types and db; never sockets, the loop or the server.
//!
//! To add a command, add its row to a family's `SPECS` and write the function that the row names. Everything else
//! (look-up, arity, COMMAND, ACL, statistics, documentation) follows from the row.

pub mod bitmap;
pub mod connection;
pub mod ctx;
pub mod geo;
pub mod hashes;
pub mod help;
pub mod hyperloglog;
pub mod keys;
pub mod keys_of;
pub mod lists;
pub mod registry;
pub mod sets;
pub mod spec;
pub mod strings;
pub mod syntax;
#[cfg(test)]
mod testing;
pub mod wait;
pub mod zsets;

use ctx::DataFn;
use spec::CommandSpec;

/// All families.
pub const FAMILIES: &[&[CommandSpec<DataFn>]] = &[
    bitmap::SPECS,
    bitmap::bitfield::SPECS,
    connection::SPECS,
    geo::SPECS,
    geo::search::SPECS,
    hashes::SPECS,
    hashes::combined::SPECS,
    hashes::expiry::SPECS,
    hashes::pick::SPECS,
    hyperloglog::SPECS,
    keys::SPECS,
    keys::databases::SPECS,
    keys::expiry::SPECS,
    keys::object::SPECS,
    keys::scan::SPECS,
    keys::sort::SPECS,
    keys::transfer::SPECS,
    lists::SPECS,
    lists::blocking::SPECS,
    lists::by_value::SPECS,
    lists::moves::SPECS,
    sets::SPECS,
    sets::combine::SPECS,
    strings::SPECS,
    strings::lcs::SPECS,
    strings::numbers::SPECS,
    strings::ranges::SPECS,
    wait::SPECS,
    zsets::SPECS,
    zsets::blocking::SPECS,
    zsets::combine::SPECS,
    zsets::pick::SPECS,
    zsets::range::SPECS,
    zsets::write::SPECS,
];
