"""Registries that live in a Qt application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal
from weakref import WeakKeyDictionary

from agent_surface import (
    AgentEnvironment,
    AgentPolicy,
    AgentSurfaceLimits,
    AgentSurfaceRegistry,
    AuditSink,
    CapabilityAuthority,
    DaemonThreadPool,
    ProcedureExecutor,
    RegistrationGuard,
    RouteInfo,
    create_agent_surface_registry,
)
from qt_binding._runtime._clock import QtClock
from qt_binding._runtime._host_loop import QtHostLoop
from qt_binding._runtime._runner import QtHandlerRunner
from qt_binding._runtime._runtime import Runtimes, find_application
from qt_binding.errors import NotAQtRegistryError

_RUNTIMES: WeakKeyDictionary[AgentSurfaceRegistry, Runtimes] = WeakKeyDictionary()
"""Which registries have the Qt ports. A proof, like those of the core, and not a place to look registries up."""


def create_qt_registry(
    *,
    authority: CapabilityAuthority,
    environment: AgentEnvironment = "production",
    policies: Sequence[AgentPolicy] = (),
    context: Callable[[], Mapping[str, object]] | None = None,
    route: Callable[[], RouteInfo | None] | None = None,
    audit: AuditSink | None = None,
    limits: AgentSurfaceLimits | None = None,
    procedures: ProcedureExecutor | None = None,
    on_register: RegistrationGuard | None = None,
    on_duplicate_instance: Literal["reject", "replace"] = "reject",
    duplicate_suffix_policy: Literal["off", "warn", "error"] = "warn",
    loop: asyncio.AbstractEventLoop | None = None,
) -> AgentSurfaceRegistry:
    """Make a registry with the Qt ports. It belongs to the calling thread, which has to be the GUI thread.

    The application may be made later; nothing is registered or called before.

    Args:
        authority: What can ever be exposed, from ``load_capability_authority`` or ``create_capability_authority``.
        environment: ``production`` accepts only a proven contract; ``development`` explains itself in the log.
        policies: Guards of everything, outermost in every chain.
        context: The application's context for policies and handlers; synchronous and cheap.
        route: Where in the application the person is, for snapshots.
        audit: Where records go; bounded memory when absent.
        limits: Bounds that differ from the defaults.
        procedures: Runs back-end procedures; can be installed later.
        on_register: Decides about each component before it is accepted.
        on_duplicate_instance: What happens to a second component of the same type and instance. Under ``reject`` the
            second one registers when the first goes.
        duplicate_suffix_policy: What happens when a view capability has the name of a known procedure.
        loop: A qasync loop that the application runs itself. When absent, calls run on a loop that needs no running.

    Raises:
        AuthorityError: The authority is not genuine, or not good enough for the environment.
    """
    runtimes = Runtimes(loop)
    registry = create_agent_surface_registry(
        authority=authority,
        environment=environment,
        context=context,
        policies=policies,
        audit=audit,
        on_register=on_register,
        on_duplicate_instance=on_duplicate_instance,
        duplicate_suffix_policy=duplicate_suffix_policy,
        route=route,
        limits=limits,
        procedures=procedures,
        clock=QtClock(runtimes.deadlines),
        host_loop=QtHostLoop(runtimes.loop),
        handler_runner=QtHandlerRunner(runtimes.runtime, runtimes.loop),
        threads=DaemonThreadPool(),
        before_settlement=runtimes.push_before_settlement,
    )
    _RUNTIMES[registry] = runtimes
    if find_application() is not None:
        runtimes.runtime("create_qt_registry")
        runtimes.loop("create_qt_registry")  # known from now on, so that other threads may call at once
    return registry


def runtimes_of(registry: AgentSurfaceRegistry, operation: str) -> Runtimes:
    """The Qt side of a registry.

    Args:
        registry: Made by :func:`create_qt_registry`.
        operation: Named in the error.

    Raises:
        NotAQtRegistryError: It was not.
    """
    runtimes = _RUNTIMES.get(registry)
    if runtimes is None:
        raise NotAQtRegistryError(operation)
    return runtimes
