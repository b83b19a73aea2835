//! Layer 1: who waits for what. Plain tables keyed by client id: subscriptions, watched keys, blocked clients. They
//! know no sockets and run nothing; touches base only.

#[path = "registry/blocked.rs"]
pub mod blocked;
#[path = "registry/pubsub.rs"]
pub mod pubsub;
#[path = "registry/watch.rs"]
pub mod watch;
