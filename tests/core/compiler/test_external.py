"""What another distribution declares counts only as far as somebody approved exactly that."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from typing import cast

import pytest

from agent_surface import AuthorityError, JsonValue, create_capability_authority
from agent_surface._manifest import digest
from agent_surface.compiler import ConfigurationError, Problem, ProblemCode, read_configuration
from tests.core.compiler.project import READY, Project, declaration_ids, write_files

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
def test_what_a_third_party_needs_for_an_extra_alone_is_not_searched(project: Project) -> None:
    """Nobody asked for the extra; whatever of it is imported all the same is searched as an import."""
    project.write({"shop/contracts.py": READY + "import acme_kit\n"})
    project.install("acme-kit", {"acme_kit/__init__.py": ""}, requires=["acme-charts ; extra == 'charts'"])
    project.install("acme-charts", {"acme_charts/__init__.py": CHARTS})
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


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


IN_PLACE: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "a package": ({"acme_charts/contracts.py": CHARTS}, "acme_charts", "acme-charts"),
    "a package whose name has capitals": ({"AcmeCharts/contracts.py": CHARTS}, "AcmeCharts", "acmecharts"),
    "a module of one file": ({"acme_charts.py": CHARTS}, "acme_charts", "acme-charts"),
}


@pytest.mark.requirement("AS-EXTERNAL-001")
@pytest.mark.parametrize("case", IN_PLACE.values(), ids=list(IN_PLACE))
def test_a_third_party_that_no_list_of_files_names_is_found_by_its_own_name(
    case: tuple[Mapping[str, str], str, str], project: Project
) -> None:
    """An installation in place, as for working on two things at once, leads to its folder and lists none of it."""
    files, module, package = case
    project.write({"shop/contracts.py": READY + f"import {module}, sys\n"})
    write_files(project.installed, files)
    (problem,) = project.problems()
    assert (problem.code, problem.file, problem.line) == (ProblemCode.EXTERNAL_NEW, "shop/contracts.py", 4)
    assert problem.message.startswith(f"{package} declares {module}")


def test_the_program_itself_is_nobody_elses_however_it_was_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script has no place in the import system, and asking for one fails."""
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    project.write({"shop/contracts.py": READY + "import __main__\n"})
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_without_a_file_for_its_package_is_searched_too(project: Project) -> None:
    """A package may be spread over several folders and have no module of its own."""
    project.write({"shop/contracts.py": READY + "import acme_charts\n"})
    write_files(project.installed, {"acme_charts/contracts.py": CHARTS})
    (project.installed / "acme_charts" / "__init__.py").unlink()
    (problem,) = project.problems()
    assert (problem.code, problem.line) == (ProblemCode.EXTERNAL_NEW, 4)
    assert "acme-charts declares acme_charts.contracts:domain:chart" in problem.message


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_installed_in_place_with_a_finder_is_searched_too(project: Project) -> None:
    """Its list of files names only what leads an import to the package."""
    project.write({"shop/contracts.py": READY + "import acme_charts\n"})
    project.install("acme-charts", {"__editable___acme_charts_finder.py": "MAPPING = {}\n"})
    write_files(project.installed, {"acme_charts/__init__.py": CHARTS})
    (problem,) = project.problems()
    assert (problem.code, problem.line) == (ProblemCode.EXTERNAL_NEW, 4)
    assert "acme-charts declares acme_charts:domain:chart" in problem.message


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_installed_the_old_way_is_found(project: Project) -> None:
    """Before there were wheels, an installer wrote the list of files elsewhere."""
    project.write({"shop/contracts.py": READY + "import acme_charts\n"})
    write_files(project.installed, {"acme_charts/__init__.py": CHARTS})
    old = project.installed / "acme_plots.egg-info"
    old.mkdir()
    (old / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: acme-plots\nVersion: 1\n", encoding="utf-8")
    (old / "SOURCES.txt").write_text("acme_charts/__init__.py\n", encoding="utf-8")
    (problem,) = project.problems()
    assert problem.message.startswith("acme-plots declares acme_charts:domain:chart")


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_what_is_installed_without_a_name_or_a_text_contributes_nothing(project: Project) -> None:
    """A broken installation and a compiled module have nothing to read, and nothing to approve."""
    project.write(
        {"shop/contracts.py": READY + "try:\n    import acme_fast, acme_gone\nexcept ImportError:\n    pass\n"}
    )
    nameless = project.installed / "acme_gone-1.0.dist-info"
    nameless.mkdir(parents=True)
    (nameless / "METADATA").write_text("Metadata-Version: 2.1\nVersion: 1.0\n", encoding="utf-8")
    (nameless / "RECORD").write_text("acme_gone/__init__.py,,\n", encoding="utf-8")
    (project.installed / f"acme_fast{EXTENSION_SUFFIXES[0]}").write_bytes(b"agent_surface")
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_module_that_two_distributions_bring_is_declared_once(project: Project) -> None:
    """The one whose name comes first answers for it."""
    shop_with_charts(project)
    project.install("acme-all", {"acme_charts/__init__.py": ""})
    (problem,) = project.problems()
    assert problem.message.startswith("acme-all declares acme_charts.contracts:domain:chart and is not approved")


@pytest.mark.requirement("AS-EXTERNAL-001")
def test_a_third_party_is_judged_once_however_late_further_modules_are_found(project: Project) -> None:
    """A name written out for an import by name leads on when everything else has been read already."""
    project.write(
        {
            "shop/contracts.py": READY + "import acme_charts\nfrom importlib import import_module\n"
            "def later():\n    import_module('shop.hidden')\n",
            "shop/hidden.py": "import acme_maps\n",
        }
    )
    project.install("acme-charts", {"acme_charts/__init__.py": CHARTS})
    project.install("acme-maps", {"acme_maps/__init__.py": CHARTS.replace("chart", "map")})
    assert [(problem.file, problem.line, problem.message.partition(" ")[0]) for problem in project.problems()] == [
        ("shop/contracts.py", 4, "acme-charts"),
        ("shop/hidden.py", 1, "acme-maps"),
    ]


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
