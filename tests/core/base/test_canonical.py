"""Canonical JSON is RFC 8785, byte for byte, for mutable and frozen values."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, cast

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue, NotJsonError, freeze_json

VECTORS = json.loads((Path(__file__).parents[2] / "conformance" / "vectors.json").read_text(encoding="utf-8"))

SAFE = 2**53 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# Keys on both sides of the surrogates, where code points and UTF-16 code units order differently.
KEYS = TEXT | st.text(st.sampled_from("a\ue000\uffff\U00010000\U0010ffff"), max_size=3)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-SAFE, SAFE).map(float)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.requirement("AS-SER-002")
@pytest.mark.parametrize("vector", VECTORS["canonicalJson"], ids=lambda vector: str(vector["text"])[:30])
def test_expected_values_come_out(vector: dict[str, Any]) -> None:
    """The values of the conformance suite."""
    assert canonical_json(vector["value"]) == vector["text"]
    assert canonical_json(freeze_json(vector["value"])) == vector["text"]


@pytest.mark.requirement("AS-SER-002")
@settings(max_examples=120)
@given(JSON)
@example({"rows": [{"n": 1.0}, {"n": 0.5}], "\U00010000": 1, "\uffff": -0.0})
@example([1e16, 1e15, 123456789012345.6, 1e-4, 1e-5, 1e-6, 1e-7, -1e21, 1e20, 5e-324])
def test_it_equals_the_reference_implementation(value: JsonValue) -> None:
    """The ``rfc8785`` package is the oracle within its number range."""
    expected = rfc8785.dumps(cast("Any", value))
    assert canonical_json(value).encode() == expected
    assert canonical_json(freeze_json(value)).encode() == expected


@pytest.mark.requirement("AS-SER-002")
@settings(max_examples=120)
@given(st.binary(min_size=8, max_size=8))
def test_every_bit_pattern_of_a_float_is_written_as_ecmascript_does(bits: bytes) -> None:
    """Floats from the whole range, not only the handy ones."""
    (number,) = struct.unpack("<d", bits)
    if number - number == 0:
        assert canonical_json(number).encode() == rfc8785.dumps(number)


@pytest.mark.requirement("AS-SER-002")
@given(st.integers(min_value=SAFE + 1) | st.integers(max_value=-SAFE - 1))
def test_larger_integers_are_written_in_full(number: int) -> None:
    """RFC 8785 has no integers beyond 2**53-1; two different ones must not have one text."""
    value: JsonValue = {"n": [number, 0.5, 1.0]}
    assert canonical_json(value) == f'{{"n":[{number},0.5,1]}}'


@pytest.mark.requirement("AS-SER-002")
@given(st.dictionaries(KEYS, st.integers(), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: dict[str, int], random: Any) -> None:  # noqa: ANN401 - hypothesis's
    """Equal values have one text."""
    items = list(value.items())
    random.shuffle(items)
    assert canonical_json(cast("JsonValue", dict(items))) == canonical_json(cast("JsonValue", value))


@pytest.mark.requirement("AS-SER-002")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (float("nan"), ""),
        ([1, {"a": float("-inf")}], "/1/a"),
        ({"a": {1, 2}}, "/a"),
        ({"a": {1: 2}}, "/a"),
        ("\udc00", ""),
        ({"a": {"\ud800": 1}}, "/a"),
        ({"😀": 1, "\ud800": 1}, ""),
    ],
)
def test_what_is_no_json_has_no_canonical_text(value: object, path: str) -> None:
    """A defect is never hashed."""
    with pytest.raises(NotJsonError) as caught:
        canonical_json(cast("JsonValue", value))
    assert caught.value.path == path


@pytest.mark.parametrize("container", [[], {}], ids=["array", "object"])
def test_what_contains_itself_twice_is_refused_at_once(container: list[object] | dict[str, object]) -> None:
    """Looked at depth by depth it would double at each."""
    if isinstance(container, list):
        container += [container, container, 1]
    else:
        container.update(a=container, b=container, c=1)
    with pytest.raises(NotJsonError, match="contains itself"):
        canonical_json(cast("JsonValue", container))


def test_nesting_is_refused_where_freezing_refuses_it() -> None:
    """At 64 levels, with floats and proxies in between."""
    deep: JsonValue = 0.5
    for level in range(64):
        deep = [deep] if level % 2 else {"a": deep, "b": 0.25}
    assert canonical_json(freeze_json(deep)).encode() == rfc8785.dumps(cast("Any", deep))
    with pytest.raises(NotJsonError, match="nested deeper"):
        canonical_json([deep])
