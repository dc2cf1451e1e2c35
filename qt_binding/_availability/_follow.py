"""Signals that tell when the availability of a capability may have changed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeAlias

import shiboken6
from PySide6.QtCore import QMetaObject, QObject, SignalInstance

from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode

PROPERTY_PREFIX = "property:"

Followed: TypeAlias = SignalInstance | str
"""A bound signal, or ``"property:name"`` for the NOTIFY signal of a property of the component itself."""

_log = logging.getLogger(__name__)


class Followers:
    """The connections of one component. Calls ``fired`` when any of the signals does."""

    def __init__(self, context: QObject, fired: Callable[[], None]) -> None:
        """Make an empty set of connections.

        Args:
            context: Lives in the GUI thread; owns connections made by a signal's name.
            fired: Takes no arguments, may be called from any thread, and must not keep the component alive.
        """

        def relay() -> None:  # of a plain function, PySide sees that it takes no arguments
            fired()

        self._context = context
        self._fired = relay
        self._sources: list[Followed] = []
        self._connections: list[QMetaObject.Connection] = []

    def __len__(self) -> int:
        """How many signals are connected."""
        return len(self._connections)

    def follow(self, owner: QObject, sources: Iterable[Followed]) -> None:
        """Follow exactly ``sources`` from now on.

        Connections are renewed only if the signals differ. A bound signal says nothing of its sender, so one is known
        to be the same only while Python keeps the sender; otherwise it is connected anew, which costs microseconds.

        Args:
            owner: Whose properties are meant by name.
            sources: Bound signals and property names; a signal whose sender is gone is left out.
        """
        wanted = list(sources)
        if len(wanted) == len(self._sources) and all(
            new is old or (isinstance(new, str) and new == old) for new, old in zip(wanted, self._sources, strict=True)
        ):
            return
        self.clear()
        self._sources = wanted
        for source in wanted:
            try:
                connection = (
                    self._connect_property(owner, source) if isinstance(source, str) else source.connect(self._fired)
                )
            except RuntimeError as gone:
                _log.debug("a followed signal has no sender any more: %s", gone)
                continue
            self._connections.append(connection)

    def clear(self) -> None:
        """Follow nothing."""
        connections, self._connections, self._sources = self._connections, [], []
        for connection in connections:
            QObject.disconnect(connection)  # says False for one whose sender is gone

    def _connect_property(self, owner: QObject, source: str) -> QMetaObject.Connection:
        fired = self._fired
        # The form with a context hands every argument over, whatever the function takes.
        return QObject.connect(owner, notify_signal(owner, source), self._context, lambda *_: fired())


def notify_signal(owner: QObject, source: str) -> str:
    """The signal behind ``"property:name"`` in the form ``QObject.connect`` takes.

    Raises:
        AgentSurfaceDefinitionError: It is not of that form, or the property is unknown or has no NOTIFY signal.
    """
    name = source.removeprefix(PROPERTY_PREFIX)
    meta = owner.metaObject()
    if not shiboken6.isValid(owner) or name == source:
        raise _error(f"follows takes bound signals or {PROPERTY_PREFIX + 'name'!r}, not {source!r}", source)
    index = meta.indexOfProperty(name)
    if index < 0:
        raise _error(f"{meta.className()} has no property {name!r} to follow", source)
    found = meta.property(index)
    if not found.hasNotifySignal():
        raise _error(f"property {name!r} of {meta.className()} has no NOTIFY signal; follow a signal instead", source)
    return "2" + bytes(found.notifySignal().methodSignature().data()).decode()


def _error(message: str, subject: str) -> AgentSurfaceDefinitionError:
    return AgentSurfaceDefinitionError(DefinitionErrorCode.INVALID_DEFINITION, message, subject=subject, path="follows")
