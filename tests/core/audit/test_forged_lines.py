"""Lines whose hash is right and that were never written by us."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from agent_surface.audit import JsonlAuditSink, verify_audit_file
from tests.core.audit.records import record


def _line(body: bytes) -> bytes:
    """``body`` with its own hash put where a line has it, as anybody can."""
    return b'%s,"hash":"%s"}\n' % (body[:-1], hashlib.sha256(body).hexdigest().encode())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An audit of one entry, closed."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path, fsync=False) as sink:
        sink.record(record(1))
        assert sink.flush()
    return path


@pytest.mark.requirement("AS-OBSV-003")
@pytest.mark.parametrize(
    "body",
    [
        b"{no json}",
        b'{"prev":"x"}',
        b'{"prev":"x","record":{},"seq":true}',
        b'{"prev":"x","record":{},"seq":"2"}',
        b'{"prev":7,"record":{},"seq":2}',
        b'{"a":' * 100_000 + b"{}" + b"}" * 100_000,
    ],
    ids=["no JSON", "no number", "true for one", "text for a number", "no hash before", "deeper than can be read"],
)
def test_a_line_that_hashes_right_and_is_no_entry_is_found(file: Path, body: bytes) -> None:
    """A hash proves that a line is what it was, not that it is one of ours."""
    with file.open("ab") as stream:
        stream.write(_line(body))
    problem = verify_audit_file(file).problem
    assert problem is not None
    assert problem.line == 2
