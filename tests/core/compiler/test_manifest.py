"""The same source gives the same bytes, whoever compiles it and wherever."""

from __future__ import annotations

import gc
import json
import os
import py_compile
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from agent_surface import JsonValue, create_capability_authority
from agent_surface.compiler import contract_text
from tests.core.compiler.project import READY, Project

CHECKOUT = Path(__file__).parents[3]

HASH = "sha256:091d48d72dd81b5649609cbc8f0f30a1455eae566b87371f7ef58cb691b1816c"

RICH: Mapping[str, str] = {
    "shop/contracts.py": '''
    """Everything a declaration can have."""

    from __future__ import annotations

    from enum import Enum
    from typing import Annotated

    from pydantic import BaseModel, Field

    from agent_surface import (
        Concurrency,
        PolicyAttachment,
        action_contract,
        define_agent_component_contract,
        from_json_schema,
        from_model,
        from_type,
        observation_contract,
    )
    from shop.procedures import PING


    class Colour(Enum):
        """The colours there are."""

        RED = "red"
        BLUE = "blue"


    class Pick(BaseModel):
        """What to pick.

        More than one line, indented as it stands.
        """

        colour: Colour
        sizes: set[Annotated[int, Field(ge=1, le=9)]] = Field(default_factory=set, description="Größe … in ☃")
        rest: str | None = None
        ratio: float = 0.1


    PARTS = define_agent_component_contract(
        type="shop.parts",
        description="The parts",
        observations={"read": observation_contract(description="Read them", output=from_type(list[str]))},
        actions={
            "pick": action_contract(
                description="Pick some",
                input=from_json_schema(
                    {
                        "type": "object",
                        "properties": {"n": {"type": "number", "minimum": 0.5, "maximum": 1e21}},
                        "additionalProperties": False,
                    }
                ),
                output=from_type(Colour),
                effect="local-state",
                concurrency=Concurrency(mode="parallel", max=2),
                policies=[PolicyAttachment(name="limit", phases=("invoke",), parameters={"b": 1, "a": 2.5})],
                tags={"z", "y", "x"},
                meta={"until": 3},
            )
        },
        priority=3,
    )
    ''',
    "shop/procedures.py": READY,
}


def snapshot(root: Path, **environment: str) -> bytes:
    """The bytes the command writes, in an environment of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_surface", "snapshot", "--project", str(root)],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return (root / "agent-contract.json").read_bytes()


@pytest.mark.requirement("AS-COMPILER-002")
def test_two_checkouts_in_different_places_give_the_same_bytes(tmp_path: Path) -> None:
    """Neither the folder nor hash seed, time zone or locale leaves a trace."""
    here, there = Project(tmp_path / "one"), Project(tmp_path / "elsewhere" / "with a space" / "zwei")
    for project in (here, there):
        project.write(RICH)
    first = snapshot(here.root, PYTHONHASHSEED="7", TZ="UTC", LC_ALL="C", LANG="C")
    second = snapshot(there.root, PYTHONHASHSEED="99", TZ="Asia/Tokyo", LC_ALL="C.UTF-8", PYTHONUTF8="0")
    assert first == second
    assert str(tmp_path).encode() not in first


OTHER_PYTHON = """
import sys
from pathlib import Path
from agent_surface.compiler import compile_contract, contract_text, read_configuration
sys.stdout.buffer.write(contract_text(compile_contract(read_configuration(Path(sys.argv[1])))).encode())
"""


def other_pythons() -> list[Path]:
    """The interpreters of the checkout's other environments that are of another version, one of each."""
    found: dict[str, Path] = {}
    for python in sorted(CHECKOUT.glob(".venv*/bin/python")):
        asked = "import sys, jsonschema, pydantic; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
        if not done.returncode:
            found.setdefault(done.stdout.strip(), python)
    found.pop(f"{sys.version_info.major}.{sys.version_info.minor}", None)
    return list(found.values())


@pytest.mark.requirement("AS-COMPILER-002")
def test_every_python_there_is_gives_the_same_bytes(project: Project) -> None:
    """Those that ``make`` has made an environment with; the hash below stands for the rest."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no environment with another Python")
    project.write(RICH)
    expected = contract_text(project.compile()).encode()
    for python in pythons:
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
        done = subprocess.run(
            [python, "-c", OTHER_PYTHON, str(project.root)], env=environment, capture_output=True, check=False
        )
        assert done.stdout == expected, done.stderr.decode()


@pytest.mark.requirement("AS-COMPILER-002")
def test_the_bytes_are_known_in_advance(project: Project) -> None:
    """The same on every machine and every supported Python: this hash was written down on one of them."""
    project.write(
        {
            "shop/contracts.py": """
            from agent_surface import action_contract, define_agent_component_contract, from_json_schema
            PARTS = define_agent_component_contract(
                type="shop.parts",
                description="Die Teile … ☃",
                actions={
                    "pick": action_contract(
                        description="Pick",
                        input=from_json_schema({
                            "type": "object",
                            "properties": {"n": {"type": "number", "minimum": 0.1, "maximum": 1e21, "default": 1.0}},
                        }),
                        effect="local-state",
                        meta={"b": 1, "a": -0.5},
                    ),
                },
                tags=("z", "a"),
            )
            """
        }
    )
    assert project.compile()["hash"] == HASH


def test_a_manifest_says_that_it_is_proven_and_nothing_of_when_or_where(project: Project) -> None:
    """Format, targets, declarations, external contributions, completeness and hash; an authority takes it."""
    project.configure(more='targets = ["desktop", "arm"]')
    project.write(RICH)
    manifest = project.compile()
    assert set(manifest) == {
        "formatVersion",
        "compilerVersion",
        "targets",
        "declarations",
        "external",
        "completeness",
        "hash",
    }
    assert (manifest["completeness"], manifest["targets"]) == ({"status": "proven"}, ["arm", "desktop"])
    assert create_capability_authority(json.loads(contract_text(manifest))).manifest["hash"] == manifest["hash"]


@pytest.mark.parametrize("enabled", [True, False], ids=["on", "off"])
def test_compiling_leaves_the_collection_of_garbage_as_it_was(enabled: bool, project: Project) -> None:
    """Whoever compiles inside a program of their own has decided about that; a refusal changes nothing either."""
    project.write({"shop/contracts.py": ""})
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        project.compile()
        assert gc.isenabled() is enabled
        project.write({"shop/contracts.py": "1 +\n"})
        assert project.problems()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.requirement("AS-COMPILER-006")
@pytest.mark.usefixtures("cold_interpreters")
def test_two_evaluations_see_different_surroundings_and_must_agree(project: Project) -> None:
    """What is the same in both is in the contract; each reason why it might not be has its own program elsewhere."""
    project.write(
        {
            "shop/contracts.py": READY + "import os, sys, time, json\n"
            'with open("world.json", "w") as file:\n'
            "    pass\n"
            f"with open({str(project.root / 'worlds')!r}, 'a') as file:\n"
            "    print(json.dumps([os.environ['PYTHONHASHSEED'], time.timezone, os.getcwd()]), file=file)\n"
        }
    )
    project.compile()
    worlds = [json.loads(line) for line in (project.root / "worlds").read_text().splitlines()]
    assert len(worlds) == 2
    assert all(one != other for one, other in zip(*cast("list[list[JsonValue]]", worlds), strict=True))
    assert not list(project.root.rglob("world.json"))


@pytest.mark.usefixtures("cold_interpreters")
def test_evaluation_has_no_display_and_hears_nothing_of_what_modules_print(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module may print and must not open a window."""
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
    project.write(
        {
            "shop/contracts.py": READY + "import os\nprint('{\"records\": []}')\nos.write(1, b'noise')\n"
            "assert 'DISPLAY' not in os.environ and 'WAYLAND_DISPLAY' not in os.environ\n"
            "assert os.environ['QT_QPA_PLATFORM'] == 'offscreen'\n"
        }
    )
    assert project.problems() == ()


@pytest.mark.requirement("AS-COMPILER-002")
def test_what_is_evaluated_is_the_text_that_was_searched_and_no_cache_of_another(project: Project) -> None:
    """A cache that is not checked, or of the same second and size, would prove what nobody can read."""
    project.write({"shop/contracts.py": READY.replace("Say that you are there", "Something else")})
    cached = py_compile.compile(
        str(project.root / "shop" / "contracts.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    assert cached is not None
    project.write({"shop/contracts.py": READY})
    text = contract_text(project.compile())
    assert "Say that you are there" in text
    assert "Something else" not in text
