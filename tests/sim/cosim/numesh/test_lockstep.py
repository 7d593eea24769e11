"""All state of the engines, in every cycle, on memories and accesses that make no sense."""

import random
from collections.abc import Mapping

import numpy as np
import pytest

from cosim.engines.processors import Access
from cosim.engines.verilated.build import find_compiler
from cosim.numesh.engines.amaranth import AmaranthEngine
from cosim.numesh.engines.base import Engine, State
from cosim.numesh.engines.model import ModelEngine
from cosim.numesh.lockstep import DifferenceError, compare, random_accesses, random_memories
from numesh.codes import FIRST_READ, LOOKAHEAD, Annotation, Codes, MoveType, ScheduleEntry
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology, graph, mesh, torus

SMALLEST = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=2, registers=1, width=8)
ONE_BIT = NodeShape(pipelines=1, vfsms=4, schedule_depth=8, neighbours=4, registers=2, width=1)
STANDARD = NodeShape()
SMALL = NodeShape(vfsms=8, schedule_depth=16)
THREE_PIPELINES = NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=4, registers=5, width=16)
WIDE = NodeShape(pipelines=2, vfsms=4, schedule_depth=8, neighbours=6, registers=3, width=64)
ODD = NodeShape(pipelines=2, vfsms=16, schedule_depth=8, neighbours=9, registers=20, width=33)
STAR = graph(5, [(0, 1), (0, 2), (0, 3), (0, 4), (3, 4)])


def engines(kinds: list[type[Engine]], shape: NodeShape, topology: Topology, seed: int) -> list[Engine]:
    made = [kind(shape, topology) for kind in kinds]
    rng = random.Random(seed)
    if rng.random() < 0.9:
        memories = random_memories(shape, topology, rng)
        for engine in made:
            engine.preload(memories)
    return made


@pytest.mark.parametrize(
    ("shape", "topology", "cycles"),
    [
        (SMALLEST, mesh(1), 80),
        (SMALLEST, mesh(4), 60),
        (STANDARD, mesh(1, 1), 80),
        (STANDARD, mesh(2, 2), 40),
        pytest.param(SMALL, mesh(3, 5), 20, marks=pytest.mark.slow),
        (ONE_BIT, torus(2, 2), 120),
        (THREE_PIPELINES, torus(3, 2), 25),
        pytest.param(THREE_PIPELINES, torus(3, 3), 25, marks=pytest.mark.slow),
        (WIDE, mesh(1, 2, 2), 40),
        pytest.param(WIDE, mesh(2, 2, 2), 40, marks=pytest.mark.slow),
        pytest.param(WIDE, torus(2, 2, 2), 30, marks=pytest.mark.slow),
        (ODD, STAR, 50),
    ],
    ids=str,
)
def test_the_model_does_what_the_rtl_does(shape: NodeShape, topology: Topology, cycles: int):
    for seed in range(2):
        pair = engines([ModelEngine, AmaranthEngine], shape, topology, seed)
        compare(pair, cycles, random.Random(seed))
        pair[1].close()  # the second is the same simulator, in which nothing may be left of the first run


@pytest.mark.long
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize(
    ("shape", "topology"),
    [
        (SMALLEST, mesh(3)),
        (STANDARD, mesh(2, 2)),
        pytest.param(STANDARD, mesh(3, 5), marks=pytest.mark.slow),
        (THREE_PIPELINES, torus(3, 3)),
        pytest.param(WIDE, mesh(2, 2, 2), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_model_does_what_the_verilated_rtl_does(shape: NodeShape, topology: Topology):
    from cosim.numesh.engines.verilated import VerilatedEngine

    shown = {"full", "register", "read_data", "held", "buffer", "schedule", "annotation", "read_vfsm"}
    shown |= {f"write_{name}" for name in ("valid", "word", "vfsm", "type", "destination", "forked", "from_buffer")}
    read = 0
    for seed in range(100, 108):
        pair = engines([ModelEngine, VerilatedEngine], shape, topology, seed)
        assert shown <= pair[1].state().keys()
        read += compare(pair, 150, random.Random(seed))
    assert read > 100


@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("topology", [mesh(1), mesh(1, 5), torus(3, 3, 3), STAR, mesh(32, 32)], ids=str)
def test_any_number_of_nodes_and_any_network_is_the_same_hardware(topology: Topology):
    """From one node to many groups of lanes, the last of them not full."""
    from cosim.numesh.engines.verilated import VerilatedEngine

    shape = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=6, registers=2, width=8)
    pair = engines([ModelEngine, VerilatedEngine], shape, topology, 7)
    assert "wire.out_valid_0" in pair[1].compiled.names(), "one node is compiled, and evaluated many times"
    compare(pair, 20 if topology.nodes > 100 else 200, random.Random(7))


def test_random_memories_and_accesses_reach_what_is_rare():
    """Guard: the comparisons above are worth what their stimuli reach."""
    seen: dict[str, int] = {}

    def see(name: str, happened: object) -> None:
        seen[name] = seen.get(name, 0) + bool(happened)

    for shape, topology in ((SMALL, mesh(2, 2)), (THREE_PIPELINES, torus(3, 3)), (ODD, STAR)):
        codes = Codes(shape)
        for seed in range(8):
            (engine,) = engines([ModelEngine], shape, topology, seed)
            rng = random.Random(seed)
            before, old = engine.memories(), engine.state()
            for _ in range(120):
                engine.clock(random_accesses(shape, topology.nodes, rng, 0.5))
                new = engine.state()
                source = new["read_annotation"] >> 2 & ((1 << codes.place_bits) - 1)
                kind = new["read_annotation"] & 3
                forking = (kind == MoveType.FORK) & (source < shape.neighbours)
                forking &= (new["write_valid"] > 0) & (new["write_destination"] == source)
                busy = np.take_along_axis(new["held"], new["read_vfsm"][..., np.newaxis], axis=2)[..., 0]
                see("a refused word is kept", (new["held"] > old["held"]).any())
                see("a kept word leaves its buffer", (new["held"] < old["held"]).any())
                see("a kept word is tried again", new["write_from_buffer"].any())
                see("a VFSM follows itself", (new["read_vfsm"] == new["write_vfsm"])[new["write_valid"] > 0].any())
                alone = (new["write_forked"] > 0) & ~forking & (new["write_destination"] < shape.neighbours)
                see("a marked word stays for want of its second leg", alone.any())
                see("a blind word", (new["write_type"] == MoveType.BLIND)[new["write_valid"] > 0].any())
                forked = (old["write_valid"] > 0) & (new["write_type"] == MoveType.FORK)
                forked &= (new["write_word"] == old["write_word"]) & (new["write_valid"] > 0)
                see("a fork", (forked & (old["write_destination"] < shape.neighbours)).any())
                see("a fork's first leg waits", (forking & (busy > 0)).any())
                late = engine.time > FIRST_READ
                own = (new["read_vfsm"] == old["read_vfsm"]) & (new["read_idle"] > 0)
                see("a turn is idle right after one of the same VFSM", late and own.any())
                see("a turn is idle after one of another VFSM", late and ((new["read_idle"] > 0) & ~own).any())
                see("a register has words of several writers", (new["places"].sum(axis=1) > 1).any())
                see("the pointer is set", late and new["pointer_set"].any())
                see("the pointer is moved", late and (new["pointer"] * (1 - new["pointer_set"])).any())
                see("part of a command", codes.command_words > 1 and new["collected"].any())
                old = new
            see("a schedule is rewritten", [m.schedule for m in before] != [m.schedule for m in engine.memories()])
            see("annotations are rewritten", (old["annotation"] != first_annotations(engine, before)).any())
    assert {name: count for name, count in seen.items() if count < 3} == {}


def first_annotations(engine: Engine, memories: list[NodeMemories]) -> np.ndarray:
    return np.array([contents.annotations for contents in memories])


class Flawed(ModelEngine):
    """A model with one fault."""

    name = "flawed"
    fault = ""

    def state(self) -> State:
        state = super().state()
        if self.fault == "state" and self.time == 7:
            state["held"][1, 0, 2] ^= 1
        return state

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        words = dict(super().clock(accesses))
        if self.fault == "word":
            words = {node: word ^ 4 for node, word in words.items()}
        return words


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("state", r"^cycle 7: held\[1, 0, 2\] is 0x[01] in flawed, 0x[01] in model$"),
        ("word", r"^cycle \d+: the processor of node \d reads 0x[0-9a-f]+ in flawed, 0x[0-9a-f]+ in model$"),
    ],
)
def test_a_difference_is_found_and_placed(fault: str, message: str):
    pair = engines([ModelEngine, Flawed], SMALL, mesh(2, 2), 4)
    pair[1].fault = fault
    with pytest.raises(DifferenceError, match=message):
        compare(pair, 60, random.Random(0))


def test_a_single_annotation_that_differs_is_found():
    pair = engines([ModelEngine, ModelEngine], SMALL, mesh(2, 2), 4)
    memories = pair[0].memories()
    annotations = [list(words) for words in memories[3].annotations]
    annotations[1][5] ^= 1 << 3
    memories[3] = NodeMemories(memories[3].schedule, tuple(map(tuple, annotations)))
    pair[1].preload(memories)
    with pytest.raises(DifferenceError, match=r"^cycle 0: annotation\[3, 1, 5\] is "):
        compare(pair, 1, random.Random(0))


def test_engines_at_different_times_are_not_compared():
    pair = engines([ModelEngine, ModelEngine], SMALL, mesh(1), 4)
    pair[1].clock({})
    with pytest.raises(DifferenceError, match=r"^model is in cycle 1, model in 0$"):
        compare(pair, 1, random.Random(0))


# -- laws that hold for each engine on its own -----------------------------------------------------------------------


def annotated(shape: NodeShape, schedule: list[tuple[int, ...]], *pipelines: dict[int, Annotation]) -> NodeMemories:
    """Memories with a schedule that goes round, and some annotations."""
    codes = Codes(shape)
    base = NodeMemories.at_reset(shape)
    entries = list(base.schedule)
    schedule = schedule * LOOKAHEAD if len(schedule) == 1 else schedule
    for slot, row in enumerate(schedule):
        entries[slot] = codes.encode_entry(ScheduleEntry(row, (slot + LOOKAHEAD) % len(schedule)))
    annotations = [list(words) for words in base.annotations]
    for words, changes in zip(annotations, pipelines, strict=False):
        for vfsm, annotation in changes.items():
            words[vfsm] = codes.encode_annotation(annotation)
    return NodeMemories(tuple(entries), tuple(map(tuple, annotations)))


@pytest.mark.parametrize("kind", [ModelEngine, AmaranthEngine])
def test_the_first_write_stage_is_in_cycle_eight(kind: type[Engine]):
    shape = NodeShape(pipelines=1, vfsms=4, schedule_depth=4, registers=2)
    codes = Codes(shape)
    move = Annotation(MoveType.MOVE, codes.null, codes.register(1))
    engine = kind(shape, mesh(1))
    engine.preload([annotated(shape, [(2,)], {2: move})])
    valid, full = [], []
    for _ in range(FIRST_READ + 3):
        state = engine.state()
        valid.append(int(state["write_valid"][0, 0]))
        full.append(engine.full(0))
        engine.clock({})
    assert valid[:9] == [0] * 8 + [1]
    assert full == [0] * 9 + [2]


@pytest.mark.parametrize("kind", [ModelEngine, AmaranthEngine])
def test_a_pointer_command_of_the_processor_runs_its_first_vfsm_eleven_cycles_later(kind: type[Engine]):
    shape = NodeShape(pipelines=1, vfsms=4, schedule_depth=8, registers=2)
    codes = Codes(shape)
    move = Annotation(MoveType.MOVE, codes.null, codes.register(1))
    base = annotated(shape, [(1,)], {2: move})
    schedule = list(base.schedule)
    schedule[5] = codes.encode_entry(ScheduleEntry((2,), 5))
    engine = kind(shape, mesh(1))
    engine.preload([NodeMemories(tuple(schedule), base.annotations)])
    for _ in range(10):
        engine.clock({})
    (command,) = codes.set_pointer(5, 5)
    engine.clock({0: Access(0, True, command)})
    reads = []
    for _ in range(12):
        reads.append(int(engine.state()["read_vfsm"][0, 0]))
        engine.clock({})
    # Written in cycle 10; the state is that of cycles 11, 12, ...
    assert reads == [1] * 10 + [2, 2]
