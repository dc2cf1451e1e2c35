"""How a toolset is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent_surface._snapshot._values import SnapshotBudget
from agent_surface.invocation import AgentConsumer
from agent_surface.toolset._direct import DirectToolset
from agent_surface.toolset._meta import MetaToolset
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._toolset import AgentToolset
from agent_surface.toolset._values import ConfirmationMode


def create_agent_toolset(
    registry: InvokableSurface,
    *,
    consumer: AgentConsumer,
    mode: Literal["direct", "meta"] = "direct",
    topology: Literal["embedded", "remote"] | None = None,
    confirmations: Literal["wait", "two-phase"] | None = None,
    scope: Sequence[str] = (),
    budget: SnapshotBudget | None = None,
) -> AgentToolset:
    """Project a registry into tools for a model.

    Args:
        registry: Where the capabilities live.
        consumer: Who calls. Give each its own id when more than one consumer uses the registry.
        mode: ``direct``, one tool per capability; or ``meta``, three constant tools through which the model discovers
            the surface, reads and acts. Experimental: the envelopes of ``meta`` may change in any release.
        topology: ``embedded`` (the loop runs beside the registry: a call waits for the person) or ``remote`` (a
            transport lies between: the model is told and repeats itself).
        confirmations: ``wait`` or ``two-phase``; wins over the topology's default.
        scope: Component-type prefixes this consumer is shown. Narrows discovery; it is no authority. In meta mode the
            model can narrow it further and never widen it.
        budget: How much one discovery lists at most, in meta mode, where the model is told what was left out. Not in
            direct mode, where tools would be dropped without anybody being told.

    Raises:
        ValueError: Neither ``topology`` nor ``confirmations`` is given, a budget is given in direct mode, or a
            value is unknown.
        TypeError: ``scope`` is one text instead of several.
    """
    if mode not in ("direct", "meta"):
        raise ValueError(f"unknown mode {mode!r}; use 'direct' or 'meta'")
    if topology is None and confirmations is None:
        raise ValueError(
            "say how the loop is placed (topology='embedded' or 'remote') or who waits for the person "
            "(confirmations='wait' or 'two-phase'); there is no default that is right for both"
        )
    if topology not in (None, "embedded", "remote"):
        raise ValueError(f"unknown topology {topology!r}; use 'embedded' or 'remote'")
    if budget is not None and mode == "direct":
        raise ValueError("a budget would silently drop tools in direct mode")
    if isinstance(scope, str):
        raise TypeError("scope is a sequence of component-type prefixes, not one text")
    by_topology = ConfirmationMode.WAIT if topology == "embedded" else ConfirmationMode.TWO_PHASE
    who_waits = ConfirmationMode(confirmations) if confirmations is not None else by_topology
    if mode == "meta":
        return MetaToolset(registry, consumer=consumer, confirmations=who_waits, scope=tuple(scope), budget=budget)
    return DirectToolset(registry, consumer=consumer, confirmations=who_waits, scope=tuple(scope))
