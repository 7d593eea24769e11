"""What the image bench would say of wrong deliveries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.harness import MismatchError
from cosim.benches.numesh.catalogue import STANDARD
from cosim.benches.numesh.drivers.processors import Clock, Delivery, Processor
from cosim.benches.numesh.image import compare, scrub
from cosim.benches.programs import Exchange, ImageProgram, Matmul, programs
from numesh.codes import Codes


async def _nothing() -> None:
    return None


def delivered_as_meant(program: ImageProgram) -> list[Processor]:
    """Processors as they are after a run without a fault, with tokens in between."""
    processors = []
    for i in range(FOUR_NODES.nodes):
        processor = Processor(_nothing(), Clock())
        processor.cycle(0, 0)
        processor.result = program.meaning(i)
        for _, words in program.meaning(i):
            processor.deliveries.append(Delivery(9, 12345, False))
            processor.deliveries += [Delivery(5, word, True) for word in words]
        processors.append(processor)
    return processors


@pytest.mark.parametrize("program", programs(FOUR_NODES), ids=lambda program: program.name)
def test_deliveries_as_meant_pass(program: ImageProgram) -> None:
    words = sum(len(words) for i in range(FOUR_NODES.nodes) for _, words in program.meaning(i))
    assert compare(program, "a test", delivered_as_meant(program)) == words


def _swap(deliveries: list[Delivery]) -> None:
    deliveries[1], deliveries[2] = deliveries[2], deliveries[1]


def _lose(deliveries: list[Delivery]) -> None:
    deliveries.pop()


def _double(deliveries: list[Delivery]) -> None:
    deliveries.append(deliveries[-1])


def _change(deliveries: list[Delivery]) -> None:
    deliveries[3] = Delivery(deliveries[3].register, deliveries[3].word ^ 1, True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_swap, r"^matmul, a test, node 2: word 0 is 0x\w+ and must be 0x\w+$"),
        (_change, r"^matmul, a test, node 2: word 2 is 0x\w+ and must be 0x\w+$"),
        (_lose, r"^matmul, a test, node 2: 11 words came and 12 must have come$"),
        (_double, r"^matmul, a test, node 2: 13 words came and 12 must have come$"),
    ],
)
def test_wrong_deliveries_fail(spoil: Callable[[list[Delivery]], None], message: str) -> None:
    program = Matmul(FOUR_NODES)
    processors = delivered_as_meant(program)
    spoil(processors[2].deliveries)
    with pytest.raises(MismatchError, match=message):
        compare(program, "a test", processors)


def test_message_that_the_program_did_not_get_fails() -> None:
    program = Exchange(FOUR_NODES)
    processors = delivered_as_meant(program)
    processors[1].result = processors[1].result[:-1]
    with pytest.raises(MismatchError, match=r"^exchange, a test, node 1: the program received \["):
        compare(program, "a test", processors)


def test_scrub_writes_every_entry_and_every_annotation_but_those_of_the_loader() -> None:
    codes = Codes(STANDARD)
    processor = Processor(scrub(codes), Clock())
    for _ in range(3000):
        processor.cycle(0, 0)
        processor.clock.time += 1
        if processor.done:
            break
    assert processor.done
    entries = [codes.write_entry(a, entry)[0] for a, entry in enumerate(codes.reset_schedule())]
    expected = [(0, word) for word in entries]
    for p in range(STANDARD.pipelines):
        for vfsm in range(2, STANDARD.vfsms):
            expected.append((p, codes.write_annotation(vfsm, codes.reset_annotations(p)[vfsm])[0]))
    assert processor.injections == expected
