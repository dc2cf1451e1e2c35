"""Schemas from pydantic models and from Python types."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast, get_args

# pydantic loads its modules on first use. PySide6's import hook reads the source of each module imported after it and
# trips over half-loaded ones ("cannot import name 'import_string'"), so the last ones are loaded before Qt can be: not
# for this module, but for the application's own `from pydantic import Field`.
import pydantic.errors  # pyright: ignore[reportUnusedImport]  # first: what the others need while half loaded
import pydantic.fields  # noqa: F401  # pyright: ignore[reportUnusedImport]
from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic_core import ErrorDetails, PydanticSerializationError
from pydantic_core.core_schema import ErrorType
from typing_extensions import TypeForm

from agent_surface._base._json import JsonSchema, JsonValue, compact_json, json_pointer, thaw_json
from agent_surface.errors import AgentSchemaError, AgentSurfaceDefinitionError, DefinitionErrorCode, SchemaIssue
from agent_surface.schemas._checker import SchemaChecker
from agent_surface.schemas._conversions import with_ordered_sets, with_whole_numbers
from agent_surface.schemas._issues import make_issues, shorten
from agent_surface.schemas._publish import publish_schema, without_marks
from agent_surface.schemas._schema import AgentSchema, freeze_schema
from agent_surface.schemas._subset import check_schema_subset, subschemas
from agent_surface.schemas._type_guard import check_core_schema

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
    return _make(_adapt(model), lambda value: isinstance(value, model), python_type=model)


def from_type(tp: TypeForm[T]) -> AgentSchema[T]:
    """An ``AgentSchema`` from anything a pydantic ``TypeAdapter`` takes, such as ``list[Device]`` or a ``TypedDict``.

    Args:
        tp: A type whose JSON Schema lies in the supported subset.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; the subset cannot say what the type accepts.
    """
    return _make(_adapt(tp), lambda _value: True, python_type=tp)


_LOGGER: Final = logging.getLogger("agent_surface.schemas")
_AUTHOR_ERRORS: Final = frozenset({"value_error", "assertion_error"})
_BUILT_IN_ERRORS: Final = frozenset(get_args(ErrorType)) - _AUTHOR_ERRORS
_REFUSED: Final = "is not accepted"


def _adapt(tp: TypeForm[T]) -> TypeAdapter[T]:
    try:
        adapter: TypeAdapter[T] = TypeAdapter(tp)
        adapter.rebuild(raise_errors=True)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"pydantic cannot make a schema of it: {error.message}"
        ) from error
    except ImportError as error:  # pydantic's EmailStr without the package it needs
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.UNSUPPORTED_SCHEMA, "EmailStr accepts less than format email says; use str"
        ) from error
    return adapter


def _make(adapter: TypeAdapter[T], is_typed: Callable[[object], bool], *, python_type: object) -> AgentSchema[T]:
    author_validates = check_core_schema(adapter.core_schema)
    marked = publish_schema(adapter)
    published = cast("dict[str, object]", without_marks(marked))
    json_schema = freeze_schema(published)
    check_schema_subset(json_schema)
    # The marks mean nothing to the validator.
    checker = SchemaChecker(freeze_schema(marked))
    has_sets = published != marked
    _check_defaults(json_schema, checker)

    def read(value: JsonValue) -> T:
        return _read(adapter, with_whole_numbers(value, checker), author_validates=author_validates)

    def write(value: object) -> object:
        written = _write(adapter, value) if is_typed(value) else value
        return with_ordered_sets(written, checker) if has_sets else written

    return AgentSchema(json_schema, checker, read=read, write=write, python_type=python_type)


def _check_defaults(json_schema: JsonSchema, checker: SchemaChecker) -> None:
    """Pydantic takes any default; one that its own type refuses would make every call without the field fail."""
    definitions = cast("Mapping[str, JsonSchema]", json_schema.get("$defs", {}))
    pending: list[tuple[tuple[str | int, ...], Mapping[str, object]]] = [
        ((), json_schema),
        *((("$defs", name), definition) for name, definition in definitions.items()),
    ]
    while pending:
        path, schema = pending.pop()
        pending.extend(((*path, *steps), inner) for steps, inner in subschemas(schema))
        if "default" in schema:
            found = cast("JsonSchema", schema)
            if not checker.fits(thaw_json(found["default"]), found):
                pointer = json_pointer((*path, "default"))
                raise AgentSurfaceDefinitionError(
                    DefinitionErrorCode.UNSUPPORTED_SCHEMA,
                    f"at {pointer}: the default is no value of its own type",
                    path=pointer,
                )


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
    # The other branches of a union complain too, about a value that was not meant for them.
    authors = [detail for detail in details if detail["type"] not in _BUILT_IN_ERRORS]
    if not authors and not author_validates:
        _LOGGER.error(
            "defect: pydantic refused (%s) what the published schema accepts",
            ", ".join(sorted({detail["type"] for detail in details})),
        )
    raise AgentSchemaError(
        make_issues({(_location(detail["loc"], value), _message(detail)) for detail in authors or details})
    )


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
    current: JsonValue = value
    for part in location:
        match current, part:
            case dict(), str() if part in current:
                current = current[part]
            case list(), int() if 0 <= part < len(current):
                current = current[part]
            case _:
                continue
        path.append(part)
    return tuple(path)


def _write(adapter: TypeAdapter[T], value: object) -> object:
    """What ``value`` is in JSON; ``value`` itself when it is not of the adapter's type, for the caller to judge."""
    try:
        return cast("object", adapter.dump_python(cast("T", value), mode="json", by_alias=True, warnings="error"))
    except PydanticSerializationError:
        return value
    except Exception:
        _LOGGER.exception("a serializer of an output schema failed")
        return value
