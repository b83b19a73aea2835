//! Layer 2: sockets and the memory of connections. Parses and executes nothing; touches base, ae and proto.

pub mod clients;
pub mod listen;
pub mod room;
pub mod stream;
