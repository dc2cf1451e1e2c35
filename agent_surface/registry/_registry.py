"""The registry: what is live, who sees it, and the one way to use it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, cast

from agent_surface._base._ports import Clock
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._pipeline import Phases, Pipeline
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._registrations import (
    RegistrationHandle,
    RegistrationStore,
)
from agent_surface._snapshot import AgentSurfaceSnapshot, RouteInfo, SnapshotBuilder, SnapshotContext
from agent_surface.audit import AuditSink
from agent_surface.confirmations import ConfirmationController, ConfirmationWaiter
from agent_surface.confirmations._record import iso_utc
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.contracts import BoundComponent
from agent_surface.contracts._checks import check_timeout
from agent_surface.errors import (
    AgentSurfaceDefinitionError,
    AgentSurfaceError,
    DefinitionErrorCode,
)
from agent_surface.events import (
    AgentSurfaceEvent,
)
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.invocation import (
    ANONYMOUS,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
)
from agent_surface.policies import AgentEnvironment
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry._announcements import Announcements
from agent_surface.registry._audit_trail import AuditTrail
from agent_surface.registry._internals import RegistryInternals
from agent_surface.registry._owner import Owner
from agent_surface.registry._registrar import Registrar
from agent_surface.registry._statistics import RegistryStatistics
from agent_surface.registry._threadsafe import CallsFromElsewhere, ThreadsafeResult

logger = logging.getLogger("agent_surface.registry")

MAX_CONSUMER_ID_CHARACTERS = 128


class AgentSurfaceRegistry:
    """Everything live of one application surface.

    Made by :func:`~agent_surface.registry.create_agent_surface_registry`.

    It belongs to the thread that made it. :meth:`invoke_threadsafe` is the one way in from another; every other
    call from elsewhere raises :class:`WrongThreadError`.

    It is a context manager; leaving it closes it.
    """

    def __init__(
        self,
        *,
        surface_id: str,
        environment: AgentEnvironment,
        owner: Owner,
        clock: Clock,
        elsewhere: CallsFromElsewhere,
        events: EventDispatcher,
        announcements: Announcements,
        store: RegistrationStore,
        registrar: Registrar,
        contexts: PolicyContexts,
        confirmations: ConfirmationStore,
        pipeline: Pipeline,
        phases: Phases,
        trail: AuditTrail,
        route: Callable[[], RouteInfo | None] | None,
        internals: RegistryInternals,
    ) -> None:
        self.surface_id = surface_id
        self.environment: AgentEnvironment = environment
        self._owner = owner
        self._clock = clock
        self._elsewhere = elsewhere
        self._events = events
        self._announcements = announcements
        self._store = store
        self._registrar = registrar
        self._contexts = contexts
        self._confirmations = confirmations
        self._pipeline = pipeline
        self._phases = phases
        self._trail = trail
        self._route = route
        # Kept alive here and nowhere else; see there.
        self._internals = internals

    # What anybody may read.

    @property
    def version(self) -> str:
        """The surface version: a decimal text that consumers compare and do not read anything into."""
        return self._announcements.current()

    @property
    def closed(self) -> bool:
        """Whether the registry was closed; may be read from any thread."""
        return self._owner.closed

    @property
    def audit(self) -> AuditSink:
        """Where audit records go."""
        return self._trail.sink

    @property
    def confirmations(self) -> ConfirmationController:
        """The host's controller, the only place where an approval is made. Not for adapters."""
        return self._confirmations

    @property
    def confirmation_waiter(self) -> ConfirmationWaiter:
        """What an adapter may do about a confirmation: wait for it and withdraw it."""
        return self._confirmations.waiter

    def statistics(self) -> RegistryStatistics:
        """How full everything is that has a bound."""
        self._owner.require("statistics")
        confirmations = self._confirmations.statistics()
        return RegistryStatistics(
            registrations=len(self._store),
            tombstones=self._store.tombstone_count,
            remembered_results=self._phases.window.remembered,
            in_flight=len(self._phases.window.in_flight),
            running_tasks=len(self._pipeline.tasks),
            queued_calls=self._phases.admission.queued,
            admission_groups=self._phases.admission.groups,
            observing=self._phases.admission.observing,
            pending_confirmations=confirmations.pending,
            resolved_confirmations=confirmations.resolved,
            queued_events=self._events.queued,
            lost_events=self._events.lost,
            audit_failures=self._trail.failures,
        )

    # What the application does.

    def register(self, bound: BoundComponent) -> RegistrationHandle:
        """Make a component live at once.

        Args:
            bound: Made by ``contract.bind(...)``.

        Returns:
            Its handle. When the identity is taken or the guard refuses, a dead one (``status == "rejected"``).

        Raises:
            AgentSurfaceDefinitionError: The binding is not genuine, or differs from the contract of this program.
            RegistryClosedError: The registry was closed.
        """
        return self._registrar.register(bound)

    def set_procedure_executor(self, executor: ProcedureExecutor | None) -> None:
        """Install the executor of back-end procedures; references it can run appear, others vanish."""
        self._registrar.set_procedure_executor(executor)

    def interrupt(self) -> None:
        """End what agents are about: calls settle as ``CANCELLED``, requests of a person expire, approvals are void.

        It keeps nobody from calling again; that is for a policy. :class:`~agent_surface.TakeOver` does both.
        """
        self._owner.require_open("interrupt")
        self._pipeline.interrupt()
        self._confirmations.withdraw_all()

    def policies_changed(self) -> None:
        """Announce that policies may now show consumers something else: bumps the version (AS-VER-001)."""
        self._owner.require_open("policies_changed")
        self._announcements.bump()

    @contextmanager
    def batch(self) -> Generator[None]:
        """Everything inside is one bump of the version and one ``surface-changed`` (AS-VER-002)."""
        self._owner.require_open("batch")
        with self._announcements.public_call(), self._announcements.mutation():
            yield

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """Hear events after each mutation; returns a disposer that may be called any number of times."""
        self._owner.require_open("subscribe")
        return self._events.subscribe(listener)

    def close(self) -> None:
        """End everything: calls settle as ``CANCELLED``, confirmations expire, components go, listeners are dropped.

        Handlers that still run are asked to end; :meth:`wait_closed` waits for them. Closing twice does nothing.
        """
        self._owner.require("close")
        if self._owner.closed:
            return
        self._owner.closed = True
        self._pipeline.close()
        self._elsewhere.close()
        self._confirmations.close()
        self._registrar.remove_all()
        self._announcements.stop()
        self._events.clear()
        self._phases.window.clear()

    async def wait_closed(self, timeout_ms: int = 1_000) -> bool:
        """Wait until no task of this registry runs any more.

        Args:
            timeout_ms: How long at most.

        Returns:
            Whether all of them ended in time.
        """
        tasks = self._pipeline.tasks
        if not tasks:
            return True
        _, running = await asyncio.wait(tasks, timeout=timeout_ms / 1_000)
        return not running

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # What an agent reaches.

    def snapshot(self, context: SnapshotContext | None = None) -> AgentSurfaceSnapshot:
        """The catalogue of one consumer: synchronous, without side effect, without reading any value."""
        self._owner.require_open("snapshot")
        wanted = context if context is not None else SnapshotContext()
        host = self._contexts.host()
        builder = SnapshotBuilder(
            discover=lambda live: self._contexts.discovery(live, wanted.consumer, host), context=wanted
        )
        return builder.build(
            self._store.in_order(),
            surface_id=self.surface_id,
            surface_version=self._announcements.current(),
            captured_at=iso_utc(self._clock.now_ms()),
            route=self._current_route(),
        )

    async def invoke(
        self,
        request: AgentInvocation,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
    ) -> AgentInvocationResult:
        """Run one capability through the ten phases.

        Cancelling the awaiting task cancels the call, unless another caller has joined it.

        Args:
            request: What is asked for.
            consumer: Who asks; ``embedded:anonymous`` when absent.
            timeout_ms: Milliseconds before the call is given up, at least 1; the capability's own when absent.

        Returns:
            The result. Everything an agent can do wrong is a result.

        Raises:
            AgentSurfaceDefectError: Outside production, when the application's output was no JSON.
            AgentSurfaceDefinitionError: ``timeout_ms`` is less than 1, or the consumer's id is too long.
            RegistryClosedError: The registry was closed.
            WrongThreadError: The calling thread does not own the registry.
        """
        begun = self._begin(request, consumer, timeout_ms)
        if not self._elsewhere.reachable:
            self._elsewhere.notice_loop()
        if not isinstance(begun, Call):
            return begun
        if begun.result is None:
            await self._wait(begun)
        return self._outcome(begun)

    def invoke_threadsafe(
        self,
        request: AgentInvocation,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
    ) -> concurrent.futures.Future[AgentInvocationResult]:
        """Run one capability from any thread; the handler runs on the owner thread.

        Returns:
            A future of the result or exception, there at the latest when the registry is closed. Cancelling it cancels
            the call; waiting with a time-out does not. Asking it for an unfinished result on the owner thread raises,
            because that could only dead-lock.

        Raises:
            RegistryClosedError: The registry was closed, or its event loop does not run.
        """

        async def run(future: ThreadsafeResult) -> AgentInvocationResult:
            future.begun = True
            begun = self._begin(request, consumer, timeout_ms)
            if not isinstance(begun, Call):
                return begun
            future.call = begun
            if begun.result is None:
                await self._wait(begun)
            return self._outcome(begun)

        return self._elsewhere.hand_over(run)

    # Inside.

    def _begin(
        self, request: AgentInvocation, consumer: AgentConsumer | None, timeout_ms: int | None
    ) -> Call | AgentInvocationResult:
        self._owner.require_open("invoke")
        asking = consumer if consumer is not None else ANONYMOUS
        if len(asking.id) > MAX_CONSUMER_ID_CHARACTERS:
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.LIMIT_EXCEEDED, f"a consumer id has at most {MAX_CONSUMER_ID_CHARACTERS} characters"
            )
        if timeout_ms is not None:
            check_timeout(timeout_ms, "a call")
        return self._pipeline.begin(request, asking, timeout_ms)

    def _outcome(self, call: Call) -> AgentInvocationResult:
        if call.fatal is not None:
            raise call.fatal
        if call.defect is not None and self.environment != "production":
            call.defect.result = call.result
            raise call.defect
        return cast("AgentInvocationResult", call.result)  # its future resolves when it has one

    async def _wait(self, call: Call) -> None:
        """Wait for a call that did not finish inline; the last one to give up ends it (AS-INVOKE-008)."""
        if call.future is None:
            raise AgentSurfaceError("a handler cannot await the very call it runs in")
        call.waiters += 1
        try:
            await asyncio.shield(call.future)
        except asyncio.CancelledError:
            if call.waiters == 1 and call.result is None:
                self._pipeline.cancel(call)
            raise
        finally:
            call.waiters -= 1

    def _current_route(self) -> RouteInfo | None:
        if self._route is None:
            return None
        try:
            route = self._route()
            return route.frozen() if route is not None else None
        except USER_ERRORS:
            logger.exception("the route could not be told; the snapshot has none")
            return None
