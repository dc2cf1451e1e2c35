"""Words of the command language: tokens, stems, verbs and what they may mean, words that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word, quoted text or mark of a message. ``stem`` is what is compared, ``text`` what is passed on."""

    text: str
    stem: str
    quoted: bool = False
    mark: bool = False


def tokenize(message: str) -> list[Token]:
    """The tokens of ``message``; quoted text is one token and never taken for a word of the language."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(message):
        quoted = match.group("double") or match.group("typographic") or match.group("single")
        if quoted is not None:
            tokens.append(Token(text=quoted, stem=quoted.casefold(), quoted=True))
            continue
        word = match.group("word")
        if word is None:
            tokens.append(Token(text=match.group(), stem=match.group(), mark=True))
            continue
        bare = word.rstrip(".-'\u2019/")
        tokens.append(Token(text=bare, stem=stem(bare)))
        if word.endswith("."):
            tokens.append(Token(text=".", stem=".", mark=True))
    return tokens


def stem(word: str) -> str:
    """``word`` without case, apostrophe or plural, so that "Devices" meets "device"."""
    plain = word.casefold().replace("\u2019", "'")
    if plain.endswith("ies") and len(plain) > 4:
        return plain[:-3] + "y"
    if plain.endswith(("sses", "xes", "ches", "shes")):
        return plain[:-2]
    if plain.endswith("s") and not plain.endswith(("ss", "us", "is")) and len(plain) > 3:
        return plain[:-1]
    return plain


def split_identifier(name: str) -> tuple[str, ...]:
    """The stems in an identifier: ``setFilters`` is set, filter; ``devices.table`` is device, table."""
    return tuple(stem(part) for part in _PART.findall(name))


def spell_identifier(name: str) -> str:
    """An identifier as words: ``selectAll`` is "select all"."""
    return " ".join(part.casefold() for part in _PART.findall(name))


def words_of(text: str) -> tuple[str, ...]:
    """The stems of ordinary text, in order."""
    return tuple(token.stem for token in tokenize(text) if not token.mark)


def akin(word: str, words: Iterable[str]) -> bool:
    """Whether ``word`` is one of ``words`` or of the same family: "selected" and "selection"."""
    return any(word == other or (len(word) > 5 and len(other) > 5 and word[:5] == other[:5]) for other in words)


def find_run(tokens: Sequence[Token], wanted: Sequence[str], free: Iterable[int]) -> range | None:
    """Where the stems ``wanted`` stand side by side among the tokens of ``free``; a quoted token may hold them all."""
    places = sorted(free)
    available = set(places)
    for start in places:
        if tokens[start].quoted and words_of(tokens[start].text) == tuple(wanted):
            return range(start, start + 1)
        run = range(start, start + len(wanted))
        if all(place in available for place in run) and [tokens[place].stem for place in run] == list(wanted):
            return run
    return None


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN: Final = re.compile(
    r"""
      "(?P<double>[^"]*)"
    | [“„](?P<typographic>[^”“]*)[”“]
    | (?<!\w)'(?P<single>[^']*)'(?!\w)
    | (?P<word>[^\W_][\w'\u2019/@.+#-]*)
    | [,;:=!?\n.]
    """,
    re.VERBOSE,
)
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

POLITE: Final = _set(
    """
    please can could would you i we want need to like now ok okay hey hello hi let's lets just kindly also me
    us i'd we'd
    """
)
"""Words that may stand before a verb and say nothing."""

EMPTY: Final = _set(
    """
    a an the of me us for my our your please now is are was be been it's its there here this that have has
    which who with and to at on in into from by as so too also only just right again one ones do does did can
    could would you i we currently
    """
)
"""Words that say nothing of their own. Prepositions are here too: they only lead to a value."""

REFUSED: Final = _set(
    """
    not don't dont doesn't never no except excluding without but unless if when until while before after else
    nor or
    """
)
"""Negations and conditions. The language has none, and leaving one out would turn a command into its opposite."""

PRONOUNS: Final = frozenset({"them", "it", "those", "these", "selected", "selection", "they"})
"""What is selected at the moment."""

EVERYTHING: Final = frozenset({"all", "everything", "every"})

VISIBLE: Final = frozenset({"shown", "visible", "listed", "displayed"})

SLOTS: Final = frozenset({"in", "at", "from", "of", "on"})
"""Prepositions before a place, an owner or a group."""

NAMING: Final = frozenset({"to", "as", "named", "called"})
"""Words before a new name or value."""

SEARCHING: Final = frozenset({"containing", "contain", "matching", "match", "named", "called", "like", "for", "about"})
"""Words before text to look for."""

VERBS: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        "show": {
            "filter": 4,
            "search": 4,
            "find": 4,
            "show": 4,
            "list": 3,
            "go": 3,
            "navigate": 3,
            "open": 3,
            "read": 1,
        },
        "search": {"search": 4, "find": 4, "filter": 4, "text": 1},
        "filter": {"filter": 4, "search": 2},
        "open": {"open": 4, "show": 3, "view": 3, "go": 3, "navigate": 3},
        "go": {"go": 4, "navigate": 4, "switch": 3, "open": 2, "show": 2},
        "close": {"close": 4, "hide": 3},
        "select": {"select": 4, "choose": 3, "pick": 3},
        "clear": {"clear": 4, "reset": 4, "remove": 1},
        "unselect": {"clear": 4, "reset": 4, "unselect": 4, "deselect": 4},
        "sort": {"sort": 4, "order": 3},
        "disable": {"disable": 4, "deactivate": 4},
        "enable": {"enable": 4, "activate": 4},
        "rename": {"rename": 4},
        "delete": {"delete": 4, "remove": 4, "erase": 4},
        "create": {"create": 4, "add": 4, "new": 4},
        "send": {"send": 4, "mail": 3},
        "undo": {"undo": 4},
        "read": {"read": 4, "get": 4, "show": 2, "list": 2, "count": 2},
    }
)
"""Each verb with the words of a tool's name that it may mean, and how well."""

VERB_WORDS: Final = frozenset(VERBS) | {"set", "reset", "scroll"}
"""Words that are the verb of a name when they begin it: ``clearFilters`` clears, whatever it clears."""

_PHRASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "show": "show|display|list|see|let me see",
        "search": "search|search for|find|look for|look up",
        "filter": "filter|filter by|narrow",
        "open": "open|view|inspect|open up",
        "go": "go|go to|navigate to|navigate|switch to|take me to|bring me to|jump to|visit",
        "close": "close|hide",
        "select": "select|choose|pick|tick|check",
        "clear": "clear|reset",
        "unselect": "unselect|deselect",
        "sort": "sort|sort by|order by|order",
        "disable": "disable|deactivate|turn off|switch off|shut down",
        "enable": "enable|activate|reactivate|turn on|switch on",
        "rename": "rename|change the name of",
        "delete": "delete|remove|erase",
        "create": "create|add|new|make",
        "send": "send|mail|email|e-mail",
        "undo": "undo",
        "read": "read|what|what is|what are|what's|which|how many|count|tell me|tell me about|how|who|where",
    }
)

VERB_PHRASES: Final[Sequence[tuple[tuple[str, ...], str]]] = tuple(
    sorted(
        (
            (tuple(stem(word) for word in phrase.split()), verb)
            for verb, phrases in _PHRASES.items()
            for phrase in phrases.split("|")
        ),
        key=lambda item: (-len(item[0]), item),
    )
)
"""Every way to say a verb, the longest first: "switch off" before "switch to" before "go"."""


def find_verb(tokens: Sequence[Token], start: int) -> tuple[str, int] | None:
    """The verb that begins at ``start`` and how many tokens it takes."""
    for phrase, verb in VERB_PHRASES:
        run = tokens[start : start + len(phrase)]
        if tuple(token.stem for token in run) == phrase and not any(token.quoted for token in run):
            return verb, len(phrase)
    return None
