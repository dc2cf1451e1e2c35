"""A manifest that was put together by hand, with every hash right, and is still none."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from agent_surface import (
    AgentSurfaceDefinitionError,
    AuthorityError,
    JsonValue,
    create_capability_authority,
    load_capability_authority,
)
from agent_surface._base._json import thaw_json
from agent_surface._manifest import digest
from agent_surface.testing import contract_authority
from tests.core.surface_fixtures import ONE, TWO, Surface, component

Entry = dict[str, JsonValue]


def _with_declaration(change: Callable[[Entry], object]) -> Entry:
    """A manifest whose one declaration was changed and hashed again, as somebody who forges one would."""
    manifest = cast("Entry", thaw_json(contract_authority(ONE).manifest))
    declaration = cast("list[Entry]", manifest["declarations"])[0]
    change(declaration)
    declaration.pop("declarationHash", None)
    declaration["declarationHash"] = digest(declaration)
    return _hashed(manifest)


def _hashed(manifest: Entry) -> Entry:
    manifest.pop("hash", None)
    manifest["hash"] = digest(manifest)
    return manifest


def _capabilities(declaration: Entry) -> list[JsonValue]:
    return cast("list[JsonValue]", declaration["capabilities"])


def _change_capability(declaration: Entry) -> None:
    cast("Entry", _capabilities(declaration)[0])["description"] = "Something else"


@pytest.mark.requirement("AS-AUTHORITY-001")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda entry: entry.update(capabilities={}), "lists no capabilities"),
        (lambda entry: _capabilities(entry).append("one"), "a capability twice or one that is no object"),
        (lambda entry: _capabilities(entry).append(_capabilities(entry)[0]), "a capability twice"),
        (_change_capability, "the hash of view:t.one.* does not match"),
    ],
)
def test_a_declaration_hashed_by_hand_is_held_to_its_form(change: Callable[[Entry], object], complaint: str) -> None:
    """Each level is verified, not only the hash over all of it."""
    with pytest.raises(AuthorityError, match=complaint):
        create_capability_authority(_with_declaration(change))


@pytest.mark.requirement("AS-AUTHORITY-001")
@pytest.mark.parametrize(
    ("external", "complaint"),
    [
        (None, "does not list the contributions"),
        (["one"], "does not list the contributions"),
        ([{"contributed": "x", "approved": "x"}], "does not list the contributions"),
        (
            [{"package": "other", "contributed": "x", "approved": "y"}],
            "what other contributes .* not what was approved",
        ),
    ],
)
def test_what_another_distribution_contributes_has_to_be_what_was_approved(external: JsonValue, complaint: str) -> None:
    """An approval is of one content, so a later one is not approved by it."""
    manifest = cast("Entry", thaw_json(contract_authority(ONE).manifest))
    manifest["external"] = external
    with pytest.raises(AuthorityError, match=complaint):
        create_capability_authority(_hashed(manifest))


@pytest.mark.requirement("AS-AUTHORITY-001")
def test_a_component_that_is_not_in_the_contract_never_goes_live() -> None:
    """The error names the declaration and what to do."""
    surface = Surface(ONE)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"t\.two is not in the contract of this program") as caught:
        surface.mount(TWO)
    assert caught.value.subject is not None
    assert caught.value.subject.endswith("t.two")
    assert surface.catalogue()["components"] == []


# ------------------------------------------------------------------------------------- where a contract is looked for


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that can be imported and has nothing in it."""
    (tmp_path / "soaked_program").mkdir()
    (tmp_path / "soaked_program" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "soaked_program", raising=False)
    return "soaked_program"


def test_a_program_without_its_own_file_has_no_source_tree_to_look_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A namespace package stands in no one place."""
    (tmp_path / "soaked_namespace").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AuthorityError, match="no contract found for soaked_namespace"):
        load_capability_authority(package="soaked_namespace")


@pytest.mark.parametrize(
    "configuration",
    ["", "[tool.agent-surface]\ncontract = 7\n", '[tool.agent-surface]\ncontract = "not-there.json"\n'],
)
def test_the_nearest_configuration_decides_where_the_contract_is(
    package: str, tmp_path: Path, configuration: str
) -> None:
    """One that names none, or none that exists, is not passed over for one further up."""
    (tmp_path / "pyproject.toml").write_text(configuration, encoding="utf-8")
    with pytest.raises(AuthorityError, match=f"no contract found for {package}"):
        load_capability_authority(package=package)


@pytest.mark.requirement("AS-COMPILER-007")
def test_what_is_installed_inside_the_tree_of_a_program_is_not_that_program(package: str, tmp_path: Path) -> None:
    """An environment often lies in the checkout; a library in it must not get the program's contract for its own."""
    project, contract = tmp_path / "pyproject.toml", tmp_path / "contract.json"
    contract.write_text("{", encoding="utf-8")
    line = '[tool.agent-surface]\ncontract = "contract.json"\nentry-points = ["{}"]\n'
    project.write_text(line.format("another_program.main"), encoding="utf-8")
    with pytest.raises(AuthorityError, match=f"no contract found for {package}"):
        load_capability_authority(package=package)
    project.write_text(line.format(f"{package}.main"), encoding="utf-8")
    with pytest.raises(AuthorityError, match="is no JSON"):
        load_capability_authority(package=package)


@pytest.mark.requirement("AS-AUTHORITY-001")
def test_one_and_true_are_different_things_to_a_contract() -> None:
    """Python calls them equal; JSON, and so the hash, does not."""
    listed = component("t.meta", meta={"beta": 1})
    running = component("t.meta", meta={"beta": True})
    surface = Surface(listed)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"t\.meta differs from the contract of this program"):
        surface.mount(running)
