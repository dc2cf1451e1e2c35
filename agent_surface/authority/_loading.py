"""Finding the committed contract of a program."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from agent_surface.authority._authority import CapabilityAuthority, create_capability_authority
from agent_surface.errors import AuthorityError

CONTRACT_FILE = "agent-contract.json"


def load_capability_authority(package: str) -> CapabilityAuthority:
    """Load, verify and return the authority of a program.

    The contract is looked for as package data (``package/_resources/agent-contract.json``, where a build puts it, also
    inside a zip or a frozen program), then at the path that ``[tool.agent-surface] contract`` names in the
    ``pyproject.toml`` of the source tree the package lies in.

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
    resource = files(package) / "_resources" / CONTRACT_FILE
    return resource.read_text(encoding="utf-8") if resource.is_file() else None


def _from_source_tree(package: str) -> str | None:
    location = getattr(import_module(package), "__file__", None)
    if location is None:
        return None
    for folder in Path(location).resolve().parents:
        configuration = folder / "pyproject.toml"
        if configuration.is_file():
            settings = tomllib.loads(configuration.read_text(encoding="utf-8")).get("tool", {}).get("agent-surface", {})
            contract = settings.get("contract")
            if isinstance(contract, str) and (folder / contract).is_file():
                return (folder / contract).read_text(encoding="utf-8")
            return None
    return None
