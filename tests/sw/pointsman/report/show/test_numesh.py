"""Documents of programs for scheduled routers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from pointsman.artifacts.images import Images
from pointsman.report.show.document import Document, document_bytes
from pointsman.report.show.numesh import finite, numesh_document


def test_every_small_image_has_a_document(small: Callable[[], Images]) -> None:
    images = small()
    made = numesh_document(images)
    assert made.period == images.period
    assert len(made.streams) == len(images.promises)
    assert all(share > 0 for phase in made.phases for _, share, _ in phase.limits)
    assert document_bytes(made)


def test_no_link_carries_two_words_of_a_state_in_a_slot(document: Document) -> None:
    for phase in range(len(document.phases)):
        taken = [
            (link, (way.start + after) % document.period)
            for stream in document.streams
            if stream.phase == phase and 0 in stream.values
            for way in stream.ways
            for link, after, _ in way.steps
        ]
        assert len(taken) == len(set(taken))


def test_decision_and_text_of_the_program_are_there(document: Document) -> None:
    assert document.why["ways"]
    assert any("broadcast" in line for line in document.source)
    labels = {operator.label: operator for operator in document.operators}
    assert labels["d"].source.endswith(":3:3")
    assert labels["d"].values[0] == "source 0"


def test_a_program_of_one_node_has_a_document(ring: Path, shown: Callable[..., Document]) -> None:
    (ring.parent / "alone.cop").write_text("(broadcast 'd 0 :m 6)")
    made = shown(ring.parent / "alone.cop", "--mesh", "1x1")
    assert made.network.links == []
    assert made.run is None


def test_infinite_numbers_become_none() -> None:
    assert finite({"a": [1.5, float("inf")], "b": (float("nan"), "x")}) == {"a": [1.5, None], "b": [None, "x"]}


def test_a_way_that_does_not_fit_has_no_cycles(by_hand: ModuleType) -> None:
    images = by_hand.SMALL["stream_1x2"]()
    label = images.operators[0].label
    ways = [{"implementation": "str", "alone": 5.0}, {"implementation": "tree", "alone": None, "reason": "too much"}]
    operator = {"label": label, "implementation": "str", "alternatives": ways}
    made = numesh_document(images, decision={"phases": [{"name": "p", "cycles": 9.0, "operators": [operator]}]})
    assert made.operators[0].alternatives == [("str", 5.0), ("tree", None)]
    assert made.operators[0].predicted == 5.0
