"""The grammar of ids: what is one, in which way it is read, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.ids import (
    MAX_ID_LENGTH,
    CapabilityId,
    find_capability_id,
    format_view_capability_id,
    parse_capability_id,
    procedure_path,
    require_capability_name,
    require_component_type,
    require_instance_id,
    require_procedure_id,
)

SEGMENTS = st.from_regex(r"\A[a-z][a-z0-9-]{0,8}\Z")
TYPES = st.lists(SEGMENTS, min_size=1, max_size=4).map(".".join)
NAMES = st.from_regex(r"\A[a-z][a-zA-Z0-9]{0,12}\Z")
PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)

COMPONENT_TYPES = ["a", "devices.table", "a-b.c2.d3", "a--", "x" * 128]
NO_COMPONENT_TYPES = ["", ".", "a.", ".a", "a..b", "A", "a.B", "2a", "a.2", "-a", "a_b", "a b", "é", "a\n", "x" * 129]
CAPABILITY_NAMES = ["a", "selectRows", "goTo2", "aB9"]
NO_CAPABILITY_NAMES = ["", "SelectRows", "select_rows", "select-rows", "a.b", "2a", "é", "aé", "a\n", " a", "x" * 129]
INSTANCE_IDS = ["main", "d_42-x", "-", "_", "42", "A", "x" * 128]
NO_INSTANCE_IDS = ["", "a.b", "a b", "a:b", "é", "main\n", "\N{ARABIC-INDIC DIGIT ONE}", "x" * 129]
NO_CAPABILITY_IDS = [
    "",
    "view:",
    "view:a",
    "view:a.",
    "view:.a",
    "view:a..b",
    "view:A.b",
    "view:a.B",
    "view:a.b_c",
    "view:a.b\n",
    "view:a:b.c",
    "VIEW:a.b",
    " view:a.b",
    "view;a.b",
    "other:a.b",
    "domain:",
    "domain",
    "Domain:a",
    "domain:\ud800",
    "domain:" + "x" * 122,
    "view:" + "x" * 122 + ".y",
]


@pytest.mark.requirement("AS-ID-001")
@pytest.mark.parametrize(
    ("require", "text"),
    [
        *((require_component_type, text) for text in COMPONENT_TYPES),
        *((require_capability_name, text) for text in CAPABILITY_NAMES),
        *((require_instance_id, text) for text in INSTANCE_IDS),
        (require_procedure_id, "domain:devices.disable"),
        (require_procedure_id, "domain:" + "x" * 121),
    ],
)
def test_what_obeys_the_grammar_is_returned_as_it_is(require: Callable[[object], str], text: str) -> None:
    """Nothing is normalized."""
    assert require(text) == text


@pytest.mark.requirement("AS-ID-001")
@pytest.mark.parametrize(
    ("require", "text"),
    [
        *((require_component_type, text) for text in [*NO_COMPONENT_TYPES, None, 3]),
        *((require_capability_name, text) for text in [*NO_CAPABILITY_NAMES, None, b"a"]),
        *((require_instance_id, text) for text in [*NO_INSTANCE_IDS, None, ["main"]]),
        *((require_procedure_id, text) for text in [*NO_CAPABILITY_IDS, "view:a.b", None]),
        *((parse_capability_id, text) for text in [*NO_CAPABILITY_IDS, None]),
    ],
)
def test_what_breaks_the_grammar_is_an_invalid_id(require: Callable[[object], object], text: object) -> None:
    """The message is one printable line, whatever the text was."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        require(text)
    assert caught.value.code is DefinitionErrorCode.INVALID_ID
    message = str(caught.value)
    assert message.isprintable()
    assert message.isascii()
    assert len(message) < 300
    assert caught.value.subject in message


@pytest.mark.requirement("AS-ID-001")
def test_a_refusal_names_the_text() -> None:
    """Authors find the declaration by what they wrote."""
    with pytest.raises(AgentSurfaceDefinitionError, match=r"'Devices\.Table'"):
        require_component_type("Devices.Table")


@pytest.mark.requirement("AS-ID-001")
@pytest.mark.parametrize("text", [*NO_CAPABILITY_IDS, None, 1, ["view:a.b"]])
def test_a_malformed_id_is_not_found_rather_than_an_exception(text: object) -> None:
    """What an agent sends never raises."""
    assert find_capability_id(text) is None


@pytest.mark.requirement("AS-ID-001")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("view:a.b.c", CapabilityId(plane="view", component_type="a.b", name="c")),
        ("view:domain.x", CapabilityId(plane="view", component_type="domain", name="x")),
        ("domain:view:a.b", CapabilityId(plane="domain", component_type="", name="view:a.b")),
        ("domain:a.b.", CapabilityId(plane="domain", component_type="", name="a.b.")),
        ("domain:Orders/42?x", CapabilityId(plane="domain", component_type="", name="Orders/42?x")),
    ],
)
def test_there_is_one_reading(text: str, expected: CapabilityId) -> None:
    """The plane ends at the first colon, the name of a view capability follows the last dot, a path is opaque."""
    assert parse_capability_id(text) == expected
    assert expected.text == text


@pytest.mark.requirement("AS-ID-003")
@given(TYPES, NAMES)
def test_a_view_id_reads_back_to_what_it_was_made_of(component_type: str, name: str) -> None:
    """Formatting and parsing round-trips for every valid id."""
    text = format_view_capability_id(component_type, name)
    assert parse_capability_id(text) == CapabilityId(plane="view", component_type=component_type, name=name)
    assert parse_capability_id(text).text == text


@pytest.mark.requirement("AS-ID-003")
@given(PATHS)
def test_a_procedure_id_reads_back_to_its_path(path: str) -> None:
    """Whatever the path holds, it comes back unchanged."""
    assert procedure_path(f"domain:{path}") == path
    assert parse_capability_id(f"domain:{path}").text == f"domain:{path}"


@pytest.mark.requirement("AS-ID-003")
@given(st.text(max_size=20) | TYPES.map(lambda text: f"view:{text}"))
def test_whatever_is_found_is_written_the_same_way(text: str) -> None:
    """No two texts are one id."""
    found = find_capability_id(text)
    assert found is None or found.text == text


@pytest.mark.requirement("AS-ID-001")
def test_an_id_made_of_valid_parts_may_still_be_too_long() -> None:
    """Both parts fit, their sum does not."""
    component_type, name = "x" * 100, "y" * 22
    assert len(format_view_capability_id(component_type, name)) == MAX_ID_LENGTH
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        format_view_capability_id(component_type, name + "y")
    assert caught.value.code is DefinitionErrorCode.INVALID_ID


@pytest.mark.requirement("AS-ID-001")
@pytest.mark.parametrize(("component_type", "name"), [("A", "b"), ("a", "B"), ("a.", "b"), ("a", "b.c")])
def test_an_id_is_not_made_of_invalid_parts(component_type: str, name: str) -> None:
    """``a`` with ``b.c`` would otherwise read back as ``a.b`` with ``c``."""
    with pytest.raises(AgentSurfaceDefinitionError):
        format_view_capability_id(component_type, name)
