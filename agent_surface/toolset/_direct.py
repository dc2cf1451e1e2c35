"""Direct mode: one tool per capability, definitions cached per surface version."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from types import MappingProxyType

from typing_extensions import override

from agent_surface._base._json import JsonValue
from agent_surface._snapshot._values import SnapshotContext
from agent_surface.errors import RegistryClosedError
from agent_surface.events._values import AgentSurfaceEvent, SurfaceChanged
from agent_surface.invocation import AgentConsumer, AgentInvocation, AgentInvocationResult
from agent_surface.toolset._calls import invocation_id_of
from agent_surface.toolset._catalogue import Catalogue, build_catalogue
from agent_surface.toolset._lifetime import ToolsetLifetime
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._values import AgentTool, ConfirmationMode, ToolEntry, WaitListener

_log = logging.getLogger(__name__)

MAX_RETIRED = 256
"""Tools that have left the catalogue and can still be found, so that a late call gets its typed reason."""


class DirectToolset(ToolsetLifetime):
    """One tool per capability. See :class:`AgentToolset` for what the members promise."""

    def __init__(
        self,
        surface: InvokableSurface,
        *,
        consumer: AgentConsumer,
        confirmations: ConfirmationMode,
        scope: tuple[str, ...],
    ) -> None:
        super().__init__(surface, consumer=consumer, confirmations=confirmations)
        self._context = SnapshotContext(consumer=consumer, scope=scope)
        self._version: str | None = None
        self._catalogue = Catalogue()
        self._tools: tuple[AgentTool, ...] = ()
        self._by_name: dict[str, AgentTool] = {}
        self._names: Mapping[str, str] = MappingProxyType({})
        self._retired: OrderedDict[str, AgentTool] = OrderedDict()
        self._listeners: list[tuple[object, Callable[[Sequence[AgentTool]], None]]] = []
        self._told: tuple[AgentTool, ...] = ()
        self._unsubscribe = surface.subscribe(self._heard)

    def tools(self) -> tuple[AgentTool, ...]:
        """The catalogue of the current surface version."""
        if self._closed:
            return ()
        try:
            if self._surface.version != self._version:
                self._rebuild()
        except RegistryClosedError:
            self._adopt(Catalogue(), "")
        return self._tools

    def refresh(self) -> tuple[AgentTool, ...]:
        """The catalogue with live state evaluated now."""
        self._version = None
        tools = self.tools()
        self._announce()
        return tools

    def find_tool(self, name: str) -> AgentTool | None:
        """A tool of the catalogue, or one that left it lately."""
        self.tools()
        return self._by_name.get(name) or self._retired.get(name)

    def wire_name_map(self) -> Mapping[str, str]:
        """Wire name to capability id of the last catalogue."""
        return self._names

    def subscribe(self, listener: Callable[[Sequence[AgentTool]], None]) -> Callable[[], None]:
        """Hear when the catalogue or its state changes."""
        if not self._listeners:
            self._told = self.tools()
        # With a mark of its own: the same function given twice is two subscriptions, and each disposer ends its own.
        entry = (object(), listener)
        self._listeners.append(entry)

        def dispose() -> None:
            self._listeners = [other for other in self._listeners if other is not entry]

        return dispose

    @override
    def _release(self) -> None:
        """Stop listening, and offer nothing more."""
        self._unsubscribe()
        self._listeners.clear()
        self._adopt(Catalogue(), "")

    def _heard(self, event: AgentSurfaceEvent) -> None:
        if isinstance(event, SurfaceChanged):
            self._announce()

    def _announce(self) -> None:
        if not self._listeners:
            return
        tools = self.tools()
        if tools == self._told:
            return
        self._told = tools
        for _, listener in tuple(self._listeners):
            try:
                listener(tools)
            except Exception:  # noqa: BLE001  user code; logged with its traceback
                _log.exception("a listener of the toolset failed")

    def _rebuild(self) -> None:
        snapshot = self._surface.snapshot(self._context)
        self._adopt(build_catalogue(snapshot, self._catalogue), snapshot.surface_version)
        self._version = snapshot.surface_version

    def _adopt(self, catalogue: Catalogue, version: str) -> None:
        before, self._catalogue = self._catalogue, catalogue
        # Tools are made anew with each version, since each call says which one the model had seen.
        tools = tuple(map(AgentTool, catalogue.entries, repeat(partial(self._execute, version))))
        self._tools = tools
        left, self._by_name = self._by_name, dict(zip(catalogue.names, tools, strict=True))
        if catalogue.names is before.names:
            return
        self._names = MappingProxyType({tool.name: tool.definition.capability_id for tool in tools})
        for name, tool in left.items():
            if name not in self._by_name:
                self._retired[name] = tool
                self._retired.move_to_end(name)
        for name in self._by_name:
            self._retired.pop(name, None)
        while len(self._retired) > MAX_RETIRED:
            self._retired.popitem(last=False)

    async def _execute(
        self,
        version: str,
        entry: ToolEntry,
        tool_input: JsonValue,
        *,
        tool_call_id: str | None,
        on_wait: WaitListener | None,
    ) -> AgentInvocationResult:
        invocation = AgentInvocation(
            capability_id=entry.definition.capability_id,
            input=tool_input,
            invocation_id=invocation_id_of(tool_call_id),
            registration_id=entry.registration_id,
            surface_version=version,
        )
        return await self._runner.run(invocation, on_wait=on_wait)
