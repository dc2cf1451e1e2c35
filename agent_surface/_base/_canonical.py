"""Canonical JSON (RFC 8785): the one text of a value, so that equal values hash and compare equal."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from json.encoder import encode_basestring
from operator import methodcaller
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
    if _is_alike(value):
        text = _encode_sorted(value)
        # Code points and UTF-16 code units order differently only beyond the basic plane.
        if text.isascii() or _ASTRAL_OR_SURROGATE.search(text) is None:
            return text
    problem = find_json_problem(value, frozen=True)
    if problem is not None:
        raise problem
    return write_canonical(value)


def write_canonical(value: object) -> str:
    """The same for a value that is known to be JSON, such as what ``freeze_json`` returns; fastest for small ones."""
    kind = type(value)
    if kind is str:
        return encode_basestring(cast("str", value))
    if kind is dict or kind is MappingProxyType:
        entries = cast("Mapping[str, object]", value)
        keys = sorted(entries) if "".join(entries).isascii() else sorted(entries, key=_utf16)
        return f"{{{','.join([f'{encode_basestring(key)}:{write_canonical(entries[key])}' for key in keys])}}}"
    if kind is list or kind is tuple:
        items = cast("Sequence[object]", value)
        write = encode_basestring if _TEXT.issuperset(map(type, items)) else write_canonical
        return f"[{','.join(map(write, cast('Sequence[str]', items)))}]"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return int.__repr__(cast("int", value))
    return es6_number(cast("float", value))


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
_OBJECTS: Final = frozenset({dict, MappingProxyType})
_ARRAYS: Final = frozenset({list, tuple})
_TEXT: Final = frozenset({str})
_VALUES: Final = methodcaller("values")
_ASTRAL_OR_SURROGATE: Final = re.compile("[\U00010000-\U0010ffff\ud800-\udfff]")
_MAX_FIXED_DIGITS: Final = 21
_MIN_FIXED_POINT: Final = -6

# The only objects it does not know and can meet here are proxies of a dict.
_encode_sorted: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False, default=dict
).encode


def _is_alike(value: object) -> bool:
    """Whether the C encoder writes all of ``value`` as RFC 8785 asks, but for the order of keys beyond the basic plane.

    It looks at everything of one depth at once, so that the loops run in C; at a container only once at each depth,
    so that one that contains itself comes to an end.
    """
    parts: Sequence[object] = (value,)
    for _ in range(MAX_JSON_DEPTH + 1):
        kinds: set[type] = set(map(type, parts)) - _ALIKE_TYPES
        if not kinds:
            return True
        if float in kinds:
            if not all(map(_is_alike_number, parts)):
                return False
            kinds.remove(float)
        if not kinds <= _OBJECTS | _ARRAYS:
            return False
        objects = cast("Collection[Mapping[object, object]]", _each_once(parts, kinds & _OBJECTS))
        if not _TEXT.issuperset(map(type, chain.from_iterable(objects))):
            return False
        arrays = cast("Collection[Sequence[object]]", _each_once(parts, kinds & _ARRAYS))
        parts = [*chain.from_iterable(map(_VALUES, objects)), *chain.from_iterable(arrays)]
    return False


def _each_once(parts: Iterable[object], kinds: set[type]) -> Collection[object]:
    """The parts of these types, each object once."""
    return {id(part): part for part in parts if type(part) in kinds}.values() if kinds else ()


def _is_alike_number(part: object) -> bool:
    """Whether ``part`` is no float, or one that Python and ECMAScript print alike."""
    if type(part) is not float:
        return True
    return _ALIKE_FROM <= abs(part) < _ALIKE_BELOW and not part.is_integer()


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be")
