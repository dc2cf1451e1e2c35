"""Fixtures of the compiler's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.compiler.project import Project
from tests.core.compiler.warm import _evaluate_warm, cold_interpreters, warm_interpreters

__all__ = ["_evaluate_warm", "cold_interpreters", "project", "warm_interpreters"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty program whose entry point is ``shop.contracts``."""
    return Project(tmp_path / "checkout")
