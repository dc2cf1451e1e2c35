"""Writing a recording as a pytest file."""

from __future__ import annotations

import json
import keyword
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import assert_never

from agent_surface._base._json import FrozenJson
from agent_surface.audit._redaction import REDACTED
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.errors import ErrorCode
from agent_surface.invocation import AgentConsumer, InvocationError
from agent_surface.testing._exposed import Exposed
from agent_surface.testing._recording import (
    ASYNCIO,
    RecordedCall,
    RecordedDecision,
    RecordedStep,
    RecordedSurface,
    ReplayRunner,
    SessionRecording,
)

_WIDTH = 116
_MOMENTARY = frozenset(
    {
        ErrorCode.STALE_CAPABILITY,
        ErrorCode.COMPONENT_UNMOUNTED,
        ErrorCode.CANCELLED,
        ErrorCode.TIMEOUT,
        ErrorCode.RATE_LIMITED,
    }
)
"""Refusals that depend on the moment in which the call was made; a replay has other moments."""

_ABOUT = """Recorded in a running application by agent_surface.testing.record_session.

The fixture surface_registry gives the application as it was when the recording began.
"""

_VOLATILE_DETAILS = frozenset({"confirmationId", "expiresAt", "retryAfterMs", "liveRegistrationId"})


def session_as_test(
    recording: SessionRecording, *, name: str = "recorded_session", runner: ReplayRunner = ASYNCIO
) -> str:
    """A pytest file that repeats a session without a model and compares every answer.

    The test takes the fixture ``surface``; the project's fixture ``surface_registry`` gives it the application as it
    was when the recording began.

    Args:
        recording: From :attr:`SessionRecorder.recording`.
        name: Of the test, without ``test_``.
        runner: :data:`ASYNCIO`, or ``qt_binding.testing.QT`` for an application with widgets.

    Returns:
        The source of the file.

    Raises:
        ValueError: ``name`` cannot be a part of a function's name.
    """
    if not f"test_{name}".isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be a part of a function's name")
    return _File(recording.steps, name=name, runner=runner).source()


def call_as_test(call: RecordedCall, *, name: str = "recorded_call", runner: ReplayRunner = ASYNCIO) -> str:
    """A pytest file that makes one call and compares the answer; arguments and errors as :func:`session_as_test`.

    Nothing is taken out of ``call``: whoever shows it knows what it may show.
    """
    return session_as_test(SessionRecording(steps=(call,)), name=name, runner=runner)


class _File:
    """Collects the statements of one file and the names they need."""

    def __init__(self, steps: Iterable[RecordedStep], *, name: str, runner: ReplayRunner) -> None:
        self._steps = tuple(steps)
        self._name = name
        self._runner = runner
        self._body: list[str] = []
        self._names: set[str] = set()
        self._consumers: dict[AgentConsumer, str] = {}
        self._evidence: dict[str, str] = {}
        self._seen: dict[tuple[str, str], Exposed] = {}
        self._numbers = count(1)
        calls = [step for step in self._steps if isinstance(step, RecordedCall) and not _asks(step)]
        repeated = Counter(call.invocation_id for call in calls)
        self._repeated = {call_id for call_id, times in repeated.items() if call_id is not None and times > 1}

    def source(self) -> str:
        """The whole file."""
        for step in self._steps:
            match step:
                case RecordedCall():
                    self._call(step)
                case RecordedDecision():
                    self._decision(step)
                case RecordedSurface():
                    self._surface(step)
                case _:
                    assert_never(step)
        body = "\n".join(f"    {line}" if line else "" for part in self._body for line in part.split("\n"))
        return (
            f"{self._head()}\n\nasync def replay(surface: SurfaceHarness) -> None:\n"
            f'    """Repeat what was recorded."""\n{body}\n\n\n'
            f"def test_{self._name}({self._runner.parameters}) -> None:\n"
            f'    """Every answer is the one that was recorded."""\n    {self._runner.run}\n'
        )

    def _head(self) -> str:
        """Docstring, imports and constants; what they are is known when the statements are."""
        secrets = (
            f"Values that were declared secret stand here as {REDACTED}; put others in their place where a call needs\n"
            "them.\n"
        )
        standard = dict(self._runner.imports)
        if "ANY" in self._names:
            standard["unittest"] = "from unittest.mock import ANY"
        others = [standard.pop(name) for name in tuple(standard) if name not in sys.stdlib_module_names]
        names = ["SurfaceHarness", *sorted(self._names - {"ANY"})]
        line = f"from agent_surface.testing import {', '.join(names)}"
        if len(line) > _WIDTH:
            line = "\n".join(["from agent_surface.testing import (", *(f"    {name}," for name in names), ")"])
        ours = [line]
        if self._consumers:
            ours.insert(0, "from agent_surface import AgentConsumer, ConsumerKind")
        parts = [
            f'"""{_ABOUT}{secrets if REDACTED in "".join(self._body) else ""}"""',
            "from __future__ import annotations",
            "\n".join(standard.values()),
            "\n".join([*ours, *others]),
            "\n".join(f"{name} = {_consumer(consumer)}" for consumer, name in self._consumers.items()),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    # ------------------------------------------------------------------------------------------------------ steps

    def _call(self, call: RecordedCall) -> None:
        refused = call.result.error if isinstance(call.result, InvocationError) else None
        if refused is not None and refused.code in _MOMENTARY:
            self._body.append(f"# Not repeated: {_text(call.capability_id)} was {refused.code.value} at that moment.")
            return
        if call.confirmation_id is not None and call.confirmation_id not in self._evidence:
            self._body.append(f"# Not repeated: {_text(call.capability_id)} used an approval of before the recording.")
            return
        arguments = [_text(call.capability_id)]
        if call.input is not None and call.input != {}:
            arguments.append(_literal(call.input))
        if call.instance_id is not None:
            arguments.append(f"instance_id={_text(call.instance_id)}")
        if call.invocation_id in self._repeated:
            arguments.append(f"invocation_id={_text(str(call.invocation_id))}")
        if call.confirmation_id is not None:
            arguments.append(f"confirmation_id={self._evidence[call.confirmation_id]}")
        arguments.append(f"consumer={self._name_of(call.consumer)}")
        self._body.append(_wrapped("result = await surface.invoke(", arguments, ")"))
        if isinstance(call.result, InvocationError):
            self._refusal(call.result.error.code, call.result.error.details)
        else:
            self._names.add("assert_ok")
            self._body.append(_wrapped("assert_ok(", ["result", self._expected(call.result.output)], ")"))

    def _refusal(self, code: ErrorCode, details: Mapping[str, FrozenJson]) -> None:
        self._names.add("assert_fails_with")
        stable = {key: value for key, value in details.items() if key not in _VOLATILE_DETAILS}
        arguments = ["result", _text(code.value)]
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in stable):
            arguments += [f"{key}={self._expected(value)}" for key, value in stable.items()]
        else:
            arguments.append(f"**{self._expected(stable)}")
        asked = details.get("confirmationId") if code is ErrorCode.CONFIRMATION_REQUIRED else None
        if not isinstance(asked, str):
            self._body.append(_wrapped("assert_fails_with(", arguments, ")"))
            return
        evidence = self._evidence.setdefault(asked, f"evidence_{next(self._numbers)}")
        self._body.append(_wrapped("asked = assert_fails_with(", arguments, ")"))
        self._body.append(f'{evidence} = str(asked.details["confirmationId"])')

    def _decision(self, decision: RecordedDecision) -> None:
        evidence = self._evidence.get(decision.confirmation_id)
        if evidence is None:
            return  # asked before the recording began, or of somebody the test does not repeat
        verb = {
            ConfirmationOutcome.APPROVED: "approve",
            ConfirmationOutcome.DENIED: "deny",
            ConfirmationOutcome.EXPIRED: "expire",
        }[decision.outcome]
        note = "" if decision.note is None else f", note={_text(decision.note)}"
        self._body.append(f"surface.confirmations.{verb}({evidence}{note})")

    def _surface(self, surface: RecordedSurface) -> None:
        """What differs from the surface recorded before; at first, everything."""
        now = {(item.capability_id, item.instance_id): item for item in surface.exposed}
        instances = Counter(item.capability_id for item in surface.exposed)
        fresh = [item for key, item in now.items() if key not in self._seen or self._seen[key].state != item.state]
        gone = [capability_id for capability_id, _ in self._seen if not instances[capability_id]]
        self._body.append(f"seen = surface.snapshot(consumer={self._name_of(surface.consumer)})")
        available = [
            _text(item.capability_id) for item in fresh if item.available and instances[item.capability_id] == 1
        ]
        if available:
            self._assert("assert_exposes", available)
        for item in fresh:
            instance = [] if instances[item.capability_id] == 1 else [f"instance_id={_text(item.instance_id)}"]
            if item.available and instance:
                self._assert("assert_exposes", [_text(item.capability_id), *instance])
            elif not item.available:
                reason = f"reason={self._expected(item.reason)}"
                self._assert("assert_exposes_unavailable", [_text(item.capability_id), reason, *instance])
        if gone:
            self._assert("assert_hidden", [_text(capability_id) for capability_id in dict.fromkeys(gone)])
        self._seen = now

    def _assert(self, function: str, arguments: list[str]) -> None:
        self._names.add(function)
        self._body.append(_wrapped(f"{function}(", ["seen", *arguments], ")"))

    def _expected(self, value: FrozenJson) -> str:
        """A value to compare with; a text of which something was taken out equals anything."""
        if _is_redacted(value):
            self._names.add("ANY")
        return _literal(value, redacted_as="ANY")

    def _name_of(self, consumer: AgentConsumer) -> str:
        if consumer not in self._consumers:
            self._consumers[consumer] = "CONSUMER" if not self._consumers else f"CONSUMER_{len(self._consumers) + 1}"
        return self._consumers[consumer]


def _asks(call: RecordedCall) -> bool:
    result = call.result
    return isinstance(result, InvocationError) and result.error.code is ErrorCode.CONFIRMATION_REQUIRED


def _consumer(consumer: AgentConsumer) -> str:
    grants = f", grants=tuple({_literal(consumer.grants)})" if consumer.grants else ""
    return f"AgentConsumer(id={_text(consumer.id)}, kind=ConsumerKind.{consumer.kind.name}{grants})"


def _is_redacted(value: FrozenJson) -> bool:
    if isinstance(value, str):
        return REDACTED in value
    if isinstance(value, Mapping):
        return any(_is_redacted(item) for item in value.values())
    return isinstance(value, tuple) and any(_is_redacted(item) for item in value)


def _text(text: str) -> str:
    # A JSON string is a Python string, and has no line end in it. A lone surrogate can be in no file.
    return json.dumps(text, ensure_ascii=False) if _can_be_written(text) else ascii(text)


def _can_be_written(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _literal(value: FrozenJson, *, redacted_as: str | None = None) -> str:
    """A JSON value as Python source."""
    if isinstance(value, str):
        return redacted_as if redacted_as is not None and REDACTED in value else _text(value)
    if isinstance(value, Mapping):
        entries = [f"{_text(key)}: {_literal(item, redacted_as=redacted_as)}" for key, item in value.items()]
        return _wrapped("{", entries, "}")
    if isinstance(value, tuple):
        return _wrapped("[", [_literal(item, redacted_as=redacted_as) for item in value], "]")
    return repr(value)


def _wrapped(start: str, parts: list[str], end: str) -> str:
    """The parts on one line, or one on each where the line would be too long."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    inside = "".join(f"    {row}\n" for part in parts for row in f"{part},".split("\n"))
    return f"{start}\n{inside}{end}"
