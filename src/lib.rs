//! redae, a drop-in Redis server for a developer's machine. The modules are layers; each uses only those named behind
//! its arrow (and `base`), which `tests/tidy.rs` checks:
//!
//! ```text
//! main → server → exec → acl → cmd → db → types → base
//!        server → {net → {ae, proto}, registry}      exec → {ae, proto, db}      cmd → {db, types, proto}
//! ```
//!
//! `docs/architecture.md` is the tour.

pub mod acl;
pub mod ae;
pub mod base;
pub mod cmd;
pub mod db;
pub mod exec;
pub mod net;
pub mod proto;
pub mod registry;
pub mod server;
pub mod types;
