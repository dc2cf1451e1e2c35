"""The effective input as rows: all of it, and no two inputs look alike."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence, Sized

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import FrozenJson, JsonValue
from qt_binding.confirmation._rows import MAX_ROWS, InputRow, input_rows, text_of
from qt_binding.confirmation._text import MAX_RUNS, Segment, segments

HIDDEN = "\x00\x1b\u200b\u202e\u2066\ufeff\u00ad\n\r\t"
TEXTS = st.text(alphabet=st.sampled_from('ab"\\,:[]{} 1\u00e9\u4e2d\U0001f600' + HIDDEN), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 1e300]) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
INPUTS = st.dictionaries(TEXTS, VALUES, max_size=4)


def _rows(value: JsonValue) -> tuple[InputRow, ...]:
    """The rows with all keys in order, as their order does not count in what is approved."""
    ordered: FrozenJson = json.loads(canonical_json(value))
    return input_rows(ordered, ())


def _shown(rows: Sequence[InputRow]) -> list[tuple[int, str, str]]:
    return [(row.level, text_of(row.name), text_of(row.value)) for row in rows]


def test_each_field_has_a_row() -> None:
    """Objects and lists of objects open up; lists of single values stay in one row."""
    value: FrozenJson = {
        "ids": ("d-1", "d-2"),
        "force": True,
        "window": {"from": "08:00", "to": None},
        "steps": ({"n": 1}, {"n": 2.0}),
        "odd key": {},
        "none": (),
    }
    assert _shown(input_rows(value, ())) == [
        (0, "ids", '["d-1", "d-2"]'),
        (0, "force", "true"),
        (0, "window", ""),
        (1, "from", '"08:00"'),
        (1, "to", "null"),
        (0, "steps", ""),
        (1, "1.", ""),
        (2, "n", "1"),
        (1, "2.", ""),
        (2, "n", "2"),
        (0, '"odd key"', "{}"),
        (0, "none", "[]"),
    ]


def test_fields_from_the_screen_are_marked_and_only_at_the_root() -> None:
    """A key of the same name deeper inside was the agent's."""
    rows = input_rows({"id": "d-1", "inner": {"id": "d-2"}}, ("id",))
    assert [(text_of(row.name), row.bound) for row in rows] == [("id", True), ("inner", False), ("id", False)]


@pytest.mark.requirement("QT-CONF-002")
@settings(max_examples=100, deadline=None)
@given(first=INPUTS, second=INPUTS)
def test_two_inputs_look_alike_only_if_they_are_the_same(
    first: dict[str, JsonValue], second: dict[str, JsonValue]
) -> None:
    """What is approved is compared as canonical JSON; what is shown tells apart exactly what that tells apart."""
    same = canonical_json(first) == canonical_json(second)
    assert (_rows(first) == _rows(second)) is same


@pytest.mark.requirement("QT-CONF-002")
@settings(max_examples=100, deadline=None)
@given(value=INPUTS.filter(bool), data=st.data())
def test_a_changed_field_changes_what_is_shown(value: dict[str, JsonValue], data: st.DataObject) -> None:
    """The smallest change anywhere shows, in many rows as in few."""
    changed = copy.deepcopy(value)
    key = data.draw(st.sampled_from(sorted(value)))
    changed[key] = data.draw(VALUES)
    same = canonical_json(changed) == canonical_json(value)
    assert (_rows(changed) == _rows(value)) is same
    many: dict[str, JsonValue] = {f"k{number}": number for number in range(MAX_ROWS)}
    assert (_rows({**changed, **many}) == _rows({**value, **many})) is same


@pytest.mark.requirement("QT-CONF-002")
@pytest.mark.parametrize(
    "value",
    [
        {"t": tuple({"n": number} for number in range(5_000))},
        {f"k{number}": number for number in range(5_000)},
        {f"k{number}": {f"i{inner}": inner for inner in range(20)} for number in range(250)},
    ],
    ids=["one long list", "very many fields", "many fields with fields"],
)
def test_a_huge_input_is_shown_whole_in_few_rows(value: dict[str, FrozenJson]) -> None:
    """A table of thousands of rows is not drawn, and nothing is left out for it."""
    rows = input_rows(value, ("k7",))
    assert len(rows) <= MAX_ROWS + 1
    text = " ".join(text_of(row.name) + " " + text_of(row.value) for row in rows)
    for key, inner in value.items():
        assert key in text
        assert str(len(inner) - 1 if isinstance(inner, Sized) else inner) in text
    assert [row.bound for row in rows if text_of(row.name) == "k7"] == ([True] if "k7" in value else [])


@pytest.mark.requirement("QT-CONF-003")
@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_nothing_invisible_is_left_and_the_original_can_be_read_off(text: str) -> None:
    """Escapes are marked as such, so a typed backslash sequence is not taken for one."""
    parts = segments(text)
    assert not set(text_of(parts)) & set(HIDDEN)
    read = "".join(part.text.encode().decode("unicode_escape") if part.escaped else part.text for part in parts)
    assert read == text


@pytest.mark.requirement("QT-CONF-003")
def test_typed_codes_differ_from_hidden_characters() -> None:
    """The letters of an escape are drawn as letters, the hidden character as a mark."""
    assert segments("\\u202e") == (Segment(text="\\u202e"),)
    assert segments("\u202e") == (Segment(text="\\u202e", escaped=True),)


def test_a_text_of_endless_codes_is_marked_as_a_whole() -> None:
    """A hundred thousand marks would hold up the screen; one does not, and stays unambiguous."""
    text = "\\u202e" + "a\u202e" * MAX_RUNS
    assert segments(text) == (Segment(text="\\\\u202e" + "a\\u202e" * MAX_RUNS, escaped=True),)
