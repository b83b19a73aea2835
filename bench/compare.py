#!/usr/bin/env python3
"""redis-benchmark's own tests on redae and on Redis, side by side.

usage: compare.py [--quick] [--pipelines 1,5,16,64] [--rounds 3] [--requests N] [--tests set,get]
                  [--random N] [--floor] [--redae CMD] [--redis CMD] [--out FOLDER]

Each row is one test at one pipeline depth. In every round both servers take the same load, one after
the other, in alternating order; a ratio is the median of the rounds' ratios, so that a machine which
gets slower or faster meanwhile does not tilt it. Where there are two cores the server has one and
redis-benchmark the other. The load program is often the slower of the two, which hides differences
in throughput; processor time per request does not have that limit, so look at both.

Ratio is redae's requests per second through Redis's; CPU ratio is Redis's processor time per request
through redae's. Above 1 redae is better, in both.

Each round starts from FLUSHALL. Tests that take elements away are preceded by an unmeasured one that
puts them there. redis-benchmark fills the list of the LRANGE tests itself; that part is not counted.

Writes compare.md and compare.svg to bench/results/ (quick runs: bench/results/quick/). Without
redis-server and redis-benchmark it says how to get them, and as root on Debian or Ubuntu does it.
"""

import argparse
import csv
import datetime
import os
import pty
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import chart
from servers import (HERE, REDAE, REDIS, Server, commit, cores, machine, pinned, require_redis)

TESTS = ('ping_inline', 'ping_mbulk', 'set', 'get', 'incr', 'lpush', 'rpush', 'lpop', 'rpop', 'sadd',
         'hset', 'spop', 'zadd', 'zpopmin', 'lrange_100', 'lrange_300', 'lrange_500', 'lrange_600',
         'mset')
FILL = {'lpop': 'lpush', 'rpop': 'rpush', 'spop': 'sadd', 'zpopmin': 'zadd'}
# Requests of a run, about a second's worth on a desktop machine, by pipeline depth.
REQUESTS = ((1, 100_000), (5, 300_000), (16, 600_000), (64, 1_000_000))
# Tests whose requests are heavy get this share of them.
SHARE = {'lrange_100': 0.3, 'lrange_300': 0.12, 'lrange_500': 0.08, 'lrange_600': 0.06, 'mset': 0.3}
QUICK_SHARE = 0.2
CLIENTS = 50
TIMEOUT_S = 300


def requests_for(test: str, pipeline: int, options) -> int:
    """How many requests a run of the test makes."""
    if options.requests:
        return options.requests
    base = next((n for depth, n in reversed(REQUESTS) if pipeline >= depth), REQUESTS[0][1])
    share = SHARE.get(test, 1.0) * (QUICK_SHARE if options.quick else 1.0)
    return max(int(base * share), CLIENTS * pipeline, 1000)


def reply_bytes(test: str) -> int:
    """The size of a test's reply when it matters for the floor; 0: a status line."""
    name, _, count = test.partition('_')
    return int(count) * len(b'$3\r\nxxx\r\n') if name == 'lrange' else 0


class Load:
    """Runs of redis-benchmark on one core."""

    def __init__(self, options, core):
        self.options, self.core = options, core

    def command(self, port, test: str, requests, pipeline) -> list:
        words = [self.options.benchmark, '-p', str(port), '-c', str(CLIENTS), '-n', str(requests),
                 '-P', str(pipeline), '-t', test, '--csv']
        return words + (['-r', str(self.options.random)] if self.options.random else [])

    def run(self, server: Server, test: str, requests: int, pipeline: int) -> tuple:
        """(requests per second, server's microseconds per request or None).

        redis-benchmark runs on a terminal of its own: it then prints each row when that row is
        done, which is how the processor time of the LRANGE tests' filling can be left out.
        """
        parent, child = pty.openpty()
        process = subprocess.Popen(
            self.command(server.port, test, requests, pipeline), stdin=subprocess.DEVNULL,
            stdout=child, stderr=subprocess.DEVNULL, preexec_fn=pinned(self.core))
        os.close(child)
        started = server.cpu_us()
        row, due = None, time.monotonic() + TIMEOUT_S
        with os.fdopen(parent, 'r', errors='replace') as rows:
            while time.monotonic() < due:
                try:
                    line = rows.readline()
                except OSError:         # Linux's way to say that the other end has closed
                    break
                if not line:
                    break
                fields = next(csv.reader([line.strip()]), [])
                if len(fields) < 2 or fields[0] == 'test' or line[0] != '"':
                    continue
                if 'needed to' in fields[0]:
                    started = server.cpu_us()
                else:
                    row = min(float(fields[1]), requests * 1e3)     # its clock has milliseconds
        ended = server.cpu_us()
        process.kill()
        process.wait()
        if row is None or not row:
            return None
        return row, None if started is None else (ended - started) / requests

    def fill(self, server: Server, test: str, requests: int):
        """Puts elements where the test takes them from."""
        if test in FILL:
            subprocess.run(self.command(server.port, FILL[test], requests, 64),
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=TIMEOUT_S,
                           preexec_fn=pinned(self.core))


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


class Row:
    """What the rounds of one test at one depth gave."""

    def __init__(self, test: str, pipeline: int):
        self.test, self.pipeline = test, pipeline
        self.redae, self.redis = [], []     # (requests per second, microseconds or None) by round
        self.floor_us = None

    @property
    def title(self) -> str:
        return f'{self.test.upper()} P={self.pipeline}'

    def complete(self) -> bool:
        return bool(self.redae) and None not in self.redae + self.redis

    def rps(self, side: list):
        return median(r[0] for r in side if r)

    def us(self, side: list):
        return median(r[1] for r in side if r)

    def ratio(self):
        return median(a[0] / b[0] for a, b in zip(self.redae, self.redis) if a and b)

    def cpu_ratio(self):
        return median(b[1] / a[1] for a, b in zip(self.redae, self.redis)
                      if a and b and a[1] and b[1])

    def cells(self, floor: bool) -> list:
        def whole(value):
            return 'failed' if value is None else f'{value:,.0f}'

        def two(value):
            return '–' if value is None else f'{value:.2f}'
        return [self.title, whole(self.rps(self.redae)), whole(self.rps(self.redis)),
                two(self.ratio()), two(self.us(self.redae)), two(self.us(self.redis)),
                two(self.cpu_ratio())] + ([two(self.floor_us)] if floor else [])


HEADINGS = ['Benchmark', 'redae', 'redis', 'Ratio', 'redae µs/req', 'redis µs/req', 'CPU ratio']
WIDTHS = [20, 10, 10, 6, 12, 12, 9, 12]


def print_cells(cells: list):
    print('  '.join(c.ljust(w) if i == 0 else c.rjust(w)
                    for i, (c, w) in enumerate(zip(cells, WIDTHS))), flush=True)


class Floor:
    """The floor server, one process for each size of reply."""

    def __init__(self, core):
        self.core, self.servers = core, {}
        self.folder = tempfile.TemporaryDirectory(prefix='redae-floor-')
        self.program = os.path.join(self.folder.name, 'floor')
        subprocess.run(['cc', '-O2', '-o', self.program, os.path.join(HERE, 'floor.c')], check=True)

    def server(self, size: int) -> Server:
        if size not in self.servers:
            command = f'{shlex.quote(self.program)} {{port}} {size}'
            self.servers[size] = Server('floor', command, self.core)
            self.servers[size].start()
        return self.servers[size]

    def stop(self):
        for server in self.servers.values():
            server.stop()
        self.folder.cleanup()


def measure(row: Row, pair: list, load: Load, floor, options):
    """All rounds of a row."""
    requests = requests_for(row.test, row.pipeline, options)
    results = {server: [] for server in pair}
    for turn in range(options.rounds):
        for server in pair if turn % 2 == 0 else pair[::-1]:
            server.ask(b'FLUSHALL')
            load.fill(server, row.test, requests)
            results[server].append(load.run(server, row.test, requests, row.pipeline))
    row.redae, row.redis = results[pair[0]], results[pair[1]]
    for server in pair:
        if server.process.poll() is not None:
            print(f'{server.name} died in {row.title}; starting it again', flush=True)
            server.start()
    if floor:
        ran = load.run(floor.server(reply_bytes(row.test)), row.test, requests, row.pipeline)
        row.floor_us = ran[1] if ran else None


def summary(rows: list) -> list:
    """One line for each depth: geometric means and the smallest ratios."""
    lines = []
    for depth in dict.fromkeys(r.pipeline for r in rows):
        here = [r for r in rows if r.pipeline == depth and r.complete()]
        if not here:
            continue
        text = f'P={depth}: '
        parts = []
        for name, values in (('ratio', [(r.ratio(), r.test) for r in here]),
                             ('CPU ratio', [(r.cpu_ratio(), r.test) for r in here
                                            if r.cpu_ratio()])):
            if values:
                mean = statistics.geometric_mean(v for v, _ in values)
                least, test = min(values)
                parts.append(f'{name} {mean:.2f} (geometric mean), least {least:.2f} ({test})')
        lines.append(text + '; '.join(parts))
    return lines


def write_results(rows: list, pair: list, versions: dict, load: Load, options):
    os.makedirs(options.out, exist_ok=True)
    floor = options.floor
    headings = HEADINGS + (['floor µs/req'] if floor else [])
    when = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC')
    shown = [os.path.relpath(w) if os.path.isabs(w) else w
             for w in shlex.split(pair[0].command)]
    lines = ['# redae beside Redis', '',
             'Written by `make bench` (`bench/compare.py`); do not edit.', '',
             f'- Date: {when}' + (f', commit {commit()}' if commit() else ''),
             f'- Machine: {machine()}; '
             + ('server and load on one core each' if load.core is not None else 'no pinning'),
             f'- redae: {versions["redae"]}; `{" ".join(shown)}`',
             f'- redis: {versions["redis"]}; `{pair[1].command}`',
             '- Load: `' + ' '.join(load.command('{port}', '{test}', '{requests}', '{P}')) + '`, '
             f'{options.rounds} alternating rounds',
             '', 'redae and redis: requests per second. Ratio: redae through redis. CPU ratio: '
             "Redis's processor time per request through redae's. Medians of the rounds; above 1 "
             'redae is better.', '', '![ratios](compare.svg)', '']
    lines += [f'- {line}' for line in summary(rows)] + ['']
    lines += ['| ' + ' | '.join(headings) + ' |',
              '|' + '|'.join(['---'] + ['---:'] * (len(headings) - 1)) + '|']
    lines += ['| ' + ' | '.join(r.cells(floor)) + ' |' for r in rows]
    with open(os.path.join(options.out, 'compare.md'), 'w') as file:
        file.write('\n'.join(lines) + '\n')
    with open(os.path.join(options.out, 'compare.svg'), 'w') as file:
        file.write(chart.draw(rows, f'redae beside Redis {versions["redis"]}'))
    print(f'written: {os.path.relpath(options.out)}/compare.md, compare.svg')


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--quick', action='store_true', help='one short round, under a minute')
    parser.add_argument('--pipelines', default='1,5,16,64')
    parser.add_argument('--rounds', type=int, default=0, help='default 3, quick 1')
    parser.add_argument('--requests', type=int, default=0, help='of each run; default by test')
    parser.add_argument('--tests', default=','.join(TESTS))
    parser.add_argument('--random', type=int, default=0, help="redis-benchmark's -r")
    parser.add_argument('--floor', action='store_true', help='also measure bench/floor.c')
    parser.add_argument('--redae', default=REDAE, metavar='CMD', help='with {port} in it')
    parser.add_argument('--redis', default=REDIS, metavar='CMD', help='with {port} in it')
    parser.add_argument('--benchmark', default='redis-benchmark', help='the load program')
    parser.add_argument('--out', metavar='FOLDER')
    options = parser.parse_args()
    options.pipelines = [int(p) for p in options.pipelines.split(',')]
    options.tests = options.tests.lower().split(',')
    unknown = [t for t in options.tests if t not in TESTS]
    if unknown:
        parser.error(f'unknown test: {unknown[0]} (known: {", ".join(TESTS)})')
    options.rounds = options.rounds or (1 if options.quick else 3)
    results = os.path.join(HERE, 'results')
    options.out = options.out or (os.path.join(results, 'quick') if options.quick else results)
    return options


def main() -> int:
    options = parse_options()
    require_redis(options.benchmark, *(['redis-server'] if options.redis == REDIS else []))
    server_core, load_core = cores()
    load = Load(options, load_core)
    pair = [Server('redae', options.redae, server_core), Server('redis', options.redis, server_core)]
    floor, rows, started = None, [], time.monotonic()
    try:
        for server in pair:
            server.start()
        versions = {server.name: server.version() for server in pair}
        if options.floor:
            floor = Floor(server_core)
        print(f'redae {versions["redae"]}; redis {versions["redis"]}; {machine()}')
        print_cells(HEADINGS + (['floor µs/req'] if floor else []))
        for pipeline in options.pipelines:
            for test in options.tests:
                rows.append(Row(test, pipeline))
                measure(rows[-1], pair, load, floor, options)
                print_cells(rows[-1].cells(bool(floor)))
        print('\n'.join(summary(rows)))
        write_results(rows, pair, versions, load, options)
    except KeyboardInterrupt:
        print('interrupted; nothing written')
        return 130
    finally:
        for server in pair:
            server.stop()
        if floor:
            floor.stop()
    print(f'{time.monotonic() - started:.0f} s')
    return 0 if all(r.complete() for r in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
