#!/usr/bin/env python3
"""The longest wait of a small client while a big one fills the database, redae beside Redis.

usage: bench/latency.py [--keys 5000000] [--redae CMD] [--redis CMD]

One client writes distinct keys as fast as the server takes them, in pipelines of 500; another sends a PING
every millisecond and notes how long each answer takes. What grows slowly shows as a long wait: a table that is
rehashed at once, a page that is zeroed late, a client that gets more than its turn. Also measured: resident
memory that 10,000 idle connections add. As root the probe goes before the writer when both want a
processor: its waits are then the server's, not the scheduler's.

Exit status: 0 measured, 2 could not run.
"""

import argparse
import multiprocessing
import os
import resource
import socket
import sys
import time

from servers import REDAE, REDIS, Server, require_redis


def probe(port: int, stop, result) -> None:
    """Sends a PING every millisecond until told to stop; hands back the waits in milliseconds."""
    try:
        os.nice(-15)
    except PermissionError:
        print('not root: waits include those of the probe for a processor', flush=True)
    conn = socket.create_connection(('127.0.0.1', port))
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    waits, due = [], time.perf_counter()
    while not stop.is_set():
        due += 0.001
        time.sleep(max(0.0, due - time.perf_counter()))
        began = time.perf_counter()
        conn.sendall(b'PING\r\n')
        conn.recv(64)
        waits.append((time.perf_counter() - began) * 1000)
        due = max(due, time.perf_counter() - 0.001)
    result.put(waits)


def fill(port: int, keys: int) -> float:
    """Writes the keys; returns the seconds it took."""
    conn = socket.create_connection(('127.0.0.1', port))
    began, batch = time.perf_counter(), 500
    for start in range(0, keys, batch):
        conn.sendall(b''.join(b'*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$3\r\nxxx\r\n' % i
                              for i in range(start, min(start + batch, keys))))
        want = 5 * min(batch, keys - start)
        while want > 0:
            want -= len(conn.recv(65536))
    return time.perf_counter() - began


def growth(server: Server, keys: int) -> tuple:
    stop, result = multiprocessing.Event(), multiprocessing.Queue()
    prober = multiprocessing.Process(target=probe, args=(server.port, stop, result))
    prober.start()
    time.sleep(0.3)
    seconds = fill(server.port, keys)
    stop.set()
    waits = sorted(result.get())
    prober.join()
    return seconds, waits


def idle_connections(server: Server, count: int) -> float:
    """Bytes of resident memory that each idle connection adds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 200, hard), hard))
    before = server.rss_bytes()
    held = []
    for _ in range(count):
        conn = socket.create_connection(('127.0.0.1', server.port))
        conn.sendall(b'PING\r\n')
        conn.recv(64)
        held.append(conn)
    time.sleep(1.5)
    grown = server.rss_bytes() - before
    for conn in held:
        conn.close()
    # The server has as many to close; what is measured next must not wait for that.
    time.sleep(1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return grown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--keys', type=int, default=5_000_000)
    parser.add_argument('--connections', type=int, default=10_000)
    parser.add_argument('--redae', default=REDAE, metavar='CMD', help='with {port} in it')
    parser.add_argument('--redis', default=REDIS, metavar='CMD', help='with {port} in it')
    options = parser.parse_args()
    require_redis('redis-server')
    for name, command in (('redae', options.redae), ('redis', options.redis)):
        server = Server(name, command + ' --maxclients 20000')
        server.start()
        try:
            grown = idle_connections(server, options.connections)
            print(f'{name}: {options.connections} idle connections add {grown / 1e6:.1f} MB', flush=True)
            seconds, waits = growth(server, options.keys)
        finally:
            server.stop()
        worst, p999 = waits[-1], waits[int(len(waits) * 0.999)]
        print(f'{name}: {options.keys} keys in {seconds:.1f} s; {len(waits)} PINGs, '
              f'longest wait {worst:.2f} ms, p99.9 {p999:.2f} ms', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
