"""Making a registry: the one place where the core is wired."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner, HostLoop, IdSource, WorkerThreads
from agent_surface._base._system import AsyncioHostLoop, InlineHandlerRunner, RandomIdSource, SystemClock
from agent_surface._base._threads import DaemonThreadPool
from agent_surface._pipeline._admission import Admission
from agent_surface._pipeline._approval import Approval
from agent_surface._pipeline._execution import Execution
from agent_surface._pipeline._identity import Identity
from agent_surface._pipeline._interruption import Interruption
from agent_surface._pipeline._pipeline import Phases, Pipeline
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._pipeline._resolution import Resolution
from agent_surface._pipeline._settlement import Settlement
from agent_surface._pipeline._window import InvocationWindow
from agent_surface._registrations import RegistrationGuard, RegistrationStore
from agent_surface._snapshot import RouteInfo
from agent_surface.audit import AuditSink, CombinedAuditSink, LoggingAuditSink, MemoryAuditSink
from agent_surface.authority import CapabilityAuthority
from agent_surface.authority._authority import require_authority
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.errors import AuthorityError
from agent_surface.events._dispatcher import EventDispatcher
from agent_surface.policies import AgentEnvironment, AgentPolicy, TakeOver
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry._announcements import Announcements
from agent_surface.registry._audit_trail import AuditTrail
from agent_surface.registry._internals import RegistryInternals, attest_registry
from agent_surface.registry._owner import Owner
from agent_surface.registry._registrar import Registrar
from agent_surface.registry._registry import AgentSurfaceRegistry
from agent_surface.registry._threadsafe import CallsFromElsewhere

MAX_WORKER_THREADS = 4


def create_agent_surface_registry(
    *,
    authority: CapabilityAuthority,
    environment: AgentEnvironment = "production",
    context: Callable[[], Mapping[str, object]] | None = None,
    policies: Sequence[AgentPolicy] = (),
    audit: AuditSink | None = None,
    on_register: RegistrationGuard | None = None,
    on_duplicate_instance: Literal["reject", "replace"] = "reject",
    duplicate_suffix_policy: Literal["off", "warn", "error"] = "warn",
    route: Callable[[], RouteInfo | None] | None = None,
    limits: AgentSurfaceLimits | None = None,
    procedures: ProcedureExecutor | None = None,
    clock: Clock | None = None,
    host_loop: HostLoop | None = None,
    handler_runner: HandlerRunner | None = None,
    threads: WorkerThreads | None = None,
    ids: IdSource | None = None,
    before_settlement: Callable[[], None] | None = None,
) -> AgentSurfaceRegistry:
    """Make the registry of one application surface. It belongs to the calling thread.

    Args:
        authority: What can ever be exposed, from ``load_capability_authority`` or ``create_capability_authority``.
        environment: ``production`` accepts only a proven contract; ``development`` explains itself in the log.
        context: The application's context for policies and handlers; synchronous and cheap.
        policies: Guards of everything, outermost in every chain. A :class:`~agent_surface.TakeOver` among them is
            connected to the registry.
        audit: Where records go; bounded memory when absent, in development beside the log.
        on_register: Decides about each component before it is accepted.
        on_duplicate_instance: What happens to a second component of the same type and instance.
        duplicate_suffix_policy: What happens when a view capability has the name of a known procedure.
        route: Where in the application the person is, for snapshots.
        limits: Bounds that differ from the defaults.
        procedures: Runs back-end procedures; can be installed later.
        clock: Time; the machine's when absent.
        host_loop: The event loop; asyncio's running one when absent.
        handler_runner: How plain handlers are run; inline when absent.
        threads: Where actions bound with ``thread=True`` run; at most four daemon threads when absent. They belong to
            the registry from now on and are shut down with it.
        ids: Where ids come from; the operating system's generator when absent.
        before_settlement: Called after a handler ended and before its call settles, to push what it changed.

    Raises:
        AuthorityError: The authority is not genuine, or not good enough for the environment.
    """
    proof = require_authority(authority)
    if environment == "production" and proof.completeness != "proven":
        raise AuthorityError(
            f"a registry in production needs a contract that is proven, and this one is {proof.completeness}"
        )
    bounds = limits if limits is not None else AgentSurfaceLimits()
    time = clock if clock is not None else SystemClock()
    loop = host_loop if host_loop is not None else AsyncioHostLoop()
    source = ids if ids is not None else RandomIdSource()
    surface_id = f"srf_{source.token(22)}"
    owner = Owner()
    events = EventDispatcher()
    announcements = Announcements(host_loop=loop, events=events)
    trail = AuditTrail(sink=audit if audit is not None else _default_audit(environment, bounds), clock=time)
    store = RegistrationStore(clock=time, ids=source, limits=bounds)
    contexts = PolicyContexts(clock=time, environment=environment, host_context=context)
    confirmations = ConfirmationStore(
        clock=time,
        ids=source,
        limits=bounds,
        emit=events.emit,
        create_future=loop.create_future,
        record=trail.record_confirmation,
        require_owner=owner.require,
    )
    registrar = Registrar(
        owner=owner,
        authority=proof,
        store=store,
        announcements=announcements,
        confirmations=confirmations,
        events=events,
        limits=bounds,
        policies=policies,
        guard=on_register,
        on_duplicate_instance=on_duplicate_instance,
        duplicate_suffix_policy=duplicate_suffix_policy,
        procedures=procedures,
        explain=environment == "development",
    )
    window = InvocationWindow(clock=time, limits=bounds)
    settlement = Settlement(
        clock=time,
        limits=bounds,
        version=announcements.version,
        events=events,
        record=trail.record,
        window=window,
        before_settlement=before_settlement,
    )
    interruption = Interruption(settlement=settlement)
    phases = Phases(
        window=window,
        identity=Identity(clock=time, ids=source, limits=bounds, window=window, create_future=loop.create_future),
        resolution=Resolution(store=store, contexts=contexts, surface_id=surface_id),
        contexts=contexts,
        approval=Approval(confirmations=confirmations, contexts=contexts, surface_id=surface_id),
        admission=Admission(clock=time, limits=bounds, create_future=loop.create_future),
        execution=Execution(
            clock=time,
            limits=bounds,
            runner=handler_runner if handler_runner is not None else InlineHandlerRunner(),
            threads=threads if threads is not None else DaemonThreadPool(max_workers=MAX_WORKER_THREADS),
            contexts=contexts,
            interruption=interruption,
            executor=lambda: registrar.procedures,
            version=announcements.version,
        ),
        settlement=settlement,
        interruption=interruption,
    )
    internals = RegistryInternals(owner=owner, store=store, contexts=contexts)
    registry = AgentSurfaceRegistry(
        surface_id=surface_id,
        environment=environment,
        owner=owner,
        clock=time,
        elsewhere=CallsFromElsewhere(owner=owner, host_loop=loop),
        events=events,
        announcements=announcements,
        store=store,
        registrar=registrar,
        contexts=contexts,
        confirmations=confirmations,
        pipeline=Pipeline(phases=phases, clock=time, host_loop=loop, version=announcements.version, events=events),
        phases=phases,
        trail=trail,
        route=route,
        internals=internals,
    )
    attest_registry(registry, internals)
    for policy in policies:
        if isinstance(policy, TakeOver):
            policy.guard(registry)
    return registry


def _default_audit(environment: AgentEnvironment, limits: AgentSurfaceLimits) -> AuditSink:
    memory = MemoryAuditSink(limits.audit_buffer_size)
    return CombinedAuditSink(memory, LoggingAuditSink()) if environment == "development" else memory
