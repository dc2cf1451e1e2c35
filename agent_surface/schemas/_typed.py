"""Schemas from pydantic models and from Python types."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, TypeVar, cast, get_args, overload

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic_core import ErrorDetails, PydanticSerializationError
from pydantic_core.core_schema import ErrorType

from agent_surface._base._json import JsonValue, compact_json
from agent_surface.errors import AgentSchemaError, AgentSurfaceDefinitionError, DefinitionErrorCode, SchemaIssue
from agent_surface.schemas._checker import SchemaChecker
from agent_surface.schemas._issues import make_issues, shorten
from agent_surface.schemas._publish import publish_schema
from agent_surface.schemas._schema import AgentSchema, freeze_schema
from agent_surface.schemas._subset import check_schema_subset
from agent_surface.schemas._type_guard import check_core_schema
from agent_surface.schemas._whole_numbers import with_whole_numbers

ModelT = TypeVar("ModelT", bound=BaseModel)
T = TypeVar("T")


def from_model(model: type[ModelT]) -> AgentSchema[ModelT]:
    """An ``AgentSchema`` from a pydantic model; handlers receive an instance of it.

    The published schema decides what is accepted; pydantic then reads the value in strict JSON mode and runs the
    validators of the model. Defaults apply.

    Args:
        model: A model whose JSON Schema lies in the supported subset.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; the subset cannot say what the model accepts.
    """
    adapter = _adapt(model)

    def write(value: object) -> object:
        return _write(adapter, value) if isinstance(value, model) else value

    return _make(adapter, write)


@overload
def from_type(tp: type[T]) -> AgentSchema[T]: ...
@overload
def from_type(tp: object) -> AgentSchema[object]: ...
def from_type(tp: object) -> AgentSchema[object]:
    """An ``AgentSchema`` from anything a pydantic ``TypeAdapter`` takes, such as ``list[Device]`` or a ``TypedDict``.

    Args:
        tp: A type whose JSON Schema lies in the supported subset.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; the subset cannot say what the type accepts.
    """
    adapter = _adapt(tp)
    return _make(adapter, lambda value: _write(adapter, value))


_LOGGER: Final = logging.getLogger("agent_surface.schemas")
_AUTHOR_ERRORS: Final = frozenset({"value_error", "assertion_error"})
_BUILT_IN_ERRORS: Final = frozenset(get_args(ErrorType)) - _AUTHOR_ERRORS
_REFUSED: Final = "is not accepted"


def _adapt(tp: object) -> TypeAdapter[object]:
    try:
        adapter: TypeAdapter[object] = TypeAdapter(tp)  # pyright: ignore[reportArgumentType] - special forms are fine
        adapter.rebuild(raise_errors=True)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"pydantic cannot make a schema of it: {error.message}"
        ) from error
    return adapter


def _make(adapter: TypeAdapter[T], write: Callable[[object], object]) -> AgentSchema[T]:
    author_validates = check_core_schema(adapter.core_schema)
    json_schema = freeze_schema(publish_schema(adapter))
    check_schema_subset(json_schema)
    checker = SchemaChecker(json_schema)

    def read(value: JsonValue) -> T:
        return _read(adapter, with_whole_numbers(value, checker), author_validates=author_validates)

    return AgentSchema(json_schema, checker, read=read, write=write)


def _read(adapter: TypeAdapter[T], value: JsonValue, *, author_validates: bool) -> T:
    try:
        # JSON mode, because only it reads dates, UUIDs, enums and sets from what JSON has for them.
        return adapter.validate_json(compact_json(value), strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    except Exception as error:
        # A validator of the application failed; the value stays unaccepted and the application's log says why.
        _LOGGER.exception("a validator of an input schema raised something else than ValueError")
        raise AgentSchemaError([SchemaIssue(path="", message=_REFUSED)]) from error
    if not author_validates and any(detail["type"] in _BUILT_IN_ERRORS for detail in details):
        _LOGGER.error(
            "defect: pydantic refused (%s) what the published schema accepts",
            ", ".join(sorted({detail["type"] for detail in details})),
        )
    raise AgentSchemaError(make_issues([(_location(detail["loc"], value), _message(detail)) for detail in details]))


def _message(detail: ErrorDetails) -> str:
    """An author's own words as they are; in place of pydantic's, which name types and quote values, ours."""
    if detail["type"] in _BUILT_IN_ERRORS:
        return _REFUSED
    if detail["type"] in _AUTHOR_ERRORS:
        reason = str(detail.get("ctx", {}).get("error", ""))
        return shorten(reason) or _REFUSED
    return shorten(detail["msg"]) or _REFUSED


def _location(location: tuple[int | str, ...], value: JsonValue) -> tuple[int | str, ...]:
    """The part of pydantic's location that is a path in the value: it also names union members and functions."""
    path: list[int | str] = []
    current = value
    for part in location:
        if isinstance(part, str) and isinstance(current, dict) and part in current:
            current = current[part]
        elif isinstance(part, int) and isinstance(current, list) and 0 <= part < len(current):
            current = current[part]
        else:
            continue
        path.append(part)
    return tuple(path)


def _write(adapter: TypeAdapter[object], value: object) -> object:
    """What ``value`` is in JSON; ``value`` itself when it is not of the adapter's type, for the caller to judge."""
    try:
        return cast("object", adapter.dump_python(value, mode="json", by_alias=True, warnings="error"))
    except PydanticSerializationError:
        return value
    except Exception:
        _LOGGER.exception("a serializer of an output schema failed")
        return value
