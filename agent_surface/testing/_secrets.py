"""Keeping out of a recording what was declared secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import TypeVar, cast

from agent_surface._base._json import FrozenJson
from agent_surface.audit import AuditRecord, AuditRedaction
from agent_surface.audit._redaction import REDACTED, redacted
from agent_surface.invocation import InvocationOk
from agent_surface.testing._recording import RecordedCall, RecordedStep

T = TypeVar("T")

_SHORTEST_PART = 4
"""Shorter texts are taken out where they stand alone: every text has an ``a`` in it."""


class Secrets:
    """The values at places that were declared secret, and texts without them.

    A value that is declared secret in one place is taken out wherever it turns up: a password comes back in an
    output, a summary or a message.

    Args:
        redact: Takes what is secret out of an input, as it does for the audit.
        redact_output: Takes what is secret out of an output, given as the ``input`` of a record.
    """

    def __init__(self, *, redact: AuditRedaction | None, redact_output: AuditRedaction | None) -> None:
        self._redact = redact
        self._redact_output = redact_output
        self._values: set[str] = set()

    def learn(self, call: RecordedCall) -> RecordedCall:
        """Remember what is secret of a call, and return it without."""
        result = call.result
        if isinstance(result, InvocationOk):
            output = self._without(call.capability_id, result.output, self._redact_output)
            result = replace(result, output=output)
        return replace(call, input=self.learn_input(call.capability_id, call.input), result=result)

    def learn_input(self, capability_id: str, value: FrozenJson) -> FrozenJson:
        """Remember what is secret of an input, and return it without."""
        return self._without(capability_id, value, self._redact)

    def scrub(self, step: RecordedStep) -> RecordedStep:
        """The step without any value that is known to be secret."""
        return self._scrubbed(step)

    def _without(self, capability_id: str, value: FrozenJson, redact: AuditRedaction | None) -> FrozenJson:
        record = AuditRecord(
            kind="invocation", at_ms=0, capability_id=capability_id, consumer_key="", status="ok", input=value
        )
        kept = redacted(record, redact).input
        self._collect(value, kept)
        return kept

    def _collect(self, value: FrozenJson, kept: FrozenJson) -> None:
        """Whatever is in ``value`` and is no longer in ``kept`` is secret."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                self._collect(item, kept.get(key, REDACTED) if isinstance(kept, Mapping) else REDACTED)
        elif isinstance(value, tuple):
            parts = kept if isinstance(kept, tuple) else ()
            for index, item in enumerate(value):
                self._collect(item, parts[index] if index < len(parts) else REDACTED)
        elif value != kept and value is not None and not isinstance(value, bool):
            self._values.add(str(value))

    def _scrubbed(self, value: T) -> T:
        kept: object = value
        if isinstance(value, str):
            kept = self._scrubbed_text(value)
        elif isinstance(value, Mapping):
            entries = cast("Mapping[object, object]", value)
            kept = MappingProxyType({self._scrubbed(key): self._scrubbed(item) for key, item in entries.items()})
        elif isinstance(value, tuple):
            kept = tuple(self._scrubbed(item) for item in cast("tuple[object, ...]", value))
        elif is_dataclass(value) and not isinstance(value, type):
            named = {item.name: getattr(value, item.name) for item in fields(value) if item.init}
            kept = replace(
                value, **{name: item if name in _PUBLIC else self._scrubbed(item) for name, item in named.items()}
            )
        elif not isinstance(value, bool) and str(value) in self._values:
            kept = REDACTED
        return cast("T", kept)

    def _scrubbed_text(self, text: str) -> str:
        if text in self._values:
            return REDACTED
        # The longest first: a secret may be a part of another.
        for secret in sorted(self._values, key=len, reverse=True):
            if len(secret) >= _SHORTEST_PART:
                text = text.replace(secret, REDACTED)
        return text


# Of the contract or of the library, and needed to replay anything.
_PUBLIC = frozenset({"capability_id", "outcome", "code", "retry", "kind", "confirmation_id"})
