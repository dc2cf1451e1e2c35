"""Canonical JSON (RFC 8785): the one text of a value, so that equal values hash and compare equal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Final, cast

from agent_surface._base._json import MAX_JSON_DEPTH, FrozenJson, JsonValue, find_json_problem


def canonical_json(value: JsonValue | FrozenJson) -> str:
    """``value`` as canonical JSON text.

    Keys are ordered by UTF-16 code unit and numbers written as ECMAScript does, so ``1.0`` is ``1`` and ``-0.0`` is
    ``0``. Integers outside ±(2^53-1), which RFC 8785 does not cover, are written in full.

    Args:
        value: A JSON value, mutable or frozen; both give the same text.

    Raises:
        NotJsonError: ``value`` is no JSON value; says where and why.
    """
    if value is None:
        return "null"
    try:
        text = _encode_sorted(_alike(value, MAX_JSON_DEPTH))
    except (_NotAlikeError, ValueError):
        pass
    else:
        # Code points and UTF-16 code units order differently only beyond the basic plane.
        if text.isascii() or _ASTRAL_OR_SURROGATE.search(text) is None:
            return text
    problem = find_json_problem(value, frozen=True)
    if problem is not None:
        raise problem
    return _written(value)


def es6_number(number: float) -> str:
    """A finite float as ECMAScript prints it: the shortest digits that read back, in its own notation."""
    if _ALIKE_FROM <= abs(number) < _ALIKE_BELOW:
        return repr(number).removesuffix(".0")
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= _MAX_FIXED_DIGITS:
        text = digits + "0" * (point - count)
    elif _MIN_FIXED_POINT < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        power = point - 1
        text = f"{digits[0]}{'.' if count > 1 else ''}{digits[1:]}e{'+' if power > 0 else '-'}{abs(power)}"
    return "-" + text if number < 0 else text


# Floats in this range that are no whole numbers are printed alike by Python and by ECMAScript.
_ALIKE_FROM: Final = 1e-4
_ALIKE_BELOW: Final = 1e16
_ALIKE_TYPES: Final = frozenset({str, int, bool, type(None)})
_TEXT: Final = frozenset({str})
_ASTRAL_OR_SURROGATE: Final = re.compile("[\U00010000-\U0010ffff\ud800-\udfff]")
_MAX_FIXED_DIGITS: Final = 21
_MIN_FIXED_POINT: Final = -6


class _NotAlikeError(Exception):
    """The C encoder would print some part otherwise than RFC 8785 asks, or some part is no JSON value."""


# Everything that reaches it went through `_alike`, so it meets dicts, lists, tuples and scalars only.
_encode_sorted: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False
).encode


def _alike(value: object, levels: int) -> object:  # noqa: C901 - on the path of every call: written out
    """``value`` with whole floats replaced by ints, so that the C encoder writes all of it as RFC 8785 asks."""
    kind = type(value)
    if kind in _ALIKE_TYPES:
        return value
    if kind is float:
        number = cast("float", value)
        if number.is_integer():
            if -_ALIKE_BELOW < number < _ALIKE_BELOW:
                return int(number)
        elif _ALIKE_FROM <= abs(number) < _ALIKE_BELOW:
            return value
        raise _NotAlikeError
    if not levels:
        raise _NotAlikeError
    if kind is dict or kind is MappingProxyType:
        entries = cast("dict[str, object]", value)
        if kind is not dict:
            entries = dict(entries)  # the encoder takes a copy faster than it asks what a proxy is
        if not _TEXT.issuperset(map(type, entries)):
            raise _NotAlikeError
        if _ALIKE_TYPES.issuperset(map(type, entries.values())):
            return entries
        changed: dict[str, object] | None = None
        for key, item in entries.items():
            alike = _alike(item, levels - 1)
            if alike is not item:
                changed = dict(entries) if changed is None else changed
                changed[key] = alike
        return entries if changed is None else changed
    if kind is list or kind is tuple:
        items = cast("list[object]", value)
        if _ALIKE_TYPES.issuperset(map(type, items)):
            return value
        return [_alike(item, levels - 1) for item in items]
    raise _NotAlikeError


def _written(value: object) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(cast("str", value))
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return int.__repr__(cast("int", value))
    if kind is float:
        return es6_number(cast("float", value))
    if kind is list or kind is tuple:
        return "[" + ",".join([_written(item) for item in cast("list[object]", value)]) + "]"
    entries = cast("Mapping[str, object]", value)
    keys = sorted(entries) if "".join(entries).isascii() else sorted(entries, key=_utf16)
    return "{" + ",".join([f"{encode_basestring(key)}:{_written(entries[key])}" for key in keys]) + "}"


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be")
