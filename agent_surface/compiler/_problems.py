"""Why a compilation is incomplete: one value for each place that has to change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override

from agent_surface._base._json import JsonValue
from agent_surface.errors import AgentSurfaceError


class ProblemCode(StrEnum):
    """The stable reasons for which a compilation is incomplete."""

    ENTRY_POINT_MISSING = "entry-point-missing"
    SYNTAX_ERROR = "syntax-error"
    DYNAMIC_IMPORT = "dynamic-import"
    INSIDE_FUNCTION = "inside-function"
    INSIDE_CLASS = "inside-class"
    INSIDE_LOOP = "inside-loop"
    INSIDE_CONDITION = "inside-condition"
    INSIDE_COMPREHENSION = "inside-comprehension"
    STAR_ARGUMENTS = "star-arguments"
    NOT_AN_ASSIGNMENT = "not-an-assignment"
    USED_AS_VALUE = "used-as-value"
    IMPORT_FAILED = "import-failed"
    IMPORT_TIMEOUT = "import-timeout"
    INVALID_DECLARATION = "invalid-declaration"
    NOT_JSON = "not-json"
    RECORD_WITHOUT_SITE = "record-without-site"
    SITE_WITHOUT_RECORD = "site-without-record"
    DECLARED_TWICE = "declared-twice"
    NOT_DETERMINISTIC = "not-deterministic"
    EXTERNAL_NEW = "external-new"
    EXTERNAL_CHANGED = "external-changed"
    EXTERNAL_UNUSED = "external-unused"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One reason why a compilation is incomplete.

    Attributes:
        file: Relative to the folder of ``pyproject.toml``, or the module's path inside its distribution.
        line: Counting from 1.
        code: The stable reason.
        message: What is there, and what to do.
    """

    file: str
    line: int
    code: ProblemCode
    message: str

    @override
    def __str__(self) -> str:
        return f"{self.file}:{self.line}: [{self.code}] {self.message}"

    def to_json(self) -> dict[str, JsonValue]:
        """The problem as a fresh JSON object."""
        return {"code": self.code.value, "file": self.file, "line": self.line, "message": self.message}


class CompilationError(AgentSurfaceError):
    """The contract cannot be proven. Not raised for what ``[tool.agent-surface]`` itself says wrongly.

    Attributes:
        problems: Every reason found, by file and line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("the contract cannot be compiled:\n" + "\n".join(map(str, self.problems)))
