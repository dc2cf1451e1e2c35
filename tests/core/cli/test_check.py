"""``check``: the source against the committed file, and that against a git revision."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_surface.cli import main
from agent_surface.cli._report import Drift, Policy
from agent_surface.compiler import Change, ChangeKind
from tests.core.cli.conftest import SHOP, Command, edit
from tests.core.compiler.project import CALL, CONTRACT, Project, write_files

EDITS: Mapping[str, tuple[str, str, str]] = {
    "a description": (
        "Pick parts",
        "Pick any parts",
        (
            '  wording    view:shop.parts.pick: description "Pick parts" → "Pick any parts" - '
            "a model reads it and may act differently"
        ),
    ),
    "a confirmation dropped": (
        'effect="external-side-effect")',
        'effect="external-side-effect", confirmation="never")',
        "  widening   domain:send: confirmation required → never - a person is asked less",
    ),
    "an enum value": (
        '["replace", "add"]',
        '["replace", "add", "toggle"]',
        '  widening   view:shop.parts.pick: input: mode: also "toggle" - an agent can send what was refused before',
    ),
    "a capability": (
        "actions={",
        'actions={"drop": action_contract(description="Drop", effect="local-state"), ',
        (
            "  widening   view:shop.parts.drop: action added (effect local-state, confirmation never) - "
            "an agent gets a capability it did not have"
        ),
    ),
    "a capability lost": (
        'observations={"read": observation_contract(description="Read the parts", output=from_type(list[str]))},',
        "",
        "  narrowing  view:shop.parts.read: observation removed (effect none) - an agent loses a capability it had",
    ),
    "a limit": (
        '"maxLength": 9',
        '"maxLength": 8',
        "  narrowing  view:shop.parts.pick: input: text: maxLength 9 → 8 - what an agent could send is refused",
    ),
    "keys in another order": (
        '{"type": "string", "maxLength": 9}',
        '{"maxLength": 9, "type": "string"}',
        "",
    ),
}


@pytest.mark.requirement("AS-CLI-015", "AS-CLI-018")
@pytest.mark.parametrize("case", EDITS.values(), ids=list(EDITS))
def test_a_source_that_moved_away_from_its_contract_fails_with_one_line_for_each_move(
    case: tuple[str, str, str], shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line says what moved and what that means; a hash alone says neither."""
    before, after, line = case
    edit(shop, before, after)
    code = command("check")
    lines = capsys.readouterr().out.splitlines()
    if not line:
        assert (code, lines) == (0, [f"source: {CONTRACT} is what the source declares"])
        return
    assert code == 1
    assert lines[0].startswith(f"source: {CONTRACT} is not what the source declares: 1 ")
    assert lines[1:] == [line, "  to do: review the changes, run `agent-surface snapshot` and commit the file"]


def test_a_contract_that_is_what_the_source_says_is_clean(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing found, nothing asked for."""
    assert command("check") == 0
    assert capsys.readouterr() == (f"source: {CONTRACT} is what the source declares\n", "")


def test_a_missing_contract_is_a_finding_with_a_way_out(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody forgot to commit it."""
    (shop.root / CONTRACT).unlink()
    assert command("check") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"source: {CONTRACT} does not exist",
        "  to do: run `agent-surface snapshot`, review the file and commit it",
    ]


def test_a_contract_changed_by_hand_is_a_finding(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever writes `never` into the file has changed no program, and is found."""
    path = shop.root / CONTRACT
    path.write_text(path.read_text(encoding="utf-8").replace('"required"', '"never"'), encoding="utf-8")
    assert command("check") == 1
    assert "does not verify (the hash of the manifest does not match its content" in capsys.readouterr().out


@pytest.mark.requirement("AS-CLI-015")
def test_a_source_that_does_not_compile_is_a_finding_with_file_line_and_reason(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told apart from a contract that moved."""
    write_files(shop.root, {"shop/contracts.py": SHOP + f"\ndef later():\n    return {CALL}\n"})
    number = len((shop.root / "shop" / "contracts.py").read_text(encoding="utf-8").splitlines())
    assert command("check") == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == f"source: {CONTRACT} cannot be compared: the source does not compile"
    assert second.startswith(
        f"  shop/contracts.py:{number}: [inside-function] define_agent_procedure_contract is called"
    )
    assert third.startswith("  to do: ")


# ----------------------------------------------------------------------------------------------------- a git revision


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, message: str = "Change") -> str:
    """Commit everything and return the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "--short=10", "HEAD")


@pytest.fixture
def repository(shop: Project) -> Project:
    """The shop in a git repository with one commit on ``main``."""
    git(shop.root, "init", "-q", "-b", "main")
    commit(shop.root)
    return shop


def snapshot(shop: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Write the contract anew."""
    assert main(["snapshot", "--project", str(shop.root)]) == 0
    capsys.readouterr()


LIMIT = ('"maxLength": 9', '"maxLength": 90')


@pytest.mark.requirement("AS-CLI-015")
def test_drift_against_a_base_is_judged_apart_from_the_source(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A contract that is what the source says may still have moved since the base."""
    git(repository.root, "switch", "-q", "-c", "work")
    edit(repository, *LIMIT)
    snapshot(repository, capsys)
    base = git(repository.root, "rev-parse", "--short=10", "main")
    assert command("check", "--base", "main") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"source: {CONTRACT} is what the source declares",
        f"base: main ({base}): 1 widening; policy all fails 1 change",
        "  widening   view:shop.parts.pick: input: text: maxLength 9 → 90 - an agent can send what was refused before",
        "  to do: have the changes approved, or take them back",
    ]


POLICIES: Mapping[Policy, set[ChangeKind]] = {
    "all": set(ChangeKind),
    "widening": {ChangeKind.WIDENING, ChangeKind.BOTH},
    "narrowing": {ChangeKind.NARROWING, ChangeKind.BOTH},
    "neutral": {ChangeKind.NEUTRAL, ChangeKind.WORDING},
    "none": set(),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_says_which_changes_are_findings(policy: Policy) -> None:
    """What is widening and narrowing at once is a finding of both; nothing escapes ``all``."""
    changes = tuple(
        Change(kind=kind, subject="s", declaration_id="d", field="f", what="w", meaning="m") for kind in ChangeKind
    )
    drift = Drift(base="main", commit="0", existed=True, changes=changes, policy=policy)
    assert {change.kind for change in drift.failing} == POLICIES[policy]


@pytest.mark.requirement("AS-CLI-015")
def test_what_the_other_branch_did_since_is_not_this_branchs_drift(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison starts where the branches parted."""
    git(repository.root, "switch", "-q", "-c", "work")
    edit(repository, "Send the order", "Send this order")
    snapshot(repository, capsys)
    commit(repository.root)
    git(repository.root, "switch", "-q", "main")
    edit(repository, *LIMIT)
    snapshot(repository, capsys)
    commit(repository.root)
    git(repository.root, "switch", "-q", "work")
    assert command("check", "--base", "main", "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    assert [(change["kind"], change["subject"]) for change in report["drift"]["changes"]] == [
        ("wording", "domain:send")
    ]


@pytest.mark.requirement("AS-CLI-015")
def test_a_contract_that_was_renamed_is_compared_with_what_it_was(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The path is read from the project file of then."""
    edit(repository, *LIMIT)
    project_file = repository.root / "pyproject.toml"
    project_file.write_text(
        project_file.read_text(encoding="utf-8").replace(CONTRACT, "resources/contract.json"), encoding="utf-8"
    )
    (repository.root / "resources").mkdir()
    git(repository.root, "mv", CONTRACT, "resources/contract.json")
    snapshot(repository, capsys)
    commit(repository.root)
    assert command("check", "--base", "HEAD~1") == 1
    out = capsys.readouterr().out
    assert "1 widening; policy all fails 1 change" in out
    assert "maxLength 9 → 90" in out


@pytest.mark.requirement("AS-CLI-015")
def test_a_project_that_moved_into_a_folder_is_compared_with_what_it_was(
    repository: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A checkout that became a monorepo keeps its history."""
    inner = repository.root / "apps" / "shop-app"
    inner.mkdir(parents=True)
    for name in ("shop", "pyproject.toml", CONTRACT):
        git(repository.root, "mv", name, f"apps/shop-app/{name}")
    for leftover in repository.root.glob("shop"):
        shutil.rmtree(leftover)
    moved = Project.__new__(Project)
    moved.root = inner
    edit(moved, *LIMIT)
    snapshot(moved, capsys)
    commit(repository.root)
    assert main(["check", "--project", str(inner), "--base", "HEAD~1"]) == 1
    assert "1 widening; policy all fails 1 change" in capsys.readouterr().out


@pytest.mark.requirement("AS-CLI-015")
def test_a_module_that_was_renamed_is_a_move_and_no_loss(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Declarations are found again by what they declare."""
    git(repository.root, "mv", "shop/contracts.py", "shop/surface.py")
    write_files(repository.root, {"shop/contracts.py": "import shop.surface\n"})
    snapshot(repository, capsys)
    assert command("check", "--base", "main", "--policy", "widening") == 0
    out = capsys.readouterr().out
    assert "2 neutral; policy widening passes" in out
    assert "  neutral    shop.parts: moved from shop.contracts to shop.surface - the same declaration" in out


def test_a_base_without_a_contract_makes_everything_new(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first contract of a project is all gain, and says so."""
    kept = (repository.root / CONTRACT).read_bytes()
    git(repository.root, "rm", "-q", CONTRACT)
    commit(repository.root)
    git(repository.root, "tag", "none")
    (repository.root / CONTRACT).write_bytes(kept)
    assert command("check", "--base", "none") == 1
    assert "), which has no contract: 3 widening; policy all fails 3 changes" in capsys.readouterr().out


def test_a_base_that_cannot_be_compared_with_is_no_finding_but_a_failure(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown name, an option in place of a name, and unrelated histories: one sentence each, code 2."""
    assert command("check", "--base", "nowhere") == 2
    assert capsys.readouterr() == (
        "",
        "agent-surface: 'nowhere' names no commit here; fetch it, or name a branch, tag or commit that exists\n",
    )
    assert command("check", "--base=--output=x") == 2
    assert "names no commit here" in capsys.readouterr().err
    git(repository.root, "switch", "-q", "--orphan", "stranger")
    git(repository.root, "commit", "-q", "--allow-empty", "-m", "Other")
    git(repository.root, "switch", "-q", "main")
    assert command("check", "--base", "stranger") == 2
    assert "have no common commit here; fetch more history of both" in capsys.readouterr().err


def test_outside_a_repository_a_base_is_refused(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without git it is said that git is missing."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(shop.root.parent))
    assert command("check", "--base", "main") == 2
    assert "the project is in no git repository; leave out --base" in capsys.readouterr().err
    monkeypatch.setenv("PATH", "")
    assert command("check", "--base", "main") == 2
    assert "git is not installed" in capsys.readouterr().err


def _stand_in_for_git(shop: Project, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = shop.root / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def test_a_repository_that_git_refuses_is_told_apart_from_none(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container the checkout often belongs to somebody else."""
    _stand_in_for_git(shop, monkeypatch, "echo 'fatal: detected dubious ownership in repository' >&2\nexit 128\n")
    assert command("check", "--base", "main") == 2
    assert (
        "git refuses the repository: detected dubious ownership in repository; run `git status` in the project"
        in capsys.readouterr().err
    )


def test_a_git_that_fails_on_the_way_is_a_failure_with_the_command_to_run(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that a wrapper forbids some commands."""
    _stand_in_for_git(shop, monkeypatch, "case $* in *--show-prefix*) exit 3 ;; *) echo true ;; esac\n")
    assert command("check", "--base", "main") == 2
    assert "git rev-parse failed in the project; run it there to see why" in capsys.readouterr().err


def test_a_base_whose_contract_does_not_verify_is_no_base(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """What somebody forged cannot say what moved since."""
    path = repository.root / CONTRACT
    genuine = path.read_text(encoding="utf-8")
    path.write_text(genuine.replace('"required"', '"never"'), encoding="utf-8")
    base = commit(repository.root)
    path.write_text(genuine, encoding="utf-8")
    assert command("check", "--base", base) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"agent-surface: the contract at {base} ({base}) does not verify: the hash of the manifest")
    assert err.endswith("; name another base\n")


def test_a_base_whose_project_file_cannot_be_read_is_compared_by_the_path_of_today(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A commit in the middle of a merge has a contract all the same."""
    path = repository.root / "pyproject.toml"
    genuine = path.read_text(encoding="utf-8")
    path.write_text("<<<<<<< ours\n" + genuine, encoding="utf-8")
    base = commit(repository.root)
    path.write_text(genuine, encoding="utf-8")
    assert command("check", "--base", base) == 0
    assert f"base: {base} ({base}): no changes; policy all passes" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------------ formats


def test_a_clean_check_is_as_short_in_every_format(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to do, nothing to annotate, and no word of a base nobody asked about."""
    outputs: dict[str, str] = {}
    for form in ("json", "md", "github"):
        assert command("check", "--format", form) == 0
        outputs[form] = capsys.readouterr().out
    assert json.loads(outputs["json"])["drift"] is None
    assert outputs["md"] == "## Contract: passed\n\nThe committed contract is what the source declares.\n"
    assert outputs["github"] == ""


def test_a_source_that_does_not_compile_is_told_in_every_format(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Place, reason and way out, for a person, a program and an annotation."""
    write_files(shop.root, {"shop/contracts.py": f"{SHOP}\ndef later():\n    return {CALL}\n"})
    outputs: dict[str, str] = {}
    for form in ("json", "md", "github"):
        assert command("check", "--format", form) == 1
        outputs[form] = capsys.readouterr().out
    integrity = json.loads(outputs["json"])["integrity"]
    (problem,) = integrity["problems"]
    assert (integrity["state"], problem["code"], problem["file"]) == (
        "incomplete",
        "inside-function",
        "shop/contracts.py",
    )
    place = f"shop/contracts.py:{problem['line']}"
    assert f"| {place} | inside-function | {problem['message']} |\n" in outputs["md"]
    assert "To do: correct the source and run the check again." in outputs["md"]
    assert outputs["github"] == (
        f"::error file=shop/contracts.py,line={problem['line']},title=inside-function::{problem['message']}\n"
    )


def test_a_contract_that_does_not_verify_is_told_with_its_reason_in_every_format(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason names what is wrong with the file."""
    (shop.root / CONTRACT).write_text("<<<<<<< ours\n", encoding="utf-8")
    assert command("check", "--format", "md") == 1
    assert "\nThe committed contract does not verify.\nReason: it is no JSON (line 1).\n" in capsys.readouterr().out
    assert command("check", "--format", "github") == 1
    assert capsys.readouterr().out.startswith(
        f"::error file={CONTRACT},title=contract::{CONTRACT} does not verify (it is no JSON (line 1)); take the"
    )


def test_a_contract_laid_out_by_somebody_else_is_not_the_file_the_source_gives(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A formatter has been over it: nothing moved, and the next snapshot would be a change nobody made."""
    path = shop.root / CONTRACT
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert command("check") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"source: {CONTRACT} is not what the source declares",
        "  the same contract, laid out differently or with another hash",
        "  to do: review the changes, run `agent-surface snapshot` and commit the file",
    ]


@pytest.mark.requirement("AS-CLI-016")
def test_every_format_tells_the_same_changes(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """One report, four ways to print it: what moved and what it means is in each."""
    edit(repository, *LIMIT)
    edit(repository, "Pick parts", "Pick | any % parts")
    outputs: dict[str, str] = {}
    for form in ("human", "json", "md", "github"):
        assert command("check", "--base", "main", "--format", form) == 1
        outputs[form] = capsys.readouterr().out
    report = json.loads(outputs["json"])
    changes = report["integrity"]["changes"]
    assert [(change["kind"], change["field"]) for change in changes] == [
        ("wording", "description"),
        ("widening", "inputSchema"),
    ]
    assert (report["ok"], report["integrity"]["state"], report["drift"]["changes"]) == (False, "stale", [])
    for change in changes:
        assert f"{change['kind']:9}  {change['subject']}: {change['what']} - {change['meaning']}\n" in outputs["human"]
        in_table = change["what"].replace("|", "\\|")
        assert f"| {change['kind']} | `{change['subject']}` | {in_table} | {change['meaning']} |\n" in outputs["md"]
        message = f"{change['subject']}: {change['what']} - {change['meaning']}".replace("%", "%25")
        title = f"{change['kind']}: {change['subject']}".replace(":", "%3A")
        assert f"::error file={CONTRACT},title={title}::{message}\n" in outputs["github"]


@pytest.mark.requirement("AS-CLI-016")
def test_a_change_that_the_policy_lets_pass_is_a_notice_on_github(
    repository: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told all the same."""
    edit(repository, *LIMIT)
    snapshot(repository, capsys)
    assert command("check", "--base", "main", "--policy", "narrowing", "--format", "github") == 0
    assert capsys.readouterr().out.startswith(f"::notice file={CONTRACT},title=widening%3A view%3Ashop.parts.pick::")
