"""``python -m agent_surface``: the command ``agent-surface`` where its script is not on the path."""

from __future__ import annotations

import sys

from agent_surface.cli import main

if __name__ == "__main__":
    sys.exit(main())
