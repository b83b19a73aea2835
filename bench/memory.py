#!/usr/bin/env python3
"""Bytes of resident memory for each stored item, redae and Redis side by side.

usage: memory.py [--quick] [--scale 1.0] [--only NAME,...] [--redae CMD] [--redis CMD] [--out FOLDER]

Each row starts both servers afresh, reads their resident memory, stores the same data in each and
reads it again: the difference through the number of items. Ratio is Redis's bytes through redae's;
above 1 redae needs less. Linux only (it reads /proc). Writes memory.md to bench/results/ (quick:
bench/results/quick/).
"""

import argparse
import datetime
import os
import socket
import statistics
import sys
import time

from servers import HERE, REDAE, REDIS, Server, commit, encode, machine, require_redis

BATCH = 1000            # commands in flight
SETTLE_S = 0.5          # for a server to finish what it does in the background


def text(i: int, size: int) -> bytes:
    """Bytes that differ from item to item and compress badly."""
    return (b'%08x' % (i * 2654435761 & 0xffffffff) * (size // 8 + 1))[:size]


def strings(count: int, size: int):
    for i in range(count):
        yield b'SET', b'key:%012d' % i, text(i, size)


def counters(count: int):
    for i in range(count):
        yield b'SET', b'counter:%012d' % i, b'%d' % i


def expiring(count: int):
    for i in range(count):
        yield b'SET', b'session:%012d' % i, text(i, 32), b'EX', b'100000'


def small_hashes(count: int):
    for i in range(count):
        fields = [x for f in range(10) for x in (b'field%d' % f, text(i + f, 12))]
        yield (b'HSET', b'user:%010d' % i, *fields)


def big_hash(count: int):
    for i in range(count):
        yield b'HSET', b'big', b'field:%010d' % i, text(i, 16)


def small_sets(count: int):
    for i in range(count):
        yield (b'SADD', b'tags:%010d' % i, *[text(i + m, 8) for m in range(10)])


def big_set(count: int):
    for i in range(count):
        yield b'SADD', b'bigset', b'member:%010d' % i


def integer_set(count: int):
    for i in range(count):
        yield (b'SADD', b'ids:%010d' % i, *[b'%d' % (i * 7 + m * 1000) for m in range(100)])


def small_zsets(count: int):
    for i in range(count):
        yield (b'ZADD', b'z:%010d' % i, *[x for m in range(10) for x in (b'%.1f' % (m * 1.5),
                                                                        b'm%d' % m)])


def big_zset(count: int):
    for i in range(count):
        yield b'ZADD', b'board', b'%d' % (i * 7919 % 1000003), b'player:%010d' % i


def big_list(count: int):
    for i in range(count):
        yield b'RPUSH', b'list', text(i, 16)


def stream(count: int):
    for i in range(count):
        yield (b'XADD', b'stream', b'%d-1' % (i + 1), b'sensor', b'%d' % (i % 100), b'temp',
               b'%.1f' % (20 + i % 10))


# Name, items at scale 1, the commands that store them (one for each item).
WORKLOADS = (
    ('string 3 B', 1_000_000, lambda n: strings(n, 3)),
    ('string 64 B', 1_000_000, lambda n: strings(n, 64)),
    ('string 512 B', 300_000, lambda n: strings(n, 512)),
    ('counter', 1_000_000, counters),
    ('string 32 B + TTL', 1_000_000, expiring),
    ('hash of 10', 200_000, small_hashes),
    ('field of a big hash', 1_000_000, big_hash),
    ('set of 10', 200_000, small_sets),
    ('set of 100 integers', 20_000, integer_set),
    ('member of a big set', 1_000_000, big_set),
    ('zset of 10', 200_000, small_zsets),
    ('member of a big zset', 500_000, big_zset),
    ('element of a big list', 1_000_000, big_list),
    ('stream entry', 1_000_000, stream),
)


def skip_reply(replies):
    """Reads one reply of the kinds that the workloads get; the text of an error, else None."""
    line = replies.readline()
    if line[:1] == b'$':
        replies.read(int(line[1:]) + 2)
    return line.decode('latin-1').strip() if line[:1] in (b'-', b'') else None


def store(port: int, commands):
    """Sends all commands; the first error reply, else None."""
    with socket.create_connection(('127.0.0.1', port)) as conn, conn.makefile('rb') as replies:
        batch = []
        for command in commands:
            batch.append(encode(*command))
            if len(batch) == BATCH:
                error = exchange(conn, replies, batch)
                if error:
                    return error
                batch = []
        return exchange(conn, replies, batch)


def exchange(conn, replies, batch: list):
    conn.sendall(b''.join(batch))
    return next(filter(None, [skip_reply(replies) for _ in batch]), None)


def bytes_per_item(name: str, command: str, count: int, make):
    """The figure for one server, or why there is none, as text."""
    server = Server(name, command)
    server.start()
    try:
        time.sleep(SETTLE_S)
        before = server.rss_bytes()
        if before is None:
            sys.exit('this system does not tell resident memory through /proc')
        error = store(server.port, make(count))
        if error is not None:
            return error or 'connection closed'
        time.sleep(SETTLE_S)
        return (server.rss_bytes() - before) / count
    finally:
        server.stop()


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--quick', action='store_true', help='a tenth of the data')
    parser.add_argument('--scale', type=float, default=1.0, help='share of the data')
    parser.add_argument('--only', default='', help='names of rows, comma-separated')
    parser.add_argument('--redae', default=REDAE, metavar='CMD', help='with {port} in it')
    parser.add_argument('--redis', default=REDIS, metavar='CMD', help='with {port} in it')
    parser.add_argument('--out', metavar='FOLDER')
    options = parser.parse_args()
    options.scale *= 0.1 if options.quick else 1
    results = os.path.join(HERE, 'results')
    options.out = options.out or (os.path.join(results, 'quick') if options.quick else results)
    return options


def main() -> int:
    options = parse_options()
    if options.redis == REDIS:
        require_redis('redis-server')
    only = {n.strip() for n in options.only.split(',') if n.strip()}
    rows, ratios, failed = [], [], False
    print(f'{"Item":24}{"redae B":>10}{"redis B":>10}{"Ratio":>8}', flush=True)
    for title, count, make in WORKLOADS:
        if only and title not in only:
            continue
        count = max(1000, int(count * options.scale))
        found = [bytes_per_item(name, command, count, make)
                 for name, command in (('redae', options.redae), ('redis', options.redis))]
        bad = next((f for f in found if isinstance(f, str)), None)
        if bad is None:
            ratio = found[1] / max(found[0], 0.1)
            ratios.append(ratio)
            cells = [title, f'{found[0]:.1f}', f'{found[1]:.1f}', f'{ratio:.2f}']
        else:
            failed = True
            cells = [title] + ['failed' if isinstance(f, str) else f'{f:.1f}' for f in found] + ['–']
        rows.append(cells)
        print(f'{cells[0]:24}{cells[1]:>10}{cells[2]:>10}{cells[3]:>8}  {bad or ""}', flush=True)
    line = ''
    if ratios:
        line = f'Ratio {statistics.geometric_mean(ratios):.2f} (geometric mean), ' \
               f'least {min(ratios):.2f}'
        print(line)
    write(rows, line, options)
    return 1 if failed else 0


def write(rows: list, line: str, options):
    os.makedirs(options.out, exist_ok=True)
    when = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC')
    lines = ['# Memory, redae beside Redis', '',
             'Written by `make bench-memory` (`bench/memory.py`); do not edit.', '',
             f'- Date: {when}' + (f', commit {commit()}' if commit() else ''),
             f'- Machine: {machine()}', f'- redis: `{options.redis}`',
             f'- Data: {options.scale:g} of the full size', f'- {line}', '',
             'Bytes of resident memory for each item; ratio above 1: redae needs less.', '',
             '| Item | redae B | redis B | Ratio |', '|---|---:|---:|---:|']
    lines += ['| ' + ' | '.join(cells) + ' |' for cells in rows]
    with open(os.path.join(options.out, 'memory.md'), 'w') as file:
        file.write('\n'.join(lines) + '\n')
    print(f'written: {os.path.relpath(options.out)}/memory.md')


if __name__ == '__main__':
    sys.exit(main())
