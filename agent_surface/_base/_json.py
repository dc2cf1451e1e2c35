"""JSON values: the only thing that crosses the boundary to an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final, TypeAlias, Union, cast

JsonValue: TypeAlias = Union[bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]", None]
"""A mutable JSON value: what a caller hands in and what ``to_json()`` returns."""

FrozenJson: TypeAlias = Union[bool, int, float, str, "tuple[FrozenJson, ...]", "Mapping[str, FrozenJson]", None]
"""A JSON value that nobody can change: tuples and ``MappingProxyType`` in place of lists and dicts."""

JsonSchema: TypeAlias = Mapping[str, FrozenJson]
"""A frozen JSON Schema document in the supported subset."""

MAX_JSON_DEPTH: Final = 64
"""How many lists and objects may contain each other; a scalar has depth 0."""


class NotJsonError(ValueError):
    """A value is no JSON value.

    Raised for anything but ``None``, ``bool``, ``int``, finite ``float``, ``str`` without lone surrogates, ``list``
    and ``dict`` with ``str`` keys, of exactly these types, and for values nested deeper than ``MAX_JSON_DEPTH``.

    Attributes:
        path: JSON Pointer to the offending part, empty for the value itself.
        reason: Why, without any of the value's content; safe to show.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'the value'}: {reason}")
        self.path = path
        self.reason = reason


def freeze_json(value: object) -> FrozenJson:
    """Check that ``value`` is a JSON value and return a copy of it that nobody can change.

    Tuples and ``MappingProxyType`` are refused like any other type: what is frozen already needs no freezing.

    Args:
        value: Anything.

    Returns:
        The same value with tuples for lists and ``MappingProxyType`` for dicts.

    Raises:
        NotJsonError: ``value`` is no JSON value; says where and why.
    """
    try:
        return _freeze(value, MAX_JSON_DEPTH)
    except _RefusedError:
        pass
    raise _refusal(value)


def check_json(value: object) -> JsonValue:
    """Return ``value`` itself when it is a (mutable) JSON value; nothing is copied.

    Raises:
        NotJsonError: ``value`` is no JSON value; says where and why.
    """
    try:
        _check(value, MAX_JSON_DEPTH)
    except _RefusedError:
        raise _refusal(value) from None
    return cast("JsonValue", value)


def thaw_json(value: FrozenJson) -> JsonValue:
    """A fresh, mutable copy of a frozen JSON value."""
    kind = type(value)
    if kind in _SCALARS:
        return cast("JsonValue", value)
    # The exact types are asked first: isinstance() with an abstract class is slow.
    if kind is tuple or isinstance(value, tuple):
        if _SCALARS.issuperset(map(type, cast("tuple[object, ...]", value))):
            return list(cast("tuple[JsonValue, ...]", value))
        return [thaw_json(item) for item in cast("tuple[FrozenJson, ...]", value)]
    if kind is MappingProxyType or isinstance(value, Mapping):
        entries = cast("Mapping[str, FrozenJson]", value)
        if _SCALARS.issuperset(map(type, entries.values())):
            return cast("dict[str, JsonValue]", dict(entries))
        return {key: thaw_json(item) for key, item in entries.items()}
    return value


def compact_json(value: JsonValue | FrozenJson) -> str:
    """``value`` as JSON text without spaces, keys in their own order, nothing escaped that need not be.

    Raises:
        NotJsonError: ``value`` is no JSON value, neither mutable nor frozen.
    """
    try:
        # Most observations are one number, and the encoder is set up anew for each value.
        if type(value) is int:
            return int.__repr__(value)
        text = _encode(value)
        if text.isascii() or _SURROGATE.search(text) is None:
            return text
    except (TypeError, ValueError, RecursionError):
        pass
    raise _refusal(value, frozen=True)


def json_bytes(value: JsonValue | FrozenJson) -> int:
    """The size of ``value`` in UTF-8 bytes of its compact form.

    Args:
        value: A JSON value, mutable or frozen.

    Raises:
        NotJsonError: ``value`` is no JSON value.
    """
    text = compact_json(value)
    return len(text) if text.isascii() else len(text.encode())


def find_json_problem(value: object, *, frozen: bool = False) -> NotJsonError | None:
    """The first reason why ``value`` is no JSON value, or ``None``. Slow: for the case that something is wrong.

    Args:
        value: Anything.
        frozen: Whether tuples and ``MappingProxyType`` count as arrays and objects.
    """
    objects = (dict, MappingProxyType) if frozen else (dict,)
    arrays = (list, tuple) if frozen else (list,)
    # (part, its path, the ids of the containers around it)
    pending: list[tuple[object, tuple[str | int, ...], tuple[int, ...]]] = [(value, (), ())]
    while pending:
        part, path, around = pending.pop()
        kind = type(part)
        if kind not in objects and kind not in arrays:
            problem = _scalar_problem(part)
            if problem is not None:
                return NotJsonError(json_pointer(path), problem)
            continue
        if id(part) in around:
            return NotJsonError(json_pointer(path), "contains itself")
        if len(around) == MAX_JSON_DEPTH:
            return NotJsonError(json_pointer(path), f"nested deeper than {MAX_JSON_DEPTH} levels")
        inside = (*around, id(part))
        if kind in arrays:
            items = list(enumerate(cast("list[object]", part)))
            pending.extend((item, (*path, index), inside) for index, item in reversed(items))
            continue
        entries = list(cast("Mapping[object, object]", part).items())
        for key, _ in entries:
            if type(key) is not str:
                return NotJsonError(json_pointer(path), "an object key that is not text")
            if _SURROGATE.search(key) is not None:
                return NotJsonError(json_pointer(path), "an object key with a lone surrogate")
        pending.extend((item, (*path, cast("str", key)), inside) for key, item in reversed(entries))
    return None


def json_pointer(parts: Iterable[str | int]) -> str:
    """The JSON Pointer (RFC 6901) that leads through ``parts``; empty for no parts."""
    return "".join([f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts])


class _RefusedError(Exception):
    """Some part is no JSON value. The hot path carries no path; it is found again once something is wrong."""


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TEXT: Final = frozenset({str})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# CPython refuses to print an integer with more digits, so such a one could never be written as JSON text.
_INT_END: Final = 10**4300


def _thaw_mapping(value: object) -> dict[object, object]:
    if type(value) is MappingProxyType:
        return dict(cast("Mapping[object, object]", value))
    raise TypeError


_encode: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_thaw_mapping
).encode


def _freeze(value: object, levels: int) -> FrozenJson:  # noqa: C901 - on the path of every call: written out
    kind = type(value)
    if kind is dict:
        if not levels:
            raise _RefusedError
        frozen: dict[str, FrozenJson] = {}
        for key, item in cast("dict[object, object]", value).items():
            if type(key) is not str or not (key.isascii() or _SURROGATE.search(key) is None):
                raise _RefusedError
            of = type(item)
            # Written out for the commonest types: a call into _freeze costs more than the check.
            if of is str:
                text = cast("str", item)
                if not (text.isascii() or _SURROGATE.search(text) is None):
                    raise _RefusedError
                frozen[key] = text
            elif of is bool or item is None:
                frozen[key] = cast("bool | None", item)
            else:
                frozen[key] = _freeze(item, levels - 1)
        return MappingProxyType(frozen)
    if kind is list:
        if not levels:
            raise _RefusedError
        items = cast("list[object]", value)
        if _TEXT.issuperset(map(type, items)) and "".join(cast("list[str]", items)).isascii():
            return tuple(cast("list[str]", items))
        return tuple([_freeze(item, levels - 1) for item in items])
    if kind is str:
        text = cast("str", value)
        if not (text.isascii() or _SURROGATE.search(text) is None):
            raise _RefusedError
        return text
    if kind is int:
        if not -_INT_END < cast("int", value) < _INT_END:
            raise _RefusedError
        return cast("int", value)
    if kind is float:
        if not isfinite(cast("float", value)):
            raise _RefusedError
        return cast("float", value)
    if value is None or kind is bool:
        return cast("bool | None", value)
    raise _RefusedError


def _check(value: object, levels: int) -> None:  # noqa: C901 - on the path of every call: written out
    kind = type(value)
    if kind is dict:
        if not levels:
            raise _RefusedError
        for key, item in cast("dict[object, object]", value).items():
            if type(key) is not str or not (key.isascii() or _SURROGATE.search(key) is None):
                raise _RefusedError
            of = type(item)
            if of is str:
                if not (cast("str", item).isascii() or _SURROGATE.search(cast("str", item)) is None):
                    raise _RefusedError
            elif not (of is bool or item is None):
                _check(item, levels - 1)
    elif kind is list:
        if not levels:
            raise _RefusedError
        items = cast("list[object]", value)
        if _TEXT.issuperset(map(type, items)) and "".join(cast("list[str]", items)).isascii():
            return
        for item in items:
            _check(item, levels - 1)
    elif _scalar_problem(value) is not None:
        raise _RefusedError


def _scalar_problem(value: object) -> str | None:
    kind = type(value)
    if kind is str:
        text = cast("str", value)
        return None if text.isascii() or _SURROGATE.search(text) is None else "text with a lone surrogate"
    if kind is int:
        return None if -_INT_END < cast("int", value) < _INT_END else "an integer too large to be written"
    if kind is float:
        return None if isfinite(cast("float", value)) else "a number that is not finite"
    if value is None or kind is bool:
        return None
    return "not a JSON type"


def _refusal(value: object, *, frozen: bool = False) -> NotJsonError:
    return find_json_problem(value, frozen=frozen) or NotJsonError("", "changed while it was read")
