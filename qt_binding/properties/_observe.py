"""Properties of one Qt object as an observation."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches

import shiboken6
from PySide6.QtCore import QMetaProperty, QObject
from PySide6.QtWidgets import QLineEdit

from agent_surface import AgentPolicy, AgentSurfaceDefinitionError, DefinitionErrorCode, JsonValue
from qt_binding._values import flag_names, json_of
from qt_binding.mixin import Role, observing

_TYPED = frozenset({"text", "selectedText"})
"""Properties of a line of input that tell what was typed, also where it is not shown."""


def observe_properties(
    target: QObject,
    *names: str,
    when: Callable[[], bool] | None = None,
    reason: Callable[[], str] | str | None = None,
    policies: Iterable[AgentPolicy] = (),
) -> Role:
    """The reader of an observation for ``attach_agent_component``: properties of a Qt object by their names.

    It returns an object with one field for each property. It is held to the schema you declare; none is made up for
    you. Qt's enumerations are told by name and flags as a list of names; dates and times are ISO 8601, colours
    ``#rrggbb``, addresses text without a password, points, sizes and rectangles objects. What has no JSON form, such
    as a font, a picture or bytes, is refused here, or when it turns up in a property of no particular type; so is what
    somebody typed into a field that does not show it, such as a password.

    While ``target`` is not presented, as on a tab that is not selected, the observation is unavailable.

    Args:
        target: Any Qt object; the component or a part of it.
        names: Properties its class declares, as Qt writes them: ``"value"``, ``"currentText"``.
        when: Whether they can be read now. It is asked again whenever one of them notifies.
        reason: What the agent is told when they cannot.
        policies: Guards of this capability alone.

    Raises:
        AgentSurfaceDefinitionError: No property is named; the class has none of that name (its likes are named), or it
            cannot be read, or holds what has no JSON form.
    """
    if not names:
        raise _error("name at least one property", type(target).__name__)
    properties = {name: _require_property(target, name) for name in names}
    for name, found in properties.items():
        _check(target, name, found)

    def read() -> dict[str, JsonValue]:
        return {name: _read(target, name, found) for name, found in properties.items()}

    notifying = [f"property:{name}" for name, found in properties.items() if found.hasNotifySignal()]
    role = observing(read, when=when, reason=reason, follows=notifying if when is not None else None, policies=policies)
    return replace(role, owner=weakref.ref(target))


def _require_property(target: QObject, name: str) -> QMetaProperty:
    meta = target.metaObject()
    index = meta.indexOfProperty(name)
    if index < 0:
        known = [meta.property(place).name() for place in range(meta.propertyCount())]
        likes = get_close_matches(name, known, n=3)
        hint = f"; it has {', '.join(map(repr, likes))}" if likes else ""
        raise _error(f"{meta.className()} has no property {name!r}{hint}", name)
    found = meta.property(index)
    if not found.isReadable():
        raise _error(f"the property {name!r} of {meta.className()} cannot be read", name)
    return found


def _check(target: QObject, name: str, found: QMetaProperty) -> None:
    """A property of a certain type holds that type now too, so its value tells whether there is a JSON form."""
    value = found.read(target)
    if isinstance(value, float):
        return  # not a number just now, or beyond all bounds
    try:
        _converted(target, name, found, value)
    except TypeError as error:
        raise _error(f"{error}; observe another property of {type(target).__name__}", name) from None


def _read(target: QObject, name: str, found: QMetaProperty) -> JsonValue:
    if not shiboken6.isValid(target):
        raise RuntimeError(f"the object with the property {name!r} is gone")
    return _converted(target, name, found, found.read(target))


def _converted(target: QObject, name: str, found: QMetaProperty, value: object) -> JsonValue:
    if name in _TYPED and isinstance(target, QLineEdit) and target.echoMode() != QLineEdit.EchoMode.Normal:
        raise TypeError(f"the property {name!r} holds a secret, which is not for an agent")
    return flag_names(value) if found.isFlagType() else json_of(value, f"the property {name!r}")


def _error(message: str, subject: str) -> AgentSurfaceDefinitionError:
    return AgentSurfaceDefinitionError(
        DefinitionErrorCode.INVALID_DEFINITION, message, subject=subject, path="properties"
    )
