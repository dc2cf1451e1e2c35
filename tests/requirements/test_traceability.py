"""Every required behaviour is claimed by a test or named as planned work, and nothing else is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements.claims import (
    PENDING,
    REQUIREMENTS,
    Claim,
    UnreadableClaim,
    find_claims,
    proof_by_requirement,
    read_table,
)

PLANNED_WORK = {
    "core-complete",
    "compiler-and-cli",
    "qt-complete",
    "assistant-experience",
    "testing-support",
    "mcp-bridge",
}


def test_every_behaviour_that_is_not_planned_work_is_claimed_by_a_test() -> None:
    """A behaviour nobody proves is a promise nobody keeps."""
    proven = proof_by_requirement(find_claims()[0])
    assert sorted(read_table(REQUIREMENTS).keys() - read_table(PENDING).keys() - proven.keys()) == []


def test_no_test_claims_a_behaviour_that_does_not_exist() -> None:
    """A misspelt id would count as proof of nothing."""
    known = read_table(REQUIREMENTS)
    assert [claim for claim in find_claims()[0] if claim.requirement_id not in known] == []


def test_a_claimed_behaviour_is_no_longer_planned_work() -> None:
    """The list of planned work can only shrink: the change that proves a behaviour takes it off."""
    proven = proof_by_requirement(find_claims()[0])
    assert sorted(read_table(PENDING).keys() & proven.keys()) == []


def test_planned_work_names_known_behaviours_and_known_work() -> None:
    """An entry under a wrong name would wait for ever."""
    pending = read_table(PENDING)
    assert sorted(pending.keys() - read_table(REQUIREMENTS).keys()) == []
    assert sorted(set(pending.values()) - PLANNED_WORK) == []


def test_every_mark_can_be_read_from_the_source() -> None:
    """A mark on a class, a module or under a computed id would escape this table."""
    assert find_claims()[1] == []


def _claims_of(folder: Path, source: str) -> tuple[list[Claim], list[UnreadableClaim]]:
    tests = folder / "tests"
    tests.mkdir()
    (tests / "test_it.py").write_text("import pytest\n" + source, encoding="utf-8")
    return find_claims(tests)


def test_a_test_that_may_be_skipped_or_may_fail_proves_nothing(tmp_path: Path) -> None:
    """An excuse in front of a test takes its claim away."""
    claims, unreadable = _claims_of(
        tmp_path,
        '@pytest.mark.requirement("AS-ONE-001", "AS-TWO-002")\ndef test_a(): ...\n'
        '@pytest.mark.xfail\n@pytest.mark.requirement("AS-THREE-003")\nasync def test_b(): ...\n'
        'test_d = pytest.mark.requirement("AS-FIVE-005")(Machine.TestCase)\n'
        '@pytest.mark.skipif(True, reason="")\n@pytest.mark.requirement("AS-FOUR-004")\ndef test_c(): ...\n',
    )
    assert unreadable == []
    assert proof_by_requirement(claims) == {
        "AS-ONE-001": ["tests/test_it.py::test_a"],
        "AS-TWO-002": ["tests/test_it.py::test_a"],
        "AS-FIVE-005": ["tests/test_it.py::test_d"],
    }


@pytest.mark.parametrize(
    "source",
    [
        'pytestmark = pytest.mark.requirement("AS-ONE-001")\n',
        '@pytest.mark.requirement("AS-ONE-001")\ndef helper(): ...\n',
        "@pytest.mark.requirement(WHICH)\ndef test_a(): ...\n",
        "@pytest.mark.requirement()\ndef test_a(): ...\n",
        '@pytest.mark.requirement("AS-ONE-001", reason="x")\ndef test_a(): ...\n',
    ],
)
def test_a_mark_that_names_no_test_or_no_id_is_reported(tmp_path: Path, source: str) -> None:
    """Nothing is dropped silently."""
    assert len(_claims_of(tmp_path, source)[1]) == 1
