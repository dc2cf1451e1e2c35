"""The planted faults stay plantable: cheap, and said at once when the code moved away from an anchor."""

from __future__ import annotations

from pathlib import Path

from tools.mutations.faults import FAULTS

CHECKOUT = Path(__file__).resolve().parents[3]


def test_every_anchor_stands_in_its_file_once() -> None:
    """A fault whose text is gone would be planted nowhere; one that is there twice, somewhere else."""
    texts = {file: (CHECKOUT / file).read_text(encoding="utf-8") for file in {fault.file for fault in FAULTS}}
    lost = [
        f"{fault.file}: {fault.says} ({texts[fault.file].count(fault.old)} times)"
        for fault in FAULTS
        if texts[fault.file].count(fault.old) != 1
    ]
    assert lost == []


def test_every_fault_changes_something_and_leaves_a_program() -> None:
    """A fault that is none is never caught; one that is no program is always."""
    assert [fault.says for fault in FAULTS if fault.old == fault.new] == []
    for fault in FAULTS:
        text = (CHECKOUT / fault.file).read_text(encoding="utf-8")
        compile(text.replace(fault.old, fault.new), fault.file, "exec", dont_inherit=True)


def test_every_fault_is_said_once_and_judged_by_tests_that_exist() -> None:
    """Two faults with the same words could not be told apart in the report."""
    assert len({fault.says for fault in FAULTS}) == len(FAULTS) >= 60
    assert [test for fault in FAULTS for test in fault.tests if not (CHECKOUT / test).exists()] == []
