"""The packages can be imported in any order, beside Qt and pydantic."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

FIRST = ("from agent_surface import from_model", "import qt_binding", "import PySide6.QtWidgets")
# What a declaring module of an application begins with.
THEN = "from pydantic import AnyUrl, BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, model_validator"


@pytest.mark.parametrize("order", list(itertools.permutations(FIRST)), ids=" - ".join)
def test_an_application_may_import_in_any_order(order: tuple[str, ...]) -> None:
    """PySide6's import hook breaks the rest of a pydantic that is half loaded, so the core loads none or all of it."""
    program = "\n".join([*order, THEN])
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_application_that_nobody_inspects_loads_no_support_for_tests() -> None:
    """The inspector writes calls down as tests; the demo has it, and has nothing of it before somebody asks."""
    program = "import sys, demo_app.__main__; print([name for name in sys.modules if '.testing' in name])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
