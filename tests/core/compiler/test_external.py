"""What another distribution declares counts only as far as somebody approved exactly that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

import pytest

from agent_surface import AuthorityError, JsonValue, create_capability_authority
from agent_surface._manifest import digest
from agent_surface.compiler import ConfigurationError, Problem, ProblemCode, read_configuration
from tests.core.compiler.project import READY, Project, declaration_ids

CHARTS = READY.replace("ping", "chart").replace("PING", "CHART")
MORE_CHARTS = CHARTS + CHARTS.partition("\n\n")[2].replace("chart", "export").replace("CHART", "EXPORT")


def shop_with_charts(project: Project, charts: str = CHARTS) -> None:
    """A program that uses a distribution which declares something."""
    project.write({"shop/contracts.py": READY + "import acme_charts\n"})
    project.install("acme-charts", {"acme_charts/__init__.py": "", "acme_charts/contracts.py": charts})


def line_to_add(problem: Problem) -> str:
    """What the message says to write."""
    found = re.search(r"\{ package = \"[^\"]+\", digest = \"[^\"]+\" \}", problem.message)
    assert found is not None
    return found[0]


def approve(project: Project) -> str:
    """Follow the advice of the message, and return it."""
    (problem,) = project.problems()
    line = line_to_add(problem)
    project.configure(more=f"external = [{line}]")
    return line


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_contributes_nothing_until_it_is_approved(project: Project) -> None:
    """Installing a package must never give an assistant a new capability."""
    shop_with_charts(project)
    (problem,) = project.problems()
    assert (problem.code, problem.file, problem.line) == (ProblemCode.EXTERNAL_NEW, "shop/contracts.py", 4)
    assert "acme-charts declares acme_charts.contracts:domain:chart" in problem.message


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_the_line_the_message_prints_approves_it(project: Project) -> None:
    """Whoever has reviewed it copies one line."""
    shop_with_charts(project)
    approve(project)
    assert declaration_ids(project.compile()) == [
        "acme_charts.contracts:domain:chart",
        "shop.contracts:domain:ping",
    ]


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_behind_a_third_party_is_found(project: Project) -> None:
    """What a dependency needs is part of the program too, although nothing of ours names it."""
    project.write({"shop/contracts.py": READY + "import acme_kit  # here\n"})
    project.install(
        "acme-kit", {"acme_kit/__init__.py": "import acme_charts\n"}, requires=["acme-charts>=1 ; python_version > '3'"]
    )
    project.install("acme-charts", {"acme_charts/__init__.py": CHARTS})
    (problem,) = project.problems()
    assert (problem.code, problem.line) == (ProblemCode.EXTERNAL_NEW, project.line_here("shop/contracts.py"))
    assert "acme-charts declares acme_charts:domain:chart" in problem.message


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_that_only_uses_the_library_contributes_nothing(project: Project) -> None:
    """A package that mentions the library and declares nothing needs no approval."""
    project.write({"shop/contracts.py": READY + "import acme_charts\n"})
    project.install("acme-charts", {"acme_charts/__init__.py": "from agent_surface import from_model\n"})
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_that_hides_a_declaration_is_an_error(project: Project) -> None:
    """The rules for declarations hold for everybody's."""
    shop_with_charts(
        project,
        charts="import agent_surface\ndef later():\n    "
        + CHARTS.strip().splitlines()[-1].replace("define_", "agent_surface.define_"),
    )
    (problem,) = project.problems()
    assert (problem.code, problem.file, problem.line) == (
        ProblemCode.INSIDE_FUNCTION,
        "acme_charts/contracts.py",
        3,
    )


@pytest.mark.requirement("AS-EXTERNAL-002")
def test_the_manifest_keeps_what_was_contributed_and_what_was_approved_apart(project: Project) -> None:
    """A reviewer sees both, and an authority refuses a manifest in which they differ."""
    shop_with_charts(project)
    line = approve(project)
    manifest = project.compile()
    (entry,) = cast("list[dict[str, JsonValue]]", manifest["external"])
    approved = re.findall(r"sha256:[0-9a-f]{64}", line)[0]
    assert entry == {
        "package": "acme-charts",
        "approved": approved,
        "contributed": approved,
        "declarations": ["acme_charts.contracts:domain:chart"],
    }
    create_capability_authority(manifest)
    entry["approved"] = "sha256:" + "0" * 64
    manifest["hash"] = digest({key: value for key, value in manifest.items() if key != "hash"})
    with pytest.raises(AuthorityError, match="what acme-charts contributes to the manifest is not what was approved"):
        create_capability_authority(manifest)


@pytest.mark.requirement("AS-EXTERNAL-003")
def test_a_third_party_that_changed_fails_naming_both_digests(project: Project) -> None:
    """An update of a dependency is reviewed again, and the message has what it was and what it is."""
    shop_with_charts(project)
    before = re.findall(r"sha256:[0-9a-f]{64}", approve(project))[0]
    shop_with_charts(project, MORE_CHARTS)
    (problem,) = project.problems()
    assert (problem.code, problem.file, problem.line) == (ProblemCode.EXTERNAL_CHANGED, "pyproject.toml", 4)
    after = re.findall(r"sha256:[0-9a-f]{64}", line_to_add(problem))[0]
    assert before != after
    assert f"was approved with {before} and now declares {after}" in problem.message
    assert "acme_charts.contracts:domain:export" in problem.message


@pytest.mark.requirement("AS-EXTERNAL-003")
def test_a_new_release_that_declares_the_same_stays_approved(project: Project) -> None:
    """The approval is of what is declared and not of a version."""
    shop_with_charts(project)
    approve(project)
    before = project.compile()
    shop_with_charts(project, "# Rewritten.\n" + CHARTS)
    assert project.compile() == before


MALFORMED: Mapping[str, str] = {
    "no list": 'external = "acme-charts"',
    "no table": 'external = ["acme-charts"]',
    "no digest": 'external = [{ package = "acme-charts" }]',
    "a short digest": 'external = [{ package = "acme-charts", digest = "sha256:12" }]',
    "another algorithm": 'external = [{ package = "acme-charts", digest = "md5:' + "0" * 64 + '" }]',
    "a digest in capitals": 'external = [{ package = "acme-charts", digest = "sha256:' + "A" * 64 + '" }]',
    "a number for a name": 'external = [{ package = 1, digest = "sha256:' + "0" * 64 + '" }]',
    "no name": 'external = [{ package = "", digest = "sha256:' + "0" * 64 + '" }]',
    "a word more": 'external = [{ package = "a", digest = "sha256:' + "0" * 64 + '", why = "trusted" }]',
    "twice": 'external = [{ package = "a-b", digest = "sha256:'
    + "0" * 64
    + '" }, { package = "A_b", digest = "sha256:'
    + "1" * 64
    + '" }]',
    "a misspelt key": 'externals = [{ package = "a", digest = "sha256:' + "0" * 64 + '" }]',
}


@pytest.mark.requirement("AS-EXTERNAL-004")
@pytest.mark.parametrize("more", MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_approval_stops_the_compiler(more: str, project: Project) -> None:
    """An approval that is dropped in silence would look like one that holds."""
    project.write({"shop/contracts.py": READY})
    project.configure(more=more)
    with pytest.raises(ConfigurationError, match=r"\[tool.agent-surface\]"):
        read_configuration(project.root)
