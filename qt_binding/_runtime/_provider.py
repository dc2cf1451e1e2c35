"""Which registry a component belongs to."""

from __future__ import annotations

from collections.abc import Callable

import shiboken6
from PySide6.QtCore import SIGNAL, QObject
from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import AgentSurfaceRegistry
from qt_binding._runtime._registry import runtimes_of
from qt_binding._runtime._runtime import QtRuntime


class SurfaceProviders:
    """The registries of an application by the objects that provide them."""

    def __init__(self, runtime: QtRuntime) -> None:
        self._runtime = runtime
        self._registries: dict[int, AgentSurfaceRegistry] = {}
        self._listeners: list[Callable[[], None]] = []

    def __len__(self) -> int:
        """How many objects provide a surface."""
        return len(self._registries)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a provider comes or goes."""
        self._listeners.append(listener)

    def provide(self, target: QWidget | QApplication, registry: AgentSurfaceRegistry) -> Callable[[], None]:
        """Let ``target`` provide ``registry``, in place of one it provided before; returns the undo."""
        address = _address(target)
        known = address in self._registries
        self._registries[address] = registry
        if not known:
            # The entry goes with its target: an address is soon another object's.
            QObject.connect(target, SIGNAL("destroyed()"), self._runtime, lambda *_: self._forget(address, None))
        self._changed()
        return lambda: self._forget(address, registry)

    def provides(self, address: int) -> bool:
        """Whether the object at this address provides a surface."""
        return address in self._registries

    def find(self, component: QObject) -> AgentSurfaceRegistry | None:
        """The registry of the nearest provider among ``component`` and its parents, else the application's."""
        if not self._registries:
            return None
        own = self._registries.get(_address(component))
        if own is not None:
            return own
        parent = component.parent()
        return self._registries.get(_address(self._runtime.application)) if parent is None else self.find(parent)

    def _forget(self, address: int, registry: AgentSurfaceRegistry | None) -> None:
        if address in self._registries and registry in (None, self._registries[address]):
            del self._registries[address]
            self._changed()

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def provide_surface(target: QWidget | QApplication, registry: AgentSurfaceRegistry) -> Callable[[], None]:
    """Put a registry on a window or on the application; components below it register there.

    A component uses the nearest provider going up its parents, then the application's. Several registries may live
    side by side.

    Args:
        target: A window, or the application.
        registry: Made by ``create_qt_registry``.

    Returns:
        The undo: components of ``target`` leave the registry. May be called any number of times.

    Raises:
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
        NoApplicationError: There is no ``QApplication`` yet.
    """
    runtime = runtimes_of(registry, "provide_surface").runtime("provide_surface")
    return runtime.part(SurfaceProviders).provide(target, registry)


def _address(target: QObject) -> int:
    address: int = shiboken6.getCppPointer(target)[0]
    return address
