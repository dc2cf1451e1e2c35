"""The sentences an agent is told when something cannot be used."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

LONGEST_TITLE = 60
"""Characters of a title that a reason quotes."""


def reason_sentence(text: str, title: str = "") -> str:
    """``text`` in the application's language, with ``{title}`` filled in.

    Args:
        text: A sentence in English; ``{title}`` stands in curly quotation marks, and both go where there is no title.
        title: Of a window, tab, menu or the like, as the application shows it; mnemonics are taken out.
    """
    sentence = QCoreApplication.translate("AgentSurface", text)
    title = title.replace("[*]", "").replace("&&", "\0").replace("&", "").replace("\0", "&").strip()
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1] + "…"
    if not title:
        sentence = sentence.replace(" “{title}”", "").replace("“{title}” ", "")
    return sentence.replace("{title}", title)
