"""A surface in the hands of a test."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from agent_surface._base._json import JsonValue
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._registrations import RegistrationHandle
from agent_surface._snapshot import AgentSurfaceSnapshot, SnapshotContext
from agent_surface.audit import AuditRecord, MemoryAuditSink
from agent_surface.authority import CapabilityAuthority
from agent_surface.contracts import BoundComponent
from agent_surface.errors import AgentSurfaceError
from agent_surface.events import AgentSurfaceEvent
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult, ConsumerKind
from agent_surface.policies import AgentPolicy
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry import AgentSurfaceRegistry, create_agent_surface_registry
from agent_surface.testing._clock import ManualClock
from agent_surface.testing._confirmations import HarnessConfirmations
from agent_surface.testing._exposed import exposed_text, find_exposed
from agent_surface.testing._ids import SequentialIds
from agent_surface.testing._results import output_of, with_surface

TESTER = AgentConsumer(id="test", kind=ConsumerKind.TEST)
"""Who calls in a test that names nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRef:
    """A capability as it stood in the catalogue at one moment; presenting it later asks for exactly that one."""

    capability_id: str
    instance_id: str
    registration_id: str
    surface_version: str


class HostContext:
    """What the application says of itself, exchangeable while a test runs."""

    __slots__ = ("context",)

    def __init__(self, context: Mapping[str, object]) -> None:
        self.context = context


class SurfaceHarness:
    """A registry, one consumer of it, and everything it tells. Made by :func:`create_surface_harness`.

    It reaches capabilities as an agent does, through ``invoke``; there is no way around the authority and the phases.
    It is a context manager; leaving it closes it.

    Attributes:
        registry: The registry.
        consumer: Who asks unless a call says otherwise.
        confirmations: The person.
    """

    def __init__(
        self,
        registry: AgentSurfaceRegistry,
        *,
        consumer: AgentConsumer,
        clock: ManualClock | None,
        host: HostContext | None,
        owns_registry: bool,
    ) -> None:
        self.registry = registry
        self.consumer = consumer
        self.confirmations = HarnessConfirmations(registry, clock=clock)
        self._clock = clock
        self._host = host
        self._owns_registry = owns_registry
        self._events: list[AgentSurfaceEvent] = []
        self._mounted: list[RegistrationHandle] = []
        self._loops: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        self._unsubscribe = registry.subscribe(self._events.append)

    # What an agent does.

    def snapshot(
        self,
        *,
        consumer: AgentConsumer | None = None,
        scope: Sequence[str] = (),
        include_unavailable: bool = True,
    ) -> AgentSurfaceSnapshot:
        """The catalogue as the consumer sees it.

        Args:
            consumer: Who looks; the harness's own when absent.
            scope: Component-type prefixes to include; empty means all.
            include_unavailable: Whether capabilities that cannot be used right now are listed.
        """
        return self.registry.snapshot(
            SnapshotContext(
                consumer=consumer or self.consumer, scope=tuple(scope), include_unavailable=include_unavailable
            )
        )

    def capture_ref(
        self, capability_id: str, *, instance_id: str | None = None, consumer: AgentConsumer | None = None
    ) -> CapabilityRef:
        """A capability as the catalogue has it now, to be presented later.

        Raises:
            AssertionError: It is not exposed, or by several instances and ``instance_id`` names none of them.
        """
        snapshot = self.snapshot(consumer=consumer)
        found = find_exposed(snapshot, capability_id, instance_id)
        if len(found) != 1:
            several = f"by {len(found)} instances" if found else "nowhere"
            raise AssertionError(f"{capability_id} is exposed {several}.\n{exposed_text(snapshot)}")
        return CapabilityRef(
            capability_id=capability_id,
            instance_id=found[0].instance_id,
            registration_id=found[0].registration_id,
            surface_version=snapshot.surface_version,
        )

    async def invoke(
        self,
        capability: str | CapabilityRef,
        input: JsonValue = None,
        *,
        instance_id: str | None = None,
        registration_id: str | None = None,
        surface_version: str | None = None,
        invocation_id: str | None = None,
        confirmation_id: str | None = None,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
    ) -> AgentInvocationResult:
        """Call a capability and wait for its result.

        As an adapter does, it sends along the registration id that the catalogue has for the capability, where there
        is exactly one; the registry makes the invocation id. A :class:`CapabilityRef` sends what was captured.

        Args:
            capability: Its id, or a reference captured before.
            input: A JSON value.
            instance_id: Needed when several live instances match.
            registration_id: Sent instead of the one in the catalogue.
            surface_version: The version the caller last saw.
            invocation_id: To repeat a call.
            confirmation_id: Evidence, from ``confirmations.approve()``.
            consumer: Who asks; the harness's own when absent.
            timeout_ms: Milliseconds before the call is given up; the capability's own when absent.
        """
        self._loops.add(asyncio.get_running_loop())
        asking = consumer or self.consumer
        if isinstance(capability, CapabilityRef):
            capability_id = capability.capability_id
            instance_id = instance_id or capability.instance_id
            registration_id = registration_id or capability.registration_id
            surface_version = surface_version or capability.surface_version
        else:
            capability_id = capability
        if registration_id is None:
            found = find_exposed(self.snapshot(consumer=asking), capability_id, instance_id)
            registration_id = found[0].registration_id if len(found) == 1 else None
        result = await self.registry.invoke(
            AgentInvocation(
                capability_id=capability_id,
                input=input,
                invocation_id=invocation_id,
                instance_id=instance_id,
                registration_id=registration_id,
                surface_version=surface_version,
                confirmation_id=confirmation_id,
            ),
            consumer=asking,
            timeout_ms=timeout_ms,
        )
        return with_surface(result, lambda: self._describe(asking))

    async def observe(
        self,
        capability: str | CapabilityRef,
        *,
        instance_id: str | None = None,
        consumer: AgentConsumer | None = None,
    ) -> JsonValue:
        """Read an observation.

        Returns:
            Its output.

        Raises:
            AssertionError: It was refused, or the surface version moved: reading has to change nothing.
        """
        before = self.registry.version
        result = await self.invoke(capability, instance_id=instance_id, consumer=consumer)
        output = output_of(result)
        if self.registry.version != before:
            raise AssertionError(
                f"Reading {result.capability_id} moved the surface version from {before} to {self.registry.version}."
            )
        return output

    # What the application does.

    def mount(self, bound: BoundComponent) -> RegistrationHandle:
        """Register a component until the harness is closed, or until the test takes it away itself.

        Raises:
            AssertionError: The registry refused it.
            AgentSurfaceDefinitionError: Its binding is not genuine or differs from the contract.
        """
        handle = self.registry.register(bound)
        if handle.status == "rejected":
            raise AssertionError(f"The registry refused the component.\n{self._describe(self.consumer)}")
        self._mounted.append(handle)
        return handle

    @contextmanager
    def as_host(self, context: Mapping[str, object]) -> Generator[None]:
        """Inside the ``with`` statement policies and handlers are told this host context in place of the other.

        Raises:
            AgentSurfaceError: The registry is the application's, which tells its context itself.
        """
        if self._host is None:
            raise AgentSurfaceError("as_host needs a registry made by the harness; this one has a context of its own")
        before, self._host.context = self._host.context, context
        try:
            yield
        finally:
            self._host.context = before

    @property
    def clock(self) -> ManualClock:
        """The clock in the hands of the test.

        Raises:
            AgentSurfaceError: The registry is the application's, and the harness was not given its clock.
        """
        if self._clock is None:
            raise AgentSurfaceError("this registry runs on the application's clock; hand a ManualClock to both")
        return self._clock

    # What happened.

    @property
    def events(self) -> tuple[AgentSurfaceEvent, ...]:
        """What the registry told since the harness was made, oldest first."""
        return tuple(self._events)

    @property
    def audit_log(self) -> tuple[AuditRecord, ...]:
        """What is in the audit, oldest first.

        Raises:
            AgentSurfaceError: The application's audit is kept where a test cannot read it.
        """
        if not isinstance(self.registry.audit, MemoryAuditSink):
            raise AgentSurfaceError(
                f"the audit goes to a {type(self.registry.audit).__name__}; a MemoryAuditSink can be read"
            )
        return self.registry.audit.records

    def pending_tasks(self) -> set[asyncio.Task[object]]:
        """The tasks that have not ended, on the event loops this harness was called on."""
        tasks: set[asyncio.Task[object]] = set()
        for loop in self._loops:
            if not loop.is_closed():
                tasks |= asyncio.all_tasks(loop)
        return tasks

    def unmount_all(self) -> None:
        """Take away what :meth:`mount` registered and the test left."""
        for handle in self._mounted:
            if handle.status == "active":
                handle.unregister()
        self._mounted.clear()

    def close(self) -> None:
        """Take away what was mounted, stop listening, and close a registry the harness made. Safe to repeat."""
        if not self.registry.closed:
            self.unmount_all()
            self._unsubscribe()
            if self._owns_registry:
                self.registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _describe(self, consumer: AgentConsumer) -> str:
        return "The registry is closed." if self.registry.closed else exposed_text(self.snapshot(consumer=consumer))


def create_surface_harness(
    registry: AgentSurfaceRegistry | None = None,
    authority: CapabilityAuthority | None = None,
    *,
    consumer: AgentConsumer = TESTER,
    host: Mapping[str, object] | None = None,
    clock: ManualClock | None = None,
    policies: Sequence[AgentPolicy] = (),
    procedures: ProcedureExecutor | None = None,
    limits: AgentSurfaceLimits | None = None,
) -> SurfaceHarness:
    """A harness over the application's registry, or over a fresh one in the environment ``test``.

    Args:
        registry: The application's. It stays open when the harness is closed.
        authority: For a fresh registry, from :func:`contract_authority` or a contract file.
        consumer: Who asks.
        host: What a fresh registry tells policies and handlers of the application.
        clock: The clock of a fresh registry, a new one when absent; with ``registry``, the one it was made with.
        policies: Guards of everything on a fresh registry.
        procedures: Runs the back-end procedures of a fresh registry.
        limits: Bounds of a fresh registry that differ from the defaults.

    Raises:
        TypeError: Not exactly one of ``registry`` and ``authority`` is given, or a registry together with what only
            a fresh one can be given.
    """
    if registry is not None:
        if authority is not None or host is not None or policies or procedures is not None or limits is not None:
            raise TypeError("the application's registry has authority, host, policies, procedures and limits already")
        return SurfaceHarness(registry, consumer=consumer, clock=clock, host=None, owns_registry=False)
    if authority is None:
        raise TypeError("give the application's registry, or the authority of a fresh one")
    hands = clock if clock is not None else ManualClock()
    told = HostContext(host or {})
    fresh = create_agent_surface_registry(
        authority=authority,
        environment="test",
        context=lambda: told.context,
        policies=policies,
        procedures=procedures,
        limits=limits,
        clock=hands,
        ids=SequentialIds(),
    )
    return SurfaceHarness(fresh, consumer=consumer, clock=hands, host=told, owns_registry=True)
