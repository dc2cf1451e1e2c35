"""The trait that makes a Qt class a component."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, cast

from PySide6.QtCore import QObject
from typing_extensions import override

from agent_surface import AgentComponentContract
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._behaviour import DEFINITION, ensure_behaviour, is_alive
from qt_binding.mixin._definition import define_class
from qt_binding.mixin._handle import AgentComponentHandle
from qt_binding.mixin._watch import ComponentWatch


class AgentComponentMixin:
    """Makes a ``QWidget``, ``QObject`` or ``QAction`` class a component of the surface.

    ::

        class DevicesTable(AgentComponentMixin, QTableView):
            agent_contract = DEVICES_TABLE

            @observes(READ_STATE)
            def read_state(self) -> DeviceTableState: ...

            @performs(CLEAR_SELECTION, when=lambda self: self.selectionModel().hasSelection(),
                      reason="No rows are selected",
                      follows=lambda self: [self.selectionModel().selectionChanged])
            def clear_selection(self) -> None: ...

    It stands before or after the Qt class. It is a plain class without a metaclass and overrides nothing of Qt: when
    a subclass is made it wraps that class's ``__init__``, and when the ``__init__`` of the most derived class has
    returned, the object is watched, once. (An ``__init__`` assigned to the class later is not wrapped, and such an
    object never becomes a component.) A widget registers on its first show, anything else at once.

    What a component says of itself, each an attribute or a method, read whenever the component is recomputed:

    * ``agent_instance_id``: tells components of one type apart; from data, never from ``objectName``, translated text
      or a row number. ``"default"`` when absent.
    * ``agent_parent``: a ``ComponentRef``; ``agent_internal``: a mapping for policies, never shown to an agent;
      ``agent_policies``: guards of every capability.
    * ``agent_enabled``: ``False`` makes every capability unavailable.
    * ``agent_presented``: ``True`` for a component that is meant to work unseen.
    * ``agent_register_on``: ``"show"`` or ``"attach"``.

    A class without ``agent_contract`` is abstract.

    Raises:
        TypeError: When the class is made: a declared capability has no handler, a handler belongs to nothing
            declared, or its annotations contradict the contract.
    """

    agent_contract: ClassVar[AgentComponentContract]

    @override
    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        setattr(cls, DEFINITION, define_class(cls))
        if issubclass(cls, QObject):  # a trait built on this one is no object yet; Qt may even call its __init__ early
            _attach_after_init(cls)

    @property
    def agent_handle(self) -> AgentComponentHandle:
        """The registration of this component as it is now."""
        return ensure_behaviour(cast("QObject", self)).handle


def _attach_after_init(cls: type[Any]) -> None:
    own: Callable[..., None] | None = vars(cls).get("__init__")

    def __init__(self: QObject, *args: object, **kwargs: object) -> None:  # noqa: N807 - it becomes the class's
        if own is not None:
            own(self, *args, **kwargs)
        else:
            super(cls, self).__init__(*args, **kwargs)
        if type(self) is cls:
            _attach(self)

    setattr(cls, "__init__", functools.wraps(own)(__init__) if own is not None else __init__)  # noqa: B010 - a type checker would object to the plain form


def _attach(component: QObject) -> None:
    """Watch a finished object; the second of two calls does nothing."""
    if getattr(type(component), DEFINITION) is None or not is_alive(component):
        return
    behaviour = ensure_behaviour(component)
    if behaviour.key is not None:
        return
    watch = runtime_of_application(type(component).__name__).part(ComponentWatch)
    watched = watch.add(component, behaviour)
    behaviour.key = watched.key
    if not watched.wants_registration(component, behaviour):
        return
    if watched.is_widget or not watch.has_provider(watched):
        watch.mark(watched.key)  # together with whatever else is shown in this turn; or its provider may still come
    else:
        watch.register(watched)
