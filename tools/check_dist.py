"""Judge what ``make dist`` built: ``python tools/check_dist.py FOLDER``.

The wheel is unpacked and its packages imported from there, by an interpreter that sees nothing of the checkout.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

IN_THE_WHEEL = ("agent_surface/py.typed", "agent_surface/errors.py", "qt_binding/py.typed")
# Folders of the checkout that have to arrive in the wheel file by file, and the names they get there.
MAPPED = {name: name for name in ("agent_surface", "qt_binding", "demo_app", "pytest_agent_surface")}
MAPPED_RESOURCES = {"resources/demo_app": "demo_app/_resources"}
IN_THE_SOURCE_ARCHIVE = (
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "Makefile",
    "pyproject.toml",
    "resources/spec/requirements.json",
    "tests/conftest.py",
    "tools/make_venv.sh",
)
TOP_LEVEL_OF_THE_WHEEL = {"agent_surface", "qt_binding", "demo_app", "pytest_agent_surface"}

IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
sys.path.insert(0, {folder!r})
for name in {packages!r}:
    package = importlib.import_module(name)
    assert package.__file__ is None or package.__file__.startswith({folder!r}), package.__file__
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


def expected_in_the_wheel(checkout: Path) -> set[str]:
    """Every file of the packages and of their resources, under the name it has in the wheel."""
    names: set[str] = set(IN_THE_WHEEL)
    for folder, target in (MAPPED | MAPPED_RESOURCES).items():
        for file in (checkout / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                names.add(f"{target}/{file.relative_to(checkout / folder).as_posix()}")
    return names


def missing(expected: Iterable[str], present: set[str]) -> list[str]:
    """What was expected and is not there, sorted."""
    return sorted(set(expected) - present)


def check_wheel(wheel: Path, checkout: Path) -> list[str]:
    """What is wrong with the wheel, one line each."""
    with zipfile.ZipFile(wheel) as archive:
        present = set(archive.namelist())
        findings = [f"{wheel.name}: {name} is missing" for name in missing(expected_in_the_wheel(checkout), present)]
        foreign = {name.split("/")[0] for name in present} - TOP_LEVEL_OF_THE_WHEEL
        findings += [
            f"{wheel.name}: {name} does not belong there" for name in foreign if not name.endswith(".dist-info")
        ]
        with tempfile.TemporaryDirectory() as folder:
            archive.extractall(folder)  # noqa: S202 - the archive was built a moment ago from this checkout
            program = IMPORT_EVERYTHING.format(folder=folder, packages=sorted(TOP_LEVEL_OF_THE_WHEEL))
            # -I keeps the checkout and an editable installation's path out of the way.
            done = subprocess.run(
                [sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, text=True, check=False
            )
        if done.returncode:
            findings.append(f"{wheel.name}: cannot be imported\n{done.stderr}")
    return findings


def check_source_archive(archive_file: Path) -> list[str]:
    """What is wrong with the source archive, one line each."""
    with tarfile.open(archive_file) as archive:
        present = {name.partition("/")[2] for name in archive.getnames()}
    return [f"{archive_file.name}: {name} is missing" for name in missing(IN_THE_SOURCE_ARCHIVE, present)]


def main(folder: Path) -> int:
    """Check the one wheel and the one source archive in ``folder``."""
    checkout = Path(__file__).resolve().parent.parent
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    findings = check_wheel(wheel, checkout) + check_source_archive(archive)
    for finding in findings:
        sys.stderr.write(finding + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
