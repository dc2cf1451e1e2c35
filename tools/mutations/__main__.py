"""Plant small faults and see whether the tests notice: ``python -m tools.mutations [--trust] [WORD ...]``.

Works in a copy of the tracked files, never in the checkout. With words, only the faults whose text or file has one.
``--trust`` leaves out the first run, which makes sure that the tests pass without a fault.
Prints a line for each fault and writes ``build/mutations.json``; ends with 1 when one was missed that is not explained.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.util import cache_from_source
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from tools.mutations.faults import FAULTS, Fault

CHECKOUT = Path(__file__).resolve().parent.parent.parent
REPORT = CHECKOUT / "build" / "mutations.json"

SECONDS_FOR_A_TEST = 30
SECONDS_FOR_A_FAULT = 240

_JUDGED_NOTHING = frozenset({pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED})

Verdict: TypeAlias = Literal["caught", "missed", "explained"]

_OPTIONS = (
    "-q",
    "-x",
    # A property is found broken by chance; without them the verdict is the same each time, and sooner there.
    *("-m", "not hypothesis"),
    *("-o", f"timeout={SECONDS_FOR_A_TEST}"),
    *(f"-pno:{name}" for name in ("randomly", "cacheprovider", "xdist", "cov", "anyio")),
)


def copy_checkout(target: Path) -> None:
    """Copy what is under version control, as it is on disk now."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True)
    for name in listing.stdout.decode().split("\0"):
        source = CHECKOUT / name
        if name and source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def run_tests(
    tree: Path, tests: Iterable[str], *, seconds: int | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run test files in a tree up to the first failure; ``None`` when they did not end in time."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    try:
        return subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return None


def judge(tree: Path, fault: Fault) -> tuple[Verdict, str]:
    """Plant one fault, run its tests, take it out again; the verdict, and the test that noticed."""
    file = tree / fault.file
    original = file.read_text(encoding="utf-8")
    if original.count(fault.old) != 1:
        raise SystemExit(f"{fault.file}: the anchor stands there {original.count(fault.old)} times:\n{fault.old}")
    _write(file, original.replace(fault.old, fault.new))
    try:
        done = run_tests(tree, fault.tests, seconds=SECONDS_FOR_A_FAULT)
    finally:
        _write(file, original)
    if done is None:
        return "caught", "did not end"
    if done.returncode == 0:
        return ("explained", fault.why_missed) if fault.why_missed else ("missed", "")
    if done.returncode in _JUDGED_NOTHING:
        raise SystemExit(f"{fault.says}: no test was run:\n{done.stdout}{done.stderr}")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED tests", "ERROR tests"))]
    if failed:
        return "caught", failed[0].partition(" - ")[0]
    # A test that hangs where its time-out cannot raise takes the whole run with it, and with that its summary.
    return "caught", "a test did not end" if "Timeout" in done.stdout + done.stderr else f"exit code {done.returncode}"


def _write(file: Path, text: str) -> None:
    """Write a source file and forget its bytecode, which is compared with it by the second and the size alone."""
    Path(cache_from_source(str(file))).unlink(missing_ok=True)
    file.write_text(text, encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Judge each fault and report."""
    trusted = "--trust" in words
    words = [word for word in words if word != "--trust"]
    chosen = [fault for fault in FAULTS if not words or any(word in f"{fault.file} {fault.says}" for word in words)]
    report: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        tree = Path(folder)
        copy_checkout(tree)
        everything = sorted({test for fault in chosen for test in fault.tests})
        sound = None if trusted else run_tests(tree, everything)
        if sound is not None and sound.returncode:
            sys.stderr.write(f"The tests fail without any fault:\n{sound.stdout}\n")
            return 2
        for number, fault in enumerate(chosen, start=1):
            verdict, by = judge(tree, fault)
            report.append({"fault": fault.says, "file": fault.file, "verdict": verdict, "by": by})
            print(f"{number:3}/{len(chosen)} {verdict:9} {fault.file}: {fault.says}  {by}", flush=True)
    counts = {
        verdict: sum(line["verdict"] == verdict for line in report) for verdict in ("caught", "missed", "explained")
    }
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps({"counts": counts, "faults": report}, indent=1) + "\n", encoding="utf-8")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["missed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
