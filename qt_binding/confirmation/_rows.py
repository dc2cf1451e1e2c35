"""An effective input as rows of a table: every field, whatever its size, and no two inputs look alike.

A person reads one row per field. An input of more than :data:`MAX_ROWS` fields is shown in fewer, longer rows, for a
table of a hundred thousand rows is neither read nor drawn; nothing is ever left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent_surface import FrozenJson, canonical_json
from qt_binding.confirmation._text import MAX_RUNS, Segment, segments

MAX_ROWS: Final = 300
"""Rows of a table at most, short of fields that come from the screen and are marked one by one."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_QUOTE: Final = Segment(text='"')


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRow:
    """One field.

    Attributes:
        level: How deep inside the input, from 0.
        name: The key, quoted where it is not a plain word; ``1.``, ``2.`` … for items of a list; empty for the rest of
            an input of very many fields.
        value: What will be passed along; empty when the rows below, one level deeper, are the value.
        bound: The value came from the screen, not from the agent.
    """

    level: int
    name: tuple[Segment, ...]
    value: tuple[Segment, ...]
    bound: bool = False


def input_rows(value: FrozenJson, bound_fields: Collection[str]) -> tuple[InputRow, ...]:
    """The rows of an effective input, in its own order; none when nothing is passed along.

    Of an input with very many marks, each text that has any is marked as a whole: to draw a hundred thousand of them
    would hold up the person's screen.
    """
    rows = _rows(value, bound_fields)
    marks = sum(part.escaped for row in rows for part in (*row.name, *row.value))
    if marks <= MAX_RUNS:
        return rows
    return tuple(replace(row, name=_whole(row.name), value=_whole(row.value)) for row in rows)


def text_of(parts: Collection[Segment]) -> str:
    """What a reader of segments sees, without the marks."""
    return "".join(part.text for part in parts)


def _rows(value: FrozenJson, bound_fields: Collection[str]) -> tuple[InputRow, ...]:
    if not isinstance(value, Mapping):
        return (InputRow(level=0, name=(), value=_inline(value)),)
    if _count(value, MAX_ROWS + 1) <= MAX_ROWS:
        return tuple(_expanded(value, level=0, bound_fields=bound_fields))
    if len(value) <= MAX_ROWS:
        return tuple(_short_row(key, item, bound=key in bound_fields) for key, item in value.items())
    bound = {key: item for key, item in value.items() if key in bound_fields}
    rest = {key: item for key, item in value.items() if key not in bound_fields}
    rows = [_short_row(key, item, bound=True) for key, item in bound.items()]
    return (*rows, InputRow(level=0, name=(), value=_inline(rest)))


def _whole(parts: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """The parts as one mark if there is a mark among them; what was drawn as it is has its backslashes doubled."""
    if not any(part.escaped for part in parts):
        return parts
    texts = (part.text if part.escaped else part.text.replace("\\", "\\\\") for part in parts)
    return (Segment(text="".join(texts), escaped=True),)


def _short_row(key: str, item: FrozenJson, *, bound: bool) -> InputRow:
    value = _quoted(item) if isinstance(item, str) else _inline(item)
    return InputRow(level=0, name=_name(key), value=value, bound=bound)


def _expanded(value: FrozenJson, *, level: int, bound_fields: Collection[str] = ()) -> Iterator[InputRow]:
    for name, key, item in _children(value):
        bound = key is not None and key in bound_fields
        if _has_rows(item):
            yield InputRow(level=level, name=name, value=(), bound=bound)
            yield from _expanded(item, level=level + 1)
        else:
            shown = _quoted(item) if isinstance(item, str) else _inline(item)
            yield InputRow(level=level, name=name, value=shown, bound=bound)


def _children(value: FrozenJson) -> Iterator[tuple[tuple[Segment, ...], str | None, FrozenJson]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield _name(key), key, item
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value, start=1):
            yield (Segment(text=f"{number}."),), None, item


def _has_rows(value: FrozenJson) -> bool:
    """Whether a value gets rows of its own: objects, and lists of something other than single values."""
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, tuple | list) and any(_is_filled(item) for item in value)


def _is_filled(value: FrozenJson) -> bool:
    return isinstance(value, Mapping | tuple | list) and bool(value)


def _count(value: FrozenJson, enough: int) -> int:
    """How many rows ``value`` has, or ``enough`` when it is no fewer."""
    total = 0
    for _label, _key, item in _children(value):
        total += 1
        if total >= enough:
            return enough
        if _has_rows(item):
            total += _count(item, enough - total)
    return min(total, enough)


def _name(key: str) -> tuple[Segment, ...]:
    return (Segment(text=key),) if _PLAIN_KEY.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> tuple[Segment, ...]:
    """A text by itself: the quotes show where it begins and ends, and that it is no number."""
    return _joined([_QUOTE, *segments(text), _QUOTE])


def _inline(value: FrozenJson) -> tuple[Segment, ...]:
    return _joined(list(_inline_parts(value)))


def _inline_parts(value: FrozenJson) -> Iterator[Segment]:
    if isinstance(value, str):
        # Among other values a quote inside a text must not look like its end.
        yield from (_QUOTE, *segments(value.replace("\\", "\\\\").replace('"', '\\"')), _QUOTE)
    elif isinstance(value, Mapping):
        yield Segment(text="{")
        for position, (key, item) in enumerate(value.items()):
            if position:
                yield Segment(text=", ")
            yield from _inline_key(key)
            yield Segment(text=": ")
            yield from _inline_parts(item)
        yield Segment(text="}")
    elif isinstance(value, tuple | list):
        yield Segment(text="[")
        for position, item in enumerate(value):
            if position:
                yield Segment(text=", ")
            yield from _inline_parts(item)
        yield Segment(text="]")
    else:
        yield Segment(text=canonical_json(value))


def _inline_key(key: str) -> Iterator[Segment]:
    if _PLAIN_KEY.fullmatch(key):
        yield Segment(text=key)
    else:
        yield from _inline_parts(key)


def _joined(parts: list[Segment]) -> tuple[Segment, ...]:
    """The same text in as few segments as can be."""
    result: list[tuple[list[str], bool]] = []
    for part in parts:
        if not result or result[-1][1] is not part.escaped:
            result.append(([], part.escaped))
        result[-1][0].append(part.text)
    return tuple(Segment(text="".join(texts), escaped=escaped) for texts, escaped in result)
