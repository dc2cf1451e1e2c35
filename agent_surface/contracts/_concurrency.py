"""How many calls of a capability may run at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_surface._base._json import JsonValue
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """An admission group.

    Attributes:
        mode: ``instance``: one queue per registration (the default, two actions of a component never interleave);
            ``capability``: one per capability; ``key``: one per ``key`` in the whole registry; ``parallel``: up to
            ``max`` at once per capability.
        key: For mode ``key``.
        max: For mode ``parallel``, at least 1.
        queue_depth: How many may wait; the registry's ``action_queue_depth`` when absent.
    """

    mode: Literal["instance", "capability", "key", "parallel"] = "instance"
    key: str | None = None
    max: int | None = None
    queue_depth: int | None = None

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise AgentSurfaceDefinitionError(DefinitionErrorCode.INVALID_DEFINITION, problem, path="concurrency")

    def _problem(self) -> str | None:
        if self.mode not in ("instance", "capability", "key", "parallel"):
            return f"concurrency mode {self.mode!r} is none of instance, capability, key, parallel"
        if (self.mode == "key") != (self.key is not None) or self.key == "":
            return "concurrency mode 'key' needs a non-empty key, and no other mode takes one"
        if (self.mode == "parallel") != (self.max is not None):
            return "concurrency mode 'parallel' needs max, and no other mode takes one"
        if self.max is not None and (isinstance(self.max, bool) or not isinstance(self.max, int) or self.max < 1):
            return "concurrency max must be an integer of at least 1"
        depth = self.queue_depth
        if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 0):
            return "concurrency queue_depth must be an integer of at least 0"
        return None

    def to_json(self) -> dict[str, JsonValue]:
        """The group as a fresh JSON object, without absent parts."""
        result: dict[str, JsonValue] = {"mode": self.mode}
        if self.key is not None:
            result["key"] = self.key
        if self.max is not None:
            result["max"] = self.max
        if self.queue_depth is not None:
            result["queueDepth"] = self.queue_depth
        return result


INSTANCE = Concurrency()
