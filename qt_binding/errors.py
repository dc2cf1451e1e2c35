"""Every exception of the Qt binding.

::

    AgentSurfaceError
    ├── UnsoundPySideError       this PySide6 aborts the process on this Python (also an ``ImportError``)
    ├── NoApplicationError       a Qt port was used before there was a ``QApplication``
    ├── NoSurfaceProviderError   a component found no registry above it
    ├── ComponentRejectedError   a registry refused a component
    ├── ActionSlotError          a slot raised while a ``QAction`` was triggered or a page turned to
    └── NotAQtRegistryError      a registry without the Qt ports was given to Qt
"""

from __future__ import annotations

from agent_surface.errors import AgentSurfaceError


class UnsoundPySideError(AgentSurfaceError, ImportError):
    """The installed PySide6 is known to abort the process on the running Python.

    Raised when ``qt_binding`` is imported, before any Qt class is touched; never later.
    """

    def __init__(self, *, pyside: str, python: str, remedy: str) -> None:
        super().__init__(
            f"PySide6 {pyside} aborts the process on Python {python}: it loses a reference to None in every "
            f"void Qt call. Install {remedy!r} or run on Python 3.12 or newer."
        )
        self.pyside = pyside
        self.python = python
        self.remedy = remedy


class NoApplicationError(AgentSurfaceError):
    """A timer, a task or a handler was asked for before a ``QApplication`` existed.

    Creating a registry needs no application; using it does.
    """

    def __init__(self, operation: str) -> None:
        super().__init__(f"{operation} needs a QApplication; create one first, or start with run(...)")


class NoSurfaceProviderError(AgentSurfaceError):
    """A component has no registry: neither a parent nor the application provides one.

    ``attach_agent_component`` raises it. A component that registers when it is shown cannot raise from inside a Qt
    event, so for it the error is reported once through ``sys.excepthook`` and kept in ``agent_handle.error``.
    """

    def __init__(self, *, widget: str, component_type: str) -> None:
        super().__init__(
            f"{widget} (component {component_type!r}) has no agent surface: call provide_surface(window, registry) "
            "on one of its parents, or provide_surface(QApplication.instance(), registry), before it is shown"
        )
        self.widget = widget
        self.component_type = component_type


class ComponentRejectedError(AgentSurfaceError):
    """A registry refused a component: its type and instance id are taken, or the registration guard said no.

    Never raised: it is the ``error`` of the component's handle. The component tries again when another one goes.
    """

    def __init__(self, *, component: str, component_type: str, instance_id: str) -> None:
        super().__init__(
            f"{component} was refused: a live component is {component_type!r} with instance id {instance_id!r} "
            "already, or the registration guard said no"
        )
        self.component_type = component_type
        self.instance_id = instance_id


class ActionSlotError(AgentSurfaceError):
    """A slot raised while a call triggered a ``QAction`` or turned to a page; the cause is what it raised.

    Raised inside the call, which ends with ``EXECUTION_FAILED``. What a nested event loop lets fail raises nothing.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"a slot of the action raised {type(error).__name__}")


class NotAQtRegistryError(AgentSurfaceError):
    """A registry that was not made by ``create_qt_registry`` was given to a window, an application or ``run``."""

    def __init__(self, operation: str) -> None:
        super().__init__(
            f"{operation} takes a registry made by create_qt_registry(...); this one lacks the Qt ports, so its "
            "time-outs and handlers would not run in the Qt event loop"
        )
