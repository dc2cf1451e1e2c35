"""The contract of a program, proven from its source."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from agent_surface._base._json import JsonValue, thaw_json
from agent_surface._manifest import DeclarationRecord, digest, make_manifest
from agent_surface.authority import CapabilityAuthority, create_capability_authority
from agent_surface.compiler._configuration import CompilerConfiguration, ConfigurationError, read_configuration
from agent_surface.compiler._evaluation import evaluate_program
from agent_surface.compiler._problems import CompilationError, Problem, ProblemCode
from agent_surface.compiler._program import Place, Program, read_program
from agent_surface.compiler._sites import Site

_LOG = logging.getLogger(__name__)

IMPORT_TIMEOUT_MS: Final = 120_000
"""How long the declaring modules may take to import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What a third-party distribution declares.

    Attributes:
        package: The distribution.
        declaration_ids: Sorted.
        digest: Over the declarations.
    """

    package: str
    declaration_ids: tuple[str, ...]
    digest: str


def compile_contract(
    configuration: CompilerConfiguration,
    *,
    search_path: Sequence[str] | None = None,
    import_timeout_ms: int = IMPORT_TIMEOUT_MS,
) -> dict[str, JsonValue]:
    """The manifest of a program, with completeness ``proven``.

    Args:
        configuration: From ``[tool.agent-surface]``.
        search_path: Where third-party modules are installed; this interpreter's own path when absent.
        import_timeout_ms: Milliseconds the declaring modules may take to import.

    Raises:
        CompilationError: Something cannot be proven; every reason has a file, a line and what to do.
    """
    path = tuple(sys.path if search_path is None else search_path)
    _LOG.info("reading what %s can import", ", ".join(configuration.entry_points))
    program = read_program(configuration, path)
    if program.problems:
        raise CompilationError(program.problems)
    evaluation = evaluate_program(program, path, timeout_ms=import_timeout_ms)
    if evaluation.problems:
        raise CompilationError(evaluation.problems)
    contributions = _contributions(evaluation.records)
    problems = _judge_external(configuration, program, contributions)
    if problems:
        raise CompilationError(problems)
    return make_manifest(
        (record for _, record in evaluation.records),
        completeness="proven",
        targets=configuration.targets,
        external=[_external_entry(configuration, contribution) for contribution in contributions],
    )


def compile_capability_authority(package: str) -> CapabilityAuthority:
    """Build the authority of a program from its source, for development and tests.

    Args:
        package: Import name of the program's package, in a source tree with ``[tool.agent-surface]``.

    Raises:
        ConfigurationError: The package has no source tree, or its configuration is wrong.
        CompilationError: Something cannot be proven.
    """
    location = getattr(import_module(package), "__file__", None)
    if location is None or not Path(location).is_file():
        raise ConfigurationError(f"{package} has no source tree to compile; use load_capability_authority there")
    return create_capability_authority(compile_contract(read_configuration(Path(location).parent)))


def contract_text(manifest: Mapping[str, JsonValue]) -> str:
    """The bytes of a committed contract: sorted, indented, one final line break."""
    return json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _contributions(records: Sequence[tuple[Site, DeclarationRecord]]) -> list[Contribution]:
    by_package: dict[str, list[DeclarationRecord]] = {}
    for site, record in records:
        if site.package is not None:
            by_package.setdefault(site.package, []).append(record)
    return [_contribution(package, declared) for package, declared in sorted(by_package.items())]


def _contribution(package: str, declared: Sequence[DeclarationRecord]) -> Contribution:
    ordered = sorted(declared, key=lambda record: record.declaration_id)
    content: list[JsonValue] = [thaw_json(record.entry) for record in ordered]
    return Contribution(
        package=package,
        declaration_ids=tuple(record.declaration_id for record in ordered),
        digest=digest(content),
    )


def _external_entry(configuration: CompilerConfiguration, contribution: Contribution) -> dict[str, JsonValue]:
    """What was contributed and what was approved, side by side."""
    approved = {approval.package: approval.digest for approval in configuration.external}
    return {
        "package": contribution.package,
        "approved": approved[contribution.package],
        "contributed": contribution.digest,
        "declarations": list[JsonValue](contribution.declaration_ids),
    }


def _judge_external(
    configuration: CompilerConfiguration, program: Program, contributions: Sequence[Contribution]
) -> list[Problem]:
    approved = {approval.package: approval.digest for approval in configuration.external}
    problems = [
        _not_approved(contribution, program.packages[contribution.package])
        if contribution.package not in approved
        else _changed(contribution, approved[contribution.package], configuration)
        for contribution in contributions
        if approved.get(contribution.package) != contribution.digest
    ]
    unused = approved.keys() - {contribution.package for contribution in contributions}
    problems += [
        Problem(
            file=configuration.project_file,
            line=_line_of(approved[package], configuration),
            code=ProblemCode.EXTERNAL_UNUSED,
            message=f"{package} is approved but declares nothing this program imports; remove its line from external",
        )
        for package in unused
    ]
    return problems


def _not_approved(contribution: Contribution, place: Place) -> Problem:
    return Problem(
        file=place.file,
        line=place.line,
        code=ProblemCode.EXTERNAL_NEW,
        message=f"{contribution.package} declares {_listed(contribution.declaration_ids)} and is not approved; review "
        f"that and add to external in [tool.agent-surface]: {_approval_line(contribution)}",
    )


def _changed(contribution: Contribution, approved: str, configuration: CompilerConfiguration) -> Problem:
    return Problem(
        file=configuration.project_file,
        line=_line_of(approved, configuration),
        code=ProblemCode.EXTERNAL_CHANGED,
        message=f"{contribution.package} was approved with {approved} and now declares {contribution.digest} "
        f"({_listed(contribution.declaration_ids)}); review the change and write {_approval_line(contribution)}",
    )


def _approval_line(contribution: Contribution) -> str:
    return f'{{ package = "{contribution.package}", digest = "{contribution.digest}" }}'


def _listed(declaration_ids: Sequence[str]) -> str:
    shown = ", ".join(declaration_ids[:_NAMED])
    more = len(declaration_ids) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


_NAMED: Final = 5


def _line_of(text: str, configuration: CompilerConfiguration) -> int:
    """The line of the project file that holds ``text``."""
    lines = (configuration.root / configuration.project_file).read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, start=1) if text in line), 1)
