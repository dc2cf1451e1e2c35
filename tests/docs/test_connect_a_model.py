"""The page about models works as it stands, without a network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "how-to" / "connect-a-model.md"


def test_the_page_connects_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks one after the other, with a key in the environment."""
    pytest.importorskip("pydantic_ai")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-page")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec("\n".join(blocks), names)
    assert repr(names["settings"]).startswith("AssistantSettings(provider='anthropic'")
    assert "sk-of-the-page" not in (tmp_path / "assistant.json").read_text(encoding="utf-8")
