//! Layer 1: who waits for what, and what was worth remembering. Plain tables: subscriptions, watched keys and blocked
//! clients by client id; slow commands and latency spikes. They know no sockets and run nothing; touches base only.

#[path = "registry/blocked.rs"]
pub mod blocked;
#[path = "registry/latency.rs"]
pub mod latency;
#[path = "registry/pubsub.rs"]
pub mod pubsub;
#[path = "registry/slowlog.rs"]
pub mod slowlog;
#[path = "registry/tracking.rs"]
pub mod tracking;
#[path = "registry/watch.rs"]
pub mod watch;
