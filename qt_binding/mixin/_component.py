"""One component of the surface: a weak hold on the object, and the registration it has right now."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Callable, Hashable, Mapping
from typing import Literal, cast

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from agent_surface import (
    AVAILABLE,
    ActionBinding,
    AgentCapabilityError,
    AgentPolicy,
    AgentSurfaceError,
    AgentSurfaceRegistry,
    Availability,
    BoundComponent,
    ComponentRef,
    ErrorCode,
    JsonValue,
    ObservationBinding,
    ProcedureBinding,
    RegistrationHandle,
    bind_procedure,
    capability_error,
)
from qt_binding._availability import Followed, Followers, Glance, Presentation
from qt_binding.errors import ComponentRejectedError
from qt_binding.mixin._behaviour import OPTIONS, Behaviour, find_behaviour, is_alive
from qt_binding.mixin._handle import AgentComponentHandle
from qt_binding.mixin._places import place_of, watched_widget, watched_widgets
from qt_binding.mixin._roles import Function, ProcedureRole, Role, arity
from qt_binding.mixin._steady import Steady

logger = logging.getLogger(__name__)

DISABLED = Availability(available=False, reason="component-disabled")
GONE = Availability(available=False, reason="component-gone")
PREDICATE_FAILED = Availability(available=False, reason="when-error")


class Component:
    """What the binding knows of one component. Holds the object weakly and its functions not at all.

    Attributes:
        key: Names the component inside the binding.
        address: Of the object's C++ half.
        is_widget: Whether showing means anything for it.
        shown: Whether it was visible once; for what cannot be shown, from the beginning.
        surroundings: Where it was when last looked at.
        settled: Whether it still is there, so that the same events and docks are to be followed.
        unheard: Whether its own events are not listened to, because it is going to be looked at in this turn anyway.
        steady: The short way to push it, where that is open.
    """

    def __init__(
        self,
        key: int,
        target: QObject,
        behaviour: Behaviour,
        *,
        presentation: Presentation,
        make_followers: Callable[[], Followers],
        mark: Callable[[], None],
        prune: Callable[[], None],
    ) -> None:
        self.key = key
        self.address: int = shiboken6.getCppPointer(target)[0]
        self.is_widget = isinstance(target, QWidget)
        self.shown = not isinstance(target, QWidget) or target.isVisible()
        self.surroundings: Hashable = None
        self.settled = False
        self.unheard = False
        self.steady: Steady | None = None
        self._target = weakref.ref(target)
        self._handle: AgentComponentHandle = behaviour.handle
        self._name = ""
        self._presentation = presentation
        self._make_followers = make_followers
        self._mark = mark
        self._prune = prune
        self._pushed: Mapping[str, Availability] = {}
        self._followers: dict[str, Followers] = {}
        self._followed_place = 0
        self._registry: AgentSurfaceRegistry | None = None
        self._registration: RegistrationHandle | None = None
        self._identity: tuple[object, ...] = ()
        self._structure: tuple[object, ...] = ()
        self._refused = False
        self._arities: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The object's class and object name, for messages; of an object that is gone, what it last was."""
        target = self._target()
        if target is not None and is_alive(target):
            self._name = f"{type(target).__name__} ({target.objectName() or 'unnamed'})"
        return self._name

    @property
    def registry(self) -> AgentSurfaceRegistry | None:
        """Where it is registered or was refused."""
        return self._registry

    @property
    def handle(self) -> AgentComponentHandle:
        """What the application sees of it."""
        return self._handle

    @property
    def active(self) -> bool:
        """Whether it has a live registration."""
        return self._registration is not None and self._registration.status == "active"

    def target(self) -> QObject | None:
        """The living object."""
        target = self._target()
        return target if target is not None and is_alive(target) else None

    def find(self) -> tuple[QObject, Behaviour] | None:
        """The living object with its behaviour, or ``None`` when either half of the object is gone."""
        target = self.target()
        behaviour = None if target is None else find_behaviour(target)
        return None if target is None or behaviour is None else (target, behaviour)

    # -- registration --------------------------------------------------------------------------------------------

    def wants_registration(self, target: QObject, behaviour: Behaviour) -> bool:
        """Whether its moment has come: its first show, or attachment."""
        if self.shown or behaviour.option(target, "register_on") == "attach":
            return True
        self.shown = isinstance(target, QWidget) and target.isVisible()
        return self.shown

    def update(self, target: QObject, behaviour: Behaviour, registry: AgentSurfaceRegistry, glance: Glance) -> None:
        """Bring the registration in line with the object; inside a batch of ``registry``.

        Raises:
            AgentSurfaceDefinitionError: The binding differs from the contract of the program.
        """
        definition, told = behaviour.definition(target), behaviour.told(target)
        said = behaviour.structure(target, told)
        identity = (registry, definition.contract.type, said.pop("instance_id", OPTIONS["instance_id"]))
        structure = (definition.structure, behaviour.procedures, said)
        moved, changed = identity != self._identity, structure != self._structure
        active = self.active
        if active and not moved and not changed:
            self._push(target, behaviour, told, glance)
            return
        if active:
            if not moved and not definition.contract.partial and registry.environment == "development":
                logger.warning(
                    "%s changed what its registration is made of; it is registered again with a new id. Keep the "
                    "structure of a component static and put what changes into when, enabled and handlers",
                    self.name,
                )
            self.unregister()
        elif self._registration is not None and not self.active:
            self.unregister()
            self._refused = True  # the registry ended it: it closed, or gave the identity to another component
        if not self.active and (moved or changed or not self._refused):
            self._identity, self._structure, self._registry = identity, structure, registry
            self._register(target, behaviour, registry)
        if self.active:
            self._push(target, behaviour, told, glance)
        elif self._registration is None:
            self._follow_everything(target, behaviour, glance)  # one of the signals may tell of another identity

    def forget_refusal(self) -> None:
        """The reason for a refusal may have gone."""
        self._refused = False

    def unregister(self) -> None:
        """End the registration, if there is one."""
        registration, self._registration = self._registration, None
        for followers in self._followers.values():
            followers.clear()
        self._followers.clear()
        self._pushed = {}
        self.steady = None
        self.settled = False
        if registration is None:
            return
        if registration.status == "active":
            registration.unregister()
        self._handle.unregistered()

    def _register(self, target: QObject, behaviour: Behaviour, registry: AgentSurfaceRegistry) -> None:
        self._refused = True
        try:
            registration = registry.register(self._bind(target, behaviour))
        except AgentSurfaceError as error:
            self._handle.rejected(error)
            raise
        if registration.status == "rejected":
            _, component_type, instance_id = self._identity
            self._handle.rejected(
                ComponentRejectedError(
                    component=self.name, component_type=str(component_type), instance_id=str(instance_id)
                )
            )
            return
        self._refused = False
        self._registration = registration
        self._handle.registered(registration)

    def _bind(self, target: QObject, behaviour: Behaviour) -> BoundComponent:
        definition = behaviour.definition(target)
        contract = definition.contract
        return contract.bind(
            instance_id=cast("str", behaviour.option(target, "instance_id")),
            observations={
                name: ObservationBinding(read=self._caller(target, "observations", name, role), policies=role.policies)
                for name, role in definition.observations.items()
            },
            actions={
                name: ActionBinding(
                    execute=self._caller(target, "actions", name, role),
                    precondition=self._judge(name) if role.precondition is not None else None,
                    policies=role.policies,
                    thread=role.thread,
                )
                for name, role in definition.actions.items()
            },
            procedures=[self._bind_procedure(item) for item in behaviour.procedures],
            parent=cast("ComponentRef | None", behaviour.option(target, "parent")),
            internal=_mapping(behaviour.option(target, "internal")),
            policies=_policies(behaviour.option(target, "policies")),
            availability=self.availability,
        )

    # -- what the registry calls ---------------------------------------------------------------------------------

    def availability(self, capability_id: str) -> Availability:
        """Whether a capability can be used at this very moment."""
        found = self.find()
        if found is None:
            self._prune()
            return GONE
        target, behaviour = found
        role = _roles(target, behaviour).get(capability_id)
        if role is None:
            return GONE  # its handler was taken away since registration
        if not self.is_widget and place_of(target) != self._followed_place:
            self._mark()  # an object that is moved to another parent tells nobody
        self._follow(capability_id, target, role)
        told = behaviour.told(target)
        availability = self._judge_component(target, behaviour, told, self._presentation.of)
        if availability.available:
            availability = self._judge_role(target, behaviour, role)
        if role.follows is not None and self._pushed.get(capability_id, availability) != availability:
            self._mark()  # a signal was blocked; now that the change is known, it is announced
        return availability

    def _judge_component(
        self,
        target: QObject,
        behaviour: Behaviour,
        told: frozenset[str],
        presence_of: Callable[[QWidget], Availability],
    ) -> Availability:
        """Whether the component as a whole can be used now: its own switch, and what a person could reach."""
        try:
            if not behaviour.option(target, "enabled", told):
                return DISABLED
            if behaviour.option(target, "presented", told):
                return AVAILABLE
            watched = watched_widget(target)
            return AVAILABLE if watched is None else presence_of(watched)
        except Exception:
            logger.exception("what %s says of itself raised", self.name)
            return PREDICATE_FAILED

    def _judge_role(self, target: QObject, behaviour: Behaviour, role: Role) -> Availability:
        """Whether one capability can be used now: where a person would use it, and by the author's predicate."""
        try:
            if role.owner is not None and not behaviour.option(target, "presented"):
                owner = role.owner()
                if owner is None or not is_alive(owner):
                    return GONE
                place = watched_widget(owner)
                presence = AVAILABLE if place is None else self._presentation.of(place)
                if not presence.available:
                    return presence
            if role.is_available(target):
                return AVAILABLE
            return Availability(available=False, reason=role.unavailable_reason(target))
        except Exception:
            # Told to the agent as unavailable, and to the author in the log.
            logger.exception("a predicate or reason of %s raised", self.name)
            return PREDICATE_FAILED

    def _caller(self, target: QObject, kind: Literal["observations", "actions"], name: str, role: Role) -> Function:
        """The handler the registry gets: it finds the object and its function when it is called."""

        def find() -> Function:
            alive = self._require()
            roles: Mapping[str, Role] = getattr(alive[1].definition(alive[0]), kind)
            if name not in roles:
                raise _unmounted()  # what contributed it is gone
            return roles[name].find_handler(alive[0])

        def call(*arguments: object) -> object:
            function = find()
            return function(*arguments[: self._arity(function, len(arguments))])

        async def call_and_await(*arguments: object) -> object:
            outcome = call(*arguments)
            return await outcome if inspect.isawaitable(outcome) else outcome

        return call_and_await if inspect.iscoroutinefunction(role.find_handler(target)) else call

    def _arity(self, function: Function, most: int) -> int:
        """How many arguments ``function`` takes; its signature is looked at once."""
        plain = getattr(function, "__func__", function)
        try:
            known = self._arities.get(plain)
            if known is None:
                known = self._arities[plain] = arity(function, most)
        except TypeError:  # no weak reference to it is possible
            return arity(function, most)
        return known

    def _judge(self, name: str) -> Function:
        def precondition(*arguments: object) -> object:
            target, behaviour = self._require()
            role = behaviour.definition(target).actions.get(name)
            if role is None:
                raise _unmounted()
            return role.check_precondition(target, arguments)

        return precondition

    def _bind_procedure(self, role: ProcedureRole) -> ProcedureBinding:
        place = role.contract.id

        def current() -> ProcedureRole:
            _, behaviour = self._require()
            return next(item for item in behaviour.procedures if item.contract.id == place)

        def reader(field: str) -> Callable[[], JsonValue]:
            def read() -> JsonValue:
                return current().bind[field]()

            return read

        def describe() -> str:
            text = current().describe
            return text() if text is not None else ""

        return bind_procedure(
            role.contract,
            role.ref,
            bind={field: reader(field) for field in role.bind},
            overridable_fields=role.overridable_fields,
            describe=describe if role.describe is not None else None,
            confirmation=role.confirmation,
            policies=role.role.policies,
            concurrency=role.concurrency,
        )

    def _require(self) -> tuple[QObject, Behaviour]:
        found = self.find()
        if found is None:
            raise _unmounted()
        return found

    # -- pushing -------------------------------------------------------------------------------------------------

    def _push(self, target: QObject, behaviour: Behaviour, told: frozenset[str], glance: Glance) -> None:
        """Announce what has changed; the registry compares and bumps its version only if anything has."""
        registration = self._registration
        if registration is None:
            return
        roles = self._follow_everything(target, behaviour, glance)
        whole = self._judge_component(target, behaviour, told, glance.presence)
        if whole.available:
            vector = {name: self._judge_role(target, behaviour, role) for name, role in roles.items()}
        else:
            vector = dict.fromkeys(roles, whole)
        self._pushed = vector
        self.steady = self._find_steady(target, behaviour, told, registration, whole)
        registration.update(
            availability=self._push_procedures(registration, behaviour, vector) if behaviour.procedures else vector
        )

    def _find_steady(
        self,
        target: QObject,
        behaviour: Behaviour,
        told: frozenset[str],
        registration: RegistrationHandle,
        presence: Availability,
    ) -> Steady | None:
        definition, registry = behaviour.definition(target), self._registry
        if registry is None or not self.settled or not isinstance(target, QWidget):
            return None
        if not Steady.describes(behaviour, definition, told):
            return None
        return Steady(
            target,
            behaviour,
            address=self.address,
            told=told,
            instance_id=self._identity[-1],
            surroundings=self.surroundings,
            registry=registry,
            registration=registration,
            presence=presence,
            capabilities=definition.roles,
        )

    def _push_procedures(
        self, registration: RegistrationHandle, behaviour: Behaviour, vector: Mapping[str, Availability]
    ) -> Mapping[str, Availability]:
        """Push one at a time what the registry may not know; returns the rest."""
        procedures = [item.contract.id for item in behaviour.procedures]
        for capability_id in procedures:
            # The registry leaves out a reference that its executor cannot run, and then knows no such capability.
            try:
                registration.update(availability={capability_id: vector[capability_id]})
            except AgentSurfaceError:
                logger.debug("%s is not run by the installed executor", capability_id)
        return {name: availability for name, availability in vector.items() if name not in procedures}

    def _follow_everything(self, target: QObject, behaviour: Behaviour, glance: Glance) -> Mapping[str, Role]:
        """Follow what tells of a change; returns how each capability is handled at this moment."""
        if not self.is_widget:
            self._followed_place = place_of(target)
        if not self.settled:
            self._follow_presence(target, behaviour, glance)
        roles = _roles(target, behaviour)
        for capability_id, role in roles.items():
            if role.follows is not None:
                self._follow(capability_id, target, role)
        return roles

    def _follow(self, capability_id: str, target: QObject, role: Role) -> None:
        if role.follows is not None:
            owner = None if role.owner is None else role.owner()
            self._follow_all(capability_id, target if owner is None else owner, role.signals(target))

    def _follow_presence(self, target: QObject, behaviour: Behaviour, glance: Glance) -> None:
        """A dock that goes behind another tells nobody but its own signal; an action tells by ``changed``."""
        docks = [dock for place in watched_widgets(target, behaviour) for dock in glance.docks(place)]
        signals: list[Followed] = [dock.visibilityChanged for dock in docks]
        if isinstance(target, QAction):
            signals.append(target.changed)
        if signals or "" in self._followers:
            self._follow_all("", target, signals)

    def _follow_all(self, place: str, target: QObject, signals: list[Followed]) -> None:
        followers = self._followers.get(place)
        if followers is None:
            followers = self._followers[place] = self._make_followers()
        followers.follow(target, signals)


def _roles(target: QObject, behaviour: Behaviour) -> Mapping[str, Role]:
    """How each capability is handled at this moment. Not to be kept: through its functions it holds the component."""
    roles = behaviour.definition(target).roles
    if not behaviour.procedures:
        return roles
    return {**roles, **{item.contract.id: item.role for item in behaviour.procedures}}


def _unmounted() -> AgentCapabilityError:
    return capability_error(ErrorCode.COMPONENT_UNMOUNTED, details={"phase": "mid-flight"})


def _mapping(value: object) -> Mapping[str, object]:
    return dict(cast("Mapping[str, object]", value)) if value else {}


def _policies(value: object) -> tuple[AgentPolicy, ...]:
    return tuple(cast("tuple[AgentPolicy, ...]", value or ()))
