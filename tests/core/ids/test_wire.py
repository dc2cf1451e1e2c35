"""Wire names: provider-safe, unique in their catalogue, and never decoded to a wrong id."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_surface.ids import (
    WireEntry,
    WireKey,
    decode_wire_name,
    encode_wire_keys,
    encode_wire_name,
    encode_wire_names,
    find_capability_id,
)

VECTORS = json.loads((Path(__file__).parents[2] / "conformance" / "vectors.json").read_text(encoding="utf-8"))

SAFE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TYPES = st.lists(st.from_regex(r"\A[a-z][a-z0-9-]{0,9}\Z"), min_size=1, max_size=4).map(".".join)
VIEW_IDS = st.builds("view:{}.{}".format, TYPES, st.from_regex(r"\A[a-z][a-zA-Z0-9]{0,9}\Z"))
DOMAIN_IDS = st.one_of(
    st.text("ab_.-0at", min_size=1, max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
).map("domain:{}".format)
IDS = VIEW_IDS | DOMAIN_IDS
INSTANCES = st.text("ab_-0at", min_size=1, max_size=6) | st.text("x", min_size=60, max_size=70)
# Few different values, so that ids and instances meet.
ENTRIES = st.builds(
    WireEntry,
    capability_id=st.sampled_from(["domain:a_b", "domain:a.b", "domain:a__b", "domain:save", "view:a.b"]) | IDS,
    component_type=st.sampled_from(["a", "a-b", "devices.table", "devices-table"]),
    instance_id=st.sampled_from(["b", "main", "b-main", "_", "at"]) | INSTANCES,
)
CATALOGUES = st.lists(
    ENTRIES, max_size=8, unique_by=lambda entry: (entry.capability_id, entry.component_type, entry.instance_id)
)


def entry(capability_id: str, component_type: str = "devices.table", instance_id: str = "main") -> WireEntry:
    """An entry of a catalogue."""
    return WireEntry(capability_id=capability_id, component_type=component_type, instance_id=instance_id)


@pytest.mark.requirement("AS-ID-002")
@pytest.mark.parametrize("vector", VECTORS["wireNames"], ids=lambda vector: vector["name"])
def test_expected_names_come_out(vector: dict[str, Any]) -> None:
    """The values of the conformance suite: plain, with an instance, shortened, hashed."""
    assert encode_wire_name(vector["id"], vector["instanceId"]) == vector["name"]


@pytest.mark.requirement("AS-ID-002", "AS-WIRE-006")
@pytest.mark.parametrize("vector", VECTORS["catalogues"], ids=lambda vector: vector["names"][0])
def test_expected_catalogues_come_out(vector: dict[str, Any]) -> None:
    """The values of the conformance suite: names that would collide if each stood alone."""
    keys = [WireKey(capability_id=item["id"], instance_id=item.get("instanceId", "")) for item in vector["entries"]]
    assert encode_wire_keys(keys) == tuple(vector["names"])


@pytest.mark.requirement("AS-ID-002", "AS-WIRE-007")
@pytest.mark.parametrize("vector", VECTORS["decode"], ids=lambda vector: vector["name"])
def test_expected_ids_are_decoded(vector: dict[str, Any]) -> None:
    """The values of the conformance suite: ordinary names, and names that must not be guessed at."""
    assert decode_wire_name(vector["name"]) == vector["id"]


@pytest.mark.requirement("AS-ID-004", "AS-WIRE-004")
@settings(max_examples=60)
@given(IDS, st.none() | INSTANCES, st.integers(0, 3))
def test_a_name_stays_within_the_limit_and_the_alphabet(capability_id: str, instance: str | None, level: int) -> None:
    """Providers take letters, digits, ``_`` and ``-``, at most 64 of them."""
    assert SAFE_NAME.fullmatch(encode_wire_name(capability_id, instance, level))


@pytest.mark.requirement("AS-ID-004", "AS-WIRE-007")
@settings(max_examples=60)
@given(IDS, st.none() | INSTANCES)
def test_decoding_gives_the_id_or_nothing(capability_id: str, instance: str | None) -> None:
    """A name with an instance, a hash or a shortened id is not decoded to something else."""
    assert decode_wire_name(encode_wire_name(capability_id, instance)) in {None, capability_id}


@pytest.mark.requirement("AS-ID-004")
@given(VIEW_IDS.filter(lambda text: len(text) < 50))
def test_an_ordinary_name_decodes_back(capability_id: str) -> None:
    """Every view id that fits has a readable, reversible name."""
    assert decode_wire_name(encode_wire_name(capability_id, None)) == capability_id


@pytest.mark.requirement("AS-WIRE-007")
@settings(max_examples=100)
@given(
    st.text("viewdoman_:.0-at", max_size=20).map("view_{}".format)
    | st.text("ab_.0-\n", max_size=12).map("domain_{}".format)
    | st.text(max_size=20)
)
def test_whatever_is_decoded_encodes_back_byte_for_byte(name: str) -> None:
    """So no two names decode to one id."""
    decoded = decode_wire_name(name)
    if decoded is not None:
        assert find_capability_id(decoded) is not None
        assert encode_wire_name(decoded, None) == name


@pytest.mark.requirement("AS-WIRE-004", "AS-WIRE-006")
@settings(max_examples=60)
@given(CATALOGUES)
def test_no_two_entries_share_a_name(entries: list[WireEntry]) -> None:
    """Also where ids and instances are chosen to meet."""
    names = encode_wire_names(entries)
    assert len(set(names)) == len(entries)
    assert all(SAFE_NAME.fullmatch(name) for name in names)


@pytest.mark.requirement("AS-WIRE-005")
@settings(max_examples=60)
@given(CATALOGUES, st.randoms(use_true_random=False))
def test_names_do_not_depend_on_the_order_of_entries(entries: list[WireEntry], random: Any) -> None:  # noqa: ANN401 - hypothesis's
    """The same set gives each entry the same name, so a provider's prompt cache survives a remount."""
    before = dict(zip(entries, encode_wire_names(entries), strict=True))
    random.shuffle(entries)
    assert dict(zip(entries, encode_wire_names(entries), strict=True)) == before


@pytest.mark.requirement("AS-WIRE-007")
@settings(max_examples=60)
@given(CATALOGUES)
def test_a_name_of_a_catalogue_decodes_to_its_own_id_or_to_nothing(entries: list[WireEntry]) -> None:
    """Decoding without the catalogue may know less, never something wrong."""
    for item, name in zip(entries, encode_wire_names(entries), strict=True):
        assert decode_wire_name(name) in {None, item.capability_id}


@pytest.mark.requirement("AS-ID-002")
def test_the_instance_appears_only_where_it_is_needed() -> None:
    """A capability with one live instance keeps its short name."""
    alone = entry("view:devices.table.selectRows")
    other = entry("view:devices.table.selectRows", instance_id="comparison")
    unrelated = entry("view:app.navigation.goTo", "app.navigation")
    assert encode_wire_names([alone, unrelated]) == ("view_devices__table__selectRows", "view_app__navigation__goTo")
    assert encode_wire_names([alone, other, unrelated]) == (
        "view_devices__table__selectRows_at_main",
        "view_devices__table__selectRows_at_comparison",
        "view_app__navigation__goTo",
    )


@pytest.mark.requirement("AS-ID-002", "AS-WIRE-006")
def test_components_that_share_a_procedure_and_an_instance_id_are_told_apart_by_type() -> None:
    """The name shows the type and is hashed, also where type and instance together look like an instance."""
    names = encode_wire_names(
        [
            entry("domain:save", "devices.table"),
            entry("domain:save", "panel"),
            entry("domain:save", "panel", "other"),
            entry("domain:save", "list", "panel-main"),
        ]
    )
    assert re.fullmatch(r"domain_save_at_devices__table-main_0_[0-9a-z]{7}", names[0])
    assert re.fullmatch(r"domain_save_at_panel-main_0_[0-9a-z]{7}", names[1])
    assert names[2:] == ("domain_save_at_other", "domain_save_at_panel-main")


@pytest.mark.requirement("AS-WIRE-005", "AS-WIRE-006")
def test_what_collides_at_every_level_is_numbered_in_a_fixed_order() -> None:
    """``a`` with ``b-c`` and ``a-b`` with ``c`` make one text, so no hash can tell them apart."""
    entries = [
        entry("domain:save", "a", "b-c"),
        entry("domain:save", "x", "b-c"),
        entry("domain:save", "a-b", "c"),
        entry("domain:save", "x", "c"),
    ]
    names = encode_wire_names(entries)
    assert len(set(names)) == 4
    assert names[0].endswith("_0_0")
    assert names[2].endswith("_0_1")
    assert encode_wire_names(entries[::-1]) == names[::-1]


@pytest.mark.requirement("AS-WIRE-005", "AS-WIRE-006")
def test_a_name_that_another_entry_already_has_moves_both_to_the_next_level() -> None:
    """An instance id can be chosen so that a plain name looks like a hashed one."""
    hashed = encode_wire_name("domain:a_at_b", None)
    ending = hashed.removeprefix("domain_a_at_")
    keys = [WireKey(capability_id="domain:a_at_b"), WireKey(capability_id="domain:a", instance_id=ending)]
    assert encode_wire_name("domain:a", ending) == hashed
    names = encode_wire_keys(keys)
    assert names == (encode_wire_name("domain:a_at_b", None, 1), encode_wire_name("domain:a", ending, 1))
    assert encode_wire_keys(keys[::-1]) == names[::-1]
