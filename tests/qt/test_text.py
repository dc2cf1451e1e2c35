"""Text shown to a person hides nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qt_binding._text import LONGEST_RUN, broken_runs, run_at_end, visible_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc\u202etxt.exe", "abc\\u202etxt.exe"),
        ("a\u200bb\u200cc\u200dd\ufeffe\u2060", "a\\u200bb\\u200cc\\u200dd\\ufeffe\\u2060"),
        ("\u2066x\u2069 \u061c \u200e\u200f", "\\u2066x\\u2069 \\u061c \\u200e\\u200f"),
        ("\x1b[31mred\x07\x00\x7f\x9b", "\\x1b[31mred\\x07\\x00\\x7f\\x9b"),
        ("soft\xadhyphen", "soft\\xadhyphen"),
        ("\u3164\uffa0\u115f\u2800", "\\u3164\\uffa0\\u115f\\u2800"),
        ("\U000e0041\U000e0100", "\\U000e0041\\U000e0100"),
        ("\ud800", "\\ud800"),
        ("line\u2028para\u2029", "line\\u2028para\\u2029"),
        ("over\rwrite", "over\\rwrite"),
    ],
)
def test_characters_that_hide_or_reorder_text_are_written_out(text: str, shown: str) -> None:
    """A person must be able to see what a model wrote before deciding on it."""
    assert visible_text(text) == shown


@pytest.mark.parametrize(
    "text", ["Grüße, Łódź", "日本語", "שלום עולם", "مرحبا", "❤️ ☎️", "a\u00a0b\u202fc", "x\ty\nz", "नमस्ते"]
)
def test_text_a_person_can_see_stays_as_it_is(text: str) -> None:
    """Every script is ordinary text, and so are an emoji's selector and spaces with a width."""
    assert visible_text(text) == text


def test_a_selector_that_follows_no_sign_or_another_selector_is_written_out() -> None:
    """Runs of variation selectors can carry a hidden message."""
    assert visible_text("a\ufe0f ❤\ufe0f\ufe0f") == "a\\ufe0f ❤\ufe0f\\ufe0f"


def test_line_breaks_are_kept_or_written_out_as_asked() -> None:
    """A place with one line must not be pushed onto a second."""
    assert visible_text("a\r\nb\n\tc") == "a\nb\n\tc"
    assert visible_text("a\r\nb\tc", keep_newlines=False) == "a\\r\\nb\\tc"


@given(st.text(alphabet=st.characters()))
def test_escaping_twice_is_escaping_once_and_leaves_nothing_unprintable(text: str) -> None:
    """The result is stable, encodable, and holds no control or format character but line feed and tab."""
    once = visible_text(text)
    assert visible_text(once) == once
    once.encode()
    assert not any((0 < ord(c) < 32 and c not in "\n\t") or c in "\u202e\u200b\u2066\ufeff" for c in once)


@given(st.lists(st.integers(0, 2_500).map(lambda length: "x" * length) | st.just(" "), max_size=6))
def test_long_runs_are_broken_and_nothing_else_changes(pieces: list[str]) -> None:
    """Also when the text comes in pieces, whose borders are no places to breathe."""
    text = "".join(pieces)
    whole = broken_runs(text)
    run, parts = 0, list[str]()
    for piece in pieces:
        parts.append(broken_runs(piece, run))
        run = run_at_end(piece, run)
    for shown in (whole, "".join(parts)):
        assert shown.replace("\n", "") == text
        assert max((len(word) for word in shown.split()), default=0) <= LONGEST_RUN
