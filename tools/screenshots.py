"""``python -m tools.screenshots FOLDER``: draws the pictures of the documentation, in light and dark.

The pictures are steps of the demo's tour, so what they show has really happened.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from demo_app.composition import create_application, create_console
from demo_app.tour import Tour
from qt_binding import run

SCHEMES = ("light", "dark")
KEPT: Mapping[str, str] = {"04-question": "question", "05-disabled": "console"}
"""Steps of the tour and the names of their pictures."""


def main(arguments: list[str] | None = None) -> int:
    """Draw all pictures, each colour scheme in a process of its own; 0 when every one is there."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.screenshots", description="Draw the documentation's pictures."
    )
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument(
        "--scheme", choices=SCHEMES, help="play the tour in these colours and put every step into FOLDER"
    )
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    if options.scheme:
        return _play(options.scheme, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        with TemporaryDirectory() as steps:
            subprocess.run([sys.executable, "-m", "tools.screenshots", steps, "--scheme", scheme], check=True)
            for step, name in KEPT.items():
                shutil.copyfile(Path(steps) / f"{step}.png", folder / f"{name}-{scheme}.png")
    return 0


def _play(scheme: str, folder: Path) -> int:
    application = create_application(sys.argv[:1])
    if scheme == "dark":
        application.setPalette(_dark_palette(application))
    with TemporaryDirectory() as place:
        database = Path(place) / "fleet.sqlite"
        console = create_console(database, person="alex")
        tour = Tour(console, database=database, folder=folder)
        tour.start()
        code = run(lambda: console.window, registry=console.registry, application=application)
    if tour.problem is not None:
        sys.stderr.write(f"The tour failed. {tour.problem}\n")
        return code or 1
    return code


def _dark_palette(application: QApplication) -> QPalette:
    """Dark colours for a platform that has no scheme of its own, as offscreen has none."""
    palette = QPalette(application.palette())
    roles = QPalette.ColorRole
    for role, colour in {
        roles.Window: "#2b2b2d",
        roles.WindowText: "#e6e6e6",
        roles.Base: "#1e1e20",
        roles.AlternateBase: "#262628",
        roles.Text: "#e6e6e6",
        roles.Button: "#37373a",
        roles.ButtonText: "#e6e6e6",
        roles.ToolTipBase: "#37373a",
        roles.ToolTipText: "#e6e6e6",
        roles.Light: "#4a4a4e",
        roles.Midlight: "#404044",
        roles.Mid: "#242426",
        roles.Dark: "#1a1a1c",
        roles.Shadow: "#101012",
        roles.Highlight: "#2f6fb5",
        roles.HighlightedText: "#ffffff",
        roles.Link: "#7ab8ff",
        roles.PlaceholderText: "#9a9a9e",
    }.items():
        palette.setColor(role, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(disabled, role, QColor("#77777b"))
    application.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    return palette


if __name__ == "__main__":
    sys.exit(main())
