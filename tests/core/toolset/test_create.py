"""How a toolset is made: it refuses to guess who waits for the person."""

from __future__ import annotations

import pytest

from agent_surface._snapshot._values import SnapshotBudget
from agent_surface.toolset import create_agent_toolset
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface


@pytest.mark.requirement("AS-TOPO-001")
def test_neither_topology_nor_confirmations_is_an_error_that_names_both() -> None:
    """There is no default that is right for an embedded and for a remote loop."""
    with pytest.raises(ValueError, match=r"topology.*confirmations"):
        create_agent_toolset(FakeSurface(), consumer=CONSUMER)


@pytest.mark.requirement("AS-TOPO-001")
def test_a_budget_in_direct_mode_is_an_error() -> None:
    """It would drop tools without anybody being told."""
    with pytest.raises(ValueError, match="budget"):
        create_agent_toolset(
            FakeSurface(), consumer=CONSUMER, topology="embedded", budget=SnapshotBudget(max_components=1)
        )


@pytest.mark.requirement("AS-TOPO-002")
@pytest.mark.parametrize(
    ("topology", "confirmations", "expected"),
    [
        ("embedded", None, "wait"),
        ("remote", None, "two-phase"),
        ("remote", "wait", "wait"),
        ("embedded", "two-phase", "two-phase"),
        (None, "wait", "wait"),
        (None, "two-phase", "two-phase"),
    ],
)
def test_the_topology_gives_the_default_and_an_explicit_choice_wins(
    topology: str | None, confirmations: str | None, expected: str
) -> None:
    """An embedded loop waits, a remote one is told and repeats itself."""
    toolset = create_agent_toolset(
        FakeSurface(),
        consumer=CONSUMER,
        topology=topology,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (parametrized literals)
        confirmations=confirmations,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (the same)
    )
    assert toolset.confirmations == expected
    toolset.close()


def test_unknown_words_are_refused() -> None:
    """A misspelt choice must not fall back to another one."""
    for changes in ({"topology": "local"}, {"confirmations": "never"}, {"mode": "metta", "topology": "embedded"}):
        with pytest.raises(ValueError, match=r"local|never|metta"):
            create_agent_toolset(
                FakeSurface(),
                consumer=CONSUMER,
                **changes,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (wrong on purpose)
            )


def test_a_scope_that_is_one_text_is_refused() -> None:
    """Its letters would be taken for prefixes."""
    with pytest.raises(TypeError, match="scope"):
        create_agent_toolset(FakeSurface(), consumer=CONSUMER, topology="embedded", scope="devices")
