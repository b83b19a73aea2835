//! Listening sockets: several addresses, IPv4 and IPv6, and a Unix socket. Touches net's streams only.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use mio::net::{TcpListener, UnixListener};
use socket2::{Domain, Protocol, Socket, Type};

use crate::net::stream::Stream;

/// A listening socket.
#[derive(Debug)]
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

/// Why listening failed: the address that could not be had, and the system's word for it.
#[derive(Debug)]
pub struct ListenError {
    /// The address.
    pub address: String,
    /// The cause.
    pub cause: io::Error,
}

impl Listener {
    /// Takes the next waiting connection.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(l) => l.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Listener::Unix(l) => l.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }

    /// For the poller.
    pub fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Listener::Tcp(l) => l,
            Listener::Unix(l) => l,
        }
    }

    /// The TCP port it listens on; tells a free port that the system chose.
    pub fn port(&self) -> Option<u16> {
        match self {
            Listener::Tcp(l) => l.local_addr().ok().map(|address| address.port()),
            Listener::Unix(_) => None,
        }
    }
}

/// Listens on every address of a `bind` option. `*` is all of IPv4, `::*` all of IPv6; a leading `-` makes an address
/// that is not there no error.
pub fn listen_tcp(addresses: &[&str], port: u16, backlog: i32) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    for word in addresses {
        let (optional, name) = match word.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, *word),
        };
        let fail = |cause| ListenError { address: format!("{name}:{port}"), cause };
        let ip: IpAddr = match name {
            "*" => IpAddr::from([0, 0, 0, 0]),
            "::*" => IpAddr::from([0u16; 8]),
            "localhost" => IpAddr::from([127, 0, 0, 1]),
            _ => name
                .parse()
                .map_err(|_| fail(io::Error::new(io::ErrorKind::InvalidInput, "not an IP address")))?,
        };
        match bind_tcp(SocketAddr::new(ip, port), backlog) {
            Ok(listener) => listeners.push(Listener::Tcp(listener)),
            Err(cause) if optional && is_missing_address(&cause) => {}
            Err(cause) => return Err(fail(cause)),
        }
    }
    Ok(listeners)
}

fn is_missing_address(cause: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT, Errno::PROTONOSUPPORT, Errno::SOCKTNOSUPPORT];
    cause.raw_os_error().is_some_and(|code| missing.iter().any(|errno| errno.raw_os_error() == code))
}

fn bind_tcp(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// Listens on a Unix socket. A socket file that nobody serves any more is replaced; any other file is left alone.
pub fn listen_unix(path: &Path, mode: u32, backlog: i32) -> Result<Listener, ListenError> {
    let fail = |cause| ListenError { address: path.display().to_string(), cause };
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket()) {
        std::fs::remove_file(path).map_err(fail)?;
    }
    let bound = || -> io::Result<UnixListener> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.bind(&socket2::SockAddr::unix(path)?)?;
        socket.listen(backlog)?;
        if mode != 0 {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        }
        Ok(UnixListener::from_std(socket.into()))
    };
    bound().map(Listener::Unix).map_err(fail)
}
