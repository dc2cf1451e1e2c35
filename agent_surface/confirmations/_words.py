"""What of people's and policies' words is kept."""

from __future__ import annotations

_MAX_NOTE = 500
_MAX_SUMMARY = 300


def kept_note(note: str | None) -> str | None:
    """The first 500 characters of a person's note; a blank one is none."""
    if note is None or not note.strip():
        return None
    # A lone surrogate, as an input method can leave one, is no Unicode text and would break the JSON it ends in.
    text = note.strip().encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text[:_MAX_NOTE]


def kept_summary(summary: str) -> str:
    """At most 300 characters of what a request is about; one that was cut shows it."""
    return summary if len(summary) <= _MAX_SUMMARY else summary[: _MAX_SUMMARY - 1] + "…"
