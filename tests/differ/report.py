"""Printing differences once each, counting the rest."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

from .duel import Duel
from .guards import admissible
from .resp import first_difference, show, show_cut
from .sequences import Sequence
from .servers import ServerDied
from .shrink import Shrinker
from .sides import Diff, REPLY_COUNT


class Report:
    """Prints differences once each, counts the rest."""

    def __init__(self, duel: Duel, options):
        self.duel, self.options = duel, options
        self.known: Counter = Counter()         # by (command, kind)
        self.shaky: Counter = Counter()         # unstable ones, by (command, kind)
        self.stopping: set[str] = set()         # commands whose differences end a sequence
        self.distinct = self.unstable = 0
        self.passed = self.failed = 0
        self.out = open(options.out, 'w', encoding='latin-1') if options.out else None

    def full(self) -> bool:
        return bool(self.options.max_diffs) and self.distinct >= self.options.max_diffs

    def judge_sequence(self, sequence: Sequence, shrink: bool = True):
        """Plays the sequence and deals with what it shows."""
        try:
            self.judge_diffs(sequence, self.duel.play(sequence), shrink)
        except ServerDied as died:
            if died.server is not self.duel.servers[0]:
                raise
            print(f'reference: {died.kind}  (seed {sequence.seed} group {sequence.group})')
            self.duel.restart(died.server)

    def judge_diffs(self, sequence: Sequence, diffs: list[Diff], shrink: bool):
        stable = False
        for diff in diffs:
            if self.known[diff.key]:
                self.known[diff.key] += 1
                stable = True
            elif not self.full() and self.investigate(sequence, diff, shrink):
                stable = True
        if stable:
            self.failed += 1
        else:
            self.passed += 1

    def investigate(self, sequence: Sequence, diff: Diff, shrink: bool) -> bool:
        """Confirms, shrinks and prints a new difference."""
        if diff.kind in REPLY_COUNT and not sequence.lockstep:
            sequence, diff = self.one_by_one(sequence, diff)
        shrinker = Shrinker(self.duel, diff, self.options.shrink_seconds)
        if diff.kind not in ('crash', 'hang') and not shrinker.confirmed(sequence):
            self.unstable += 1
            self.shaky[diff.key] += 1
            if self.shaky[diff.key] <= 3:
                self.show('UNSTABLE', sequence, diff)
            return False
        self.known[diff.key] += 1
        shortest = shrinker.shrink(sequence) if shrink else sequence
        found = shrinker.last
        if diff.stops:
            self.stopping.add(diff.command)
        if found.key != diff.key:
            self.known[found.key] += 1
            if self.known[found.key] > 1:
                return True
        self.distinct += 1
        self.show(f'DIFFERENCE {self.distinct}:', shortest, found)
        return True

    def one_by_one(self, sequence: Sequence, diff: Diff) -> tuple[Sequence, Diff]:
        """Without pipelining it is clear which command has too many or few replies."""
        slow = replace(sequence, lockstep=True, split=0)
        if admissible(slow):
            with self.duel.hurried():
                found = [d for d in self.duel.play(slow) if d.kind in REPLY_COUNT]
            if found:
                return slow, found[0]
        return sequence, diff

    def show(self, title: str, sequence: Sequence, diff: Diff):
        origin = f'seed {sequence.seed} group {sequence.group}'
        print(f'{title} {diff.command.upper()}: {diff.kind}  ({origin})')
        lines = sequence.lines(limit=200)
        options = len(lines) - len(sequence.steps)
        for i, line in enumerate(lines):
            print('    ' + line + ('    <--' if i - options == diff.step >= 0 else ''))
        if diff.where:
            print(f'  final state, {diff.where}')
        path, a, b = first_difference(diff.ref, diff.sut)
        print(f'  reference:  {show_cut(diff.ref)}\n  under test: {show_cut(diff.sut)}')
        if path and len(show(diff.ref)) > 80:
            print(f'  at {path}: {show_cut(a)} / {show_cut(b)}')
        sys.stdout.flush()
        if self.out:
            self.out.write('\n'.join([f'# {diff.command.upper()}: {diff.kind} ({origin})']
                                     + sequence.lines() + ['', '']))
            self.out.flush()
