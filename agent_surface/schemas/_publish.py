"""The JSON Schema that is published for a pydantic type: pydantic's own, brought into the supported subset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import PydanticInvalidForJsonSchema, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema
from typing_extensions import override

from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode


def publish_schema(adapter: TypeAdapter[Any]) -> dict[str, object]:
    """The JSON Schema of what ``adapter`` accepts, without generated titles, tagged unions as ``anyOf``.

    Arrays that are sets in Python carry ``SET_MARK``, for ``without_marks`` to take away.

    Raises:
        AgentSurfaceDefinitionError: ``UNSUPPORTED_SCHEMA``; the type has no JSON Schema.
    """
    try:
        document = adapter.json_schema(by_alias=True, schema_generator=_Generator, mode="validation")
    except PydanticInvalidForJsonSchema as error:
        raise AgentSurfaceDefinitionError(
            DefinitionErrorCode.UNSUPPORTED_SCHEMA, f"a type in it has no JSON form: {error.message}"
        ) from error
    return _TagRequirer(document).run()


def without_marks(node: object) -> object:
    """A copy of a published schema without ``SET_MARK``."""
    if isinstance(node, list):
        return [without_marks(item) for item in cast("list[object]", node)]
    if isinstance(node, dict):
        entries = cast("dict[str, object]", node)
        return {name: without_marks(item) for name, item in entries.items() if name != SET_MARK}
    return node


SET_MARK: Final = "x-agent-surface-set"
"""Marks an array that is a set in Python."""

# Marks a tagged union between generation and the pass over the finished document; never published.
_TAG_MARK: Final = "x-agent-surface-tag"


class _Generator(GenerateJsonSchema):
    # What cannot be written as a default is left out: defaults are annotations.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - declared so by pydantic, never changed
        "skipped-choice",
        "non-serializable-default",
        "skipped-discriminator",
    }

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _untitled(super().model_schema(schema), schema["cls"], schema["cls"].model_config)

    @override
    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        cls = schema["cls"]
        return _untitled(super().dataclass_schema(schema), cls, getattr(cls, "__pydantic_config__", None))

    @override
    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        cls = schema.get("cls")
        return _untitled(super().typed_dict_schema(schema), cls, getattr(cls, "__pydantic_config__", None))

    @override
    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        document = super().generate_inner(schema)
        if schema["type"] == "enum":
            # The title of an enumeration is set by its own hook, after every method that could be overridden.
            self.resolve_ref_schema(document).pop("title", None)
        return document

    @override
    def set_schema(self, schema: core_schema.SetSchema) -> JsonSchemaValue:
        return {**super().set_schema(schema), SET_MARK: True}

    @override
    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonSchemaValue:
        return {**super().frozenset_schema(schema), SET_MARK: True}

    @override
    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        union = super().tagged_union_schema(schema)
        result: JsonSchemaValue = {"anyOf": union["oneOf"]}
        if "discriminator" in union:
            result[_TAG_MARK] = union["discriminator"]["propertyName"]
        return result


def _untitled(document: JsonSchemaValue, cls: type[Any] | None, config: Mapping[str, object] | None) -> JsonSchemaValue:
    """Without the title pydantic takes from the name of the class; one the author chose stays."""
    extra = (config or {}).get("json_schema_extra")
    chosen = (config or {}).get("title") or (isinstance(extra, Mapping) and "title" in extra)
    if cls is not None and not chosen and document.get("title") == cls.__name__:
        del document["title"]
    return document


class _TagRequirer:
    """Makes the tag of a tagged union required in each branch: pydantic needs it there even if it has a default."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def run(self) -> dict[str, object]:
        return cast("dict[str, object]", self._rewrite(self._document))

    def _rewrite(self, node: object) -> object:
        if isinstance(node, list):
            return [self._rewrite(item) for item in cast("list[object]", node)]
        if not isinstance(node, dict):
            return node
        rewritten = {key: self._rewrite(value) for key, value in cast("dict[str, object]", node).items()}
        tag = rewritten.pop(_TAG_MARK, None)
        if isinstance(tag, str):
            branches = cast("list[dict[str, Any]]", rewritten["anyOf"])
            rewritten["anyOf"] = [self._with_required(branch, tag) for branch in branches]
        return rewritten

    def _with_required(self, branch: dict[str, Any], tag: str) -> dict[str, Any]:
        if tag in self._target(branch).get("required", ()):
            return branch
        return {**branch, "required": [*branch.get("required", ()), tag]}

    def _target(self, branch: dict[str, Any]) -> dict[str, Any]:
        reference = branch.get("$ref")
        if not isinstance(reference, str):
            return branch
        name = reference.rpartition("/")[2]
        return cast("dict[str, Any]", self._document.get("$defs", {}).get(name, {}))
