"""Declarations are found by what a name is bound to, wherever the name came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from agent_surface import JsonValue
from agent_surface.compiler import ProblemCode
from tests.core.compiler.project import Project, declaration_ids

ARGUMENTS = '(id="domain:ping", description="Ping", effect="server-query")'

WAYS: Mapping[str, Mapping[str, str]] = {
    "by its name": {
        "shop/contracts.py": f"from agent_surface import define_agent_procedure_contract\n"
        f"PING = define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "by another name": {
        "shop/contracts.py": f"from agent_surface import define_agent_procedure_contract as define\n"
        f"PING = define{ARGUMENTS}\n"
    },
    "with an annotation": {
        "shop/contracts.py": f"import agent_surface\n"
        f"PING: object = agent_surface.define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "as an attribute of a renamed module": {
        "shop/contracts.py": f"import agent_surface.contracts as c\n"
        f"PING = c.define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "as an attribute along a path": {
        "shop/contracts.py": f"import agent_surface.contracts\n"
        f"PING = agent_surface.contracts.define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "by an assigned name": {
        "shop/contracts.py": f"import agent_surface as a\nb = a\ndefine = b.define_agent_procedure_contract\n"
        f"d = define\n"
        f"PING = d{ARGUMENTS}\n"
    },
    "by a star": {
        "shop/contracts.py": f"from agent_surface import *\nPING = define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "re-exported by a package": {
        "shop/__init__.py": "",
        "shop/api/__init__.py": "from shop.api._inner import declare\n",
        "shop/api/_inner.py": "from agent_surface import define_agent_procedure_contract as declare\n",
        "shop/contracts.py": f"from .api import declare as d\nPING = d{ARGUMENTS}\n",
    },
    "re-exported by a star": {
        "shop/api.py": "from agent_surface import define_agent_procedure_contract as define\nd = define\n",
        "shop/contracts.py": f"from shop.api import *\nPING = d{ARGUMENTS}\n",
    },
    "as an attribute of a module of ours": {
        "shop/api.py": "from agent_surface import define_agent_procedure_contract as d\n",
        "shop/contracts.py": f"from shop import api\nPING = api.d{ARGUMENTS}\n",
    },
    "from a module imported by name": {
        "shop/contracts.py": f'from importlib import import_module as load\nlibrary = load("agent_surface")\n'
        f"PING = library.define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "from the table of modules": {
        "shop/contracts.py": f'import sys, agent_surface\nlibrary = sys.modules["agent_surface"]\n'
        f"PING = library.define_agent_procedure_contract{ARGUMENTS}\n"
    },
    "beside a name that is imported in two ways": {
        "shop/contracts.py": f"try:\n    from agent_surface import define_agent_procedure_contract as d\n"
        f"except ImportError:\n    d = None\nPING = d{ARGUMENTS}\n"
    },
}


@pytest.mark.requirement("AS-COMPILER-001")
@pytest.mark.parametrize("files", WAYS.values(), ids=list(WAYS))
def test_a_declaration_is_found_whatever_the_function_is_called_there(
    files: Mapping[str, str], project: Project
) -> None:
    """An alias, a re-export or an attribute is the same function."""
    project.write(files)
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


ROADS: Mapping[str, str] = {
    "a function": "def later():\n    import shop.hidden\n",
    "a method": "class Shop:\n    async def open(self):\n        from shop import hidden\n",
    "a relative import": "from . import hidden\n",
    "a try": "try:\n    import shop.hidden as hidden\nexcept ImportError:\n    pass\n",
    "the other branch of a check for types": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    pass\nelse:\n    import shop.hidden\n",
    "a literal import by name": 'import importlib\ndef later():\n    importlib.import_module("shop.hidden")\n',
    "a relative import by name": 'from importlib import import_module as load\nload(".hidden", __package__)\n',
    "a relative import from a package that is written out": "from importlib import import_module as load\n"
    'load(".hidden", package="shop")\n',
    "a relative import from its own name": 'from importlib import import_module as load\nload("..hidden", __name__)\n',
    "an import by name under another name": 'import importlib\nload = importlib.import_module\nload("shop.hidden")\n',
    "the import function": '__import__("shop.hidden")\n',
    "a chain": "import shop.chain\n",
}


@pytest.mark.requirement("AS-COMPILER-001")
@pytest.mark.parametrize("text", ROADS.values(), ids=list(ROADS))
def test_a_module_is_found_by_whatever_road_it_is_imported(text: str, project: Project) -> None:
    """What the program can import is in it, also when it is imported late."""
    declares = f"from agent_surface import define_agent_procedure_contract as d\nPING = d{ARGUMENTS}\n"
    project.write({"shop/contracts.py": text, "shop/hidden.py": declares, "shop/chain.py": "import shop.hidden\n"})
    assert declaration_ids(project.compile()) == ["shop.hidden:domain:ping"]


NOT_ONES: Mapping[str, str] = {
    "a function of our own": "def define_agent_procedure_contract(**parts): ...\ndef f():\n"
    f"    return define_agent_procedure_contract{ARGUMENTS}\n",
    "a parameter": "from agent_surface import define_agent_procedure_contract\n"
    f"def f(define_agent_procedure_contract):\n    return define_agent_procedure_contract{ARGUMENTS}\n",
    "a method of the same name": "class Own:\n    def define_agent_procedure_contract(self, **parts): ...\n"
    f"def f(own):\n    return own.define_agent_procedure_contract{ARGUMENTS}\n",
    "another module's": f"from shop import own\ndef f():\n    return own.define_agent_procedure_contract{ARGUMENTS}\n",
    "a name for type checkers alone": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    f"    from agent_surface import define_agent_procedure_contract as d\n    PING = d{ARGUMENTS}\n",
    "a text": f'NOTE = "define_agent_procedure_contract{ARGUMENTS[:3]}"\n__all__ = ["NOTE"]\n',
    "a local name over a global one": "from agent_surface import define_agent_procedure_contract as d\n"
    f"def f():\n    d = dict\n    return d{ARGUMENTS}\n",
    "a caught error over a global name": "from agent_surface import define_agent_procedure_contract as d\n"
    f"def f():\n    try:\n        pass\n    except Exception as d:\n        d{ARGUMENTS}\n",
    "captured values over a global name": "from agent_surface import define_agent_procedure_contract as d, "
    f"define_agent_procedure_contract as e\ndef f(x):\n    match x:\n"
    f"        case {{'a': _, **d}}:\n            d{ARGUMENTS}\n"
    f"        case [*e]:\n            e{ARGUMENTS}\n",
    "an assigned expression over a global name": "from agent_surface import define_agent_procedure_contract as d\n"
    f"def f():\n    return [(d := dict) for _ in '1'], d{ARGUMENTS}\n",
    "a name that is annotated over a global one": "from agent_surface import define_agent_procedure_contract as d\n"
    f"def f():\n    d: object\n    return d{ARGUMENTS}\n",
    "a captured name over a global name": "from agent_surface import define_agent_procedure_contract as d\n"
    f"def f(x):\n    match x:\n        case {{'a': [*_]}}:\n            pass\n"
    f"        case d:\n            d{ARGUMENTS}\n",
    "a block for when types are not checked that runs nowhere else": "from typing import TYPE_CHECKING\n"
    "if not TYPE_CHECKING:\n    from shop import own\nelse:\n    import agent_surface as own\n"
    f"def f():\n    return own.define_agent_procedure_contract{ARGUMENTS}\n",
    "harmless uses of getattr": "import agent_surface\nread = getattr\n"
    "TYPES = getattr(agent_surface, 'from_type')\nSIZE = getattr('', '__len__')\n",
    "names that lead back to themselves": "import agent_surface\nfrom shop.circle import a\nb = a\ne = f\nf = e\n"
    f"def g():\n    a{ARGUMENTS}, b{ARGUMENTS}, e{ARGUMENTS}\n",
    "a class attribute seen from a method": "from builtins import dict as d\nclass C:\n"
    "    from agent_surface import define_agent_procedure_contract as d\n"
    f"    def f(self):\n        return d{ARGUMENTS}\n",
}


CIRCLE = "import agent_surface\nfrom shop.contracts import b as a\n"


@pytest.mark.requirement("AS-COMPILER-001")
@pytest.mark.parametrize("text", NOT_ONES.values(), ids=list(NOT_ONES))
def test_a_function_that_only_shares_the_name_declares_nothing(text: str, project: Project) -> None:
    """The name is not what counts."""
    own = {"shop/own.py": "def define_agent_procedure_contract(**parts): ...\n", "shop/circle.py": CIRCLE}
    project.write({"shop/contracts.py": text, **own})
    assert declaration_ids(project.compile()) == []


def test_a_configured_dynamic_import_is_followed(project: Project) -> None:
    """The configuration says what a computed import may load, and that is searched like everything else."""
    declares = f"from agent_surface import define_agent_procedure_contract as d\nPING = d{ARGUMENTS}\n"
    project.configure(more='dynamic-imports = { "shop.contracts" = ["shop.plugins.one"] }')
    project.write(
        {
            "shop/contracts.py": "from importlib import import_module\ndef load(name):\n    import_module(name)\n",
            "shop/plugins/one.py": declares,
        }
    )
    assert declaration_ids(project.compile()) == ["shop.plugins.one:domain:ping"]


def test_a_source_folder_is_searched_like_the_project_folder(project: Project) -> None:
    """Both customs of laying out a project are understood."""
    project.write(
        {"src/shop/contracts.py": f"import agent_surface as a\nPING = a.define_agent_procedure_contract{ARGUMENTS}\n"}
    )
    (project.root / "src" / "__init__.py").unlink()
    assert declaration_ids(project.compile()) == ["shop.contracts:domain:ping"]


@pytest.mark.requirement("AS-COMPILER-003")
def test_a_second_declaration_of_one_capability_stays_apart(project: Project) -> None:
    """Two modules that declare one id are two things to review, each with its own hash."""
    declares = f"from agent_surface import define_agent_procedure_contract as d\nPING = d{ARGUMENTS}\n"
    project.write(
        {"shop/contracts.py": declares + "import shop.other\n", "shop/other.py": declares.replace("Ping", "Pong")}
    )
    manifest = project.compile()
    assert declaration_ids(manifest) == ["shop.contracts:domain:ping", "shop.other:domain:ping"]
    declarations = cast("list[Mapping[str, JsonValue]]", manifest["declarations"])
    described = [
        cast("list[Mapping[str, JsonValue]]", declaration["capabilities"])[0]["description"]
        for declaration in declarations
    ]
    assert described == ["Ping", "Pong"]
    assert len({str(declaration["declarationHash"]) for declaration in declarations}) == 2


@pytest.mark.requirement("AS-COMPILER-005")
def test_a_declaration_made_by_a_function_of_another_module_matches_no_site(project: Project) -> None:
    """A helper would make declarations that nobody can read; the helper is named, not its callers."""
    project.write(
        {
            "shop/contracts.py": "from shop.maker import make\nPING = make('ping')\nPONG = make('pong')\n",
            "shop/maker.py": "from agent_surface import define_agent_procedure_contract as d\n"
            'def make(name):\n    return d(id=f"domain:{name}", description=name, effect="server-query")\n',
        }
    )
    assert [(item.file, item.line, item.code) for item in project.problems()] == [
        ("shop/maker.py", 3, ProblemCode.INSIDE_FUNCTION)
    ]


@pytest.mark.requirement("AS-COMPILER-005")
def test_records_and_sites_are_matched_one_to_one(project: Project) -> None:
    """Ten written, ten declared: each under the name it is assigned to, whatever order modules are imported in."""
    files = {
        f"shop/part{number}.py": "from agent_surface import define_agent_procedure_contract as d\n"
        f"{''.join(f'import shop.part{other}{chr(10)}' for other in range(10) if other != number)}"
        f'PING = d(id="domain:ping{number}", description="Ping", effect="server-query")\n'
        for number in range(10)
    }
    project.write({"shop/contracts.py": "import shop.part7\n", **files})
    assert declaration_ids(project.compile()) == [f"shop.part{number}:domain:ping{number}" for number in range(10)]


@pytest.mark.requirement("AS-COMPILER-005")
def test_a_declaration_that_is_there_in_one_world_alone_is_an_error(project: Project) -> None:
    """What is declared only under some hash seeds is no contract."""
    project.write(
        {
            "shop/contracts.py": "import agent_surface, os\n"
            f"PING = agent_surface.define_agent_procedure_contract{ARGUMENTS}\n"
            'if os.environ["PYTHONHASHSEED"] != "1":\n'
            f"    vars(agent_surface)['define_agent_procedure_contract']{ARGUMENTS.replace('ping', 'pong')}\n"
        }
    )
    (problem,) = project.problems()
    assert (problem.code, problem.line) == (ProblemCode.RECORD_WITHOUT_SITE, 4)
