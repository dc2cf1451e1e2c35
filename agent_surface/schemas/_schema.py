"""``AgentSchema``: what an agent is told about a value, and the parser that holds it to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Generic, TypeVar, cast

from agent_surface._base._json import JsonSchema, JsonValue, NotJsonError, check_json, freeze_json, thaw_json
from agent_surface.errors import (
    AgentSchemaError,
    AgentSurfaceDefinitionError,
    DefinitionErrorCode,
    SchemaIssue,
)
from agent_surface.schemas._checker import SchemaChecker
from agent_surface.schemas._reduce import takes_object
from agent_surface.schemas._subset import check_schema_subset

T_co = TypeVar("T_co", covariant=True)


class AgentSchema(Generic[T_co]):
    """A JSON Schema in the supported subset, paired with a parser that accepts nothing the schema refuses.

    Made by ``from_json_schema``, ``from_model`` and ``from_type``; compares by identity.
    """

    __slots__ = ("_checker", "_json_schema", "_python_type", "_read", "_write")

    def __init__(
        self,
        json_schema: JsonSchema,
        checker: SchemaChecker,
        *,
        read: Callable[[JsonValue], T_co],
        write: Callable[[object], object],
        python_type: object = None,
    ) -> None:
        """Use the ``from_*`` functions.

        Args:
            json_schema: Frozen, and known to be in the subset.
            checker: Checks values against ``json_schema``.
            read: Turns a JSON value that satisfies the schema into what a handler receives.
            write: Turns what a handler returned into JSON, if it can.
            python_type: What handlers receive and return, as an annotation; ``None`` for plain JSON.
        """
        self._json_schema = json_schema
        self._checker = checker
        self._read = read
        self._write = write
        self._python_type = python_type

    @property
    def python_type(self) -> object:
        """What handlers receive and return, as an annotation; ``None`` for plain JSON."""
        return self._python_type

    @property
    def json_schema(self) -> JsonSchema:
        """The agent's view; frozen."""
        return self._json_schema

    @property
    def takes_object(self) -> bool:
        """Whether the root accepts objects and nothing else, directly or through one ``$ref``."""
        return takes_object(self._json_schema)

    def parse(self, value: object) -> T_co:
        """Read a value that came from an agent. Nothing is coerced.

        Args:
            value: A mutable JSON value; not changed and, for a raw JSON Schema, returned as it is.

        Raises:
            AgentSchemaError: ``value`` is no JSON value or does not satisfy the schema; the issues are safe to show.
        """
        try:
            plain = check_json(value)
        except NotJsonError as error:
            raise AgentSchemaError([SchemaIssue(path=error.path, message=f"must be JSON: {error.reason}")]) from None
        return self.parse_json(plain)

    def parse_json(self, plain: JsonValue) -> T_co:
        """Like :meth:`parse`, for a value that is known to be JSON, such as what ``thaw_json`` returns.

        Args:
            plain: A mutable JSON value; not changed and, for a raw JSON Schema, returned as it is.

        Raises:
            AgentSchemaError: ``plain`` does not satisfy the schema; the issues are safe to show.
        """
        issues = self._checker.issues(plain)
        if issues:
            raise AgentSchemaError(issues)
        return self._read(plain)

    def dump(self, value: object) -> JsonValue:
        """Turn what a handler returned into plain JSON and hold it to the schema.

        Args:
            value: A value of the schema's Python type, or JSON.

        Raises:
            NotJsonError: What came out is no JSON value.
            AgentSchemaError: What came out does not satisfy the schema.
        """
        plain = check_json(self._write(value))
        issues = self._checker.issues(plain)
        if issues:
            raise AgentSchemaError(issues)
        return plain


def from_json_schema(schema: Mapping[str, object]) -> AgentSchema[JsonValue]:
    """An ``AgentSchema`` from a raw JSON Schema; handlers receive plain JSON.

    Args:
        schema: A document in the supported subset. Its ``default`` values are annotations and are not applied.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA`` with the path of what is outside the subset.
    """
    frozen = freeze_schema(schema)
    check_schema_subset(frozen)
    return AgentSchema(frozen, SchemaChecker(frozen), read=_as_it_is, write=_as_it_is)


def freeze_schema(schema: Mapping[str, object]) -> JsonSchema:
    """A frozen copy of a schema document.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; it is no JSON object.
    """
    try:
        # Copied even if it looks frozen: whoever made the proxy may still hold the dict behind it.
        frozen = freeze_json(thaw_json(cast("JsonSchema", schema)) if isinstance(schema, MappingProxyType) else schema)
    except NotJsonError as error:
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"a schema has to be JSON; {error}", path=error.path
        ) from None
    if not isinstance(frozen, Mapping):
        raise AgentSurfaceDefinitionError(DefinitionErrorCode.UNSUPPORTED_SCHEMA, "a schema has to be an object")
    return frozen


def _as_it_is(value: object) -> JsonValue:
    return cast("JsonValue", value)


EMPTY_OBJECT_SCHEMA: Final[AgentSchema[JsonValue]] = from_json_schema(
    {"type": "object", "properties": {}, "additionalProperties": False}
)
"""Takes ``{}`` and nothing else: for actions without input."""
