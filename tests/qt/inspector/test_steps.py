"""One list becomes another by the announced steps and no others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qt_binding.inspector._steps import Insert, Move, Remove, steps

KEYS = st.lists(st.sampled_from("abcdefghij"), unique=True)


@given(KEYS, KEYS)
def test_the_steps_lead_from_one_list_to_the_other(present: list[str], wanted: list[str]) -> None:
    """Whatever was inserted, removed and moved; each step is one that an item model can announce."""
    rows = list(present)
    for step in steps(present, wanted):
        match step:
            case Remove(first=first, last=last):
                assert 0 <= first <= last < len(rows)
                del rows[first : last + 1]
            case Insert(first=first, last=last):
                assert 0 <= first <= last < len(wanted)
                assert first <= len(rows)
                rows[first:first] = wanted[first : last + 1]
            case Move(source=source, target=target):
                assert 0 <= target < source < len(rows)
                rows.insert(target, rows.pop(source))
    assert rows == wanted


def test_a_thousand_new_rows_are_one_step() -> None:
    """A view is told once."""
    assert steps(["a"], ["a", *map(str, range(1_000))]) == [Insert(1, 1_000)]
    assert steps([*map(str, range(1_000)), "a"], ["a"]) == [Remove(0, 999)]
