"""Putting widgets on a surface and waiting until they are there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from agent_surface import AgentSurfaceRegistry
from qt_binding._runtime import provide_surface
from qt_binding.mixin import AgentComponentHandle
from qt_binding.testing._driving import PATIENCE_MS, wait_until


def mount(widget: QWidget, registry: AgentSurfaceRegistry, *, timeout_ms: int = PATIENCE_MS) -> Callable[[], None]:
    """Let the window of a widget provide a surface, show it, and wait until its components are registered.

    Args:
        widget: A component, or a window with components in it.
        registry: Made by ``create_qt_registry``.
        timeout_ms: Milliseconds at most.

    Returns:
        The undo of providing.

    Raises:
        AssertionError: There is no component in it, one was refused, or none is registered in time.
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
    """
    withdraw = provide_surface(widget.window(), registry)
    widget.window().show()
    if widget is not widget.window():
        widget.show()
    wait_until(
        lambda: _are_registered(widget),
        lambda: f"the components registered: {_statuses(widget)}",
        timeout_ms=timeout_ms,
    )
    return withdraw


def _components(widget: QWidget) -> list[tuple[QObject, AgentComponentHandle]]:
    objects: list[QObject] = [widget, *widget.findChildren(QObject)]
    handles = [(item, getattr(item, "agent_handle", None)) for item in objects]
    return [(item, handle) for item, handle in handles if isinstance(handle, AgentComponentHandle)]


def _are_registered(widget: QWidget) -> bool:
    """Whether each component that is shown is registered, and at least one is.

    Raises:
        AssertionError: None will ever be.
    """
    components = _components(widget)
    if not components:
        raise AssertionError(f"{type(widget).__name__} has no component in it")
    for item, handle in components:
        if handle.status == "rejected":
            raise AssertionError(f"{type(item).__name__} was refused: {handle.error}") from handle.error
    shown = [handle for item, handle in components if not isinstance(item, QWidget) or item.isVisible()]
    return any(handle.status == "active" for _, handle in components) and all(
        handle.status != "pending" for handle in shown
    )


def _statuses(widget: QWidget) -> str:
    return ", ".join(f"{type(item).__name__} is {handle.status}" for item, handle in _components(widget))
