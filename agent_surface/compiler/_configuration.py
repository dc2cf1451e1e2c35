"""What an application says about its contract in ``pyproject.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from agent_surface.errors import AgentSurfaceError


class ConfigurationError(AgentSurfaceError):
    """``[tool.agent-surface]`` is missing or says something wrong. Not raised for what the declared modules contain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalApproval:
    """A third-party distribution whose contracts count.

    Attributes:
        package: Name of the distribution, normalised.
        digest: Of what it contributes.
    """

    package: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerConfiguration:
    """``[tool.agent-surface]``.

    Attributes:
        root: The folder of ``pyproject.toml``.
        entry_points: Modules the program starts in; everything they import is searched.
        contract: Where the committed contract lies.
        targets: Names of the programs it is made for.
        external: The distributions whose contracts count.
        dynamic_imports: For a module that imports by a computed name, every module it may load.
    """

    root: Path
    entry_points: tuple[str, ...]
    contract: Path
    targets: tuple[str, ...] = ()
    external: tuple[ExternalApproval, ...] = ()
    dynamic_imports: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NOTHING)

    @property
    def project_file(self) -> str:
        """The file all of this is written in, as problems name it."""
        return PROJECT_FILE


PROJECT_FILE: Final = "pyproject.toml"
_NOTHING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
_SECTION: Final = "[tool.agent-surface]"
_KEYS: Final = frozenset({"entry-points", "contract", "targets", "external", "dynamic-imports"})
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MODULE: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PACKAGE: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def read_configuration(start: Path) -> CompilerConfiguration:
    """The configuration of the source tree that ``start`` lies in.

    Raises:
        ConfigurationError: There is none, or a value is wrong; names the key.
    """
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        path = candidate / PROJECT_FILE
        if path.is_file():
            return parse_configuration(_text(path), root=candidate)
    raise ConfigurationError("there is no pyproject.toml here or above; start the command inside the project")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{PROJECT_FILE} is no TOML: it is not in UTF-8; save it in that encoding") from error


def parse_configuration(text: str, *, root: Path) -> CompilerConfiguration:
    """The configuration in the text of a ``pyproject.toml``.

    Args:
        text: TOML.
        root: The folder its paths start from.

    Raises:
        ConfigurationError: It is no TOML, the section is missing, or a value is wrong; names the key.
    """
    try:
        document: Mapping[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{PROJECT_FILE} is no TOML: {error}") from error
    table = _table(_table(document, "tool"), "agent-surface")
    if not table:
        raise ConfigurationError(
            f"{PROJECT_FILE} has no {_SECTION}; add it with entry-points (a list of modules) and contract (a path)"
        )
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        raise ConfigurationError(f"{_SECTION} has no key {unknown[0]!r}; it takes {', '.join(sorted(_KEYS))}")
    return CompilerConfiguration(
        root=root,
        entry_points=_modules(table.get("entry-points"), "entry-points"),
        contract=root / _contract(table.get("contract")),
        targets=_texts(table.get("targets", []), "targets"),
        external=_approvals(table.get("external", [])),
        dynamic_imports=_dynamic_imports(table.get("dynamic-imports", {})),
    )


def normalised(package: str) -> str:
    """The one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _table(parent: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = parent.get(key, {})
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _contract(value: object) -> str:
    if not isinstance(value, str) or not value or Path(value).is_absolute() or ".." in Path(value).parts:
        raise ConfigurationError(f"{_SECTION} needs contract: the path of the committed file, inside the project")
    return value


def _modules(value: object, key: str) -> tuple[str, ...]:
    names = _texts(value, key)
    if not names:
        raise ConfigurationError(f"{_SECTION} needs {key}: a list of the modules the program starts in")
    for name in names:
        if _MODULE.fullmatch(name) is None:
            raise ConfigurationError(f"{key} of {_SECTION} has {name!r}, which is no module name")
    return names


def _texts(value: object, key: str) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) and item for item in items):
        raise ConfigurationError(f"{key} of {_SECTION} must be a list of strings")
    return tuple(cast("list[str]", items))


def _approvals(value: object) -> tuple[ExternalApproval, ...]:
    if not isinstance(value, list):
        raise ConfigurationError(f"external of {_SECTION} must be a list of {{package, digest}}")
    approvals: dict[str, ExternalApproval] = {}
    for number, item in enumerate(cast("list[object]", value), start=1):
        approval = _approval(item, number)
        if approval.package in approvals:
            raise ConfigurationError(f"external of {_SECTION} approves {approval.package} twice")
        approvals[approval.package] = approval
    return tuple(approval for _, approval in sorted(approvals.items()))


def _approval(item: object, number: int) -> ExternalApproval:
    table: Mapping[str, object] = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    package, digest = table.get("package"), table.get("digest")
    place = f"entry {number} of external in {_SECTION}"
    if set(table) != {"package", "digest"} or not isinstance(package, str) or not isinstance(digest, str):
        raise ConfigurationError(f"{place} must have package and digest, both texts, and nothing else")
    if _PACKAGE.fullmatch(package) is None:
        raise ConfigurationError(f"{place} has the package {package!r}, which is no name of a distribution")
    if _DIGEST.fullmatch(digest) is None:
        raise ConfigurationError(f"{place} has a digest that is not sha256: and 64 hexadecimal digits in lower case")
    return ExternalApproval(package=normalised(package), digest=digest)


def _dynamic_imports(value: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"dynamic-imports of {_SECTION} must be a table of module = [modules it may load]")
    table = cast("Mapping[str, object]", value)
    return MappingProxyType(
        {module: _loadable(listed, f"dynamic-imports.{module}") for module, listed in table.items()}
    )


def _loadable(value: object, key: str) -> tuple[str, ...]:
    # An empty list says: whatever it loads, it is none of this program's modules.
    return _modules(value, key) if value != [] else ()
