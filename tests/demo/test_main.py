from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_database_that_cannot_be_used_ends_the_program_with_one_sentence(tmp_path: Path) -> None:
    """No traceback, exit code 1, the file untouched."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, this is no database. " * 20)
    before = path.read_bytes()
    ended = subprocess.run(
        [sys.executable, "-m", "demo_app", "--database", str(path)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"The file {path} cannot be used as a database")
    assert "Traceback" not in ended.stderr
    assert path.read_bytes() == before
