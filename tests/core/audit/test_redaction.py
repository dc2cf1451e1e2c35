"""What must not be stored is taken out before anything stores it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

import pytest

from agent_surface import AuditRecord, AuditSink, FrozenJson, MemoryAuditSink, thaw_json
from agent_surface.audit import AuditRedaction, BackgroundAuditSink, JsonlAuditSink, LoggingAuditSink, redact_paths
from tests.core.audit.records import record
from tests.core.surface_fixtures import ACT

INPUT: FrozenJson = MappingProxyType(
    {
        "name": "Ann",
        "phones": (MappingProxyType({"number": "1"}), MappingProxyType({"number": "2"})),
        "a/b": "slash",
    }
)


def redacted_input(*pointers: str, capability: str = ACT) -> object:
    """What is stored of the input."""
    return thaw_json(redact_paths({capability: pointers})(record(1, input=INPUT)).input)


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        (("/name",), {"name": "[redacted]", "phones": [{"number": "1"}, {"number": "2"}], "a/b": "slash"}),
        (
            ("/phones/*/number", "/a~1b"),
            {"name": "Ann", "phones": [{"number": "[redacted]"}, {"number": "[redacted]"}], "a/b": "[redacted]"},
        ),
        (("/phones/1",), {"name": "Ann", "phones": [{"number": "1"}, "[redacted]"], "a/b": "slash"}),
        (("/*",), {"name": "[redacted]", "phones": "[redacted]", "a/b": "[redacted]"}),
        (("",), "[redacted]"),
        (("/nobody", "/name/first", "/phones/7"), thaw_json(INPUT)),
    ],
    ids=["field", "every item", "one item", "every field", "everything", "what is not there"],
)
def test_declared_parts_of_an_input_are_replaced(pointers: tuple[str, ...], expected: object) -> None:
    """The shape stays, so that a reader sees that something was there."""
    assert redacted_input(*pointers) == expected


def test_a_redaction_is_for_its_capability_or_for_all() -> None:
    """The same field may be harmless elsewhere."""
    assert redacted_input("/name", capability="view:t.other.act") == thaw_json(INPUT)
    assert cast("dict[str, object]", redacted_input("/name", capability="*"))["name"] == "[redacted]"


def test_a_pointer_that_is_none_is_refused_when_it_is_declared() -> None:
    """A typing error must not store what it meant to take out."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        redact_paths({ACT: ["name"]})


def _memory(redact: AuditRedaction, _: Path) -> tuple[AuditSink, Callable[[], str]]:
    sink = MemoryAuditSink(redact=redact)
    return sink, lambda: str([kept.to_json() for kept in sink.records])


def _file(redact: AuditRedaction, folder: Path) -> tuple[AuditSink, Callable[[], str]]:
    sink = JsonlAuditSink(folder / "audit.jsonl", redact=redact)

    def stored() -> str:
        assert sink.close()
        return sink.path.read_text(encoding="utf-8")

    return sink, stored


def _background(redact: AuditRedaction, _: Path) -> tuple[AuditSink, Callable[[], str]]:
    behind = MemoryAuditSink()
    sink = BackgroundAuditSink(behind, redact=redact)

    def stored() -> str:
        assert sink.close()
        return str([kept.to_json() for kept in behind.records])

    return sink, stored


def _log(redact: AuditRedaction, folder: Path) -> tuple[AuditSink, Callable[[], str]]:
    logger = logging.Logger("redaction")  # noqa: LOG001 - of this test alone
    handler = logging.FileHandler(folder / "log")
    logger.addHandler(handler)

    def stored() -> str:
        handler.close()
        return (folder / "log").read_text(encoding="utf-8")

    return LoggingAuditSink(logger, redact=redact, include_input=True), stored


@pytest.mark.parametrize("make", [_memory, _file, _background, _log])
async def test_no_sink_stores_what_was_declared(
    make: Callable[[AuditRedaction, Path], tuple[AuditSink, Callable[[], str]]], tmp_path: Path
) -> None:
    """Whichever sink it is, and whoever declares it: paths, or a function of the whole record."""

    def redact(record: AuditRecord) -> AuditRecord:
        return replace(redact_paths({ACT: ["/name"]})(record), note="[redacted]")

    sink, stored = make(redact, tmp_path)
    sink.record(record(1, input=INPUT, note="call Ann back"))
    text = stored()
    assert "Ann" not in text
    assert "slash" in text


@pytest.mark.parametrize("answer", [None, RuntimeError("secret")])
def test_a_redaction_that_fails_stores_nothing_it_could_have_meant(
    answer: object, expected_logs: list[logging.LogRecord]
) -> None:
    """That the call happened is kept; input, note and facts are not."""

    def broken(_: AuditRecord) -> AuditRecord:
        if isinstance(answer, Exception):
            raise answer
        return cast("AuditRecord", answer)

    sink = MemoryAuditSink(redact=broken)
    sink.record(record(1, input="secret", note="secret", facts={"cause": "secret"}))
    (kept,) = sink.records
    assert (kept.capability_id, kept.status, kept.input, kept.note) == (ACT, "ok", None, None)
    assert "secret" not in str(kept.to_json())
    assert [entry.levelname for entry in expected_logs] == ["ERROR"]
