"""What an application says about its contract in ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent_surface.errors import AgentSurfaceError


class ConfigurationError(AgentSurfaceError):
    """``[tool.agent-surface]`` is missing or incomplete. Not raised for what the declared modules contain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerConfiguration:
    """``[tool.agent-surface]``.

    Attributes:
        root: The folder of ``pyproject.toml``.
        entry_points: Modules whose import makes every declaration.
        contract: Where the committed contract lies.
        targets: Names of the programs it is made for.
    """

    root: Path
    entry_points: tuple[str, ...]
    contract: Path
    targets: tuple[str, ...]


def read_configuration(start: Path) -> CompilerConfiguration:
    """The configuration of the source tree that ``start`` lies in.

    Raises:
        ConfigurationError: There is none, or a value has the wrong type; names the key.
    """
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            tool = _table(tomllib.loads(path.read_text(encoding="utf-8")), "tool")
            return _configuration(folder, _table(tool, "agent-surface"))
    raise ConfigurationError("no pyproject.toml here or above")


def _table(parent: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = parent.get(key, {})
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _configuration(folder: Path, table: Mapping[str, object]) -> CompilerConfiguration:
    contract = table.get("contract")
    entry_points = _texts(table, "entry-points")
    if not isinstance(contract, str) or not entry_points:
        raise ConfigurationError(
            "pyproject.toml needs [tool.agent-surface] with entry-points (a list of modules) and contract (a path)"
        )
    return CompilerConfiguration(
        root=folder, entry_points=entry_points, contract=folder / contract, targets=_texts(table, "targets")
    )


def _texts(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
        raise ConfigurationError(f"{key} of [tool.agent-surface] must be a list of strings")
    return tuple(cast("list[str]", value))
