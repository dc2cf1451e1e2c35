"""What the declarations received, from fresh interpreters without a display."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, cast

from agent_surface._base._json import FrozenJson, freeze_json
from agent_surface._manifest import DeclarationRecord
from agent_surface.compiler._problems import Problem, ProblemCode
from agent_surface.compiler._program import Place, Program
from agent_surface.compiler._sites import Site

_LOG = logging.getLogger(__name__)

_PROGRAM: Final = (
    "import json, sys; request = sys.stdin.read(); sys.path[:] = json.loads(request)['path']; "
    "from agent_surface.compiler._child import main; main(request); "
    # Without a farewell: threads the modules started, and what they run at exit, hold nothing up.
    "import os; os._exit(0)"
)

SURROUNDINGS: Final[tuple[Mapping[str, str], ...]] = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC0", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "FAR-13:45", "LC_ALL": "C.UTF-8"},
)
"""Two worlds: what is declared in both alike depends on neither."""

Answer: TypeAlias = Mapping[str, FrozenJson]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What was declared.

    Attributes:
        records: Each site with what it declared.
        problems: Why that is not what the source says.
    """

    records: tuple[tuple[Site, DeclarationRecord], ...]
    problems: tuple[Problem, ...]


def evaluate_program(program: Program, search_path: Sequence[str], *, timeout_ms: int) -> Evaluation:
    """Import the declaring modules twice, in different surroundings, and match what is declared with the sites.

    Args:
        program: Its sites, whose modules are imported.
        search_path: Where third-party modules are installed.
        timeout_ms: Milliseconds the imports may take.
    """
    if not program.sites:
        return Evaluation(records=(), problems=())
    path = [*program.folders, *(entry for entry in search_path if entry)]
    request = {
        "path": path,
        "sites": [[site.module, site.name] for site in program.sites],
        "files": [str(source.file) for source in program.sources.values() if source.package is None],
    }
    _LOG.info("importing the modules of %d declarations, twice", len(program.sites))
    with ThreadPoolExecutor(len(SURROUNDINGS)) as pool:
        jobs = [pool.submit(_ask, request, surroundings, timeout_ms) for surroundings in SURROUNDINGS]
        answers = [job.result() for job in jobs]
    for answer in answers:
        if isinstance(answer, _Silence):
            return _failed(program.sites, answer)
    first, second = (cast("Answer", answer) for answer in answers)
    places = _Places(program)
    for answer in (first, second):
        failure = answer["failure"]
        if isinstance(failure, Mapping):
            return Evaluation(records=(), problems=(places.of_failure(failure),))
    return _matched(program.sites, first, second, places)


def _ask(request: Mapping[str, object], surroundings: Mapping[str, str], timeout_ms: int) -> Answer | _Silence:
    """One interpreter's answer, or why there is none."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONDONTWRITEBYTECODE": "1", **surroundings}
    with tempfile.TemporaryDirectory() as place:
        answer, reached, said, folder = (Path(place) / name for name in ("answer", "reached", "said", "folder"))
        folder.mkdir()
        text = json.dumps({**request, "answer": str(answer), "reached": str(reached)})
        # Files and no pipes: a process that a module leaves behind would hold a pipe open.
        with said.open("wb") as noise:
            try:
                code = run_interpreter(text, environment, folder, noise, timeout_ms)
            except subprocess.TimeoutExpired:
                return _Silence(ProblemCode.IMPORT_TIMEOUT, _module_reached(reached), _too_slow(timeout_ms))
        if code or not answer.is_file():
            return _Silence(ProblemCode.IMPORT_FAILED, _module_reached(reached), _ended(code, _last_line(said)))
        return cast("Answer", freeze_json(json.loads(answer.read_text(encoding="ascii"))))


def run_interpreter(
    request: str, environment: Mapping[str, str], folder: Path, noise: BinaryIO, timeout_ms: int
) -> int:
    """Have a fresh interpreter answer a request.

    Args:
        request: Its standard input.
        environment: Its environment variables, all of them.
        folder: Its working directory.
        noise: Where everything goes that the modules print.
        timeout_ms: Milliseconds it may take.

    Returns:
        Its exit code.
    """
    return subprocess.run(  # noqa: S603  # our own interpreter and a constant program
        [sys.executable, "-P", "-c", _PROGRAM],
        input=request.encode(),
        stdout=noise,
        stderr=noise,
        env=environment,
        cwd=folder,
        timeout=timeout_ms / 1000,
        check=False,
    ).returncode


@dataclass(frozen=True, slots=True)
class _Silence:
    """Why there is no answer."""

    code: ProblemCode
    module: str
    message: str


def _module_reached(reached: Path) -> str:
    return reached.read_text(encoding="utf-8") if reached.is_file() else ""


def _last_line(said: Path) -> str:
    """The last words of the interpreter; however much there was before, only the end is read."""
    with said.open("rb") as stream:
        stream.seek(max(0, said.stat().st_size - _LAST_BYTES))
        lines = stream.read().decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "without a word"


_LAST_BYTES: Final = 2_000


def _ended(code: int, last: str) -> str:
    how = f"signal {-code}" if code < 0 else f"code {code}"
    return (
        f"the interpreter ended with {how} while this module was imported: {last}; keep out of modules that declare "
        "contracts what can end the process"
    )


def _too_slow(timeout_ms: int) -> str:
    return (
        f"importing the declaring modules took longer than {timeout_ms} ms and had come to this one; keep work out of "
        "modules that declare contracts"
    )


def _failed(sites: Sequence[Site], silence: _Silence) -> Evaluation:
    site = next((site for site in sites if site.module == silence.module), sites[0])
    problem = Problem(file=site.file, line=site.line, code=silence.code, message=silence.message)
    return Evaluation(records=(), problems=(problem,))


class _Places:
    """Files as problems name them."""

    def __init__(self, program: Program) -> None:
        self._shown = {os.path.realpath(source.file): source.shown for source in program.sources.values()}
        self._modules = {source.name: source.shown for source in program.sources.values()}

    def of_record(self, record: Mapping[str, FrozenJson]) -> Place:
        file = str(record["file"])
        module = str(record["declarationId"]).partition(":")[0]
        shown = self._shown.get(os.path.realpath(file)) or self._modules.get(module) or module
        return Place(file=shown, line=_number(record["line"]))

    def of_failure(self, failure: Mapping[str, FrozenJson]) -> Problem:
        module = str(failure["module"])
        shown, line = self._modules.get(module, module), 1
        frames = cast("tuple[tuple[str, int], ...]", failure["frames"])
        for file, number in frames:
            known = self._shown.get(os.path.realpath(file))
            if known is not None:
                shown, line = known, number
        code = ProblemCode(str(failure["kind"]))
        return Problem(file=shown, line=line, code=code, message=_FAILURES[code](module, str(failure["error"])))


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


_FAILURES: Final[Mapping[ProblemCode, Callable[[str, str], str]]] = {
    ProblemCode.IMPORT_FAILED: lambda module, error: (
        f"{module} cannot be imported: {_first_line(error)}; a module that declares contracts has to import on a "
        "machine without a display, a database or a network"
    ),
    ProblemCode.INVALID_DECLARATION: lambda module, error: (
        f"a declaration of {module} is refused: {_first_line(error)}; correct the declaration"
    ),
    ProblemCode.NOT_JSON: lambda module, error: (
        f"a declaration of {module} holds what is no JSON: {_first_line(error)}; write it with text, numbers, true, "
        "false, null, lists and objects"
    ),
}


def _matched(sites: Sequence[Site], first: Answer, second: Answer, places: _Places) -> Evaluation:
    records, problems = _match_sites(sites, first, places)
    if not problems:
        # Something may be declared in one world alone.
        _, problems = _match_sites(sites, second, places)
    if not problems:
        problems = _differences(sites, first, second)
    return Evaluation(
        records=() if problems else tuple(records),
        problems=tuple(problems),
    )


def _match_sites(
    sites: Sequence[Site], answer: Answer, places: _Places
) -> tuple[list[tuple[Site, DeclarationRecord]], list[Problem]]:
    recorded = cast("tuple[Mapping[str, FrozenJson], ...]", answer["records"])
    held = cast("tuple[int | None, ...]", answer["sites"])
    matched: list[tuple[Site, DeclarationRecord]] = []
    problems: list[Problem] = []
    taken: dict[int, Site] = {}
    for site, index in zip(sites, held, strict=True):
        if index is None or index in taken:
            problems.append(_without_record(site))
            continue
        taken[index] = site
        matched.append((site, _record(recorded[index])))
    problems += [
        _without_site(record, places.of_record(record)) for index, record in enumerate(recorded) if index not in taken
    ]
    if not problems:
        problems = _twice(matched)
    return matched, problems


def _record(record: Mapping[str, FrozenJson]) -> DeclarationRecord:
    return DeclarationRecord(
        declaration_id=str(record["declarationId"]),
        entry=cast("Mapping[str, FrozenJson]", record["entry"]),
        declaration_hash=str(record["hash"]),
    )


def _without_record(site: Site) -> Problem:
    return Problem(
        file=site.file,
        line=site.line,
        code=ProblemCode.SITE_WITHOUT_RECORD,
        message=f"{site.name} of {site.module} is written as a declaration, but importing the module declares nothing "
        "there; call the library's own function and leave the name bound to what it returns",
    )


def _without_site(record: Mapping[str, FrozenJson], place: Place) -> Problem:
    return Problem(
        file=place.file,
        line=place.line,
        code=ProblemCode.RECORD_WITHOUT_SITE,
        message=f"{record['declarationId']} is declared here when the module is imported, but no declaration is "
        "written out; assign a call of the library's own function to one name at module level",
    )


def _twice(matched: Sequence[tuple[Site, DeclarationRecord]]) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[str, Site] = {}
    for site, record in matched:
        before = seen.setdefault(record.declaration_id, site)
        if before is not site:
            problems.append(
                Problem(
                    file=site.file,
                    line=site.line,
                    code=ProblemCode.DECLARED_TWICE,
                    message=f"{record.declaration_id} is declared here and in line {before.line}; keep one of them",
                )
            )
    return problems


def _differences(sites: Sequence[Site], first: Answer, second: Answer) -> list[Problem]:
    """The sites that declare something else in other surroundings."""
    one, other = (_entries(sites, answer) for answer in (first, second))
    return [
        Problem(
            file=site.file,
            line=site.line,
            code=ProblemCode.NOT_DETERMINISTIC,
            message=f"{site.name} of {site.module} declares something else with another hash seed, time zone, locale "
            f"or folder: {_first_difference(before, after)}; write down what does not depend on them",
        )
        for site, before, after in zip(sites, one, other, strict=True)
        if before != after
    ]


def _entries(sites: Sequence[Site], answer: Answer) -> list[FrozenJson]:
    recorded = cast("tuple[Mapping[str, FrozenJson], ...]", answer["records"])
    held = cast("tuple[int | None, ...]", answer["sites"])
    return [None if index is None else recorded[index]["entry"] for _, index in zip(sites, held, strict=True)]


def _first_difference(before: FrozenJson, after: FrozenJson, path: str = "") -> str:
    """The path of the first part that differs."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            if not _is_hash(key) and before.get(key) != after.get(key):
                return _first_difference(before.get(key), after.get(key), f"{path}/{key}")
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        index = next(index for index, (one, other) in enumerate(zip(before, after, strict=True)) if one != other)
        return _first_difference(before[index], after[index], f"{path}/{index}")
    return path or "the whole declaration"


def _is_hash(key: str) -> bool:
    return key in ("contractHash", "declarationHash")


def _number(value: FrozenJson) -> int:
    return value if isinstance(value, int) else 1
