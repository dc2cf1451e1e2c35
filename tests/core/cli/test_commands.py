"""What can be typed, where it is printed, and how the command ends."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import json
import logging
import os
import pty
import re
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent_surface.audit import JsonlAuditSink
from agent_surface.cli import main
from agent_surface.compiler import contract_text
from tests.core.audit.records import record
from tests.core.cli.conftest import SHOP, Command, edit, start
from tests.core.compiler.project import CALL, CONTRACT, READY, Project, write_files

IDS = ["domain:send", "view:shop.parts.pick", "view:shop.parts.read"]
"""Every capability of the shop."""


@pytest.mark.requirement("AS-CLI-001")
def test_inspect_shows_every_capability_of_the_contract(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """A headline with counts, gates and integrity, then a row for each."""
    assert command("inspect") == 0
    out, err = capsys.readouterr()
    digest = out.splitlines()[2].removeprefix("integrity: proven, hash ")
    assert err == ""
    assert out == (
        "3 capabilities in 2 declarations: 1 action, 1 observation, 1 procedure\n"
        "gates: 1 confirmed by a person each time, 0 guarded by a policy; reach: 1 high, 0 medium, 2 low\n"
        f"integrity: proven, hash {digest}\n"
        "\n"
        "capability            kind         effect                reach  confirmation  policies\n"
        "domain:send           procedure    external-side-effect  high   required      -\n"
        "view:shop.parts.pick  action       local-state           low    never         -\n"
        "view:shop.parts.read  observation  none                  low    never         -\n"
    )


@pytest.mark.requirement("AS-CLI-001", "AS-CLI-016")
def test_every_form_of_inspect_names_every_capability(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """However it is printed, nothing is left out; the smallest form counts them."""
    for arguments in (["--verbosity", "detail"], ["--format", "json"], ["--format", "md"]):
        assert command("inspect", *arguments) == 0
        out = capsys.readouterr().out
        assert [name for name in IDS if name in out] == IDS, arguments
    assert command("inspect", "--verbosity", "min") == 0
    assert capsys.readouterr().out.startswith("3 capabilities in 2 declarations: ")
    assert command("inspect", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["capabilityId"] for row in report["capabilities"]] == IDS
    assert report["capabilities"][0]["reach"] == "high"


def test_inspect_says_in_detail_what_a_capability_takes_and_gives(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything a reviewer asks for, without opening the file."""
    assert command("inspect", "--verbosity", "detail") == 0
    out = capsys.readouterr().out
    assert (
        "view:shop.parts.pick\n"
        "  Pick parts\n"
        "  action, effect local-state, reach low, confirmation never, audit metadata\n"
        "  not idempotent, reversible; policies: none\n"
        "  declared as shop.contracts:shop.parts\n"
        '  input {"additionalProperties": false, "properties": {"mode": {"enum": ["replace", "add"]}, '
        '"text": {"maxLength": 9, "type": "string"}}, "type": "object"}\n'
    ) in out


GUARDED = """
from agent_surface import PolicyAttachment, action_contract, define_agent_component_contract
import acme_charts

PARTS = define_agent_component_contract(
    type="shop.parts",
    description="The parts",
    actions={
        "sort": action_contract(
            description="Sort the parts for good",
            effect="local-state",
            reversible=False,
            policies=[PolicyAttachment(name="limit", phases=("invoke",))],
        )
    },
)
"""


@pytest.fixture
def guarded(tmp_path: Path) -> Project:
    """A program with a policy, a target and an approved distribution, and its committed contract."""
    project = Project(tmp_path / "checkout")
    project.write({"shop/contracts.py": GUARDED})
    project.install("acme-charts", {"acme_charts/__init__.py": READY})
    (problem,) = project.problems()
    approval = problem.message.rpartition("[tool.agent-surface]: ")[2]
    project.configure(more=f'targets = ["desktop", "kiosk"]\nexternal = [{approval}]')
    (project.root / CONTRACT).write_text(contract_text(project.compile()), encoding="utf-8")
    return project


@pytest.mark.requirement("AS-CLI-001")
def test_inspect_names_targets_approved_distributions_and_policies(
    guarded: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what cannot be taken back reaches further than what stays in the window and can."""
    assert main(["inspect", "--project", str(guarded.root)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == (
        "gates: 0 confirmed by a person each time, 1 guarded by a policy; reach: 0 high, 1 medium, 1 low"
    )
    assert lines[3:5] == ["targets: desktop, kiosk", "external: acme-charts"]
    assert lines[-1].split() == ["view:shop.parts.sort", "action", "local-state", "medium", "never", "limit"]
    assert main(["inspect", "--project", str(guarded.root), "--verbosity", "detail"]) == 0
    assert "  declared as acme_charts:domain:ping of acme-charts\n" in capsys.readouterr().out
    assert "  confirmation never, policies limit\n" in in_a_terminal(guarded, "inspect", COLUMNS="60")


@pytest.mark.requirement("AS-CLI-002")
def test_snapshot_writes_the_contract_once(shop: Project, command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Writing what is there already writes nothing."""
    path = shop.root / CONTRACT
    committed = path.read_bytes()
    path.unlink()
    assert command("snapshot") == 0
    assert (path.read_bytes(), capsys.readouterr().out) == (committed, f"{CONTRACT} written\n")
    os.utime(path, (1, 1))
    assert command("snapshot") == 0
    assert (path.stat().st_mtime, capsys.readouterr().out) == (1, f"{CONTRACT} is up to date\n")


@pytest.mark.requirement("AS-CLI-002", "AS-CLI-004")
def test_snapshot_writes_nothing_when_the_compilation_is_incomplete(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The committed file stays what it was, and the reasons go to standard error."""
    committed = (shop.root / CONTRACT).read_bytes()
    write_files(shop.root, {"shop/contracts.py": SHOP + f"\ndef later():\n    return {CALL}\n"})
    assert command("snapshot") == 2
    out, err = capsys.readouterr()
    assert (out, (shop.root / CONTRACT).read_bytes()) == ("", committed)
    assert "[inside-function]" in err
    assert sorted(file.name for file in shop.root.iterdir()) == [CONTRACT, "pyproject.toml", "shop"]


# ------------------------------------------------------------------------------------------------------- how it ends


def _no_project(shop: Project) -> None:
    (shop.root / "pyproject.toml").write_text("[project]\n", encoding="utf-8")


def _broken_project(shop: Project) -> None:
    (shop.root / "pyproject.toml").write_text("[tool.agent-surface\n", encoding="utf-8")


def _unknown_key(shop: Project) -> None:
    shop.configure(more='entrypoints = ["shop"]')


def _no_contract(shop: Project) -> None:
    (shop.root / CONTRACT).unlink()


def _forged_contract(shop: Project) -> None:
    path = shop.root / CONTRACT
    path.write_text(path.read_text(encoding="utf-8").replace("required", "never"), encoding="utf-8")


def _no_json(shop: Project) -> None:
    (shop.root / CONTRACT).write_text("<<<<<<< ours\n", encoding="utf-8")


def _folder_for_contract(shop: Project) -> None:
    (shop.root / CONTRACT).unlink()
    (shop.root / CONTRACT).mkdir()


def _project_in_latin_1(shop: Project) -> None:
    (shop.root / "pyproject.toml").write_bytes("# Größe\n[tool.agent-surface]\n".encode("latin-1"))


def _contract_in_latin_1(shop: Project) -> None:
    (shop.root / CONTRACT).write_bytes("Größe".encode("latin-1"))


def _no_room_for_contract(shop: Project) -> None:
    text = (shop.root / "pyproject.toml").read_text(encoding="utf-8")
    (shop.root / "pyproject.toml").write_text(text.replace(CONTRACT, f"pyproject.toml/{CONTRACT}"), encoding="utf-8")


def _nothing(shop: Project) -> None:
    del shop


REFUSALS: Sequence[tuple[str, Callable[[Project], None], list[str], str]] = [
    ("no section", _no_project, ["inspect"], "has no [tool.agent-surface]; add it with entry-points"),
    ("no TOML", _broken_project, ["inspect"], "pyproject.toml is no TOML: "),
    ("unknown key", _unknown_key, ["check"], "has no key 'entrypoints'; it takes contract, "),
    ("no contract", _no_contract, ["inspect"], f"{CONTRACT} does not exist; write it with `agent-surface snapshot`"),
    ("forged contract", _forged_contract, ["inspect"], "does not verify: the hash of the manifest"),
    ("conflict", _no_json, ["inspect"], "does not verify: it is no JSON (line 1); write it again"),
    ("project file in no UTF-8", _project_in_latin_1, ["check"], "it is not in UTF-8; save it in that encoding"),
    ("contract in no UTF-8", _contract_in_latin_1, ["inspect"], "it is no text in UTF-8; write it again"),
    ("no place to write", _no_room_for_contract, ["snapshot"], "check that the path is right and that you may use it"),
    ("a folder to check", _folder_for_contract, ["check"], "is a folder and should be the contract; move it away"),
    ("a folder to inspect", _folder_for_contract, ["inspect"], "is a folder and should be the contract; move it away"),
    ("a folder", _folder_for_contract, ["snapshot"], "is a folder and should be the contract; move it away"),
    ("unknown option", _nothing, ["inspect", "--colour"], "No such option"),
    ("unknown value", _nothing, ["check", "--format", "xml"], "`agent-surface check --help` explains it"),
    ("no such folder", _nothing, ["inspect", "--project", "nowhere"], "'nowhere' does not exist"),
]


@pytest.mark.requirement("AS-CLI-002", "AS-CLI-004")
@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[0])
def test_what_could_not_run_is_one_sentence_on_standard_error_and_code_2(
    case: tuple[str, Callable[[Project], None], list[str], str],
    shop: Project,
    command: Command,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It names the way out, and nobody sees a traceback."""
    _, spoil, arguments, sentence = case
    spoil(shop)
    assert command(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("agent-surface: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.requirement("AS-CLI-002")
def test_only_check_ends_with_1_for_a_finding(
    shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A source that moved is a finding for ``check`` and nothing to the others."""
    edit(shop, "Pick parts", "Pick any")
    assert command("inspect") == 0
    assert command("check") == 1
    assert command("snapshot") == 0
    assert command("check") == 0
    capsys.readouterr()


def test_without_a_command_or_with_an_unknown_one_the_way_to_help_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence that lists what there is."""
    assert main([]) == 2
    assert capsys.readouterr() == (
        "",
        "agent-surface: say what to do: one of audit, check, inspect, snapshot; --help explains them\n",
    )
    assert main(["audit"]) == 2
    assert capsys.readouterr().err == "agent-surface: say what to do: one of verify; --help explains them\n"
    assert main(["frobnicate"]) == 2
    assert "No such command 'frobnicate'; `agent-surface --help` explains it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [[], ["inspect"], ["snapshot"], ["check"], ["audit"], ["audit", "verify"]], ids=" ".join
)
def test_every_command_explains_itself_with_an_example(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The example begins with the command it explains."""
    assert main([*words, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"Example: agent-surface {' '.join(words)}".rstrip() in out


def test_the_command_says_what_to_install_when_its_libraries_are_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The core is installed without them."""
    genuine = importlib.util.find_spec

    def without_rich(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "rich" else genuine(name, package)

    monkeypatch.setattr("agent_surface.cli._main.find_spec", without_rich)
    assert main(["inspect"]) == 2
    assert capsys.readouterr().err == "agent-surface: rich not installed; install agent-surface-qt[cli]\n"


def test_a_defect_of_the_command_is_a_sentence_unless_its_traceback_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reports it can get at it."""

    def fail(arguments: list[str]) -> int:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("agent_surface.cli._main._run", fail)
    assert main(["inspect"]) == 2
    assert "a defect of agent-surface: RuntimeError: unforeseen; run it with --debug" in capsys.readouterr().err
    with pytest.raises(RuntimeError):
        main(["--debug", "inspect"])


# ---------------------------------------------------------------------------------------------------------- the output


@pytest.mark.requirement("AS-CLI-003", "AS-CLI-004")
def test_piped_output_is_plain_and_the_same_bytes_every_time(shop: Project) -> None:
    """No colours, no width of a terminal, no path of a machine, no warning between the lines."""
    surroundings: list[dict[str, str]] = [
        {"COLUMNS": "40", "LC_ALL": "C", "PYTHONHASHSEED": "1", "TERM": "xterm-256color", "FORCE_COLOR": "1"},
        {"COLUMNS": "400", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "TERM": "dumb", "PYTHONIOENCODING": "latin-1"},
    ]
    edit(shop, "Pick parts", "Pick … parts")
    for arguments in (["inspect"], ["check", "--format", "json"]):
        first, second = (start(shop, *arguments, **environment) for environment in surroundings)
        assert (first.stdout, first.stderr, first.returncode) == (second.stdout, b"", second.returncode)
        assert b"\x1b" not in first.stdout
        assert str(shop.root).encode() not in first.stdout
        assert first.stdout.endswith(b"\n")
        assert not first.stdout.endswith(b"\n\n")


def in_a_terminal(shop: Project, *arguments: str, **environment: str) -> str:
    """What the command shows on a terminal."""
    screen, terminal = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(screen, 65_536):
                shown.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    name, *rest = arguments
    with pytest.MonkeyPatch.context() as patch, os.fdopen(terminal, "w", encoding="utf-8") as stream:
        for variable in ("CI", "FORCE_COLOR", "NO_COLOR"):
            patch.delenv(variable, raising=False)
        for variable, value in {"TERM": "xterm-256color", "COLUMNS": "120", **environment}.items():
            patch.setenv(variable, value)
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        main([name, "--project", str(shop.root), *rest])
    reader.join()
    os.close(screen)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.requirement("AS-CLI-003")
def test_a_terminal_shows_colours_that_only_repeat_words(shop: Project) -> None:
    """With the colours taken out, every row is there to be read."""
    shown = in_a_terminal(shop, "inspect")
    assert "\x1b[" in shown
    for name in (*IDS, "high", "required"):
        assert name in shown


def test_a_narrow_terminal_breaks_no_word(shop: Project) -> None:
    """Where the columns do not fit, each capability gets lines of its own."""
    shown = in_a_terminal(shop, "inspect", COLUMNS="50")
    for text in (*IDS, "external-side-effect", "confirmation required"):
        assert text in shown
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[2:5] == [
        "gates: 1 confirmed by a person each time, 0",
        "  guarded by a policy; reach: 1 high, 0 medium, 2",
        "  low",
    ]


@pytest.mark.requirement("AS-CLI-003")
@pytest.mark.parametrize("name", ["NO_COLOR", "CI"])
def test_no_color_and_ci_make_a_terminal_plain(
    name: str, shop: Project, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes as in a pipe."""
    assert command("inspect") == 0
    assert in_a_terminal(shop, "inspect", **{name: "1"}) == capsys.readouterr().out


def test_a_terminal_says_what_the_command_is_doing_and_clears_it_away(shop: Project) -> None:
    """Whoever waits for a big program sees why; what is left in the end is the result."""
    shown = in_a_terminal(shop, "check", COLUMNS="60")
    *steps, result = shown.split("\r")
    assert [step.removesuffix("\x1b[K") for step in steps if step] == [
        "agent-surface: reading what shop.contracts can import ...",
        "agent-surface: importing the modules of 2 declarations, twi",
    ]
    assert result.startswith(f"\x1b[Ksource: {CONTRACT}")


def test_without_a_place_for_its_output_the_command_says_so(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A closed output, as ``>&-`` makes it, and a full disk."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr("agent_surface.cli._commands.write_inventory", Mock(side_effect=full))
        assert command("inspect") == 2
    assert "the output cannot be written: No space left on device; make room" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert command("inspect") == 2
        patch.setattr(sys, "stderr", None)
        assert command("inspect") == 2
    assert capsys.readouterr().err.startswith("agent-surface: standard output is closed")


def test_output_that_nobody_reads_to_its_end_is_no_failure(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``agent-surface inspect | head -1`` ends quietly, also when the interpreter flushes what was left."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert command("inspect") == 0
    assert capsys.readouterr().err == ""


def test_output_that_a_program_collects_is_the_same_text(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever calls the command in a process of their own may have no bytes to write to."""
    assert command("inspect") == 0
    with contextlib.redirect_stdout(io.StringIO()) as collected:
        assert command("inspect") == 0
    assert collected.getvalue() == capsys.readouterr().out


def test_a_command_that_is_interrupted_did_not_run(
    shop: Project, command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C: no traceback, nothing written, and not the code of a finding."""
    (shop.root / CONTRACT).unlink()
    monkeypatch.setattr("agent_surface.cli._commands.compile_contract", Mock(side_effect=KeyboardInterrupt))
    assert command("snapshot") == 2
    out, err = capsys.readouterr()
    assert (out, err.strip(), (shop.root / CONTRACT).exists()) == ("", "", False)


# ----------------------------------------------------------------------------------------------------------- the audit


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """An audit file with three entries and its head."""
    path = tmp_path / "audit.jsonl"
    with JsonlAuditSink(path) as sink:
        for at_ms in range(3):
            sink.record(record(at_ms))
    return path


def test_an_audit_file_that_is_what_was_written_is_intact(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last entry is named, so that it can be noted elsewhere."""
    assert main(["audit", "verify", str(trail)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "audit: intact, 3 entries"
    assert second.startswith("  last entry 3, hash ")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "there is none before it"),
        (2, "the one before it is as it was written"),
        (3, "the 2 before it are as they were written"),
    ],
)
def test_an_audit_file_says_how_much_of_it_still_holds(
    number: int, words: str, trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever finds one line altered asks about the others first."""
    lines = trail.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b"ok", b"ko", 1)
    trail.write_bytes(b"".join(lines))
    assert main(["audit", "verify", str(trail)]) == 1
    first, second, third, *rest = capsys.readouterr().out.splitlines()
    assert (first, third) == (
        f"audit: altered in line {number}",
        "  to do: keep the file as it is and compare it with a copy kept elsewhere",
    )
    assert second.endswith(f"; {words}")
    assert [line.partition(", ")[0] for line in rest] == ([f"  last entry {number - 1}"] if number > 1 else [])


def test_an_audit_file_without_entries_is_intact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing that could have been cut off, and no last entry to note."""
    (tmp_path / "audit.jsonl").touch()
    assert main(["audit", "verify", str(tmp_path / "audit.jsonl")]) == 0
    assert capsys.readouterr().out == "audit: intact, 0 entries\n"


def test_what_a_crash_left_in_an_audit_file_is_told_and_is_no_finding(
    trail: Path, capsys: pytest.CaptureFixture[str], expected_logs: list[logging.LogRecord]
) -> None:
    """At the end it is half a line; once the program has gone on, a later entry accounts for it."""
    with trail.open("ab") as file:
        file.write(b'{"prev":')
    assert main(["audit", "verify", str(trail)]) == 0
    assert "  line 4 is torn: a crash left 8 bytes of an entry that never was\n" in capsys.readouterr().out
    with JsonlAuditSink(trail) as sink:
        sink.record(record(3))
    assert main(["audit", "verify", str(trail)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("audit: intact, 5 entries\n")
    assert "  torn lines inside the file that a later entry accounts for: 1\n" in out
    assert len(expected_logs) == 1


def test_entries_behind_the_head_are_told_apart_from_those_it_proves(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either the head could not be written before a crash, or somebody added them."""
    head = trail.with_name("audit.jsonl.head")
    kept = head.read_bytes()
    with JsonlAuditSink(trail) as sink:
        sink.record(record(3))
    head.write_bytes(kept)
    assert main(["audit", "verify", str(trail)]) == 0
    assert (
        "  the head does not prove the last 1: written before a crash, or added by somebody\n"
        in capsys.readouterr().out
    )


def test_an_altered_audit_file_is_a_finding_that_names_the_line(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One byte is enough."""
    lines = trail.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"ok", b"ko", 1)
    trail.write_bytes(b"".join(lines))
    assert main(["audit", "verify", str(trail)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("audit: altered in line 2\n")
    assert "entry 2 should be there: this line is not the one that was written here" in out


def test_without_a_head_an_audit_file_says_what_cannot_be_proven(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An end that was cut off leaves no trace in the file itself; a head that was noted shows it."""
    assert main(["audit", "verify", str(trail)]) == 0
    head = capsys.readouterr().out.splitlines()[-1].rpartition(" ")[2]
    trail.with_name("audit.jsonl.head").unlink()
    trail.write_bytes(b"".join(trail.read_bytes().splitlines(keepends=True)[:2]))
    assert main(["audit", "verify", str(trail)]) == 0
    assert "without a head nobody can tell whether the end was cut off" in capsys.readouterr().out
    assert main(["audit", "verify", str(trail), "--head", head]) == 1
    assert capsys.readouterr().out.startswith("audit: cut in line 3\n")


def test_an_audit_file_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the file's name and what to look at."""
    assert main(["audit", "verify", str(tmp_path)]) == 2
    assert "is a directory; `agent-surface audit verify --help` explains it" in capsys.readouterr().err
    assert main(["audit", "verify", str(tmp_path / "nothing.jsonl")]) == 2
    assert "nothing.jsonl: No such file or directory; check that the path is right" in capsys.readouterr().err
