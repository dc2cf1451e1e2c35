"""Capability ids and the texts they are made of.

::

    capability-id   = plane ":" component-type "." capability-name       plane view
                    = plane ":" procedure-path                           plane domain
    component-type  = segment *( "." segment )
    segment         = lowercase *( lowercase / digit / "-" )
    capability-name = lowercase *( letter / digit )
    instance-id     = 1*( letter / digit / "-" / "_" )

Letters and digits are ASCII. No id is longer than 128 characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode

PlaneName: TypeAlias = Literal["view", "domain"]
"""The text before the colon: ``view`` for the user interface, ``domain`` for the back end."""

MAX_ID_LENGTH: Final = 128
"""How many characters a capability id, component type or instance id may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityId:
    """A parsed capability id. Made by ``parse_capability_id`` and ``find_capability_id``.

    Attributes:
        plane: ``view`` or ``domain``.
        component_type: The component's type; empty in the domain plane.
        name: The capability's name, or the procedure path in the domain plane.
    """

    plane: PlaneName
    component_type: str
    name: str

    @property
    def text(self) -> str:
        """The id as it was written."""
        if self.plane == "domain":
            return f"domain:{self.name}"
        return f"view:{self.component_type}.{self.name}"


def find_capability_id(text: object) -> CapabilityId | None:
    """Read a capability id, or ``None`` when ``text`` is none.

    There is one reading: the plane ends at the first colon, a view capability's name follows the last dot.
    """
    if not isinstance(text, str) or len(text) > MAX_ID_LENGTH:
        return None
    match = _VIEW_ID.fullmatch(text)
    if match is not None:
        return CapabilityId(plane="view", component_type=match[1], name=match[2])
    if len(text) > len(_DOMAIN) and text.startswith(_DOMAIN) and _SURROGATE.search(text) is None:
        return CapabilityId(plane="domain", component_type="", name=text[len(_DOMAIN) :])
    return None


def parse_capability_id(text: object) -> CapabilityId:
    """Read a capability id that an author wrote.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; the message names the text.
    """
    found = find_capability_id(text)
    if found is None:
        raise _invalid("capability id", text, "write view:<component-type>.<capabilityName> or domain:<path>")
    return found


def format_view_capability_id(component_type: str, name: str) -> str:
    """The id of the view capability ``name`` of components of ``component_type``.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``, for either part or when the id would be too long.
    """
    text = f"view:{require_component_type(component_type)}.{require_capability_name(name)}"
    if len(text) > MAX_ID_LENGTH:
        raise _invalid("capability id", text, f"use at most {MAX_ID_LENGTH} characters")
    return text


def procedure_path(capability_id: str) -> str:
    """The path a procedure's id carries after ``domain:``; opaque and not empty.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; not an id of the domain plane.
    """
    return require_procedure_id(capability_id)[len(_DOMAIN) :]


def require_component_type(text: object) -> str:
    """``text`` when it is a component type such as ``devices.table``.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; the message names the text.
    """
    if isinstance(text, str) and len(text) <= MAX_ID_LENGTH and _COMPONENT_TYPE.fullmatch(text):
        return text
    raise _invalid("component type", text, "use dot-separated segments of a-z, 0-9 and -, each starting with a letter")


def require_capability_name(text: object) -> str:
    """``text`` when it is a capability name such as ``selectRows``.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; the message names the text.
    """
    if isinstance(text, str) and len(text) <= MAX_ID_LENGTH and _CAPABILITY_NAME.fullmatch(text):
        return text
    raise _invalid("capability name", text, "use camelCase letters and digits, starting with a lowercase letter")


def require_instance_id(text: object) -> str:
    """``text`` when it is an instance id such as ``main``.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; the message names the text.
    """
    if isinstance(text, str) and _INSTANCE_ID.fullmatch(text):
        return text
    raise _invalid("instance id", text, f"use 1 to {MAX_ID_LENGTH} letters, digits, - and _")


def require_procedure_id(text: object) -> str:
    """``text`` when it is the id of a procedure, ``domain:<path>``.

    Raises:
        AgentSurfaceDefinitionError: ``INVALID_ID``; the message names the text.
    """
    found = find_capability_id(text)
    if found is None or found.plane != "domain":
        raise _invalid("procedure id", text, f"write domain:<path>, at most {MAX_ID_LENGTH} characters")
    return found.text


_DOMAIN: Final = "domain:"
_TYPE_PATTERN: Final = r"[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)*"
_NAME_PATTERN: Final = r"[a-z][a-zA-Z0-9]*"
_COMPONENT_TYPE: Final = re.compile(_TYPE_PATTERN)
_CAPABILITY_NAME: Final = re.compile(_NAME_PATTERN)
_VIEW_ID: Final = re.compile(rf"view:({_TYPE_PATTERN})\.({_NAME_PATTERN})")
_INSTANCE_ID: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_ID_LENGTH}}}")
# A path is opaque, but it has to survive being written as UTF-8.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SHOWN_LENGTH: Final = 60


def _invalid(noun: str, text: object, advice: str) -> AgentSurfaceDefinitionError:
    shown = _shown(text)
    return AgentSurfaceDefinitionError(
        DefinitionErrorCode.INVALID_ID, f"{shown} is not a valid {noun}; {advice}", subject=shown
    )


def _shown(text: object) -> str:
    """A short, printable rendering: the text may come from anywhere."""
    if not isinstance(text, str):
        return f"a value of type {type(text).__name__}"
    return ascii(text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "...")
