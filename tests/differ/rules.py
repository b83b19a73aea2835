"""Comparing replies: RULES says what is not compared byte for byte, and how instead.

`judge` is the entry: equal replies are right; otherwise the rule of the command decides, then the
table of version_differences.py, and what is left is classified as one of the kinds that run's help
lists.
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Callable, NamedTuple, Optional

from .guards import command_name, needs_fix, needs_geo_fix, store_key
from .resp import Reply, is_aggregate, is_error, number, quote
from .scripts import inner_command
from .servers import BARRIER
from .version_differences import accepted, as_newer, client_flags


@dataclass
class Call:
    """A command that was sent, with what a rule may look at to judge replies."""
    name: str                   # lower case, with the subcommand: 'xgroup create'
    args: tuple
    step: int = 0
    conn: str = 'A'
    nested: bool = False        # in MULTI or a script: no probe was possible
    probes: list = field(default_factory=list)      # the reference's replies
    sut_probes: list = field(default_factory=list)  # those of the server under test
    queued: list = field(default_factory=list)      # for EXEC: the queued calls
    fix: list = field(default_factory=list)         # set by a rule, see Rule
    dirty: list = field(default_factory=list)       # changes counted before, if counts start with the sequence
    earlier: list = field(default_factory=list)     # all steps; those before `step` came earlier
    peers: tuple = ({}, {})     # for both servers: {address: connection}
    late: bool = False          # it was blocked, and answered after a later call
    diverged: bool = False      # set by a rule: both are right, but the servers differ from now on
    culprit: str = ''           # set by a rule: the name to report instead

    def upper(self) -> list[bytes]:
        return [a.upper() for a in self.args]


def error_class(reply: Reply) -> str:
    """An error without what it quotes, short enough to be part of a kind."""
    text = re.sub(rb"'[^']*'|`[^`]*`", b"'..'", reply[1])
    text = re.sub(rb'\b[0-9a-f]{40}\b', b'<sha>', text)
    return '"' + quote(text[:60]).strip('"') + '"'


UNKNOWN = re.compile(rb"ERR unknown (sub)?command ['`]|ERR Unknown (Redis )?command called", re.I)


def classify(a: Reply, b: Reply) -> str:
    """The kind of difference between two unequal replies."""
    if is_error(b) and UNKNOWN.match(b[1]) and not (is_error(a) and UNKNOWN.match(a[1])):
        return 'missing-command'
    if b[0] == 'none':
        return 'no-reply'
    if a[0] == 'none':
        return 'extra-reply'
    if 'closed' in (a[0], b[0]):
        return 'no-reply' if b[0] == 'closed' else 'extra-reply'
    if b[0] == 'malformed':
        return 'malformed-reply'
    if is_error(a) and is_error(b):
        return f'error-text {error_class(a)}'
    if is_error(b):
        return f'error-for-reply {error_class(b)}'
    if is_error(a):
        return f'reply-for-error {error_class(a)}'
    if a[0] != b[0] or (a[1] is None) != (b[1] is None):
        return 'type'
    if not is_aggregate(a):
        return 'value'
    if len(a[1]) != len(b[1]):
        return 'length'
    if Counter(a[1]) == Counter(b[1]):
        return 'order'
    return next(classify(x, y) for x, y in zip(a[1], b[1]) if x != y)


def verdict(a: Reply, b: Reply) -> Optional[str]:
    return None if a == b else classify(a, b)


class Rule(NamedTuple):
    """How replies of some commands are compared when they are not equal.

    match returns None when the two replies are equally right, else the kind of
    difference.  It may set call.fix to commands that bring both servers to the
    same state again.  probes makes read-only commands that are sent just before
    (on the same connection, never inside MULTI); match finds the reference's
    replies to them in call.probes.
    """
    commands: str
    why: str
    match: Callable[[Call, Reply, Reply], Optional[str]]
    probes: Optional[Callable[[tuple], list]] = None


def same_shape(a: Reply, b: Reply) -> bool:
    """Equal types and lengths all the way down, whatever the scalars are."""
    if a[0] != b[0] or (a[1] is None) != (b[1] is None):
        return False
    if not is_aggregate(a):
        return True
    return len(a[1]) == len(b[1]) and all(map(same_shape, a[1], b[1]))


def pairs(reply: Reply) -> list[tuple]:
    return list(zip(reply[1][::2], reply[1][1::2]))


# Probes

def probe_encodings(args: tuple) -> list:
    return [(b'OBJECT', b'ENCODING', key) for key in args[1:]]


def probe_encoding(args: tuple) -> list:
    return probe_encodings(args[:2])


def probe_members(args: tuple) -> list:
    command = {b'SPOP': (b'SMEMBERS',), b'SRANDMEMBER': (b'SMEMBERS',),
               b'HRANDFIELD': (b'HGETALL',),
               b'ZRANDMEMBER': (b'ZRANGE', b'0', b'-1', b'WITHSCORES')}[args[0].upper()]
    return [command[:1] + args[1:2] + command[1:]] if len(args) > 1 else []


def probe_type(args: tuple) -> list:
    return [(b'TYPE', args[2])] if len(args) == 3 else []


GEO_SEARCHES = 'georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore'


def probe_distances(args: tuple) -> list:
    """The search without COUNT and storing, with distances."""
    words = args[:1] + args[2:] if args[0].upper() == b'GEOSEARCHSTORE' else args
    kept, skip = [], 0
    for word in words:
        if skip:
            skip -= 1
        elif word.upper() in (b'COUNT', b'STORE') or word.upper() == b'STOREDIST' and words is args:
            skip = 1
        elif word.upper() not in (b'ANY', b'WITHCOORD', b'WITHHASH', b'WITHDIST', b'STOREDIST'):
            kept.append(word)
    kept[0] = kept[0].upper().replace(b'GEOSEARCHSTORE', b'GEOSEARCH')
    return [tuple(kept) + (b'WITHDIST',)]


def probe_sort(args: tuple) -> list:
    """The encoding, and all rows of the answer, each behind what it is sorted by."""
    kept, by, gets, words = [], b'#', [], list(args[2:])
    while words:
        word = words.pop(0)
        if word.upper() in (b'BY', b'GET') and words:
            by, gets = (words[0], gets) if word.upper() == b'BY' else (by, gets + [words[0]])
            kept += [word, words[0]] if word.upper() == b'BY' else []
            del words[0]
        elif word.upper() in (b'LIMIT', b'STORE'):
            del words[:2 if word.upper() == b'LIMIT' else 1]
        else:
            kept.append(word)
    if not {b'ALPHA', b'BY'}.intersection(map(bytes.upper, kept)):
        return probe_encoding(args)
    columns = [by if b'*' in by else b'#'] + (gets or [b'#'])
    return probe_encoding(args) + [(b'SORT_RO',) + args[1:2] + tuple(kept) + tuple(
        word for column in columns for word in (b'GET', column))]


def probe_lex(args: tuple) -> list:
    """The encoding, and the ends: when their scores are equal, so are all."""
    return probe_encoding(args) + [(b'ZRANGE', args[1], at, at, b'WITHSCORES')
                                   for at in (b'0', b'-1') if len(args) > 1]


def probe_keys(args: tuple) -> list:
    return [(b'KEYS', b'*')]


def keeps_order(call: Call, kinds=(b'listpack', b'intset', b'ziplist')) -> bool:
    """All keys exist, on both servers in the same encoding that has an order of its own."""
    return bool(call.probes) and call.probes == call.sut_probes and all(
        p[1] is None or p[1] in kinds for p in call.probes) \
        and any(p[1] is not None for p in call.probes)


# Matchers

def unordered(call, a, b):
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0] \
            or Counter(a[1]) != Counter(b[1]):
        return classify(a, b)
    return 'order' if keeps_order(call) else None


def unordered_sets(call, a, b):
    kind = unordered(replace(call, probes=[]), a, b)
    if any(b'set-max-intset-entries' in map(bytes.lower, s.args) for s in call.earlier[:call.step]):
        return kind             # the result may be too large to have an order
    return kind or ('order' if keeps_order(call, (b'intset',)) and len(a[1]) <= 512 else None)


def unordered_pairs(call, a, b):
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0] \
            or Counter(pairs(a)) != Counter(pairs(b)):
        return classify(a, b)
    return 'order' if keeps_order(call) else None


def config_pairs(call, a, b):
    """Names and values in any order; the values that depend on the process may differ, and the
    server under test may know more names."""
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0]:
        return classify(a, b)
    left, right = [{k: v for k, v in pairs(r) if k[1] not in PROCESS_CONFIG} for r in (a, b)]
    if any(left[name] != right[name] for name in left if name in right):
        return 'value'
    return 'fields' if set(left) - set(right) else None


def random_pick(call, a, b):
    """Same type and number; the picks exist, and differ when they have to."""
    if is_error(a) or is_error(b) or a[0] != b[0] or (a[1] is None) != (b[1] is None):
        return classify(a, b)
    pool = None
    if call.sut_probes and is_aggregate(call.sut_probes[0]):
        listed = call.sut_probes[0]
        twos = call.name in ('hrandfield', 'zrandmember')
        if twos and listed[1] and is_aggregate(listed[1][0]):   # RESP3 ZRANGE
            listed = ('*', tuple(x for pair in listed[1] for x in pair[1]))
        pool = dict(pairs(listed)) if twos else dict.fromkeys(listed[1])
    if not is_aggregate(a):
        return None if pool is None or b in pool else 'value'
    if len(a[1]) != len(b[1]):
        return 'length'
    picks = [x[1] if is_aggregate(x) else (x,) for x in b[1]]
    if len(call.args) > 3 and picks and len(picks[0]) == 1:     # RESP2 WITHVALUES
        picks = list(zip(b[1][::2], b[1][1::2]))
    for pick in picks:
        if pool is not None and (pick[0] not in pool
                                 or len(pick) > 1 and pool[pick[0]][1] != pick[1][1]):   # the probe may be in RESP2
            return 'value'
    if not call.args[2].startswith(b'-') and len(set(picks)) < len(picks):
        return 'value'
    return None


def unsettled(call: Call) -> list:
    """Commands that make the states equal again, even after equal replies."""
    if call.name == 'lrem' and needs_fix(call.args):
        return [(b'DEL', call.args[1])]
    if needs_geo_fix(call.args):
        return [(b'DEL', store_key(call.args))]
    changes = call.name == 'zremrangebylex' or \
        call.name == 'zrangestore' and b'BYLEX' in call.upper()
    if changes and not call.nested and call.probes and many_scores(call):
        return [(b'DEL', call.args[1])]
    return []


def spop(call, a, b):
    kind = random_pick(call, a, b)
    if kind is None and not call.nested:
        if len(call.args) > 2:
            call.fix = [(b'DEL', call.args[1])]
        else:
            call.fix = [(b'SREM', call.args[1], a[1], b[1])]
    return kind


def scan_page(call, a, b):
    """One page (see Run.finish_scan for whole scans): only its form."""
    def well_formed(reply):
        return is_aggregate(reply) and len(reply[1]) == 2 and is_aggregate(reply[1][1]) \
            and reply[1][0][0] == '$' and (reply[1][0][1] or b'x').isdigit()
    return None if a[0] == b[0] and well_formed(a) and well_formed(b) else classify(a, b)


def sort_rows(reply: Reply, width: int) -> list:
    return list(zip(*[iter(reply[1])] * width))


def sort_ties(call, a, b):
    """ALPHA leaves what compares equal in the order of an unstable sort, BY nosort leaves a set in that of
    its table. Each row must be one of those that compare equal to the reference's at its place."""
    upper = call.upper()
    by = upper[upper.index(b'BY') + 1:][:1] if b'BY' in upper else []
    unsorted = bool(by) and b'*' not in by[0]
    encoding = call.probes[0][1] if call.probes else None
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0] or len(a[1]) != len(b[1]) \
            or not (b'ALPHA' in upper or unsorted) \
            or unsorted and encoding in (b'quicklist', b'skiplist', b'listpack', b'intset'):
        return classify(a, b)
    width = max(1, upper.count(b'GET'))
    if len(call.probes) < 2 or not is_aggregate(call.probes[1]):
        rows = [Counter(sort_rows(r, width)) for r in (a, b)]
        return None if call.nested and (b'LIMIT' in upper or rows[0] == rows[1]) else classify(a, b)
    classes = {}        # rows by what they are sorted by
    for row in sort_rows(call.probes[1], width + 1):
        weight = b'' if unsorted else (row[0][1] or b'').partition(b'\0')[0]      # by strcoll()
        classes.setdefault(weight, Counter())[row[1:]] += 1
    left, right = sort_rows(a, width), sort_rows(b, width)
    for same in classes.values():
        places = [i for i, row in enumerate(left) if row in same]
        if Counter(right[i] for i in places) - same:
            return classify(a, b)
    known = set().union(*classes.values()) if classes else set()
    return None if all(row in known for row in left) else classify(a, b)


def many_scores(call: Call) -> bool:
    """Whether the key is a skiplist whose elements have different scores."""
    if call.probes[0][1] != b'skiplist':
        return False
    scores = [leaf_scores(reply) for reply in call.probes[1:3]]
    return len(scores) < 2 or scores[0] != scores[1]


def leaf_scores(reply: Reply) -> tuple:
    """The scores in a reply of ZRANGE WITHSCORES, in either protocol."""
    rows = reply[1] if is_aggregate(reply) else ()
    return tuple(row[1][1] for row in rows) if rows and is_aggregate(rows[0]) else rows[1::2]


def lex_range(call, a, b):
    skiplist = call.nested or call.probes and many_scores(call)
    return type_only(call, a, b) if skiplist else classify(a, b)


def geo_ties(call, a, b):
    """The places at the same distance may be others, and in another order."""
    listed = call.probes[0] if call.probes else None
    if b'COUNT' not in call.upper() or not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0] \
            or len(a[1]) != len(b[1]) or not listed or not is_aggregate(listed):
        return classify(a, b)
    distances = {row[1][0]: row[1][1] for row in listed[1]}
    rows = [[(r[1][0], r) if is_aggregate(r) else (r, r) for r in reply[1]] for reply in (a, b)]
    left, right = [[distances.get(member) for member, _ in side] for side in rows]
    if left != right or None in right or len(dict(rows[1])) < len(rows[1]):
        return classify(a, b)
    wanted = dict(rows[0])
    return 'value' if any(wanted.get(member, row) != row for member, row in rows[1]) else None


def near(tolerance):
    def match(call, a, b):
        x, y = number(a), number(b)
        if x is None or y is None or min(x, y) < 0 or abs(x - y) > tolerance:
            return classify(a, b)
        return None
    return match


def form_only(call, a, b):
    return None if same_shape(a, b) and not is_error(a) else classify(a, b)


def type_only(call, a, b):
    if a[0] != b[0] or (a[1] is None) != (b[1] is None) or is_error(a):
        return classify(a, b)
    return None


def positive(call, a, b):
    x, y = number(a), number(b)
    return None if x is not None and y is not None and x > 0 and y > 0 else classify(a, b)


def masked(*names):
    """Equal apart from the values that follow the given names."""
    hidden = {n.encode() for n in names}

    def mask(reply):
        if not is_aggregate(reply):
            return reply
        out, hide = [], False
        for child in reply[1]:
            out.append((child[0], b'') if hide and not is_aggregate(child) else mask(child))
            hide = child[0] in '$+' and child[1] in hidden
        return (reply[0], tuple(out))

    return lambda call, a, b: verdict(mask(a), mask(b))


def lines_of(text: bytes) -> dict:
    return dict(line.split(b':', 1) for line in text.split(b'\r\n') if b':' in line)


STEADY_INFO = (b'redis_mode', b'role', b'connected_slaves', b'loading', b'cluster_enabled',
               b'arch_bits', b'maxmemory', b'maxmemory_policy', b'aof_enabled', b'blocked_clients',
               b'tracking_clients', b'pubsub_channels', b'pubsub_patterns', b'pubsubshard_channels',
               b'clients_in_timeout_table', b'maxclients', b'cluster_connections')
# What is the same on both servers when it is counted from zero in a sequence.
COUNTED_INFO = re.compile(rb'cmdstat_.*|errorstat_.*|total_commands_processed|expired_keys|evicted_.*|'
                          rb'keyspace_hits|keyspace_misses|tracking_total_.*|total_error_replies|'
                          rb'unexpected_error_replies|rdb_changes_since_last_save')
TIMES = re.compile(rb'usec(_per_call)?=[\d.]+,')


def info_fields(call, a, b):
    if a[0] != b[0] or is_error(a):
        return classify(a, b)
    left, right = lines_of(a[1]), lines_of(b[1])
    headings = [set(re.findall(rb'^# (\w+)', r[1], re.M)) for r in (a, b)]
    volatile = re.compile(rb'cmdstat_|errorstat_|latency_percentiles|db\d|slave\d|.*avg_ttl')
    lacks = [k for k in left if k not in right and not volatile.match(k)]
    if lacks or headings[0] - headings[1]:
        return 'fields'
    if any(left.get(k) != right.get(k) for k in STEADY_INFO):
        return 'value'
    spaces = [{k: re.sub(rb',(avg_ttl|subexpiry)=\d+', b'', v) for k, v in side.items()
               if re.fullmatch(rb'db\d+', k)} for side in (left, right)]
    if spaces[0] != spaces[1]:
        return 'value'
    return differing_count(left, right, call.dirty) if call.dirty else None


def differing_count(left: dict, right: dict, dirty: list) -> Optional[str]:
    """The first count that is not the same; changes count from where they stood before."""
    sides = []
    for side, before in zip((left, right), dirty):
        counts = {k: TIMES.sub(b'', v) for k, v in side.items() if COUNTED_INFO.fullmatch(k)}
        if b'rdb_changes_since_last_save' in counts:
            counts[b'rdb_changes_since_last_save'] = int(counts[b'rdb_changes_since_last_save']) - before
        sides.append(counts)
    per_name = (b'cmdstat_', b'errorstat_')
    for name in sorted(n for n in {**sides[0], **sides[1]}
                       if n.startswith(per_name) or n in left and n in right):
        if sides[0].get(name) != sides[1].get(name):
            return f'count {name.decode("latin-1")}'
    return None


STEADY_CLIENT = (b'name', b'db', b'sub', b'psub', b'ssub', b'multi', b'user', b'resp', b'cmd', b'flags')


def client_lines(reply: Reply, peers: dict) -> list:
    """(connection, fields) of the clients that belong to the sequence."""
    rows = [dict(w.partition(b'=')[::2] for w in line.split(b' '))
            for line in (reply[1] or b'').split(b'\n') if line]
    return [(peers[row[b'addr']], row) for row in rows if row.get(b'addr') in peers]


def client_fields(call, a, b):
    """Which clients, the names of the fields, and the values that do not depend on the socket."""
    if a[0] != b[0] or is_error(a):
        return classify(a, b)
    left, right = [client_lines(*two) for two in zip((a, b), call.peers)]
    if [name for name, _ in left] != [name for name, _ in right]:
        return 'length'
    for (_, x), (_, y) in zip(left, right):
        if set(x) - set(y):
            return 'fields'
        x, y = [{**fields, b'flags': client_flags(call, fields[b'flags'])} for fields in (x, y)]
        # Who waits for room to write depends on how much the sockets take.
        steady = STEADY_CLIENT if {x[b'oll'], y[b'oll']} != {b'0'} else STEADY_CLIENT + (b'events',)
        if any(x.get(k) != y.get(k) for k in steady) or (x[b'redir'] == b'-1') != (y[b'redir'] == b'-1'):
            return 'value'
    return None


def histogram_calls(call, a, b):
    """Which commands, and how often; the rest is time."""
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0]:
        return classify(a, b)
    if not call.dirty:
        return None
    left, right = [{name: entry[1][1] for name, entry in pairs(r)} for r in (a, b)]
    return None if left == right else 'value'


def event_names(call, a, b):
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0]:
        return classify(a, b)
    names = [sorted(row[1][0] for row in r[1]) for r in (a, b)]
    return None if names[0] == names[1] else 'value'


def stat_names(call, a, b):
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0]:
        return classify(a, b)
    left, right = [{name[1] for name, _ in pairs(r)} for r in (a, b)]
    return 'fields' if left - right else None


def same_length(call, a, b):
    return classify(a, b) if a[0] != b[0] or is_aggregate(a) and len(a[1]) != len(b[1]) else None


def stream_times(call, a, b):
    """Idle times and delivery times may differ a little."""
    def walk(x, y, last):
        if x == y:
            return None
        if number(x) is not None and number(y) is not None:
            apart = abs(number(x) - number(y))
            is_time = min(number(x), number(y)) > 10 ** 12 and last != b'entries-read'
            if apart <= 2000 and (is_time or last in (b'idle', b'inactive', b'pending-idle')):
                return None
            return 'internals' if last.startswith(b'radix-tree') else 'value'
        if not (is_aggregate(x) and is_aggregate(y)) or x[0] != y[0] \
                or len(x[1]) != len(y[1]):
            return classify(x, y)
        kinds = []
        for i, (p, q) in enumerate(zip(x[1], y[1])):
            before = x[1][i - 1][1] if i and x[1][i - 1][0] == '$' else b''
            if call.name == 'xpending' and i == 2 and len(x[1]) == 4:
                before = b'pending-idle'
            kinds.append(walk(p, q, before or b''))
        kinds = [k for k in kinds if k]
        return next((k for k in kinds if k != 'internals'), kinds[0] if kinds else None)
    return walk(a, b, b'')


STREAM_ID = re.compile(rb'(\d+)-\d+')


def auto_id(call, a, b):
    ids = [STREAM_ID.fullmatch(r[1] or b'') if r[0] == '$' else None for r in (a, b)]
    if b'*' not in call.args or None in ids \
            or abs(int(ids[0].group(1)) - int(ids[1].group(1))) > 2000:
        return classify(a, b)
    if not call.nested:
        call.fix = [(b'DEL', call.args[1])]
    return None


def canonical(reorder):
    return lambda call, a, b: verdict(reorder(call, a), reorder(call, b)) \
        if is_aggregate(a) and is_aggregate(b) else classify(a, b)


def sort_children(reply: Reply) -> Reply:
    return (reply[0], tuple(sorted(reply[1], key=repr)))


def sort_command_info(call, reply):
    entries = [(e[0], e[1][:9] + tuple(map(sort_children, e[1][9:])))
               if is_aggregate(e) and len(e[1]) > 9 else e for e in reply[1]]
    out = (reply[0], tuple(entries))
    return out if len(call.args) > 2 else sort_children(out)


def sort_docs(call, reply):
    """Sorts the 'subcommands' of each command, and all when no names were given."""
    def flat(kind, twos):
        return (kind, tuple(x for pair in twos for x in pair))

    def one(doc):
        return flat(doc[0], [(k, flat(v[0], sorted(pairs(v), key=repr))
                              if k[1] == b'subcommands' else v) for k, v in pairs(doc)])
    docs = [(name, one(doc)) for name, doc in pairs(reply)]
    return flat(reply[0], docs if len(call.args) > 2 else sorted(docs, key=repr))


def sort_libraries(call, reply):
    def library(entry):
        return (entry[0], tuple(sort_children(x) if is_aggregate(x) else x for x in entry[1]))
    return sort_children((reply[0], tuple(map(library, reply[1]))))


def exec_array(call, a, b):
    if not (is_aggregate(a) and is_aggregate(b)) or a[0] != b[0] \
            or len(a[1]) != len(b[1]):
        return classify(a, b)
    calls = call.queued if len(call.queued) == len(a[1]) else [None] * len(a[1])
    for inner, x, y in zip(calls, a[1], b[1]):
        kind = judge(inner, x, y) if inner else verdict(x, y)
        if kind:
            call.culprit = inner.culprit or inner.name if inner else ''
            return kind
    return None


def script_call(call, a, b):
    """Scripts that pass a command through are judged by that command's rule."""
    inner = inner_command(call.args)
    if not inner:
        return classify(a, b)
    nested = Call(command_name(inner), inner, nested=True)
    kind = judge(nested, a, b)
    if kind == 'missing-command':
        call.culprit = nested.name
    elif kind and not kind.startswith('error-text'):
        call.culprit = f'{call.name}+{nested.name}'
    return kind


ACL_WORDS = re.compile(rb'(?:(?<=[ (])[+-](?!@)[^ ()]+ ?)+')


def acl_rules(call, a, b):
    """Neighbouring +command and -command words come in hash order."""
    def settle_rules(reply):
        if is_aggregate(reply):
            return (reply[0], tuple(map(settle_rules, reply[1])))
        if reply[0] != '$' or reply[1] is None:
            return reply
        return ('$', ACL_WORDS.sub(lambda m: b' '.join(sorted(m.group().split())) + b' ',
                                   b' ' + reply[1].replace(b')', b' )') + b' '))
    return verdict(settle_rules(a), settle_rules(b))


def background_job(call, a, b):
    """Whether a child process still runs depends on time."""
    busy = re.compile(rb'(ERR )?Background|ERR (An AOF|Another child)')
    if a[0] in '+-' and b[0] in '+-' and (busy.match(a[1]) or a == ('+', b'OK')) \
            and (busy.match(b[1]) or b == ('+', b'OK')):
        return None
    return classify(a, b)


def debug_object(call, a, b):
    if a[0] == b[0] == '+':
        found = [re.search(rb'encoding:(\S+)', r[1]) for r in (a, b)]
        if all(found):
            return None if found[0].group(1) == found[1].group(1) else 'encoding'
    return classify(a, b)


def kind_is(kind):
    def match(call, a, b):
        found = classify(a, b)
        return kind if found == 'value' else found
    return match


def references(call, a, b):
    """Exact, but while a transaction runs Redis's queue holds what it stores, too, and a copy of a small integer
    is not shared as others are."""
    copied = any(s.name == 'copy' for s in call.earlier[:call.step])
    if copied and (a, b) == ((':', b'1'), (':', b'2147483647')):
        return None
    return None if call.nested and (a, b) == ((':', b'2'), (':', b'1')) else kind_is('internals')(call, a, b)


def idle_time(call, a, b):
    shared = call.probes[:1] == [(':', b'2147483647')]
    return positive(call, (a[0], b'1'), (b[0], b'1')) if shared else near(2)(call, a, b)


def access_count(call, a, b):
    """Exact; what made the difference is the command before."""
    before = [s.name for s in call.earlier[:call.step] if s.args and s.name != 'object freq']
    call.culprit = f'object freq after {before[-1]}' if before else ''
    return classify(a, b)


def slowlog_entries(call, a, b):
    def entries(reply):
        """The arguments, without those of CLIENT, which may be ids."""
        kept = []
        for entry in reply[1]:
            args = [arg[1] for arg in entry[1][3][1]]
            if BARRIER not in args:
                kept.append((args[:2] if args[0].upper() == b'CLIENT' else args, entry[1][5:]))
        return kept
    if not (is_aggregate(a) and is_aggregate(b)) or not all(
            is_aggregate(e) and len(e[1]) > 3 and is_aggregate(e[1][3]) and e[1][3][1]
            for r in (a, b) for e in r[1]):
        return classify(a, b)
    return None if entries(a) == entries(b) else 'value'


PROCESS_CONFIG = (b'port', b'dir', b'pidfile', b'logfile', b'bind', b'unixsocket', b'save',
                  b'appendonly', b'enable-debug-command')

# The one place that says what is not compared byte for byte.
RULES = (
    Rule('smembers hkeys hvals', 'hash order; exact when the reference says listpack or '
         'intset (in MULTI and scripts: unordered)', unordered, probe_encoding),
    Rule('hgetall', 'the same, by field and value', unordered_pairs, probe_encoding),
    Rule('sinter sunion sdiff', 'hash order; exact when all sets are intsets',
         unordered_sets, probe_encodings),
    Rule('keys,pubsub channels,pubsub shardchannels,acl cat,command list',
         'order of a hash table', unordered),
    Rule('config get', 'order of a hash table of names; values of PROCESS_CONFIG; lacking names '
         'are of the kind "fields"',
         config_pairs),
    Rule('command info,command', 'order of the table of (sub)commands',
         canonical(sort_command_info)),
    Rule('command docs', 'order of the table of (sub)commands', canonical(sort_docs)),
    Rule('function list', 'order of libraries and of their functions',
         canonical(sort_libraries)),
    Rule('srandmember hrandfield zrandmember', 'random: number of picks, that they are '
         'members and, for counts >= 0, distinct', random_pick, probe_members),
    Rule('spop', 'random: as srandmember; then the picks of both (the whole key, when '
         'called with a count) are removed from both', spop, probe_members),
    Rule('randomkey', 'random: both must be existing keys', random_pick, probe_keys),
    Rule('scan', 'cursors and pages: scans from 0 are completed on both and the sets '
         'compared, other pages by their form', scan_page),
    Rule('sscan hscan zscan', 'the same; exact for listpack and intset', scan_page,
         probe_encoding),
    Rule('sort sort_ro', 'what ALPHA calls equal comes in the order that the C library sorts it to, sets BY '
         'nosort in hash order', sort_ties, probe_sort),
    Rule('zrangebylex zrevrangebylex zlexcount zremrangebylex', 'lexical ranges of a skiplist '
         'with different scores depend on its random levels: then type only; '
         'after a change (also ZRANGESTORE BYLEX) the key is deleted on both', lex_range,
         probe_lex),
    Rule('zrange', 'the same, with BYLEX', lambda c, a, b: lex_range(c, a, b)
         if b'BYLEX' in c.upper() else classify(a, b), probe_lex),
    Rule('zrangestore', 'the same', lambda c, a, b: lex_range(c, a, b)
         if b'BYLEX' in c.upper() else classify(a, b), lambda args: probe_lex(args[1:])),
    Rule(GEO_SEARCHES, 'COUNT: which of the places at the same distance come, and in which order, depends '
         'on a partial quicksort: those may differ; after storing the key is deleted on both',
         geo_ties, probe_distances),
    Rule('ttl expiretime', 'within 2 seconds', near(2)),
    Rule('object idletime', 'the same; equal small integers are one object in Redis, which any access to it touches',
         idle_time, lambda args: [(b'OBJECT', b'REFCOUNT', args[2])] if len(args) == 3 else []),
    Rule('pttl pexpiretime', 'within 200 ms', near(200)),
    Rule('time lastsave role', 'clock, offsets: form only', form_only),
    Rule('client id,client getredir', 'client ids: both positive', positive),
    Rule('client trackinginfo', 'id of the redirection', masked('redirect')),
    Rule('client list,client info', 'ids, addresses, times and sizes: which connections of the sequence, '
         'names of fields, STEADY_CLIENT', client_fields),
    Rule('hello,raw bytes', 'version and client id', masked('version', 'id')),
    Rule('info', 'values: sections, names of fields, STEADY_INFO and the key counts of '
         'databases; COUNTED_INFO when the sequence starts with CONFIG RESETSTAT', info_fields),
    Rule('memory usage', 'memory: both positive', positive),
    Rule('memory stats', 'sizes: names of fields', stat_names),
    Rule('latency latest', 'times: names of events', event_names),
    Rule('latency history', 'times: how many', same_length),
    Rule('latency histogram', 'times: the commands, and how often they were called when the sequence starts with '
         'CONFIG RESETSTAT', histogram_calls),
    Rule('memory doctor,memory malloc-stats,latency doctor,latency graph,lolwut,dump,function dump,'
         'debug htstats,debug sdslen,debug structsize,debug jmap,debug mallctl',
         'memory, time, art, opaque payloads: type only (payloads: group dump)', type_only),
    Rule('acl genpass', 'random: type and length', lambda c, a, b: None
         if same_shape(a, b) and not is_error(a) and len(a[1]) == len(b[1])
         else classify(a, b)),
    Rule('xpending,xinfo consumers,xinfo groups,xinfo stream,xautoclaim,xclaim',
         'idle and delivery times: within 2 seconds; radix tree figures are of the kind '
         '"internals"', stream_times),
    Rule('xadd', 'ids made from the clock (*): within 2 seconds; the key is then deleted on '
         'both', auto_id),
    Rule('slowlog get', 'entry ids, times, addresses', slowlog_entries),
    Rule('function stats', 'how long the running script has run', masked('duration_ms')),
    Rule('acl list,acl getuser', 'order of neighbouring +command and -command words', acl_rules),
    Rule('acl log', 'ages, entry ids, client text', masked(
        'age-seconds', 'client-info', 'entry-id', 'timestamp-created',
        'timestamp-last-updated')),
    Rule('save bgsave bgrewriteaof', 'whether a child process is running',
         background_job),
    Rule('debug object', 'addresses, LRU clock, sizes: the encoding', debug_object),
    Rule('object encoding', 'exact, but of the kind "encoding"', kind_is('encoding'), probe_type),
    Rule('object freq', 'exact', access_count),
    Rule('object refcount', 'exact, but of the kind "internals"; the queue of a transaction counts, copies of '
         'integers are not shared', references),
    Rule('exec', 'each element by the rule of its command, without probes', exec_array),
    Rule('eval evalsha eval_ro evalsha_ro', 'scripts that pass on one command: by the rule '
         'of that command, without probes', script_call),
    # Outside this table, in Run: MONITOR lines lose time and address (and barrier PINGs);
    # pmessages for one published message, and the acknowledgements of an UNSUBSCRIBE
    # without arguments, come in any order; state checks compare TTLs within 2 seconds.
)


def rule_names(rule: Rule) -> list[str]:
    return [name for part in rule.commands.split(',')
            for name in ([part] if ' ' in part and part.split()[0] in CONTAINER_WORDS
                         else part.split())]


CONTAINER_WORDS = frozenset(
    'acl client command config debug function latency memory object pubsub raw slowlog '
    'xinfo'.split())
RULE_BY_NAME = {name: rule for rule in RULES for name in rule_names(rule)}


def judge(call: Call, a: Reply, b: Reply) -> Optional[str]:
    """None when the replies are equally right, else the kind of difference."""
    if a == b:
        return None
    a = as_newer(call, a)
    call.probes = [as_newer(call, probe) for probe in call.probes]
    kind = by_rule(call, a, b)
    return None if kind is None or accepted(call, a, b) else kind


def by_rule(call: Call, a: Reply, b: Reply) -> Optional[str]:
    if a == b:
        return None
    rule = RULE_BY_NAME.get(call.name)
    if rule is None or 'malformed' in (a[0], b[0]) or 'none' in (a[0], b[0]) \
            or 'closed' in (a[0], b[0]):
        return classify(a, b)
    if is_error(a) or is_error(b):
        return rule.match(call, a, b) if rule.match in (
            background_job, script_call) else classify(a, b)
    return rule.match(call, a, b)
