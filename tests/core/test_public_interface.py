"""The names of ``agent_surface``: each loads its module when it is first asked for, and is then like any other."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import agent_surface
from agent_surface.toolset import AgentTool

PROJECT = Path(__file__).parents[2]


def _imports_for_type_checkers() -> dict[str, str]:
    """Name to module, as the block that only type checkers read says it."""
    tree = ast.parse(Path(agent_surface.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }


def test_each_name_comes_from_where_type_checkers_look_for_it() -> None:
    """What runs and what is checked are the same objects."""
    homes = _imports_for_type_checkers()
    assert sorted(homes) == sorted(agent_surface.__all__)
    for name, home in homes.items():
        module = sys.modules.get(home) or __import__(home, fromlist=["_"])
        assert agent_surface.__getattr__(name) is getattr(module, name), name


def test_a_star_import_and_dir_give_every_name() -> None:
    """Names that nobody has used yet count too."""
    namespace: dict[str, object] = {}
    exec("from agent_surface import *", namespace)  # a star import stands at the top of a module only
    assert namespace.keys() >= set(agent_surface.__all__)
    assert set(dir(agent_surface)) >= set(agent_surface.__all__)


def test_what_is_used_once_is_an_attribute_like_any_other() -> None:
    """The way through ``__getattr__`` is taken once for each name."""
    assert agent_surface.AgentTool is AgentTool
    assert vars(agent_surface)["AgentTool"] is AgentTool
    assert pickle.loads(pickle.dumps(agent_surface.AgentTool)) is AgentTool  # what was just written


def test_a_public_module_is_there_without_an_import_of_its_own() -> None:
    """As it was when the package loaded all of them at once."""
    module: object = agent_surface.__getattr__("toolset")
    assert isinstance(module, ModuleType)
    assert module.__name__ == "agent_surface.toolset"


@pytest.mark.parametrize("name", ["Agent", "_failures"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    """In Python's own words, so that ``hasattr`` and ``from ... import`` work as they do everywhere."""
    with pytest.raises(AttributeError, match=f"module 'agent_surface' has no attribute {name!r}"):
        agent_surface.__getattr__(name)


PROGRAM = """
import sys
import agent_surface
early = {"asyncio", "pydantic", "jsonschema", "PySide6"} & set(sys.modules)
assert not early, early

import asyncio
from agent_surface import AgentConsumer, create_agent_surface_registry, create_agent_toolset
from tests.benchmarks.surfaces import TABLE, authority

async def main():
    with create_agent_surface_registry(authority=authority()) as registry:
        loaded = set(sys.modules)
        registry.register(TABLE.bind(observations={"count": lambda: 3}, actions={"select": lambda wanted: None}))
        with create_agent_toolset(registry, consumer=AgentConsumer(id="model"), topology="embedded") as toolset:
            read, select = toolset.tools()
            assert (await read.execute()).status == "ok"
            assert (await select.execute({"ids": ["a"]})).status == "ok"
        assert not set(sys.modules) - loaded, set(sys.modules) - loaded

asyncio.run(main())
"""


def test_importing_the_package_loads_no_library_and_using_it_loads_none_in_the_middle_of_a_call() -> None:
    """What a program imports is loaded where it imports it: never between a request and its answer."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=PROJECT
    )
    assert done.returncode == 0, done.stderr
