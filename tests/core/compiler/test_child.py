"""What the fresh interpreter answers; asked here in the interpreter of the tests."""

from __future__ import annotations

import gc
import json
import py_compile
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_surface.compiler._child import main
from tests.core.compiler.project import CALL, READY, write_files

IMPORT = "from agent_surface import define_agent_procedure_contract\n"


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """An interpreter of its own ends; this one goes on."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield
    gc.enable()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def ask(folder: Path, files: Mapping[str, str], *sites: tuple[str, str]) -> dict[str, Any]:
    """What is answered about these sites in these files, all of which were searched."""
    write_files(folder, files)
    answer = folder / "answer"
    request = {
        "sites": sites,
        "files": [str(folder / name) for name in files],
        "answer": str(answer),
        "reached": str(folder / "reached"),
    }
    main(json.dumps(request))
    found: dict[str, Any] = json.loads(answer.read_text(encoding="ascii"))
    return found


def test_the_answer_has_each_declaration_its_place_and_the_name_that_holds_it(tmp_path: Path) -> None:
    """A name that holds no declaration, and one that is not there, are told apart from one that does."""
    files = {"child_shop/contracts.py": READY + "OTHER = 1\n"}
    sites = [("child_shop.contracts", name) for name in ("PING", "OTHER", "GONE")]
    answer = ask(tmp_path, files, *sites)
    (record,) = answer["records"]
    assert (answer["failure"], answer["sites"]) == (None, [0, None, None])
    assert record["declarationId"] == "child_shop.contracts:domain:ping"
    assert (record["file"], record["line"]) == (str(tmp_path / "child_shop" / "contracts.py"), 3)
    assert record["entry"]["capabilities"][0]["description"] == "Say that you are there"
    assert record["hash"].startswith("sha256:")


def test_modules_are_imported_in_order_once_each_and_the_one_being_imported_is_on_record(tmp_path: Path) -> None:
    """When the interpreter dies, that file is all there is to tell which module it was."""
    note = "from pathlib import Path\nWITNESS = Path({!r}).read_text(encoding='utf-8')\n"
    noting = note.format(str(tmp_path / "reached")) + f"with open({str(tmp_path / 'order')!r}, 'a') as file:\n"
    files = {f"child_{name}.py": READY + noting + f"    print('{name}', WITNESS, file=file)\n" for name in "ba"}
    sites = [("child_b", "PING"), ("child_b", "PONG"), ("child_a", "PING")]
    answer = ask(tmp_path, files, *sites)
    assert (tmp_path / "order").read_text(encoding="utf-8") == "b child_b\na child_a\n"
    assert answer["sites"] == [0, None, 1]


FAILURES: Mapping[str, tuple[str, str, str]] = {
    "an error without a word": ("raise ValueError", "import-failed", "ValueError"),
    "the end of the program": ("raise SystemExit('no licence')", "import-failed", "SystemExit: no licence"),
    "a refused declaration": (CALL.replace('"Ping"', '""'), "invalid-declaration", "description"),
    "what is no JSON": (CALL.replace("effect=", "meta={1: 2}, effect="), "not-json", "meta"),
}


@pytest.mark.parametrize("case", FAILURES.values(), ids=list(FAILURES))
def test_an_import_that_fails_is_the_answer_and_the_last_import(case: tuple[str, str, str], tmp_path: Path) -> None:
    """With its kind, its words and the lines that led to it; what comes after cannot be trusted any more."""
    text, kind, words = case
    files = {"child_broken.py": IMPORT + text + "\n", "child_later.py": "raise AssertionError\n"}
    answer = ask(tmp_path, files, ("child_broken", "PING"), ("child_later", "PING"))
    failure = answer["failure"]
    assert (failure["module"], failure["kind"], answer["sites"]) == ("child_broken", kind, [])
    assert words in failure["error"]
    assert [str(tmp_path / "child_broken.py"), 2] in failure["frames"]
    assert (tmp_path / "reached").read_text(encoding="utf-8") == "child_broken"


def test_what_was_searched_runs_from_its_text_and_nothing_else_is_taken_over(tmp_path: Path) -> None:
    """A stale cache of a searched module is not believed; modules that were not searched load as always."""
    source = tmp_path / "child_cached.py"
    write_files(tmp_path, {source.name: "WORD = 'old'\n", "child_free.py": "WORD = 'old'\n"})
    for file in (source, tmp_path / "child_free.py"):
        py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (tmp_path / "child_free.py").write_text("WORD = 'new'\n", encoding="utf-8")
    ask(tmp_path, {source.name: "import child_free\nWORD = 'new'\n"}, (source.stem, ""))
    assert (sys.modules["child_cached"].WORD, sys.modules["child_free"].WORD) == ("new", "old")
