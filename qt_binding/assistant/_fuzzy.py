"""Finding a text by a few of its letters."""

from __future__ import annotations

_LETTER = 1
_BEGINS_WORD = 4
_IN_A_ROW = 6


def fuzzy_score(query: str, text: str) -> int | None:
    """How well a text answers a query; ``None`` when a word of the query is not in it, letter after letter.

    Letters in a row and at the beginning of a word count more; a word of the query counts where it fits best.

    Args:
        query: What was typed; its words may come in any order.
        text: What is looked through.
    """
    folded = text.casefold()
    total = 0
    for word in query.casefold().split():
        best = max((_score_from(word, folded, start) for start in _places(word[0], folded)), default=0)
        if not best:
            return None
        total += best
    return total


def _places(letter: str, text: str) -> list[int]:
    return [place for place, other in enumerate(text) if other == letter]


def _score_from(word: str, text: str, start: int) -> int:
    """Points of ``word`` when its first letter is at ``start``; 0 when the rest does not follow."""
    points, last = 0, start - 1
    for letter in word:
        place = text.find(letter, last + 1)
        if place < 0:
            return 0
        points += _LETTER
        if place == last + 1 and place != start:
            points += _IN_A_ROW
        elif place == 0 or not text[place - 1].isalnum():
            points += _BEGINS_WORD
        last = place
    return points
