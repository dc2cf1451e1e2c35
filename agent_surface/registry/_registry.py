"""The registry: what is live, who sees it, and the one way to use it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner, HostLoop, IdSource
from agent_surface._pipeline._admission import Admission
from agent_surface._pipeline._approval import Approval
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._execution import Execution
from agent_surface._pipeline._identity import Identity
from agent_surface._pipeline._interruption import Interruption
from agent_surface._pipeline._pipeline import Phases, Pipeline
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._pipeline._resolution import Resolution
from agent_surface._pipeline._settlement import Settlement
from agent_surface._registrations import (
    LiveCapability,
    Registration,
    RegistrationCandidate,
    RegistrationGuard,
    RegistrationHandle,
    RegistrationStore,
    SurfaceVersion,
    prepare_capabilities,
)
from agent_surface._registrations._live import COMPONENT_DISABLED
from agent_surface._snapshot import AgentSurfaceSnapshot, RouteInfo, SnapshotBuilder, SnapshotContext
from agent_surface.audit import AuditRecord, AuditSink, MemoryAuditSink
from agent_surface.authority import CapabilityAuthority
from agent_surface.authority._authority import require_authority, require_bound, verify_binding
from agent_surface.confirmations import ConfirmationController, ConfirmationWaiter
from agent_surface.confirmations._evidence import ConfirmationAudit
from agent_surface.confirmations._record import iso_utc
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.contracts import BoundComponent
from agent_surface.errors import (
    AgentSurfaceDefinitionError,
    AgentSurfaceError,
    AuthorityError,
    DefinitionErrorCode,
    RegistryClosedError,
    WrongThreadError,
)
from agent_surface.events import (
    AgentSurfaceEvent,
    AvailabilityChanged,
    CollisionSuspected,
    ComponentRegistered,
    ComponentRejected,
    ComponentUnregistered,
    SurfaceChanged,
)
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.invocation import (
    ANONYMOUS,
    AVAILABLE,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    Availability,
    Plane,
)
from agent_surface.policies import AgentEnvironment, AgentPolicy
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry._statistics import RegistryStatistics
from agent_surface.registry._threadsafe import ThreadsafeResult

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
        authority: CapabilityAuthority,
        environment: AgentEnvironment,
        context: Callable[[], Mapping[str, object]] | None,
        policies: Sequence[AgentPolicy],
        audit: AuditSink | None,
        on_register: RegistrationGuard | None,
        on_duplicate_instance: Literal["reject", "replace"],
        duplicate_suffix_policy: Literal["off", "warn", "error"],
        route: Callable[[], RouteInfo | None] | None,
        limits: AgentSurfaceLimits,
        procedures: ProcedureExecutor | None,
        clock: Clock,
        host_loop: HostLoop,
        handler_runner: HandlerRunner,
        ids: IdSource,
        before_settlement: Callable[[], None] | None,
    ) -> None:
        self._authority = require_authority(authority)
        if environment == "production" and self._authority.completeness != "proven":
            raise AuthorityError(
                "a registry in production needs a contract that is proven, "
                f"and this one is {self._authority.completeness}"
            )
        self.surface_id = f"srf_{ids.token(22)}"
        self.environment: AgentEnvironment = environment
        self._owner_thread = threading.get_ident()
        self._closed = False
        self._limits = limits
        self._policies = tuple(policies)
        self._guard = on_register
        self._on_duplicate = on_duplicate_instance
        self._suffix_policy = duplicate_suffix_policy
        self._route = route
        self._procedures = procedures
        self._clock = clock
        self._host_loop = host_loop
        self._audit: AuditSink = audit if audit is not None else MemoryAuditSink(limits.audit_buffer_size)
        self._audit_failures = 0
        self._events = EventDispatcher()
        self._announced = False
        self._change_pending = False
        self._public_depth = 0
        self._version = SurfaceVersion(self._surface_moved)
        self._store = RegistrationStore(clock=clock, ids=ids, limits=limits)
        self._contexts = PolicyContexts(clock=clock, environment=environment, host_context=context)
        self._confirmations = ConfirmationStore(
            clock=clock,
            ids=ids,
            limits=limits,
            emit=self._events.emit,
            create_future=host_loop.create_future,
            record=self._record_confirmation,
        )
        self._pipeline = self._make_pipeline(handler_runner, ids, before_settlement)

    def _make_pipeline(
        self, handler_runner: HandlerRunner, ids: IdSource, before_settlement: Callable[[], None] | None
    ) -> Pipeline:
        clock, limits, create_future = self._clock, self._limits, self._host_loop.create_future
        identity = Identity(clock=clock, ids=ids, limits=limits, create_future=create_future)
        settlement = Settlement(
            clock=clock,
            limits=limits,
            version=self._current_version,
            emit=self._events.emit,
            record=self._record,
            remember=lambda call, result, cached: identity.settle(call, result, cached=cached),
            before_settlement=before_settlement,
        )
        interruption = Interruption(settlement=settlement)
        approval = Approval(confirmations=self._confirmations, contexts=self._contexts, surface_id=self.surface_id)
        self._identity = identity
        self._admission = Admission(clock=clock, limits=limits, create_future=create_future)
        phases = Phases(
            identity=identity,
            resolution=Resolution(store=self._store, contexts=self._contexts, surface_id=self.surface_id),
            contexts=self._contexts,
            approval=approval,
            admission=self._admission,
            execution=Execution(
                clock=clock,
                limits=limits,
                runner=handler_runner,
                contexts=self._contexts,
                interruption=interruption,
                executor=lambda: self._procedures,
                check_precondition=approval.check_precondition,
                version=self._current_version,
            ),
            settlement=settlement,
            interruption=interruption,
        )
        return Pipeline(
            phases=phases,
            clock=clock,
            host_loop=self._host_loop,
            version=self._current_version,
            emit=self._events.emit,
        )

    # What anybody may read.

    @property
    def version(self) -> str:
        """The surface version: a decimal text that consumers compare and do not read anything into."""
        return self._version.text

    @property
    def closed(self) -> bool:
        """Whether the registry was closed; may be read from any thread."""
        return self._closed

    @property
    def audit(self) -> AuditSink:
        """Where audit records go."""
        return self._audit

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
        self._require_owner("statistics")
        confirmations = self._confirmations.statistics()
        return RegistryStatistics(
            registrations=len(self._store),
            tombstones=self._store.tombstone_count,
            remembered_results=self._identity.remembered,
            in_flight=len(self._identity.in_flight),
            running_tasks=len(self._pipeline.tasks),
            queued_calls=self._admission.queued,
            admission_groups=self._admission.groups,
            observing=self._admission.observing,
            pending_confirmations=confirmations.pending,
            resolved_confirmations=confirmations.resolved,
            queued_events=self._events.queued,
            lost_events=self._events.lost,
            audit_failures=self._audit_failures,
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
        with self._public("register"):
            sealed = require_bound(bound)
            verify_binding(self._authority, sealed)
            registration = Registration(self._store.issue_id(), sealed)
            registration.capabilities = self._prepare(registration)
            refused = self._refusal(registration)
            if refused is not None:
                return self._reject(registration, refused)
            self._check_suffixes(registration)
            holder = self._store.find_identity(registration.identity)
            with self._version.batch():
                if holder is not None:
                    self.remove_registration(holder)
                self._store.add(registration)
                self._version.bump()
            self._events.emit(
                ComponentRegistered(
                    registration_id=registration.registration_id,
                    component_type=registration.type,
                    instance_id=registration.instance_id,
                )
            )
            return RegistrationHandle(registration.registration_id, owner=self, registration=registration)

    def set_procedure_executor(self, executor: ProcedureExecutor | None) -> None:
        """Install the executor of back-end procedures; references it can run appear, others vanish."""
        with self._public("set_procedure_executor"), self._version.batch():
            self._procedures = executor
            for registration in self._store:
                if registration.bound.procedures:
                    self._store.replace_capabilities(registration, self._prepare(registration))
                    self._version.bump()

    @contextmanager
    def batch(self) -> Generator[None]:
        """Everything inside is one bump of the version and one ``surface-changed`` (AS-VER-002)."""
        with self._public("batch"), self._version.batch():
            yield

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """Hear events after each mutation; returns a disposer that may be called any number of times."""
        self._require_open("subscribe")
        return self._events.subscribe(listener)

    def close(self) -> None:
        """End everything: calls settle as ``CANCELLED``, confirmations expire, components go, listeners are dropped.

        Handlers that still run are asked to end; :meth:`wait_closed` waits for them. Closing twice does nothing.
        """
        self._require_owner("close")
        if self._closed:
            return
        self._closed = True
        self._pipeline.close()
        self._confirmations.close()
        with self._version.batch():
            for registration in self._store:
                self.remove_registration(registration)
        self._deliver_change()
        self._events.clear()
        self._identity.clear()

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
        self._require_open("snapshot")
        wanted = context if context is not None else SnapshotContext()
        host = self._contexts.host()
        builder = SnapshotBuilder(
            discover=lambda live: self._contexts.discovery(live, wanted.consumer, host), context=wanted
        )
        return builder.build(
            self._store,
            surface_id=self.surface_id,
            surface_version=self._version.text,
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
            timeout_ms: Milliseconds before the call is given up; the capability's own when absent.

        Returns:
            The result. Everything an agent can do wrong is a result.

        Raises:
            AgentSurfaceDefectError: Outside production, when the application's output was no JSON.
            RegistryClosedError: The registry was closed.
            WrongThreadError: The calling thread does not own the registry.
        """
        self._require_open("invoke")
        asking = consumer if consumer is not None else ANONYMOUS
        if len(asking.id) > MAX_CONSUMER_ID_CHARACTERS:
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.LIMIT_EXCEEDED, f"a consumer id has at most {MAX_CONSUMER_ID_CHARACTERS} characters"
            )
        begun = self._pipeline.begin(request, asking, timeout_ms)
        if not isinstance(begun, Call):
            return begun
        if begun.result is None:
            await self._wait(begun)
        if begun.defect is not None and self.environment != "production":
            begun.defect.result = begun.result
            raise begun.defect
        if begun.result is None:
            raise AgentSurfaceError("the call ended without a result")
        return begun.result

    def invoke_threadsafe(
        self,
        request: AgentInvocation,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
    ) -> concurrent.futures.Future[AgentInvocationResult]:
        """Run one capability from any thread; the handler runs on the owner thread.

        Returns:
            A future of the result or exception. Cancelling it cancels the call; waiting with a time-out does not.
            Asking it for an unfinished result on the owner thread raises, because that could only dead-lock.

        Raises:
            RegistryClosedError: The registry, or its event loop, was closed.
        """
        if self._closed:
            raise RegistryClosedError("the registry was closed")
        future = ThreadsafeResult(self._owner_thread)

        def start() -> None:
            if future.cancelled():
                return
            task = self._host_loop.create_task(self.invoke(request, consumer=consumer, timeout_ms=timeout_ms))
            future.run_as(task, self._host_loop)

        try:
            self._host_loop.call_soon_threadsafe(start)
        except RuntimeError as error:
            raise RegistryClosedError("the event loop of the registry is closed or was never started") from error
        return future

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

    # What a handle does.

    def update_registration(
        self, registration: Registration, enabled: bool | None, availability: Mapping[str, Availability] | None
    ) -> None:
        """Push new availability; for :class:`RegistrationHandle`."""
        with self._public("update"):
            pushed: dict[str, Availability] = {}
            for key, value in (availability or {}).items():
                capability_id = registration.find_key(key)
                if capability_id is None:
                    raise AgentSurfaceDefinitionError(
                        DefinitionErrorCode.INVALID_DEFINITION,
                        f"{registration.type} has no capability {key!r}",
                        subject=registration.type,
                        path=key,
                    )
                pushed[capability_id] = value
            before = {live.capability_id: _pushed(registration, live.capability_id) for live in registration}
            if enabled is not None:
                registration.enabled = enabled
            registration.overrides.update(pushed)
            changed = [
                (capability_id, now)
                for capability_id, was in before.items()
                if (now := _pushed(registration, capability_id)) != was
            ]
            if not changed:
                return
            self._version.bump()
            for capability_id, now in changed:
                self._events.emit(
                    AvailabilityChanged(
                        registration_id=registration.registration_id,
                        capability_id=capability_id,
                        available=now.available,
                        reason=now.reason,
                    )
                )

    def invalidate_registration(self, registration: Registration) -> None:
        """Bump the version once; for :class:`RegistrationHandle`."""
        with self._public("invalidate"):
            if registration.status == "active":
                self._version.bump()

    def remove_registration(self, registration: Registration) -> None:
        """Take a component away; for :class:`RegistrationHandle`."""
        self._require_owner("unregister")
        with self._delivery():
            if registration.status != "active":
                return
            self._store.remove(registration)
            self._version.bump()
            self._confirmations.expire_registration(registration.registration_id)
            for call in tuple(registration.active_calls):
                call.owner_gone()
            self._events.emit(
                ComponentUnregistered(
                    registration_id=registration.registration_id,
                    component_type=registration.type,
                    instance_id=registration.instance_id,
                )
            )

    def warn_dead_handle(self, operation: str, registration_id: str) -> None:
        """A handle was used after its end; for :class:`RegistrationHandle`."""
        self._require_owner(operation)
        if self.environment == "development":
            logger.warning("%s on the dead registration %s does nothing", operation, registration_id)

    # Inside.

    def _current_version(self) -> str:
        return self._version.text

    def _prepare(self, registration: Registration) -> dict[str, LiveCapability]:
        return prepare_capabilities(
            registration,
            limits=self._limits,
            policies=self._policies,
            procedure_paths=self._runnable_paths(),
            announce_missing=self.environment == "development",
        )

    def _runnable_paths(self) -> Collection[str]:
        """Paths that the authority lists and the executor can run; no other is ever called."""
        if self._procedures is None:
            return frozenset()
        return self._authority.procedure_paths.intersection(self._procedures.paths)

    def _refusal(self, registration: Registration) -> Literal["duplicate", "guard"] | None:
        if self._guard is not None and self._guard_rejects(self._guard, registration):
            return "guard"
        if self._on_duplicate == "reject" and self._store.find_identity(registration.identity) is not None:
            return "duplicate"
        return None

    def _guard_rejects(self, guard: RegistrationGuard, registration: Registration) -> bool:
        seal = registration.bound.seal
        candidate = RegistrationCandidate(
            type=registration.type,
            instance_id=registration.instance_id,
            origin=seal.contract.origin,
            declaration_id=seal.record.declaration_id,
            capability_ids=tuple(registration.capabilities),
        )
        try:
            return guard(candidate) != "accept"
        except Exception:
            logger.exception("the registration guard raised; %s is rejected", registration.type)
            return True

    def _reject(self, registration: Registration, reason: Literal["duplicate", "guard"]) -> RegistrationHandle:
        if self.environment == "development":
            logger.error(
                "component %s (instance %s) is rejected: %s",
                registration.type,
                registration.instance_id,
                "a live component has the same type and instance id" if reason == "duplicate" else "the guard said no",
            )
        self._events.emit(
            ComponentRejected(component_type=registration.type, instance_id=registration.instance_id, reason=reason)
        )
        return RegistrationHandle(registration.registration_id, owner=self)

    def _check_suffixes(self, registration: Registration) -> None:
        """A view capability with the name of a known procedure is most likely a mistake (AS-LINT-001)."""
        if self._suffix_policy == "off":
            return
        for live in registration:
            _, _, suffix = live.capability_id.partition(":")
            if live.plane is not Plane.VIEW or suffix not in self._authority.procedure_paths:
                continue
            text = f"{live.capability_id} has the name of the procedure domain:{suffix}"
            if self._suffix_policy == "error":
                raise AgentSurfaceDefinitionError(
                    DefinitionErrorCode.INVALID_DEFINITION, text, subject=live.capability_id
                )
            logger.warning("%s", text)
            self._events.emit(
                CollisionSuspected(view_capability_id=live.capability_id, domain_procedure_id=f"domain:{suffix}")
            )

    def _current_route(self) -> RouteInfo | None:
        if self._route is None:
            return None
        try:
            return self._route()
        except Exception:
            logger.exception("the route raised; the snapshot has none")
            return None

    def _surface_moved(self) -> None:
        """Announce once per turn of the loop, or when the outermost public call returns if there is no loop."""
        if self._announced:
            return
        if not self._closed and self._host_loop.call_soon(self._deliver_change):
            self._announced = True
        else:
            self._change_pending = True

    def _deliver_change(self) -> None:
        self._announced = self._change_pending = False
        self._events.emit(SurfaceChanged(surface_version=self._version.text))

    @contextmanager
    def _delivery(self) -> Generator[None]:
        self._public_depth += 1
        try:
            yield
        finally:
            self._public_depth -= 1
            if not self._public_depth and self._change_pending and not self._closed:
                self._deliver_change()

    @contextmanager
    def _public(self, operation: str) -> Generator[None]:
        self._require_open(operation)
        with self._delivery():
            yield

    def _require_owner(self, operation: str) -> None:
        if threading.get_ident() != self._owner_thread:
            raise WrongThreadError(operation)

    def _require_open(self, operation: str) -> None:
        if threading.get_ident() != self._owner_thread:
            raise WrongThreadError(operation)
        if self._closed:
            raise RegistryClosedError(f"{operation} was called on a closed registry")

    def _record(self, record: AuditRecord) -> None:
        try:
            self._audit.record(record)
        except Exception:
            self._audit_failures += 1
            logger.exception("the audit sink did not take a record")

    def _record_confirmation(self, step: ConfirmationAudit) -> None:
        self._record(
            AuditRecord(
                kind="confirmation",
                at_ms=self._clock.now_ms(),
                capability_id=step.capability_id,
                consumer_key=step.consumer_key,
                registration_id=step.registration_id,
                status=step.kind.value,
                confirmation_id=step.confirmation_id,
                actor=step.actor,
                note=step.note,
            )
        )


def _pushed(registration: Registration, capability_id: str) -> Availability:
    """What was pushed for a capability, the master switch included; live predicates play no part in it."""
    if not registration.enabled:
        return COMPONENT_DISABLED
    return registration.overrides.get(capability_id, AVAILABLE)
