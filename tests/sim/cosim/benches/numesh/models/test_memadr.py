"""The model of the command assembler: words in order make a command."""

from __future__ import annotations

from cosim.benches.numesh.models.memadr import AssemblerModel
from numesh.codes import Codes
from numesh.shape import NodeShape

SHAPE = NodeShape(pipelines=2, vfsms=8, schedule_depth=16, neighbours=2, registers=3, width=7)
CODES = Codes(SHAPE)


def strobes(words: list[int], reset_after: int | None = None) -> list[tuple[int, dict[str, int | None]]]:
    """Cycles in which the model says that a schedule entry's pointer is set, with its outputs."""
    model = AssemblerModel(SHAPE)
    found = []
    for cycle, word in enumerate([*words, 0]):
        inputs = {"valid": int(cycle < len(words)), "word": word, "rst": int(cycle == reset_after)}
        outputs = model.outputs(inputs)
        if outputs["set_pointer_0"]:
            found.append((cycle, outputs))
        model.clock(inputs)
    return found


def test_a_command_is_done_in_the_cycle_after_its_last_word() -> None:
    words = list(CODES.set_pointer(5, 6))
    assert len(words) == CODES.command_words > 1
    ((cycle, outputs),) = strobes(words)
    assert (cycle, outputs["pointer_0"], outputs["second_0"]) == (len(words), 5, 6)


def test_reset_forgets_half_a_command() -> None:
    words = list(CODES.set_pointer(5, 6))
    ((cycle, _),) = strobes([words[0], *words], reset_after=0)
    assert cycle == len(words) + 1
