"""How one list becomes another with as few changes as an item model can announce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Remove:
    """Take away the rows ``first`` to ``last``."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Insert:
    """Put in the rows ``first`` to ``last`` of the wanted list."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Move:
    """Take the row ``source`` out and put it in at ``target``, which is before it."""

    source: int
    target: int


Step: TypeAlias = Remove | Insert | Move


def steps(present: Sequence[str], wanted: Sequence[str]) -> list[Step]:
    """What turns ``present`` into ``wanted``, one step after the other. Both hold each key once."""
    result: list[Step] = []
    keep = set(wanted)
    rows = [key for key in present if key in keep]
    last = len(present) - 1
    while last >= 0:
        if present[last] in keep:
            last -= 1
            continue
        first = last
        while first > 0 and present[first - 1] not in keep:
            first -= 1
        result.append(Remove(first, last))
        last = first - 1
    known = set(rows)
    position = 0
    while position < len(wanted):
        key = wanted[position]
        if position < len(rows) and rows[position] == key:
            position += 1
        elif key in known:
            source = rows.index(key, position)
            rows.insert(position, rows.pop(source))
            result.append(Move(source, position))
            position += 1
        else:
            end = position
            while end + 1 < len(wanted) and wanted[end + 1] not in known:
                end += 1
            rows[position:position] = wanted[position : end + 1]
            result.append(Insert(position, end))
            position = end + 1
    return result
