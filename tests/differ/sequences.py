"""Sequences of steps, and their text form: what --out writes and --replay reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .guards import command_name
from .resp import parse, quote, split_words, unescape


@dataclass(frozen=True)
class Step:
    """One thing done on a connection: a command, raw bytes or a pause."""
    args: tuple = ()
    conn: str = 'A'
    form: str = 'resp'          # resp, inline, raw (args[0]), sleep (args[0] ms)

    @property
    def name(self) -> str:
        return 'raw bytes' if self.form == 'raw' else command_name(self.args)

    def text(self, limit: int = 0, named: bool = False) -> str:
        words = ' '.join(quote(a, limit) for a in self.args)
        if self.form == 'sleep':
            return f'!sleep {words}'
        prefix = f'{self.conn}: ' if named or self.conn != 'A' else ''
        return prefix + ('' if self.form == 'resp' else f'!{self.form} ') + words


@dataclass
class Sequence:
    """Steps, and how they are played.

    Without lockstep, neighbouring commands of one connection go out in one
    write; with it each step waits for what the one before caused on any
    connection.  split is a seed for cutting the writes at random bytes.
    """
    steps: list
    group: str = 'replay'
    seed: int = 0
    lockstep: bool = False
    split: int = 0
    dump: bool = False
    resp3: bool = False     # connections start with HELLO 3

    def lines(self, limit: int = 0) -> list[str]:
        named = len({s.conn for s in self.steps}) > 1
        options = ([f'@split {self.split}'] if self.split else []) \
            + ['@lockstep'] * self.lockstep + ['@dump'] * self.dump + ['@resp3'] * self.resp3
        return options + [s.text(limit, named) for s in self.steps]


def read_sequences(text: str) -> list[Sequence]:
    """The sequences of a replay file."""
    sequences, current = [], Sequence([])
    for line in text.split('\n') + ['']:
        line = line.strip()
        if not line:
            if current.steps:
                sequences.append(current)
            current = Sequence([])
        elif line.startswith('@'):
            word, _, rest = line[1:].partition(' ')
            if word not in ('split', 'lockstep', 'dump', 'resp3'):
                raise ValueError(f'unknown option: {line}')
            setattr(current, word, int(rest) if word == 'split' else True)
        elif not line.startswith('#'):
            current.steps.append(read_step(line))
    for sequence in sequences:
        sequence.lockstep |= len({s.conn for s in sequence.steps}) > 1 \
            or any(s.form == 'raw' for s in sequence.steps)
    return sequences


def read_step(line: str) -> Step:
    match = re.match(r'([A-Za-z]\w*): +(.*)', line)
    conn, rest = match.groups() if match else ('A', line)
    if rest.startswith('!'):
        form, _, rest = rest[1:].partition(' ')
        if form not in ('inline', 'raw', 'sleep'):
            raise ValueError(f'unknown form: {line}')
        return Step(tuple(split_words(rest)), conn, form)
    if rest.startswith('*') and '\\r\\n' in rest:
        array, _ = parse(unescape(rest), 0)
        return Step(tuple(item[1] for item in array[1]), conn)
    return Step(tuple(split_words(rest)), conn)
