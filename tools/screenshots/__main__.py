"""``python -m tools.screenshots FOLDER``: draws the pictures of the documentation, and every window in every look.

The documentation's pictures go to FOLDER. Every window and dock goes to the folder given by ``--everything``: in light
and dark, at scale 1 and 2, from left to right and the other way, with little, usual, much and hostile
content. Those are for looking at after a change and are not kept.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QLocale, Qt

from demo_app.composition import create_application
from tools.screenshots._palettes import SCHEMES, apply_scheme
from tools.screenshots._scenes import draw_scenes
from tools.screenshots._tour import play_tour

STEPS: Mapping[str, str] = {"04-question": "question", "05-disabled": "console"}
"""Steps of the tour and the names of their pictures."""

SCENES = ("dock-talk", "inspector-details")
"""Scenes that are pictures of the documentation, too, at scale 1 and from left to right."""


def main(arguments: list[str] | None = None) -> int:
    """Draw, each look in a process of its own; 0 when every picture is there."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description="Draw pictures of every window.")
    parser.add_argument("folder", type=Path, help="where the documentation's pictures go")
    parser.add_argument("--everything", type=Path, help="where pictures of every window in every look go, too")
    parser.add_argument("--scheme", choices=SCHEMES, help="draw in these colours only, everything into FOLDER")
    parser.add_argument("--mirrored", action="store_true", help="with --scheme: from right to left")
    parser.add_argument("--tour", action="store_true", help="with --scheme: the tour and not the scenes")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if options.scheme:
        return _draw(options.scheme, folder, mirrored=options.mirrored, tour=options.tour)
    for scheme in SCHEMES:
        with TemporaryDirectory() as drawn:
            _start(Path(drawn), scheme, "--tour")
            _start(Path(drawn), scheme)
            for step, name in STEPS.items():
                shutil.copyfile(Path(drawn) / f"{step}.png", folder / f"{name}-{scheme}.png")
            for name in SCENES:
                shutil.copyfile(Path(drawn) / f"{name}-{scheme}.png", folder / f"{name}-{scheme}.png")
    if options.everything is not None:
        options.everything.mkdir(parents=True, exist_ok=True)
        for scheme, mirrored, scale in itertools.product(SCHEMES, ((), ("--mirrored",)), (1, 2)):
            _start(options.everything, scheme, *mirrored, scale=scale)
    return 0


def _start(folder: Path, scheme: str, *options: str, scale: int = 1) -> None:
    subprocess.run(
        [sys.executable, "-m", "tools.screenshots", str(folder), "--scheme", scheme, *options],
        check=True,
        env={**os.environ, "QT_SCALE_FACTOR": str(scale)},
    )


def _draw(scheme: str, folder: Path, *, mirrored: bool, tour: bool) -> int:
    # Dates and numbers look as somebody's do, not as those of a machine that was never told where it is.
    QLocale.setDefault(QLocale(QLocale.Language.Hebrew if mirrored else QLocale.Language.English))
    application = create_application(sys.argv[:1])
    apply_scheme(application, scheme)
    if mirrored:
        application.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    if tour:
        return play_tour(application, folder)
    scale = application.devicePixelRatio()
    suffix = scheme + ("-mirrored" if mirrored else "") + (f"-{scale:g}x" if scale != 1 else "")
    draw_scenes(folder, suffix)
    return 0


if __name__ == "__main__":
    sys.exit(main())
