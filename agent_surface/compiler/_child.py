"""The fresh interpreter: imports the declaring modules and reports what every declaration received."""

from __future__ import annotations

import gc
import json
import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import cast

from typing_extensions import override

from agent_surface._base._json import JsonValue, NotJsonError, thaw_json
from agent_surface._manifest import DeclarationRecord
from agent_surface.contracts._recording import listen_to_declarations
from agent_surface.contracts._records import find_declaration
from agent_surface.errors import AgentSurfaceDefinitionError

_LIBRARY = "agent_surface."


def main(request_text: str) -> None:
    """Answer one request.

    Args:
        request_text: JSON with ``sites``, a list of pairs of a module and a name in it, ``files``, the source files
            that were searched, ``answer``, the file to answer in, and ``reached``, the file that names the module
            being imported, for when there is no answer.
    """
    request = json.loads(request_text)
    sites = [(str(module), str(name)) for module, name in request["sites"]]
    sys.meta_path.insert(0, _SearchedFiles(frozenset(map(str, request["files"]))))
    # The interpreter ends before there is anything worth collecting.
    gc.disable()
    answer = json.dumps(evaluate(sites, Path(request["reached"])))
    Path(request["answer"]).write_text(answer, encoding="ascii")


def evaluate(sites: Sequence[tuple[str, str]], reached: Path) -> dict[str, JsonValue]:
    """Import the modules of these sites and tell what was declared, and which site holds which declaration.

    Args:
        sites: Module and name, in the order in which the modules are imported.
        reached: A file that always names the module being imported.
    """
    records: list[tuple[DeclarationRecord, str, int]] = []

    def listen(record: DeclarationRecord) -> None:
        records.append((record, *_author()))

    failure: dict[str, JsonValue] | None = None
    with listen_to_declarations(listen):
        for module in dict.fromkeys(module for module, _ in sites):
            reached.write_text(module, encoding="utf-8")
            failure = _import(module)
            if failure is not None:
                break
    found = {id(record): index for index, (record, _, _) in enumerate(records)}
    return {
        "failure": failure,
        "records": [
            {
                "declarationId": record.declaration_id,
                "entry": thaw_json(record.entry),
                "hash": record.declaration_hash,
                "file": file,
                "line": line,
            }
            for record, file, line in records
        ],
        "sites": [_held(found, module, name) for module, name in sites] if failure is None else [],
    }


def _held(found: Mapping[int, int], module: str, name: str) -> int | None:
    """The number of the record that the name holds."""
    record = find_declaration(getattr(sys.modules[module], name, None))
    return None if record is None else found.get(id(record))


def _import(module: str) -> dict[str, JsonValue] | None:
    try:
        import_module(module)
    except BaseException as error:  # noqa: BLE001  # the author's code may raise anything, SystemExit included
        frames = traceback.extract_tb(error.__traceback__)
        return {
            "module": module,
            "kind": _kind(error),
            "error": f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
            "frames": [[frame.filename, frame.lineno or 1] for frame in frames],
        }
    return None


def _kind(error: BaseException) -> str:
    if not isinstance(error, AgentSurfaceDefinitionError):
        return "import-failed"
    return "not-json" if isinstance(error.__cause__, NotJsonError) else "invalid-declaration"


def _author() -> tuple[str, int]:
    """File and line of the code that called the library."""
    return next(
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_stack(None)
        if not cast("str", frame.f_globals.get("__name__", "")).startswith(_LIBRARY)
    )


class _SearchedFiles(MetaPathFinder):
    """Finds the modules that were searched for declarations, to run the very text that was searched."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = files

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or spec.origin not in self._files:
            return None
        spec.loader = _FromSource(fullname, spec.origin)
        return spec


class _FromSource(SourceFileLoader):
    """Compiles a module anew: a cache beside it may be of another text that had the same size and second."""

    @override
    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)
