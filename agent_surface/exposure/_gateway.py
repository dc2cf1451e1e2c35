"""The gateway: the one way for a tool without a component into a list of tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, cast

from agent_surface import _failures
from agent_surface._base._json import JsonValue
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner, HostLoop, IdSource
from agent_surface._registrations import Registration
from agent_surface.audit import AuditSink
from agent_surface.authority import CapabilityAuthority
from agent_surface.authority._authority import AuthorityProof, require_authority, require_tool, verify_tool
from agent_surface.confirmations import ConfirmationController, ConfirmationWaiter
from agent_surface.contracts import BoundExternalTool
from agent_surface.errors import (
    AgentCapabilityError,
    AgentSurfaceDefectError,
    AgentSurfaceDefinitionError,
    DefinitionErrorCode,
    RegistryClosedError,
)
from agent_surface.exposure._registration import register_tool
from agent_surface.exposure._values import ExposedTool
from agent_surface.ids import WireKey, encode_wire_keys
from agent_surface.invocation import (
    ANONYMOUS,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    InvocationError,
)
from agent_surface.policies import AgentEnvironment, AgentPolicy
from agent_surface.registry import AgentSurfaceRegistry, create_agent_surface_registry
from agent_surface.registry._internals import require_internals

_log = logging.getLogger(__name__)


class AgentExposureGateway:
    """Admits tools whose proof matches the manifest, and sends their calls through a pipeline of its own.

    Made by :func:`create_agent_exposure_gateway`. It belongs to the thread that made it and is a context manager;
    leaving it closes it.
    """

    def __init__(
        self,
        *,
        registry: AgentSurfaceRegistry,
        proof: AuthorityProof,
        policies: Sequence[AgentPolicy],
        limits: AgentSurfaceLimits,
    ) -> None:
        self._registry = registry
        self._proof = proof
        self._policies = tuple(policies)
        self._limits = limits

    @property
    def confirmations(self) -> ConfirmationController:
        """The host's controller, the only place where an approval is made. Not for adapters."""
        return self._registry.confirmations

    @property
    def confirmation_waiter(self) -> ConfirmationWaiter:
        """What an adapter may do about a confirmation: wait for it and withdraw it."""
        return self._registry.confirmation_waiter

    @property
    def audit(self) -> AuditSink:
        """Where audit records go."""
        return self._registry.audit

    @property
    def closed(self) -> bool:
        """Whether the gateway was closed."""
        return self._registry.closed

    def expose(self, tools: Iterable[object], *, consumer: AgentConsumer = ANONYMOUS) -> tuple[ExposedTool, ...]:
        """Admit tools, all of them or none.

        Args:
            tools: Made by ``contract.bind(...)``; anything else is refused, whatever it looks like.
            consumer: In whose name they are called.

        Returns:
            The admitted tools, in the order given.

        Raises:
            AgentSurfaceDefinitionError: A tool carries no proof, is not in the manifest, differs from it (names the
                field), lacks a policy the contract demands, or is exposed already.
            RegistryClosedError: The gateway was closed.
        """
        store = require_internals(self._registry, "expose").store
        admitted: dict[str, tuple[BoundExternalTool, Registration]] = {}
        for candidate in tools:
            tool = require_tool(candidate)
            verify_tool(self._proof, tool)
            tool_id = tool.seal.contract.id
            if tool_id in admitted or store.candidates(tool_id):
                raise AgentSurfaceDefinitionError(
                    DefinitionErrorCode.DUPLICATE_CAPABILITY,
                    f"{tool_id} is exposed twice by this gateway",
                    subject=tool_id,
                )
            registration = register_tool(tool, store.issue_id(), policies=self._policies, limits=self._limits)
            admitted[tool_id] = (tool, registration)
        for _, registration in admitted.values():
            store.add(registration)
        names = encode_wire_keys([WireKey(capability_id=tool_id) for tool_id in admitted])
        return tuple(
            self._exposed(tool, name, registration, consumer)
            for name, (tool, registration) in zip(names, admitted.values(), strict=True)
        )

    def close(self) -> None:
        """End everything: calls settle as ``CANCELLED``, requests of a person expire. Idempotent."""
        self._registry.close()

    async def wait_closed(self, timeout_ms: int = 1_000) -> bool:
        """Wait until no task of this gateway runs any more.

        Args:
            timeout_ms: How long at most.

        Returns:
            Whether all of them ended in time.
        """
        return await self._registry.wait_closed(timeout_ms)

    def __enter__(self) -> Self:
        """The gateway itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the gateway."""
        self.close()

    def _exposed(
        self, tool: BoundExternalTool, name: str, registration: Registration, consumer: AgentConsumer
    ) -> ExposedTool:
        contract = tool.seal.contract
        registration_id = registration.registration_id

        async def execute(
            tool_input: JsonValue, *, tool_call_id: str | None, confirmation_id: str | None
        ) -> AgentInvocationResult:
            invocation = AgentInvocation(
                capability_id=contract.id,
                input=tool_input,
                invocation_id=tool_call_id or None,
                registration_id=registration_id,
                confirmation_id=confirmation_id,
            )
            return await self._invoke(invocation, consumer)

        return ExposedTool(
            id=contract.id,
            name=name,
            description=contract.description,
            input_schema=contract.input.json_schema,
            output_schema=contract.output.json_schema if contract.output is not None else None,
            effect=contract.effect,
            confirmation=contract.confirmation,
            idempotent=contract.idempotent,
            reversible=contract.reversible,
            executor=execute,
        )

    async def _invoke(self, invocation: AgentInvocation, consumer: AgentConsumer) -> AgentInvocationResult:
        try:
            return await self._registry.invoke(invocation, consumer=consumer)
        except RegistryClosedError:
            failure: AgentCapabilityError = _failures.cancelled(closed=True)
        except AgentSurfaceDefectError as defect:
            # Logged, settled and told to its author; the model gets the settled form.
            return cast("AgentInvocationResult", defect.result)
        except Exception:  # noqa: BLE001  execute never raises; logged with its traceback
            _log.exception("invoking %s failed outside the pipeline", invocation.capability_id)
            failure = _failures.execution_failed("handler-error")
        return InvocationError(
            invocation_id=invocation.invocation_id or "",
            capability_id=invocation.capability_id,
            surface_version=self._registry.version,
            error=failure.payload,
        )


def create_agent_exposure_gateway(
    authority: CapabilityAuthority,
    *,
    environment: AgentEnvironment = "production",
    context: Callable[[], Mapping[str, object]] | None = None,
    policies: Sequence[AgentPolicy] = (),
    audit: AuditSink | None = None,
    limits: AgentSurfaceLimits | None = None,
    clock: Clock | None = None,
    host_loop: HostLoop | None = None,
    handler_runner: HandlerRunner | None = None,
    ids: IdSource | None = None,
) -> AgentExposureGateway:
    """Make the gateway of tools that belong to no component. It belongs to the calling thread.

    What it admits runs through the ten phases of a registry that holds nothing else: input is validated, policies are
    asked, a person approves where that is required, calls of one tool queue, and everything is audited.

    Args:
        authority: What can ever be exposed.
        environment: ``production`` accepts only a proven contract.
        context: The application's context for policies and handlers; synchronous and cheap.
        policies: Guards of every tool; they see a procedure of the domain plane.
        audit: Where records go; bounded memory when absent.
        limits: Bounds that differ from the defaults.
        clock: Time; the machine's when absent.
        host_loop: The event loop; asyncio's running one when absent.
        handler_runner: How plain handlers are run; inline when absent.
        ids: Where ids come from; the operating system's generator when absent.

    Raises:
        AuthorityError: The authority is not genuine, or not good enough for the environment.
    """
    registry = create_agent_surface_registry(
        authority=authority,
        environment=environment,
        context=context,
        audit=audit,
        limits=limits,
        clock=clock,
        host_loop=host_loop,
        handler_runner=handler_runner,
        ids=ids,
    )
    return AgentExposureGateway(
        registry=registry,
        proof=require_authority(authority),
        policies=policies,
        limits=limits if limits is not None else AgentSurfaceLimits(),
    )
