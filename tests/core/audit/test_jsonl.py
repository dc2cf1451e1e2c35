"""The audit file: chained, append-only, and honest about what it cannot prove."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from typing_extensions import override

from agent_surface.audit import (
    AuditFileError,
    AuditVerification,
    JsonlAuditSink,
    verify_audit_file,
)
from tests.core.audit.records import record

Lines = list[bytes]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An audit of six entries, closed."""
    path = tmp_path / "audit.jsonl"
    write(path, range(1, 7))
    return path


def write(path: Path, times: range) -> None:
    """Append one entry for each time."""
    with JsonlAuditSink(path, fsync=False) as sink:
        for at_ms in times:
            sink.record(record(at_ms, input=f"entry {at_ms}"))
        assert sink.flush()
        assert sink.lost == 0


def change(path: Path, how: Callable[[Lines], Lines]) -> None:
    """Do something to the lines of a file."""
    path.write_bytes(b"".join(how(path.read_bytes().splitlines(keepends=True))))


def problem_of(path: Path, head: str | None = None) -> tuple[str, int] | None:
    """Kind and line of the first problem."""
    problem = verify_audit_file(path, head).problem
    return (problem.kind, problem.line) if problem is not None else None


@pytest.mark.requirement("AS-OBSV-003")
def test_an_untouched_file_is_proven_to_its_end(file: Path) -> None:
    """Every line names the one before, and the head the last."""
    verdict = verify_audit_file(file)
    assert verdict.last is not None
    assert verdict == AuditVerification(
        entries=6, problem=None, last=verdict.last, end_proven=True, unproven_entries=0, torn=None, repaired=0
    )
    assert verify_audit_file(file, verdict.last.hash).end_proven


@pytest.mark.requirement("AS-OBSV-003")
def test_any_flipped_byte_of_any_line_is_found(file: Path) -> None:
    """Bytes are hashed, not values: what means the same and looks different is altered too."""
    original = file.read_bytes()
    lines = original.splitlines(keepends=True)
    start = 0
    for number, line in enumerate(lines, start=1):
        for offset in range(len(line) - 1):
            at = start + offset
            file.write_bytes(original[:at] + bytes([original[at] ^ 1]) + original[at + 1 :])
            found = verify_audit_file(file).problem
            assert found is not None
            assert (found.kind, found.line) == ("altered", number), (number, offset)
        start += len(line)


DAMAGE: dict[str, tuple[Callable[[Lines], Lines], tuple[str, int]]] = {
    "first taken out": (lambda lines: lines[1:], ("missing", 1)),
    "two taken out": (lambda lines: lines[:2] + lines[4:], ("missing", 3)),
    "two swapped": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], ("reordered", 3)),
    "one repeated": (lambda lines: [*lines[:3], lines[2], *lines[3:]], ("reordered", 4)),
    "end cut off": (lambda lines: lines[:4], ("cut", 5)),
    "emptied": (lambda lines: [], ("cut", 1)),
    "last cut short": (lambda lines: [*lines[:5], lines[5][:40]], ("cut", 6)),
    "blank line": (lambda lines: [*lines[:3], b"\n", *lines[3:]], ("altered", 4)),
    "line added": (lambda lines: [*lines, b"{}\n"], ("altered", 7)),
    "space added": (
        lambda lines: [*lines[:2], lines[2].replace(b'","record', b'" ,"record'), *lines[3:]],
        ("altered", 3),
    ),
    "torn in the middle": (lambda lines: [*lines[:2], lines[2][:50] + b"\n", *lines[3:]], ("altered", 3)),
}


@pytest.mark.requirement("AS-OBSV-003")
@pytest.mark.parametrize("name", DAMAGE)
def test_what_was_done_to_the_lines_is_found_where_it_begins(file: Path, name: str) -> None:
    """Altered, missing, reordered or cut, with the number of the first line concerned."""
    how, expected = DAMAGE[name]
    change(file, how)
    assert problem_of(file) == expected


@pytest.mark.requirement("AS-OBSV-003")
def test_a_line_made_anew_with_a_hash_of_its_own_breaks_the_chain(file: Path, tmp_path: Path) -> None:
    """Whoever can hash can make a line, but not the one the next line names."""
    other = tmp_path / "other.jsonl"
    write(other, range(101, 107))
    foreign = other.read_bytes().splitlines(keepends=True)
    change(file, lambda lines: [foreign[0], *lines[1:]])
    assert problem_of(file) == ("altered", 1)


@pytest.mark.requirement("AS-OBSV-003")
def test_a_whole_chain_made_anew_is_found_by_a_head_kept_elsewhere(file: Path, tmp_path: Path) -> None:
    """The head beside the file can be made anew too; the one somebody wrote down cannot."""
    known = verify_audit_file(file).last
    assert known is not None
    other = tmp_path / "other.jsonl"
    write(other, range(101, 107))
    file.write_bytes(other.read_bytes())
    file.with_name("audit.jsonl.head").write_bytes(other.with_name("other.jsonl.head").read_bytes())
    assert verify_audit_file(file).intact
    assert problem_of(file, known.hash) == ("cut", 7)


@pytest.mark.requirement("AS-OBSV-003")
def test_without_a_head_the_end_cannot_be_proven(file: Path) -> None:
    """A chain says nothing about what would come after it; with an older head that holds for the rest."""
    old = verify_audit_file(file).last
    assert old is not None
    file.with_name("audit.jsonl.head").unlink()
    change(file, lambda lines: lines[:4])
    verdict = verify_audit_file(file)
    assert (verdict.intact, verdict.end_proven, verdict.unproven_entries) == (True, False, 4)
    assert problem_of(file, old.hash) == ("cut", 5)


@pytest.mark.requirement("AS-OBSV-003")
def test_entries_after_the_head_are_good_and_unproven(file: Path) -> None:
    """A crash between an entry and its head leaves the head behind, never ahead."""
    head = file.with_name("audit.jsonl.head")
    before = head.read_bytes()
    write(file, range(7, 9))
    head.write_bytes(before)
    verdict = verify_audit_file(file)
    assert (verdict.intact, verdict.end_proven, verdict.unproven_entries) == (True, False, 2)
    write(file, range(9, 10))
    assert verify_audit_file(file).end_proven


@pytest.mark.requirement("AS-OBSV-003")
def test_a_torn_last_line_is_reported_and_survives(file: Path, expected_logs: list[logging.LogRecord]) -> None:
    """What a crash left stays where it is; the next entry accounts for it, and the chain goes on."""
    fragment = b'{"prev":"something that never got'
    with file.open("ab") as raw:
        raw.write(fragment)
    verdict = verify_audit_file(file)
    assert (verdict.intact, verdict.entries, verdict.end_proven) == (True, 6, True)
    assert verdict.torn is not None
    assert (verdict.torn.line, verdict.torn.size_bytes) == (7, len(fragment))
    with JsonlAuditSink(file) as sink:
        assert sink.torn == verdict.torn
        sink.record(record(7))
    assert "torn line" in expected_logs[0].getMessage()
    verdict = verify_audit_file(file)
    assert (verdict.intact, verdict.entries, verdict.end_proven, verdict.repaired) == (True, 8, True, 1)
    assert fragment in file.read_bytes()
    change(file, lambda lines: [line.replace(b"never got", b"never had") for line in lines])
    assert problem_of(file) == ("altered", 7)


@pytest.mark.requirement("AS-OBSV-003")
def test_a_last_line_that_lacks_only_its_line_break_is_an_entry(file: Path) -> None:
    """All of it is there and hashes to what it says."""
    change(file, lambda lines: [*lines[:5], lines[5].rstrip(b"\n")])
    verdict = verify_audit_file(file)
    assert (verdict.entries, verdict.end_proven, verdict.torn) == (6, True, None)
    write(file, range(7, 8))
    assert verify_audit_file(file).entries == 7


def test_a_new_sink_continues_the_chain(file: Path) -> None:
    """A restart is no break: the file is one chain over all runs."""
    write(file, range(7, 10))
    verdict = verify_audit_file(file)
    assert (verdict.entries, verdict.intact, verdict.end_proven) == (9, True, True)


@pytest.mark.parametrize("name", ["first taken out", "two swapped", "end cut off", "emptied", "space added"])
def test_a_broken_chain_is_not_continued(file: Path, name: str) -> None:
    """New entries would lend the old ones their credit; the error says where the break is."""
    change(file, DAMAGE[name][0])
    before = file.read_bytes()
    with pytest.raises(AuditFileError) as refused:
        JsonlAuditSink(file)
    assert refused.value.problem == verify_audit_file(file).problem
    assert file.read_bytes() == before


def test_a_head_that_was_lost_is_missed(file: Path, expected_logs: list[logging.LogRecord]) -> None:
    """The chain is continued, and somebody is told that its end was not proven."""
    file.with_name("audit.jsonl.head").unlink()
    write(file, range(7, 8))
    assert "no head" in expected_logs[0].getMessage()


@pytest.mark.parametrize("head", [b"", b"\xff", b"[]", b'{"seq":1,"hash":"abc"}'], ids=str)
def test_a_head_that_is_none_is_refused(file: Path, head: bytes) -> None:
    """It would prove nothing, and look as if it did."""
    file.with_name("audit.jsonl.head").write_bytes(head)
    with pytest.raises(AuditFileError, match="head"):
        verify_audit_file(file)
    with pytest.raises(AuditFileError, match="head"):
        JsonlAuditSink(file)


def test_a_head_somebody_mistyped_is_refused(file: Path) -> None:
    """A hash has 64 hexadecimal digits."""
    with pytest.raises(AuditFileError, match="64"):
        verify_audit_file(file, "abc")


def test_two_sinks_do_not_write_one_file(file: Path) -> None:
    """Two chains in one file would be none."""
    with JsonlAuditSink(file), pytest.raises(AuditFileError, match="another sink"):
        JsonlAuditSink(file)
    write(file, range(7, 8))


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """It may hold what people typed."""
    path = tmp_path / "audit.jsonl"
    write(path, range(1, 2))
    assert os.name == "nt" or path.stat().st_mode & 0o077 == 0


def test_an_empty_audit_is_intact(tmp_path: Path) -> None:
    """Nothing was written, and nothing is claimed."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        assert sink.head is None
    assert verify_audit_file(path) == AuditVerification(
        entries=0, problem=None, last=None, end_proven=False, unproven_entries=0
    )


class _Disk:
    """The file of a sink on a disk that is full now and then: a part of a line gets there, and the rest does not."""

    def __init__(self, sink: JsonlAuditSink, *, raises: bool = True) -> None:
        self._raw = sink._file._file
        self._raises = raises
        self.room: int | None = None
        sink._file._file = cast("BinaryIO", self)

    def write(self, line: bytes) -> int:
        if self.room is None:
            return self._raw.write(line)
        written = self._raw.write(line[: self.room])
        if self._raises:
            raise OSError(errno.ENOSPC, "no space left")
        return written

    def fileno(self) -> int:
        return self._raw.fileno()

    def close(self) -> None:
        self._raw.close()


@pytest.mark.requirement("AS-OBSV-003", "AS-OBSV-004")
@pytest.mark.allow_logs("agent_surface.audit")
@pytest.mark.parametrize("raises", [True, False], ids=["raising", "short"])
@pytest.mark.parametrize("room", [0, 1, 30, 10_000], ids=["nothing", "one byte", "a part", "all of it"])
def test_a_write_that_fails_half_way_leaves_a_chain_that_can_go_on(tmp_path: Path, room: int, raises: bool) -> None:
    """The disk is full for two records and then is not: what got there is accounted for, and the loss is told."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        disk = _Disk(sink, raises=raises)
        sink.record(record(1))
        assert sink.flush()
        disk.room = room
        sink.record(record(2))
        sink.record(record(3))
        assert sink.flush()
        lost = 0 if room == 10_000 and not raises else 2
        now = sink.statistics()
        assert (now.queued, now.lost, now.failing) == (0, lost, lost > 0)
        disk.room = None
        sink.record(record(4))
        assert sink.flush()
        assert sink.lost == lost
    verdict = verify_audit_file(path)
    assert (verdict.intact, verdict.end_proven, verdict.torn) == (True, True, None)
    text = path.read_text(encoding="utf-8")
    assert ('"kind":"records-lost"' in text) == (lost > 0)
    assert text.count('"atMs":4') >= 1


@pytest.mark.requirement("AS-OBSV-003", "AS-OBSV-004")
@pytest.mark.allow_logs("agent_surface.audit")
def test_a_line_that_lacked_only_its_break_stays_an_entry_when_the_break_is_all_that_gets_there(tmp_path: Path) -> None:
    """Twice on a full disk: what was written stays what it is, and the chain goes on behind it."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        sink.record(record(1))
        sink.record(record(2))
        assert sink.flush()
        disk = _Disk(sink)
        # All of the next line but its line break, then of the one after it no more than the break that mends it.
        disk.room = len(path.read_bytes().splitlines()[1])
        sink.record(record(3))
        assert sink.flush()
        disk.room = 1
        sink.record(record(4))
        assert sink.flush()
        disk.room = None
        sink.record(record(5))
        assert sink.flush()
    verdict = verify_audit_file(path)
    assert (verdict.intact, verdict.end_proven, verdict.torn) == (True, True, None)
    lines = path.read_bytes().splitlines()
    assert [json.loads(line)["record"]["atMs"] for line in (*lines[:3], lines[-1])] == [1, 2, 3, 5]


@pytest.mark.requirement("AS-OBSV-004")
@pytest.mark.allow_logs("agent_surface.audit")
def test_a_disk_that_is_full_from_the_beginning_has_no_head(tmp_path: Path) -> None:
    """There is nothing it could be the head of; the first entry that fits is the first."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        disk = _Disk(sink)
        disk.room = 0
        sink.record(record(1))
        assert sink.flush()
        assert (sink.head, list(tmp_path.iterdir())) == (None, [path])
        disk.room = None
        sink.record(record(2))
        assert sink.flush()
    assert verify_audit_file(path).end_proven


@pytest.mark.requirement("AS-OBSV-003", "AS-OBSV-004")
def test_a_file_that_somebody_else_wrote_into_is_not_continued(
    tmp_path: Path, expected_logs: list[logging.LogRecord]
) -> None:
    """After a failed write the sink looks at what is there; what it cannot have written ends its trust."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        sink.record(record(1))
        assert sink.flush()
        disk = _Disk(sink)
        disk.room = 0
        sink.record(record(2))
        assert sink.flush()
        theirs = path.read_bytes() * 2
        path.write_bytes(theirs)
        disk.room = None
        sink.record(record(3))
        assert sink.flush()
        assert sink.lost == 2
    assert path.read_bytes() == theirs
    assert len(expected_logs) == 1


@pytest.mark.requirement("AS-OBSV-004")
def test_a_head_that_cannot_be_written_costs_no_record(tmp_path: Path, expected_logs: list[logging.LogRecord]) -> None:
    """The entries are there; only the proof of the end is missing, and the log says so."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        (tmp_path / "audit.jsonl.head.new").mkdir()
        sink.record(record(1))
        assert sink.flush()
        assert sink.lost == 0
    assert not verify_audit_file(path).end_proven
    assert "could not finish" in expected_logs[0].getMessage()


def test_whatever_a_record_holds_can_be_written(tmp_path: Path) -> None:
    """Facts come from policies and exceptions, ids from callers; none of them may stop the audit."""

    class Unspeakable:
        @override
        def __str__(self) -> str:
            raise RuntimeError

    facts: dict[object, object] = {
        "error": ValueError("x" * 10_000),
        "nan": float("nan"),
        "big": 10**5_000,
        "nested": {"a": [{"b": ({"c": {"d": 1}},)}]},
        "bytes": b"\xff",
        "unspeakable": Unspeakable(),
        "\ud800": "\ud800",
        3: {4},
    }
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        sink.record(record(1, capability_id="\ud800", note="\udfff", facts=cast("dict[str, object]", facts)))
        assert sink.flush()
        assert sink.lost == 0
    assert verify_audit_file(path).entries == 1
    assert path.stat().st_size < 4_000
