"""Meta mode: three constant tools, and a surface that is discovered through the first of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NoReturn

from agent_surface import _failures
from agent_surface._base._json import JsonValue, freeze_json
from agent_surface._snapshot._values import ObservationDescriptor, SnapshotBudget, SnapshotContext, is_within
from agent_surface.errors import AgentCapabilityError, RegistryClosedError, SchemaIssue
from agent_surface.ids import find_capability_id
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult, InvocationOk
from agent_surface.schemas import takes_object
from agent_surface.toolset._calls import invocation_id_of, local_error
from agent_surface.toolset._catalogue import Offering, offerings
from agent_surface.toolset._lifetime import ToolsetLifetime
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._values import AgentTool, ConfirmationMode, ToolEntry, ToolState, WaitListener
from agent_surface.toolset._verbs import ACT, DISCOVER, READ, Verb

_log = logging.getLogger(__name__)

Envelope = Mapping[str, JsonValue]
Answer = Callable[[Envelope, str | None, WaitListener | None], Awaitable[AgentInvocationResult]]


class MetaToolset(ToolsetLifetime):
    """Three tools whatever the surface is. See :class:`AgentToolset` for what the members promise.

    A call goes the way of a direct tool's call: with the registration of the one component that can be meant, with
    the surface version the model has seen last, through the same runner. What cannot be told apart here is left to
    the registry, which answers with its typed reason.
    """

    def __init__(
        self,
        surface: InvokableSurface,
        *,
        consumer: AgentConsumer,
        confirmations: ConfirmationMode,
        scope: tuple[str, ...],
        budget: SnapshotBudget | None,
    ) -> None:
        super().__init__(surface, consumer=consumer, confirmations=confirmations)
        self._floor = scope
        self._budget = budget
        self._seen_version: str | None = None
        self._tools = (
            self._tool(DISCOVER, self._discover),
            self._tool(READ, self._read),
            self._tool(ACT, self._act),
        )

    def tools(self) -> tuple[AgentTool, ...]:
        """The three tools."""
        return () if self._closed else self._tools

    def refresh(self) -> tuple[AgentTool, ...]:
        """The three tools; nothing about them is live."""
        return self.tools()

    def find_tool(self, name: str) -> AgentTool | None:
        """The tool of that name, also when the toolset is closed: it says so itself."""
        return next((tool for tool in self._tools if tool.name == name), None)

    def wire_name_map(self) -> Mapping[str, str]:
        """Empty: the names of the tools stand for no capability."""
        return MappingProxyType({})

    def subscribe(self, listener: Callable[[Sequence[AgentTool]], None]) -> Callable[[], None]:
        """Never calls ``listener``: the catalogue does not change. The model compares ``surfaceVersion``."""
        del listener
        return lambda: None

    def _tool(self, verb: Verb, answer: Answer) -> AgentTool:
        async def execute(
            entry: ToolEntry, tool_input: JsonValue, *, tool_call_id: str | None, on_wait: WaitListener | None
        ) -> AgentInvocationResult:
            del entry  # a verb is one tool
            try:
                if self._closed:
                    raise _failures.cancelled(closed=True)
                return await answer(verb.read(tool_input), tool_call_id, on_wait)
            except AgentCapabilityError as refusal:
                failure = refusal
            except RegistryClosedError:
                failure = _failures.cancelled(closed=True)
            except Exception:  # noqa: BLE001  execute never raises; logged with its traceback
                _log.exception("%s failed outside the pipeline", verb.definition.name)
                failure = _failures.execution_failed("handler-error")
            return local_error(self._addressed(verb, tool_input, tool_call_id), failure)

        entry = ToolEntry(definition=verb.definition, state=ToolState(available=True), registration_id="")
        return AgentTool(entry, execute)

    def _addressed(self, verb: Verb, tool_input: JsonValue, tool_call_id: str | None) -> AgentInvocation:
        """What a call that got nowhere was about."""
        target = tool_input.get("capabilityId") if isinstance(tool_input, dict) else None
        return AgentInvocation(
            capability_id=target if isinstance(target, str) and target else verb.definition.name,
            invocation_id=invocation_id_of(tool_call_id),
            surface_version=self._surface.version,
        )

    async def _discover(
        self, envelope: Envelope, tool_call_id: str | None, on_wait: WaitListener | None
    ) -> AgentInvocationResult:
        """The snapshot as output, with what was refused or left out named in it."""
        del on_wait
        wanted = envelope.get("scope")
        scope, rejected = _narrowed(self._floor, [str(prefix) for prefix in wanted] if isinstance(wanted, list) else [])
        snapshot = self._surface.snapshot(
            SnapshotContext(
                consumer=self._consumer,
                scope=scope,
                include_unavailable=envelope.get("includeUnavailable") is not False,
                budget=self._budget,
            )
        )
        if rejected and not scope:
            # An empty scope means everything to a snapshot. Nothing was left out either: there is nothing.
            snapshot = replace(snapshot, components=(), procedures=(), dropped_components=0)
        self._seen_version = snapshot.surface_version
        output = snapshot.to_json()
        if rejected:
            output["scopeRejected"] = {"prefixes": [*rejected]}
        return InvocationOk(
            invocation_id=invocation_id_of(tool_call_id) or "",
            capability_id=DISCOVER.definition.name,
            surface_version=snapshot.surface_version,
            output=freeze_json(output),
            has_output=True,
        )

    async def _read(
        self, envelope: Envelope, tool_call_id: str | None, on_wait: WaitListener | None
    ) -> AgentInvocationResult:
        targets = self._targets(envelope)
        if any(not isinstance(target.descriptor, ObservationDescriptor) for target in targets):
            _refuse("/capabilityId", "is no observation; use surface_act")
        invocation = self._invocation(envelope, targets, invocation_id_of(tool_call_id))
        return await self._runner.run(invocation, on_wait=on_wait)

    async def _act(
        self, envelope: Envelope, tool_call_id: str | None, on_wait: WaitListener | None
    ) -> AgentInvocationResult:
        targets = self._targets(envelope)
        invocation = replace(
            self._invocation(envelope, targets, _text(envelope, "invocationId") or invocation_id_of(tool_call_id)),
            input=_input(envelope.get("input"), targets),
            confirmation_id=_text(envelope, "confirmationId"),
            surface_version=_text(envelope, "surfaceVersion") or self._seen_version,
        )
        return await self._runner.run(invocation, on_wait=on_wait)

    def _invocation(
        self, envelope: Envelope, targets: Sequence[Offering], invocation_id: str | None
    ) -> AgentInvocation:
        presented = _text(envelope, "registrationId")
        return AgentInvocation(
            capability_id=_text(envelope, "capabilityId") or "",
            invocation_id=invocation_id,
            instance_id=_text(envelope, "instanceId"),
            registration_id=presented or (targets[0].registration_id if len(targets) == 1 else None),
        )

    def _targets(self, envelope: Envelope) -> tuple[Offering, ...]:
        """What the call can mean, of all that the consumer can see: scope is about discovery and no authority."""
        capability_id, instance_id = _text(envelope, "capabilityId"), _text(envelope, "instanceId")
        registration_id = _text(envelope, "registrationId")
        identity = find_capability_id(capability_id)
        if identity is None:
            return ()
        scope = (identity.component_type,) if identity.component_type else ()
        snapshot = self._surface.snapshot(SnapshotContext(consumer=self._consumer, scope=scope))
        return tuple(
            offering
            for offering in offerings(snapshot)
            if offering.descriptor.capability_id == capability_id
            and instance_id in (None, offering.component.instance_id)
            and registration_id in (None, offering.registration_id)
        )


def _narrowed(floor: tuple[str, ...], wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The scope of a discovery, and the wanted prefixes of which the floor lets nothing through.

    A prefix that reaches beyond the floor comes down to the part of the floor within it.
    """
    if not wanted or not floor:
        return tuple(wanted) or floor, ()
    kept: dict[str, None] = {}
    rejected: dict[str, None] = {}
    for prefix in wanted:
        if any(is_within(prefix, allowed) for allowed in floor):
            kept[prefix] = None
            continue
        within = [allowed for allowed in floor if is_within(allowed, prefix)]
        kept.update(dict.fromkeys(within))
        if not within:
            rejected[prefix] = None
    return tuple(kept), tuple(rejected)


def _input(value: JsonValue, targets: Sequence[Offering]) -> JsonValue:
    """The input of an action; JSON text in place of an object is read where the target takes nothing but objects.

    Raises:
        AgentCapabilityError: ``INVALID_INPUT``; it is text that holds no object.
    """
    if not isinstance(value, str) or not targets or not all(_takes_object(target) for target in targets):
        return value
    try:
        decoded: JsonValue = json.loads(value)
    except (ValueError, RecursionError):
        decoded = None
    if not isinstance(decoded, dict):
        _refuse("/input", "must be an object")
    _log.info("the input of %s came as JSON text and was read", targets[0].descriptor.capability_id)
    return decoded


def _takes_object(target: Offering) -> bool:
    descriptor = target.descriptor
    return not isinstance(descriptor, ObservationDescriptor) and takes_object(descriptor.input_schema)


def _text(envelope: Envelope, key: str) -> str | None:
    value = envelope.get(key)
    return value if isinstance(value, str) else None


def _refuse(path: str, message: str) -> NoReturn:
    raise _failures.invalid_input([SchemaIssue(path=path, message=message)])
