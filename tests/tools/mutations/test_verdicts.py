"""What is said of a planted fault, from how its tests ended."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tools.mutations import __main__ as mutations
from tools.mutations.faults import Fault

FAULT = Fault("two is three", "two.py", "TWO = 2\n", "TWO = 3\n", ("tests/test_two.py",))
KNOWN = Fault("two is three", "two.py", "TWO = 2\n", "TWO = 3\n", ("tests/test_two.py",), why_missed="nobody counts")
CAUGHT_BY = "FAILED tests/test_two.py::test_it"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy with one source file."""
    (tmp_path / "two.py").write_text("TWO = 2\n", encoding="utf-8")
    return tmp_path


def let_end(monkeypatch: pytest.MonkeyPatch, code: int | None, output: str = "") -> list[str]:
    """Let the tests end in a certain way; returns what the source file was while they ran."""
    seen = list[str]()

    def run(tree: Path, tests: Iterable[str], *, seconds: int) -> subprocess.CompletedProcess[str] | None:
        assert (tuple(tests), seconds) == (FAULT.tests, mutations.SECONDS_FOR_A_FAULT)
        seen.append((tree / "two.py").read_text(encoding="utf-8"))
        return None if code is None else subprocess.CompletedProcess([], code, stdout=output, stderr="")

    monkeypatch.setattr(mutations, "run_tests", run)
    return seen


@pytest.mark.parametrize(
    ("fault", "code", "output", "verdict"),
    [
        (FAULT, 0, "1 passed", ("missed", "")),
        (KNOWN, 0, "1 passed", ("explained", "nobody counts")),
        (KNOWN, 1, f".F\n{CAUGHT_BY} - assert 3 == 2\n", ("caught", CAUGHT_BY)),
        (FAULT, 1, "+++ Timeout +++", ("caught", "a test did not end")),
        (FAULT, None, "", ("caught", "did not end")),
        (FAULT, -11, "", ("caught", "exit code -11")),
    ],
)
def test_a_fault_is_planted_judged_and_taken_out_again(
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    code: int | None,
    output: str,
    verdict: tuple[str, str],
) -> None:
    """A fault that stayed would be found by the tests of the next."""
    seen = let_end(monkeypatch, code, output)
    assert mutations.judge(tree, fault) == verdict
    assert seen == ["TWO = 3\n"]
    assert (tree / "two.py").read_text(encoding="utf-8") == "TWO = 2\n"


@pytest.mark.parametrize("code", [pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR])
def test_a_fault_that_was_judged_by_no_test_ends_the_run(
    tree: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Neither caught nor missed."""
    let_end(monkeypatch, code)
    with pytest.raises(SystemExit, match="two is three: no test was run"):
        mutations.judge(tree, FAULT)


def test_an_anchor_that_moved_ends_the_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that was not planted would be missed."""
    seen = let_end(monkeypatch, 0)
    (tree / "two.py").write_text("TWO = 1 + 1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="the anchor stands there 0 times"):
        mutations.judge(tree, FAULT)
    assert seen == []
