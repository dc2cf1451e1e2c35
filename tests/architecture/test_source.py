"""Rules of style that no linter has: sizes, clocks, names of modules, how packages and tests are laid out."""

from __future__ import annotations

import ast

from tests.architecture.source import Module, imports, is_within, modules, tracked_files

MAX_LINES = 500
NAMELESS = {"utils", "util", "helpers", "helper", "common", "shared", "misc"}

# The only modules that may ask the machine for the time, for randomness or for an id; everything else is handed a port.
REAL_ADAPTERS = {
    "agent_surface._base",
    "agent_surface.registry",
    "agent_surface.testing",
    "agent_surface.pytest_plugin",
    "agent_surface.cli",
    "qt_binding._runtime",
    "demo_app.composition",
    "demo_app.domain._ports",
}
CHANCE_AND_TIME = {
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "monotonic"),
    ("time", "monotonic_ns"),
    ("time", "perf_counter"),
    ("time", "sleep"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("uuid", "uuid4"),
    ("uuid", "uuid1"),
    ("secrets", "token_hex"),
    ("secrets", "token_urlsafe"),
    ("secrets", "token_bytes"),
}


def _calls_of_chance_and_time(module: Module) -> list[str]:
    found = [
        f"{module.place}:{node.lineno} {owner}.{name}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        for owner, name in [(_last_name(node.value), node.attr)]
        if (owner, name) in CHANCE_AND_TIME or owner == "random"
    ]
    return found + [
        f"{module.place}:{node.lineno} from {node.module} import {alias.name}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (node.module, alias.name) in CHANCE_AND_TIME or node.module == "random"
    ]


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def test_only_the_real_adapters_ask_for_the_time_or_for_chance() -> None:
    """Time, ids and randomness are ports, so that a test can hold them in its hand."""
    found = [
        call
        for module in modules()
        if not is_within(module.name, *REAL_ADAPTERS)
        for call in _calls_of_chance_and_time(module)
    ]
    assert found == []


def test_no_test_sleeps() -> None:
    """A test moves a clock or awaits an event; a sleep is slow on a fast machine and too short on a slow one.

    A benchmark is no test: time is what it measures, and a stream of so many tokens a second has to last a while.
    """
    found = [
        f"{module.place}:{node.lineno}"
        for module in modules("tests")
        if not is_within(module.name, "tests.benchmarks")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (_last_name(node.func.value), node.func.attr) in {("time", "sleep"), ("asyncio", "sleep")}
        # sleep(0) is one turn of the loop, not a wait.
        and not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
    ]
    assert found == []


def test_modules_are_small_enough_to_read_in_one_sitting() -> None:
    """A module that outgrows this is split before it is added to."""
    sizes = {module.place: len(module.file.read_text(encoding="utf-8").splitlines()) for module in modules()}
    assert {place: lines for place, lines in sizes.items() if lines > MAX_LINES} == {}


def test_no_module_is_a_drawer() -> None:
    """A module has one noun; a drawer collects what nobody named."""
    assert [m.place for m in modules() if m.name.rpartition(".")[2].strip("_") in NAMELESS] == []


def test_a_package_says_what_it_is_and_what_is_above_and_below_it() -> None:
    """The docstring of ``__init__`` is the first thing a reader opens."""
    silent = [
        module.place
        for module in modules("agent_surface", "qt_binding")
        if module.is_package
        and not {"Above", "Below"} <= set((ast.get_docstring(module.tree) or "").replace(":", " ").split())
    ]
    assert silent == []


def test_a_package_init_only_names_what_it_offers() -> None:
    """Logic in ``__init__`` runs for everyone who imports anything below it."""
    offenders = [
        f"{module.place}:{node.lineno}"
        for module in modules()
        if module.is_package
        for node in module.tree.body
        if not _is_only_a_name(node)
    ]
    assert offenders == []


def _is_only_a_name(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__version__")]):
            return True
        case ast.AnnAssign(target=ast.Name(id="__all__" | "__version__")):
            return True
        # What offers a name on its first use: the table of names, for checkers and for the program, and the two hooks.
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.AnnAssign(target=ast.Name(id="_HOMES" | "_HOME_OF")):
            return True
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
        # The guard that refuses a Qt known to abort has to come before the first import of Qt.
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name.startswith("require_")
        case _:
            return False


def test_tests_are_functions_that_say_what_they_prove() -> None:
    """Plain functions, named as sentences; ruff asks for the docstring."""
    classes = [
        f"{module.place}:{node.lineno}"
        for module in modules("tests")
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
    ]
    assert classes == []


def test_no_test_file_is_out_of_pytests_sight() -> None:
    """A file under tests/ that defines test functions is named test_*."""
    hidden = [
        module.place
        for module in modules("tests")
        if not module.file.name.startswith("test_")
        and any(
            isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name.startswith("test_")
            for n in module.tree.body
        )
    ]
    assert hidden == []


def test_the_core_never_prints() -> None:
    """Standard output belongs to the command line alone; ruff sees print, this sees sys.stdout."""
    found = [
        f"{module.place}:{node.lineno}"
        for module in modules("agent_surface", "qt_binding")
        if not is_within(module.name, "agent_surface.cli", "agent_surface.__main__")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and (_last_name(node.value), node.attr) == ("sys", "stdout")
    ]
    assert found == []


def test_sources_import_no_test_code() -> None:
    """What is shipped cannot lean on what is not."""
    assert [
        found for module in modules() for found in imports(module) if is_within(found.imported, "tests", "tools")
    ] == []


def test_nothing_made_by_a_machine_is_under_version_control() -> None:
    """Caches, environments and builds are made anew."""
    made = ("__pycache__", ".venv", "build", "dist", ".hypothesis")
    assert [str(file) for file in tracked_files() if any(part in made for part in file.parts)] == []
