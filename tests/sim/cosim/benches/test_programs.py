"""Programs of the image bench, against the meaning of their operators."""

from __future__ import annotations

from collections import Counter

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.programs import Exchange, ImageProgram, programs
from pointsman.cop import compile_text
from pointsman.runtime.reference import ReferenceMachine


def test_programs_deliver_to_every_node_words_of_their_own() -> None:
    for program in programs(FOUR_NODES):
        for i in range(FOUR_NODES.nodes):
            meant = [word for _, words in program.meaning(i) for word in words]
            assert len(meant) >= 2 * program.words
    assert len(programs(FOUR_NODES)) == 2


@pytest.mark.parametrize("program", programs(FOUR_NODES), ids=lambda program: program.name)
def test_what_nodes_must_receive_is_what_they_receive_on_the_reference_machine(program: ImageProgram) -> None:
    compiled = compile_text(program.text(), topology=FOUR_NODES, parameters=program.parameters())
    run = ReferenceMachine(compiled, program.name).run(lambda node: program.main(node, lambda: 1))
    assert run.results == [program.meaning(node) for node in range(FOUR_NODES.nodes)]
    assert run.unread == ()


def test_no_message_can_pass_for_another_one() -> None:
    program = Exchange(FOUR_NODES)
    sent = {
        (label, sender, count): tuple(program.message(label, sender, count))
        for label in "stufr"
        for sender in range(4)
        for count in range(16)
    }
    words = Counter(word for message in sent.values() for word in message)
    assert set(words.values()) == {1}
    assert all(0 <= word < 1 << 31 for word in words)
