"""The two servers: their processes and the connections to them."""

import contextlib
import os
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from .resp import CLOSED, Incomplete, Malformed, Reply, encode, parse

BARRIER = b'differ-barrier'
REPLY_TIMEOUT = 4.0         # for a reply that must come
POLL = select.POLLIN | select.POLLHUP | select.POLLERR


# An unknown command: its error comes in every state of a connection, and shows that
# all replies before it are there.
SENTINEL = b'DIFFER-END'


def is_end(reply: Reply) -> bool:
    return reply[0] == '-' and SENTINEL in reply[1]


class ServerDied(Exception):
    """The server does not run or does not answer any more."""

    def __init__(self, server, kind):
        super().__init__(f'{server.title}: {kind}')
        self.server, self.kind = server, kind


class Conn:
    """One client connection: sends bytes, collects parsed replies."""

    def __init__(self, port: int):
        self.sock = socket.create_connection(('127.0.0.1', port), 5)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.sock.setblocking(False)
        self.poller = select.poll()
        self.poller.register(self.sock, POLL)
        self.chunks: list[bytes] = []   # received, not yet parsed
        self.size = self.wanted = 0     # what they add up to; at least needed for a reply
        self.closed = False
        self.client_id = b''

    @property
    def address(self) -> bytes:
        return b'%s:%d' % (self.sock.getsockname()[0].encode(), self.sock.getsockname()[1])

    def close(self):
        self.sock.close()
        self.closed = True

    def send(self, data: bytes):
        """Sends everything, reading meanwhile so that neither side gets stuck."""
        view = memoryview(data)
        while view and not self.closed:
            try:
                view = view[self.sock.send(view):]
            except BlockingIOError:
                self.pull(0.001)
            except OSError:
                self.pull(0)
                self.closed = True

    def pull(self, timeout: float) -> bool:
        """Waits for bytes; False when none came."""
        if self.closed or not self.poller.poll(max(0, int(timeout * 1000 + 0.999))):
            return False
        try:
            data = self.sock.recv(1 << 20)
        except BlockingIOError:
            return False
        except OSError:
            data = b''
        if not data:
            self.closed = True
            return False
        self.chunks.append(data)
        self.size += len(data)
        return True

    def take(self) -> list[Reply]:
        """Removes and returns the complete replies among the bytes received."""
        if not self.size or self.size < self.wanted:
            return []
        buf = b''.join(self.chunks)
        out, pos = [], 0
        self.wanted = 0
        try:
            while pos < len(buf):
                reply, pos = parse(buf, pos)
                out.append(reply)
        except Incomplete as incomplete:
            self.wanted = incomplete.needed - pos
        except (Malformed, RecursionError):
            out.append(('malformed', buf[pos:pos + 200]))
            self.close()
            pos = len(buf)
        self.chunks = [buf[pos:]] if pos < len(buf) else []
        self.size = len(buf) - pos
        return out

    def read(self, count: int, timeout: float) -> list[Reply]:
        """Replies until count of them or one to SENTINEL; pushes do not count."""
        got = self.take()
        due = time.monotonic() + timeout
        while sum(r[0] != '>' for r in got) < count and not self.closed \
                and not (got and is_end(got[-1])):
            if not self.pull(due - time.monotonic()) and not self.closed \
                    and time.monotonic() >= due:
                break
            got += self.take()
        return got

    def ask(self, *args: bytes) -> Reply:
        self.send(encode(args))
        got = self.read(1, REPLY_TIMEOUT)
        return got[0] if got else CLOSED


class Server:
    """A server process with its control connection."""

    def __init__(self, title: str, command: str):
        self.title, self.command = title, command
        self.process = self.control = None
        self.port = 0
        self.folder = ''

    def start(self):
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix='differ-')
        words = [w.replace('{port}', str(self.port)).replace('{dir}', self.folder)
                 for w in shlex.split(self.command)]
        words = [os.path.abspath(w) if '/' in w and os.path.exists(w) else w for w in words]
        env = dict(os.environ, LC_ALL='C', TZ='UTC')
        with open(os.path.join(self.folder, 'output'), 'wb') as log:
            self.process = subprocess.Popen(
                words, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)
        due = time.monotonic() + 20
        while time.monotonic() < due and self.process.poll() is None:
            try:
                self.control = Conn(self.port)
                if self.control.ask(b'PING') == ('+', b'PONG'):
                    return
                self.control.close()
            except OSError:
                pass
            time.sleep(0.05)
        with open(os.path.join(self.folder, 'output'), errors='replace') as log:
            raise OSError(f'{self.title} did not start: {log.read()[-500:]}')

    def stop(self):
        if self.control:
            self.control.close()
        if self.process:
            with contextlib.suppress(ProcessLookupError):   # also what the process started
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self):
        self.stop()
        self.start()

    def died(self) -> ServerDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)
        return ServerDied(self, 'hang' if self.process.poll() is None else 'crash')

    def connect(self) -> Conn:
        try:
            return Conn(self.port)
        except OSError:
            raise self.died() from None
