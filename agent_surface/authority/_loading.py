"""Finding the committed contract of a program."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Final

from agent_surface.authority._authority import CapabilityAuthority, create_capability_authority
from agent_surface.errors import AuthorityError

CONTRACT_FILE: Final = "agent-contract.json"

RESOURCES: Final = "_resources"
"""The folder of a package that a build puts the contract into."""


def load_capability_authority(package: str) -> CapabilityAuthority:
    """Load, verify and return the authority of a program.

    The contract is looked for as package data (``package/_resources/agent-contract.json``, where a build puts it, also
    inside a zip or a frozen program), then at the path that ``[tool.agent-surface] contract`` names in the
    ``pyproject.toml`` of the source tree the package lies in, if an entry point of that tree lies in the package too.

    Args:
        package: Import name of the program's package.

    Raises:
        AuthorityError: There is no contract, or it does not verify.
    """
    text = _from_package_data(package)
    if text is None:
        text = _from_source_tree(package)
    if text is None:
        raise AuthorityError(
            f"no contract found for {package}: neither {CONTRACT_FILE} as package data nor a path in "
            "[tool.agent-surface] of pyproject.toml; write it with `agent-surface snapshot`"
        )
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise AuthorityError(f"the contract of {package} is no JSON; write it again") from error
    return create_capability_authority(manifest)


def _from_package_data(package: str) -> str | None:
    # One step at a time: what a package without __init__ has in place of a folder takes no more on Python 3.11.
    resource = files(package) / RESOURCES / CONTRACT_FILE
    return resource.read_text(encoding="utf-8") if resource.is_file() else None


def _from_source_tree(package: str) -> str | None:
    location = getattr(import_module(package), "__file__", None)
    tree = find_source_tree(Path(location).parent) if location is not None else None
    if tree is None or tree.contract is None:
        return None
    # An environment often lies inside the source tree of a program; what is installed there is not that program.
    if tree.packages and package.partition(".")[0] not in tree.packages:
        return None
    return tree.contract.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTree:
    """What ``[tool.agent-surface]`` says of the programs of a source tree.

    Attributes:
        contract: The committed file, if it is there.
        packages: The top-level packages the programs start in.
    """

    contract: Path | None
    packages: frozenset[str]


def find_source_tree(folder: Path) -> SourceTree | None:
    """The source tree that a folder lies in.

    Args:
        folder: Of a package.
    """
    start = folder.resolve()
    for candidate in (start, *start.parents):
        project_file = candidate / "pyproject.toml"
        if project_file.is_file():
            settings = tomllib.loads(project_file.read_text(encoding="utf-8")).get("tool", {}).get("agent-surface", {})
            contract, entry_points = settings.get("contract"), settings.get("entry-points", ())
            found = isinstance(contract, str) and (candidate / contract).is_file()
            return SourceTree(
                contract=candidate / contract if found else None,
                packages=frozenset(str(name).partition(".")[0] for name in entry_points),
            )
    return None
