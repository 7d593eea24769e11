"""The model of a mesh: links are wires, and ports without one see nothing."""

from __future__ import annotations

from cosim.benches.numesh.models.mesh import MeshModel
from numesh.codes import FIRST_READ, LOOKAHEAD, Annotation, MoveType, ScheduleEntry
from numesh.shape import NodeShape
from pointsman.network import mesh

SHAPE = NodeShape(pipelines=1, vfsms=4, schedule_depth=4, registers=4)
ROW = mesh(3)


def inputs(nodes: int, **given: int) -> dict[str, int]:
    names = ("p_address", "p_write", "p_read", "p_write_data")
    return {"rst": 0, **{f"{name}_{i}": 0 for name in names for i in range(nodes)}, **given}


def chain() -> MeshModel:
    """Register 1 of node 0 goes to register 2 of node 2, over node 1."""
    model = MeshModel(SHAPE, ROW)
    codes = model.nodes[0].codes
    ways = ((codes.register(1), 1), (0, 1), (0, codes.register(2)))
    for i, (node, (source, destination)) in enumerate(zip(model.nodes, ways, strict=True)):
        for slot in range(2):
            # A node has its turn in the slot after that of the node before.
            node.schedule[slot] = ScheduleEntry((2 * (slot == i % 2),), (slot + LOOKAHEAD) % 2)
        node.annotations[0][2] = Annotation(MoveType.MOVE, source, destination)
    return model


def test_words_cross_the_mesh_once_and_in_order() -> None:
    model, sent, got = chain(), [5, 6, 7], []
    left = list(sent)
    reading = False
    for _ in range(FIRST_READ + 60):
        outputs = model.outputs({})
        if reading:
            got.append(outputs["p_read_data_2"])
        given = {}
        if left and not (outputs["p_full_0"] or 0) >> 1 & 1:
            given |= {"p_write_0": 1, "p_address_0": 1, "p_write_data_0": left.pop(0)}
        reading = bool((outputs["p_full_2"] or 0) >> 2 & 1)
        if reading:
            given |= {"p_read_2": 1, "p_address_2": 2}
        model.clock(inputs(3, **given))
    assert got == sent


def test_a_word_for_a_port_without_a_link_is_never_accepted() -> None:
    model = chain()
    model.nodes[0].annotations[0][2] = Annotation(MoveType.MOVE, model.nodes[0].codes.register(1), 0)
    model.clock(inputs(3, p_write_0=1, p_address_0=1, p_write_data_0=9))
    for _ in range(FIRST_READ + 20):
        model.clock(inputs(3))
    assert model.nodes[0].held[0][2], "it waits in its buffer"
    assert not any(any(node.full) for node in model.nodes)


def test_outputs_of_processors_and_of_links_have_names_of_their_own() -> None:
    names = set(MeshModel(SHAPE, ROW).outputs({}))
    assert {f"p_full_{i}" for i in range(3)} <= names
    assert {f"node_{i}.out_valid_{d}" for i in range(3) for d in range(4)} <= names
