"""HMM1 in plain Python with dictionaries: slow, obvious, and written to be compared with.

The same recursions in the same order as the compiled model, one number at a time: forward and
backward sums over alignments in logarithms, expected counts of nouns naming things and of jumps.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from wordsight.alignment import Instructions, Observed

__all__ = ["ReferenceHMM1"]

Pair = tuple[Instructions, Observed]
_FLOOR = 1e-40
_IMPOSSIBLE = -math.inf


class ReferenceHMM1:
    """The generative chain that stays or goes on.

    Args:
        iterations: Of EM.

    Attributes:
        table: Probability of each thing given each noun.
        jumps: Probability of staying (0) and of going on (1).
        objectives: Log likelihood before each iteration.
    """

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations
        self.table: dict[str, dict[str, float]] = {}
        self.jumps = {0: 0.5, 1: 0.5}
        self.objectives: list[float] = []

    def fit(self, pairs: Sequence[Pair]) -> "ReferenceHMM1":
        """Learn from texts with their videos."""
        nouns = {noun for text, _ in pairs for line in text.lines for noun in line.nouns}
        things = {thing for _, seen in pairs for chunk in seen.chunks for thing in chunk.things}
        self.table = {noun: dict.fromkeys(things, 1.0 / len(things)) for noun in nouns}
        for _ in range(self.iterations):
            self._iterate(pairs)
        return self

    def _iterate(self, pairs: Sequence[Pair]) -> None:
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        jumps = {0: 0.0, 1: 0.0}
        self.objectives.append(sum(self._expect(pair, counts, jumps) for pair in pairs))
        for noun, row in counts.items():
            total = sum(row.values())
            for thing in self.table[noun]:
                self.table[noun][thing] = max(row.get(thing, 0.0) / total, _FLOOR)
        moved = sum(jumps.values())
        self.jumps = {jump: max(count / moved, _FLOOR) for jump, count in jumps.items()}

    def _expect(
        self, pair: Pair, counts: dict[str, dict[str, float]], jumps: dict[int, float]
    ) -> float:
        text, seen = pair
        logs = self._emissions(pair)
        forward, backward = self._forward(logs), self._backward(logs)
        last = len(text.lines) - 1
        total = _log_sum([forward[-1][line] for line in (last - 1, last) if line >= 0])
        for t, chunk in enumerate(seen.chunks):
            for m, line in enumerate(text.lines):
                share = math.exp(forward[t][m] + backward[t][m] - total)
                for thing in chunk.things:
                    known = sum(self.table[noun][thing] for noun in line.nouns)
                    for noun in line.nouns:
                        counts[noun][thing] += share * self.table[noun][thing] / known
                if t:
                    for jump in jumps:
                        if m - jump >= 0:
                            way = forward[t - 1][m - jump] + math.log(self.jumps[jump])
                            way += logs[t][m] + backward[t][m] - total
                            jumps[jump] += math.exp(way)
        jumps[1] += 1.0  # to the first line
        return total

    def _emissions(self, pair: Pair) -> list[dict[int, float]]:
        text, seen = pair
        return [
            {
                m: sum(
                    math.log(sum(self.table[noun][thing] for noun in line.nouns) / len(line.nouns))
                    for thing in chunk.things
                )
                for m, line in enumerate(text.lines)
            }
            for chunk in seen.chunks
        ]

    def _forward(self, logs: list[dict[int, float]]) -> list[dict[int, float]]:
        start = dict.fromkeys(logs[0], _IMPOSSIBLE)
        start[0] = math.log(self.jumps[1]) + logs[0][0]
        rows = [start]
        for row in logs[1:]:
            before = rows[-1]
            rows.append(
                {
                    m: row[m]
                    + _log_sum(
                        [before[m - j] + math.log(p) for j, p in self.jumps.items() if m >= j]
                    )
                    for m in row
                }
            )
        return rows

    def _backward(self, logs: list[dict[int, float]]) -> list[dict[int, float]]:
        last = len(logs[0]) - 1
        rows = [{m: 0.0 if m >= last - 1 else _IMPOSSIBLE for m in logs[0]}]
        for row in logs[:0:-1]:
            after = rows[-1]
            rows.append(
                {
                    m: _log_sum(
                        [
                            math.log(p) + row[m + j] + after[m + j]
                            for j, p in self.jumps.items()
                            if m + j <= last
                        ]
                    )
                    for m in row
                }
            )
        return rows[::-1]


def _log_sum(logs: list[float]) -> float:
    top = max(logs)
    if top == _IMPOSSIBLE:
        return top
    return top + math.log(sum(math.exp(value - top) for value in logs))
