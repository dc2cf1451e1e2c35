"""Reading, comparing and writing the committed file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agent_surface._base._json import FrozenJson, JsonValue
from agent_surface.authority import create_capability_authority
from agent_surface.cli._git import read_base_contract
from agent_surface.cli._report import CheckReport, Drift, Integrity, Policy, make_inventory
from agent_surface.compiler import (
    CompilationError,
    CompilerConfiguration,
    compare_contracts,
    compile_contract,
    contract_text,
)
from agent_surface.errors import AgentSurfaceError, AuthorityError

Manifest = Mapping[str, FrozenJson]


class ContractFileError(AgentSurfaceError):
    """The committed file is missing or does not verify."""


def shown_path(configuration: CompilerConfiguration) -> str:
    """The committed file as reports name it."""
    return configuration.contract.relative_to(configuration.root).as_posix()


def read_contract(configuration: CompilerConfiguration) -> Manifest:
    """The committed file, verified.

    Raises:
        ContractFileError: It is missing or does not verify.
    """
    path = shown_path(configuration)
    if not _exists(configuration):
        raise ContractFileError(f"{path} does not exist; write it with `agent-surface snapshot`")
    try:
        return verify_text(_text(configuration.contract))
    except ValueError as error:
        raise ContractFileError(
            f"{path} does not verify: {error}; write it again with `agent-surface snapshot`"
        ) from error


def _exists(configuration: CompilerConfiguration) -> bool:
    if configuration.contract.is_dir():
        raise ContractFileError(
            f"{shown_path(configuration)} is a folder and should be the contract; move it away, or correct contract in "
            "[tool.agent-surface]"
        )
    return configuration.contract.is_file()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("it is no text in UTF-8") from error


def verify_text(text: str) -> Manifest:
    """The manifest in the text of a contract file.

    Raises:
        ValueError: It is no JSON or does not verify.
    """
    try:
        return create_capability_authority(json.loads(text)).manifest
    except AuthorityError as error:
        raise ValueError(str(error)) from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON (line {error.lineno})") from error


def write_contract(configuration: CompilerConfiguration, manifest: dict[str, JsonValue]) -> bool:
    """Write the committed file, whole or not at all; false when it is what it should be already.

    Raises:
        ContractFileError: There is a folder in its place.
    """
    text = contract_text(manifest)
    path = configuration.contract
    if _exists(configuration) and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.write_bytes(text.encode())
    draft.replace(path)
    return True


def check_contract(configuration: CompilerConfiguration, *, base: str | None, policy: Policy) -> CheckReport:
    """Source against the committed file, and the committed file against a git revision.

    Args:
        configuration: Of the project.
        base: A git revision; nothing is compared with one when absent.
        policy: Which changes since it are findings.
    """
    committed: Manifest | None = None
    reason = ""
    if _exists(configuration):
        try:
            committed = verify_text(_text(configuration.contract))
        except ValueError as error:
            reason = str(error)
    integrity = _integrity(configuration, committed, reason)
    drift = _drift(configuration, committed, base, policy) if base is not None and committed is not None else None
    return CheckReport(
        contract=shown_path(configuration),
        integrity=integrity,
        drift=drift,
        inventory=make_inventory(committed) if committed is not None else None,
    )


def _integrity(configuration: CompilerConfiguration, committed: Manifest | None, reason: str) -> Integrity:
    try:
        compiled = compile_contract(configuration)
    except CompilationError as error:
        return Integrity(state="incomplete", problems=error.problems)
    if reason:
        return Integrity(state="invalid", reason=reason)
    if committed is None:
        return Integrity(state="missing")
    if _is_same_file(configuration.contract, contract_text(compiled)):
        return Integrity(state="current")
    source = create_capability_authority(compiled).manifest
    return Integrity(state="stale", changes=compare_contracts(committed, source))


def _is_same_file(path: Path, text: str) -> bool:
    # A checkout may have turned the line ends of a text file.
    return path.read_text(encoding="utf-8") == text


def _drift(configuration: CompilerConfiguration, committed: Manifest, base: str, policy: Policy) -> Drift:
    before = read_base_contract(configuration, base)
    manifest: Manifest | None = None
    if before.text is not None:
        try:
            manifest = verify_text(before.text)
        except ValueError as error:
            raise ContractFileError(
                f"the contract at {base} ({before.commit}) does not verify: {error}; name another base"
            ) from error
    return Drift(
        base=base,
        commit=before.commit,
        existed=manifest is not None,
        changes=compare_contracts(manifest, committed),
        policy=policy,
    )
