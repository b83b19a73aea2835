//! Layer 1: the wire protocol as pure state machines over bytes. No sockets, no databases; touches base only.

pub mod reply;
pub mod request;
pub mod sink;
