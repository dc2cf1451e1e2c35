"""The core, in units of the task round trip: ``await asyncio.ensure_future(noop())`` in the same process and run."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_surface import (
    AgentConsumer,
    AgentInvocation,
    AgentSurfaceRegistry,
    JsonValue,
    authenticated,
    canonical_json,
    create_agent_surface_registry,
    create_agent_toolset,
    has_permission,
)
from agent_surface.toolset import AgentToolset
from tests.benchmarks.surfaces import TABLE, authority

ROUNDS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured operation.

    Attributes:
        name: What was done.
        unit: ``round trips``, ``bytes`` or ``ms``.
        rounds: One figure per round, sorted.
        goal: Where it must end; ``None`` when there is none.
    """

    name: str
    unit: str
    rounds: tuple[float, ...]
    goal: float | None = None

    @property
    def median(self) -> float:
        """The figure that counts."""
        return self.rounds[len(self.rounds) // 2]

    def to_json(self) -> dict[str, object]:
        """The figure as JSON, with its spread."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": round(self.median, 3),
            "min": round(self.rounds[0], 3),
            "max": round(self.rounds[-1], 3),
            "rounds": len(self.rounds),
            "goal": self.goal,
        }


async def _noop() -> None:
    pass


def _select(wanted: object) -> None:
    pass


def _count() -> int:
    return 3


async def _round_trip(count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        await asyncio.ensure_future(_noop())
    return (time.perf_counter() - started) / count


async def _measure(
    name: str, operation: Callable[[], Awaitable[None]], *, count: int, goal: float | None = None
) -> Figure:
    await operation()
    figures: list[float] = []
    for _ in range(ROUNDS):
        gc.collect()
        unit = await _round_trip(1_000)
        started = time.perf_counter()
        for _ in range(count):
            await operation()
        each = (time.perf_counter() - started) / count
        # The unit is taken on both sides, so that a machine that changes its pace in between does less harm.
        figures.append(each / ((unit + await _round_trip(1_000)) / 2))
    return Figure(name=name, unit="round trips", rounds=tuple(sorted(figures)), goal=goal)


def _surface(components: int, *, policies: bool = False) -> AgentSurfaceRegistry:
    registry = create_agent_surface_registry(
        authority=authority(),
        policies=[authenticated(), has_permission("operate")] if policies else [],
        context=(lambda: {"user": "ada", "permissions": ("operate",)}) if policies else None,
    )
    for number in range(components):
        registry.register(
            TABLE.bind(instance_id=f"n{number}", observations={"count": _count}, actions={"select": _select})
        )
    return registry


async def _invocations() -> list[Figure]:
    figures: list[Figure] = []
    request = AgentInvocation(
        capability_id="view:bench.table.select", instance_id="n3", input={"ids": ["a", "b", "c", "d", "e"]}
    )
    reading = AgentInvocation(capability_id="view:bench.table.count", instance_id="n3")

    async def measured(
        name: str, registry: AgentSurfaceRegistry, wanted: AgentInvocation, goal: float | None = None
    ) -> None:
        async def call() -> None:
            result = await registry.invoke(wanted)
            if result.status != "ok":
                raise RuntimeError(f"{name}: {result.to_json()}")

        figures.append(await _measure(name, call, count=1_000, goal=goal))

    with _surface(10) as registry:
        await measured("action, no-op handler, among 10 components", registry, request, 2.5)
        await measured("observation of one number", registry, reading, 2.0)
    with _surface(10, policies=True) as registry:
        await measured("action with two authorization policies", registry, request, 4.5)
    with _surface(10_000) as registry:
        await measured("action, no-op handler, among 10,000 components", registry, request)
    few = next(figure for figure in figures if "among 10 " in figure.name)
    many = figures.pop()
    figures.append(
        Figure(
            name="action among 10,000 components, against 10",
            unit="ratio",
            rounds=tuple(sorted(value / few.median for value in many.rounds)),
            goal=1.1,
        )
    )
    return figures


async def _catalogues() -> list[Figure]:
    figures: list[Figure] = []
    with _surface(100) as registry:

        async def snapshot() -> None:
            registry.snapshot()

        figures.append(await _measure("snapshot of 100 components, nothing changed", snapshot, count=50, goal=4.0))
    with _surface(300) as registry, _toolset(registry) as toolset:
        handle = registry.register(
            TABLE.bind(instance_id="flips", observations={"count": _count}, actions={"select": _select})
        )

        async def tools() -> None:
            handle.invalidate()
            toolset.tools()

        figures.append(await _measure("direct tools of 300 components, surface changed", tools, count=10, goal=60.0))
    with _surface(0) as registry:
        bound = [
            TABLE.bind(instance_id=f"n{n}", observations={"count": _count}, actions={"select": _select})
            for n in range(100)
        ]

        async def come_and_go() -> None:
            for handle in [registry.register(component) for component in bound]:
                handle.unregister()

        figures.append(await _measure("register and unregister 100 components", come_and_go, count=20, goal=150.0))
    return figures


def _toolset(registry: AgentSurfaceRegistry) -> AgentToolset:
    return create_agent_toolset(registry, consumer=AgentConsumer(id="bench"), topology="embedded")


async def _digest() -> Figure:
    rows: list[JsonValue] = [
        {"id": f"device-{n:05}", "name": f"Station {n}", "status": "online", "tags": ["north", "a" * 9, "urban"]}
        for n in range(400)
    ]

    async def digest() -> None:
        hashlib.blake2b(canonical_json(rows).encode()).digest()

    return await _measure("canonical JSON and digest of 32 kB", digest, count=50, goal=60.0)


def _memory() -> Figure:
    figures: list[float] = []
    for _ in range(7):
        with _surface(10) as registry:
            gc.collect()
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            for number in range(200):
                registry.register(
                    TABLE.bind(
                        instance_id=f"m{number}",
                        observations={"count": _count},
                        actions={"select": _select},
                    )
                )
            gc.collect()
            figures.append((tracemalloc.get_traced_memory()[0] - before) / 200)
            tracemalloc.stop()
    return Figure(name="memory of one registered component", unit="bytes", rounds=tuple(sorted(figures)), goal=4_096.0)


def _import_time(statement: str, goal: float | None = None) -> Figure:
    program = f"import time; t = time.perf_counter(); {statement}; print((time.perf_counter() - t) * 1000)"
    with tempfile.TemporaryDirectory() as compiled:
        # As an installed package is: compiled once, whatever this process was told about writing bytecode.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        figures = [
            float(
                subprocess.run(
                    [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
                ).stdout
            )
            for _ in range(ROUNDS + 1)
        ]
    return Figure(name=statement, unit="ms", rounds=tuple(sorted(figures[1:])), goal=goal)


def measure() -> list[Figure]:
    """All figures of the core."""

    async def run() -> list[Figure]:
        return [*await _invocations(), *await _catalogues(), await _digest()]

    imports = [_import_time("import agent_surface", 100.0), _import_time("from agent_surface import *")]
    return [*asyncio.run(run()), _memory(), *imports]
