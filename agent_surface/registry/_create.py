"""Making a registry: the one place where the core is wired."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, HandlerRunner, HostLoop, IdSource
from agent_surface._base._system import AsyncioHostLoop, InlineHandlerRunner, RandomIdSource, SystemClock
from agent_surface._registrations import RegistrationGuard
from agent_surface._snapshot import RouteInfo
from agent_surface.audit import AuditSink
from agent_surface.authority import CapabilityAuthority
from agent_surface.policies import AgentEnvironment, AgentPolicy
from agent_surface.procedures import ProcedureExecutor
from agent_surface.registry._registry import AgentSurfaceRegistry


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
    ids: IdSource | None = None,
    before_settlement: Callable[[], None] | None = None,
) -> AgentSurfaceRegistry:
    """Make the registry of one application surface. It belongs to the calling thread.

    Args:
        authority: What can ever be exposed, from ``load_capability_authority`` or ``create_capability_authority``.
        environment: ``production`` accepts only a proven contract; ``development`` explains itself in the log.
        context: The application's context for policies and handlers; synchronous and cheap.
        policies: Guards of everything, outermost in every chain.
        audit: Where records go; bounded memory when absent.
        on_register: Decides about each component before it is accepted.
        on_duplicate_instance: What happens to a second component of the same type and instance.
        duplicate_suffix_policy: What happens when a view capability has the name of a known procedure.
        route: Where in the application the person is, for snapshots.
        limits: Bounds that differ from the defaults.
        procedures: Runs back-end procedures; can be installed later.
        clock: Time; the machine's when absent.
        host_loop: The event loop; asyncio's running one when absent.
        handler_runner: How plain handlers are run; inline when absent.
        ids: Where ids come from; the operating system's generator when absent.
        before_settlement: Called after a handler ended and before its call settles, to push what it changed.

    Raises:
        AuthorityError: The authority is not genuine, or not good enough for the environment.
    """
    return AgentSurfaceRegistry(
        authority=authority,
        environment=environment,
        context=context,
        policies=policies,
        audit=audit,
        on_register=on_register,
        on_duplicate_instance=on_duplicate_instance,
        duplicate_suffix_policy=duplicate_suffix_policy,
        route=route,
        limits=limits if limits is not None else AgentSurfaceLimits(),
        procedures=procedures,
        clock=clock if clock is not None else SystemClock(),
        host_loop=host_loop if host_loop is not None else AsyncioHostLoop(),
        handler_runner=handler_runner if handler_runner is not None else InlineHandlerRunner(),
        ids=ids if ids is not None else RandomIdSource(),
        before_settlement=before_settlement,
    )
