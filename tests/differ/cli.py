"""Plays the same random command sequences against a reference server and a server under test, and
compares every reply byte for byte and the key space that is left at the end.

usage: run [--seed N] [--seconds 60 | --sequences N] [--groups list,set,...] [--length 40]
           [--max-diffs K] [--ignore encoding,internals] [--out FILE] [--coverage]
           [--resp3] [--commands-from-sut] [--ref CMD] [--sut CMD]
       run --replay FILE
       run --smoke

Sequence i of a run with --seed N has the seed N+i: `--seed N+i --sequences 1` with the same --groups
and --length makes it again. --smoke is what `make test` runs: a fixed seed, SMOKE_GROUPS, only the
commands that the server under test lists, soft kinds of difference ignored.

Groups: string list set zset hash stream hll geo bitmap generic expire multi scripting pubsub
blocking server acl errors (wrong calls, wrong bytes, inline) resp3 dump (RESTORE on each server of
what the other one DUMPed) tracking events (keyspace notifications) encoding (limits that change)
touch (what counts as an access) stats (what INFO counts); all by default.

In CMD, {port} is replaced by a free port and {dir} by a fresh folder, which is also the working
folder of the server. The reference is redis-server, the server under test target/release/redae.

Exit status: 0 no difference, 1 differences, 2 could not run, 77 skipped (see ../outside.py). The
last line is `N passed, N failed`, in sequences.

A difference is told apart by command and kind; each is shrunk and printed once, later ones only
count. Kinds:
  error-text "..."        both replied with an error, the text differs
  error-for-reply "..."   error where the reference has a reply; reply-for-error the other way round
  type, length, order, value            of the reply, or of an element in it
  encoding, internals     OBJECT ENCODING; refcounts and radix tree figures
  fields                  a text reply (INFO, CLIENT LIST) or CONFIG GET lacks a field
  count F                 a count F of INFO, since a CONFIG RESETSTAT at the start
  missing-command         the server does not know the command or subcommand
  no-reply, extra-reply   fewer or more replies on a connection, or closed when the other is not
                          (shown as `(closed)`)
  malformed-reply         bytes that are not RESP
  crash, hang             the server under test died or stopped answering
  state-...               the final state: keys, type, encoding, ttl, content, functions, users;
                          reported for the last command that may have written the key
  dump-to-sut, dump-to-ref  a DUMP of one server that the other cannot RESTORE, or that comes back as
                          something else
--ignore takes first words of kinds; encoding and internals also stand for the state-... ones.
After a read-only command or an error on both sides the comparison goes on; after any other
difference the rest of the sequence is not compared, and the command is then left out of most
sequences, so that it does not hide others. A difference that three reruns do not show again is
printed as UNSTABLE and does not count as failed.

What cannot be equal by nature (times, ids, random picks, hash order) is in rules.RULES, what Redis
7.4 changed in version_differences.py, one line each.

Replay files (also what --out writes): one command a line, quoted as for redis-cli, or a RESP array
with \\r\\n written out. `B: ` in front names the connection (default A). Blank lines separate
sequences. Also:
  B: !inline SET a b    sent as an inline command
  B: !raw "*1\\r\\n+X"    raw bytes
  !sleep 20             pause, in milliseconds
  @lockstep @split N @dump @resp3    options of the sequence; # starts a comment
An argument <id:B> or <addr:B> stands for the id or address of connection B.

What it cannot see: replication, cluster mode, modules, TLS, persistence across restarts, eviction,
memory limits, speed, memory use, races between clients (steps are sent one after the other),
anything that needs minutes to pass, and whatever the two tables smooth over. SYNC, PSYNC, SHUTDOWN,
MIGRATE to a live server and most of DEBUG and CONFIG SET are never sent (see guards.GUARDS).
"""

from __future__ import annotations

import argparse
import random
import shlex
import signal
import time
from dataclasses import replace

import outside

from .calls import Calls
from .duel import Duel
from .generator import GROUPS, Generator
from .grammar import Grammar
from .guards import admissible
from .report import Report
from .scripts import LIBRARIES
from .sequences import Sequence, read_sequences
from .servers import Server, ServerDied
from .version_differences import compare_versions

REF = ('redis-server --port {port} --bind 127.0.0.1 --save "" --appendonly no '
       '--enable-debug-command yes')
SUT = shlex.quote(outside.BINARY) + ' --port {port} --enable-debug-command yes'
# The groups that the quick run of `make test` plays; grows with the commands.
SMOKE_GROUPS = tuple(g for g in GROUPS if g not in ('stream', 'scripting', 'dump'))
SMOKE_SEQUENCES = 2000
SMOKE_SEED = 1
SMOKE_IGNORE = ('fields', 'internals')


def make_samples(server: Server, grammar: Grammar) -> dict:
    """Payloads for RESTORE and FUNCTION RESTORE, made by the reference."""
    calls = Calls(random.Random(1), grammar, {})
    ask = server.control.ask
    payloads = []
    for kind in 'sltzhxpgb':
        for count in (0, 0, 3, 200, 600):
            ask(b'FLUSHALL')
            for _ in range(3 if kind == 'x' else 1):
                command = calls.fill(kind, count)
                ask(*command)
            reply = ask(b'DUMP', command[1])
            if reply[0] == '$' and reply[1] and len(reply[1]) < 5000:
                payloads.append(reply[1])
    for setup in ([b'XADD', b'x0', b'1-1', b'f', b'v'], [b'XGROUP', b'CREATE', b'x0', b'g1', b'0'],
                  [b'XREADGROUP', b'GROUP', b'g1', b'c1', b'STREAMS', b'x0', b'>']):
        ask(*setup)
    payloads.append(ask(b'DUMP', b'x0')[1] or payloads[0])
    functions = []
    for library in LIBRARIES[:5]:
        ask(b'FUNCTION', b'FLUSH')
        ask(b'FUNCTION', b'LOAD', library)
        functions.append(ask(b'FUNCTION', b'DUMP')[1])
    ask(b'FUNCTION', b'FLUSH')
    ask(b'FLUSHALL')
    return {'dump': payloads, 'functions': functions}


def thin_out(sequence: Sequence, commands: set, rng: random.Random) -> Sequence:
    """Leaves out most calls of the commands, whose differences are known."""
    if not commands or rng.random() < 0.1:
        return sequence
    steps = [s for s in sequence.steps
             if not s.args or s.name not in commands or rng.random() < 0.05]
    thinner = replace(sequence, steps=steps)
    return thinner if steps and admissible(thinner) else sequence


def run_random(duel: Duel, report: Report, options, samples: dict):
    generator = Generator(duel.grammar, samples, options.groups, options.length)
    if not generator.groups:
        raise ValueError('the servers have no command of these groups in common')
    started = time.monotonic()
    rng = random.Random(options.seed)
    count = 0
    while not report.full():
        if options.sequences and count >= options.sequences:
            break
        if not options.sequences and time.monotonic() - started >= options.seconds:
            break
        sequence = thin_out(generator.sequence(options.seed + count), report.stopping, rng)
        sequence.resp3 = options.resp3
        count += 1
        if sequence.steps:
            report.judge_sequence(sequence)


def run_replay(duel: Duel, report: Report, options):
    with open(options.replay, encoding='latin-1') as file:
        sequences = read_sequences(file.read())
    for sequence in sequences:
        report.judge_sequence(sequence, shrink=False)


def print_coverage(duel: Duel):
    every = sorted(duel.grammar.commands)
    missing = [n for n in every if not duel.answered[n]]
    print(f'coverage: {len(every) - len(missing)} of {len(every)} commands had a reply other '
          f'than an error from the reference; not: {", ".join(missing) or "none"}')


def parse_options(argv) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='tests/differ/run', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ref', default=REF, help='command that starts the reference')
    parser.add_argument('--sut', default=SUT, help='command that starts the server under test')
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--sequences', type=int, default=0)
    parser.add_argument('--groups', default=','.join(GROUPS))
    parser.add_argument('--length', type=int, default=40, help='commands in a sequence')
    parser.add_argument('--max-diffs', type=int, default=0, help='stop after so many (0: never)')
    parser.add_argument('--shrink-seconds', type=float, default=4)
    parser.add_argument('--ignore', default='', help='kinds of difference, by first word')
    parser.add_argument('--out', help='file for the shrunk sequences, to --replay')
    parser.add_argument('--replay', help='file of sequences to play instead of random ones')
    parser.add_argument('--resp3', action='store_true', help='connections start with HELLO 3')
    parser.add_argument('--coverage', action='store_true', help='list commands never answered')
    parser.add_argument('--commands-from-sut', action='store_true',
                        help='send only commands that the server under test lists in COMMAND')
    parser.add_argument('--smoke', action='store_true', help='the quick run of `make test`')
    options = parser.parse_args(argv)
    options.groups = [g for g in options.groups.split(',') if g]
    options.ignore = {k for k in options.ignore.split(',') if k}
    if options.smoke:
        options.commands_from_sut = True
        options.seed, options.sequences = SMOKE_SEED, options.sequences or SMOKE_SEQUENCES
        options.groups = list(SMOKE_GROUPS)
        options.ignore.update(SMOKE_IGNORE)
    if options.commands_from_sut:
        options.ignore.add('missing-command')
    unknown = [g for g in options.groups if g not in GROUPS]
    if unknown:
        parser.error(f'unknown group: {unknown[0]}')
    return options


def check_programs(options):
    """Ends the program when one of the servers is missing."""
    reference, under_test = [shlex.split(c)[0] for c in (options.ref, options.sut)]
    outside.require_binary('differ', under_test)
    outside.require('differ', reference)


def main(argv=None) -> int:
    options = parse_options(argv)
    check_programs(options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ref, sut = Server('reference', options.ref), Server('server under test', options.sut)
    try:
        return compare(ref, sut, options)
    except (OSError, ServerDied, ValueError) as error:
        print(f'could not run: {error}')
        return 2
    finally:
        ref.stop()
        sut.stop()


def compare(ref: Server, sut: Server, options) -> int:
    ref.start()
    sut.start()
    compare_versions(*(server.control.ask(b'INFO', b'server')[1] for server in (ref, sut)))
    grammar = Grammar(ref)
    samples = make_samples(ref, grammar)
    if options.commands_from_sut:
        grammar.restrict(sut)
    duel = Duel(ref, sut, grammar, options.ignore)
    report = Report(duel, options)
    started = time.monotonic()
    try:
        if options.replay:
            run_replay(duel, report, options)
        else:
            print(f'seed {options.seed}', flush=True)
            run_random(duel, report, options, samples)
    except KeyboardInterrupt:
        print('interrupted')
    took = time.monotonic() - started
    total = report.passed + report.failed
    print(f'{took:.1f} s, {total / took:.1f} sequences/s, {duel.commands / took:.0f} commands/s; '
          f'{report.distinct} distinct differences, {report.unstable} unstable')
    if options.coverage:
        print_coverage(duel)
    print(f'{report.passed} passed, {report.failed} failed')
    return 1 if report.failed or not total else 0
