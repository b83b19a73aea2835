//! A connected socket, TCP or Unix, behind one type. Touches nothing else of the crate.

use std::io::{self, IoSlice, Write};
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::{TcpStream, UnixStream};
use rustix::buffer::spare_capacity;
use socket2::{SockRef, TcpKeepalive};

/// A connected, non-blocking socket.
#[derive(Debug)]
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Whether the peer is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            // A peer that is gone has no address; it is found out when it is read from.
            Stream::Tcp(s) => s.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_loopback()),
            Stream::Unix(_) => true,
        }
    }

    /// Reads once into `buffer`. 0 is the end of the stream.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match self {
            Stream::Tcp(s) => rustix::io::read(s, buffer)?,
            Stream::Unix(s) => rustix::io::read(s, buffer)?,
        };
        Ok(n)
    }

    /// Reads once into the spare capacity of `buffer`, at most `limit` bytes of it. 0 is the end of the stream.
    pub fn read_spare(&self, buffer: &mut Vec<u8>, limit: usize) -> io::Result<usize> {
        // rustix takes all of the spare capacity; the rest is set aside by reading through a shorter view.
        let room = buffer.capacity() - buffer.len();
        if room <= limit {
            let n = match self {
                Stream::Tcp(s) => rustix::io::read(s, spare_capacity(buffer))?,
                Stream::Unix(s) => rustix::io::read(s, spare_capacity(buffer))?,
            };
            return Ok(n);
        }
        let start = buffer.len();
        buffer.resize(start + limit, 0);
        let got = self.read(&mut buffer[start..]);
        buffer.truncate(start + *got.as_ref().unwrap_or(&0));
        got
    }

    /// Writes once. A peer that is gone is an error, not a signal.
    #[inline]
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => (&mut &*s).write(bytes),
            Stream::Unix(s) => (&mut &*s).write(bytes),
        }
    }

    /// Writes several pieces at once.
    pub fn write_vectored(&self, pieces: &[IoSlice]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => (&mut &*s).write_vectored(pieces),
            Stream::Unix(s) => (&mut &*s).write_vectored(pieces),
        }
    }

    /// Small writes leave at once; a peer that vanished is noticed after about `keepalive_secs` (0: never).
    pub fn tune(&self, keepalive_secs: u64) -> io::Result<()> {
        let Stream::Tcp(stream) = self else { return Ok(()) };
        stream.set_nodelay(true)?;
        if keepalive_secs > 0 {
            // As Redis: first probe after the time-out, three probes, a third of the time-out apart.
            let third = Duration::from_secs((keepalive_secs / 3).max(1));
            let keepalive = TcpKeepalive::new()
                .with_time(Duration::from_secs(keepalive_secs))
                .with_interval(third)
                .with_retries(3);
            SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
        }
        Ok(())
    }

    /// Both ends' addresses, where there are any.
    pub fn addresses(&self) -> (Option<SocketAddr>, Option<SocketAddr>) {
        match self {
            Stream::Tcp(s) => (s.peer_addr().ok(), s.local_addr().ok()),
            Stream::Unix(_) => (None, None),
        }
    }

    /// The number of the open file, for CLIENT LIST.
    pub fn fd(&self) -> i32 {
        use std::os::fd::AsRawFd;
        match self {
            Stream::Tcp(s) => s.as_raw_fd(),
            Stream::Unix(s) => s.as_raw_fd(),
        }
    }
}

impl mio::event::Source for Stream {
    fn register(&mut self, r: &mio::Registry, t: mio::Token, i: mio::Interest) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.register(r, t, i),
            Stream::Unix(s) => s.register(r, t, i),
        }
    }

    fn reregister(&mut self, r: &mio::Registry, t: mio::Token, i: mio::Interest) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.reregister(r, t, i),
            Stream::Unix(s) => s.reregister(r, t, i),
        }
    }

    fn deregister(&mut self, r: &mio::Registry) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.deregister(r),
            Stream::Unix(s) => s.deregister(r),
        }
    }
}
