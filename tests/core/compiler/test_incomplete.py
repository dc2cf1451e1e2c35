"""Each reason for which a compilation is incomplete, with a program that gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from agent_surface.compiler import ProblemCode
from tests.core.compiler.project import CALL, READY, Project

IMPORT = "from agent_surface import define_agent_procedure_contract\n"
CONTRACTS = "shop/contracts.py"
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that cannot be compiled.

    Attributes:
        code: Why.
        files: What it consists of; the line to be named is marked.
        file: The file to be named.
        remedy: What the message has to tell the author to do.
        more: Further lines of the project file.
        timeout_ms: Milliseconds its imports may take.
    """

    code: ProblemCode
    files: Mapping[str, str]
    remedy: str
    file: str = CONTRACTS
    more: str = ""
    timeout_ms: int = 60_000
    installed: Mapping[str, str] = field(default_factory=lambda: NOTHING)


def only(code: ProblemCode, text: str, remedy: str) -> Program:
    """A program of one module."""
    return Program(code=code, files={CONTRACTS: text}, remedy=remedy)


def inside(code: ProblemCode, text: str) -> Program:
    """A declaration at a place where it may be made any number of times."""
    return only(code, IMPORT + text, "at module level")


PROGRAMS: Mapping[str, Program] = {
    "a function": inside(ProblemCode.INSIDE_FUNCTION, f"def ping():\n    return {CALL}  # here\n"),
    "an async function": inside(ProblemCode.INSIDE_FUNCTION, f"async def ping():\n    PING = {CALL}  # here\n"),
    "a lambda": inside(ProblemCode.INSIDE_FUNCTION, f"PING = lambda: {CALL}  # here\n"),
    "a method": inside(ProblemCode.INSIDE_FUNCTION, f"class Shop:\n    def ping(self):\n        {CALL}  # here\n"),
    "a function that imports it": only(
        ProblemCode.INSIDE_FUNCTION,
        f"def ping():\n    from agent_surface import define_agent_procedure_contract\n    return {CALL}  # here\n",
        "at module level",
    ),
    "a function that uses a name another function made global": only(
        ProblemCode.INSIDE_FUNCTION,
        "def load():\n    global d\n    from agent_surface import define_agent_procedure_contract as d\n"
        "def ping():\n    return d(id='domain:ping', description='Ping', effect='server-query')  # here\n",
        "at module level",
    ),
    "a function that uses a name of the function around it": only(
        ProblemCode.INSIDE_FUNCTION,
        "def outer():\n    d = None\n    def load():\n        nonlocal d\n"
        "        from agent_surface import define_agent_procedure_contract as d\n"
        "    def ping():\n        return d(id='domain:ping', description='Ping', effect='server-query')  # here\n",
        "at module level",
    ),
    "a class": inside(ProblemCode.INSIDE_CLASS, f"class Shop:\n    PING = {CALL}  # here\n"),
    "a for loop": inside(ProblemCode.INSIDE_LOOP, f"for _ in range(1):\n    PING = {CALL}  # here\n"),
    "a while loop": inside(ProblemCode.INSIDE_LOOP, f"while True:\n    PING = {CALL}  # here\n    break\n"),
    "an if": inside(ProblemCode.INSIDE_CONDITION, f"if __debug__:\n    PING = {CALL}  # here\n"),
    "a try": inside(ProblemCode.INSIDE_CONDITION, f"try:\n    PING = {CALL}  # here\nfinally:\n    pass\n"),
    "a try of groups": inside(
        ProblemCode.INSIDE_CONDITION, f"try:\n    PING = {CALL}  # here\nexcept* OSError:\n    pass\n"
    ),
    "a with": inside(
        ProblemCode.INSIDE_CONDITION,
        f"import contextlib\nwith contextlib.suppress(OSError):\n    PING = {CALL}  # here\n",
    ),
    "a match": inside(ProblemCode.INSIDE_CONDITION, f"match 1:\n    case 1:\n        PING = {CALL}  # here\n"),
    "a comprehension": inside(ProblemCode.INSIDE_COMPREHENSION, f"PINGS = [{CALL} for _ in (1,)]  # here\n"),
    "a set comprehension": inside(ProblemCode.INSIDE_COMPREHENSION, f"PINGS = {{{CALL} for _ in (1,)}}  # here\n"),
    "a table comprehension": inside(
        ProblemCode.INSIDE_COMPREHENSION, f"PINGS = {{number: {CALL} for number in (1,)}}  # here\n"
    ),
    "a generator": inside(ProblemCode.INSIDE_COMPREHENSION, f"PINGS = list({CALL} for _ in (1,))  # here\n"),
    "a function that uses a name of the function around its class": only(
        ProblemCode.INSIDE_FUNCTION,
        "def outer():\n    d = None\n    class Loader:\n        def load(self):\n            nonlocal d\n"
        "            from agent_surface import define_agent_procedure_contract as d\n"
        "    def ping():\n        return d(id='domain:ping', description='Ping', effect='server-query')  # here\n",
        "at module level",
    ),
    "star arguments": only(
        ProblemCode.STAR_ARGUMENTS,
        IMPORT + 'WHAT = {"id": "domain:ping"}\nPING = define_agent_procedure_contract(**WHAT)  # here\n',
        "write each argument out",
    ),
    "no name": only(ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"{CALL}  # here\n", "NAME = define_agent"),
    "two names": only(ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"A = B = {CALL}  # here\n", "NAME = define_agent"),
    "an unpacking": only(ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"A, B = {CALL}, 1  # here\n", "NAME = define_agent"),
    "an attribute": only(
        ProblemCode.NOT_AN_ASSIGNMENT,
        IMPORT + f"import types\nA = types.SimpleNamespace()\nA.b = {CALL}  # here\n",
        "NAME =",
    ),
    "an annotated attribute": only(
        ProblemCode.NOT_AN_ASSIGNMENT,
        IMPORT + f"import types\nA = types.SimpleNamespace()\nA.b: object = {CALL}  # here\n",
        "NAME =",
    ),
    "an argument": only(ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"A = dict(b={CALL})  # here\n", "NAME = define_agent"),
    "a walrus": only(ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"print(A := {CALL})  # here\n", "NAME = define_agent"),
    "a name used again": only(
        ProblemCode.NOT_AN_ASSIGNMENT, IMPORT + f"PING = {CALL}  # here\nPING = None\n", "a name of its own"
    ),
    "a partial": only(
        ProblemCode.USED_AS_VALUE,
        IMPORT + "from functools import partial\ndefine = partial(define_agent_procedure_contract)  # here\n",
        "call it by its name",
    ),
    "a default": only(
        ProblemCode.USED_AS_VALUE,
        IMPORT + "def later(f=define_agent_procedure_contract): ...  # here\n",
        "call it by its name",
    ),
    "a decorator": only(
        ProblemCode.USED_AS_VALUE,
        IMPORT + "@define_agent_procedure_contract  # here\ndef f(): ...\n",
        "call it by its name",
    ),
    "a computed attribute": only(
        ProblemCode.USED_AS_VALUE,
        'import agent_surface\ndefine = getattr(agent_surface, "define_" + "x", None)  # here\n',
        "import the function by its name",
    ),
    "a named attribute": only(
        ProblemCode.USED_AS_VALUE,
        'import agent_surface\ndefine = getattr(agent_surface, "define_agent_procedure_contract")  # here\n',
        "import the function by its name",
    ),
    "a computed import": only(
        ProblemCode.DYNAMIC_IMPORT,
        "from importlib import import_module\nimport_module('shop.' + 'plugin')  # here\n",
        'dynamic-imports = { "shop.contracts" = ["..."] }',
    ),
    "an import relative to what is computed": only(
        ProblemCode.DYNAMIC_IMPORT,
        "from importlib import import_module\nHERE = 'sh' + 'op'\nimport_module('.plugin', package=HERE)  # here\n",
        "dynamic-imports",
    ),
    "a computed dunder import": only(ProblemCode.DYNAMIC_IMPORT, "__import__(__name__)  # here\n", "dynamic-imports"),
    "imports handed on": only(
        ProblemCode.DYNAMIC_IMPORT,
        "import importlib\nALL = list(map(importlib.import_module, ['shop']))  # here\n",
        "dynamic-imports",
    ),
    "a file run as a module": only(
        ProblemCode.DYNAMIC_IMPORT,
        "import runpy\ndef go():\n    runpy.run_path('plugin.py')  # here\n",
        "dynamic-imports",
    ),
    "no such entry point": Program(
        code=ProblemCode.ENTRY_POINT_MISSING, files={"shop/other.py": ""}, file="pyproject.toml", remedy="entry-points"
    ),
    "no encoding": only(ProblemCode.SYNTAX_ERROR, "# coding: klingon  # here\n", "klingon; correct it"),
    "no Python": only(ProblemCode.SYNTAX_ERROR, "PING = (\n1 2  # here\n)\n", "correct it"),
    "an import that fails": Program(
        code=ProblemCode.IMPORT_FAILED,
        files={
            CONTRACTS: READY + "from shop.display import screen\n",
            "shop/display.py": "raise OSError('no display')  # here\n",
        },
        file="shop/display.py",
        remedy="has to import on a machine without a display",
    ),
    "an import that ends the program": only(
        ProblemCode.IMPORT_FAILED, READY + "raise SystemExit('no licence')  # here\n", "has to import on a machine"
    ),
    "an import that ends as if somebody had pressed a key": only(
        ProblemCode.IMPORT_FAILED, READY + "raise KeyboardInterrupt  # here\n", "KeyboardInterrupt; a module that"
    ),
    "an import that kills the interpreter": Program(
        code=ProblemCode.IMPORT_FAILED,
        files={
            "shop/early.py": IMPORT
            + 'A = define_agent_procedure_contract(id="domain:a", description="A", effect="server-query")\n',
            CONTRACTS: "import shop.early, shop.late\n",
            "shop/late.py": IMPORT + f"PING = {CALL}  # here\nimport os\nos.write(2, b'goodbye\\n')\nos._exit(7)\n",
        },
        file="shop/late.py",
        remedy="ended with code 7 while this module was imported: goodbye; keep out",
    ),
    "an import that crashes": only(
        ProblemCode.IMPORT_FAILED,
        IMPORT + f"PING = {CALL}  # here\nimport os\nos.kill(os.getpid(), 9)\n",
        "ended with signal 9 while this module was imported: without a word",
    ),
    "an import that does not end": Program(
        code=ProblemCode.IMPORT_TIMEOUT,
        files={
            "shop/early.py": IMPORT
            + 'A = define_agent_procedure_contract(id="domain:a", description="A", effect="server-query")\n',
            CONTRACTS: "import shop.early, shop.late\n",
            "shop/late.py": IMPORT + f"PING = {CALL}  # here\nimport threading\nthreading.Event().wait()\n",
        },
        file="shop/late.py",
        remedy="keep work out of modules that declare",
        timeout_ms=1_500,
    ),
    "a refused declaration": only(
        ProblemCode.INVALID_DECLARATION,
        IMPORT
        + 'PING = define_agent_procedure_contract(id="domain:ping", description="", effect="server-query")  # here\n',
        "correct the declaration",
    ),
    "what is no JSON": only(
        ProblemCode.NOT_JSON,
        IMPORT
        + "PING = define_agent_procedure_contract(  # here\n"
        + '    id="domain:ping", description="Ping", effect="server-query", meta={"since": {1, 2}}\n)\n',
        "write it with text, numbers, true",
    ),
    "a declaration out of sight": only(
        ProblemCode.RECORD_WITHOUT_SITE,
        READY
        + 'import agent_surface\nhidden = vars(agent_surface)["define_agent_procedure_contract"]\n'
        + 'LATE = hidden(id="domain:late", description="Late", effect="server-query")  # here\n',
        "assign a call of the library's own function",
    ),
    "a function exchanged at run time": only(
        ProblemCode.SITE_WITHOUT_RECORD,
        IMPORT + f"globals()['define_agent_procedure_contract'] = lambda **parts: None\nPING = {CALL}  # here\n",
        "call the library's own function",
    ),
    "one thing declared twice": only(
        ProblemCode.DECLARED_TWICE, IMPORT + f"PING = {CALL}\nPONG = {CALL}  # here\n", "keep one of them"
    ),
    "what depends on the hash seed": only(
        ProblemCode.NOT_DETERMINISTIC,
        IMPORT
        + 'WORD = " ".join({"alpha", "beta", "gamma", "delta", "epsilon"})\n'
        + 'PING = define_agent_procedure_contract(id="domain:ping", description=WORD, effect="server-query")  # here\n',
        "/capabilities/0/description",
    ),
    "what depends on the hash seed in the second of a list": only(
        ProblemCode.NOT_DETERMINISTIC,
        IMPORT
        + 'WORD = " ".join({"alpha", "beta", "gamma", "delta", "epsilon"})\n'
        + "PING = define_agent_procedure_contract(  # here\n"
        + '    id="domain:ping", description="Ping", effect="server-query", meta={"words": ["a", WORD]}\n)\n',
        "/capabilities/0/meta/words/1",
    ),
    "what is true in one world and 1 in the other": only(
        ProblemCode.NOT_DETERMINISTIC,
        IMPORT
        + "import os\nWORLD = True if os.environ['PYTHONHASHSEED'] == '1' else 1\n"
        + "PING = define_agent_procedure_contract(  # here\n"
        + '    id="domain:ping", description="Ping", effect="server-query", meta={"sure": WORLD}\n)\n',
        "/capabilities/0",
    ),
    "what depends on the time zone": only(
        ProblemCode.NOT_DETERMINISTIC,
        IMPORT
        + "import time\n"
        + "PING = define_agent_procedure_contract(  # here\n"
        + '    id="domain:ping", description=f"At {time.timezone}", effect="server-query"\n)\n',
        "write down what does not depend on them",
    ),
    "what depends on the folder": only(
        ProblemCode.NOT_DETERMINISTIC,
        IMPORT
        + "import os\n"
        + "PING = define_agent_procedure_contract(  # here\n"
        + '    id="domain:ping", description=os.getcwd(), effect="server-query"\n)\n',
        "write down what does not depend on them",
    ),
    "a third party nobody approved": Program(
        code=ProblemCode.EXTERNAL_NEW,
        files={CONTRACTS: READY + "import acme_charts  # here\n"},
        installed={"acme_charts/__init__.py": READY},
        remedy='{ package = "acme-charts", digest = "sha256:',
    ),
    "a third party that changed": Program(
        code=ProblemCode.EXTERNAL_CHANGED,
        files={CONTRACTS: READY + "import acme_charts\n"},
        installed={"acme_charts/__init__.py": READY},
        more='external = [{ package = "acme-charts", digest = "sha256:' + "0" * 64 + '" }]  # here',
        file="pyproject.toml",
        remedy="review the change and write",
    ),
    "an approval of nothing": Program(
        code=ProblemCode.EXTERNAL_UNUSED,
        files={CONTRACTS: READY},
        more='external = [{ package = "acme-charts", digest = "sha256:' + "0" * 64 + '" }]  # here',
        file="pyproject.toml",
        remedy="remove its line",
    ),
}


@pytest.mark.requirement("AS-COMPILER-004", "AS-COMPILER-006")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_what_cannot_be_proven_is_an_error_with_file_line_code_and_a_way_out(
    program: Program, project: Project
) -> None:
    """Nothing is dropped and nothing is left unresolved: each reason has a name, a place and a remedy."""
    project.configure(more=program.more)
    project.write(program.files)
    if program.installed:
        project.install("acme-charts", program.installed)
    line = 1 if program.code is ProblemCode.ENTRY_POINT_MISSING else project.line_here(program.file)
    (problem,) = project.problems(import_timeout_ms=program.timeout_ms)
    assert (problem.code, problem.file, problem.line) == (program.code, program.file, line)
    assert program.remedy in problem.message
    assert str(problem).startswith(f"{program.file}:{line}: [{program.code.value}] ")
    assert "\n" not in str(problem)


def test_every_reason_has_a_program_that_gives_it() -> None:
    """A code that nothing triggers would be a promise nobody kept."""
    assert {program.code for program in PROGRAMS.values()} == set(ProblemCode)


def test_every_problem_of_the_source_is_told_at_once(project: Project) -> None:
    """An author who mends one problem and meets the next each time gives up."""
    project.write(
        {CONTRACTS: IMPORT + f"def a():\n    {CALL}\nclass B:\n    C = {CALL}\n", "shop/__init__.py": "1 +\n"}
    )
    assert [(problem.file, problem.code) for problem in project.problems()] == [
        ("shop/__init__.py", ProblemCode.SYNTAX_ERROR),
        (CONTRACTS, ProblemCode.INSIDE_FUNCTION),
        (CONTRACTS, ProblemCode.INSIDE_CLASS),
    ]
