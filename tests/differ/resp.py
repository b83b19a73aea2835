"""RESP: parsing and encoding, quoting as redis-cli does, printing replies.

A reply is a tuple (kind, payload). The kind is the type byte as str. Scalars keep their exact bytes,
aggregates are tuples of replies, a map is a flat tuple of keys and values. Null bulk and null array
have payload None.
"""

import re
from collections import Counter
from typing import Optional

Reply = tuple

LINE_KINDS = frozenset('+-:,#(_')
BULK_KINDS = frozenset('$=!')
AGGREGATE_KINDS = frozenset('*~>%')
HEADER = re.compile(rb'0|[1-9][0-9]*')
CLOSED = ('closed', b'')


class Incomplete(Exception):
    """The buffer ends before the reply does; needed: a length it must have at least."""

    def __init__(self, needed: int = 0):
        super().__init__()
        self.needed = needed


class Malformed(Exception):
    """The bytes are not RESP."""


def parse(buf: bytes, pos: int) -> tuple[Reply, int]:
    """Parses the reply that starts at pos; returns it and where it ends."""
    end = buf.find(b'\r\n', pos)
    if end < 0:
        raise Incomplete
    kind = chr(buf[pos])
    header = buf[pos + 1:end]
    pos = end + 2
    if kind in LINE_KINDS:
        return (kind, header), pos
    if header == b'-1' and kind in '$*':
        return (kind, None), pos
    if not HEADER.fullmatch(header):
        raise Malformed
    size = int(header)
    if kind in BULK_KINDS:
        stop = pos + size
        if len(buf) < stop + 2:
            raise Incomplete(stop + 2)
        if buf[stop:stop + 2] != b'\r\n':
            raise Malformed
        return (kind, buf[pos:stop]), stop + 2
    if kind == '|':                 # attributes, then the reply they belong to
        children, pos = parse_many(buf, pos, 2 * size + 1)
        return (kind, children), pos
    if kind not in AGGREGATE_KINDS:
        raise Malformed
    children, pos = parse_many(buf, pos, 2 * size if kind == '%' else size)
    return (kind, children), pos


def parse_many(buf: bytes, pos: int, count: int) -> tuple[tuple, int]:
    out = []
    for _ in range(count):
        reply, pos = parse(buf, pos)
        out.append(reply)
    return tuple(out), pos


def encode(args) -> bytes:
    return b'*%d\r\n' % len(args) + b''.join(
        [b'$%d\r\n%s\r\n' % (len(a), a) for a in args])


def encode_inline(args) -> bytes:
    return ' '.join(map(quote, args)).encode('latin-1') + b'\r\n'


def is_error(reply: Reply) -> bool:
    return reply[0] == '-' or reply[0] == '!'


def is_aggregate(reply: Reply) -> bool:
    return reply[0] in AGGREGATE_KINDS and reply[1] is not None


def number(reply: Reply) -> Optional[int]:
    return int(reply[1]) if reply[0] == ':' else None


# Text

BARE = re.compile(rb'[A-Za-z0-9_.:*+?$=(\[\]{}<>~&%@/,^|;-]+')
ESCAPES = {'\n': '\\n', '\r': '\\r', '\t': '\\t', '\a': '\\a', '\b': '\\b',
           '"': '\\"', '\\': '\\\\'}
UNESCAPES = {'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'a': '\a'}


def quote(arg: bytes, limit: int = 0) -> str:
    """The argument as one redis-cli word; beyond limit bytes it is cut."""
    if limit and len(arg) > limit:
        return quote(arg[:limit // 2]) + f'...<{len(arg)} bytes>'
    if BARE.fullmatch(arg):
        return arg.decode('latin-1')
    out = []
    for char in arg.decode('latin-1'):
        if char in ESCAPES:
            out.append(ESCAPES[char])
        elif ' ' <= char <= '~':
            out.append(char)
        else:
            out.append('\\x%02x' % ord(char))
    return '"' + ''.join(out) + '"'


WORD = re.compile(r'''\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\S+))(?=\s|$)''')


def unescape(text: str) -> bytes:
    def one(match):
        code = match.group(1)
        if code[0] == 'x' and len(code) == 3:
            return chr(int(code[1:], 16))
        return UNESCAPES.get(code, code)
    return re.sub(r'\\(x[0-9a-fA-F]{2}|.)', one, text).encode('latin-1')


def split_words(line: str) -> list[bytes]:
    """Splits a line into arguments, undoing the quotes."""
    words, pos = [], 0
    while line[pos:].strip():
        match = WORD.match(line, pos)
        if not match:
            raise ValueError(f'unbalanced quotes: {line}')
        double, single, bare = match.groups()
        if double is not None:
            words.append(unescape(double))
        elif single is not None:
            words.append(single.replace("\\'", "'").encode('latin-1'))
        else:
            words.append(bare.encode('latin-1'))
        pos = match.end()
    return words


def show(reply: Reply) -> str:
    """A reply on one line, with its type to be seen."""
    kind, payload = reply
    if kind == 'closed':
        return '(closed)'
    if kind == 'none':
        return '(no reply)'
    if payload is None:
        return '(nil)' if kind == '$' else '(nil array)'
    if kind == '$':
        return '"' + quote(payload).strip('"') + '"'
    if kind == '_':
        return '(null)'
    if kind == '-':
        return '(error) ' + quote(payload).strip('"').replace('\\"', '"')
    if kind in '*~>':
        prefix = {'*': '', '~': 'set', '>': 'push'}[kind]
        return prefix + '[' + ', '.join(map(show, payload)) + ']'
    if kind == '%':
        pairs = zip(payload[::2], payload[1::2])
        return '{' + ', '.join(f'{show(k)}: {show(v)}' for k, v in pairs) + '}'
    if kind == '|':
        return 'attributes[' + ', '.join(map(show, payload)) + ']'
    return kind + quote(payload).strip('"')


def show_cut(reply: Reply, limit: int = 600) -> str:
    text = show(reply)
    return text if len(text) <= limit else text[:limit] + f'... ({len(text)} characters)'


def first_difference(a: Reply, b: Reply, path: str = '') -> tuple[str, Reply, Reply]:
    """Where two unequal replies differ, and the two parts there."""
    if is_aggregate(a) and is_aggregate(b) and a[0] == b[0]:
        lacks, more = Counter(a[1]) - Counter(b[1]), Counter(b[1]) - Counter(a[1])
        if len(a[1]) != len(b[1]) or sum(lacks.values()) < sum(map(
                lambda pair: pair[0] != pair[1], zip(a[1], b[1]))) and lacks:
            return f'{path} only in one', (a[0], tuple(lacks)), (b[0], tuple(more))
        for i, (x, y) in enumerate(zip(a[1], b[1])):
            if x != y:
                return first_difference(x, y, f'{path}[{i}]')
    return path, a, b
