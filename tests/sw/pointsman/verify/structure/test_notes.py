"""Numbers and codes as the first pass notes them."""

from __future__ import annotations

from types import ModuleType

from numesh.codes import Annotation, MoveType
from pointsman.verify.report import Notebook
from pointsman.verify.structure.notes import StructureNotes


def found(notebook: Notebook) -> list[tuple[str, str, str | None, str]]:
    return [(one.rule, one.message, one.phase, one.right) for one in notebook.report("test", {}).findings]


def test_a_number_is_in_its_range_or_noted(by_hand: ModuleType) -> None:
    notebook = Notebook()
    notes = StructureNotes(by_hand.stream_1x2(), notebook)
    assert notes.in_range("a node", 1, 2)
    assert not notebook.stopped
    assert not notes.in_range("a node", 2, 2, phase=0)
    assert not notes.in_range("a phase", 0, 0, phase=7)
    assert found(notebook) == [
        ("structure", "a node is 2", "p", "a number of 0..1"),
        ("structure", "a phase is 0", "number 7", "none, as there is nothing to name"),
    ]
    assert notebook.stopped


def test_codes_are_places_or_nothing(by_hand: ModuleType) -> None:
    notebook = Notebook()
    notes = StructureNotes(by_hand.stream_1x2(), notebook)
    codes = notes.codes
    for place in (codes.neighbour(0), codes.register(2), codes.buffer(5), codes.nop, codes.null):
        notes.check_codes(Annotation(MoveType.MOVE, place, place), {"node": 0})
    assert found(notebook) == []
    notes.check_codes(Annotation(MoveType.MOVE, codes.nop, codes.memadr), {"node": 0})
    assert [(rule, message) for rule, message, _, _ in found(notebook)] == [("codes", "its destination is MEMADR")]
