"""Servers under the bench: starting them on free ports, pinning them, reading what they consume.

Used by compare.py and memory.py. Linux gives processor time and memory through /proc; elsewhere the
figures are None and the tables show a dash.
"""

import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(HERE)
REDAE = shlex.quote(os.path.join(ROOT, 'target', 'release', 'redae')) + ' --port {port}'
REDIS = ('redis-server --port {port} --bind 127.0.0.1 --save "" --appendonly no '
         '--loglevel warning')


def require_redis(*programs: str):
    """Ends the program when one is missing and cannot be installed."""
    if all(map(shutil.which, programs)):
        return
    print('Redis is missing; trying to install it ...', flush=True)
    done = subprocess.run(['bash', os.path.join(HERE, 'install-redis')]).returncode == 0
    if not done or not all(map(shutil.which, programs)):
        sys.exit('The bench needs ' + ' and '.join(programs) + ' on the PATH.')


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def cores() -> tuple:
    """A core for the server and one for the load; (None, None) where pinning is not possible."""
    if not hasattr(os, 'sched_setaffinity'):
        return None, None
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[1]) if len(usable) > 1 else (None, None)


def pinned(core):
    """What a child process runs first, to stay on the core."""
    return (lambda: os.sched_setaffinity(0, {core})) if core is not None else None


class Server:
    """A server process; the command has {port} where its port belongs."""

    def __init__(self, name: str, command: str, core=None):
        self.name, self.command, self.core = name, command, core
        self.port, self.process, self.folder = 0, None, ''

    def start(self):
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix='redae-bench-')
        words = shlex.split(self.command.replace('{port}', str(self.port)))
        words = [os.path.abspath(w) if os.path.exists(w) else w for w in words]
        log = os.path.join(self.folder, 'output')
        with open(log, 'wb') as output:
            try:
                self.process = subprocess.Popen(
                    words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=output, preexec_fn=pinned(self.core))
            except OSError as error:
                self.stop()
                sys.exit(f'{self.name} could not be started: {error}')
        if not self.await_port():
            with open(log, errors='replace') as output:
                said = output.read()[-1000:]
            self.stop()
            sys.exit(f'{self.name} did not start ({self.command}):\n{said}')

    def await_port(self) -> bool:
        due = time.monotonic() + 10
        while time.monotonic() < due and self.process.poll() is None:
            try:
                socket.create_connection(('127.0.0.1', self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, *args: bytes) -> bytes:
        """One command; the first line of its reply, and the rest as far as it came with it."""
        with socket.create_connection(('127.0.0.1', self.port), 10) as conn:
            conn.sendall(encode(*args))
            return conn.recv(1 << 16)

    def cpu_us(self):
        """Processor time of all threads so far, in microseconds; None where it is not told.

        schedstat counts nanoseconds; where the kernel lacks it, stat counts clock ticks.
        """
        tasks = f'/proc/{self.process.pid}/task'
        try:
            total = 0
            for task in os.listdir(tasks):
                with open(f'{tasks}/{task}/schedstat') as file:
                    total += int(file.read().split()[0])
            return total / 1e3
        except (OSError, ValueError, IndexError):
            pass
        try:
            with open(f'/proc/{self.process.pid}/stat') as file:
                fields = file.read().rpartition(')')[2].split()
            return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf('SC_CLK_TCK')
        except (OSError, ValueError, IndexError):
            return None

    def rss_bytes(self):
        """Resident memory; None where it is not told."""
        try:
            with open(f'/proc/{self.process.pid}/status') as file:
                return int(re.search(r'^VmRSS:\s*(\d+) kB', file.read(), re.M).group(1)) * 1024
        except (OSError, AttributeError):
            return None

    def version(self) -> str:
        """What INFO says, and the program's own word for redae."""
        info = self.ask(b'INFO', b'server').decode('latin-1')
        found = re.search(r'^redis_version:(\S+)', info, re.M)
        told = found.group(1) if found else 'version not told'
        program = shlex.split(self.command)[0]
        if os.path.basename(program).startswith('redae'):
            own = subprocess.run([program, '--version'], capture_output=True, text=True)
            return f'{own.stdout.strip() or "redae"} (as Redis {told})'
        return told


def encode(*args) -> bytes:
    """A command in RESP."""
    return b'*%d\r\n' % len(args) + b''.join(b'$%d\r\n%s\r\n' % (len(a), a) for a in args)


def machine() -> str:
    """Processor, cores and system, in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open('/proc/cpuinfo') as file:
            model = re.search(r'^model name\s*:\s*(.*)$', file.read(), re.M).group(1)
    except (OSError, AttributeError):
        pass
    return f'{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}'


def commit() -> str:
    """The commit that is checked out, marked when files differ from it; '' outside of git."""
    try:
        done = subprocess.run(['git', 'describe', '--always', '--dirty', '--abbrev=10'],
                              cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ''
    return done.stdout.strip()
