"""How a validated procedure call reaches the back end."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from agent_surface._base._json import JsonValue
from agent_surface.invocation import AgentConsumer, ApprovedConfirmation, CancelToken


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureInfo:
    """What an executor may know of the call besides its input.

    Attributes:
        invocation_id: Idempotency key; pass it on to a back end that honours one.
        capability_id: ``domain:…``.
        registration_id: The component that refers to the procedure.
        consumer: Who asks.
        host: The application's context, read-only.
        cancel: Tells when the call should end.
        confirmation: That a person approved this very input: information for the back end, never authority.
    """

    invocation_id: str
    capability_id: str
    registration_id: str
    consumer: AgentConsumer
    host: Mapping[str, object]
    cancel: CancelToken
    confirmation: ApprovedConfirmation | None = None


class ProcedureExecutor(Protocol):
    """Runs procedures. Refuses with ``AgentCapabilityError``; any other exception is a failed execution."""

    @property
    def paths(self) -> Collection[str]:
        """The procedure paths it can run; a reference to another one registers nothing."""
        ...

    def execute(self, path: str, input: Mapping[str, JsonValue], info: ProcedureInfo) -> Awaitable[object]:
        """Run one procedure with its validated input and return a JSON value."""
        ...


class _Service:
    """A function, and whether it wants to know of the call."""

    __slots__ = ("_function", "_wants_info")

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self._wants_info = _names_info(function)

    async def call(self, input: Mapping[str, JsonValue], info: ProcedureInfo) -> object:
        result = self._function(**input, info=info) if self._wants_info else self._function(**input)
        return await result if inspect.isawaitable(result) else result


def _names_info(function: Callable[..., object]) -> bool:
    try:
        return "info" in inspect.signature(function).parameters
    except ValueError:
        # Some C functions have no signature; none of them knows of us.
        return False


class ServiceExecutor:
    """Runs procedures as functions of the application's own service layer, in process.

    Args:
        services: For each procedure path a plain or ``async`` function that takes the input's fields as keywords. A
            parameter named ``info`` receives the :class:`ProcedureInfo` instead of a field.
    """

    def __init__(self, services: Mapping[str, Callable[..., object]]) -> None:
        self._services = MappingProxyType({path: _Service(function) for path, function in services.items()})

    @property
    def paths(self) -> Collection[str]:
        """The procedure paths it can run."""
        return self._services.keys()

    async def execute(self, path: str, input: Mapping[str, JsonValue], info: ProcedureInfo) -> object:
        """Call the function of ``path``; raises what it raises."""
        return await self._services[path].call(input, info)
