"""JSON values: what is one, how large it is, and what freezing and thawing do to it."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_surface._base._json import (
    MAX_JSON_DEPTH,
    FrozenJson,
    JsonValue,
    NotJsonError,
    check_json,
    compact_json,
    freeze_json,
    json_bytes,
    json_pointer,
    thaw_json,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Colour(StrEnum):
    """Text that is no plain text."""

    RED = "red"


class Level(IntEnum):
    """A number that is no plain number."""

    LOW = 1


def nested(levels: int) -> list[object]:
    """Lists in lists."""
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def cyclic() -> list[object]:
    """A list that contains itself."""
    value: list[object] = []
    value.append({"again": value})
    return value


def mutable_types(value: object) -> set[type]:
    """The types of the containers in ``value`` that somebody could change."""
    if isinstance(value, list):
        return {list}
    if isinstance(value, dict):
        return {dict}
    if isinstance(value, MappingProxyType):
        return set[type]().union(
            *[mutable_types(item) for item in cast("MappingProxyType[str, object]", value).values()]
        )
    if isinstance(value, tuple):
        return set[type]().union(*[mutable_types(item) for item in cast("tuple[object, ...]", value)])
    return set()


NOT_JSON = [
    pytest.param((1, 2), "", id="tuple"),
    pytest.param(MappingProxyType[str, int]({}), "", id="frozen object"),
    pytest.param({1, 2}, "", id="set"),
    pytest.param(b"bytes", "", id="bytes"),
    pytest.param(OrderedDict[str, int](), "", id="subclass of dict"),
    pytest.param(Decimal(1), "", id="decimal"),
    pytest.param({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "/at", id="datetime"),
    pytest.param({"colour": Colour.RED}, "/colour", id="subclass of str"),
    pytest.param([0, Level.LOW], "/1", id="subclass of int"),
    pytest.param({"a": [1, float("nan")]}, "/a/1", id="nan"),
    pytest.param([float("inf")], "/0", id="infinity"),
    pytest.param(["\ud800"], "/0", id="lone surrogate"),
    pytest.param({"a": "x\udfffy"}, "/a", id="lone surrogate in an object"),
    pytest.param({"outer": {"\ud800": 1}}, "/outer", id="lone surrogate in a key"),
    pytest.param({"a/b": {"~": {1: 2}}}, "/a~1b/~0", id="key that is no text"),
    pytest.param({"a": {None: 2}}, "/a", id="null key"),
    pytest.param([10**4300], "/0", id="integer nobody can print"),
    pytest.param(cyclic(), "/0/again", id="cycle"),
]


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize(("value", "path"), NOT_JSON)
def test_what_is_no_json_is_refused_with_its_path(value: object, path: str) -> None:
    """A JSON value is made of exactly seven Python types."""
    for read in (freeze_json, check_json):
        with pytest.raises(NotJsonError) as caught:
            read(value)
        assert caught.value.path == path
        assert caught.value.reason


@pytest.mark.requirement("AS-SER-001")
def test_a_reason_quotes_nothing_of_the_value() -> None:
    """Reasons are shown to agents and written to logs."""
    for value in ({"k": "secret\ud800"}, [object()], {("secret",): 1}):
        with pytest.raises(NotJsonError) as caught:
            freeze_json(value)
        assert "secret" not in caught.value.reason
        assert "object at" not in caught.value.reason


@pytest.mark.requirement("AS-SER-001")
def test_json_nests_at_most_64_levels() -> None:
    """The limit holds for lists and objects alike; a scalar is no level."""
    deepest = nested(MAX_JSON_DEPTH)
    assert thaw_json(freeze_json(deepest)) == deepest
    assert check_json(deepest) is deepest
    empty_objects: list[JsonValue] = [{}]
    for _ in range(MAX_JSON_DEPTH - 1):
        empty_objects = [empty_objects]
    for value in (nested(MAX_JSON_DEPTH + 1), {"a": deepest}, empty_objects):
        for read in (freeze_json, check_json):
            with pytest.raises(NotJsonError, match="deeper than 64"):
                read(value)


def test_a_shared_part_is_no_cycle() -> None:
    """The same list twice side by side is an ordinary value."""
    part: list[JsonValue] = [1]
    assert freeze_json({"a": part, "b": [part]}) == {"a": (1,), "b": ((1,),)}


@settings(max_examples=60)
@given(JSON)
def test_freezing_and_thawing_gives_an_equal_value_that_shares_nothing(value: JsonValue) -> None:
    """Frozen JSON holds no list and no dict; thawed JSON is fresh."""
    frozen = freeze_json(value)
    assert mutable_types(frozen) == set()
    thawed = thaw_json(frozen)
    assert json.dumps(thawed) == json.dumps(value)
    if isinstance(thawed, (list, dict)):
        assert thawed is not value


def test_frozen_json_does_not_follow_its_source() -> None:
    """A caller that keeps its dict cannot change what was frozen."""
    source: dict[str, JsonValue] = {"rows": [1]}
    frozen = freeze_json(source)
    source["rows"] = []
    assert frozen == {"rows": (1,)}
    with pytest.raises(TypeError):
        cast("dict[str, object]", frozen)["rows"] = 1


@pytest.mark.requirement("AS-SER-001")
@settings(max_examples=60)
@given(JSON)
def test_sizes_are_utf8_bytes_of_the_compact_form(value: JsonValue) -> None:
    """Frozen and mutable values have one size, and it counts bytes rather than characters."""
    expected = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    assert json_bytes(value) == expected
    assert json_bytes(freeze_json(value)) == expected


@pytest.mark.requirement("AS-SER-001")
def test_a_character_beyond_ascii_counts_as_its_bytes() -> None:
    """``é`` has two bytes and an emoji four; a limit in characters would let both through."""
    assert [json_bytes(text) for text in ("e", "é", "€", "😀")] == [3, 4, 5, 6]


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize("value", [float("nan"), {1, 2}, ["\ud800"], {"a": object()}, cyclic()])
def test_what_is_no_json_has_no_size(value: object) -> None:
    """Measuring never lets a defect pass as a number."""
    with pytest.raises(NotJsonError):
        json_bytes(cast("JsonValue", value))
    with pytest.raises(NotJsonError):
        compact_json(cast("FrozenJson", value))


def test_a_pointer_escapes_what_it_is_made_of() -> None:
    """RFC 6901: a slash is ``~1`` and a tilde ``~0``."""
    assert json_pointer([]) == ""
    assert json_pointer(["a/b", 0, "~", ""]) == "/a~1b/0/~0/"
