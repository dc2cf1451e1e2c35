"""Taking out of a record what must not be stored, before anything stores it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from agent_surface._base._json import FrozenJson
from agent_surface.audit._values import AuditRecord

logger = logging.getLogger("agent_surface.audit")

AuditRedaction: TypeAlias = Callable[[AuditRecord], AuditRecord]
"""Returns the record to store in place of the one it is given; the record itself cannot be changed."""

REDACTED = "[redacted]"
"""What stands in a record in place of a value that was taken out."""


def redact_paths(paths: Mapping[str, Sequence[str]]) -> AuditRedaction:
    """Declare which parts of an input are never stored.

    Args:
        paths: For each capability id the JSON Pointers into its effective input; ``*`` stands for every item or field
            of one level, and the empty pointer for the whole input. The key ``*`` holds for every capability.

    Returns:
        A redaction that replaces each named part that is there by ``[redacted]``.

    Raises:
        ValueError: A pointer does not begin with ``/``.
    """
    steps = {capability: tuple(_steps(pointer) for pointer in pointers) for capability, pointers in paths.items()}
    everywhere = steps.get("*", ())

    def redact(record: AuditRecord) -> AuditRecord:
        wanted = (*everywhere, *steps.get(record.capability_id, ()))
        if record.input is None or not wanted:
            return record
        value: FrozenJson = record.input
        for parts in wanted:
            value = _without(value, parts)
        return replace(record, input=value)

    return redact


def redacted(record: AuditRecord, redact: AuditRedaction | None) -> AuditRecord:
    """The record to store. A redaction that raises costs the record everything it could have been meant to take out."""
    if redact is None:
        return record
    try:
        kept = redact(record)
        if isinstance(kept, AuditRecord):
            return kept
        cause = f"returned {type(kept).__name__}"
    except Exception as error:
        logger.exception("the redaction of an audit record raised; its input, note and facts are not kept")
        cause = type(error).__name__
    else:
        logger.error("the redaction of an audit record %s; its input, note and facts are not kept", cause)
    return replace(
        record, input=None, note=None, facts=MappingProxyType({"redaction": "failed", "redaction-cause": cause})
    )


def _steps(pointer: str) -> tuple[str, ...]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"a JSON Pointer is empty or begins with a slash, and {pointer!r} does not")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def _without(value: FrozenJson, parts: tuple[str, ...]) -> FrozenJson:
    if not parts:
        return REDACTED
    step, rest = parts[0], parts[1:]
    if isinstance(value, tuple):
        return tuple(_without(item, rest) if step in {"*", str(index)} else item for index, item in enumerate(value))
    if isinstance(value, Mapping):
        return MappingProxyType(
            {key: _without(item, rest) if step in {"*", key} else item for key, item in value.items()}
        )
    return value
