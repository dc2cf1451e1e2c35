"""Watches the components of an application and pushes what changed, once for each turn of the event loop."""

from __future__ import annotations

import itertools
import logging
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import shiboken6
from PySide6.QtCore import SIGNAL, QEvent, QMetaObject, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPaintEvent, QShowEvent
from typing_extensions import override

from agent_surface import (
    AgentSurfaceError,
    AgentSurfaceEvent,
    AgentSurfaceRegistry,
    ComponentUnregistered,
    RegistryClosedError,
)
from qt_binding._availability import Followers, Glance, ModalStack, Presentation, crossed_the_edge
from qt_binding._runtime import QtRuntime, SurfaceProviders
from qt_binding.errors import NoSurfaceProviderError
from qt_binding.mixin._behaviour import Behaviour
from qt_binding.mixin._component import Component
from qt_binding.mixin._places import find_surroundings, watched_widgets

logger = logging.getLogger(__name__)

_BLOCKING = frozenset({QEvent.Type.WindowBlocked, QEvent.Type.WindowUnblocked})
_WATCHED = _BLOCKING | {
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.EnabledChange,
    QEvent.Type.ParentChange,
    QEvent.Type.ChildRemoved,  # maybe an object whose presence is that of this widget
    QEvent.Type.WindowStateChange,
}
_SHOW = QEvent.Type.Show
_MOVE = QEvent.Type.Move
_KINDS: Mapping[type[QEvent], QEvent.Type] = {
    QShowEvent: _SHOW,
    QHideEvent: QEvent.Type.Hide,
    QPaintEvent: QEvent.Type.Paint,
}
"""Classes with events of one kind only. To ask an event for its kind costs more than all else a filter does."""


class ComponentWatch(QObject):
    """Every component of the application, its events, and the one timer that pushes changes.

    Events and signals only mark components as dirty. One zero-delay timer then recomputes all dirty components and
    pushes them as one batch, so that any number of signals in one turn are one bump of a registry's version. What is
    dirty is also pushed when a handler has ended, before its call settles.

    Signals:
        marked_elsewhere: A followed signal fired on another thread; with the component's key.
    """

    marked_elsewhere = Signal(object)

    def __init__(self, runtime: QtRuntime) -> None:
        super().__init__(runtime)
        self._runtime = runtime
        self._providers = runtime.part(SurfaceProviders)
        self._modals = runtime.part(ModalStack)
        self._presentation = Presentation(self._modals)
        self._thread = threading.get_ident()
        self._keys = itertools.count(1)
        self._components: dict[int, Component] = {}
        self._watching: dict[int, set[int]] = {}
        self._watched_by: dict[int, set[int]] = {}
        self._dirty: dict[int, None] = {}
        self._pushing = False
        self._unprovided: set[int] = set()
        self._rejected: set[int] = set()
        self._anchors: dict[int, QObject] = {}
        self._heard: weakref.WeakSet[AgentSurfaceRegistry] = weakref.WeakSet()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.push)
        self.marked_elsewhere.connect(self.mark, Qt.ConnectionType.QueuedConnection)
        self._providers.on_change(self._on_providers_changed)
        runtime.call_before_settlement(self.push)
        runtime.application.screenAdded.connect(self.mark_all)
        runtime.application.screenRemoved.connect(self.mark_all)

    def __len__(self) -> int:
        """How many components there are."""
        return len(self._components)

    # -- components come and go ----------------------------------------------------------------------------------

    def add(self, target: QObject, behaviour: Behaviour) -> Component:
        """Watch ``target`` from now on, without keeping it alive."""
        key = next(self._keys)
        mark = weakref.WeakMethod(self.mark)

        def fired() -> None:
            marking = mark()
            if marking is not None:
                marking(key)

        component = Component(
            key,
            target,
            behaviour,
            presentation=self._presentation,
            make_followers=lambda: Followers(self._runtime.context, fired),
            mark=lambda: self.mark(key),
            prune=lambda: self._drop(key),
        )
        self._components[key] = component
        # With this watch as the context it also arrives, on this thread, when a worker's collector ends the object.
        QObject.connect(target, SIGNAL("destroyed()"), self, lambda *_: self._drop(key))
        self._watch_events(component, target, behaviour, self._glance())
        return component

    def mark_when_gone(self, contributor: QObject, behaviour: Behaviour) -> QMetaObject.Connection:
        """The component of ``behaviour`` changes when ``contributor`` goes."""
        known = weakref.ref(behaviour)

        def gone() -> None:
            changed = known()
            if changed is not None and changed.key is not None:
                self.mark(changed.key)

        return QObject.connect(contributor, SIGNAL("destroyed()"), self, lambda *_: gone())

    def register(self, component: Component) -> None:
        """Register a component at once, or at the end of this turn if its parts may still be contributed.

        One whose registry was closed is rejected.

        Raises:
            NoSurfaceProviderError: There is no provider for it.
            AgentSurfaceDefinitionError: Its binding differs from the contract of the program.
        """
        found = component.find()
        if found is None:
            return
        target, behaviour = found
        registry = self._providers.find(target)
        if registry is None:
            error = self._no_provider(component, target, behaviour)
            component.handle.rejected(error)
            raise error
        if behaviour.definition(target).contract.partial:
            self.mark(component.key)
            return
        self._dirty.pop(component.key, None)  # before, since whoever hears of the registration may change something
        try:
            with registry.batch():
                self._update(component, target, behaviour, registry, self._glance())
        except RegistryClosedError as closed:
            component.handle.rejected(closed)

    def anchor(self, key: int, target: QObject) -> None:
        """Keep the Python half of an object that C++ made and owns, for as long as the component is watched."""
        self._anchors[key] = target

    def has_provider(self, component: Component) -> bool:
        """Whether a registry is provided for the component now."""
        found = component.find()
        return found is not None and self._providers.find(found[0]) is not None

    def _drop(self, key: int) -> None:
        component = self._components.pop(key, None)
        if component is None:
            return
        self._dirty.pop(key, None)
        self._unprovided.discard(key)
        self._rejected.discard(key)
        self._anchors.pop(key, None)
        self._unwatch_events(key)
        component.unregister()

    # -- events --------------------------------------------------------------------------------------------------

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Mark what an event may have changed.

        Never lets an exception out: one that leaves an event filter can crash PySide6 6.10 to 6.12, and makes it
        forget the overrides of the watched widget.
        """
        try:
            kind = _KINDS.get(type(event)) or event.type()
            if kind in _WATCHED:
                if kind in _BLOCKING:
                    self._modals.renew()  # now, while it is known that a single dialog has come or gone
                address = _address(watched)
                for key in self._watching.get(address, ()):
                    if kind == _SHOW and self._components[key].address == address:
                        self._shown(self._components[key], watched)
                    self._mark(key)
            elif kind == _MOVE and crossed_the_edge(watched, event):
                for key in self._watching.get(_address(watched), ()):
                    self._mark(key)
        except BaseException:
            logger.debug("an event could not be looked at", exc_info=True)
        return False

    def _shown(self, component: Component, watched: QObject) -> None:
        """A component came in sight; nothing more of it need be heard until it is looked at in this turn.

        The three further events of a widget that is shown cost more than the push: each is handed to Python. Whoever
        else depends on the widget is looked at too. A window, which is never settled, is heard always: it tells of
        dialogs that come and go.
        """
        component.shown = True
        if component.settled:
            component.unheard = True
            watched.removeEventFilter(self)

    def _hear_again(self, component: Component) -> None:
        component.unheard = False
        target = component.target()
        if target is not None:
            target.installEventFilter(self)

    def mark(self, key: int) -> None:
        """A component may have changed; from any thread."""
        if threading.get_ident() != self._thread:
            self.marked_elsewhere.emit(key)
        elif key in self._components:
            self._mark(key)

    def _mark(self, key: int) -> None:
        if not self._dirty:
            self._timer.start()
        self._dirty[key] = None

    def mark_all(self) -> None:
        """Every component may have changed."""
        for key in self._components:
            self.mark(key)

    def _glance(self) -> Glance:
        # A second filter is none, and the address of a window may be another window's by now.
        return Glance(
            self._presentation,
            found_window=lambda window: window.installEventFilter(self),
            find_registry=self._providers.find,
            provides=self._providers.provides,
        )

    def _watch_events(self, component: Component, target: QObject, behaviour: Behaviour, glance: Glance) -> None:
        """Filter the events of the widgets whose presence counts for a component, and of their windows.

        A floating dock is minimised together with its main window, and only that is told of it.
        """
        surroundings = find_surroundings(target, behaviour, glance)
        component.settled = component.active and component.surroundings == surroundings
        if component.settled:
            return
        key = component.key
        component.surroundings = surroundings
        addresses: set[int] = set()
        for place in watched_widgets(target, behaviour):
            place.installEventFilter(self)
            addresses |= {_address(place), *glance.windows(place)}
        if addresses != self._watched_by.get(key):
            self._unwatch_events(key)
            self._watched_by[key] = addresses
            for address in addresses:
                self._watching.setdefault(address, set()).add(key)

    def _unwatch_events(self, key: int) -> None:
        for address in self._watched_by.pop(key, ()):
            keys = self._watching[address]
            keys.discard(key)
            if not keys:
                del self._watching[address]

    # -- pushing -------------------------------------------------------------------------------------------------

    def push(self) -> None:
        """Recompute every dirty component and push what changed, one batch for each registry."""
        if self._pushing:
            return  # a predicate came back here
        self._pushing = True
        try:
            dirty, self._dirty = self._dirty, {}
            with ExitStack() as batches:
                entered: set[AgentSurfaceRegistry] = set()

                def enter(registry: AgentSurfaceRegistry) -> None:
                    if registry not in entered:
                        batches.enter_context(registry.batch())
                        entered.add(registry)

                glance = self._glance()
                for key in dirty:
                    component = self._components.get(key)
                    if component is None:
                        continue
                    if component.unheard:
                        self._hear_again(component)
                    self._push_one(component, glance, enter)
        finally:
            self._pushing = False
            if self._dirty:
                self._timer.start()  # it may have run out in the event loop of a predicate

    def _push_one(self, component: Component, glance: Glance, enter: Callable[[AgentSurfaceRegistry], None]) -> None:
        try:
            if component.steady is not None and component.active:
                enter(component.steady.registry)
                if component.steady.push(glance):
                    return
            found = component.find()
            if found is None:
                self._drop(component.key)
                return
            target, behaviour = found
            self._watch_events(component, target, behaviour, glance)
            if not component.wants_registration(target, behaviour):
                return
            registry = glance.registry(target, component.address)
            if component.registry is not registry and component.registry is not None and component.active:
                enter(component.registry)
                component.unregister()
            if registry is None:
                self._report_unprovided(component, target, behaviour)
                return
            self._unprovided.discard(component.key)
            enter(registry)
            self._update(component, target, behaviour, registry, glance)
        except RegistryClosedError as closed:
            component.unregister()
            component.handle.rejected(closed)
        except AgentSurfaceError as error:
            component.handle.rejected(error)
            sys.excepthook(type(error), error, error.__traceback__)
        except Exception:
            logger.exception("%s could not be brought up to date", component.name)

    def _update(
        self,
        component: Component,
        target: QObject,
        behaviour: Behaviour,
        registry: AgentSurfaceRegistry,
        glance: Glance,
    ) -> None:
        try:
            component.update(target, behaviour, registry, glance)
        finally:
            if not component.active and component.handle.status == "rejected":
                self._rejected.add(component.key)
                self._hear(registry)
            else:
                self._rejected.discard(component.key)

    def _report_unprovided(self, component: Component, target: QObject, behaviour: Behaviour) -> None:
        if component.handle.status == "unregistered" or component.key in self._unprovided:
            return  # it was moved out of its surface, or this was said before
        self._unprovided.add(component.key)
        error = self._no_provider(component, target, behaviour)
        component.handle.rejected(error)
        sys.excepthook(type(error), error, None)

    def _no_provider(self, component: Component, target: QObject, behaviour: Behaviour) -> NoSurfaceProviderError:
        contract = behaviour.definition(target).contract
        return NoSurfaceProviderError(widget=component.name, component_type=contract.type)

    # -- second chances ------------------------------------------------------------------------------------------

    def _hear(self, registry: AgentSurfaceRegistry) -> None:
        if registry not in self._heard and not registry.closed:
            self._heard.add(registry)
            registry.subscribe(self._on_registry_event)

    def _on_registry_event(self, event: AgentSurfaceEvent) -> None:
        """A component that was refused as a duplicate may register when another one goes."""
        if isinstance(event, ComponentUnregistered) and self._rejected and shiboken6.isValid(self):
            for key in self._rejected:
                self._components[key].forget_refusal()
                self.mark(key)

    def _on_providers_changed(self) -> None:
        for key in self._rejected:
            self._components[key].forget_refusal()
        self.mark_all()


def _address(target: QObject) -> int:
    address: int = shiboken6.getCppPointer(target)[0]
    return address
