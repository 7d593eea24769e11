"""Programs that once got wrong values, crashed, stood still or were refused, on queues with little room and with late processors.

The programs are in ``packet_cases``; the network is that of ``mailboxes``, and the reference machine knows what is right.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from loading import module_at
from packet_router.header import TAGS, pack_header
from packet_router.shape import RouterShape
from pointsman.api.targets.packet import packet_shape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, parse_size, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.runtime.packet import packet_node
from pointsman.runtime.packet_inbox import Inbox
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.packet import make_packet_program
from pointsman.targets.packet.addresses import Address

HERE = Path(__file__).parent
CASES = sorted(path.name for path in (HERE / "packet_cases").glob("*.cop"))


def _load(path: Path) -> ModuleType:
    return module_at(path, f"packet_{path.stem}")


boxes = _load(HERE / "mailboxes.py")
walking = _load(HERE.parents[2] / "sim" / "cosim" / "walker.py")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("room", "addresses", "slowest"), [(2, None, 0), (8, None, 60), (8, 2, 1500), (1, 3, 60)], ids=str
)
def test_every_node_gets_what_it_gets_on_the_reference_machine(name, room, addresses, slowest):
    text = (HERE / "packet_cases" / name).read_text()
    size = parse_size(text.split()[2].rstrip(":"))
    program = compile_text(text, topology=mesh(*size))
    shape = RouterShape(size=size)
    made = make_packet_program(program, shape, name="case", addresses=addresses)
    for seed in range(2):
        walker = walking.Walker(program, seed, slowest=slowest, calls=True, fewer=bool(seed), late=False)
        expected = ReferenceMachine(program, "case", walker.functions).run(walker.main)
        machine = boxes.Mailboxes(shape, seed, room=room)
        nodes = [packet_node(made, n, machine, functions=walker.functions) for n in range(shape.nodes)]
        assert machine.run([walker.main(node) for node in nodes]) == expected.results


def test_there_are_cases_of_each_kind():
    assert {name.split("_")[0] for name in CASES} >= {"wrong", "crash", "deadlock.cop", "refused", "many.cop"}


def test_messages_are_sorted_by_header_and_second_word_however_they_come():
    shape, last = RouterShape(size=(2, 2)), TAGS - 1
    lengths = {Address(3, 0): 2, Address(3, last, 0): 1, Address(3, last, 1): 3}
    inbox = Inbox(lengths)
    words = []
    for k, (address, length) in enumerate([*lengths.items(), *lengths.items()]):
        words.append(pack_header(shape, 0, 3, source=k % 4, tag=address.tag))
        words += [] if address.virtual is None else [address.virtual]
        words += [10 * k + word for word in range(length)]
    for word in words:
        inbox._take(3, np.array([word], np.uint32))
    assert inbox.count() == 6
    assert inbox._found(Address(3, last, 1), 1, None)[1].tolist() == [50, 51, 52]
    assert inbox._found(Address(3, last, 1), None, None)[1].tolist() == [20, 21, 22]
    assert inbox._found(Address(3, 0), None, 30)[0] == 3
    assert inbox._found(Address(3, 0), 1, None) is None


def test_a_message_that_is_due_nowhere_is_an_error():
    inbox = Inbox({Address(3, 0): 2})
    with pytest.raises(PointsmanError, match="came to interface address 3, where none is due"):
        inbox._take(3, np.array([pack_header(RouterShape(), 0, 3, tag=2)], np.uint32))


@pytest.mark.parametrize(
    "topology",
    [
        diamond(2),
        graph(16, [(k, (k + d) % 16) for k in range(16) for d in (1, 5)]),
        with_faults(mesh(4, 4), links=[(5, 6)]),
        with_faults(torus(4, 4), links=[(5, 6), (0, 1)]),
        with_faults(mesh(4, 4), nodes=[0, 5]),
    ],
    ids=["lattice", "graph", "a link is dead", "links of a torus are dead", "nodes are dead"],
)
def test_programs_run_on_other_networks(topology):
    text = "(loop 'l 2 (broadcast 'b (runtime) :m 3) (prefix 'p 'left :m 2) (cshift 'c 3 :m 4) (gather 'g 1 :m 2))"
    program, shape = compile_text(text, topology=topology), packet_shape(topology)
    made = make_packet_program(program, shape, name="case")
    walker = walking.Walker(program, 1, slowest=60, calls=True)
    expected = ReferenceMachine(program, "case", walker.functions).run(walker.main)
    machine = boxes.Mailboxes(shape, 1, room=4)
    nodes = [packet_node(made, n, machine, functions=walker.functions) for n in range(shape.nodes)]
    results = machine.run([walker.main(node) for node in nodes])
    assert [results[n] for n in topology.working] == [expected.results[n] for n in topology.working]
