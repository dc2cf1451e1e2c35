"""What every declaration must satisfy when it is made (AS-DEF-001)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar, cast

from agent_surface._base._json import FrozenJson, NotJsonError, freeze_json, json_bytes
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.policies import PolicyAttachment
from agent_surface.schemas import AgentSchema

DEFAULT_LIMITS = AgentSurfaceLimits()
NO_META: Mapping[str, FrozenJson] = MappingProxyType({})

MemberT = TypeVar("MemberT")
EnumT = TypeVar("EnumT", bound=StrEnum)


def definition_error(
    message: str,
    *,
    subject: str = "",
    path: str = "",
    code: DefinitionErrorCode = DefinitionErrorCode.INVALID_DEFINITION,
) -> AgentSurfaceDefinitionError:
    """An error of the author of ``subject``."""
    return AgentSurfaceDefinitionError(code, message, subject=subject, path=path)


def check_description(description: object, limit: int, subject: str) -> str:
    """A non-empty description of at most ``limit`` characters."""
    if not isinstance(description, str) or not description.strip():
        raise definition_error(f"{subject} needs a non-empty description", subject=subject, path="description")
    if len(description) > limit:
        raise definition_error(
            f"the description of {subject} has {len(description)} characters; the limit is {limit}",
            subject=subject,
            path="description",
            code=DefinitionErrorCode.LIMIT_EXCEEDED,
        )
    return description


def check_meta(meta: Mapping[str, object] | None, limit_bytes: int, subject: str) -> Mapping[str, FrozenJson]:
    """A JSON object of at most ``limit_bytes`` in its compact form, frozen."""
    if not meta:
        return NO_META
    try:
        # What is made of a dict is a mapping.
        frozen = cast("Mapping[str, FrozenJson]", freeze_json(dict(meta)))
    except NotJsonError as error:
        raise definition_error(f"meta of {subject} is no JSON: {error}", subject=subject, path="meta") from error
    check_meta_size(frozen, limit_bytes, subject)
    return frozen


def check_meta_size(meta: Mapping[str, FrozenJson], limit_bytes: int, subject: str) -> None:
    """At most ``limit_bytes`` in the compact form."""
    size_bytes = json_bytes(meta)
    if size_bytes > limit_bytes:
        raise definition_error(
            f"meta of {subject} has {size_bytes} bytes; the limit is {limit_bytes}",
            subject=subject,
            path="meta",
            code=DefinitionErrorCode.LIMIT_EXCEEDED,
        )


def check_timeout(timeout_ms: int | None, subject: str) -> int | None:
    """``None``, or a positive number of milliseconds."""
    if timeout_ms is None:
        return None
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int) or timeout_ms < 1:
        raise definition_error(
            f"timeout_ms of {subject} must be a positive integer", subject=subject, path="timeout_ms"
        )
    return timeout_ms


def check_origin(origin: object, subject: str) -> str:
    """A non-empty text that says who contributes something."""
    if not isinstance(origin, str) or not origin.strip():
        raise definition_error(f"origin of {subject} must be a non-empty string", subject=subject, path="origin")
    return origin


def check_tags(tags: Iterable[str], subject: str) -> tuple[str, ...]:
    """Tags as sorted, unique, non-empty texts."""
    found = tuple(tags) if not isinstance(tags, str) else ()
    if isinstance(tags, str) or not all(isinstance(tag, str) and tag for tag in found):
        raise definition_error(f"tags of {subject} must be non-empty strings", subject=subject, path="tags")
    return tuple(sorted(set(found)))


def check_attachments(policies: Iterable[PolicyAttachment], subject: str) -> tuple[PolicyAttachment, ...]:
    """Policy attachments with JSON parameters, in the order given."""
    checked: list[PolicyAttachment] = []
    for attachment in policies:
        if not isinstance(attachment, PolicyAttachment) or not attachment.name:
            raise definition_error(
                f"policies of {subject} must be named PolicyAttachment values; policy objects belong into the binding",
                subject=subject,
                path="policies",
            )
        unknown = set(attachment.phases) - {"discovery", "authorize", "invoke"}
        if unknown or not attachment.phases:
            raise definition_error(
                f"policy attachment {attachment.name!r} of {subject} names no known phase",
                subject=subject,
                path="policies",
            )
        checked.append(
            PolicyAttachment(
                name=attachment.name,
                phases=tuple(sorted(set(attachment.phases))),
                parameters=check_meta(dict(attachment.parameters), DEFAULT_LIMITS.max_meta_bytes, subject),
            )
        )
    return tuple(checked)


def require_schema(schema: object, field: str, subject: str) -> None:
    """``schema`` was made by one of the library's constructors."""
    if not isinstance(schema, AgentSchema):
        raise definition_error(
            f"{field} of {subject} must be made by from_model, from_type or from_json_schema, "
            f"not {type(schema).__name__}",
            subject=subject,
            path=field,
        )


def require_object_input(schema: AgentSchema[MemberT], subject: str) -> None:
    """The input schema of an action or procedure has an object at its root."""
    if not schema.takes_object:
        raise definition_error(f"the input of {subject} must be an object", subject=subject, path="input")


def require_member(value: str, kind: type[EnumT], field: str, subject: str) -> EnumT:
    """``value`` as a member of a closed set, from the member itself or its text."""
    try:
        return kind(value)
    except ValueError:
        raise definition_error(f"{field} of {subject} cannot be {value!r}", subject=subject, path=field) from None
