"""A contract from the declarations that importing the declared modules makes."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable

from agent_surface._base._json import JsonValue
from agent_surface._manifest import DeclarationRecord, make_manifest
from agent_surface.compiler._configuration import CompilerConfiguration
from agent_surface.contracts._records import find_declaration
from agent_surface.errors import AgentSurfaceError


class EvaluationError(AgentSurfaceError):
    """The declared modules cannot be imported, or declare one thing twice."""


def evaluate_contract(configuration: CompilerConfiguration) -> dict[str, JsonValue]:
    """Import the declared modules and write down every declaration of their packages.

    The result has completeness ``evaluated``: everything in it is declared, but nothing proves that the program
    declares nothing else. A registry in production refuses it.

    Raises:
        EvaluationError: A module cannot be imported, or two declarations have one id.
    """
    for module in configuration.entry_points:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise EvaluationError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    packages = {module.partition(".")[0] for module in configuration.entry_points}
    return make_manifest(_declarations(packages), completeness="evaluated", targets=configuration.targets)


def contract_text(manifest: dict[str, JsonValue]) -> str:
    """The bytes of a committed contract: sorted, indented, one final line break."""
    return json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _declarations(packages: Iterable[str]) -> list[DeclarationRecord]:
    found: dict[str, DeclarationRecord] = {}
    prefixes = tuple(packages)
    for name in sorted(sys.modules):
        if name.partition(".")[0] not in prefixes:
            continue
        for value in list(vars(sys.modules[name]).values()):
            record = find_declaration(value)
            if record is None:
                continue
            known = found.setdefault(record.declaration_id, record)
            if known is not record:
                raise EvaluationError(f"{record.declaration_id} is declared twice")
    return list(found.values())
