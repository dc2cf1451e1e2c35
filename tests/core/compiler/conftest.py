"""Fixtures of the compiler's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.compiler.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty program whose entry point is ``shop.contracts``."""
    return Project(tmp_path / "checkout")
