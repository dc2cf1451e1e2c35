"""The contract compiler on a big program: what a developer waits for before every commit."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

from agent_surface.compiler import compile_contract, read_configuration
from tests.benchmarks.core import Figure

MODULES, DECLARING, PER_PART = 1_000, 300, 50
ROUNDS = 3

PROJECT = '[tool.agent-surface]\nentry-points = ["big.__main__"]\ncontract = "contract.json"\n'

WORK = '''
def compute_{n}(first: int, second: str, *rest: object, **more: object) -> dict[str, object]:
    """Compute the thing number {n} out of what was handed in."""
    result: dict[str, object] = {{}}
    for index, item in enumerate(rest):
        if index % 2 == 0 and isinstance(item, str):
            result[item] = json.dumps([first, second, item], sort_keys=True)
        else:
            result[str(index)] = os.path.join(second, str(item))
    return {{**result, **more, "sum": sum(len(str(value)) for value in result.values())}}


class Thing{n}:
    """Holds what number {n} needs."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name
'''

DECLARATION = """
from agent_surface import action_contract, define_agent_component_contract, from_json_schema, from_type
from agent_surface import observation_contract

PART = define_agent_component_contract(
    type="big.part{number}",
    description="Part {number}",
    observations={{"read": observation_contract(description="Read it", output=from_type(list[str]))}},
    actions={{
        "pick": action_contract(
            description="Pick some",
            input=from_json_schema(
                {{
                    "type": "object",
                    "properties": {{"ids": {{"type": "array", "items": {{"type": "string"}}, "maxItems": 20}}}},
                    "required": ["ids"],
                    "additionalProperties": False,
                }}
            ),
            effect="local-state",
        )
    }},
)
"""


def measure() -> list[Figure]:
    """Compile a program of 1,000 modules of about 70 lines, 300 of which declare a component each."""
    with tempfile.TemporaryDirectory() as folder:
        _write_program(Path(folder))
        configuration = read_configuration(Path(folder))
        waited: list[float] = []
        worked: list[float] = []
        for _ in range(ROUNDS):
            before, started = _processor_seconds(), time.perf_counter()
            compile_contract(configuration)
            waited.append(time.perf_counter() - started)
            worked.append(_processor_seconds() - before)
    name = "compile 1,000 modules with 300 declarations"
    return [
        Figure(name=name, unit="s", rounds=tuple(sorted(waited)), goal=10.0),
        Figure(name=f"{name}, of all processors", unit="s", rounds=tuple(sorted(worked))),
    ]


def _processor_seconds() -> float:
    """Seconds that this process and its children have worked."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def _write_program(root: Path) -> None:
    names = [f"part{number // PER_PART:02}.m{number:03}" for number in range(MODULES)]
    _write(root / "pyproject.toml", PROJECT)
    _write(root / "big" / "__main__.py", "".join(f"import big.{name}\n" for name in names))
    for number, name in enumerate(names):
        imported = {names[number * factor % (number or 1)] for factor in (3, 7, 11)} if number else set[str]()
        lines = ["import json", "import os.path", *(f"import big.{other}" for other in sorted(imported))]
        text = "\n".join(lines) + "\n" + "".join(WORK.format(n=n) for n in range(3))
        # Spread evenly: three in ten.
        if number * DECLARING % MODULES < DECLARING:
            text += DECLARATION.format(number=number)
        _write(root / "big" / f"{name.replace('.', '/')}.py", text)
    for folder in {root / "big", *(root / "big").iterdir()}:
        if folder.is_dir():
            _write(folder / "__init__.py", "")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
