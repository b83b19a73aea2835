"""Making a sequence short while it still shows a difference."""

from __future__ import annotations

import time
from dataclasses import replace

from .duel import Duel
from .guards import admissible
from .sequences import Sequence
from .sides import Diff


class Shrinker:
    """Makes a sequence short while it still shows a difference."""

    def __init__(self, duel: Duel, target: Diff, seconds: float):
        self.duel, self.target, self.seconds = duel, target, seconds
        self.due = 0.0
        self.last = target

    def shows(self, sequence: Sequence) -> bool:
        """Plays it; remembers the difference it shows."""
        if not sequence.steps or not admissible(sequence):
            return False
        for diff in self.duel.play(sequence):
            same = diff.key == self.target.key or (
                self.target.step < 0 and diff.step < 0 and diff.kind == self.target.kind)
            if same:
                self.last = diff
                return True
        return False

    def confirmed(self, sequence: Sequence) -> bool:
        with self.duel.hurried():
            return any(self.shows(sequence) for _ in range(3))

    def shrink(self, sequence: Sequence) -> Sequence:
        self.due = time.monotonic() + self.seconds
        with self.duel.hurried():
            best = sequence
            if self.target.step >= 0:
                best = self.attempt(best, steps=best.steps[:self.target.step + 1])
            best = self.drop_steps(best)
            best = self.plain_form(best)
            best = self.simplify(best)
            best = self.drop_steps(best)
            self.shows(best)            # for the replies to print
        return best

    def attempt(self, best: Sequence, **changes) -> Sequence:
        """The changed sequence if it still shows the difference, else best."""
        changed = replace(best, **changes)
        return changed if time.monotonic() < self.due and self.shows(changed) else best

    def drop_steps(self, best: Sequence) -> Sequence:
        size = max(1, len(best.steps) // 2)
        while time.monotonic() < self.due:
            before = len(best.steps)
            at = 0
            while at < len(best.steps) and time.monotonic() < self.due:
                shorter = self.attempt(best, steps=best.steps[:at] + best.steps[at + size:])
                at += 0 if shorter is not best else size
                best = shorter
            if size == 1 and len(best.steps) == before:
                break
            size = max(1, size // 2)
        return best

    def plain_form(self, best: Sequence) -> Sequence:
        if best.split:
            best = self.attempt(best, split=0)
        if any(s.form == 'inline' for s in best.steps):
            best = self.attempt(best, steps=[
                replace(s, form='resp') if s.form == 'inline' else s for s in best.steps])
        if len({s.conn for s in best.steps}) > 1:
            best = self.attempt(best, steps=[replace(s, conn='A') for s in best.steps])
        if best.lockstep and len({s.conn for s in best.steps}) == 1:
            best = self.attempt(best, lockstep=False)
        if best.dump:
            best = self.attempt(best, dump=False)
        if best.resp3:
            best = self.attempt(best, resp3=False)
        return best

    def simplify(self, best: Sequence) -> Sequence:
        for index in range(len(best.steps)):
            if best.steps[index].form != 'sleep':
                best = self.drop_args(best, index)
                best = self.shorten_args(best, index)
        return best

    def with_args(self, best: Sequence, index: int, args: tuple) -> Sequence:
        steps = list(best.steps)
        steps[index] = replace(steps[index], args=args)
        return self.attempt(best, steps=steps)

    def drop_args(self, best: Sequence, index: int) -> Sequence:
        """Removes arguments, in ever shorter runs."""
        size = len(best.steps[index].args) // 2
        while size:
            at = 1
            while at < len(best.steps[index].args) and time.monotonic() < self.due:
                args = best.steps[index].args
                shorter = self.with_args(best, index, args[:at] + args[at + size:])
                if shorter is best:
                    at += max(1, size // 2)
                best = shorter
            size //= 2
        return best

    def shorten_args(self, best: Sequence, index: int) -> Sequence:
        at = 0
        while at < len(best.steps[index].args) and time.monotonic() < self.due:
            args = best.steps[index].args
            for arg in self.simpler(args[at], at):
                shorter = self.with_args(best, index, args[:at] + (arg,) + args[at + 1:])
                if shorter is not best:
                    best = shorter
                    break
            else:
                at += 1
        return best

    @staticmethod
    def simpler(arg: bytes, at: int):
        if at and len(arg) > 3 and not arg.isupper():
            yield from (b'1', b'a')
        if len(arg) > 8:
            half = len(arg) // 2
            yield from (arg[:half], arg[half:], arg[1:], arg[:-1])
